"""Rubrics as data: what raters are asked, and what follows from their answers."""

import re
from collections.abc import Iterable, Mapping
from enum import StrEnum
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Annotated, Self

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    StrictBool,
    StrictInt,
    StrictStr,
    StringConstraints,
    model_validator,
)

from parataxis.errors import InputError
from parataxis.plugins import Installed, Registry
from parataxis.studies.records import Answers, Text, Value, in_language
from parataxis.studies.study import FaultError, read_yaml

# A rubric: questions, when each is asked, what speaks for a rewrite, and what is derived.

Id = Annotated[str, StringConstraints(pattern=r"^[a-z][a-z0-9_-]*$", max_length=40)]
Key = Annotated[str, StringConstraints(pattern=r"^[a-z]$")]
Given = StrictBool | StrictInt | StrictStr
"""A value that a question can have for an answer."""


class QuestionKind(StrEnum):
    """How a question is answered."""

    SLIDER = "slider"
    """A number on a line between two ends, 0 to 5 unless the rubric says otherwise."""
    SCALE = "scale"
    """One of a few numbers, each of which may have a label: 1 to 5, 1 to 3."""
    YES_NO = "yes-no"
    CHOICE = "choice"
    """One of several named answers."""
    TEXT = "text"


NUMBERS = (QuestionKind.SLIDER, QuestionKind.SCALE)
_RANGE = {QuestionKind.SLIDER: (0, 5), QuestionKind.SCALE: (1, 5)}


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Case(_Part):
    """An example that a rater can look at: a rewrite that is good or bad in this respect."""

    source: str
    simple: tuple[str, ...] = Field(min_length=1)
    good: bool
    why: Text | None = None


class Question(_Part):
    """One question about a rewrite."""

    id: Id
    kind: QuestionKind
    text: Text
    title: Text | None = None
    """A short name for tables; the id where there is none."""
    help: Text | None = None
    low: int | None = None
    high: int | None = None
    labels: dict[int, Text] = Field(default_factory=dict)
    """What the numbers mean; of a slider only the ends are shown."""
    choices: dict[Id, Text] = Field(default_factory=dict)
    when: dict[Id, tuple[Given, ...]] = Field(default_factory=dict)
    """Asked only if each of these questions has one of these answers."""
    required: bool = True
    best: Given | None = None
    """The answer that speaks for the rewrite."""
    key: Key | None = None
    """The key that leads to the question."""
    examples: tuple[Case, ...] = ()

    @property
    def numbers(self) -> range:
        """The numbers that can be chosen; none of a question of another kind."""
        if self.kind not in NUMBERS:
            return range(0)
        low, high = _RANGE[self.kind]
        first = low if self.low is None else self.low
        return range(first, (high if self.high is None else self.high) + 1)

    def allows(self, value: object) -> bool:
        """Whether a value is an answer to the question.

        >>> Question(id="sense", kind=QuestionKind.SLIDER, text="Clear?").allows(5)
        True
        """
        match self.kind:
            case QuestionKind.YES_NO:
                return isinstance(value, bool)
            case QuestionKind.CHOICE:
                return isinstance(value, str) and value in self.choices
            case QuestionKind.TEXT:
                return isinstance(value, str) and bool(value.strip())
        return isinstance(value, int) and not isinstance(value, bool) and value in self.numbers

    @model_validator(mode="after")
    def _check(self) -> Self:
        if (self.kind is QuestionKind.CHOICE) != (len(self.choices) > 1):
            raise ValueError("a question has two choices or more if, and only if, it is a choice")
        if self.kind not in NUMBERS and (self.labels or self.low is not None or self.high):
            raise ValueError("only a slider or a scale has numbers and labels")
        if self.kind in NUMBERS and len(self.numbers) < 2:
            raise ValueError("the highest number must be above the lowest")
        if strange := [str(number) for number in self.labels if number not in self.numbers]:
            raise ValueError(f"there is a label for {strange[0]}, which cannot be chosen")
        if self.best is not None and not self.allows(self.best):
            raise ValueError(f"{_shown(self.best)} is no answer to it, so it cannot be the best")
        return self


class Outcome(_Part):
    """What follows from the answers: whether all of some hold, or the mean of some."""

    title: Text | None = None
    all: dict[Id, tuple[Given, ...]] = Field(default_factory=dict)
    """True if each of these questions has one of these answers."""
    mean: tuple[Id, ...] = ()
    """The mean of these questions: a number as it is, yes or no as 1 if it is the best answer
    and else 0."""

    @model_validator(mode="after")
    def _check(self) -> Self:
        if bool(self.all) == bool(self.mean):
            raise ValueError('an outcome has either "all" or "mean"')
        return self


