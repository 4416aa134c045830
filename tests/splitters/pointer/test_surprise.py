"""How much rewrites of any origin surprise the pointer model, and what the verifier makes of it."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from parataxis.checks.verifier import OUTPUTS, RewriteVerdict
from parataxis.rewrite.record import Level
from parataxis.splitters.pointer.actions import END, read_source
from parataxis.splitters.pointer.model import load_decoder
from parataxis.splitters.pointer.surprise import (
    SecondOpinion,
    follow,
    load_second_opinion,
    surprises,
)
from parataxis.splitters.pointer.targets import target_actions
from parataxis.text.tokens import tokenize

Write = Callable[..., list[int]]

SOURCE = "Ann, serving tea, fell."
LAKES = "The dam, which holds back the lake, was built by a firm that had drained the marsh."
BUILT = "The dam was built by a firm that had drained the marsh."


def words_of(sentence: str) -> list[str]:
    return [token.text for token in tokenize(sentence)]


def surprise(source: str, simple: Sequence[str]) -> list[float]:
    words = words_of(source)
    actions = target_actions(words, simple, skip=True)
    assert actions is not None
    return [each.excess for each in surprises(load_decoder(), read_source(words), [actions])[0]]


def test_surprise_is_more_than_was_to_be_expected(scripted: type[Any], write: Write) -> None:
    split = write(SOURCE, "Ann fell", "Ann serving/VBZ tea")
    other = write(SOURCE, "Ann fell", "tea fell")
    decoder = scripted({SOURCE: [(0.6, split), (0.2, other)]})
    features = read_source(words_of(SOURCE))
    expected, wrong = surprises(decoder, features, [[*split, END], [*other, END]])
    entropy = -(0.75 * np.log(0.75) + 0.25 * np.log(0.25))
    assert np.array(expected) == pytest.approx(np.array([[0, 0], [0, entropy]]), abs=1e-4)
    # The likelier word is less surprising than expected, the other one more.
    more = -np.log(0.25) - entropy
    assert np.array(wrong) == pytest.approx(np.array([[0, 0], [more, entropy]]), abs=1e-4)


@pytest.mark.parametrize(
    ("wrong", "place"),
    [
        (["The firm was built by a dam that had drained the marsh.", "It holds back the lake."], 0),
        ([BUILT, "The lake holds back the dam."], 1),
        ([BUILT, "It holds back the marsh."], 1),
    ],
)
def test_surprise_is_great_where_a_word_is_wrong(wrong: list[str], place: int) -> None:
    assert max(surprise(LAKES, [BUILT, "It holds back the lake."])) < 3
    found = surprise(LAKES, wrong)
    assert found[place] == max(found) > 4


def test_surprise_does_not_depend_on_the_other_rewrites() -> None:
    words = words_of(LAKES)
    rewrites = [["The dam holds back the lake."], ["The lake was built.", "The dam is a marsh."]]
    sequences = [target_actions(words, simple, skip=True) or [] for simple in rewrites]
    features = read_source(words)
    together = follow(load_decoder(), features, sequences)
    for actions, rows in zip(sequences, together, strict=True):
        assert len(rows) == len(actions)
        assert np.array_equal(rows, follow(load_decoder(), features, [actions])[0])
        assert rows.sum(axis=1) == pytest.approx(1)


def test_words_that_the_model_cannot_write_are_skipped() -> None:
    words = words_of(LAKES)
    assert target_actions(words, ["The dam holds back magma."]) is None
    assert target_actions(words, ["The dam holds back magma."], skip=True) == target_actions(
        words, ["The dam holds back."]
    )


def test_second_opinion_raises_the_risk_of_the_sentence_that_surprises() -> None:
    def verifying(source: str, rewrites: Any, level: Level = Level.PLAIN) -> list[RewriteVerdict]:
        faults = np.full((2, OUTPUTS), 0.3, dtype=np.float32)
        return [RewriteVerdict(-1.0, faults) for _ in rewrites]

    opinion = SecondOpinion(verifying, load_decoder())
    right, wrong = opinion(
        LAKES, [[BUILT, "It holds back the lake."], [BUILT, "It holds back the marsh."]]
    )
    assert wrong.faults[1, -1] > 0.5 > 0.2 > right.faults[:, -1].max()
    assert wrong.faults[0, -1] == right.faults[0, -1]
    assert np.all(wrong.faults[:, :-1] == np.float32(0.3))


@settings(deadline=None, max_examples=30)
@given(st.text(max_size=40), st.lists(st.text(max_size=30), min_size=1, max_size=3))
def test_second_opinion_judges_anything(source: str, simple: list[str]) -> None:
    (verdict,) = load_second_opinion()(source, [simple])
    assert verdict.faults.shape == (len(simple), OUTPUTS)
    assert np.isfinite(verdict.faults).all()
    assert load_second_opinion()(source, []) == []
