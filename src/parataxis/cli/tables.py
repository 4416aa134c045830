"""Plain tables that read well in a terminal and can be cut with ``awk``."""

import unicodedata
from collections.abc import Sequence

__all__ = ["counted", "plain_table"]


def counted(number: int, noun: str) -> str:
    """A number with its noun.

    >>> counted(1, "sentence"), counted(1200, "sentence")
    ('1 sentence', '1,200 sentences')
    """
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"


def plain_table(
    header: Sequence[str], rows: Sequence[Sequence[str]], *, right: Sequence[int] = ()
) -> str:
    """Columns two spaces apart under a header; the columns in ``right`` hold numbers.

    >>> print(plain_table(("pattern", "n"), [("rc", "12"), ("conj", "7")], right=[1]), end="")
    pattern   n
    rc       12
    conj      7
    """
    table = [header, *rows]
    widths = [max(_width(row[column]) for row in table) for column in range(len(header))]
    lines = []
    for row in table:
        cells = [
            " " * (width - _width(cell)) + cell
            if column in right
            else cell + " " * (width - _width(cell))
            for column, (cell, width) in enumerate(zip(row, widths, strict=True))
        ]
        lines.append("  ".join(cells).rstrip() + "\n")
    return "".join(lines)


def _width(text: str) -> int:
    """How many columns of a terminal a text takes."""
    wide = sum(unicodedata.east_asian_width(character) in "WF" for character in text)
    return len(text) + wide - sum(map(bool, map(unicodedata.combining, text)))
