"""What of a sentence stays in its place when it is rewritten, and what is put between.

A plan changes as little as can be read well: words that stay are kept in runs, and what must stay
(a link, the word before a footnote) does, or there is no plan.
"""

from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import NamedTuple

from parataxis.rewrite.record import Rewrite
from parataxis.rewrite.render import MarkedPiece, mark
from parataxis.text.tokens import has_word

Range = tuple[int, int]
"""Start and end of some characters of the source."""


@dataclass(frozen=True, slots=True)
class Kept:
    """Characters of the source that stay where they are."""

    start: int
    end: int


@dataclass(frozen=True, slots=True)
class New:
    """Text that is put in. ``copied`` are the source's characters of which it is an exact copy;
    ``like`` is the character whose formatting it takes (None: that of its neighbours)."""

    text: str
    like: int | None = None
    copied: Range | None = None


Plan = list[Kept | New]
"""The rewrite from left to right; kept parts are in the order of the source, and what no part
keeps is deleted."""

# What keeping a unit in its place is worth. A kept run must be worth more than it costs to break
# the change into two, or the reader would have to find a lone comma between the changes.
_WORD, _SHORT_WORD, _SIGN, _SPACE = 1.0, 0.6, 0.25, 0.01
_BREAK = 0.7
_MUST = 1000.0
_SHORT = 3


def make_plan(
    rewrite: Rewrite,
    *,
    whole: Sequence[Range] = (),
    pinned: Sequence[int] = (),
    partly: Sequence[Range] = (),
    verbatim: Sequence[Range] = (),
) -> Plan | None:
    """The plan of a rewrite, or None where there is none.

    ``whole`` are stretches that must stay as they are, in one piece; ``pinned`` are places in the
    source whose unit must stay; of each ``partly`` stretch, some word must stay. Of ``verbatim``
    stretches, no word may come in another form.

    >>> rewrite = Rewrite(source="Ann, who sang, left.", simple=["Ann left.", "Ann sang."],
    ...     splitter="mine")
    >>> [rewrite.source[p.start : p.end] if isinstance(p, Kept) else f"+{p.text}"
    ...     for p in make_plan(rewrite)]
    ['Ann', '+ ', '+left', '+.', '+ ', '+Ann', ' sang', '.']
    """
    marked = mark(rewrite)
    source = _placed(marked.source)
    simple = [piece for n, sentence in enumerate(marked.simple) for piece in _after(n, sentence)]
    if any(_is_altered(piece, rewrite.source, verbatim) for piece in simple):
        return None
    must = _musts(source, whole, pinned)
    pairs = _align(source, simple, must)
    if not must <= pairs.keys() or not all(_in_one_piece(source, span, pairs) for span in whole):
        return None
    words = {index for index in pairs if not source[index].is_space}
    if not all(words & _within(source, span) for span in partly):
        return None
    return _parts(source, simple, pairs, whole)


@dataclass(frozen=True, slots=True)
class _Unit:
    text: str
    start: int
    end: int

    @property
    def is_space(self) -> bool:
        return self.text.isspace()


def _placed(pieces: Sequence[MarkedPiece]) -> list[_Unit]:
    units, end = [], 0
    for piece in pieces:
        units.append(_Unit(piece.text, end, end + len(piece.text)))
        end += len(piece.text)
    return units


def _after(number: int, sentence: Sequence[MarkedPiece]) -> list[MarkedPiece]:
    return [MarkedPiece(" "), *sentence] if number else list(sentence)


def _within(source: Sequence[_Unit], span: Range) -> set[int]:
    return {i for i, unit in enumerate(source) if unit.start < span[1] and span[0] < unit.end}


def _musts(source: Sequence[_Unit], whole: Sequence[Range], pinned: Sequence[int]) -> set[int]:
    spans = [*whole, *((place, place + 1) for place in pinned)]
    return {index for span in spans for index in _within(source, span)}


def _is_altered(piece: MarkedPiece, source: str, verbatim: Sequence[Range]) -> bool:
    if piece.source is None or piece.text == source[slice(*piece.source)]:
        return False
    return any(piece.source[0] < end and start < piece.source[1] for start, end in verbatim)


def _in_one_piece(source: Sequence[_Unit], span: Range, pairs: dict[int, int]) -> bool:
    inside = sorted(_within(source, span))
    return all(pairs[after] == pairs[before] + 1 for before, after in pairwise(inside))


