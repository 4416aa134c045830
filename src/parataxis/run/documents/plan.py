"""Plans which words of a sentence stay in place when it is rewritten, and what is inserted.

A plan keeps words in long runs, so that the change is easy to read. Where something that must stay
in place (a link, the word before a footnote) cannot, there is no plan.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import accumulate, pairwise

from parataxis.rewrite.record import Rewrite
from parataxis.rewrite.render import MarkedPiece, mark
from parataxis.text.tokens import has_word

Range = tuple[int, int]
"""Start and end of a range of characters."""


@dataclass(frozen=True, slots=True)
class Kept:
    """Characters of the source that stay in place."""

    start: int
    end: int


@dataclass(frozen=True, slots=True)
class New:
    """Inserted text. ``copied`` is the range of the source of which it is an exact copy; ``like``
    is the character whose formatting it takes (None: the formatting of its neighbours)."""

    text: str
    like: int | None = None
    copied: Range | None = None


Plan = list[Kept | New]
"""The rewrite from left to right. Kept parts are in the order of the source; characters of the
source that no part keeps are deleted."""

# The value of keeping a unit in place. A kept run must be worth more than the break that it makes
# in the change, because a lone comma between two changes is hard to read.
_WORD, _SHORT_WORD, _SIGN, _SPACE = 1.0, 0.6, 0.25, 0.01
_BREAK = 0.7
_MUST = 1000.0
_SHORT = 3


def make_plan(
    rewrite: Rewrite,
    *,
    places: Sequence[int] | None = None,
    whole: Sequence[Range] = (),
    pinned: Sequence[int] = (),
    partly: Sequence[Range] = (),
    verbatim: Sequence[Range] = (),
) -> Plan | None:
    """The plan of a rewrite, or None if there is none.

    Each ``whole`` range must stay in place in one piece; so must the unit at each ``pinned``
    character, and some word of each ``partly`` range. No word of a ``verbatim`` range may appear in
    another form. ``places`` are those of the characters of the source, and of its end, in the
    paragraph to which these ranges and the plan refer (None: the source itself).

    >>> rewrite = Rewrite(source="Ann, who sang, left.", simple=["Ann left.", "Ann sang."],
    ...     splitter="mine")
    >>> [rewrite.source[p.start : p.end] if isinstance(p, Kept) else f"+{p.text}"
    ...     for p in make_plan(rewrite)]
    ['Ann', '+ ', '+left', '+.', '+ ', '+Ann', ' sang', '.']
    """
    at = range(len(rewrite.source) + 1) if places is None else places
    marked = mark(rewrite)
    ends = [0, *accumulate(len(piece.text) for piece in marked.source)]
    source = [
        _Unit(piece.text, at[start], at[end])
        for piece, (start, end) in zip(marked.source, pairwise(ends), strict=True)
    ]
    simple = []
    for piece in [each for sentence in marked.simple for each in (MarkedPiece(" "), *sentence)][1:]:
        if piece.source is not None:
            is_altered = piece.text != rewrite.source[slice(*piece.source)]
            start, end = at[piece.source[0]], at[piece.source[1]]
            if is_altered and any(start < last and first < end for first, last in verbatim):
                return None
            piece = replace(piece, source=(start, end))
        simple.append(piece)
    must = {
        index
        for span in (*whole, *((place, place + 1) for place in pinned))
        for index in _within(source, span)
    }
    pairs = _align(source, simple, must)
    if not must <= pairs.keys():
        return None
    for span in whole:  # in one piece
        if any(pairs[b] != pairs[a] + 1 for a, b in pairwise(sorted(_within(source, span)))):
            return None
    words = {index for index in pairs if not source[index].is_space}
    if not all(words & _within(source, span) for span in partly):
        return None
    return _parts(source, simple, pairs, _likes(source, simple, whole, at))


@dataclass(frozen=True, slots=True)
class _Unit:
    text: str
    start: int
    end: int

    @property
    def is_space(self) -> bool:
        return self.text.isspace()


def _within(source: Sequence[_Unit], span: Range) -> set[int]:
    return {i for i, unit in enumerate(source) if unit.start < span[1] and span[0] < unit.end}


def _align(
    source: Sequence[_Unit], simple: Sequence[MarkedPiece], must: set[int]
) -> dict[int, int]:
    """Which units stay, and as which pieces of the rewrite: the best alignment that keeps the
    order, by dynamic programming."""
    rows, columns = len(source), len(simple)
    # The best value if the last two are aligned, and in any case.
    kept = [[-_MUST * _MUST] * (columns + 1) for _ in range(rows + 1)]
    kept[0][0] = 0.0  # a run at the very beginning breaks nothing
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
    goes_on = False  # the pair before belongs to the same run
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
    # A word stays only as itself, not as another word with the same spelling; any mark will do.
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
    likes: Sequence[int | None],
) -> Plan:
    kept_as = {piece: unit for unit, piece in pairs.items()}
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
    source: Sequence[_Unit],
    simple: Sequence[MarkedPiece],
    whole: Sequence[Range],
    at: Sequence[int],
) -> list[int | None]:
    """For each piece of the rewrite the character of the source whose formatting it takes: a word
    looks like its source, and a space like the same space of the source. Marks, inserted words and
    other spaces look like their neighbours."""
    likes: list[int | None] = []
    for index, piece in enumerate(simple):
        if piece.text.isspace():
            likes.append(_same_space(source, simple[max(0, index - 1) : index + 2]))
        elif piece.source and has_word(piece.text):
            likes.append(_outside(piece.source[0], whole, at))
        else:
            likes.append(None)
    return likes


def _same_space(source: Sequence[_Unit], around: Sequence[MarkedPiece]) -> int | None:
    """The place of a space in the source, if only it stands between the same two words there."""
    if len(around) < 3 or not (around[0].source and around[2].source):
        return None
    start, end = around[0].source[1], around[2].source[0]
    return next((u.start for u in source if u.is_space and (u.start, u.end) == (start, end)), None)


def _outside(place: int, whole: Sequence[Range], at: Sequence[int]) -> int | None:
    """The place itself, or one beside the range that contains it: a second copy of the words of a
    link is no link, and should not look like one."""
    for start, end in whole:
        if start <= place < end:
            after = min((each for each in at[:-1] if each >= end), default=None)
            return max((each for each in at if each < start), default=after)
    return place
