"""What the source quotes stays a quotation."""

import pytest

from parataxis.checks import check
from parataxis.rewrite.record import FindingKind


@pytest.mark.parametrize(
    ("source", "simple", "words", "message"),
    [
        (
            "Bob, who is old, wrote “My Life”.",
            ["Bob wrote My Life.", "Bob is old."],
            "My Life",
            "The quotation marks around 'My Life' are missing.",
        ),
        (
            'Ann said, "The sea is cold," and left.',
            ['Ann said, "The sea is".', "It is cold.", "Ann left."],
            "The sea is cold",
            "The quotation marks around 'The sea is cold' are missing.",
        ),
        (
            "Ann said, «The sea is cold», and left.",
            ["Ann said, «The sea is warm».", "Ann left."],
            "cold",
            "The quotation 'cold' is missing.",
        ),
        (
            "The song “Out of My House” won, and Ann left.",
            ["The song “Out of House” won.", "Ann left."],
            "Out of My House",
            "The quotation 'Out of My House' is not whole.",
        ),
        (
            'The "Buyer" pays, and the "Seller" delivers.',
            ['The "Buyer" pays.', "The Seller delivers."],
            "Seller",
            "The quotation marks around 'Seller' are missing.",
        ),
    ],
)
def test_quotations_lost_are_found(
    source: str, simple: list[str], words: str, message: str
) -> None:
    lost = [finding for finding in check(source, simple) if finding.kind is FindingKind.LOST]
    assert [(finding.words, finding.message) for finding in lost] == [(words, message)]
    assert source[lost[0].start : lost[0].end] == words


@pytest.mark.parametrize(
    ("source", "simple"),
    [
        (
            "Ann said, “The sea is cold,” and left.",
            ['Ann said, "The sea is cold".', "Ann left."],
        ),
        (
            'Ann said, "I came and I left."',
            ['Ann said, "I came."', 'Ann said, "I left."'],
        ),
        ("Ann's aunt, who 'sang', left.", ["Ann's aunt left.", "She sang."]),
        ('The pipe, which is old, is 6" wide.', ['The pipe is 6" wide.', "It is old."]),
        ("The film `` Red '' won, and Ann left.", ["The film `` Red '' won.", "Ann left."]),
    ],
)
def test_quotations_kept_raise_nothing(source: str, simple: list[str]) -> None:
    assert check(source, simple) == []
