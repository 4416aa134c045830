"""The results of a study: rewrites, ratings and flagged sources.

Rewrites are the usual records (:class:`parataxis.rewrite.Rewrite`): ``id`` is the item,
``splitter`` the system, and ``writer`` the person, if a participant wrote it. A rating names its
item and its rater. Both are stored as JSON lines, so that a report needs no database.
"""

import json
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from enum import StrEnum
from pathlib import Path
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, PlainSerializer, ValidationError

from parataxis.errors import InputError
from parataxis.rewrite.record import Rewrite
from parataxis.text.files import ReadReport, read_lines

HUMAN = "human"
"""The name of the system in rewrites that participants wrote."""

REWRITE, FLAG = "rewrite", "flag"
"""The keys of the answers to a write task: the text, or a flag instead of it."""

Value = bool | int | str | None
"""An answer: yes or no, a number, a text or the key of a choice; None if the question does not
apply."""

Answers = Mapping[str, Value]
"""Answers by question id."""


def timestamp(time: datetime) -> str:
    """A time as all files and pages write it.

    >>> timestamp(datetime(2026, 3, 1, 12, tzinfo=UTC))
    '2026-03-01T12:00:00.000Z'
    """
    return time.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


Timestamp = Annotated[datetime, PlainSerializer(timestamp, return_type=str, when_used="json")]


class Purpose(StrEnum):
    """Why an item is in a study."""

    ITEM = "item"
    """To be judged."""
    TRAINING = "training"
    """To learn from, with feedback."""
    TEST = "test"
    """To qualify."""
    ATTENTION = "attention"
    """To check that raters read: the answers are obvious."""
    KNOWN = "known"
    """A control item with known answers that looks like any other item."""


class Rating(BaseModel):
    """One person's answers about one rewrite, and the outcomes derived from them."""

    model_config = ConfigDict(frozen=True)

    item: str
    rater: str
    rubric: str
    answers: dict[str, Value]
    outcomes: dict[str, bool | float | None] = Field(default_factory=dict)
    """Derived from the answers by the rubric, such as *correct*."""
    identical: bool = False
    """Whether the rewrite was equal to its source, so that the rubric's fixed answers apply."""
    purpose: Purpose = Purpose.ITEM
    seconds: float | None = None
    when: Timestamp | None = None


class Flag(StrEnum):
    """What a writer may answer instead of a rewrite (Zhang et al. 2020, §4.2.1)."""

    SIMPLE = "simple"
    """There is nothing to split."""
    TOO_HARD = "too-hard"


@dataclass(frozen=True)
class FlaggedSource:
    """A source that a writer flagged instead of rewriting it."""

    source_id: str
    source: str
    writer: str
    flag: Flag
    when: datetime | None = None

    def to_json(self) -> str:
        given = {name: value for name, value in asdict(self).items() if value is not None}
        return json.dumps(given, ensure_ascii=False, default=timestamp)


def is_identical(rewrite: Rewrite) -> bool:
    """Whether a rewrite is equal to its source, apart from white space."""
    return " ".join(" ".join(rewrite.simple).split()) == " ".join(rewrite.source.split())


def read_ratings(path: Path) -> Iterator[Rating]:
    """Read the ratings in a file of JSON lines; blank lines are skipped."""
    for number, line in read_lines(path, ReadReport(strict=True)):
        if line.strip():
            try:
                yield Rating.model_validate_json(line)
            except ValidationError as error:
                reason = error.errors()[0]["msg"]
                raise InputError(f"{path}, line {number}, is not a rating: {reason}.") from error


Text = str | dict[str, str]
"""One text for everybody, or one for each language code."""


def in_language(text: str | Mapping[str, str], language: str) -> str:
    """The text in that language, or else in English, or else in its first language.

    >>> in_language({"en": "yes", "es": "sí"}, "es"), in_language({"es": "sí"}, "en")
    ('sí', 'sí')
    """
    if isinstance(text, str):
        return text
    for code in (language, language.partition("-")[0], "en"):
        if code in text:
            return text[code]
    return next(iter(text.values()), "")
