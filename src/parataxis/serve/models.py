"""What is sent to the service; what it answers is in :mod:`parataxis.serve.records`."""

from typing import Annotated, Any

from fastapi.openapi.models import Example
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


def _examples(**values: dict[str, Any]) -> dict[str, Example]:
    return {name.replace("_", " "): {"value": value} for name, value in values.items()}


ANALYSE_EXAMPLES = _examples(
    a_text={"text": _TEXT_EXAMPLE}, sentences={"sentences": _SENTENCES_EXAMPLE}
)
SPLIT_EXAMPLES = ANALYSE_EXAMPLES | _examples(
    options={
        "sentences": _SENTENCES_EXAMPLE,
        "splitter": "pointer",
        "strict": True,
        "beam": 4,
        "check": True,
        "patterns": False,
    }
)
CHECK_EXAMPLES = _examples(
    a_rewrite={
        "rewrites": [
            {
                "source": _SENTENCES_EXAMPLE[0],
                "simple": ["The bridge was built in 1860.", "It was closed."],
            }
        ]
    }
)
READABILITY_EXAMPLES = _examples(
    before_and_after={"texts": [["Ann, who sings, left."], ["Ann sings.", "Ann left."]]}
)
