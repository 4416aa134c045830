"""A report for a terminal: its paragraphs in lines, its tables in columns."""

import textwrap
from collections.abc import Sequence

from parataxis.cli.tables import plain_table
from parataxis.reports.document import (
    Block,
    Document,
    Figure,
    Heading,
    Paragraph,
    Points,
    Table,
)

__all__ = ["document_text"]

_WIDTH = 88


def document_text(document: Document) -> str:
    """The document as plain text."""
    return "\n".join([f"{document.title}\n", *map(_text, document.blocks)])


def _text(block: Block) -> str:
    match block:
        case Heading(text):
            return f"{text}\n{'-' * len(text)}"
        case Paragraph(text) | Figure(_, text):
            return textwrap.fill(text, _WIDTH) + "\n"
        case Points(texts):
            return "".join(
                textwrap.fill(text, _WIDTH, initial_indent="- ", subsequent_indent="  ") + "\n"
                for text in texts
            )
        case Table(header, rows, names):
            if names == len(header):  # sentences in columns are too wide for a terminal
                return "\n".join(_lines(header, row) for row in rows)
            table = block.without_empty_columns()
            right = range(names, len(table.header))
            return plain_table(table.header, table.rows, right=right)


def _lines(header: Sequence[str], row: Sequence[str]) -> str:
    """A row of sentences, each on lines of its own behind its name."""
    width = max(map(len, header)) + 2
    return "".join(
        textwrap.fill(
            cell, _WIDTH, initial_indent=f"{name}:".ljust(width), subsequent_indent=" " * width
        )
        + "\n"
        for name, cell in zip(header, row, strict=True)
        if cell
    )
