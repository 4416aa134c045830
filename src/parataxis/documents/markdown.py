"""Markdown: paragraphs, list items and quotations are rewritten, all else is left as it is."""

import re
from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise

from parataxis.documents.inline import LostError, read_inline
from parataxis.documents.markup import Block, Change, MarkupDocument, signature
from parataxis.text.documents import Document
from parataxis.text.layout import LINE
from parataxis.text.segments import Span

__all__ = ["MarkdownDocument"]

_FRONT_MATTER = re.compile(
    r"(?:---|\+\+\+)[ \t]*\r?\n.*?\n(?:---|\.\.\.|\+\+\+)[ \t]*(?:\r?\n|\Z)", re.DOTALL
)
_DEFINITION = re.compile(r"\s*\[\^[^\]\s]+\]:")
_MARKER = re.compile(r"\[[ xX]\]\s+|\[![\w-]+\][^\n]*\n?")
"""The box of a task and the name of a coloured note; both come before the text."""


class MarkdownDocument(MarkupDocument):
    """A Markdown document and its sentences."""

    def __init__(self, text: str) -> None:
        super().__init__(text, list(_blocks(text)))

    def write(self, changes: Sequence[Change]) -> str:
        """The document with its changes; sentences that ran over several lines do so again."""
        spans = tuple(Span(*change.region, "") for change in changes)
        texts = [re.sub(r"\s*\n\s*", " ", change.text) for change in changes]
        return Document(self.text, spans).rebuild({i: [text] for i, text in enumerate(texts)})

    def failed(self, changes: Sequence[Change]) -> set[int]:
        """The blocks that do not read as they should when changes are made: Markdown can take a
        star that was put in a new place for something else."""
        after = list(_blocks(self.write(changes)))
        if len(after) != len(self.blocks):
            return set(range(len(self.blocks)))
        wanted = self.expected(changes)
        return {i for i, block in enumerate(after) if signature(block.cells) != wanted[i]}


def _blocks(text: str) -> Iterator[Block]:
    from markdown_it import MarkdownIt

    parser = MarkdownIt("commonmark").enable(["table", "strikethrough"]).disable("text_join")
    lines = [match.group() for match in LINE.finditer(text)]
    starts = [0]
    for line in lines:
        starts.append(starts[-1] + len(line))
    tokens = parser.parse(_without_front_matter(text))
    for before, token in pairwise(tokens):
        if before.type != "paragraph_open" or token.map is None:
            continue
        first, last = token.map
        place = _places(token.content, lines[first:last], starts[first:last])
        if place is None or _DEFINITION.match(token.content):
            continue
        try:
            cells = read_inline(token.content, token.children or [], place)
        except LostError:
            continue
        marker = _MARKER.match("".join(cell.char for cell in cells))
        yield Block(cells[marker.end() if marker else 0 :])


def _without_front_matter(text: str) -> str:
    """The text with empty lines for what some programs read before the Markdown begins."""
    match = _FRONT_MATTER.match(text)
    if match is None:
        return text
    return "\n" * len(LINE.findall(match.group())[:-1]) + text[match.end() :]


def _places(
    content: str, lines: Sequence[str], starts: Sequence[int]
) -> Callable[[int], int] | None:
    """Where in the document each character of a paragraph stands, whose lines have lost their
    margins; None where they cannot be found."""
    contents = content.split("\n")
    if len(contents) != len(lines):
        return None
    places: list[int] = []
    for own, line, start in zip(contents, lines, starts, strict=True):
        body, found = line.rstrip("\r\n").rstrip(), own.strip()
        if not body.endswith(found):
            return None
        begin = start + len(body) - len(found)
        lead = len(own) - len(own.lstrip())
        places += [begin] * lead
        places += range(begin, begin + len(own) - lead + 1)  # with the line break
    return places.__getitem__
