"""Fitting the confidence to judgements."""

import json
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("torch")

from parataxis.errors import InputError
from parataxis.lab.pointer.confidence import (
    calibration_error,
    fit_confidence,
    logistic_fit,
)
from parataxis.splitters.pointer import PointerSplitter

DAMS = [
    f"The {noun}, which {verb} in {year}, was sold to the bank, and the owner left the valley."
    for noun in ("dam", "mill", "farm", "house", "hotel")
    for verb in ("opened", "closed", "burned", "flooded")
    for year in (1931, 1945, 1962)
]


def judged(path: Path, sources: list[str]) -> Path:
    """Every second rewrite of each source is at fault, and so is every source."""
    splitter = PointerSplitter()
    records = [
        {"source": source, "simple": [source], "faults": [[1, "more"]]} for source in sources
    ]
    for source in sources:
        for number, rewrite in enumerate(splitter.alternatives(source)):
            faults = [[1, "referent"]] if number % 2 else [[1, "more"]]
            simple = list(rewrite.simple)
            records.append({"source": source, "simple": simple, "faults": faults})
    path.write_text("".join(json.dumps(record) + "\n" for record in records), encoding="utf-8")
    return path


def test_confidence_is_fitted_to_judgements_of_what_is_found(tmp_path: Path) -> None:
    report = fit_confidence([judged(tmp_path / "judged.jsonl", DAMS)])
    first, second = report.split("\n\n")
    assert first.startswith("plain, confidence\n  ")
    assert "risk=" in first
    assert "entropy=" in first
    assert "by cross-validation: area" in first
    assert second.startswith(f"plain, whole\n  {len(DAMS)} judgements, 0.0% without fault\n")
    assert "whole=" in second


def test_confidence_needs_enough_judgements(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="fewer than 50 judgements"):
        fit_confidence([judged(tmp_path / "judged.jsonl", DAMS[:2])])


@pytest.mark.parametrize("line", ['{"source": 3', '{"source": "A."}', "[]"])
def test_confidence_says_which_line_is_no_judgement(tmp_path: Path, line: str) -> None:
    path = judged(tmp_path / "judged.jsonl", DAMS[:1])
    count = len(path.read_text(encoding="utf-8").splitlines())
    path.write_text(f"{path.read_text(encoding='utf-8')}{line}\n", encoding="utf-8")
    with pytest.raises(InputError, match=f"line {count + 1}: this is neither a rewrite"):
        fit_confidence([path])


def test_logistic_fit_finds_the_weights_that_made_the_data() -> None:
    chance = np.random.default_rng(1)
    evidence = chance.normal(size=(20_000, 2)) * [1.0, 5.0]
    odds = evidence @ [1.5, -0.2] + 0.5
    right = (chance.random(20_000) < 1 / (1 + np.exp(-odds))).astype(float)
    weights, added = logistic_fit(evidence, right)
    assert weights == pytest.approx([1.5, -0.2], abs=0.08)
    assert added == pytest.approx(0.5, abs=0.08)


def test_calibration_error_compares_groups_with_the_truth() -> None:
    right = np.array(([1.0] * 2 + [0.0] * 8) * 5 + ([1.0] * 9 + [0.0]) * 5)
    assert calibration_error(np.array([0.2] * 50 + [0.9] * 50), right) == pytest.approx(0)
    assert calibration_error(np.full(100, 0.5), right) == pytest.approx(0.35)