class Rubric(_Part):
    """What raters are asked about each rewrite; read by :func:`load_rubric`."""

    name: Id
    title: Text
    summary: Text = ""
    instructions: Text = ""
    questions: tuple[Question, ...] = Field(min_length=1)
    identical: dict[Id, Given | None] = Field(default_factory=dict)
    """The answers that are fixed where the rewrite is equal to its source; null is "does not
    apply". Questions that are not named here are asked as always."""
    outcomes: dict[Id, Outcome] = Field(default_factory=dict)

    def question(self, name: str) -> Question:
        """The question of that id."""
        return next(question for question in self.questions if question.id == name)

    @property
    def verdicts(self) -> tuple[str, ...]:
        """The outcomes that are yes or no, such as *correct*."""
        return tuple(name for name, outcome in self.outcomes.items() if outcome.all)

    @property
    def languages(self) -> tuple[str, ...]:
        """The languages that all texts of the rubric are there in; none where a text has only
        one, which is then shown to everybody."""
        common: set[str] | None = None
        for text in _texts(self):
            if isinstance(text, dict):
                common = set(text) if common is None else common & set(text)
        return tuple(sorted(common or ()))

    @model_validator(mode="after")
    def _check(self) -> Self:
        seen: dict[str, Question] = {}
        keys: set[str] = set()
        for place, question in enumerate(self.questions):
            where = ("questions", place)
            if question.id in seen:
                raise FaultError(f'another question has the id "{question.id}"', *where, "id")
            if question.key in keys:
                raise FaultError(f'another question has the key "{question.key}"', *where, "key")
            _check_answers(question.when, seen, *where, "when")
            seen[question.id] = question
            keys |= {question.key} if question.key else set()
        for name, outcome in self.outcomes.items():
            _check_answers(outcome.all, seen, "outcomes", name, "all")
            for part in outcome.mean:
                _check_mean(part, seen, "outcomes", name, "mean")
        fixed = {name: () if value is None else (value,) for name, value in self.identical.items()}
        _check_answers(fixed, seen, "identical")
        return self


def _check_answers(
    wanted: Mapping[str, tuple[bool | int | str, ...]],
    known: Mapping[str, Question],
    *where: int | str,
) -> None:
    for name, values in wanted.items():
        if name not in known:
            raise FaultError(f'there is no question "{name}" before it', *where, name)
        for value in values:
            if not known[name].allows(value):
                message = f'{_shown(value)} is no answer to the question "{name}"'
                raise FaultError(message, *where, name)


def _check_mean(name: str, known: Mapping[str, Question], *where: int | str) -> None:
    if name not in known:
        raise FaultError(f'there is no question "{name}"', *where)
    question = known[name]
    if question.kind not in NUMBERS and (
        question.kind is not QuestionKind.YES_NO or question.best is None
    ):
        raise FaultError(
            f'a mean needs numbers, or yes and no with a best answer, and "{name}" is neither',
            *where,
        )


def _shown(value: Value) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return f'"{value}"'


def _texts(part: object) -> Iterable[object]:
    """All texts of a rubric that people read."""
    if isinstance(part, Rubric):
        yield from (part.title, part.summary, part.instructions)
        for question in part.questions:
            yield from _texts(question)
        yield from (outcome.title for outcome in part.outcomes.values())
    elif isinstance(part, Question):
        yield from (part.text, part.title, part.help, *part.labels.values())
        yield from (*part.choices.values(), *(case.why for case in part.examples))


# Answers to a rubric: which questions apply, what is wrong with them, and what follows.

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

    >>> from_text(Question(id="sense", kind=QuestionKind.SLIDER, text="Clear?"), "5")
    5
    """
    given = text.strip()
    if not given:
        return None
    if question.kind is QuestionKind.YES_NO:
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
        return "text" if question.kind is QuestionKind.TEXT else "missing"
    return None if question.allows(value) else "wrong"


def _number(question: Question, value: Value) -> float:
    if question.kind in NUMBERS and isinstance(value, int):
        return float(value)
    return float(_same(value, question.best))


# Rubrics by name or by file. The shipped ones are registered like those of third parties.

_REGISTRY = Registry("parataxis.rubrics", "rubric", Path, "the path of its file", InputError)
"""An entry point names a function that gives the path of a YAML file."""


def load_rubric(name: str | Path) -> Rubric:
    """An installed rubric by its name, or the rubric of a YAML file.

    A rubric with an error is refused with the line and the reason.
    """
    path = Path(name)
    if path.suffix.lower() in (".yaml", ".yml"):
        return read_yaml(path, Rubric)
    return read_yaml(_REGISTRY.load(str(name)), Rubric)


def available_rubrics() -> list[Installed]:
    """Every installed rubric with its summary."""
    return _REGISTRY.available(lambda path: in_language(read_yaml(path, Rubric).summary, "en"))


@cache
def writing() -> Rubric:
    """What writers are told and asked, as a rubric. It rates nothing, so it is not installed."""
    return read_yaml(_shipped("write"), Rubric)


def _shipped(name: str) -> Path:
    return Path(str(files("parataxis.studies"))) / "rubrics" / f"{name}.yaml"


def six_criteria() -> Path:
    """The six criteria of Zhang et al. (2020)."""
    return _shipped("six-criteria")


def gms() -> Path:
    """Grammaticality, meaning, simplicity and structural simplicity: the 2019 report."""
    return _shipped("gms")


def concise() -> Path:
    """The conciseness rubric of BrevE/CLaro."""
    return _shipped("concise")


def plain_language() -> Path:
    """The plain-language rubric of BrevE/CLaro."""
    return _shipped("plain-language")
