"""Quotation marks and brackets of a simple sentence: each gets the other half of its own pair.

To the model, all marks of one spelling are the same, so it may point at the wrong one of two, or
write one without a source. The words between them tell which pair of the source is meant.
"""

from collections.abc import Iterable, Sequence
from typing import TypeGuard

from parataxis.rewrite.compose import Copy, Inflect, Insert, Part, mark_partners
from parataxis.rewrite.forms import key
from parataxis.syntax.analysis import Analysis
from parataxis.text.tokens import has_word

_CLOSING = {")": "(", "]": "[", "}": "{"}
_OPENING = frozenset(_CLOSING.values())
_BRACKETS = _OPENING.union(_CLOSING)
_QUOTES = frozenset(['"', "''", "``"])

_Pair = tuple[int, int]


def pair_marks(analysis: Analysis, parts: Sequence[Part]) -> list[Part]:
    """The parts with their marks in pairs. Changes 2 of the 2,102 development rewrites, 1 nearer to
    its reference and 1 further from it; kept because it prevents unpaired quotation marks.

    A quotation that is cut is closed at its cut and opened again; a mark that belongs to no pair
    of the source is dropped, except for brackets that are written as a pair and for a lone mark of
    the source beside its own word.
    """
    return _Pairing(analysis, parts).run()


class _Pairing:
    def __init__(self, analysis: Analysis, parts: Sequence[Part]) -> None:
        self.analysis, self.parts = analysis, parts
        self.partners = mark_partners(analysis)
        self.pairs = [(first, last) for first, last in self.partners.items() if first < last]
        self.found: list[Part | None] = []
        self.open: list[tuple[str, int, _Pair | None]] = []
        """What is open: the mark, its place in ``found``, its pair in the source."""

    def run(self) -> list[Part]:
        for place, part in enumerate(self.parts):
            mark = self._mark(part)
            is_open = mark in [opened for opened, _, _ in self.open]
            if isinstance(part, Copy) and mark in _BRACKETS and part.word not in self.partners:
                self.found.append(part)  # the source has no pair either: "1) The Buyer"
            elif mark in _OPENING or (mark in _QUOTES and not is_open):
                self._opened(mark, part, place)
            elif mark in _QUOTES or mark in _CLOSING:
                self._closed(_CLOSING.get(mark, mark), part)
            else:
                self.found.append(part)
        for mark, place, pair in reversed(self.open):
            if mark in _QUOTES and pair is not None:
                self._close_again(place, pair)
            else:
                self.found[place] = None
        return [part for part in self.found if part is not None]

    def _mark(self, part: Part) -> str:
        match part:
            case Copy(word):
                return key(self.analysis[word].text)
            case Insert(text):
                return text
        return ""

    def _opened(self, mark: str, part: Part, place: int) -> None:
        rest = self.parts[place + 1 :]
        pair = self._around(mark, next((p.word for p in rest if self._is_word(p)), None))
        if pair is None and mark in _QUOTES:
            if self._close_before(mark):
                return
            if isinstance(part, Copy):  # the inches of a 6" pipe
                if part.word in self.partners or self._is_at_home(part.word, place):
                    self.found.append(part)
                return
        self.open.append((mark, len(self.found), pair))
        if pair is not None:
            self.found.append(Copy(pair[0]))
        else:
            self.found.append(None if mark in _QUOTES else Insert(mark))

    def _is_at_home(self, mark: int, place: int) -> bool:
        """Whether a mark stands beside a word that it stands beside in the source: an opening mark
        without its other half is no closing mark of another word."""
        before = self.parts[place - 1] if place else None
        after = self.parts[place + 1] if place + 1 < len(self.parts) else None
        words = [
            part.word if isinstance(part, Copy | Inflect) else None for part in (before, after)
        ]
        return mark - 1 == words[0] or mark + 1 == words[1]

    def _closed(self, mark: str, part: Part) -> None:
        while self.open and self.open[-1][0] != mark:
            if mark not in [opened for opened, _, _ in self.open]:
                return
            _, place, _ = self.open.pop()
            self.found[place] = None
        if not self.open:
            return
        _, place, pair = self.open.pop()
        if pair is not None:
            self.found.append(Copy(pair[1]))
        elif self.found[place] is not None:
            self.found.append(Insert(self._mark(part)))

    def _close_again(self, place: int, pair: _Pair) -> None:
        """Close a quotation behind the last of its words."""
        last = self._last(range(place + 1, len(self.found)), pair)
        if last is None:
            self.found[place] = None
        else:
            self.found.insert(last + 1, Copy(pair[1]))

    def _close_before(self, mark: str) -> bool:
        """Take a mark for the end of a quotation that was opened in another sentence."""
        words = (part.word for part in reversed(self.found) if self._is_word(part))
        pair = self._around(mark, next(words, None))
        if pair is None:
            return False
        first = self._last(reversed(range(len(self.found))), pair)
        first = len(self.found) if first is None else first
        self.found.insert(first, Copy(pair[0]))
        self.found.append(Copy(pair[1]))
        self.open = [(m, place + (place >= first), p) for m, place, p in self.open]
        return True

    def _around(self, mark: str, inside: int | None) -> _Pair | None:
        """The narrowest pair of such marks around a word of the source."""
        if inside is None:
            return None
        around = [
            (first, last)
            for first, last in self.pairs
            if first < inside < last and key(self.analysis[first].text) == mark
        ]
        return min(around, key=lambda pair: pair[1] - pair[0], default=None)

    def _last(self, places: Iterable[int], pair: _Pair) -> int | None:
        """The last place of a source word before one that is outside of the pair."""
        last = None
        for place in places:
            part = self.found[place]
            if isinstance(part, Copy | Inflect):
                if not pair[0] < part.word < pair[1]:
                    break
                last = place
        return last

    def _is_word(self, part: Part | None) -> TypeGuard[Copy | Inflect]:
        """Whether a part is a word of the source, not a mark."""
        return isinstance(part, Copy | Inflect) and has_word(self.analysis[part.word].text)
