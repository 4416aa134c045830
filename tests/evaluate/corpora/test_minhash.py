"""Near-duplicates: nothing near enough is missed, and nothing else is found."""

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from parataxis.evaluate.corpora.leaks import NearIndex, jaccard, shingles

BASE = "The old mill on the hill by the river was built of red brick in 1894 for a brewer ."


def test_minhash_shingles_leave_out_case_and_punctuation() -> None:
    assert shingles("He 's 10-years-old !") == shingles("he's 10 years old")


@pytest.mark.parametrize(
    ("one", "other", "expected"),
    [
        ("It rained and we left.", "It rained and they left.", 1 / 5),
        ("Go on.", "go on", 1.0),
        ("Go on.", "Go away.", 0.0),
        ("...", "...", 1.0),
        ("...", "!", 0.0),
    ],
)
def test_minhash_jaccard(one: str, other: str, expected: float) -> None:
    assert jaccard(one, other) == pytest.approx(expected)


def test_minhash_finds_a_changed_word_and_gives_the_true_jaccard() -> None:
    changed = BASE.replace("brewer", "baker")
    (found,) = NearIndex(["Something else altogether .", BASE]).matches(["No .", changed])
    assert found == (1, 1, jaccard(BASE, changed))


def test_minhash_skips_what_is_known() -> None:
    assert list(NearIndex([BASE]).matches([BASE], skip={0})) == []


def test_minhash_of_nothing() -> None:
    assert list(NearIndex([]).matches([BASE])) == []
    assert list(NearIndex([BASE]).matches([])) == []


def test_minhash_finds_all_near_pairs_of_many() -> None:
    draw = random.Random(7)
    words = [f"word{n}" for n in range(400)]
    texts = [" ".join(draw.choices(words, k=30)) for _ in range(300)]
    near = [f"{text.rsplit(' ', 2)[0]} new ones" for text in texts]
    found = {(place, own) for place, own, _ in NearIndex(texts, threshold=0.8).matches(near)}
    assert found == {(n, n) for n in range(300)}


@settings(max_examples=30)
@given(st.lists(st.text("ab c", max_size=30), max_size=12), st.lists(st.text("ab c", max_size=30)))
def test_minhash_finds_nothing_below_the_threshold(own: list[str], others: list[str]) -> None:
    found = list(NearIndex(own, threshold=0.7).matches(others))
    assert all(near == jaccard(others[at], own[place]) >= 0.7 for at, place, near in found)
    same = {(at, n) for at, text in enumerate(others) for n, each in enumerate(own) if text == each}
    assert same <= {(at, place) for at, place, _ in found}
