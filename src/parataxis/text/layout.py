"""The layout of a plain-text or Markdown document: which lines hold running text.

A *run* is a stretch of running text that no sentence crosses the edges of: a paragraph, a list
item, a heading. It is a list of pieces, one a line, without indentation, list markers and quotation
marks of the margin. Code blocks, tables and ruled lines belong to no run.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import pairwise

from parataxis.text.starters import STARTERS

__all__ = ["LINE", "MARGIN", "Piece", "Run", "find_runs", "label_length", "next_fence"]

Piece = tuple[int, int]
"""Start and end of a part of a line."""

Run = list[Piece]

# str.splitlines also cuts at form feeds and Unicode separators; pasted text has those mid-line.
LINE = re.compile(r"[^\r\n]*(?:\r\n|\r|\n|$)")
MARGIN = re.compile(r"[^\S\r\n]*(?:>[^\S\r\n]*)*")
"""Indentation and the marks of quoted text."""

_FENCE = re.compile(r"`{3,}(?!.*`)|~{3,}")

_HEADING = re.compile(r"#{1,6}\s+(?=\S)")
_RULE = re.compile(r"([-=*_~#+.])(?:\s*\1){2,}\s*$|=+\s*$")
_TABLE_RULE = re.compile(r"\|?\s*:?-+:?\s*(?:\|\s*:?-+:?\s*)+\|?\s*$|\|\s*:?-+:?\s*\|\s*$")
_TABLE_ROW = re.compile(r"\|.*\|\s*$|\+[-=+]{2,}\+\s*$")

_ROMAN = r"[ivxIVX]{1,5}|[lcLC]{1,2}[ivxIVX]{0,5}"
_BULLET = re.compile(r"(?:[-*+•‣◦·▪●○■□–—]\s+)(?:\[[ xX]\]\s+)?(?=\S)")
_NUMBER = re.compile(
    rf"\s*(?P<label>(?:\((?:\d{{1,3}}|[a-zA-Z]{{1,2}}|{_ROMAN})\)|(?:\d{{1,3}}|[a-z]|{_ROMAN})\)"
    r"|\d{1,3}(?:\.\d{1,3}){0,9}\.|\d{1,3}(?:\.\d{1,3}){1,9}(?=\s+[\"“(]*[A-Z])"
    r"|(?:[a-hj-z]|[ivx]{2,5}|[IVX]{2,5})\.)\s+)(?=\S)"
)
_CAPITAL = re.compile(r"\s*(?P<label>[A-Z]\.\s+)(?P<word>[A-Z][a-z]*)\b")
_LABEL = re.compile(
    r"\s*(?P<label>(?i:article|section|sec\.|clause|chapter|part|schedule|exhibit|appendix|annex|§+)"
    rf"\s*(?:\d+(?:\.\d+)*|{_ROMAN}|[A-Z])(?:\([a-zA-Z0-9]{{1,4}}\))*[.:]\s+)(?=[\"“(]*[A-Z])"
)

_STOP = re.compile(r"[.!?…:;][\"'”’)\]*_]*$")
_SENTENCE_STOP = re.compile(r"[.!?…][\"'”’)\]*_]*$")
_LINKING = re.compile(r"(?:\band|\bor|,)$")
_HANGING = re.compile(
    r"\b(?:an?|the|of|to|in|on|at|by|for|from|with|and|or|but|as|that|which|is|are|was|were|be|not"
    r"|its|his|her|their|our|my|your|shall|will|may|than|into|under|between)$"
)
_FIRST_WORD = re.compile(r"\S+")
_NARROWEST, _WIDEST = 30, 160  # columns of text that was wrapped by hand or by a mail program


@dataclass(slots=True)
class _Line:
    start: int
    """Where the text of the line starts, after the margin and the marker."""
    end: int
    text: str
    column: int
    """Length of the whole line, margin included."""
    depth: int
    """How many quotation marks stand in the margin."""
    marked: bool
    """Does a list marker or label stand before the text?"""


@dataclass(slots=True)
class _Paragraph:
    lines: list[_Line] = field(default_factory=list)

    def runs(self) -> Iterator[Run]:
        """Cut where a line break was meant: after lines that had room for the next word."""
        lines = self.lines
        if not lines:
            return
        columns = sorted(line.column for line in lines)
        width = columns[-1 - len(columns) // 10]
        run: Run = [(lines[0].start, lines[0].end)]
        for before, line in pairwise(lines):
            if line.marked or not _is_wrapped(before, line, width):
                yield run
                run = []
            run.append((line.start, line.end))
        yield run


def _is_wrapped(before: _Line, line: _Line, width: int) -> bool:
    """Was the break between two lines put there only because the first was full?"""
    first = _FIRST_WORD.match(line.text)
    word = first.group() if first else ""
    if word[:1].islower() or _HANGING.search(before.text):
        return True
    if width > _WIDEST:
        return False
    # After a stop it does not matter here: the word before it and the next one will decide.
    is_full = width >= _NARROWEST and before.column + 1 + len(word) > width
    return is_full or bool(_SENTENCE_STOP.search(before.text))


def next_fence(line: str, fence: str) -> str:
    """The fence of the code block that is open after a line ("```"), or "" when none is."""
    body = MARGIN.sub("", line, count=1).rstrip()
    if fence:
        closes = body.startswith(fence) and not body.strip(fence[0])
        return "" if closes else fence
    opening = _FENCE.match(body)
    return opening.group() if opening else ""


def find_runs(text: str, *, fence: str = "") -> Iterator[Run]:
    """Find the runs of running text in a document, in order.

    ``fence`` is the fence of a code block that is open where the text begins.
    """
    paragraph = _Paragraph()
    table = False
    lines = LINE.finditer(text)
    following = _next_line(lines)
    while following is not None:
        (start, line), following = following, _next_line(lines)
        was_open, fence = fence, next_fence(line, fence)
        margin = MARGIN.match(line)
        offset = margin.end() if margin else 0
        body = line[offset:].rstrip()
        table = bool(body) and ((table and "|" in body) or _starts_table(body, following))
        if was_open or fence or table or not body or _RULE.match(body):
            yield from paragraph.runs()
            paragraph = _Paragraph()
            continue
        heading = _HEADING.match(body)
        depth = line.count(">", 0, offset)
        if heading or (paragraph.lines and depth != paragraph.lines[-1].depth):
            yield from paragraph.runs()
            paragraph = _Paragraph()
        marker = heading.end() if heading else _marker_length(body, paragraph.lines)
        content = body[marker:].rstrip("# \t") if heading else body[marker:]
        begin = start + offset + marker
        paragraph.lines.append(
            _Line(begin, begin + len(content), content, offset + len(body), depth, marker > 0)
        )
        if heading:
            yield from paragraph.runs()
            paragraph = _Paragraph()
    yield from paragraph.runs()


def _next_line(lines: Iterator[re.Match[str]]) -> tuple[int, str] | None:
    match = next(lines, None)
    return (match.start(), match.group()) if match and match.group() else None


def _starts_table(body: str, following: tuple[int, str] | None) -> bool:
    if _TABLE_ROW.match(body):
        return True
    return "|" in body and following is not None and bool(_TABLE_RULE.match(following[1].strip()))


def _marker_length(body: str, above: list[_Line]) -> int:
    """Length of the list markers and labels at the start of a line."""
    bullet = _BULLET.match(body)
    length = bullet.end() if bullet else 0
    length += label_length(body[length:])
    # Inside a paragraph "5. May" may be the end of a sentence: a list item follows a finished line
    # or another item.
    if length and above and not above[-1].marked:
        last = above[-1].text
        if not _STOP.search(last) and not _LINKING.search(last):
            return 0
    return length


def label_length(text: str) -> int:
    """Length of what numbers a clause: "1.", "(a)", "A. ", "Section 3.", several in a row."""
    length = 0
    while (
        match := _NUMBER.match(text, length) or _LABEL.match(text, length) or _letter(text, length)
    ):
        length = match.end("label")
    return length


def _letter(text: str, position: int) -> re.Match[str] | None:
    # "A. The Lender" is a clause, "A. Lincoln" is a man.
    match = _CAPITAL.match(text, position)
    return match if match and match["word"] in STARTERS else None
