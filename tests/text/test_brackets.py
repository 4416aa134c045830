"""Brackets of the Penn Treebank."""

import pytest

from parataxis.text.tokens import plain_brackets


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Addiction -LRB- journal -RRB- is old .", "Addiction ( journal ) is old ."),
        ("see section 4 - LRB - table - RRB - .", "see section 4 ( table ) ."),
        ("-LSB- sic -RSB- -LCB- x -RCB-", "[ sic ] { x }"),
        ("LRB is no bracket, nor is a-LRB", "LRB is no bracket, nor is a-LRB"),
        ("the name Lrb - lrb -", "the name Lrb - lrb -"),
    ],
)
def test_brackets_are_made_plain(text: str, expected: str) -> None:
    assert plain_brackets(text) == expected
