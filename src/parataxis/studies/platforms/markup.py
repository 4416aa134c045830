"""The parts of a page that are the same on every platform."""

from collections.abc import Iterator
from functools import cache
from html import escape
from importlib.resources import files

from pydantic import RootModel

from parataxis.studies.platforms.files import Design
from parataxis.studies.records import Text, in_language
from parataxis.studies.rubric import Question, QuestionKind
from parataxis.studies.study import parse_yaml

_PLACEHOLDERS = str.maketrans({"$": "&#36;", "{": "&#123;", "}": "&#125;"})
"""Characters that a platform might take for the beginning of a placeholder."""


class _Texts(RootModel[dict[str, dict[str, str]]]):
    """Texts by key and language."""


def asset(name: str) -> str:
    """A file that belongs to the pages."""
    return (files("parataxis.studies.platforms") / "assets" / name).read_text(encoding="utf-8")


@cache
def _texts() -> dict[str, dict[str, str]]:
    return parse_yaml(asset("texts.yaml"), "texts.yaml", _Texts).root


def text_of(key: str, language: str) -> str:
    """What the pages call something."""
    return in_language(_texts()[key], language)


def shown(text: Text | None, language: str) -> str:
    """A text as HTML, in which no platform finds a placeholder.

    >>> shown("a < b, ${c}", "en")
    'a &lt; b, &#36;&#123;c&#125;'
    """
    return escape(in_language(text or "", language)).translate(_PLACEHOLDERS)


def written(value: object) -> str:
    """An answer as a form has it."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    return str(value)


def options(question: Question, language: str) -> list[tuple[str, str]]:
    """The values that can be chosen, each with its label as plain text."""
    if question.kind is QuestionKind.YES_NO:
        return [("yes", text_of("yes", language)), ("no", text_of("no", language))]
    if question.kind is QuestionKind.CHOICE:
        return [(key, in_language(text, language)) for key, text in question.choices.items()]
    return [(str(number), _number(question, number, language)) for number in question.numbers]


def _number(question: Question, number: int, language: str) -> str:
    label = question.labels.get(number)
    return f"{number}: {in_language(label, language)}" if label else str(number)


def instructions(design: Design) -> Iterator[str]:
    """What a person reads first."""
    language = design.language
    yield f"<h1>{shown(design.rubric.title, language)}</h1>"
    for text in (design.instructions, design.rubric.instructions):
        for paragraph in in_language(text or "", language).split("\n\n"):
            if paragraph.strip():
                yield f"<p>{shown(paragraph.strip(), language)}</p>"


def examples(question: Question, language: str) -> Iterator[str]:
    """Examples, good and bad, which are shown on demand."""
    if not question.examples:
        return
    yield f"<details><summary>{text_of('examples', language)}</summary><ul>"
    for case in question.examples:
        kind = text_of("good" if case.good else "bad", language)
        why = f" <em>{shown(case.why, language)}</em>" if case.why else ""
        simple = shown(" ".join(case.simple), language)
        yield f"<li><b>{kind}:</b> {shown(case.source, language)} → {simple}{why}</li>"
    yield "</ul></details>"
