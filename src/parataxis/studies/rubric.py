"""Rubrics as data: what raters are asked, and what is derived from their answers."""

import re
from collections.abc import Mapping
from enum import StrEnum
from functools import cache, partial
from importlib.resources import files
from pathlib import Path
from statistics import fmean
from typing import Annotated, Self

from pydantic import Field, StrictBool, StrictInt, StrictStr, StringConstraints, model_validator

from parataxis.errors import InputError
from parataxis.plugins import Installed, Registry
from parataxis.studies.records import Answers, Text, Value, in_language
from parataxis.studies.yaml_files import FaultError, YamlPart, read_yaml, texts_of

Id = Annotated[str, StringConstraints(pattern=r"^[a-z][a-z0-9_-]*$", max_length=40)]
Key = Annotated[str, StringConstraints(pattern=r"^[a-z]$")]
Given = StrictBool | StrictInt | StrictStr
"""A possible answer to a question."""
Wanted = Mapping[str, tuple[bool | int | str, ...]]
"""The accepted answers by question id."""


class QuestionKind(StrEnum):
    """How a question is answered."""

    SLIDER = "slider"
    """A number between two ends, by default 0 to 5."""
    SCALE = "scale"
    """One of a few numbers, by default 1 to 5, with optional labels."""
    YES_NO = "yes-no"
    CHOICE = "choice"
    """One of several named answers."""
    TEXT = "text"


NUMBERS = (QuestionKind.SLIDER, QuestionKind.SCALE)
_MOST_NUMBERS = 101
_RANGE = {QuestionKind.SLIDER: (0, 5), QuestionKind.SCALE: (1, 5)}


class Case(YamlPart):
    """An example for raters: a rewrite that is good or bad with respect to a question."""

    source: str
    simple: tuple[str, ...] = Field(min_length=1)
    good: bool
    why: Text | None = None


class Question(YamlPart):
    """One question about a rewrite."""

    id: Id
    kind: QuestionKind
    text: Text
    title: Text | None = None
    """A short name for tables; the default is the id."""
    help: Text | None = None
    low: int | None = None
    high: int | None = None
    labels: dict[int, Text] = Field(default_factory=dict)
    """What the numbers mean; a slider shows only the ends."""
    choices: dict[Id, Text] = Field(default_factory=dict)
    when: dict[Id, tuple[Given, ...]] = Field(default_factory=dict)
    """Asked only if each of these questions has one of these answers."""
    required: bool = True
    best: Given | None = None
    """The answer in favour of the rewrite."""
    key: Key | None = None
    """The keyboard shortcut of the question."""
    examples: tuple[Case, ...] = ()

    @property
    def numbers(self) -> range:
        """The numbers that can be chosen; empty for other kinds of questions."""
        if self.kind not in NUMBERS:
            return range(0)
        low, high = _RANGE[self.kind]
        first = low if self.low is None else self.low
        return range(first, (high if self.high is None else self.high) + 1)

    def allows(self, value: object) -> bool:
        """Whether a value is a possible answer to the question.

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
        if len(self.numbers) > _MOST_NUMBERS:
            raise ValueError(f"at most {_MOST_NUMBERS} numbers can be chosen from")
        if strange := [str(number) for number in self.labels if number not in self.numbers]:
            raise ValueError(f"there is a label for {strange[0]}, which cannot be chosen")
        if self.best is not None and not self.allows(self.best):
            raise ValueError(f"{_shown(self.best)} is no answer to it, so it cannot be the best")
        return self


class Outcome(YamlPart):
    """Derived from the answers: whether all of several conditions hold, or a mean."""

    title: Text | None = None
    all: dict[Id, tuple[Given, ...]] = Field(default_factory=dict)
    """True if each of these questions has one of these answers."""
    mean: tuple[Id, ...] = ()
    """The mean over these questions: a number as it is, yes or no as 1 for the best answer and
    otherwise 0."""

    @model_validator(mode="after")
    def _check(self) -> Self:
        if bool(self.all) == bool(self.mean):
            raise ValueError('an outcome has either "all" or "mean"')
        return self


class Rubric(YamlPart):
    """What raters are asked about each rewrite; read by :func:`load_rubric`."""

    name: Id
    title: Text
    summary: Text = ""
    instructions: Text = ""
    questions: tuple[Question, ...] = Field(min_length=1)
    identical: dict[Id, Given | None] = Field(default_factory=dict)
    """The fixed answers for a rewrite that is equal to its source; null is "does not apply".
    Questions that are not named here are asked as usual."""
    outcomes: dict[Id, Outcome] = Field(default_factory=dict)

    def question(self, name: str) -> Question:
        return next(question for question in self.questions if question.id == name)

    def expected_question(self, item: str, name: str) -> Question:
        for question in self.questions:
            if question.id == name:
                return question
        raise InputError(
            f'The item "{item}" expects an answer to "{name}", which the rubric {self.name} does '
            "not ask."
        )

    def asked(self) -> str:
        """What decides the answers and the outcomes, as JSON: not the help, examples and titles."""
        left_out = {"title", "help", "examples", "key"}
        return self.model_dump_json(
            include={"questions", "identical", "outcomes"},
            exclude={"questions": {"__all__": left_out}, "outcomes": {"__all__": {"title"}}},
        )

    @property
    def verdicts(self) -> tuple[str, ...]:
        """The outcomes that are yes or no, such as *correct*."""
        return tuple(name for name, outcome in self.outcomes.items() if outcome.all)

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


def _check_answers(wanted: Wanted, known: Mapping[str, Question], *where: int | str) -> None:
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


# --- Answers

_NUMBER = re.compile(r"-?[0-9]{1,6}(\.0+)?")  # spreadsheets write 5 as 5.0


def from_text(question: Question, text: str) -> Value:
    """The answer that a form or a table holds as text. Text that cannot be parsed is returned as
    it is, and :func:`problems` then reports it.

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
    """The questions that are asked, given the answers so far. Questions with fixed answers are
    not asked if the rewrite is equal to its source."""
    fixed = rubric.identical if identical else {}
    known = {**answers, **fixed}
    asked: dict[str, Question] = {}
    for question in rubric.questions:
        if _holds(question.when, known, {*asked, *fixed}):
            asked[question.id] = question
    return [asked[name] for name in asked if name not in fixed]


