"""The verifier speaks where the exact checks are silent, and says that it only estimates."""

import json
from pathlib import Path

import numpy as np
import pytest

from parataxis.checks import Checker, check
from parataxis.checks.checker import RISKY
from parataxis.checks.estimates import estimate
from parataxis.checks.verifier import FAULTS, MOST_PIECES, OUTPUTS, RewriteVerdict
from parataxis.rewrite.record import FindingKind
from parataxis.rewrite.render import describe
from parataxis.splitters.pointer.surprise import load_second_opinion
from parataxis.syntax.analyser import load_analyser

CORRUPTIONS = Path(__file__).parents[2] / "data" / "corruptions.jsonl"
GATES = "Visitors may enter by the north gate but must leave by the south gate."
SWAPPED = [
    "Visitors may enter by the south gate.",
    "However, they must leave by the north gate.",
]
SIMPLE = ["The mill burned.", "It was built in 1800."]


def verdict(*risks: float, kind: str = "referent") -> RewriteVerdict:
    faults = np.zeros((len(risks), OUTPUTS), dtype=np.float32)
    faults[:, -1] = risks
    faults[:, FAULTS.index(kind)] = risks
    return RewriteVerdict(0.0, faults)


def test_estimate_names_the_word_and_the_kind_of_fault(checker: Checker) -> None:
    assert checker(GATES, SWAPPED) == []
    (found,) = check(GATES, SWAPPED, analyser=load_analyser(), verifying=load_second_opinion())
    assert (found.kind, found.sentence, found.words) == (FindingKind.RELATION, 0, "south")
    assert found.message == "'south': this may be said of the wrong person or thing."
    assert found.probability is not None
    assert found.probability >= RISKY
    assert SWAPPED[0][found.start : found.end] == found.words
    assert describe(found).endswith(f"(sentence 1; an estimate, {found.probability:.1%})")


def test_estimate_is_on_the_first_sentence_of_high_risk() -> None:
    found = estimate(SIMPLE, verdict(0.2, 0.999))
    assert found is not None
    assert (found.sentence, found.words) == (1, SIMPLE[1])
    assert found.message == "This may be said of the wrong person or thing."
    both = estimate(SIMPLE, verdict(0.999, 1.0, kind="order"))
    assert both is not None
    assert both.sentence == 0
    assert both.message == "The order may differ from that of the source."


def test_estimate_needs_a_high_risk() -> None:
    assert estimate(SIMPLE, verdict(RISKY - 0.01, 0.3)) is None
    assert estimate(SIMPLE, verdict(RISKY - 0.01, 0.3), risky=RISKY - 0.1) is not None


@pytest.mark.parametrize("kind", FAULTS)
def test_estimate_has_words_for_every_kind(kind: str) -> None:
    found = estimate(SIMPLE, verdict(0.999, 0.1, kind=kind))
    assert found is not None
    assert found.message[0].isupper()
    assert found.message.endswith(".")


def test_checker_does_not_estimate_what_a_check_has_found() -> None:
    calls = []

    def verifying(source: str, rewrites: object) -> list[RewriteVerdict]:
        calls.append(source)
        return [verdict(0.1, 0.999)]

    source = "The mill, which was built in 1800, burned."
    (found,) = Checker(verifying=verifying)(source, ["The mill burned.", "It was built in 1900."])[
        1:
    ]
    assert found.message == "The number '1900' is not in the source."
    (found,) = Checker(verifying=verifying)(source, SIMPLE)
    assert found.probability == pytest.approx(0.999, abs=1e-4)
    assert len(calls) == 2
    assert Checker(verifying=verifying)(source, [source]) == []
    long = "a " * (MOST_PIECES // 2)  # one piece for each word, in the source and the rewrite
    assert all(f.probability is None for f in Checker(verifying=verifying)(long, [long, "So."]))
    assert len(calls) == 2


def test_corruptions_are_found_and_correct_rewrites_are_not() -> None:
    rows = [json.loads(line) for line in CORRUPTIONS.read_text(encoding="utf-8").splitlines()]
    assert len({row["kind"] for row in rows}) == 15
    assert len({(row["source"], *row["simple"]) for row in rows}) == len(rows) == 2945
    checker = Checker(load_analyser(), load_second_opinion())
    rows = rows[::3]
    found = checker.pipe((row["source"], row["simple"]) for row in rows)
    flags: dict[bool, list[bool]] = {True: [], False: []}
    for row, findings in zip(rows, found, strict=True):
        flags[row["kind"] == "correct"].append(bool(findings))
    assert np.mean(flags[False]) > 0.8
    assert np.mean(flags[True]) < 0.1
