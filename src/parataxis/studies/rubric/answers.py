"""Answers to a rubric: which questions apply, what is wrong with them, and what follows."""

import re
from collections.abc import Mapping

from parataxis.studies.records import Answers, Value
from parataxis.studies.rubric.model import NUMBERS, Kind, Question, Rubric
from parataxis.studies.texts import in_language

__all__ = ["applicable", "complete", "from_text", "outcomes", "problems"]

_NUMBER = re.compile(r"-?[0-9]{1,6}(\.0+)?")  # spreadsheets write 5 as 5.0
_MESSAGES = {
    "missing": {
        "en": "Please answer this question.",
        "es": "Responda a esta pregunta, por favor.",
    },
    "wrong": {
        "en": "This is not one of the possible answers.",
        "es": "Esta no es una de las respuestas posibles.",
    },
    "text": {"en": "Please write something here.", "es": "Escriba algo aquí, por favor."},
    "unknown": {
        "en": "There is no such question.",
        "es": "No existe esta pregunta.",
    },
}


def from_text(question: Question, text: str) -> Value:
    """An answer as forms and tables write it. What cannot be understood stays a text, which
    :func:`problems` then refuses.

    >>> from_text(Question(id="sense", kind=Kind.SLIDER, text="Clear?"), "5")
    5
    """
    given = text.strip()
    if not given:
        return None
    if question.kind is Kind.YES_NO:
        return {"yes": True, "no": False}.get(given.lower(), given)
    if question.kind in NUMBERS and _NUMBER.fullmatch(given):
        return int(float(given))
    return given


def applicable(rubric: Rubric, answers: Answers, *, identical: bool) -> list[Question]:
    """The questions that are asked, given the answers so far. Those whose answers are fixed for a
    rewrite that is equal to its source are not."""
    known = _with_fixed(rubric, answers, identical)
    asked: dict[str, Question] = {}
    for question in rubric.questions:
        if _holds(question.when, known, {*asked, *_fixed(rubric, identical)}):
            asked[question.id] = question
    return [asked[name] for name in asked if name not in _fixed(rubric, identical)]


def problems(
    rubric: Rubric, answers: Answers, *, identical: bool, language: str = "en"
) -> dict[str, str]:
    """What is wrong, by question; nothing is wrong with what :func:`complete` leaves out."""
    found = {}
    for question in applicable(rubric, answers, identical=identical):
        problem = _problem(question, answers.get(question.id))
        if problem:
            found[question.id] = in_language(_MESSAGES[problem], language)
    ids = {question.id for question in rubric.questions}
    for name in answers:
        if name not in ids:
            found[name] = in_language(_MESSAGES["unknown"], language)
    return found


def complete(rubric: Rubric, answers: Answers, *, identical: bool) -> dict[str, Value]:
    """An answer to each question of the rubric, in its order: what was answered, what is fixed,
    and None where a question was not asked or not answered."""
    asked = {question.id for question in applicable(rubric, answers, identical=identical)}
    fixed = _fixed(rubric, identical)
    found: dict[str, Value] = {}
    for question in rubric.questions:
        value = answers.get(question.id) if question.id in asked else fixed.get(question.id)
        empty = isinstance(value, str) and not value.strip()
        found[question.id] = None if empty else value
    return found


def outcomes(
    rubric: Rubric, answers: Answers, *, identical: bool
) -> dict[str, bool | float | None]:
    """What follows from the answers; None where it cannot be said, since a question that it
    depends on has no answer."""
    known = complete(rubric, answers, identical=identical)
    found: dict[str, bool | float | None] = {}
    for name, outcome in rubric.outcomes.items():
        needed = [known[part] for part in (*outcome.all, *outcome.mean)]
        if any(value is None for value in needed):
            found[name] = None
        elif outcome.all:
            found[name] = _holds(outcome.all, known, set(known))
        else:
            numbers = [_number(rubric.question(part), known[part]) for part in outcome.mean]
            found[name] = sum(numbers) / len(numbers)
    return found


def _fixed(rubric: Rubric, identical: bool) -> Mapping[str, Value]:
    return rubric.identical if identical else {}


def _with_fixed(rubric: Rubric, answers: Answers, identical: bool) -> dict[str, Value]:
    return {**answers, **_fixed(rubric, identical)}


def _holds(
    wanted: Mapping[str, tuple[bool | int | str, ...]], answers: Answers, known: set[str]
) -> bool:
    """Whether each of these questions was asked and has one of these answers."""
    return all(
        name in known and any(_same(answers.get(name), value) for value in values)
        for name, values in wanted.items()
    )


def _same(one: Value, other: Value) -> bool:
    """Equality in which 1 is not yes."""
    return one == other and isinstance(one, bool) == isinstance(other, bool)


def _problem(question: Question, value: Value) -> str | None:
    if value is None or (isinstance(value, str) and not value.strip()):
        if not question.required:
            return None
        return "text" if question.kind is Kind.TEXT else "missing"
    return None if question.allows(value) else "wrong"


def _number(question: Question, value: Value) -> float:
    if question.kind in NUMBERS and isinstance(value, int):
        return float(value)
    return float(_same(value, question.best))