def _align(
    source: Sequence[_Unit], simple: Sequence[MarkedPiece], must: set[int]
) -> dict[int, int]:
    """Which units stay, and as which pieces of the rewrite: the best of all ways that keep the
    order, by dynamic programming."""
    rows, columns = len(source), len(simple)
    kept = [[-_MUST * _MUST] * (columns + 1) for _ in range(rows + 1)]  # the last two are a pair
    kept[0][0] = 0.0  # what stays at the very beginning breaks nothing
    best = [[0.0] * (columns + 1) for _ in range(rows + 1)]
    for i in range(1, rows + 1):
        unit = source[i - 1]
        above, here, pair = best[i - 1], best[i], kept[i]
        for j in range(1, columns + 1):
            is_last = i == rows and j == columns
            if _can_stay(unit, simple[j - 1]):
                value = _value(unit, must=i - 1 in must) + is_last * _MUST
                pair[j] = value + max(kept[i - 1][j - 1], above[j - 1] - _BREAK)
            here[j] = max(above[j], here[j - 1], pair[j])
    return _trace(kept, best)


def _trace(kept: Sequence[Sequence[float]], best: Sequence[Sequence[float]]) -> dict[int, int]:
    pairs = {}
    i, j = len(best) - 1, len(best[0]) - 1
    goes_on = False  # the pair before is needed: its run of kept units was paid for once
    while i and j:
        if not goes_on and best[i][j] == best[i - 1][j]:
            i -= 1
        elif not goes_on and best[i][j] == best[i][j - 1]:
            j -= 1
        else:
            pairs[i - 1] = j - 1
            goes_on = kept[i - 1][j - 1] > best[i - 1][j - 1] - _BREAK
            i, j = i - 1, j - 1
    return pairs


def _can_stay(unit: _Unit, piece: MarkedPiece) -> bool:
    if unit.is_space or piece.text.isspace():
        return unit.is_space and piece.text.isspace()
    if unit.text != piece.text:
        return False
    # A word stays as itself, not as another word that is spelt the same; of signs nobody can tell.
    is_itself = piece.source is None or piece.source == (unit.start, unit.end)
    return is_itself or not has_word(unit.text)


def _value(unit: _Unit, *, must: bool) -> float:
    if must:
        return _MUST
    if unit.is_space:
        return _SPACE
    if not has_word(unit.text):
        return _SIGN
    return _WORD if len(unit.text) > _SHORT else _SHORT_WORD


def _parts(
    source: Sequence[_Unit],
    simple: Sequence[MarkedPiece],
    pairs: dict[int, int],
    whole: Sequence[Range],
) -> Plan:
    kept_as = {piece: unit for unit, piece in pairs.items()}
    likes = _likes(source, simple, whole)
    texts = {(unit.start, unit.end): unit.text for unit in source}
    plan: Plan = []
    for index, piece in enumerate(simple):
        last = plan[-1] if plan else None
        if index in kept_as:
            unit = source[kept_as[index]]
            if isinstance(last, Kept) and last.end == unit.start:
                plan[-1] = Kept(last.start, unit.end)
            else:
                plan.append(Kept(unit.start, unit.end))
        else:
            is_copy = piece.source is not None and texts.get(piece.source) == piece.text
            plan.append(New(piece.text, likes[index], piece.source if is_copy else None))
    return plan


def _likes(
    source: Sequence[_Unit], simple: Sequence[MarkedPiece], whole: Sequence[Range]
) -> list[int | None]:
    """For each piece of the rewrite the place in the source whose formatting it takes: a word that
    of its source, a space that of the same space of the source. Marks, inserted words and other
    spaces look like their neighbours."""
    end = source[-1].end
    likes: list[int | None] = []
    for index, piece in enumerate(simple):
        if piece.text.isspace():
            likes.append(_same_space(source, simple[max(0, index - 1) : index + 2]))
        elif piece.source and has_word(piece.text):
            likes.append(_outside(piece.source[0], whole, end))
        else:
            likes.append(None)
    return likes


def _same_space(source: Sequence[_Unit], around: Sequence[MarkedPiece]) -> int | None:
    """Where the space stands in the source, if the words around it have only it between them."""
    if len(around) < 3 or not (around[0].source and around[2].source):
        return None
    start, end = around[0].source[1], around[2].source[0]
    return next((u.start for u in source if u.is_space and (u.start, u.end) == (start, end)), None)


