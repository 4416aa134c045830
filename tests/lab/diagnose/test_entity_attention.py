"""The attention to the first entity, on matrices that were made by hand."""

import math
from dataclasses import astuple

import numpy as np
import pytest

from parataxis.lab.diagnose.attention import (
    EntityAttention,
    entity_attention,
    mean_entity_attention,
    reference_attention,
)
from parataxis.splitters.registry import Attention

SOURCE = ("Ann", "Lee", "met", "Bo")


def attention(*rows: tuple[str, list[float]]) -> Attention:
    return Attention(
        SOURCE, tuple(word for word, _ in rows), np.array([row for _, row in rows], np.float32)
    )


def test_entity_attention_is_the_mean_over_output_words() -> None:
    looked = attention(
        ("Ann", [0.5, 0.25, 0.25, 0.0]),
        ("met", [0.0, 0.0, 1.0, 0.0]),
        ("<split>", [1.0, 0.0, 0.0, 0.0]),  # no word
        ("Bo", [0.25, 0.25, 0.0, 0.5]),
    )
    found = entity_attention(looked, (0, 2))
    assert found.model == pytest.approx((0.75 + 0.0 + 0.5) / 3)
    assert found.elsewhere == pytest.approx((0.0 + 0.5) / 2)
    assert found.uniform == 0.5
    assert math.isnan(found.reference)


def test_entity_attention_of_one_who_copies_is_nothing_elsewhere() -> None:
    rows = [(word, [float(word == other) for other in SOURCE]) for word in SOURCE]
    found = entity_attention(attention(*rows), (0, 2))
    assert (found.model, found.elsewhere) == (0.5, 0.0)


def test_entity_attention_of_one_who_looks_nowhere_else_is_everything() -> None:
    rows = [(word, [1.0, 0.0, 0.0, 0.0]) for word in ("was", "born", "in", "1900")]
    found = entity_attention(attention(*rows), (0, 2))
    assert (found.model, found.elsewhere) == (1.0, 1.0)


def test_entity_attention_weighs_a_word_by_how_much_was_pointed_for_it() -> None:
    """A word of the model's own, for which it hardly points, counts for little."""
    looked = attention(("was", [0.1, 0.0, 0.0, 0.0]), ("met", [0.0, 0.0, 0.9, 0.0]))
    assert entity_attention(looked, (0, 2)).model == pytest.approx(0.1)


def test_entity_attention_without_any_attention_is_unknown() -> None:
    looked = attention(("was", [0.0] * 4))
    assert math.isnan(entity_attention(looked, (0, 2)).model)
    nothing = Attention(SOURCE, (), np.zeros((0, 4), np.float32))
    assert math.isnan(entity_attention(nothing, (0, 2)).model)


def test_reference_attention_is_the_share_of_copies() -> None:
    source = "Ann Lee met Bo."
    # Ann Lee | met | . and Bo | . ; "was there" is copied from nowhere.
    references = [["Ann Lee met Bo."], ["Ann Lee met.", "Bo was there."]]
    assert reference_attention(source, "Ann Lee", references[:1]) == pytest.approx(2 / 5)
    assert reference_attention(source, "Ann Lee", references) == pytest.approx((2 / 5 + 2 / 6) / 2)
    assert math.isnan(reference_attention(source, "Ann Lee", []))


def test_mean_entity_attention_leaves_out_what_is_unknown() -> None:
    found = mean_entity_attention(
        [EntityAttention(0.2, math.nan, 0.1), EntityAttention(0.4, 0.3, 0.3, 0.5)]
    )
    assert astuple(found) == pytest.approx((0.3, 0.3, 0.2, 0.5))
