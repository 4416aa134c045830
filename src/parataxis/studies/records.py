"""What a study leaves behind: rewrites that were judged, and ratings of them.

The rewrites are records like any other (:class:`parataxis.rewrite.Rewrite`): ``id`` names the item,
``splitter`` the system, and ``writer`` the person, if a person of the study wrote it. A rating
names its item and its rater. Both travel as JSON lines, so that a report needs no database.
"""

from collections.abc import Iterator, Mapping
from datetime import datetime
from enum import StrEnum
from pathlib import Path

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from parataxis.errors import InputError
from parataxis.rewrite.record import Rewrite
from parataxis.text.files import ReadReport, read_lines

HUMAN = "human"
"""The system of rewrites that people of a study wrote."""

Value = bool | int | str | None
"""An answer: yes or no, a number, a text (the key of a choice is one), or none of them where the
question does not apply."""

Answers = Mapping[str, Value]
"""Answers by the id of the question."""


class Purpose(StrEnum):
    """Why an item is in a study."""

    ITEM = "item"
    """To be judged."""
    TRAINING = "training"
    """To learn from: feedback follows."""
    TEST = "test"
    """To qualify."""
    ATTENTION = "attention"
    """To see whether somebody reads: the answers are plain to see."""
    KNOWN = "known"
    """Its answers are known, and it looks like any other."""


class Rating(BaseModel):
    """What one person said about one rewrite, and what follows from it."""

    model_config = ConfigDict(frozen=True)

    item: str
    rater: str
    rubric: str
    answers: dict[str, Value]
    outcomes: dict[str, bool | float | None] = Field(default_factory=dict)
    """What the rubric derives from the answers, such as *correct*."""
    identical: bool = False
    """Whether the rewrite was equal to its source, so that the rubric's fixed answers hold."""
    purpose: Purpose = Purpose.ITEM
    seconds: float | None = None
    when: datetime | None = None


def is_identical(rewrite: Rewrite) -> bool:
    """Whether a rewrite says nothing but its source, in the same words and order."""
    return " ".join(" ".join(rewrite.simple).split()) == " ".join(rewrite.source.split())


def read_ratings(path: Path) -> Iterator[Rating]:
    """The ratings of a file of JSON lines; blank lines are skipped."""
    for number, line in read_lines(path, ReadReport(strict=True)):
        if line.strip():
            try:
                yield Rating.model_validate_json(line)
            except ValidationError as error:
                reason = error.errors()[0]["msg"]
                raise InputError(f"{path}, line {number}, is not a rating: {reason}.") from error


# Texts that people of a study read, in one language or in several.

Text = str | dict[str, str]
"""One text for everybody, or texts by language code."""


def in_language(text: str | Mapping[str, str], language: str) -> str:
    """The text in that language; in English, or else in its first language, where it has none.

    >>> in_language({"en": "yes", "es": "sí"}, "es"), in_language({"es": "sí"}, "en")
    ('sí', 'sí')
    """
    if isinstance(text, str):
        return text
    for code in (language, language.partition("-")[0], "en"):
        if code in text:
            return text[code]
    return next(iter(text.values()), "")
