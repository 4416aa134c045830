"""What is sent to the service and what it answers."""

from collections.abc import Sequence
from typing import Annotated, Any, Literal, Self

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Discriminator,
    Field,
    Tag,
)
from pydantic_core import PydanticCustomError

from parataxis.rewrite.jsonl import UNKNOWN_SPLITTER
from parataxis.rewrite.record import Rewrite
from parataxis.syntax.analysis import ROOT, Analysis, Word
from parataxis.syntax.patterns import Occurrence, Pattern

__all__ = [
    "AnalyseRequest",
    "Analysed",
    "AnalysedSentence",
    "CheckRequest",
    "Checked",
    "DocumentRead",
    "DocumentSentence",
    "End",
    "Explained",
    "Failed",
    "FoundPattern",
    "Health",
    "OfferedSplitter",
    "Placed",
    "Problem",
    "Readability",
    "ReadabilityRequest",
    "Readable",
    "Ready",
    "Split",
    "SplitLine",
    "SplitRequest",
    "SplitResponse",
    "Splitters",
    "Start",
    "WithSentences",
    "WithText",
    "WrittenRewrite",
]


def _not_blank(text: str) -> str:
    if not text.strip():
        raise PydanticCustomError("too_short", "It is empty")
    return text


def _whole(value: Any) -> Any:
    """In JSON 4.0 is a whole number too."""
    return int(value) if isinstance(value, float) and value.is_integer() else value


Text = Annotated[str, Field(min_length=1, pattern=r"\S"), AfterValidator(_not_blank)]
"""What is not only white space."""


class Request(BaseModel):
    """What is sent; fields that are not known are refused, as they are most likely misspelt."""

    model_config = ConfigDict(strict=True, extra="forbid", frozen=True)


class Answer(BaseModel):
    """What is answered."""

    model_config = ConfigDict(frozen=True)


class Problem(Answer):
    """Why a request was refused, in one sentence."""

    detail: str = Field(examples=["The text is empty; give at least one sentence."])


class _Options(Request):
    splitter: str | None = Field(
        default=None,
        description="The name of one of `/v1/splitters`; without it the default.",
        examples=["pointer"],
    )
    strict: bool = Field(
        default=False,
        description="Give out no rewrite in which the checks find anything.",
    )
    beam: Annotated[int, BeforeValidator(_whole), Field(ge=1, le=8)] | None = Field(
        default=None, description="How many hypotheses an adjustable splitter follows."
    )
    check: bool = Field(default=True, description="Tell what the checks find in each rewrite.")
    patterns: bool = Field(
        default=True, description="Tell the patterns of each source and which were split."
    )


_TEXT_EXAMPLE = "The bridge, which was built in 1860, was closed.\n\nNobody was hurt."
_SENTENCES_EXAMPLE = ["The bridge, which was built in 1860, was closed."]
_GIVEN = ("text", "sentences")


class WithText(Request):
    """A request about running text."""

    text: Text = Field(
        description="Running text; its sentences are found, and all else comes back as it was.",
        examples=[_TEXT_EXAMPLE],
    )


class WithSentences(Request):
    """A request about sentences, each for itself."""

    sentences: list[Text] = Field(
        min_length=1, description="Sentences, each for itself.", examples=[_SENTENCES_EXAMPLE]
    )


class TextToSplit(WithText, _Options):
    """A text to split."""


class SentencesToSplit(WithSentences, _Options):
    """Sentences to split."""


def _given(body: Any) -> str | None:
    """Which of the two is given; None where it is neither or both."""
    if not isinstance(body, dict):
        return next((each for each in _GIVEN if hasattr(body, each)), None)
    given = [each for each in _GIVEN if each in body]
    return given[0] if len(given) == 1 else None


_EITHER = Discriminator(
    _given,
    custom_error_type="text_or_sentences",
    custom_error_message='Give an object with either "text" or "sentences".',
)
SplitRequest = Annotated[
    Annotated[TextToSplit, Tag("text")] | Annotated[SentencesToSplit, Tag("sentences")], _EITHER
]
AnalyseRequest = Annotated[
    Annotated[WithText, Tag("text")] | Annotated[WithSentences, Tag("sentences")], _EITHER
]


class WrittenRewrite(Request):
    """A rewrite by anybody."""

    source: Text = Field(examples=["The bridge, which was built in 1860, was closed."])
    simple: list[Text] = Field(
        min_length=1, examples=[["The bridge was built in 1860.", "It was closed."]]
    )
    splitter: str = Field(default=UNKNOWN_SPLITTER, description="Who wrote it.")


class CheckRequest(Request):
    """Rewrites to check."""

    rewrites: list[WrittenRewrite] = Field(min_length=1)


class ReadabilityRequest(Request):
    """Texts, each a list of its sentences."""

    texts: list[list[str]] = Field(
        min_length=1,
        examples=[[["Ann, who sings, left."], ["Ann sings.", "Ann left."]]],
    )


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


class Split(Explained):
    """The rewrite of one sentence. ``start`` and ``end`` are where it stands in the text, and null
    where sentences were sent."""

    index: int
    start: int | None = None
    end: int | None = None


class SplitResponse(Answer):
    """The rewrites of all sentences, and the text with them where a text was sent."""

    splitter: str
    text: str | None
    rewrites: Sequence[Split]


class Start(Answer):
    """The first line of a stream: how many rewrites will come."""

    type: Literal["start"] = "start"
    splitter: str
    sentences: int


class SplitLine(Split):
    """A line of a stream: one rewrite."""

    type: Literal["split"] = "split"


class End(Answer):
    """The last line of a stream: the text with all rewrites, where a text was sent."""

    type: Literal["end"] = "end"
    text: str | None


class Failed(Answer):
    """The last line of a stream that could not go on."""

    type: Literal["error"] = "error"
    detail: str


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


class Role(Answer):
    """The words ``first`` to ``last`` and what they are to a predicate."""

    model_config = ConfigDict(from_attributes=True)

    first: int
    last: int
    label: str = Field(examples=["ARG0"])


class Predicate(Answer):
    """The number of a word and its roles."""

    model_config = ConfigDict(from_attributes=True)

    predicate: int
    arguments: Sequence[Role]


class AnalysedSentence(Answer):
    """What the analyser sees in a sentence; ``problem`` says why it sees nothing."""

    text: str
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


class Placed(AnalysedSentence):
    """The same with its place in the text; null where sentences were sent."""

    start: int | None = None
    end: int | None = None


class Analysed(Answer):
    """The analyses of all sentences."""

    sentences: Sequence[Placed]


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
