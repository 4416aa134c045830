"""Metrics are found by name, and every one keeps to the protocol."""

import re
from pathlib import Path

import numpy as np
import pytest

from parataxis.errors import ParataxisError
from parataxis.evaluate.metrics.protocol import Metric, ScoredItem, score, score_all, statistics_of
from parataxis.evaluate.metrics.registry import (
    METRICS,
    default_metrics,
    load_metric,
)

ITEMS = [
    ScoredItem(
        "Ann, who sang in the hall, left the house.",
        ("Ann left the house.", "She sang in the hall."),
        (("Ann left the house.", "Ann sang in the hall."), ("Ann left. She sang.",)),
    ),
    ScoredItem("It rained.", ("It rained.",), (("It rained.",),)),
]


def test_registry_lists_every_metric_without_a_problem() -> None:
    pytest.importorskip("sacrebleu", reason="needs the extra [metrics]")
    found = {metric.name: metric for metric in METRICS.available()}
    assert sorted(found) == METRICS.names()
    assert all(one.problem is None and one.summary for one in found.values())


def test_registry_names_what_is_close() -> None:
    with pytest.raises(ParataxisError, match=r'no metric "sarii".*did you mean "sari"'):
        load_metric("sarii")


def test_registry_default_metrics_are_installed() -> None:
    assert set(default_metrics(analyser=True)) <= set(METRICS.names())
    assert not any(load_metric(n).needs_references for n in default_metrics(references=False))
    assert "sari" in default_metrics()


def test_registry_metrics_are_all_documented() -> None:
    page = (Path(__file__).parents[3] / "docs" / "metrics.md").read_text(encoding="utf-8")
    table = page.split("## All metrics")[1].split("\n## ")[0]
    listed = re.findall(r"^\| `([^`]+)` \|", table, re.MULTILINE)
    assert sorted(listed) == METRICS.names()


@pytest.mark.parametrize("name", METRICS.names())
def test_registry_metric_keeps_to_the_protocol(name: str) -> None:
    pytest.importorskip("sacrebleu", reason="needs the extra [metrics]")
    metric = load_metric(name)
    assert isinstance(metric, Metric)
    assert metric.name == name
    assert str(metric.signature).split("|")[0] == name
    rows = metric.statistics(ITEMS)
    assert rows.ndim == 2
    assert rows.shape[0] == len(ITEMS)
    assert np.isfinite(rows).all()
    # Rows sum: what is counted together and one by one is the same.
    single = sum(metric.statistics([item])[0] for item in ITEMS)
    assert rows.sum(axis=0) == pytest.approx(single)
    forth, back = score(metric, ITEMS), score(metric, ITEMS[::-1])
    assert forth.value == pytest.approx(back.value)
    assert forth.parts == pytest.approx(back.parts, nan_ok=True)


@pytest.mark.parametrize("name", METRICS.names())
def test_registry_metric_reads_a_bracket_however_it_is_written(name: str) -> None:
    pytest.importorskip("sacrebleu", reason="needs the extra [metrics]")
    source = "The mill ( built in 1901 ) burnt and the town ( Tarn ) paid ."
    simple = ("The mill ( built in 1901 ) burnt .", "The town ( Tarn ) paid .")
    reference = ("The mill ( built in 1901 ) burnt .", "The town is Tarn .", "It paid .")

    def escaped(text: str) -> str:
        return text.replace("(", "-LRB-").replace(")", "- RRB -")

    plain = ScoredItem(source, simple, (reference,))
    rewritten = ScoredItem(source, tuple(map(escaped, simple)), (reference,))
    every = ScoredItem(escaped(source), rewritten.simple, (tuple(map(escaped, reference)),))
    metric = load_metric(name)
    expected, *found = (score(metric, [item]) for item in (plain, rewritten, every))
    for one in found:
        same = one.value == pytest.approx(expected.value, nan_ok=True)
        assert same == (name != "fkgl-2019")  # which takes every token as it stands
        if same:
            assert one.parts == pytest.approx(expected.parts, nan_ok=True)


def test_scoring_many_metrics_gives_what_each_gives_alone() -> None:
    pytest.importorskip("sacrebleu", reason="needs the extra [metrics]")
    metrics = [load_metric(name) for name in default_metrics()]
    many = ITEMS * 200
    assert score_all(metrics, iter(many)) == [score(metric, many) for metric in metrics]
    rows = statistics_of(metrics, many)
    assert [len(part) for part in rows] == [len(many)] * len(metrics)


def test_scoring_asks_for_references_and_for_rewrites() -> None:
    bare = [ScoredItem("It rained.", ("It rained.",))]
    with pytest.raises(ParataxisError, match='exact-match needs a reference for "It rained'):
        score_all([load_metric("exact-match")], bare)
    with pytest.raises(ParataxisError, match="no rewrites to score"):
        score_all([load_metric("unsplit")], [])
    with pytest.raises(ParataxisError, match="no rewrites to score"):
        statistics_of([load_metric("unsplit")], [])
