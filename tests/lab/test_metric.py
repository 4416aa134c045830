"""Fitting the learned metric: what is held out is not seen, and what is written is what was fit."""

import json
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("scipy", reason="needs the extra [metrics]")

from parataxis.evaluate.judgements import Judged
from parataxis.evaluate.metrics.learned import CRITERIA, FEATURES, Regression
from parataxis.evaluate.metrics.protocol import ScoredItem
from parataxis.lab.metric import (
    PENALTY,
    FittingData,
    advantages,
    agreement,
    family,
    fit,
    held_out,
)

SYSTEMS, SOURCES = 12, 10


def material(rows: np.ndarray, judgements: np.ndarray) -> FittingData:
    judged = [
        Judged(ScoredItem(f"s{source}", ("x",)), f"m{system}", "", {})
        for system in range(SYSTEMS)
        for source in range(SOURCES)
    ]
    return FittingData(judged, rows, np.repeat(judgements[:, None], len(CRITERIA), axis=1))


def of_systems() -> FittingData:
    """Each system has a judgement of its own, and a feature that gives it away."""
    system = np.repeat(np.arange(SYSTEMS), SOURCES)
    rows = np.zeros((len(system), len(FEATURES)))
    rows[np.arange(len(system)), system] = 1.0
    return material(rows, np.random.default_rng(1).normal(size=SYSTEMS)[system])


def test_metric_held_out_systems_are_not_seen() -> None:
    known = of_systems()
    seen = Regression.fit(known.rows, known.judgements, PENALTY)(known.rows)
    assert agreement(known, seen)["meaning"].value > 0.9
    unseen = held_out(known, lambda each: each.system)
    assert agreement(known, unseen)["meaning"].value < 0.1
    # The systems are known where sources are held out.
    by_source = held_out(known, lambda each: each.item.source)
    assert agreement(known, by_source)["meaning"].value > 0.9


def test_metric_fit_is_what_is_written(tmp_path: Path) -> None:
    known = of_systems()
    fit(known, tmp_path / "m.json")
    record = json.loads((tmp_path / "m.json").read_text(encoding="utf-8"))
    assert record["features"] == list(FEATURES)
    written = Regression.from_record(record)
    expected = Regression.fit(known.rows, known.judgements, 30.0)
    assert written(known.rows) == pytest.approx(expected(known.rows), abs=1e-5)


def test_metric_advantage_is_over_the_best_other_metric() -> None:
    chance = np.random.default_rng(2)
    people = chance.normal(size=SYSTEMS * SOURCES)
    known = material(np.zeros((len(people), len(FEATURES))), people)
    good = np.repeat((people + 0.1 * chance.normal(size=len(people)))[:, None], 4, axis=1)
    scores = {
        "noise": chance.normal(size=len(people)),
        "against": -(people + chance.normal(size=len(people))),
        "undefined": np.full(len(people), np.nan),
    }
    found = advantages(known, good, scores)["simplicity"]
    assert found.metric == "against"
    assert found.value < -0.5
    expected = agreement(known, good)["simplicity"].value + found.value
    assert found.difference == pytest.approx(expected)
    assert 0 < found.interval.low < found.difference < found.interval.high < 0.6


@pytest.mark.parametrize(
    ("system", "expected"),
    [
        ("SENTS-h4_w2v_model", "SENTS"),
        ("SEMoses_LM", "Moses"),
        ("SETrain", "Moses"),
        ("DSS", "DSS"),
    ],
)
def test_metric_family_is_the_first_word_of_a_name(system: str, expected: str) -> None:
    assert family(Judged(ScoredItem("s", ("x",)), system, "", {})) == expected
