"""The parts of a task's page that all platforms share."""

from collections.abc import Iterator
from html import escape
from importlib.resources import files

from parataxis.studies.platforms.files import Design
from parataxis.studies.records import Text, in_language
from parataxis.studies.rubric import Question, QuestionKind
from parataxis.studies.yaml_files import texts_of

_PLACEHOLDERS = str.maketrans({"$": "&#36;", "{": "&#123;", "}": "&#125;"})
"""Characters with which a placeholder of a platform begins or ends."""


def asset(name: str) -> str:
    """Read one of the files in ``assets``."""
    return (files("parataxis.studies.platforms") / "assets" / name).read_text(encoding="utf-8")


def text_of(key: str, language: str) -> str:
    """The text with that key."""
    texts = texts_of("parataxis.studies.platforms", "assets/texts.yaml")
    return in_language(texts[key], language)


def shown(text: Text | None, language: str) -> str:
    """A text as HTML, with the characters of placeholders escaped.

    >>> shown("a < b, ${c}", "en")
    'a &lt; b, &#36;&#123;c&#125;'
    """
    return escape(in_language(text or "", language)).translate(_PLACEHOLDERS)


def written(value: object) -> str:
    """An answer as the value of a form field."""
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
    """The title and the instructions."""
    language = design.language
    yield f"<h1>{shown(design.rubric.title, language)}</h1>"
    for text in (design.instructions, design.rubric.instructions):
        for paragraph in in_language(text or "", language).split("\n\n"):
            if paragraph.strip():
                yield f"<p>{shown(paragraph.strip(), language)}</p>"


def examples(question: Question, language: str) -> Iterator[str]:
    """Good and bad examples, which unfold."""
    if not question.examples:
        return
    yield f"<details><summary>{text_of('examples', language)}</summary><ul>"
    for case in question.examples:
        kind = text_of("good" if case.good else "bad", language)
        why = f" <em>{shown(case.why, language)}</em>" if case.why else ""
        simple = shown(" ".join(case.simple), language)
        yield f"<li><b>{kind}:</b> {shown(case.source, language)} → {simple}{why}</li>"
    yield "</ul></details>"
