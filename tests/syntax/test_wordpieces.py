"""Words as the models see them."""

import pytest

from parataxis.syntax.wordpieces import SHAPES, load_word_pieces, shape, stack

WORD_PIECES = load_word_pieces()


@pytest.mark.parametrize(
    ("word", "expected"),
    [
        ("the", "lower"),
        ("Łódź", "title"),
        ("A", "title"),
        ("NASA", "upper"),
        ("eBay", "mixed"),
        ("McDonald", "mixed"),
        ("3.5", "digits"),
        ("5(a)", "lower"),
        ("§", "other"),
        ("😀", "other"),
        ("漢字", "mixed"),
    ],
)
def test_wordpieces_shape(word: str, expected: str) -> None:
    assert shape(word) == expected


@pytest.mark.parametrize(
    "words",
    [
        ["Parataxis", "splits", "sentences", "."],
        ["\u200b", "\x00", "😀", "\u0301", "漢字"],
        ["x" * 5000],
        ["don't", "U.S.", "[CLS]", "[PAD]", "[MASK]"],
    ],
)
def test_wordpieces_gives_every_word_a_place_of_its_own(words: list[str]) -> None:
    pieces = WORD_PIECES([words])[0]
    assert len(pieces.first) == len(words) + 1
    assert len(set(pieces.first)) == len(pieces.first)
    assert len(pieces.shapes) == len(pieces.ids)
    assert 0 not in pieces.ids, "0 is the number of padding"


def test_wordpieces_spread_the_shape_of_a_word_over_its_pieces() -> None:
    pieces = WORD_PIECES([["Kaguya", "is"]])[0]
    names = [SHAPES[number] for number in pieces.shapes]
    assert names[0] == names[-1] == "mark"
    assert set(names[1:-2]) == {"title"}
    assert names[-2] == "lower"


def test_wordpieces_stack_pads_on_the_right() -> None:
    assert stack([[1, 2, 3], [4]], fill=-1).tolist() == [[1, 2, 3], [4, -1, -1]]
