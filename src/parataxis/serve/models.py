"""The JSON of the service: what a request may send, and what is answered.

The service and its client share these models, so nothing here needs FastAPI.
"""

from collections.abc import Sequence
from typing import Annotated, Any, Literal, Self, TypeAlias, TypeVar

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Discriminator,
    FailFast,
    Field,
    Tag,
    model_validator,
)
from pydantic_core import PydanticCustomError

from parataxis.rewrite.jsonl import UNKNOWN_SPLITTER
from parataxis.rewrite.record import Level, Rewrite
from parataxis.syntax.analysis import ROOT, Analysis, Frame
from parataxis.syntax.patterns import Occurrence, Pattern

_SOURCE = "The bridge, which was built in 1860, was closed."
_GIVEN = ("text", "sentences")


def _not_blank(text: str) -> str:
    if not text.strip():
        raise PydanticCustomError("too_short", "It is empty")
    return text


def _whole(value: Any) -> Any:
    """Read 4.0 as 4: JSON does not tell them apart."""
    return int(value) if isinstance(value, float) and value.is_integer() else value


Item = TypeVar("Item")
Listed = Annotated[list[Item], FailFast(), Field(min_length=1)]
"""A list that is not empty; only its first error is reported."""

Text = Annotated[str, Field(min_length=1, pattern=r"\S"), AfterValidator(_not_blank)]
"""A text that is not only white space."""


# Requests --------------------------------------------------------------------------------------


class Request(BaseModel):
    """The body of a request. Unknown fields are refused, since they are most likely misspelt."""

    model_config = ConfigDict(strict=True, extra="forbid", frozen=True)

    @model_validator(mode="before")
    @classmethod
    def _known(cls, body: Any) -> Any:
        """Report the first unknown field only: there may be thousands."""
        fields = body if isinstance(body, dict) else ()
        unknown = next((name for name in fields if name not in cls.model_fields), None)
        if unknown is not None:
            raise PydanticCustomError("unknown_field", "It is not known", {"field": str(unknown)})
        return body

    @classmethod
    def example(cls) -> dict[str, Any]:
        """A body for the description of the API, made of the examples of the fields."""
        fields = cls.model_fields.items()
        return {name: field.examples[0] for name, field in fields if field.examples}


class SplitOptions(Request):
    """The options of a request that splits."""

    splitter: str | None = Field(
        default=None,
        description="A name from `/v1/splitters`; the default splitter if left out.",
    )
    strict: bool = Field(
        default=False, description="Return no rewrite that has a finding.", examples=[True]
    )
    beam: Annotated[int, BeforeValidator(_whole), Field(ge=1, le=8)] | None = Field(
        default=None,
        description="The number of hypotheses that an adjustable splitter follows.",
        examples=[4],
    )
    level: Annotated[Level, Field(strict=False)] = Field(
        default=Level.PLAIN, description="How far to split.", examples=["atomic"]
    )
    confidence: float | None = Field(
        default=None, ge=0, le=1, description="The lowest confidence of a split.", examples=[0.9]
    )
    max_words: Annotated[int, BeforeValidator(_whole), Field(ge=1)] | None = Field(
        default=None,
        description="Simple sentences that have more words are split further where possible.",
        examples=[25],
    )
    keep_phrases: Annotated[
        tuple[Annotated[str, Field(min_length=1, max_length=200, pattern=r"\S")], ...],
        Field(max_length=1000, strict=False),
    ] = Field(
        default=(),
        description="Terms that no rewrite may tear apart or change.",
        examples=[["act of God"]],
    )
    check: bool = Field(
        default=True, description="Report the findings of the checks.", examples=[True]
    )
    patterns: bool = Field(
        default=True,
        description="Report the patterns of each source and which of them were split.",
        examples=[False],
    )


class WithText(Request):
    """A request about running text."""

    text: Text = Field(
        description="Running text; everything between its sentences comes back unchanged.",
        examples=[f"{_SOURCE}\n\nNobody was hurt."],
    )


class WithSentences(Request):
    """A request about separate sentences."""

    sentences: Listed[Text] = Field(description="Separate sentences.", examples=[[_SOURCE]])


class TextToSplit(WithText, SplitOptions):
    """A text to split."""


class SentencesToSplit(WithSentences, SplitOptions):
    """Sentences to split."""

    consecutive: bool = Field(
        default=False,
        description="Whether they follow one another in a paragraph. Then rewrites are avoided "
        "that end with a detail which the next sentence would seem to mean.",
    )


def _given(body: Any) -> str | None:
    """Which of text and sentences is given; None for neither or both."""
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
    """A rewrite by any person or system."""

    source: Text = Field(examples=[_SOURCE])
    simple: Listed[Text] = Field(examples=[["The bridge was built in 1860.", "It was closed."]])
    splitter: str = Field(default=UNKNOWN_SPLITTER, description="Who wrote it.")

    def __len__(self) -> int:
        """The characters of all its sentences."""
        return len(self.source) + sum(map(len, self.simple))


class CheckRequest(Request):
    """Rewrites to check."""

    rewrites: Listed[WrittenRewrite] = Field(examples=[[WrittenRewrite.example()]])


class AlternativesRequest(SplitOptions):
    """A sentence of which other rewrites are wanted."""

    sentence: Text = Field(max_length=2000, examples=[_SOURCE])


class ReadabilityRequest(Request):
    """Texts, each given as the list of its sentences."""

    texts: Listed[Annotated[list[str], FailFast()]] = Field(
        examples=[[["Ann, who sings, left."], ["Ann sings.", "Ann left."]]]
    )


