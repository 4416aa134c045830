"""What the service answers, for those who ask and for those who answer."""

from collections.abc import Sequence
from typing import Annotated, Literal, Self

from pydantic import BaseModel, ConfigDict, Field

from parataxis.rewrite.record import Rewrite
from parataxis.syntax.analysis import ROOT, Analysis, Word
from parataxis.syntax.patterns import Occurrence, Pattern


class Answer(BaseModel):
    """What is answered."""

    model_config = ConfigDict(frozen=True)


class Problem(Answer):
    """Why a request was refused, in one sentence."""

    detail: str = Field(examples=["The text is empty; give at least one sentence."])


class FoundPattern(Answer):
    """A phrase of a source that could be a sentence of its own, and where it stands there."""

    pattern: Pattern
    name: str = Field(examples=["relative clause"])
    words: str
    start: int
    end: int

    @classmethod
    def of(cls, found: Occurrence, text: str) -> Self:
        """The pattern as it occurs in a sentence."""
        return cls(
            pattern=found.pattern,
            name=found.pattern.plain_name,
            words=text[found.start : found.end],
            start=found.start,
            end=found.end,
        )


class Explained(Answer):
    """A rewrite, the patterns of its source, and for each simple sentence those patterns that were
    split and whose words it says. Both are null where they were not asked for."""

    rewrite: Rewrite
    patterns: Sequence[FoundPattern] | None = None
    splits: Sequence[Sequence[Pattern]] | None = None


class _Placed(Answer):
    index: int
    start: int | None = None
    end: int | None = None


class Split(Explained, _Placed):
    """The rewrite of one sentence. ``start`` and ``end`` are where it stands in the text, and null
    where sentences were sent."""


class SplitText(Answer):
    """The rewrites of all sentences, and the text with them where a text was sent."""

    splitter: str
    text: str | None
    rewrites: Sequence[Split]


class Start(Answer):
    """The first line of a stream: how many rewrites will come."""

    type: Literal["start"] = "start"
    splitter: str
    sentences: int


class _IsSplit(Answer):
    type: Literal["split"] = "split"


class SplitLine(Split, _IsSplit):
    """A line of a stream: one rewrite."""


class End(Answer):
    """The last line of a stream: the text with all rewrites, where a text was sent."""

    type: Literal["end"] = "end"
    text: str | None


class Failed(Answer):
    """The last line of a stream that could not go on."""

    type: Literal["error"] = "error"
    detail: str


Line = Annotated[Start | SplitLine | End | Failed, Field(discriminator="type")]
"""A line of a stream."""


class Checked(Answer):
    """Rewrites with where their words come from and what the checks find in them."""

    rewrites: Sequence[Explained]


class AnalysedWord(Answer):
    """A word; ``head`` is the number of the word that governs it, and null for the root."""

    text: str
    start: int
    end: int
    upos: str
    xpos: str
    feats: dict[str, str]
    head: int | None
    deprel: str

    @classmethod
    def of(cls, word: Word) -> Self:
        """The word of an analysis."""
        return cls(
            text=word.text,
            start=word.start,
            end=word.end,
            upos=word.upos,
            xpos=word.xpos,
            feats=dict(word.feats),
            head=None if word.head == ROOT else word.head,
            deprel=word.deprel,
        )


class SemanticRole(Answer):
    """The words ``first`` to ``last`` and what they are to a predicate."""

    model_config = ConfigDict(from_attributes=True)

    first: int
    last: int
    label: str = Field(examples=["ARG0"])


class Predicate(Answer):
    """The number of a word and its roles."""

    model_config = ConfigDict(from_attributes=True)

    predicate: int
    arguments: Sequence[SemanticRole]


class AnalysedSentence(Answer):
    """What the analyser sees in a sentence; ``problem`` says why it sees nothing. ``start`` and
    ``end`` are where it stands in the text, and null where sentences were sent."""

    text: str
    start: int | None = None
    end: int | None = None
    words: Sequence[AnalysedWord] = ()
    frames: Sequence[Predicate] = ()
    patterns: Sequence[FoundPattern] = ()
    problem: str | None = None

    @classmethod
    def of(cls, analysis: Analysis, found: Sequence[Occurrence]) -> Self:
        """An analysis and the patterns in it."""
        return cls(
            text=analysis.text,
            words=[AnalysedWord.of(word) for word in analysis],
            frames=[Predicate.model_validate(frame) for frame in analysis.frames],
            patterns=[FoundPattern.of(each, analysis.text) for each in found],
        )


class Analysed(Answer):
    """The analyses of all sentences."""

    sentences: Sequence[AnalysedSentence]


class OfferedSplitter(Answer):
    """A splitter; ``problem`` says why it cannot be used."""

    name: str
    summary: str
    adjustable: bool
    problem: str | None = None


class Splitters(Answer):
    """The splitters that can be asked for."""

    default: str
    splitters: Sequence[OfferedSplitter]


class Readable(Answer):
    """How long sentences and words are; without words there is no grade and no mean."""

    grade: float | None
    sentences: int
    words: int
    words_per_sentence: float | None
    longest: int = Field(description="Words of the longest sentence.")


class Readability(Answer):
    """The readability of each text."""

    texts: Sequence[Readable]


class DocumentSentence(Answer):
    """A sentence of a document and where it stands in the text that is shown."""

    text: str
    start: int
    end: int


class DocumentRead(Answer):
    """The text of a document, as it can be shown, and its sentences."""

    name: str
    kind: str = Field(examples=["Word"])
    text: str
    sentences: Sequence[DocumentSentence]


class Health(Answer):
    """That the service is alive."""

    status: Literal["alive"] = "alive"
    version: str


class Ready(Answer):
    """That the default splitter is loaded."""

    status: Literal["ready"] = "ready"
