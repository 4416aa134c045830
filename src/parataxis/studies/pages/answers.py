"""Answers as they come from a form or as JSON, as values that a rubric understands."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

from pydantic import RootModel

from parataxis.studies.records import Value, in_language
from parataxis.studies.rubric import Question, QuestionKind, Rubric, from_text
from parataxis.studies.store import REWRITE
from parataxis.studies.study import BackgroundKind, BackgroundQuestion, parse_yaml

# The texts of the pages, in every language of the interface; ``interface.yaml`` has them all.

LANGUAGES = {"en": "English", "es": "Español"}
"""The languages of the interface, as their speakers call them."""

_FILE = "interface.yaml"


class _Catalogue(RootModel[dict[str, dict[str, str]]]):
    """Texts by key and language."""


@dataclass(frozen=True)
class Interface:
    """The texts of one language.

    >>> interface("es")("yes")
    'Sí'
    """

    language: str

    def __call__(self, key: str, **values: object) -> str:
        """The text of that key, with values filled in."""
        text = catalogue()[key][self.language]
        return text.format(**values) if values else text


@cache
def catalogue() -> dict[str, dict[str, str]]:
    """All texts, by key and language."""
    text = (files("parataxis.studies.pages") / _FILE).read_text(encoding="utf-8")
    return parse_yaml(text, _FILE, _Catalogue).root


@cache
def interface(language: str) -> Interface:
    """The texts of a language."""
    return Interface(language)


def choose(wanted: Iterable[str | None], offered: Sequence[str]) -> str:
    """The first of the wanted languages that is offered, else the first that is offered.

    >>> choose([None, "fr", "es-MX"], ["en", "es"])
    'es'
    """
    for each in wanted:
        for code in (each or "", (each or "").partition("-")[0].strip().lower()):
            if code in offered:
                return code
    return offered[0]


SECONDS = "_seconds"
"""Under this key a draft keeps how long somebody has worked on it."""
PREFIX = "q-"
_LONGEST_WORK = 86_400.0
# No database keeps the first, no HTML page has a use for the others.
_UNSEEN = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\ud800-\udfff]")


def clean(text: str) -> str:
    """A text without characters that cannot be shown or kept; lines end as in Unix."""
    return _UNSEEN.sub("", text.replace("\r\n", "\n").replace("\r", "\n"))


def from_form(rubric: Rubric, form: Mapping[str, str]) -> dict[str, Value]:
    """The answers that a form has to the questions of a rubric."""
    found: dict[str, Value] = {}
    for question in rubric.questions:
        given = form.get(f"{PREFIX}{question.id}", "")
        if given.strip():
            found[question.id] = from_text(question, clean(given))
    return found


def as_draft(rubric: Rubric, answers: Mapping[str, Value], longest: int) -> dict[str, Value]:
    """What is worth keeping of answers that are not finished."""
    found: dict[str, Value] = {}
    for question in rubric.questions:
        value = answers.get(question.id)
        if question.kind is QuestionKind.TEXT and isinstance(value, str):
            found[question.id] = clean(value)[:longest]
        elif question.allows(value):
            found[question.id] = value
    rewrite = answers.get(REWRITE)
    if isinstance(rewrite, str):
        found[REWRITE] = clean(rewrite)[:longest]
    return found


def seconds_from(given: object) -> float | None:
    """A time that somebody may have needed, or None."""
    try:
        seconds = float(given)  # type: ignore[arg-type]
    except (TypeError, ValueError, OverflowError):
        return None
    return round(min(seconds, _LONGEST_WORK), 1) if seconds >= 0 else None


def background_from(
    questions: tuple[BackgroundQuestion, ...],
    form: Mapping[str, str],
    texts: Interface,
    longest: int,
) -> tuple[dict[str, Value], dict[str, str]]:
    """The answers to the background form, and what is wrong with them."""
    found: dict[str, Value] = {}
    wrong: dict[str, str] = {}
    for place, question in enumerate(questions):
        given = clean(form.get(f"b-{place}", "")).strip()[:longest]
        value = _background(question, given)
        found[question.id] = value
        if given and value is None:
            number = question.kind is BackgroundKind.NUMBER
            wrong[question.id] = texts("not-a-number" if number else "not-an-answer")
        elif not given and question.required:
            wrong[question.id] = texts("please-answer")
    return found, wrong


def _background(question: BackgroundQuestion, given: str) -> Value:
    match question.kind:
        case BackgroundKind.YES_NO:
            return {"yes": True, "no": False}.get(given)
        case BackgroundKind.NUMBER:
            return int(given) if re.fullmatch(r"-?[0-9]{1,9}", given) else None
        case BackgroundKind.CHOICE:
            return given if given in question.choices else None
    return given or None


def shown(question: Question, value: Value, texts: Interface) -> str:
    """An answer as people read it."""
    if value is None:
        return texts("not-applicable")
    if isinstance(value, bool):
        return texts("yes" if value else "no")
    if isinstance(value, int):
        label = question.labels.get(value)
        return f"{value} ({in_language(label, texts.language)})" if label else str(value)
    choice = question.choices.get(value)
    return in_language(choice, texts.language) if choice else value
