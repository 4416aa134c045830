"""The sentences of a document, with what of each must stay, and what became of them."""

from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from parataxis.documents.plan import Kept, New, Plan, Range, make_plan
from parataxis.rewrite.record import Rewrite

__all__ = ["MOVES", "Report", "Sentence", "Shown", "plan_sentence"]

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
    and ``verbatim`` are those of :func:`~parataxis.documents.plan.make_plan`, but as places in the
    block. ``obstacle`` says why it cannot be changed, where that is so.
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
class Report:
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
