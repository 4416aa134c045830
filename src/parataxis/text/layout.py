"""The layout of a plain-text or Markdown document: which lines hold running text.

A *run* is a stretch of running text whose edges no sentence crosses: a paragraph, a list item, a
heading. It is a list of pieces, one for each line, without indentation, list markers, labels
("1.", "(a)", "Section 3.") and the quotation marks of the margin. Code, tables, pictures and ruled
lines belong to no run.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

from parataxis.text.english import STARTERS

_ROMAN = r"[ivxIVX]{1,5}|[lcLC]{1,2}[ivxIVX]{0,5}"
_BULLET = re.compile(r"(?:[-*+•‣◦·▪●○■□–—]\s+)(?:\[[ xX]\]\s+)?(?=\S)")
_DASH = re.compile(r"[-+–—]\s+[a-z]")
_NUMBER = re.compile(
    rf"\s*(?P<label>(?:\((?:\d{{1,3}}|[a-zA-Z]{{1,2}}|{_ROMAN})\)|(?:\d{{1,3}}|[a-z]|{_ROMAN})\)"
    r"|\d{1,3}(?:\.\d{1,3}){0,9}\.|\d{1,3}(?:\.\d{1,3}){1,9}(?=\s+[\"“(]*[A-Z])"
    r"|(?:[a-hj-z]|[ivx]{2,5}|[IVX]{2,5})\.)\s+)(?=\S)"
)
_CAPITAL = re.compile(r"\s*(?P<label>[A-Z]\.\s+)(?P<word>[A-Z][a-z]*)\b")
_LABEL = re.compile(
    r"\s*(?P<label>"
    r"(?i:article|section|sec\.|clause|chapter|part|schedule|exhibit|appendix|annex|§+)\s*"
    rf"(?:\d+(?:\.\d+)*|{_ROMAN}|[A-Z])(?:\([a-zA-Z0-9]{{1,4}}\))*[.:]\s+)(?=[\"“(]*[A-Z])"
)
_REFERENCE = re.compile(
    r"\b(?i:clauses?|sections?|subsections?|paragraphs?|articles?|items?|of|in|to|by|under|with)$"
)
_FINISHED = re.compile(r"(?:[.!?…:;][\"'”’)\]*_]*|\band|\bor|,)$")


def marker_length(line: str, above: str = "", *, in_list: bool = False) -> int:
    """Length of the list markers and labels at the start of a line.

    ``above`` is the line above in the same paragraph; ``in_list`` means that an earlier item began
    in the same column. After an unfinished line, "5. May" or "- or" continues the sentence.
    """
    bullet = _BULLET.match(line)
    length = bullet.end() if bullet else 0
    length += label_length(line[length:])
    if not above or (bullet and not _DASH.match(line)):
        return length
    if not bullet and _REFERENCE.search(above):
        return 0
    return length if in_list or _FINISHED.search(above) else 0


def label_length(text: str) -> int:
    """Length of the labels at the start of a clause: "1.", "(a)", "A. ", "Section 3."."""
    length = 0
    while match := (
        _NUMBER.match(text, length) or _LABEL.match(text, length) or _letter(text, length)
    ):
        length = match.end("label")
    return length


def _letter(text: str, position: int) -> re.Match[str] | None:
    # "A. The Lender" begins a clause, "A. Lincoln" is a name.
    match = _CAPITAL.match(text, position)
    return match if match and match["word"] in STARTERS else None


Piece = tuple[int, int]
"""Start and end of a part of a line."""

Run = list[Piece]

# str.splitlines also cuts at form feeds and Unicode separators; pasted text has those mid-line.
LINE = re.compile(r"[^\r\n]*(?:\r\n|\r|\n|$)")
_MARGIN = re.compile(r"[^\S\r\n]*(?:>[^\S\r\n]*)*")
"""Indentation and the marks of quoted text."""

_FENCE = re.compile(r"`{3,}(?!.*`)|~{3,}")
_HEADING = re.compile(r"#{1,6}\s+(?=\S)")
_NO_TEXT = re.compile(
    r"(?:([-=*_~#+.])(?:\s*+\1){2,}+|=+"  # a ruled line; possessive, for a line of any length
    r"|(?:\[?!\[[^\]]*\]\([^)]*\)(?:\]\([^)]*\))?\s*)+"  # pictures
    r"|</?[a-zA-Z!][^<>]*>|\[[^\]]+\]:\s*\S+)\s*$"  # a tag, the address of a link
)
_TABLE_RULE = re.compile(r"\|?\s*:?-+:?\s*(?:\|\s*:?-+:?\s*)+\|?\s*$|\|\s*:?-+:?\s*\|\s*$")
_TABLE_ROW = re.compile(r"\|.*\|\s*$|\+[-=+]{2,}\+\s*$")
_CODE = re.compile(r"[{}=;|\\$<>]|--\w|\w\(|^(?:>>>|\.\.\.|#)")
_CODE_INDENT = 4
_ITEM_LINES = 50  # an item of a list is not longer than this many lines


@dataclass(slots=True)
class _Line:
    start: int
    """Where the text of the line starts, after the margin and the marker."""
    end: int
    text: str
    column: int
    """Length of the whole line, margin included."""
    indent: int
    depth: int
    """The number of quotation marks in the margin."""
    marked: bool
    """Whether there is a list marker or label before the text."""


def next_fence(line: str, fence: str) -> str:
    """The fence of the code block that is open after a line ("```"), or "" when none is."""
    body = _MARGIN.sub("", line, count=1).rstrip()
    if fence:
        closes = body.startswith(fence) and not body.strip(fence[0])
        return "" if closes else fence
    opening = _FENCE.match(body)
    return opening.group() if opening else ""


def find_runs(text: str, *, fence: str = "") -> Iterator[Run]:
    """Find the runs of running text in a document, in order.

    ``fence`` is the fence of a code block that is open where the text begins.
    """
    paragraph: list[_Line] = []
    in_table = False
    lines = LINE.finditer(text)
    following = _next_line(lines)
    while following is not None:
        (start, line), following = following, _next_line(lines)
        was_open, fence = fence, next_fence(line, fence)
        margin = _MARGIN.match(line)
        offset = margin.end() if margin else 0
        body = line[offset:].rstrip()
        in_table = bool(body) and ((in_table and "|" in body) or _starts_table(body, following))
        if was_open or fence or in_table or not body or _NO_TEXT.match(body):
            yield from _paragraph_runs(paragraph)
            paragraph = []
            continue
        heading = _HEADING.match(body)
        depth = line.count(">", 0, offset)
        if heading or (paragraph and depth != paragraph[-1].depth):
            yield from _paragraph_runs(paragraph)
            paragraph = []
        marker, content = _split_marker(body, offset, heading, paragraph)
        begin = start + offset + marker
        paragraph.append(
            _Line(
                begin, begin + len(content), content, offset + len(body), offset, depth, marker > 0
            )
        )
        if heading:
            yield from _paragraph_runs(paragraph)
            paragraph = []
    yield from _paragraph_runs(paragraph)


def _next_line(lines: Iterator[re.Match[str]]) -> tuple[int, str] | None:
    match = next(lines, None)
    return (match.start(), match.group()) if match and match.group() else None


def _starts_table(body: str, following: tuple[int, str] | None) -> bool:
    if _TABLE_ROW.match(body):
        return True
    return "|" in body and following is not None and bool(_TABLE_RULE.match(following[1].strip()))


def _split_marker(
    body: str, indent: int, heading: re.Match[str] | None, above: list[_Line]
) -> tuple[int, str]:
    if heading:
        return heading.end(), body[heading.end() :].rstrip("# \t")
    marker = marker_length(body)
    if marker and above:
        in_list = any(line.marked and line.indent == indent for line in above[-_ITEM_LINES:])
        marker = marker_length(body, above[-1].text, in_list=in_list)
    return marker, body[marker:]


def _paragraph_runs(lines: list[_Line]) -> Iterator[Run]:
    """Split a paragraph at the line breaks that are not just wrapping."""
    if not lines or _is_code(lines):
        return
    wrapping = _Wrapping(lines)
    run: Run = [(lines[0].start, lines[0].end)]
    for before, line in pairwise(lines):
        if line.marked or not wrapping.joins(before, line):
            yield run
            run = []
        run.append((line.start, line.end))
    yield run


def _is_code(lines: list[_Line]) -> bool:
    """Whether indented lines are code. Markdown says so, but plain text is indented too: code has
    telling characters, and a paragraph of prose does not begin with a lower-case letter."""
    if any(line.indent < _CODE_INDENT or line.marked for line in lines):
        return False
    if _starts_small(lines[0]):
        return True
    return 2 * sum(bool(_CODE.search(line.text)) for line in lines) > len(lines)


_HANGING = re.compile(
    r"\b(?:an?|the|of|to|in|on|at|by|for|from|with|and|or|but|as|that|which|is|are|was|were|be|not"
    r"|its|his|her|their|our|my|your|shall|will|may|than|into|under|between)$"
)
_STOP = re.compile(r"[.!?…][\"'”’)\]*_]*$")
_FIRST_WORD = re.compile(r"[\"'“‘(\[*_]*(\S*)")
_NARROWEST, _WIDEST = 30, 160  # columns of text that was wrapped by hand or by a mail program
_RAGGED = 0.7  # of the width: shorter lines had room for the next word in any wrapping


class _Wrapping:
    """How the lines of one paragraph were wrapped, judging by the lines themselves."""

    def __init__(self, lines: list[_Line]) -> None:
        columns = sorted(line.column for line in lines)
        self.width = columns[-1 - len(columns) // 10]  # a few lines may hang over
        breaks = len(lines) - 1
        small = sum(_starts_small(line) for line in lines[1:])
        # Most lines of wrapped prose start in lower case; verse, addresses and lists do not.
        self.is_prose = 3 * small >= breaks > 0
        self.is_list = small == 0 and breaks >= 3

    def joins(self, before: _Line, line: _Line) -> bool:
        """Whether two lines were separated only because the first one was full."""
        if _starts_small(line) or _HANGING.search(before.text):
            return True
        # After a stop the segmentation decides, by the words around it.
        if self.width <= _WIDEST and _STOP.search(before.text):
            return True
        if self.is_list or not _NARROWEST <= self.width <= _WIDEST:
            return False
        if self.is_prose and before.column >= _RAGGED * self.width:
            return True
        first = _FIRST_WORD.match(line.text)
        return before.column + 1 + (first.end() if first else 0) > self.width


def _starts_small(line: _Line) -> bool:
    first = _FIRST_WORD.match(line.text)
    return first is not None and not line.marked and first[1][:1].islower()
