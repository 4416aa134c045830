"""Markdown: paragraphs, list items and quotations are rewritten, anything else is left alone.

markdown-it parses the markup. Its inline tokens have no position, so they are located in the source
again; a paragraph where that fails is left alone.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise

from markdown_it import MarkdownIt
from markdown_it.helpers import parseLinkDestination, parseLinkTitle
from markdown_it.token import Token

from parataxis.run.documents.document import Change
from parataxis.run.documents.markup import (
    Block,
    Chain,
    Element,
    MarkupDocument,
    Tail,
    TextCell,
    placeholder,
    signature,
)
from parataxis.text.documents import Document
from parataxis.text.layout import LINE
from parataxis.text.segments import Span

_TICKS = re.compile(r"`+")
_SOFT_BREAK = re.compile(r"[ \t]*\n[ \t]*")
_NOTE = re.compile(r"\s?\[(?:\^[^\]\s]{1,100}|-?@[^\]]{1,200})\]")
"""A reference to a footnote, or a citation."""
_FRONT_MATTER = re.compile(
    r"(?:---|\+\+\+)[ \t]*\r?\n.*?\n(?:---|\.\.\.|\+\+\+)[ \t]*(?:\r?\n|\Z)", re.DOTALL
)
_DEFINITION = re.compile(r"\s*\[\^[^\]\s]+\]:")
_MARKER = re.compile(r"\[[ xX]\]\s+|\[![\w-]+\][^\n]*\n?")
"""The check box of a task, or the type of an alert; both come before the text."""
_SPECIAL = {
    "a formula": re.compile(
        r"\$\$|\$[^\s$](?:[^$\n]{0,500}[\\^_{}=][^$\n]{0,500})\$(?!\d)|\\[(\[]"
    ),
    "a template": re.compile(r"\{[{%#:.]|\[\[|\{[\w:-]+\}`"),
}


class MarkdownDocument(MarkupDocument):
    """A Markdown document and its sentences."""

    def __init__(self, text: str) -> None:
        super().__init__(text, list(_blocks(text)))

    def write(self, changes: Sequence[Change]) -> str:
        """The document with its changes; a sentence on several lines is wrapped again."""
        made = self.replacements(changes)
        spans = tuple(Span(*region, "") for region, _ in made)
        texts = {i: [re.sub(r"\s*\n\s*", " ", text)] for i, (_, text) in enumerate(made)}
        return Document(self.text, spans).rebuild(texts)

    def failed(self, changes: Sequence[Change]) -> set[int]:
        """The blocks that would not read as they should: a star in a new place can have another
        meaning."""
        after = list(_blocks(self.write(changes)))
        if len(after) != len(self.blocks):
            return set(range(len(self.blocks)))
        wanted = self.expected(changes)
        return {i for i, block in enumerate(after) if signature(block.cells) != wanted[i]}


def _blocks(text: str) -> Iterator[Block]:
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
    """The text with empty lines in place of the front matter."""
    match = _FRONT_MATTER.match(text)
    if match is None:
        return text
    return "\n" * len(LINE.findall(match.group())[:-1]) + text[match.end() :]


def _places(
    content: str, lines: Sequence[str], starts: Sequence[int]
) -> Callable[[int], int] | None:
    """Maps the characters of a paragraph, whose lines have lost their margins, to the document;
    None if they cannot be found."""
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


class LostError(Exception):
    """A token was not found in the source."""


def read_inline(
    content: str, tokens: Sequence[Token], place: Callable[[int], int]
) -> list[TextCell]:
    """The cells of a paragraph; ``place`` maps a character of the paragraph to the document.

    Raises LostError if the tokens do not match the source.
    """
    reader = _InlineReader(content, place)
    for token in tokens:
        reader.read(token)
    if reader.cursor != len(content):
        raise LostError
    return _with_notes(_with_obstacles(reader.cells, content, place))


class _InlineReader:
    def __init__(self, content: str, place: Callable[[int], int]) -> None:
        self.content, self.place = content, place
        self.cursor = 0
        self.cells: list[TextCell] = []
        self._chain: Chain = ()
        self._verbatims = 0
        self._autolink = -1

    def read(self, token: Token) -> None:
        kind = token.type
        if self._autolink >= 0:  # the link and its text were read together
            self._autolink = -1 if kind == "link_close" else self._autolink
        elif kind == "text":
            self._text(token.content)
        elif kind == "text_special":
            self._add(token.content, self._take(token.markup))
        elif kind == "softbreak":
            self._match(_SOFT_BREAK)
            self._add("\n", " ")  # lines are wrapped again
        elif kind == "hardbreak":
            self._add("\n", self._match(re.compile(r"(?:[ \t]*|\\)\n[ \t]*")), "a line break")
        elif kind == "code_inline":
            self._code(token)
        elif kind == "image":
            end = _label_end(self.content, self.cursor + 1)
            self._add("\ufffc", self._up_to(self._link_end(end)), "a picture")
        elif kind == "html_inline":
            self._html(token.content)
        elif kind == "link_open" and token.markup == "autolink":
            self._autolink = self.cursor
            end = self.content.index(">", self.cursor) + 1
            self._verbatim(self.content[self.cursor + 1 : end - 1], self._up_to(end))
        elif kind == "link_open":
            self._open(self._take("["), is_formatting=False)
        elif kind == "link_close":
            self._close(self._up_to(self._link_end(self.cursor + 1)))
        elif kind.endswith("_open"):
            self._open(self._take(token.markup), is_formatting=True)
        elif kind.endswith("_close"):
            self._close(self._take(token.markup))
        else:
            raise LostError

    def _text(self, text: str) -> None:
        for char in text:
            self._add(char, self._take(char))

    def _code(self, token: Token) -> None:
        start = self.cursor + len(self._take(token.markup))
        for ticks in _TICKS.finditer(self.content, start):
            if ticks.group() == token.markup:
                self.cursor -= len(token.markup)
                self._verbatim(token.content, self._up_to(ticks.end()))
                return
        raise LostError

    def _html(self, tag: str) -> None:
        start = self.cursor
        self._take(tag)
        if tag.startswith("<!--") and self.cells:
            self._tail(tag)
        else:
            self.cursor = start
            self._add("\ufffc", self._take(tag), "a tag")

    def _verbatim(self, content: str, raw: str) -> None:
        word = placeholder(content, self._verbatims)
        self._verbatims += 1
        first = len(self.cells)
        self._add(word, raw)
        for cell in self.cells[first:]:
            cell.verbatim = self._verbatims

    def _open(self, raw: str, *, is_formatting: bool) -> None:
        start = self.place(self.cursor - len(raw))
        self._chain += (Element(raw, is_formatting=is_formatting, start=start),)

    def _close(self, raw: str) -> None:
        element = self._chain[-1]
        element.closing, element.end = raw, self.place(self.cursor - 1) + 1
        self._chain = self._chain[:-1]
        inside = [cell for cell in self.cells if element in cell.chain]
        text = "".join(cell.raw for cell in inside)
        if not inside or text.startswith("^"):  # a reference to a note whose text is one word
            del self.cells[len(self.cells) - len(inside) :]
            if not self.cells:
                raise LostError
            self._tail(element.opening + text + raw)

    def _tail(self, raw: str) -> None:
        end = self.place(self.cursor - 1) + 1
        self.cells[-1].tails += (Tail(raw, self._chain, end),)

    def _add(self, chars: str, raw: str, obstacle: str = "") -> None:
        """Add cells for some characters; the first holds the whole source."""
        start, end = self.place(self.cursor - len(raw)), self.place(self.cursor - 1) + 1
        for number, char in enumerate(chars):
            own, begin = ("", end) if number else (raw, start)
            self.cells.append(TextCell(char, own, self._chain, begin, end, obstacle=obstacle))

    def _take(self, raw: str) -> str:
        if not raw or not self.content.startswith(raw, self.cursor):
            raise LostError
        return self._up_to(self.cursor + len(raw))

    def _match(self, pattern: re.Pattern[str]) -> str:
        match = pattern.match(self.content, self.cursor)
        if match is None:
            raise LostError
        return self._up_to(match.end())

    def _up_to(self, end: int) -> str:
        raw, self.cursor = self.content[self.cursor : end], end
        return raw

    def _link_end(self, after: int) -> int:
        """The end of a link whose text, with its bracket, ends at ``after``."""
        if self.content[after - 1 : after] != "]":
            raise LostError
        return _inline_end(self.content, after) or _reference_end(self.content, after)


def _label_end(content: str, start: int) -> int:
    """The end of the brackets that open at ``start``."""
    depth = 0
    for match in re.compile(r"\\.|[\[\]]", re.DOTALL).finditer(content, start):
        depth += {"[": 1, "]": -1}.get(match.group(), 0)
        if depth == 0:
            return match.end()
    raise LostError


def _inline_end(content: str, after: int) -> int:
    """The end of ``(address "title")``, or 0 if there is none."""
    length = len(content)

    def skip(place: int) -> int:
        while place < length and content[place] in " \t\n":
            place += 1
        return place

    if content[after : after + 1] != "(":
        return 0
    place = skip(after + 1)
    address = parseLinkDestination(content, place, length)
    if address.ok:
        place = skip(address.pos)
        title = parseLinkTitle(content, place, length)
        if title.ok:
            place = skip(title.pos)
    return place + 1 if content[place : place + 1] == ")" else 0


def _reference_end(content: str, after: int) -> int:
    """The end of ``[label]``; without one, ``[text]`` is its own label."""
    match = re.compile(r"\[(?:[^\[\]\\]|\\.)*\]").match(content, after)
    return match.end() if match else after


def _with_obstacles(
    cells: list[TextCell], content: str, place: Callable[[int], int]
) -> list[TextCell]:
    for reason, pattern in _SPECIAL.items():
        for match in pattern.finditer(content):
            start, end = place(match.start()), place(match.end() - 1) + 1
            for cell in cells:
                if cell.start < end and start < cell.end and cell.verbatim is None:
                    cell.obstacle = reason
    return cells


def _with_notes(cells: list[TextCell]) -> list[TextCell]:
    """The cells with references to notes turned from text into tails."""
    text = "".join(cell.char for cell in cells)
    kept: list[TextCell] = []
    end = 0
    for match in _NOTE.finditer(text):
        note = cells[match.start() : match.end()]
        kept += cells[end : match.start()]
        end = match.start()
        if kept and not any(cell.chain != note[0].chain or cell.obstacle for cell in note):
            raw = "".join(cell.raw for cell in note)
            kept[-1].tails += (Tail(raw, note[0].chain, note[-1].end),)
            end = match.end()
    return kept + cells[end:]
