"""Running text with inline markup (Markdown, HTML): its characters, and the markup around them.

A reader of a format cuts a document into blocks of cells; here sentences are found in the blocks
and written again, each word with the markup that its source had.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import groupby, takewhile
from typing import NamedTuple

from parataxis.errors import InputError
from parataxis.rewrite.record import Rewrite
from parataxis.run.documents.plan import (
    MOVES,
    DocumentReport,
    New,
    Plan,
    Range,
    Sentence,
    Shown,
    plan_sentence,
)
from parataxis.text.segments import sentence_spans
from parataxis.text.tokens import tokenize


@dataclass(eq=False)
class Element:
    """Markup around some cells: ``opening`` before them and ``closing`` after them.

    What is only formatting may be taken apart and used again; what is not (a link, something with
    an id) stays in one piece. ``start`` and ``end`` are where it stands in the document.
    """

    opening: str
    closing: str = ""
    is_formatting: bool = False
    start: int = 0
    end: int = 0


Chain = tuple[Element, ...]


class Tail(NamedTuple):
    """What follows a character without being text: a reference to a note, a comment."""

    raw: str
    chain: Chain
    end: int


@dataclass(slots=True)
class TextCell:
    """A character of the text, with what stands for it in the document from ``start`` to ``end``.

    Of what is verbatim (code), the first cell stands for all of it, and ``verbatim`` numbers it.
    """

    char: str
    raw: str
    chain: Chain
    start: int
    end: int
    tails: tuple[Tail, ...] = ()
    obstacle: str = ""
    verbatim: int | None = None


Sign = tuple[str, Sequence[str]]
"""A visible character, or code, and the opening tags of the markup around it."""

_CROSSING = "markup that begins or ends elsewhere"
_UNREADABLE = "markup that would read otherwise"


class _Item(NamedTuple):
    """What is written: raw text, the signs that it shows, and the markup around it."""

    raw: str
    signs: Sequence[str]
    chain: Chain


class _Open(NamedTuple):
    """The same where the neighbours say what markup is around it."""

    raw: str
    signs: Sequence[str] = ()


@dataclass
class Block:
    """A paragraph, list item or the like; sentences do not cross its edges."""

    cells: Sequence[TextCell]

    @cached_property
    def text(self) -> str:
        """The characters of all cells."""
        return "".join(cell.char for cell in self.cells)

    def sentences(self) -> list[Sentence]:
        """The sentences of the block."""
        return [self._sentence(s.start, s.end, s.text) for s in sentence_spans(self.text)]

    def _sentence(self, start: int, end: int, text: str) -> Sentence:
        cells = self.cells[start:end]
        depth = len(_common(cells[0].chain, cells[-1].chain))
        inner = list(dict.fromkeys(e for cell in cells for e in cell.chain[depth:]))
        obstacle = next((cell.obstacle for cell in cells if cell.obstacle), "")
        if not all(self._is_inside(element, start, end) for element in inner):
            obstacle = obstacle or _CROSSING
        whole: list[Range] = []
        for element in inner:
            if not element.is_formatting:
                places = [i for i, cell in enumerate(cells, start) if element in cell.chain]
                whole.append((places[0], places[-1] + 1))
        verbatim = _verbatim(start, cells)
        pinned = [i for i, cell in enumerate(cells, start) if cell.tails]
        return Sentence(
            text, start, end, whole + verbatim, pinned, verbatim=verbatim, obstacle=obstacle
        )

    def _depth(self, sentence: Sentence) -> int:
        """How many elements are around the whole sentence."""
        return len(_common(self.cells[sentence.start].chain, self.cells[sentence.end - 1].chain))

    def _is_inside(self, element: Element, start: int, end: int) -> bool:
        begins = start == 0 or element.start >= self.cells[start - 1].end
        return begins and (end == len(self.cells) or element.end <= self.cells[end].start)

    def region(self, sentence: Sentence) -> Range:
        """Where the sentence stands in the document, with the markup that is only its own."""
        first, last = self.cells[sentence.start], self.cells[sentence.end - 1]
        depth = self._depth(sentence)
        start = min([first.start, *(element.start for element in first.chain[depth:])])
        ends = [element.end for element in last.chain[depth:]]
        end = max([last.end, *ends, *(tail.end for tail in last.tails)])
        return start, end

    def write(self, sentence: Sentence, plan: Plan, escape: Callable[[str], str]) -> str:
        """The sentence as its plan has it, with its markup."""
        depth = self._depth(sentence)
        parts: list[str] = []
        is_open: Chain = ()
        for item in self._items(sentence, plan, escape):
            common = len(_common(is_open, item.chain[depth:]))
            parts += [element.closing for element in reversed(is_open[common:])]
            is_open = item.chain[depth:]
            parts += [element.opening for element in is_open[common:]]
            parts.append(item.raw)
        parts += [element.closing for element in reversed(is_open)]
        return "".join(parts)

    def expected(self, sentence: Sentence, plan: Plan) -> list[Sign]:
        """What a plan results in, as :func:`signature` has it."""
        return [
            (sign, [element.opening for element in item.chain])
            for item in self._items(sentence, plan, str)
            for sign in item.signs
        ]

    def _items(self, sentence: Sentence, plan: Plan, escape: Callable[[str], str]) -> list[_Item]:
        depth = self._depth(sentence)
        items: list[_Item | _Open] = []
        for part in plan:
            if isinstance(part, New):
                items.append(self._new(part, depth, escape))
                continue
            for cell in self.cells[part.start : part.end]:
                signs = [sign for sign, _ in signature([cell])]
                # Markdown has no emphasis that begins or ends with a space.
                items.append(_Item(cell.raw, signs, cell.chain) if signs else _Open(cell.raw))
                items += [_Item(tail.raw, [], tail.chain) for tail in cell.tails]
        return _closed(items)

    def _new(self, new: New, depth: int, escape: Callable[[str], str]) -> _Item | _Open:
        copied = self.cells[slice(*new.copied)] if new.copied else ()
        raw = "".join(cell.raw for cell in copied) or escape(new.text)
        signs = [sign for sign, _ in signature(copied)] or [c for c in new.text if not c.isspace()]
        if new.like is None:
            return _Open(raw, signs)
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


def _closed(items: Sequence[_Item | _Open]) -> list[_Item]:
    """The items with the markup that is around both neighbours of what has none of its own."""
    after: list[Chain] = []
    chain: Chain | None = None
    for item in reversed(items):
        after.append(chain or ())
        chain = item.chain if isinstance(item, _Item) else chain
    found: list[_Item] = []
    for item, following in zip(items, reversed(after), strict=True):
        if isinstance(item, _Open):
            before = found[-1].chain if found else following
            item = _Item(item.raw, item.signs, _common(before, following))
        found.append(item)
    return found


def _common(one: Iterable[Element], other: Iterable[Element]) -> Chain:
    pairs = takewhile(lambda pair: pair[0] is pair[1], zip(one, other, strict=False))
    return tuple(element for element, _ in pairs)


def placeholder(content: str, number: int) -> str:
    """The word that stands for code in a sentence: the code itself where it is one word.

    >>> placeholder("read_file", 1), placeholder("a = b", 2)
    ('read_file', 'Xc')
    """
    word = content.strip()
    if word.isidentifier() and len(tokenize(f"{word}, it")) == 3:
        return word
    return "X" + chr(ord("a") + number % 26)


@dataclass(frozen=True)
class TextChange:
    """A sentence that is written anew: where it stands in the document, and its new text."""

    block: int
    sentence: Sentence
    plan: Plan
    region: Range
    text: str


class MarkupDocument:
    """A text with inline markup, its blocks and their sentences."""

    def __init__(self, text: str, blocks: Sequence[Block]) -> None:
        self.text = text
        self.blocks = blocks
        self._sentences = [(i, s) for i, block in enumerate(blocks) for s in block.sentences()]

    @property
    def sentences(self) -> list[str]:
        """The sentences, in order, as a splitter gets them."""
        return [sentence.text for _, sentence in self._sentences]

    @property
    def paragraphs(self) -> list[Shown]:
        """The blocks; a word stands for code that is longer than a word."""
        places: dict[int, list[Range]] = defaultdict(list)
        for number, sentence in self._sentences:
            places[number].append((sentence.start, sentence.end))
        return [Shown(block.text, places[number]) for number, block in enumerate(self.blocks)]

    def rewritten(
        self, rewrites: Sequence[Rewrite], *, tracked: bool = False
    ) -> tuple[bytes, DocumentReport]:
        """The document with the rewrites of all its sentences, and what became of them."""
        if tracked:
            raise InputError("Only a Word document (.docx) can have tracked changes.")
        report = DocumentReport(len(self._sentences))
        changes = list(self._changes(rewrites, report))
        while changes and (failed := self.failed(changes)):
            good = [change for change in changes if change.block not in failed]
            good = good if len(good) < len(changes) else []  # one may spoil another's block
            report.left_alone[_UNREADABLE] += len(changes) - len(good)
            changes = good
        report.split = len(changes)
        return self.write(changes).encode(), report

    def write(self, changes: Sequence[TextChange]) -> str:
        """The document with its changes."""
        parts, end = [], 0
        for change in changes:
            parts += [self.text[end : change.region[0]], change.text]
            end = change.region[1]
        return "".join([*parts, self.text[end:]])

    def escape(self, text: str) -> str:
        """Text as it is spelt in the document."""
        return text

    def failed(self, changes: Sequence[TextChange]) -> set[int]:
        """The blocks whose changes would not read as they should."""
        return set()

    def expected(self, changes: Sequence[TextChange]) -> list[list[Sign]]:
        """What each block should read when changes are made."""
        wanted = []
        for number, block in enumerate(self.blocks):
            found, end = [], 0
            for change in changes:
                if change.block == number:
                    found += signature(block.cells[end : change.sentence.start])
                    found += block.expected(change.sentence, change.plan)
                    end = change.sentence.end
            wanted.append(found + signature(block.cells[end:]))
        return wanted

    def _changes(self, rewrites: Sequence[Rewrite], report: DocumentReport) -> Iterator[TextChange]:
        for (number, sentence), rewrite in zip(self._sentences, rewrites, strict=True):
            if not rewrite.is_split:
                continue
            block = self.blocks[number]
            plan = None if sentence.obstacle else plan_sentence(sentence, block.text, rewrite)
            if plan is None:
                report.left_alone[sentence.obstacle or MOVES] += 1
                continue
            text = block.write(sentence, plan, self.escape)
            yield TextChange(number, sentence, plan, block.region(sentence), text)