def problems(
    rubric: Rubric, answers: Answers, *, identical: bool, language: str = "en"
) -> dict[str, str]:
    """Error messages by question. Answers that :func:`complete` drops are not errors."""
    messages = texts_of("parataxis.studies", "rubrics/messages.yaml")
    ids = {question.id for question in rubric.questions}
    wrong: dict[str, str] = {}
    for question in applicable(rubric, answers, identical=identical):
        value = answers.get(question.id)
        if value is not None and str(value).strip():
            if not question.allows(value):
                wrong[question.id] = "wrong"
        elif question.required:
            wrong[question.id] = "text" if question.kind is QuestionKind.TEXT else "missing"
    wrong |= {name: "unknown" for name in answers if name not in ids}
    return {name: in_language(messages[key], language) for name, key in wrong.items()}


def complete(rubric: Rubric, answers: Answers, *, identical: bool) -> dict[str, Value]:
    """An answer to each question of the rubric, in order: given or fixed, and None if a question
    was not asked or not answered."""
    asked = {question.id for question in applicable(rubric, answers, identical=identical)}
    fixed = rubric.identical if identical else {}
    found: dict[str, Value] = {}
    for question in rubric.questions:
        value = answers.get(question.id) if question.id in asked else fixed.get(question.id)
        empty = isinstance(value, str) and not value.strip()
        found[question.id] = None if empty else value
    return found


def outcomes(
    rubric: Rubric, answers: Answers, *, identical: bool
) -> dict[str, bool | float | None]:
    """The outcomes derived from the answers; None if a question that one depends on has no
    answer."""
    known = complete(rubric, answers, identical=identical)
    found: dict[str, bool | float | None] = {}
    for name, outcome in rubric.outcomes.items():
        needed = [known[part] for part in (*outcome.all, *outcome.mean)]
        if any(value is None for value in needed):
            found[name] = None
        elif outcome.all:
            found[name] = _holds(outcome.all, known, set(known))
        else:
            parts = (as_number(rubric.question(part), known[part]) for part in outcome.mean)
            found[name] = fmean(number for number in parts if number is not None)
    return found


def _holds(wanted: Wanted, answers: Answers, known: set[str]) -> bool:
    """Whether each of these questions was asked and has one of these answers."""
    return all(
        name in known and any(_same(answers.get(name), value) for value in values)
        for name, values in wanted.items()
    )


def _same(one: Value, other: Value) -> bool:
    """Equality that distinguishes 1 from yes."""
    return one == other and isinstance(one, bool) == isinstance(other, bool)


def as_number(question: Question, value: Value) -> float | None:
    """A number as it is; otherwise 1 for the best answer and 0 for others. None without an answer
    or a best answer."""
    if value is not None and question.kind in NUMBERS and not isinstance(value, str):
        return float(value)
    is_known = value is not None and question.best is not None
    return float(_same(value, question.best)) if is_known else None


# --- Rubrics by name or by file

_REGISTRY = Registry("parataxis.rubrics", "rubric", Path, "the path of its file", InputError)
"""An entry point names a function that returns the path of a YAML file."""


def load_rubric(name: str | Path) -> Rubric:
    """Load an installed rubric by name, or the rubric in a YAML file. An error in a rubric is
    reported with its line."""
    path = Path(name)
    if path.suffix.lower() in (".yaml", ".yml"):
        return read_yaml(path, Rubric)
    return read_yaml(_REGISTRY.load(str(name)), Rubric)


def available_rubrics() -> list[Installed]:
    """Every installed rubric with its summary."""
    return _REGISTRY.available(lambda path: in_language(read_yaml(path, Rubric).summary, "en"))


@cache
def writing() -> Rubric:
    """The instructions and questions for writers. It rates nothing, so it is not installed."""
    return read_yaml(_shipped("write"), Rubric)


def _shipped(name: str) -> Path:
    return Path(str(files("parataxis.studies"))) / "rubrics" / f"{name}.yaml"


# The entry points of the shipped rubrics.
six_criteria = partial(_shipped, "six-criteria")
gms = partial(_shipped, "gms")
concise = partial(_shipped, "concise")
plain_language = partial(_shipped, "plain-language")
