"""Good rewrites pass; the same rewrites, damaged, do not.

The forty rewrites in good_rewrites.jsonl were written for the project (training data, so that the
floors below are no claim about unseen text; docs/checks.md has the numbers on held-out rewrites).
"""

import json
import sys
from collections import Counter
from pathlib import Path

import pytest

from parataxis.checks import Checker, check
from parataxis.rewrite.record import FindingKind

sys.path.append(str(Path(__file__).parents[2] / "benchmarks"))
from damage import DAMAGES, damaged

sys.path.pop()  # benchmarks/datasets.py must not be found in place of the package datasets

_LINES = (Path(__file__).parent / "good_rewrites.jsonl").read_text(encoding="utf-8").splitlines()
GOOD = [(record["complex"], record["simple"]) for record in map(json.loads, _LINES)]
WORD_KINDS = (FindingKind.LOST, FindingKind.NEW, FindingKind.REPEATED)
FLOORS = {
    "drop a number": 0.97,
    "change a number": 0.97,
    "drop a sign": 0.97,
    "drop a name": 0.95,
    "drop a content word": 0.95,
    "drop a negation": 0.9,
    "drop a modal verb": 0.8,
    "drop a condition": 0.7,
    "drop a link": 0.7,
    "drop a sentence": 0.97,
    "add a word": 0.97,
    "add a negation": 0.3,
    "repeat a sentence": 1.0,
    "subordinate a sentence": 0.85,
    "begin with a relative": 0.9,
    "drop the main verb": 0.8,
}


def test_damage_good_rewrites_have_no_finding(checker: Checker) -> None:
    faults = [findings for findings in checker.pipe(GOOD) if findings]
    assert faults == []


@pytest.mark.parametrize("name", DAMAGES)
def test_damage_is_found(checker: Checker, name: str) -> None:
    kind = DAMAGES[name][0]
    cases = [
        (source, result)
        for source, simple in GOOD
        for done, _, result in damaged(source, simple)
        if done == name
    ]
    finder = checker if kind not in WORD_KINDS else Checker()
    found = Counter(
        any(finding.kind is kind for finding in findings) for findings in finder.pipe(cases)
    )
    assert found.total() >= 3
    assert found[True] / found.total() >= FLOORS[name]


def test_damage_changes_one_sentence_at_most() -> None:
    for source, simple in GOOD:
        for name, _, result in damaged(source, simple):
            changed = [sentence for sentence in result if sentence not in simple]
            assert len(changed) <= 1, name
            assert result != simple


def test_damage_is_the_same_each_time() -> None:
    source, simple = GOOD[0]
    assert list(damaged(source, simple, seed=1)) == list(damaged(source, simple, seed=1))


def test_damage_that_is_undone_is_not_found() -> None:
    for source, simple in GOOD:
        assert check(source, simple) == []