def _outside(place: int, whole: Sequence[Range], length: int) -> int | None:
    """The place itself, or one beside the stretch that it is in: a second copy of the words of a
    link is no link, and should not look like one."""
    for start, end in whole:
        if start <= place < end:
            return start - 1 if start else end if end < length else None
    return place


# The sentences of a document, with what of each must stay, and what became of them.

MOVES = "a link, a note, a field or the like that would have to move"
"""Why a sentence was left alone for which there is no plan."""


class Shown(NamedTuple):
    """A paragraph as a reader sees it, and from where to where its sentences stand in it."""

    text: str
    sentences: Sequence[Range]


@dataclass(frozen=True)
class Sentence:
    """A sentence that stands at ``start`` to ``end`` of the characters of its block.

    ``text`` is the sentence on one line, as a splitter gets it. ``whole``, ``pinned``, ``partly``
    and ``verbatim`` are those of :func:`~parataxis.run.documents.plan.make_plan`, but as places in
    the block. ``obstacle`` says why it cannot be changed, where that is so.
    """

    text: str
    start: int
    end: int
    whole: Sequence[Range] = ()
    pinned: Sequence[int] = ()
    partly: Sequence[Range] = ()
    verbatim: Sequence[Range] = ()
    obstacle: str = ""


@dataclass
class DocumentReport:
    """How many sentences a document has, how many of them were split, and how many of those that
    the splitter had split were left alone, by the reason."""

    sentences: int = 0
    split: int = 0
    left_alone: Counter[str] = field(default_factory=Counter)

    def note(self) -> str:
        """A sentence about those left alone, or "" where there are none.

        >>> Report(left_alone=Counter({"a tab": 2, "a picture": 1})).note()
        '3 sentences that could be split were left alone: 2 have a tab, 1 has a picture.'
        """
        total = self.left_alone.total()
        if not total:
            return ""
        reasons = ", ".join(
            f"{count} {'has' if count == 1 else 'have'} {reason}"
            for reason, count in self.left_alone.most_common()
        )
        were = (
            "sentence that could be split was"
            if total == 1
            else ("sentences that could be split were")
        )
        return f"{total} {were} left alone: {reasons}."


def plan_sentence(sentence: Sentence, block: str, rewrite: Rewrite) -> Plan | None:
    """The plan of a rewrite in the characters of the block, or None where there is none."""
    places = _Places(sentence, block)
    plan = make_plan(
        rewrite,
        whole=list(places.to_text(sentence.whole)),
        pinned=[start for start, _ in places.to_text((p, p + 1) for p in sentence.pinned)],
        partly=list(places.to_text(sentence.partly)),
        verbatim=list(places.to_text(sentence.verbatim)),
    )
    if plan is None:
        return None
    return [places.to_block(part) for part in plan]


class _Places:
    """Places in the text of a sentence and in its block, where the white space may be longer."""

    def __init__(self, sentence: Sentence, block: str) -> None:
        self._start, self._end = sentence.start, sentence.end
        self._in_text = [i for i, c in enumerate(sentence.text) if not c.isspace()]
        self._in_block = [i for i in range(sentence.start, sentence.end) if not block[i].isspace()]
        if len(self._in_text) != len(self._in_block):
            raise ValueError(f"the sentence {sentence.text!r} does not stand in its block")

    def to_text(self, ranges: Iterable[Range]) -> Iterator[Range]:
        """The ranges as places in the text of the sentence; white space counts as a whole."""
        for start, end in ranges:
            start, end = max(start, self._start), min(end, self._end)
            if start < end:
                yield self._text_place(start), self._text_place(end - 1) + 1

    def _text_place(self, place: int) -> int:
        """The place of a character of the block, or of the space that it belongs to."""
        number = bisect_right(self._in_block, place) - 1
        return self._in_text[number] + (self._in_block[number] != place)

    def to_block(self, part: Kept | New) -> Kept | New:
        if isinstance(part, Kept):
            return Kept(self._place(part.start), self._place(part.end))
        like = None if part.like is None else self._place(part.like)
        copied = part.copied and (self._place(part.copied[0]), self._place(part.copied[1]))
        return New(part.text, like, copied)

    def _place(self, place: int) -> int:
        """The place of a character, or of the space after one, in the block."""
        number = bisect_right(self._in_text, place) - 1
        return self._in_block[number] + (self._in_text[number] != place)
