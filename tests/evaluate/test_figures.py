"""What the figures of a comparison show."""

import re
from collections.abc import Sequence

import numpy as np
import pytest

pytest.importorskip("matplotlib", reason="needs the extra [metrics]")

from parataxis.evaluate.compare import REFERENCE, SOURCE, Comparison, System, compare
from parataxis.evaluate.corpora.example import Example
from parataxis.evaluate.figures import figures, length_shares, pattern_shares, scores_by_length
from parataxis.evaluate.metrics.protocol import Score, ScoredItem, Signature, Statistics


class Patterns:
    """Counts sentences, and has a part that no source shows."""

    name = "patterns"
    summary = "patterns that were split"
    needs_references = False
    higher_is_better: bool | None = None
    signature = Signature("patterns", {})

    def statistics(self, items: Sequence[ScoredItem]) -> Statistics:
        return np.array([[len(item.simple), 1.0] for item in items])

    def from_statistics(self, total: Statistics) -> Score:
        value = float(total[0] / total[1])
        return Score(value, self.signature, {"rc": value, "appos": float("nan")})


EXAMPLES = [
    Example("One two three four five six seven.", (("One two.", "Three."),), "a"),
    Example("One two.", (("One two.",),), "b"),
]
SYSTEM = System("x", (("One two three.", "Four " * 70, "Five."), ("One two.",)))


@pytest.fixture
def comparison() -> Comparison:
    return compare(EXAMPLES, [SYSTEM], [Patterns()])


def test_figures_count_the_lengths_of_simple_sentences(comparison: Comparison) -> None:
    shares = length_shares(comparison)
    assert list(shares) == [SOURCE, "x", REFERENCE]
    # Tokens as the metrics count them: with the full stop.
    assert shares[SOURCE] == [50.0, 0.0, 50.0, *[0.0] * 12]
    assert shares["x"] == [50.0, 25.0, *[0.0] * 12, 25.0]
    assert shares[REFERENCE] == [100.0, *[0.0] * 14]


def test_figures_group_sources_from_short_to_long(comparison: Comparison) -> None:
    groups, scores = scores_by_length(comparison, Patterns())
    assert groups == ["3–3", "8–8"]
    assert scores == {SOURCE: [1.0, 1.0], "x": [1.0, 3.0], REFERENCE: [1.0, 2.0]}


def test_figures_leave_out_patterns_that_do_not_occur(comparison: Comparison) -> None:
    found = pattern_shares(comparison, Patterns())
    assert found == {SOURCE: {"rc": 1.0}, "x": {"rc": 2.0}, REFERENCE: {"rc": 1.5}}


def test_figures_are_drawn_with_a_legend(comparison: Comparison) -> None:
    drawn = figures(comparison, Patterns())
    assert list(drawn) == [
        "Tokens of a simple sentence",
        "Sentences made of a source",
        "patterns by length of the source",
        "Share of each pattern that was split, in percent",
    ]
    for svg in drawn.values():
        texts = re.findall(">([^<>]+)</text>", svg)
        assert {SOURCE, "x", REFERENCE} <= set(texts)
    assert ">rc</text>" in drawn["Share of each pattern that was split, in percent"]
    assert "appos" not in drawn["Share of each pattern that was split, in percent"]
