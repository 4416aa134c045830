import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from parataxis.rewrite.align import align
from parataxis.rewrite.forms import key
from parataxis.rewrite.record import Origin, Rewrite


def _origins(source: str, sentence: str) -> list[tuple[str, str, str | None]]:
    return [
        (token.text, token.origin.value, source[slice(*token.source)] if token.source else None)
        for token in align(source, [sentence])[0]
    ]


def test_align_copies_inflects_and_inserts() -> None:
    assert _origins("Ann, serving tea, hadn't slept.", "She serves tea and had not slept.") == [
        ("She", "inserted", None),
        ("serves", "inflected", "serving"),
        ("tea", "copied", "tea"),
        ("and", "inserted", None),
        ("had", "copied", "had"),
        ("not", "inflected", "n't"),
        ("slept", "copied", "slept"),
        (".", "copied", "."),
    ]


def test_align_ignores_capitals() -> None:
    assert _origins("Later the Dog slept.", "THE dog slept")[:2] == [
        ("THE", "copied", "the"),
        ("dog", "copied", "Dog"),
    ]


def test_align_splits_a_possessive_from_its_noun() -> None:
    assert _origins("The king had a son.", "The king's son")[1:3] == [
        ("king", "copied", "king"),
        ("'s", "inserted", None),
    ]


@pytest.mark.parametrize(
    ("source", "sentence", "starts"),
    [
        # The article and the noun come from the same place.
        ("The dog saw the cat.", "the cat", [12, 16]),
        # The second clause is copied as a run, though every word but one stood before.
        ("He ate the pie and he ate the cake.", "He ate the cake.", [19, 22, 26, 30, 34]),
        # Of two equal runs, the first; then onwards rather than back.
        ("a b c a b d", "a b", [0, 2]),
        ("the x of the y of the z", "y of z", [13, 15, 22]),
    ],
)
def test_align_prefers_runs_and_order(source: str, sentence: str, starts: list[int]) -> None:
    tokens = align(source, [sentence])[0]
    assert [token.source and token.source[0] for token in tokens] == starts


def test_align_makes_provenance_that_the_record_accepts() -> None:
    source, simple = "Ann, a doctor, left.", ["Ann is a doctor.", "She left."]
    rewrite = Rewrite(
        source=source, simple=simple, splitter="reference", provenance=align(source, simple)
    )
    assert rewrite.provenance is not None
    assert [len(tokens) for tokens in rewrite.provenance] == [5, 3]


def test_align_copies_a_long_repetitive_sentence_in_place() -> None:
    source = "the dog and the cat , " * 100
    tokens = align(source, [source])[0]
    assert len(tokens) == 600
    assert all(token.source == (token.start, token.end) for token in tokens)


_WORDS = st.lists(
    st.sampled_from(
        ["The", "the", "dog", "dogs", "ran", "run", ",", ".", "not", "n't", "é", "5", "€"]
    ),
    max_size=12,
).map(" ".join)


@settings(max_examples=60, deadline=None)
@given(_WORDS | st.text(max_size=40), st.lists(_WORDS | st.text(max_size=40), max_size=3))
def test_align_places_are_true(source: str, simple: list[str]) -> None:
    for sentence, tokens in zip(simple, align(source, simple), strict=True):
        assert "".join(t.text for t in tokens) == "".join(sentence.split())
        for token in tokens:
            assert sentence[token.start : token.end] == token.text
            assert (token.source is None) == (token.origin is Origin.INSERTED)
            if token.origin is Origin.COPIED and token.source is not None:
                assert key(source[slice(*token.source)]) == key(token.text)


def test_align_a_word_that_is_repeated_a_thousand_times(monkeypatch: pytest.MonkeyPatch) -> None:
    """The best of a million pairs takes seconds, so the next place is taken."""
    monkeypatch.delattr("parataxis.rewrite.align._sweep")
    (tokens,) = align("a " * 1000, ["a " * 1000])
    assert [token.source for token in tokens] == [(2 * n, 2 * n + 1) for n in range(1000)]
