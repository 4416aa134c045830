"""Invented people: with how much care they look, how they lean, and what they get up to."""

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from parataxis.studies.items import Expected
from parataxis.studies.records import Answers, Value
from parataxis.studies.rubric.answers import applicable
from parataxis.studies.rubric.model import NUMBERS, Question, Rubric
from parataxis.studies.simulation.truth import worse
from parataxis.studies.writing import effort

__all__ = ["Habits", "cast_raters", "cast_writers", "rate", "seconds_for", "write"]

_SIMPLE = 9
"""A sentence of fewer words is left whole."""


@dataclass(frozen=True)
class Habits:
    """How somebody works."""

    care: float = 0.95
    """How often they see what is there, in each question."""
    bias: int = 0
    """What they add to numbers when they are not sure."""
    pace: float = 60.0
    """Seconds for a task."""
    leaves_after: int | None = None
    """Takes one more task after so many, and is never seen again."""
    undoes_at: int | None = None
    """Takes back this submission, and looks again."""
    cheats: bool = False
    """Is careful as long as the qualification lasts, and then answers anything."""


def cast_raters(number: int, chance: random.Random) -> list[Habits]:
    """So many raters. Of five or more one cheats, one leaves and one thinks again."""
    found = [
        Habits(
            care=chance.uniform(0.92, 0.99),
            bias=chance.choice([-1, 0, 0, 1]),
            pace=chance.uniform(30, 90),
        )
        for _ in range(number)
    ]
    if number >= 5:
        found[-1] = Habits(care=0.3, pace=6, cheats=True)
        found[-2] = Habits(care=0.9, leaves_after=2)
        found[-3] = Habits(care=0.97, undoes_at=3)
    return found


def cast_writers(number: int, chance: random.Random) -> list[Habits]:
    """So many writers; of four or more one is careless."""
    found = [
        Habits(care=chance.uniform(0.9, 1), pace=chance.uniform(90, 200)) for _ in range(number)
    ]
    if number >= 4:
        found[-1] = Habits(care=0.4, pace=40)
    return found


def rate(
    rubric: Rubric,
    truth: Answers,
    habits: Habits,
    chance: random.Random,
    *,
    identical: bool,
    expected: Expected | None = None,
) -> dict[str, Value]:
    """What somebody with these habits answers, where these answers are right."""
    right = {**truth, **{name: _first(known) for name, known in (expected or {}).items()}}
    answers: dict[str, Value] = {}
    for question in rubric.questions:
        if question not in applicable(rubric, answers, identical=identical):
            continue
        seen = right.get(question.id)
        if chance.random() >= habits.care:
            seen = _mistaken(question, seen, habits.bias, chance)
        answers[question.id] = _some(question, seen, chance)
    return answers


def _first(known: Value | Sequence[Value]) -> Value:
    return known[0] if isinstance(known, list | tuple) else known  # type: ignore[return-value]


def _mistaken(question: Question, seen: Value, bias: int, chance: random.Random) -> Value:
    """Another answer than the one that is right."""
    if isinstance(seen, bool):
        return not seen
    if question.kind in NUMBERS and isinstance(seen, int):
        low, high = question.numbers[0], question.numbers[-1]
        return min(high, max(low, seen + bias + chance.choice([-2, -1, 1, 2])))
    others = [key for key in question.choices if key != seen]
    return chance.choice(others) if others else seen


def _some(question: Question, seen: Value, chance: random.Random) -> Value:
    """An answer where one is needed: a question may be asked because of a mistake before."""
    if seen is not None or not question.required:
        return seen
    if question.kind in NUMBERS:
        return chance.choice(question.numbers)
    found = worse(question, chance)
    return "It should have been said in another way." if found is None else found


def write(
    source: str,
    pool: Mapping[str, Sequence[Sequence[str]]],
    habits: Habits,
    chance: random.Random,
    sentences: int,
) -> dict[str, Value]:
    """What somebody writes: one of the rewrites in the pool, or the source cut in two; without
    care something is lost."""
    known = pool.get(source)
    simple = list(chance.choice(known)) if known else _cut(source)
    if chance.random() >= habits.care:
        simple = _damaged(simple, chance)
    text = " ".join(simple)
    if effort(source, text, sentences) is None:
        return {"rewrite": text}
    return {"flag": "simple" if len(source.split()) < _SIMPLE else "too-hard"}


def _cut(source: str) -> list[str]:
    words = source.split()
    ends = [place for place, word in enumerate(words[:-1], start=1) if word.endswith(",")]
    if not ends:
        return [source]
    place = min(ends, key=lambda end: abs(end - len(words) / 2))
    rest = " ".join(words[place:])
    return [f"{' '.join(words[:place]).rstrip(',')}.", rest[:1].upper() + rest[1:]]


def _damaged(simple: list[str], chance: random.Random) -> list[str]:
    if len(simple) > 2:
        return simple[:-1]
    words = simple[-1].split()
    gone = chance.randrange(1, max(2, len(words) - 1))
    return [*simple[:-1], " ".join(words[:gone] + words[gone + 1 :])]


def seconds_for(habits: Habits, chance: random.Random) -> float:
    """How long a task takes."""
    return round(habits.pace * chance.lognormvariate(0, 0.4), 1)
