"""What of a sentence stays in its place when it is rewritten, and what is put between.

A plan changes as little as can be read well: words that stay are kept in runs, and what must stay
(a link, the word before a footnote) does, or there is no plan.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from parataxis.rewrite.marks import Piece, mark
from parataxis.rewrite.record import Rewrite
from parataxis.text.tokens import has_word

__all__ = ["Kept", "New", "Plan", "Range", "make_plan"]

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


def _placed(pieces: Sequence[Piece]) -> list[_Unit]:
    units, end = [], 0
    for piece in pieces:
        units.append(_Unit(piece.text, end, end + len(piece.text)))
        end += len(piece.text)
    return units


def _after(number: int, sentence: Sequence[Piece]) -> list[Piece]:
    return [Piece(" "), *sentence] if number else list(sentence)


def _within(source: Sequence[_Unit], span: Range) -> set[int]:
    return {i for i, unit in enumerate(source) if unit.start < span[1] and span[0] < unit.end}


def _musts(source: Sequence[_Unit], whole: Sequence[Range], pinned: Sequence[int]) -> set[int]:
    spans = [*whole, *((place, place + 1) for place in pinned)]
    return {index for span in spans for index in _within(source, span)}


def _is_altered(piece: Piece, source: str, verbatim: Sequence[Range]) -> bool:
    if piece.source is None or piece.text == source[slice(*piece.source)]:
        return False
    return any(piece.source[0] < end and start < piece.source[1] for start, end in verbatim)


def _in_one_piece(source: Sequence[_Unit], span: Range, pairs: dict[int, int]) -> bool:
    inside = sorted(_within(source, span))
    return all(pairs[after] == pairs[before] + 1 for before, after in pairwise(inside))


def _align(source: Sequence[_Unit], simple: Sequence[Piece], must: set[int]) -> dict[int, int]:
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


def _can_stay(unit: _Unit, piece: Piece) -> bool:
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
    simple: Sequence[Piece],
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
    source: Sequence[_Unit], simple: Sequence[Piece], whole: Sequence[Range]
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


def _same_space(source: Sequence[_Unit], around: Sequence[Piece]) -> int | None:
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
