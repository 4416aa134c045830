"""Markdown: paragraphs, list items and quotations are rewritten, anything else is left alone.

markdown-it parses the markup. Its inline tokens have no position, so they are located in the source
again; a paragraph where that fails is left alone.
"""

import re
from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise, takewhile

from markdown_it import MarkdownIt
from markdown_it.helpers import parseLinkDestination, parseLinkTitle
from markdown_it.token import Token

from parataxis.run.documents import Change, Surrounding
from parataxis.run.documents.markup import (
    Block,
    CellReader,
    MarkupDocument,
    Tail,
    TextCell,
    placeholder,
    signature,
)
from parataxis.run.documents.plan import Range
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
_SIGNS = re.compile(r"[][!*_~`<&\\]")
_MOST_SIGNS = 1000
"""Signs of a paragraph that may be markup. The time to read it grows with the square of them, so a
paragraph with more is left alone."""
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

    def replacements(self, changes: Sequence[Change]) -> Iterator[tuple[Range, str]]:
        """The regions that change; a sentence on several lines is wrapped again."""
        document = Document(self.text, ())
        for region, text in super().replacements(changes):
            on_a_line = re.sub(r"\s*\n\s*", " ", text)
            yield region, document.lay_out(Span(*region, ""), [on_a_line])

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
    parser.disable("inline")  # only what is text here, and takes linear time
    environment: dict[str, object] = {}
    tokens = parser.parse(_without_front_matter(text), environment)
    quotations = 0
    for before, token in pairwise(tokens):
        quotations += {"blockquote_open": 1, "blockquote_close": -1}.get(before.type, 0)
        if before.type != "paragraph_open" or token.map is None:
            continue
        first, last = token.map
        place = _places(token.content, lines[first:last], starts[first:last])
        if place is None or _DEFINITION.match(token.content):
            continue
        if len(_SIGNS.findall(token.content)) > _MOST_SIGNS:
            continue
        token.children = []
        parser.inline.parse(token.content, parser, environment, token.children)
        try:
            reader = _InlineReader(token.content, token.children or [], place)
        except _LostError:
            continue
        cells = _with_notes(_with_obstacles(reader.cells, token.content, place))
        marker = _MARKER.match("".join(cell.char for cell in cells))
        around = frozenset([Surrounding.QUOTATION] if quotations else [])
        yield Block(cells[marker.end() if marker else 0 :], around)


def _without_front_matter(text: str) -> str:
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


class _LostError(Exception):
    """A token was not found in the source."""


class _InlineReader(CellReader):
    """Reads the cells of a paragraph; ``place`` maps its characters to the document. Raises
    _LostError if the tokens do not match the source."""

    def __init__(self, content: str, tokens: Sequence[Token], place: Callable[[int], int]) -> None:
        super().__init__()
        self.content, self.place = content, place
        self.cursor = self._verbatims = 0
        self._is_in_autolink = False
        for token in tokens:
            self._read(token)
        if self.cursor != len(content):
            raise _LostError

    def _read(self, token: Token) -> None:
        kind = token.type
        if self._is_in_autolink:  # the link and its text were read together
            self._is_in_autolink = kind != "link_close"
        elif kind == "text":
            for char in token.content:
                self._add(char, self._take(char))
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
            self._is_in_autolink = True
            end = self.content.index(">", self.cursor) + 1
            self._verbatim(self.content[self.cursor + 1 : end - 1], self._up_to(end))
        elif kind == "link_open":
            self.open("[", self._start(self._take("[")), is_formatting=False)
        elif kind == "link_close":
            self._close(self._up_to(self._link_end(self.cursor + 1)))
        elif kind.endswith("_open"):
            self.open(token.markup, self._start(self._take(token.markup)), is_formatting=True)
        elif kind.endswith("_close"):
            self._close(self._take(token.markup))
        else:
            raise _LostError

    def _code(self, token: Token) -> None:
        start = self.cursor + len(self._take(token.markup))
        for ticks in _TICKS.finditer(self.content, start):
            if ticks.group() == token.markup:
                self.cursor -= len(token.markup)
                self._verbatim(token.content, self._up_to(ticks.end()))
                return
        raise _LostError

    def _html(self, tag: str) -> None:
        start = self.cursor
        self._take(tag)
        if tag.startswith("<!--") and self.cells:
            self.tail(tag, self._end)
        else:
            self.cursor = start
            self._add("\ufffc", self._take(tag), "a tag")

    def _verbatim(self, content: str, raw: str) -> None:
        word = placeholder(content, self._verbatims)
        self.add(word, raw, self._start(raw), self._end, verbatim=self._verbatims)
        self._verbatims += 1

    def _start(self, raw: str) -> int:
        """Where in the document the source begins that was read last."""
        return self.place(self.cursor - len(raw))

    @property
    def _end(self) -> int:
        return self.place(self.cursor - 1) + 1

    def _close(self, raw: str) -> None:
        element = self.close_element(raw, self._end)
        inside = list(takewhile(lambda cell: element in cell.chain, reversed(self.cells)))[::-1]
        text = "".join(cell.raw for cell in inside)
        if not inside or text.startswith("^"):  # a reference to a note whose text is one word
            del self.cells[len(self.cells) - len(inside) :]
            if not self.cells:
                raise _LostError
            self.tail(element.opening + text + raw, self._end)

    def _add(self, chars: str, raw: str, obstacle: str = "") -> None:
        self.add(chars, raw, self._start(raw), self._end, obstacle=obstacle)

    def _take(self, raw: str) -> str:
        if not raw or not self.content.startswith(raw, self.cursor):
            raise _LostError
        return self._up_to(self.cursor + len(raw))

    def _match(self, pattern: re.Pattern[str]) -> str:
        match = pattern.match(self.content, self.cursor)
        if match is None:
            raise _LostError
        return self._up_to(match.end())

    def _up_to(self, end: int) -> str:
        raw, self.cursor = self.content[self.cursor : end], end
        return raw

    def _link_end(self, after: int) -> int:
        """The end of a link whose text, with its bracket, ends at ``after``."""
        if self.content[after - 1 : after] != "]":
            raise _LostError
        return _inline_end(self.content, after) or _reference_end(self.content, after)


def _label_end(content: str, start: int) -> int:
    """The end of the brackets that open at ``start``."""
    depth = 0
    for match in re.compile(r"\\.|[\[\]]", re.DOTALL).finditer(content, start):
        depth += {"[": 1, "]": -1}.get(match.group(), 0)
        if depth == 0:
            return match.end()
    raise _LostError


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
        spans = [(place(m.start()), place(m.end() - 1) + 1) for m in pattern.finditer(content)]
        ends = [end for _, end in spans]  # matches and cells are both in order
        for cell in cells if spans else ():
            index = bisect_right(ends, cell.start)
            is_in = index < len(spans) and spans[index][0] < cell.end
            if is_in and cell.verbatim is None:
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
            kept[-1].tails = [*kept[-1].tails, Tail(raw, note[0].chain, note[-1].end)]
            end = match.end()
    return kept + cells[end:]
