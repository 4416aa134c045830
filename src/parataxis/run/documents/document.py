"""A document with formatting: its paragraphs, their sentences, and the report on their rewrites."""

from abc import ABC, abstractmethod
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from parataxis.rewrite.record import Rewrite
from parataxis.run.documents.plan import Kept, New, Plan, Range, make_plan

_MOVES = "a link, a note, a field or the like that would have to move"
"""Why a sentence without a plan is left alone."""


@dataclass(frozen=True)
class Sentence:
    """A sentence at ``start`` to ``end`` of the characters of its paragraph.

    ``text`` is the sentence on one line, as a splitter gets it. ``whole``, ``pinned``, ``partly``
    and ``verbatim`` are those of :func:`make_plan`, as places in the paragraph. ``obstacle`` is the
    reason why the sentence cannot be changed, if there is one.
    """

    text: str
    start: int
    end: int
    whole: Sequence[Range] = ()
    pinned: Sequence[int] = ()
    partly: Sequence[Range] = ()
    verbatim: Sequence[Range] = ()
    obstacle: str = ""


class Paragraph(NamedTuple):
    """The text of a paragraph as a reader sees it, and its sentences."""

    text: str
    sentences: Sequence[Sentence]


class Change(NamedTuple):
    """A sentence that is rewritten: the number of its paragraph, its plan, and who made it."""

    paragraph: int
    sentence: Sentence
    plan: Plan
    splitter: str


@dataclass
class DocumentReport:
    """How many sentences a document has, how many were split, and how many were left alone although
    the splitter had split them, by the reason."""

    sentences: int = 0
    split: int = 0
    left_alone: Counter[str] = field(default_factory=Counter)

    def note(self) -> str:
        """A sentence about those left alone, or "" if there are none.

        >>> DocumentReport(left_alone=Counter({"a tab": 2, "a picture": 1})).note()
        '3 sentences that could be split were left alone: 2 have a tab, 1 has a picture.'
        """
        total = self.left_alone.total()
        if not total:
            return ""
        reasons = ", ".join(
            f"{count} {'has' if count == 1 else 'have'} {reason}"
            for reason, count in self.left_alone.most_common()
        )
        plural, were = ("", "was") if total == 1 else ("s", "were")
        return f"{total} sentence{plural} that could be split {were} left alone: {reasons}."


class FormattedDocument(ABC):
    """A document: its paragraphs with their sentences, and the same document with rewrites."""

    def __init__(self, paragraphs: Sequence[Paragraph]) -> None:
        self.paragraphs = paragraphs

    @property
    def sentences(self) -> list[str]:
        """The sentences, in order, as a splitter gets them."""
        return [sentence.text for _, sentences in self.paragraphs for sentence in sentences]

    @abstractmethod
    def rewritten(
        self, rewrites: Sequence[Rewrite], *, tracked: bool = False
    ) -> tuple[bytes, DocumentReport]:
        """The document with the rewrites of all its sentences, and the report on them.

        Raises InputError if changes are to be tracked in a document that cannot track them.
        """

    def changes(self, rewrites: Sequence[Rewrite], report: DocumentReport) -> list[Change]:
        """The changes that the rewrites make; the report counts the sentences left alone."""
        places = [(n, each) for n, (_, own) in enumerate(self.paragraphs) for each in own]
        report.sentences = len(places)
        found = []
        for (number, sentence), rewrite in zip(places, rewrites, strict=True):
            if not rewrite.is_split:
                continue
            text = self.paragraphs[number].text
            plan = None if sentence.obstacle else plan_sentence(sentence, text, rewrite)
            if plan is None:
                report.left_alone[sentence.obstacle or _MOVES] += 1
            else:
                found.append(Change(number, sentence, plan, rewrite.splitter))
        return found


def plan_sentence(sentence: Sentence, paragraph: str, rewrite: Rewrite) -> Plan | None:
    """The plan of a rewrite in the characters of the paragraph, or None if there is none."""
    places = _Places(sentence, paragraph)
    plan = make_plan(
        rewrite,
        whole=list(places.to_text(sentence.whole)),
        pinned=[start for start, _ in places.to_text((p, p + 1) for p in sentence.pinned)],
        partly=list(places.to_text(sentence.partly)),
        verbatim=list(places.to_text(sentence.verbatim)),
    )
    return None if plan is None else [places.to_paragraph(part) for part in plan]


class _Places:
    """Maps places between the text of a sentence and its paragraph, whose spaces may be longer."""

    def __init__(self, sentence: Sentence, paragraph: str) -> None:
        self._start, self._end = sentence.start, sentence.end
        self._in_text = [i for i, c in enumerate(sentence.text) if not c.isspace()]
        self._in_paragraph = [
            i for i in range(sentence.start, sentence.end) if not paragraph[i].isspace()
        ]
        if len(self._in_text) != len(self._in_paragraph):
            raise ValueError(f"the sentence {sentence.text!r} is not in its paragraph")

    def to_text(self, ranges: Iterable[Range]) -> Iterator[Range]:
        """Ranges of the paragraph as ranges of the text; any white space there is one space."""
        for start, end in ranges:
            start, end = max(start, self._start), min(end, self._end)
            if start < end:
                last = _mapped(end - 1, self._in_paragraph, self._in_text)
                yield _mapped(start, self._in_paragraph, self._in_text), last + 1

    def to_paragraph(self, part: Kept | New) -> Kept | New:
        """A part of a plan with places in the paragraph."""

        def place(old: int) -> int:
            return _mapped(old, self._in_text, self._in_paragraph)

        if isinstance(part, Kept):
            return Kept(place(part.start), place(part.end))
        like = None if part.like is None else place(part.like)
        return New(part.text, like, part.copied and (place(part.copied[0]), place(part.copied[1])))


def _mapped(place: int, visible: Sequence[int], others: Sequence[int]) -> int:
    """The place of a visible character, or of the space after it, on the other side."""
    number = bisect_right(visible, place) - 1
    return others[number] + (visible[number] != place)
