"""Text with inline markup (Markdown, HTML): its characters and the markup around them.

The reader of a format cuts a document into blocks of cells; here the sentences of the blocks are
found and rewritten, and each word keeps the markup of its source.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import groupby, takewhile
from typing import NamedTuple

from parataxis.errors import InputError
from parataxis.rewrite.record import Rewrite
from parataxis.run.documents import (
    Change,
    DocumentReport,
    FormattedDocument,
    Paragraph,
    Sentence,
    Surrounding,
)
from parataxis.run.documents.plan import New, Range
from parataxis.text.segments import Span, sentence_spans
from parataxis.text.tokens import tokenize

_CROSSING = "markup that begins or ends elsewhere"
_UNREADABLE = "markup that would read otherwise"


@dataclass(eq=False)
class Element:
    """Markup around some cells: ``opening`` before them and ``closing`` after them. Formatting may
    be cut in two and repeated around other words; anything else (a link, an element with an id)
    stays in one piece. ``start`` and ``end`` are its place in the document."""

    opening: str
    closing: str = ""
    is_formatting: bool = False
    start: int = 0
    end: int = 0


Chain = tuple[Element, ...]
"""The elements around a cell, outermost first."""


class Tail(NamedTuple):
    """Something after a character that is not text: a reference to a note, a comment."""

    raw: str
    chain: Chain
    end: int


@dataclass(slots=True)
class TextCell:
    """A character of the text, and its source from ``start`` to ``end`` of the document. The first
    cell of verbatim text (code) holds its whole source; ``verbatim`` numbers such text."""

    char: str
    raw: str
    chain: Chain
    start: int
    end: int
    tails: Sequence[Tail] = ()
    obstacle: str = ""
    verbatim: int | None = None


Sign = tuple[str, Sequence[str]]
"""A visible character, or code, and the opening tags of the markup around it."""


class _Item(NamedTuple):
    """A piece of the output: its source, the signs that it shows, and the markup around it (None:
    the markup that both neighbours have)."""

    raw: str
    signs: Sequence[str]
    chain: Chain | None


@dataclass
class Block:
    """A paragraph, list item or the like; no sentence crosses its ends."""

    cells: Sequence[TextCell]
    surroundings: frozenset[Surrounding] = frozenset()

    @cached_property
    def text(self) -> str:
        return "".join(cell.char for cell in self.cells)

    def sentences(self) -> list[Sentence]:
        return [self._sentence(span) for span in sentence_spans(self.text)]

    def _sentence(self, span: Span) -> Sentence:
        start, end = span.start, span.end
        cells = self.cells[start:end]
        depth = len(_common(cells[0].chain, cells[-1].chain))
        inner: dict[Element, Range] = {}
        place = start
        for chain, group in groupby(cells, key=lambda cell: cell.chain):
            first, place = place, place + sum(1 for _ in group)
            for element in chain[depth:]:
                inner[element] = inner.get(element, (first, 0))[0], place
        obstacle = next((cell.obstacle for cell in cells if cell.obstacle), "")
        if not all(self._is_inside(element, start, end) for element in inner):
            obstacle = obstacle or _CROSSING
        whole = [span for element, span in inner.items() if not element.is_formatting]
        verbatim = _verbatim(start, cells)
        pinned = [i for i, cell in enumerate(cells, start) if cell.tails]
        return Sentence(
            span.text, start, end, whole + verbatim, pinned, verbatim=verbatim, obstacle=obstacle
        )

    def _is_inside(self, element: Element, start: int, end: int) -> bool:
        begins = start == 0 or element.start >= self.cells[start - 1].end
        return begins and (end == len(self.cells) or element.end <= self.cells[end].start)

    def _depth(self, sentence: Sentence) -> int:
        """How many elements are around the whole sentence."""
        return len(_common(self.cells[sentence.start].chain, self.cells[sentence.end - 1].chain))

    def region(self, sentence: Sentence) -> Range:
        """The place of the sentence in the document, with the markup that only it has."""
        first, last = self.cells[sentence.start], self.cells[sentence.end - 1]
        depth = self._depth(sentence)
        start = min([first.start, *(element.start for element in first.chain[depth:])])
        ends = [element.end for element in last.chain[depth:]]
        return start, max([last.end, *ends, *(tail.end for tail in last.tails)])

    def write(self, change: Change, escape: Callable[[str], str]) -> str:
        """The source of a rewritten sentence, with its markup."""
        depth = self._depth(change.sentence)
        parts: list[str] = []
        is_open: Chain = ()
        for item, chain in self._items(change, escape):
            common = len(_common(is_open, chain[depth:]))
            parts += [element.closing for element in reversed(is_open[common:])]
            is_open = chain[depth:]
            parts += [element.opening for element in is_open[common:]]
            parts.append(item.raw)
        parts += [element.closing for element in reversed(is_open)]
        return "".join(parts)

    def expected(self, change: Change) -> list[Sign]:
        """The :func:`signature` that the rewritten sentence should have."""
        return [
            (sign, [element.opening for element in chain])
            for item, chain in self._items(change, str)
            for sign in item.signs
        ]

    def _items(self, change: Change, escape: Callable[[str], str]) -> Iterator[tuple[_Item, Chain]]:
        depth = self._depth(change.sentence)
        items: list[_Item] = []
        for part in change.plan:
            if isinstance(part, New):
                items.append(self._new(part, depth, escape))
                continue
            for cell in self.cells[part.start : part.end]:
                signs = [sign for sign, _ in signature([cell])]
                # Markdown has no emphasis that begins or ends with a space.
                items.append(_Item(cell.raw, signs, cell.chain if signs else None))
                items += [_Item(tail.raw, [], tail.chain) for tail in cell.tails]
        return zip(items, _chains(items), strict=True)

    def _new(self, new: New, depth: int, escape: Callable[[str], str]) -> _Item:
        copied = self.cells[slice(*new.copied)] if new.copied else ()
        raw = "".join(cell.raw for cell in copied) or escape(new.text)
        signs = [sign for sign, _ in signature(copied)] or [c for c in new.text if not c.isspace()]
        if new.like is None:
            return _Item(raw, signs, None)
        chain = self.cells[new.like].chain
        own = tuple(element for element in chain[depth:] if element.is_formatting)
        return _Item(raw, signs, chain[:depth] + own)


def signature(cells: Iterable[TextCell]) -> list[Sign]:
    """The visible characters of cells (of code, all of it), each with the markup around it."""
    return [
        (cell.char if cell.verbatim is None else cell.raw, [e.opening for e in cell.chain])
        for cell in cells
        if not cell.char.isspace() and (cell.raw or cell.verbatim is None)
    ]


def _verbatim(offset: int, cells: Sequence[TextCell]) -> list[Range]:
    spans: list[Range] = []
    for number, group in groupby(enumerate(cells, offset), key=lambda pair: pair[1].verbatim):
        places = [place for place, _ in group]
        if number is not None:
            spans.append((places[0], places[-1] + 1))
    return spans


def _chains(items: Sequence[_Item]) -> list[Chain]:
    """The markup around each item: its own, or what is around both of its neighbours."""
    after: list[Chain] = []
    following: Chain = ()
    for item in reversed(items):
        after.append(following)
        following = following if item.chain is None else item.chain
    found: list[Chain] = []
    for item, following in zip(items, reversed(after), strict=True):
        before = found[-1] if found else following
        found.append(_common(before, following) if item.chain is None else item.chain)
    return found


def _common(one: Iterable[Element], other: Iterable[Element]) -> Chain:
    pairs = takewhile(lambda pair: pair[0] is pair[1], zip(one, other, strict=False))
    return tuple(element for element, _ in pairs)


def placeholder(content: str, number: int) -> str:
    """The word that stands for code in a sentence: the code itself, if it is one word that does not
    look like English, which would be capitalised at the start of a sentence.

    >>> placeholder("read_file", 1), placeholder("a = b", 2), placeholder("code", 3)
    ('read_file', 'Xc', 'Xd')
    """
    word = content.strip()
    is_english = word.isalpha() and word.islower()
    if word.isidentifier() and not is_english and len(tokenize(f"{word}, it")) == 3:
        return word
    return "X" + chr(ord("a") + number % 26)


class CellReader:
    """Collects the cells of a block, with the markup that is open around them."""

    def __init__(self) -> None:
        self.cells: list[TextCell] = []
        self.chain: Chain = ()

    def add(
        self,
        chars: str,
        raw: str,
        start: int,
        end: int,
        obstacle: str = "",
        verbatim: int | None = None,
    ) -> None:
        """Add cells for some characters; the first holds the whole source."""
        for number, char in enumerate(chars):
            own, begin = ("", end) if number else (raw, start)
            self.cells.append(TextCell(char, own, self.chain, begin, end, (), obstacle, verbatim))

    def tail(self, raw: str, end: int) -> None:
        """Add something that is not text after the last cell."""
        if self.cells:
            cell = self.cells[-1]
            if not isinstance(cell.tails, list):
                cell.tails = list(cell.tails)
            cell.tails.append(Tail(raw, self.chain, end))

    def open(self, raw: str, start: int, *, is_formatting: bool) -> None:
        self.chain += (Element(raw, is_formatting=is_formatting, start=start),)

    def close_element(self, raw: str, end: int) -> Element:
        element = self.chain[-1]
        element.closing, element.end = raw, end
        self.chain = self.chain[:-1]
        return element


class MarkupDocument(FormattedDocument):
    """A text with inline markup; each of its blocks is a paragraph."""

    def __init__(self, text: str, blocks: Sequence[Block]) -> None:
        super().__init__([Paragraph(b.text, b.sentences(), b.surroundings) for b in blocks])
        self.text = text
        self.blocks = blocks

    def rewritten(
        self, rewrites: Sequence[Rewrite], *, tracked: bool = False
    ) -> tuple[bytes, DocumentReport]:
        if tracked:
            raise InputError("Only a Word document (.docx) can have tracked changes.")
        report = DocumentReport()
        changes = self.writable(rewrites, report)
        report.split = len(changes)
        return self.write(changes).encode(), report

    def writable(self, rewrites: Sequence[Rewrite], report: DocumentReport) -> list[Change]:
        """The changes after which the document reads as it should."""
        changes = self.changes(rewrites, report)
        while changes and (failed := self.failed(changes)):
            good = [change for change in changes if change.paragraph not in failed]
            good = good if len(good) < len(changes) else []  # one may spoil another's block
            report.left_alone[_UNREADABLE] += len(changes) - len(good)
            changes = good
        return changes

    def edits(self, rewrites: Sequence[Rewrite]) -> dict[tuple[int, int], tuple[Range, str]]:
        """The places that change and their new source, by paragraph and start of the sentence."""
        changes = self.writable(rewrites, DocumentReport())
        keys = [(change.paragraph, change.sentence.start) for change in changes]
        return dict(zip(keys, self.replacements(changes), strict=True))

    def replacements(self, changes: Sequence[Change]) -> Iterator[tuple[Range, str]]:
        """The regions of the document that change, each with its new source."""
        for change in changes:
            block = self.blocks[change.paragraph]
            yield block.region(change.sentence), block.write(change, self.escape)

    def write(self, changes: Sequence[Change]) -> str:
        parts, end = [], 0
        for region, text in self.replacements(changes):
            parts += [self.text[end : region[0]], text]
            end = region[1]
        return "".join([*parts, self.text[end:]])

    def escape(self, text: str) -> str:
        return text

    def failed(self, changes: Sequence[Change]) -> set[int]:
        """The blocks that would not read as they should after the changes."""
        return set()

    def expected(self, changes: Sequence[Change]) -> list[list[Sign]]:
        """The signature that each block should have after the changes."""
        wanted = []
        for number, block in enumerate(self.blocks):
            found, end = [], 0
            for change in changes:
                if change.paragraph == number:
                    found += signature(block.cells[end : change.sentence.start])
                    found += block.expected(change)
                    end = change.sentence.end
            wanted.append(found + signature(block.cells[end:]))
        return wanted
