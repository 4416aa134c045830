"""Running text with inline markup (Markdown, HTML): its characters, and the markup around them.

A reader of a format cuts a document into blocks of cells; here sentences are found in the blocks
and written again, each word with the markup that its source had.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import groupby, takewhile

from parataxis.documents.plan import Kept, New, Plan, Range
from parataxis.documents.sentences import MOVES, Report, Sentence, plan_sentence
from parataxis.errors import InputError
from parataxis.rewrite.record import Rewrite
from parataxis.text.segments import sentence_spans
from parataxis.text.tokens import tokenize

__all__ = [
    "Block",
    "Cell",
    "Chain",
    "Change",
    "Element",
    "MarkupDocument",
    "placeholder",
    "signature",
]


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


@dataclass
class Cell:
    """A character of the text, with what stands for it in the document from ``start`` to ``end``.

    ``tails`` is what follows it without being text (a reference to a note, a comment). Of what
    is verbatim (code), the first cell stands for all of it, and ``verbatim`` numbers it.
    """

    char: str
    raw: str
    chain: Chain
    start: int
    end: int
    tails: list[tuple[str, Chain]] = field(default_factory=list)
    obstacle: str = ""
    verbatim: int | None = None


_CROSSING = "markup that begins or ends elsewhere"
_UNREADABLE = "markup that would read otherwise"


@dataclass
class Block:
    """A paragraph, list item or the like; sentences do not cross its edges."""

    cells: Sequence[Cell]

    @cached_property
    def text(self) -> str:
        """The characters of all cells."""
        return "".join(cell.char for cell in self.cells)

    def sentences(self) -> list[Sentence]:
        """The sentences of the block."""
        return [self._sentence(s.start, s.end, s.text) for s in sentence_spans(self.text)]

    def _sentence(self, start: int, end: int, text: str) -> Sentence:
        cells = self.cells[start:end]
        depth = len(self._home(start, end))
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
        return Sentence(text, start, end, whole + verbatim, pinned, verbatim, obstacle)

    def _home(self, start: int, end: int) -> Chain:
        """The markup that is around the whole sentence."""
        return _common(self.cells[start].chain, self.cells[end - 1].chain)

    def _is_inside(self, element: Element, start: int, end: int) -> bool:
        begins = start == 0 or element.start >= self.cells[start - 1].end
        return begins and (end == len(self.cells) or element.end <= self.cells[end].start)

    def region(self, sentence: Sentence) -> Range:
        """Where the sentence stands in the document, with the markup that is only its own."""
        first, last = self.cells[sentence.start], self.cells[sentence.end - 1]
        depth = len(self._home(sentence.start, sentence.end))
        start = min([first.start, *(element.start for element in first.chain[depth:])])
        end = max([last.end, *(element.end for element in last.chain[depth:])])
        return start, end

    def write(self, sentence: Sentence, plan: Plan, escape: Callable[[str], str]) -> str:
        """The sentence as its plan has it, with its markup."""
        depth = len(self._home(sentence.start, sentence.end))
        items: list[tuple[str, Chain | None]] = []
        for part in plan:
            if isinstance(part, Kept):
                for cell in self.cells[part.start : part.end]:
                    items.append((cell.raw, None if cell.char.isspace() else cell.chain[depth:]))
                    items += [(raw, chain[depth:]) for raw, chain in cell.tails]
            else:
                items.append((self._new_text(part, escape), self._new_chain(part, depth)))
        return _emit(items)

    def expected(self, plan: Plan) -> list[tuple[str, Sequence[str]]]:
        """The visible characters that a plan results in, each with the markup around it."""
        found: list[tuple[str, Sequence[str]]] = []
        for part in plan:
            if isinstance(part, Kept):
                found += signature(self.cells[part.start : part.end])
            else:
                chain = [element.opening for element in self._new_chain(part, 0) or ()]
                copied = self.cells[slice(*part.copied)] if part.copied else ()
                chars = [char for char, _ in signature(copied)] or part.text
                found += [(char, chain) for char in chars if not char.isspace()]
        return found

    def _new_text(self, new: New, escape: Callable[[str], str]) -> str:
        if new.copied is None:
            return escape(new.text)
        return "".join(cell.raw for cell in self.cells[slice(*new.copied)])

    def _new_chain(self, new: New, depth: int) -> Chain | None:
        if new.like is None:
            return None
        return tuple(e for e in self.cells[new.like].chain[depth:] if e.is_formatting)


def signature(cells: Iterable[Cell]) -> list[tuple[str, Sequence[str]]]:
    """The visible characters of cells (of code, all of it), each with the markup around it."""
    return [
        (cell.char if cell.verbatim is None else cell.raw, [e.opening for e in cell.chain])
        for cell in cells
        if not cell.char.isspace() and (cell.raw or cell.verbatim is None)
    ]


def _verbatim(offset: int, cells: Sequence[Cell]) -> list[Range]:
    spans: list[Range] = []
    for number, group in groupby(enumerate(cells, offset), key=lambda pair: pair[1].verbatim):
        places = [place for place, _ in group]
        if number is not None:
            spans.append((places[0], places[-1] + 1))
    return spans


def _emit(items: Sequence[tuple[str, Chain | None]]) -> str:
    """Raw text with markup opened and closed where it must be; spaces stand outside of markup
    unless it is around the words on both sides."""
    parts: list[str] = []
    is_open: Chain = ()
    after = _following(items)
    for (raw, chain), following in zip(items, after, strict=True):
        wanted = _common(is_open, following) if chain is None else chain
        common = len(_common(is_open, wanted))
        parts += [element.closing for element in reversed(is_open[common:])]
        parts += [element.opening for element in wanted[common:]]
        parts.append(raw)
        is_open = wanted
    parts += [element.closing for element in reversed(is_open)]
    return "".join(parts)


def _following(items: Sequence[tuple[str, Chain | None]]) -> list[Chain]:
    chains: list[Chain] = []
    chain: Chain = ()
    for _, own in reversed(items):
        chains.append(chain)
        chain = chain if own is None else own
    return chains[::-1]


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
class Change:
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

    def rewritten(
        self, rewrites: Sequence[Rewrite], *, tracked: bool = False
    ) -> tuple[bytes, Report]:
        """The document with the rewrites of all its sentences, and what became of them."""
        if tracked:
            raise InputError("Only a Word document (.docx) can have tracked changes.")
        report = Report(len(self._sentences))
        changes = list(self._changes(rewrites, report))
        while changes and (failed := self.failed(changes)):
            good = [change for change in changes if change.block not in failed]
            good = good if len(good) < len(changes) else []  # one may spoil another's block
            report.left_alone[_UNREADABLE] += len(changes) - len(good)
            changes = good
        report.split = len(changes)
        return self.write(changes).encode(), report

    def write(self, changes: Sequence[Change]) -> str:
        """The document with its changes."""
        parts, end = [], 0
        for change in changes:
            parts += [self.text[end : change.region[0]], change.text]
            end = change.region[1]
        return "".join([*parts, self.text[end:]])

    def escape(self, text: str) -> str:
        """Text as it is spelt in the document."""
        return text

    def failed(self, changes: Sequence[Change]) -> set[int]:
        """The blocks whose changes would not read as they should."""
        return set()

    def expected(self, changes: Sequence[Change]) -> list[list[tuple[str, Sequence[str]]]]:
        """What each block should read when changes are made."""
        wanted = []
        for number, block in enumerate(self.blocks):
            found, end = [], 0
            for change in changes:
                if change.block == number:
                    found += signature(block.cells[end : change.sentence.start])
                    found += block.expected(change.plan)
                    end = change.sentence.end
            wanted.append(found + signature(block.cells[end:]))
        return wanted

    def _changes(self, rewrites: Sequence[Rewrite], report: Report) -> Iterator[Change]:
        for (number, sentence), rewrite in zip(self._sentences, rewrites, strict=True):
            if not rewrite.is_split:
                continue
            block = self.blocks[number]
            plan = None if sentence.obstacle else plan_sentence(sentence, block.text, rewrite)
            if plan is None:
                report.left_alone[sentence.obstacle or MOVES] += 1
                continue
            text = block.write(sentence, plan, self.escape)
            yield Change(number, sentence, plan, block.region(sentence), text)
