"""Symbols and the spacing of tokenised text come through a split; what is no sentence stays."""

import pytest

from parataxis.checks import check
from parataxis.splitters.pointer import PointerSplitter

CASES = {
    "The Acme™ engine, which was built in 1891, was sold to Bo Berg, and the firm closed.": [
        "The Acme™ engine was built in 1891.",
        "It was sold to Bo Berg.",
        "The firm closed.",
    ],
    "Ann 😀 sang in the hall, which was full, and Bo 👨\u200d👩\u200d👧 danced in the street.": [
        "Ann 😀 sang in the hall, which was full.",
        "Bo 👨\u200d👩\u200d👧 danced in the street.",
    ],
    "Call f() first, which opens the file, and then call g(), which closes it.": [
        "Call f() first, which opens the file.",
        "Then call g(), which closes the file.",
    ],
    "The mill -LRB- built in 1811 -RRB- , which Ann sold in May , burned down , and she left .": [
        "The mill -LRB- built in 1811 -RRB- burned down .",
        "Ann sold it in May .",
        "She left .",
    ],
    "The mill , which Ann sold in May , burned down , and the owner left London .": [
        "The mill burned down .",
        "Ann sold it in May .",
        "The owner left London .",
    ],
}


@pytest.fixture(scope="module")
def splitter() -> PointerSplitter:
    return PointerSplitter()


@pytest.mark.parametrize(("source", "simple"), CASES.items())
def test_symbols_and_spacing_come_through(
    splitter: PointerSplitter, source: str, simple: list[str]
) -> None:
    assert list(splitter(source).simple) == simple


@pytest.mark.parametrize(
    "source",
    [
        "✓ The test, which Ann wrote, passed on Monday, and the team went home.",
        "The map {} is empty at the start, which saves memory, and it grows later.",
        "Under § 7 of the Act, which Parliament passed in May, a shop must close, and it pays.",
    ],
)
def test_symbols_are_never_lost(splitter: PointerSplitter, source: str) -> None:
    rewrite = " ".join(splitter(source).simple)
    for symbol in ("✓", "{}", "§"):
        assert rewrite.count(symbol) >= source.count(symbol)


@pytest.mark.parametrize(
    ("source", "simple", "symbol"),
    [
        ("The Acme™ engine, which broke, was sold.", ["The Acme engine broke.", "It sold."], "™"),
        ("Call f() first, which opens it.", ["Call f first.", "This opens it."], "()"),
        ("Ann 😀 and Bo 😀 left.", ["Ann 😀 left.", "Bo left."], "😀"),
    ],
)
def test_symbols_that_are_lost_are_reported(source: str, simple: list[str], symbol: str) -> None:
    assert f"The symbol '{symbol}' is missing." in [each.message for each in check(source, simple)]


@pytest.mark.parametrize(
    "source",
    [
        "the records, which the Supplier shall keep for five years, shall be open to the Buyer;",
        "(b) the goods are late, and the Buyer, who paid in May, has not been repaid; and",
        "Subject: The meeting, which was planned for May, is cancelled, and Bo will write to all.",
        "> The meeting, which was planned for May, is cancelled, and Bo will write to all.",
    ],
)
def test_what_is_no_sentence_stays_whole(splitter: PointerSplitter, source: str) -> None:
    rewrite = splitter(source)
    assert rewrite.simple == (source,)
    assert rewrite.note == (
        "Left whole because it is a list item, a header line or a quoted reply."
    )