# Answers ---------------------------------------------------------------------------------------


class Answer(BaseModel):
    """The body of an answer."""

    model_config = ConfigDict(frozen=True, from_attributes=True)


class Problem(Answer):
    """Why a request was refused, in one sentence."""

    detail: str = Field(examples=["The text is empty; give at least one sentence."])


class FoundPattern(Answer):
    """A phrase of a source that could be a sentence of its own, and its position."""

    pattern: Pattern
    name: str = Field(examples=["relative clause"])
    words: str
    start: int
    end: int

    @classmethod
    def of(cls, found: Occurrence, text: str) -> Self:
        """The JSON form of an occurrence in a sentence."""
        return cls(
            pattern=found.pattern,
            name=found.pattern.plain_name,
            words=text[found.start : found.end],
            start=found.start,
            end=found.end,
        )


class Explained(Answer):
    """A rewrite, the patterns of its source, for each simple sentence the patterns that it was
    split from and its number of words, the number of words of the source, and whether its clauses
    are nested. All but the rewrite are null if patterns were not requested."""

    rewrite: Rewrite
    patterns: Sequence[FoundPattern] | None = None
    splits: Sequence[Sequence[Pattern]] | None = None
    words: Sequence[int] | None = None
    source_words: int | None = None
    nested: bool | None = None


class _Placed(Answer):
    index: int
    start: int | None = None
    end: int | None = None


class Split(Explained, _Placed):
    """The rewrite of one sentence and its position in the text, which is null if the request sent
    separate sentences."""


class SplitText(Answer):
    """The rewrites of all sentences, and the rewritten text if the request sent a text."""

    splitter: str
    text: str | None
    rewrites: Sequence[Split]


class Start(Answer):
    """The first line of a stream: how many rewrites follow."""

    type: Literal["start"] = "start"
    splitter: str
    sentences: int


class _IsSplit(Answer):
    type: Literal["split"] = "split"


class SplitLine(Split, _IsSplit):
    """A line of a stream: one rewrite."""


class End(Answer):
    """The last line of a stream: the rewritten text, if the request sent a text."""

    type: Literal["end"] = "end"
    text: str | None


class Failed(Answer):
    """The last line of a stream that failed."""

    type: Literal["error"] = "error"
    detail: str


Line: TypeAlias = Annotated[Start | SplitLine | End | Failed, Field(discriminator="type")]
"""A line of a stream."""


class Checked(Answer):
    """Rewrites with their provenance and findings."""

    rewrites: Sequence[Explained]


class Alternatives(Answer):
    """Rewrites of one sentence: those without a finding first, then the surest."""

    rewrites: Sequence[Explained]


class HardSentence(Answer):
    """How hard a sentence is to read: its number of words, and whether its clauses are nested."""

    start: int
    end: int
    words: int
    nested: bool


class Difficulty(Answer):
    """The sentences of a text, and whether the text looks like English."""

    english: bool
    sentences: Sequence[HardSentence]


class AnalysedWord(Answer):
    """A word; ``head`` is the index of its governor, and null for the root."""

    text: str
    start: int
    end: int
    upos: str
    xpos: str
    feats: dict[str, str]
    head: Annotated[int | None, BeforeValidator(lambda head: None if head == ROOT else head)]
    deprel: str


class AnalysedSentence(Answer):
    """The analysis of a sentence, or the ``problem`` that prevented it. The position in the text is
    null if the request sent separate sentences."""

    start: int | None = None
    end: int | None = None
    text: str
    words: Sequence[AnalysedWord] = ()
    frames: Sequence[Frame] = ()
    patterns: Sequence[FoundPattern] = ()
    problem: str | None = None

    @classmethod
    def of(cls, analysis: Analysis, found: Sequence[Occurrence]) -> Self:
        """The JSON form of an analysis and the patterns in it."""
        return cls(
            text=analysis.text,
            words=[AnalysedWord.model_validate(word) for word in analysis],
            frames=analysis.frames,
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
    levels: Sequence[Level] = Field(description="The levels that it can split at.")
    problem: str | None = None


class Splitters(Answer):
    """The splitters that the service offers."""

    default: str
    splitters: Sequence[OfferedSplitter]


class Readable(Answer):
    """The readability of one text; grade and mean are null if it has no words."""

    grade: float | None
    sentences: int
    words: int
    words_per_sentence: float | None
    longest: int = Field(description="Words of the longest sentence.")


class Readability(Answer):
    """The readability of each text."""

    texts: Sequence[Readable]


class DocumentSentence(Answer):
    """A sentence of a document and its position in the text that is shown."""

    text: str
    start: int
    end: int


class DocumentRead(Answer):
    """The text of a document, in a form that can be shown, and its sentences."""

    name: str
    kind: str = Field(examples=["Word"])
    text: str
    note: str = Field(default="", description="What of the file cannot be kept.")
    english: bool = True
    sentences: Sequence[DocumentSentence]


class BlockedChange(Answer):
    """A sentence that cannot be changed in its document, and what it has that prevents it."""

    index: int
    reason: str = Field(examples=["a link, a note, a field or the like that would have to move"])


class BlockedChanges(Answer):
    """The rewrites that cannot be written into a document."""

    blocked: Sequence[BlockedChange]


class Health(Answer):
    """The service is alive."""

    status: Literal["alive"] = "alive"
    version: str


class Ready(Answer):
    """The default splitter is loaded."""

    status: Literal["ready"] = "ready"
