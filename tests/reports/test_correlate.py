"""Metrics against human judgements: reading them, coefficients, groups, intervals."""

import math
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("scipy", reason="needs the extra [metrics]")

from parataxis.corpora.example import Example
from parataxis.errors import InputError
from parataxis.metrics.protocol import Item, Score, Signature, Statistics
from parataxis.reports.correlate import (
    Coefficient,
    Level,
    coefficient,
    correlate,
)
from parataxis.reports.judgements import Columns, Judged, read_judgements


class Words:
    """Words of the rewrite."""

    name = "words"
    summary = "words of a rewrite"
    needs_references = False
    higher_is_better: bool | None = None
    signature = Signature("words", {})

    def statistics(self, items: Sequence[Item]) -> Statistics:
        return np.array([[len(item.text.split()), 1.0] for item in items])

    def from_statistics(self, total: Statistics) -> Score:
        return Score(float(total[0] / total[1]), self.signature)


def judged(words: int, system: str, benchmark: str = "", **judgements: float) -> Judged:
    return Judged(Item("A b.", (" ".join(["w"] * words),)), system, benchmark, judgements)


def test_correlate_within_groups_and_overall() -> None:
    up = [judged(k, "up", good=float(k)) for k in range(1, 8)]
    down = [judged(k, "down", good=float(-k)) for k in range(1, 8)]
    found = {each.group: each for each in correlate([*up, *down], [Words()], by=["system"])}
    assert list(found) == ["all", "up", "down"]
    assert found["up"].value == pytest.approx(1.0)
    assert found["down"].value == pytest.approx(-1.0)
    assert found["up"].is_significant
    assert abs(found["all"].value) < 0.2
    assert not found["all"].is_significant
    assert found["all"].pairs == 14


def test_correlate_over_system_means() -> None:
    # Within a system longer is worse; between systems longer is better.
    some = [
        judged(10 * k + step, f"s{k}", good=10.0 * k - step) for k in range(6) for step in (1, 2, 3)
    ]
    by_rewrite = correlate(some, [Words()])[0]
    by_system = correlate(some, [Words()], level=Level.SYSTEM)[0]
    assert by_system.value == pytest.approx(1.0)
    assert by_system.pairs == 6
    assert by_rewrite.value < by_system.value


def test_correlate_combines_benchmark_and_system() -> None:
    some = [judged(k, "s", b, good=float(k)) for b in ("x", "y") for k in range(1, 7)]
    groups = [each.group for each in correlate(some, [Words()], by=["benchmark", "system"])]
    assert groups == ["all", "x s", "y s"]


def test_coefficient_of_a_constant_or_of_few_pairs_is_nan() -> None:
    few = coefficient(np.arange(4.0), np.arange(4.0), Coefficient.SPEARMAN)
    same = coefficient(np.ones(9), np.arange(9.0), Coefficient.SPEARMAN)
    assert math.isnan(few[0])
    assert math.isnan(same[0])


@pytest.mark.parametrize("kind", list(Coefficient))
def test_coefficient_interval_covers_the_truth(kind: Coefficient) -> None:
    chance = np.random.default_rng(1)
    truth = {
        Coefficient.PEARSON: 0.6,
        Coefficient.SPEARMAN: 6 / math.pi * math.asin(0.3),
        Coefficient.KENDALL: 2 / math.pi * math.asin(0.6),
    }[kind]
    covered = 0
    for _ in range(200):
        first, noise = chance.normal(size=(2, 100))
        _, _, low, high, _ = coefficient(first, 0.6 * first + 0.8 * noise, kind)
        covered += low < truth < high
    assert 0.89 < covered / 200 <= 0.995


CSV = """\ufefforig_sent,simp_sent,sys_name,sent_id,meaning,note
A b.,It rained. We left.,one,1,5,x
A b.,It rained. We left.,one,1,3,x
A b.,A . <SEP> B .,two,1,2.5,x
"""


def test_judgements_are_averaged_over_raters(tmp_path: Path) -> None:
    (tmp_path / "r.csv").write_text(CSV, encoding="utf-8")
    examples = [Example("A b.", (("A.", "B."),), "1")]
    found = read_judgements(tmp_path / "r.csv", [], examples=examples)
    assert [(each.system, dict(each.judgements)) for each in found] == [
        ("one", {"meaning": 4.0}),
        ("two", {"meaning": 2.5}),
    ]
    assert [each.item.simple for each in found] == [
        ("It rained.", "We left."),
        ("A .", "B ."),
    ]
    assert found[0].item.references == (("A.", "B."),)


@pytest.mark.parametrize(
    ("text", "criteria", "columns", "message"),
    [
        ("a,b\n1,2\n", [], None, "which columns hold source, rewrite and system"),
        ("source,rewrite,system,m\nA.,A.,x,1\n", ["n"], None, 'no column "n"'),
        ("source,rewrite,system,m\nA.,A.,x,high\n", ["m"], None, 'line 2: "high" in m'),
        ("source,rewrite,system,m\nA.,,x,1\n", ["m"], None, "line 2: the source or the rewrite"),
        ("source,rewrite,system\nA.,A.,x\n", [], None, "no column of numbers"),
        ("q,r,s,m\nA.,A.,x,1\n", ["m"], Columns("q", "r", "t"), 'no column "t"'),
    ],
)
def test_judgements_that_cannot_be_read_are_explained(
    tmp_path: Path, text: str, criteria: list[str], columns: Columns | None, message: str
) -> None:
    (tmp_path / "r.csv").write_text(text, encoding="utf-8")
    with pytest.raises(InputError, match=message):
        read_judgements(tmp_path / "r.csv", criteria, columns)
