"""Which patterns were split: real sentences with the analyser that ships."""

import math

import pytest

from parataxis.evaluate.metrics.facts import PatternsSplit
from parataxis.evaluate.metrics.protocol import ScoredItem, score

BRIDGE = "The bridge, which was built in 1860, was closed because the owners could not pay."
FAMILY = "Giulia grew up on a farm, learned Portuguese from the cook and left the country in 1912."
OSLO = "Oslo, the capital of Norway, lies at the head of a long fjord."
PAINTER = "He was a painter of great skill, who died in Rome in 1799."


@pytest.mark.parametrize(
    ("source", "simple", "expected"),
    [
        (BRIDGE, [BRIDGE], {"rc": 0, "adv": 0}),
        (
            BRIDGE,
            ["The bridge was built in 1860.", "It was closed because the owners could not pay."],
            {"rc": 100, "adv": 0},
        ),
        (
            BRIDGE,
            ["The bridge was built in 1860.", "The owners could not pay.", "So it was closed."],
            {"rc": 100, "adv": 100},
        ),
        # What is left out was not split.
        (
            BRIDGE,
            ["The owners could not pay.", "Therefore, the bridge was closed."],
            {"rc": 0, "adv": 100},
        ),
        # One of two coordinated verbs is still joined to the first.
        (
            FAMILY,
            ["Giulia grew up on a farm and learned Portuguese from the cook.", "She left in 1912."],
            {"conj": 50},
        ),
        # The noun that the phrase hangs on may stand in both sentences.
        (
            OSLO,
            ["Oslo is the capital of Norway.", "Oslo lies at the head of a long fjord."],
            {"appos": 100},
        ),
        # So may a noun that is the predicate.
        (
            PAINTER,
            ["He was a painter of great skill.", "The painter died in Rome in 1799."],
            {"rc": 100},
        ),
        # Two sentences are not enough: the clause is still where it was.
        (OSLO, [OSLO, "It is long."], {"appos": 0}),
    ],
)
def test_patterns_are_split_when_their_sides_are_apart(
    source: str, simple: list[str], expected: dict[str, float]
) -> None:
    found = score(PatternsSplit(), [ScoredItem(source, tuple(simple))])
    counted = {name: part for name, part in found.parts.items() if not math.isnan(part)}
    assert counted == expected


def test_patterns_of_a_corpus_are_counted_together() -> None:
    items = [
        ScoredItem(OSLO, (OSLO,)),
        ScoredItem(
            OSLO, ("Oslo is the capital of Norway.", "Oslo lies at the head of a long fjord.")
        ),
        ScoredItem("It rained.", ("It rained.",)),
    ]
    found = score(PatternsSplit(), items)
    assert found.value == found.parts["appos"] == 50
    assert math.isnan(found.parts["inf"])
    assert str(found.signature) == "patterns|average:micro|split:sides-apart-1"


def test_patterns_of_sources_that_are_too_long_are_not_counted() -> None:
    endless = "The bridge, which was built in 1860, " * 200 + "was closed."
    assert math.isnan(score(PatternsSplit(), [ScoredItem(endless, (endless, "It fell."))]).value)
