"""How simple sentences are told apart in a line."""

import pytest

from parataxis.evaluate.corpora.sentences import at_final_stops, at_mark, by_segmenter, running_text


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("it rained . we left .", ("it rained .", "we left .")),
        ("it rained . we left", ("it rained .", "we left")),
        ("who came ? Dr. Lee did .", ("who came ?", "Dr. Lee did .")),
        ("he said “ no . ” we left .", ("he said “ no . ”", "we left .")),
        ("( it rained . ) we left .", ("( it rained . )", "we left .")),
        ("it cost 4.5 or 4 . 5 .", ("it cost 4.5 or 4 .", "5 .")),
        ("it rained . .", ("it rained . .",)),
        (". it rained . - we left .", (". it rained .", "- we left .")),
        (" . ", ()),
    ],
)
def test_sentences_at_final_stops(text: str, expected: tuple[str, ...]) -> None:
    assert at_final_stops(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("- It rained. 1. We left.", ("- It rained.", "1. We left.")),
        ("# It rained.\nWe left.", ("# It rained.", "We left.")),
        ("  ", ()),
    ],
)
def test_sentences_by_segmenter_lose_no_sign(text: str, expected: tuple[str, ...]) -> None:
    assert by_segmenter(text) == expected


def test_sentences_at_mark_leave_out_empty_ones() -> None:
    assert at_mark(" <SEP> A . <SEP><SEP> B .", "<SEP>") == ("A .", "B .")


@pytest.mark.parametrize(
    ("tokens", "text"),
    [
        ("It was 5 % of $ 7 ; he ca n't pay .", "It was 5% of $7; he can't pay."),
        ("-LRB- a -RRB- [ b ]", "(a) [b]"),
        ("'' Evita '' is Ann 's film .", '"Evita" is Ann\'s film.'),
    ],
)
def test_sentences_join_treebank_tokens(tokens: str, text: str) -> None:
    assert running_text(tokens) == text
