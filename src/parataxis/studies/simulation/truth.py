"""What a perfect rater would answer about a rewrite: by the checks, and else by a chance that is
the same for everybody. It is made to try studies out, and says nothing about real rewrites."""

import random
from collections.abc import Sequence

from parataxis.checks import Checker
from parataxis.rewrite.record import Kind as Fault
from parataxis.studies.records import Value
from parataxis.studies.rubric.answers import applicable
from parataxis.studies.rubric.model import NUMBERS, Kind, Question, Rubric

__all__ = ["Truth"]

_FAULTS = {
    "misses": {Fault.LOST},
    "adds": {Fault.NEW},
    "wrong-split": {Fault.RELATION, Fault.FRAGMENT},
    "split-further": set[Fault](),
    "grammatical": {Fault.NO_VERB, Fault.FRAGMENT},
    "grammaticality": {Fault.NO_VERB, Fault.FRAGMENT},
    "fluency": {Fault.NO_VERB, Fault.FRAGMENT, Fault.REPEATED},
}
"""Which findings speak against a rewrite in which question of the shipped rubrics; in any other
question all do."""
_UNSPLIT = {"split-further", "simplicity", "simplification"}
"""The questions in which a rewrite that is its source is not good."""
_SLIP, _LONG = 0.01, 12


class Truth:
    """The right answers to a rubric, rewrite by rewrite."""

    def __init__(self, rubric: Rubric, seed: int, checker: Checker | None = None) -> None:
        self._rubric = rubric
        self._seed = seed
        self._checker = checker or Checker()
        self._faults: dict[tuple[str, tuple[str, ...]], set[Fault]] = {}

    def __call__(self, source: str, simple: Sequence[str], *, identical: bool) -> dict[str, Value]:
        """The answers to all questions that are asked."""
        answers: dict[str, Value] = {}
        for question in self._rubric.questions:
            if question in applicable(self._rubric, answers, identical=identical):
                answers[question.id] = self._answer(question, source, tuple(simple))
        return answers

    def _answer(self, question: Question, source: str, simple: tuple[str, ...]) -> Value:
        chance = random.Random(f"{self._seed}:{question.id}:{source}:{simple}")
        if question.kind is Kind.TEXT:
            return source if question.required else None
        is_good = chance.random() >= _SLIP and not self._speaks_against(question, source, simple)
        if is_good and question.best is not None:
            return question.best
        return worse(question, chance)

    def _speaks_against(self, question: Question, source: str, simple: tuple[str, ...]) -> bool:
        key = (source, simple)
        if key not in self._faults:
            self._faults[key] = {one.kind for one in self._checker(source, simple)}
        is_unsplit = len(simple) == 1 and len(source.split()) > _LONG
        if question.id in _UNSPLIT and is_unsplit:
            return True
        return bool(self._faults[key] & _FAULTS.get(question.id, set(Fault)))


def worse(question: Question, chance: random.Random) -> Value:
    """An answer that does not speak for the rewrite; near the best one, where it is a number."""
    if question.kind is Kind.YES_NO:
        return (not question.best) if isinstance(question.best, bool) else chance.random() < 0.5
    if question.kind is Kind.CHOICE:
        return chance.choice([key for key in question.choices if key != question.best])
    if question.kind in NUMBERS:
        others = [number for number in question.numbers if number != question.best]
        near = question.best if isinstance(question.best, int) else others[-1]
        others.sort(key=lambda number: abs(number - near))
        return chance.choice(others[:2])
    return None
