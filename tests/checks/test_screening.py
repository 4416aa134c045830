"""Sentences that need no analysis are passed without one, and no finding is lost by that."""

import json
import sys
from pathlib import Path

import pytest

from parataxis.checks import Checker, checker
from parataxis.checks.checker import uncertain_sentences
from parataxis.rewrite.align import align
from parataxis.rewrite.record import FindingKind
from parataxis.syntax.analyser import load_analyser

sys.path.append(str(Path(__file__).parents[2] / "benchmarks"))
from damage import damaged

sys.path.pop()  # benchmarks/datasets.py must not be found in place of the package datasets

GOOD = [
    json.loads(line)
    for line in (Path(__file__).parent / "good_rewrites.jsonl").read_text("utf-8").splitlines()
]


@pytest.mark.parametrize(
    ("source", "simple", "expected"),
    [
        ("Ann, who was ill, left.", ["Ann left.", "Ann was ill."], set()),
        ("Ann left, because she was ill.", ["Ann left.", "Because she was ill."], {1}),
        ("Ann, a poet, left.", ["Ann left.", "A poet."], {1}),
        ("Ann saw the man who left.", ["Ann saw the man.", "The man who left."], {1}),
        ("The inn, which he sold, burned.", ["The inn burned.", "He sold it."], {0, 1}),
        ("Ann may sing and dance.", ["Ann may sing.", "Ann dance."], {1}),
        ("Ann may sing and dance.", ["Ann may sing.", "Ann may dance."], set()),
        # A noun that has come to another verb, or to the place of a pronoun.
        ("Ann saw the man, who had left.", ["Ann saw the man.", "Ann had left."], {1}),
        ("Ann sold the inn when he saw it.", ["Ann sold the inn.", "He saw the inn."], {1}),
    ],
)
def test_screening_names_what_must_be_analysed(
    source: str, simple: list[str], expected: set[int]
) -> None:
    assert uncertain_sentences(load_analyser()(source), align(source, simple)) == expected


def test_screening_costs_no_finding(monkeypatch: pytest.MonkeyPatch) -> None:
    kinds = (
        FindingKind.NO_VERB,
        FindingKind.FRAGMENT,
        FindingKind.AMBIGUOUS_PRONOUN,
        FindingKind.RELATION,
    )
    rewrites = [(record["complex"], record["simple"]) for record in GOOD]
    rewrites += [
        (source, result)
        for source, simple in rewrites
        for _, kind, result in damaged(source, simple)
        if kind in kinds
    ]
    provenances = [align(source, simple) for source, simple in rewrites]
    check = Checker(load_analyser())
    found = list(check.pipe(rewrites, provenances))
    monkeypatch.setattr(
        checker, "uncertain_sentences", lambda _, sentences: set(range(len(sentences)))
    )
    assert found == list(check.pipe(rewrites, provenances))
    assert sum(any(finding.kind in kinds for finding in findings) for findings in found) > 20
