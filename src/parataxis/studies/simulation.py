"""Simulated participants, to try out a study. Needs the extra [study].

The simulated answers say nothing about real rewrites.
"""

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import cache
from typing import Any

from parataxis.checks import Checker
from parataxis.rewrite.record import FindingKind
from parataxis.studies.agreement import buckets
from parataxis.studies.agreement import sample as draw_sample
from parataxis.studies.items import Expected, Item, effort
from parataxis.studies.records import Answers, Purpose, Value
from parataxis.studies.rubric import Question, QuestionKind, Rubric, applicable, complete
from parataxis.studies.store import Store
from parataxis.studies.store.types import Overview, Stage, Task
from parataxis.studies.study import BackgroundKind, BackgroundQuestion, ItemKind, Role

_FAULTS = {
    "misses": {FindingKind.LOST},
    "adds": {FindingKind.NEW},
    "wrong-split": {FindingKind.RELATION, FindingKind.FRAGMENT},
    "split-further": set[FindingKind](),
    "grammatical": {FindingKind.NO_VERB, FindingKind.FRAGMENT},
    "grammaticality": {FindingKind.NO_VERB, FindingKind.FRAGMENT},
    "fluency": {FindingKind.NO_VERB, FindingKind.FRAGMENT, FindingKind.REPEATED},
}
"""The findings against a rewrite, by question of the shipped rubrics; for any other question all
findings count."""
_UNSPLIT = {"split-further", "simplicity", "simplification"}
"""The questions in which an unsplit rewrite is bad."""
_SLIP, _LONG = 0.01, 12


class Truth:
    """The correct answers about a rewrite: derived from the checks, otherwise random but the same
    for everybody."""

    def __init__(self, rubric: Rubric, seed: int, checker: Checker | None = None) -> None:
        self._rubric = rubric
        self._seed = seed
        check = checker or Checker()
        self._faults = cache(lambda source, simple: {one.kind for one in check(source, simple)})

    def __call__(self, source: str, simple: Sequence[str], *, identical: bool) -> dict[str, Value]:
        answers: dict[str, Value] = {}
        for question in self._rubric.questions:
            if question in applicable(self._rubric, answers, identical=identical):
                answers[question.id] = self._answer(question, source, tuple(simple))
        return answers

    def _answer(self, question: Question, source: str, simple: tuple[str, ...]) -> Value:
        chance = random.Random(f"{self._seed}:{question.id}:{source}:{simple}")
        if question.kind is QuestionKind.TEXT:
            return source if question.required else None
        is_slip = chance.random() < _SLIP
        is_unsplit = len(simple) == 1 and len(source.split()) > _LONG
        is_bad = (question.id in _UNSPLIT and is_unsplit) or bool(
            self._faults(source, simple) & _FAULTS.get(question.id, set(FindingKind))
        )
        if not (is_slip or is_bad) and question.best is not None:
            return question.best
        return another(question, question.best, chance)


def another(question: Question, value: Value, chance: random.Random, bias: int = 0) -> Value:
    """A random answer other than this one; a number close to it, or to it and the bias."""
    if question.kind is QuestionKind.YES_NO:
        return not value if isinstance(value, bool) else chance.random() < 0.5
    if question.kind is QuestionKind.CHOICE:
        return chance.choice([key for key in question.choices if key != value])
    if question.kind is QuestionKind.TEXT:
        return value or "It should have been said in another way."
    others = [number for number in question.numbers if number != value]
    if isinstance(value, int):
        others = sorted(others, key=lambda number: abs(number - value - bias))[:2]
    return chance.choice(others)


# --- Simulated people

_SIMPLE = 9
"""Writers flag a sentence with fewer words as simple."""


@dataclass(frozen=True)
class Habits:
    """How a simulated person works."""

    care: float = 0.95
    """How often they answer a question correctly."""
    bias: int = 0
    """What they add to a number when they are wrong."""
    pace: float = 60.0
    leaves_after: int | None = None
    """Takes one more task after so many, and abandons it."""
    undoes_at: int | None = None
    """Undoes the submission with this number, and answers again."""
    cheats: bool = False
    """Is careful during the qualification only."""


def cast_raters(number: int, chance: random.Random) -> list[Habits]:
    """Make raters. Of five or more, one cheats, one leaves and one undoes a submission."""
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
    """Make writers; of four or more, one is careless."""
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
    """The answers of a rater with these habits, given the correct ones."""
    right: dict[str, Any] = {**truth, **(expected or {})}
    answers: dict[str, Value] = {}
    for question in rubric.questions:
        if question not in applicable(rubric, answers, identical=identical):
            continue
        seen = right.get(question.id)
        seen = seen[0] if isinstance(seen, list | tuple) else seen
        is_mistaken = seen is not None and chance.random() >= habits.care
        # A question may be asked because of an earlier mistake, so that there is no right answer.
        if is_mistaken or (seen is None and question.required):
            seen = another(question, seen, chance, habits.bias)
        answers[question.id] = seen
    return answers


def write(
    source: str,
    pool: Mapping[str, Sequence[Sequence[str]]],
    habits: Habits,
    chance: random.Random,
    sentences: int,
) -> dict[str, Value]:
    """The answer of a writer: a rewrite from the pool, or the source cut in two. A careless writer
    loses words."""
    known = pool.get(source)
    simple = list(chance.choice(known)) if known else _cut(source)
    if chance.random() >= habits.care:
        simple = _damaged(simple, chance)
    text = " ".join(simple)
    if effort(source, text, sentences) is None:
        return {"rewrite": text}
    return {"flag": "simple" if len(source.split()) < _SIMPLE else "too-hard"}


def _as_wanted(source: str, expected: Mapping[str, Any]) -> dict[str, Value]:
    """What a qualification expects of a source: a flag, or all its words in so many lines."""
    if "flag" in expected:
        return {"flag": _first(expected["flag"])}
    words, lines = source.split(), int(_first(expected.get("sentences", 2)))
    step = -(-len(words) // lines)
    return {"rewrite": "\n".join(" ".join(words[n : n + step]) for n in range(0, len(words), step))}


def _first(value: Any) -> Any:
    return value[0] if isinstance(value, list) else value


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


# --- The simulation

Pool = Mapping[str, Sequence[Sequence[str]]]
"""Rewrites for writers to choose from, by source."""

_START = datetime(2026, 1, 5, 9, tzinfo=UTC)
_EACH = 2
"""Rewrites from each bucket that the expert rates (Zhang et al. 2020, §6)."""


class Clock:
    """A clock that is advanced by hand, for :meth:`Store.open`."""

    def __init__(self, start: datetime = _START) -> None:
        self._now = start

    def __call__(self) -> datetime:
        return self._now

    def wait(self, seconds: float) -> None:
        self._now += timedelta(seconds=seconds)


@dataclass(frozen=True)
class Simulated:
    """The result of a simulation."""

    overview: Overview
    people: int
    submissions: int
    abandoned: int
    """Tasks that were taken and never submitted."""
    undone: int
    excluded: int
    failed: int
    expert: int


@dataclass
class _Worker:
    """A simulated person, and what they have done so far."""

    id: str
    habits: Habits
    chance: random.Random
    done: int = 0
    submissions: int = 0
    is_gone: bool = False
    has_undone: bool = False


def simulate(
    store: Store,
    rubric: Rubric,
    items: Sequence[Item],
    clock: Clock,
    *,
    people: int,
    seed: int = 1,
    pool: Pool | None = None,
    truth: Truth | None = None,
) -> Simulated:
    """Let people do a study that has just been created, and an expert rate a sample.

    A third of them are writers, if there is something to write, but no fewer than a source needs;
    the others, at least one, are raters. Their answers depend on the seed only, but the store
    assigns the tasks at random.
    """
    chance = random.Random(seed)
    known = {item.id: item.expected for item in items}
    truth = truth or Truth(rubric, seed)
    run = _Simulation(store, rubric, truth, clock, pool or {}, known, people, chance)
    crew = run.invite()
    run.work(crew)
    drawn, experts = _draw(store, rubric, seed), []
    if drawn:
        store.ask_experts(drawn)
        expert = store.invite(["Expert"], Role.EXPERT)[0].id
        experts.append(_Worker(expert, Habits(care=1, pace=120), random.Random(f"{seed}:expert")))
        run.work(experts)
    stages = [store.progress(one.id).stage for one in crew]
    return Simulated(
        store.overview(),
        people=len(crew),
        submissions=sum(one.submissions for one in [*crew, *experts]),
        abandoned=sum(one.is_gone for one in crew),
        undone=sum(one.has_undone for one in crew),
        excluded=stages.count(Stage.BLOCKED),
        failed=stages.count(Stage.FAILED),
        expert=len(drawn),
    )


@dataclass(frozen=True)
class _Simulation:
    """What all simulated people share, and what they do."""

    store: Store
    rubric: Rubric
    truth: Truth
    clock: Clock
    pool: Pool
    known: Mapping[str, Expected]
    people: int
    chance: random.Random

    def invite(self) -> list[_Worker]:
        """Invite the people; if the study has a panel, one of them comes from it."""
        study, found = self.store.study, []
        writers = max(study.write.writers + 1, self.people // 3) if study.write else 0
        raters = max(1, self.people - writers)
        for role, habits in (
            (Role.WRITER, cast_writers(writers, self.chance)),
            (Role.RATER, cast_raters(raters, self.chance)),
        ):
            names = [f"{role} {number}" for number in range(1, len(habits) + 1)]
            ids = []
            if study.panel is not None and study.panel.role is role and names:
                parameters = study.panel.parameters.items()
                given = {name: f"simulated-{meaning}" for meaning, name in parameters}
                ids.append(self.store.person_by_panel(given).id)
            ids += [person.id for person in self.store.invite(names[len(ids) :], role)]
            found += [
                _Worker(id_, each, random.Random(f"{self.chance.random()}"))
                for id_, each in zip(ids, habits, strict=True)
            ]
        return found

    def work(self, crew: Sequence[_Worker]) -> None:
        """Work until nobody has anything to do, even after all leases have expired."""
        idle: set[str] = set()
        has_waited = False
        while True:
            awake = [one for one in crew if not one.is_gone and one.id not in idle]
            if awake:
                one = self.chance.choice(awake)
                if self._step(one):
                    has_waited = False
                    idle.clear()
                else:
                    idle.add(one.id)
            elif has_waited:
                return
            else:
                self.clock.wait(60 * self.store.study.lease_minutes + 1)
                has_waited = True
                idle.clear()

    def _step(self, one: _Worker) -> bool:
        """One step of one person; False if there is nothing to do for them."""
        store = self.store
        match store.progress(one.id).stage:
            case Stage.CONSENT:
                store.consent(one.id, store.study.languages[0])
            case Stage.BACKGROUND:
                store.save_background(one.id, _background(store.study.background, one.chance))
            case _:
                task = store.next_task(one.id)  # also if they wait: a lease may have expired
                if task is None:
                    return False
                self._do(one, task)
        return True

    def _do(self, one: _Worker, task: Task) -> None:
        habits, store = one.habits, self.store
        if habits.leaves_after is not None and one.done >= habits.leaves_after:
            one.is_gone = True
            return
        seconds = round(habits.pace * one.chance.lognormvariate(0, 0.4), 1)
        self.clock.wait(seconds / self.people)
        store.submit(one.id, task.slot, self._answers(one, task), seconds)
        one.submissions += 1
        one.done += task.stage == "work"
        is_time = habits.undoes_at is not None and one.done >= habits.undoes_at
        if is_time and not one.has_undone and store.progress(one.id).can_undo:
            one.has_undone = True
            again = store.undo(one.id)
            store.submit(one.id, again.slot, self._answers(one, again), seconds)

    def _answers(self, one: _Worker, task: Task) -> dict[str, Value]:
        study = self.store.study
        if task.kind is ItemKind.WRITE:
            wanted = study.write.sentences if study.write else 2
            if task.stage != "work":
                return _as_wanted(task.item.source, self.known.get(task.item.id) or {})
            return write(task.item.source, self.pool, one.habits, one.chance, wanted)
        simple, identical = task.item.simple or (), task.item.identical
        is_easy = task.stage != "work" if one.habits.cheats else task.purpose is Purpose.ATTENTION
        answers = rate(
            self.rubric,
            self.truth(task.item.source, simple, identical=identical),
            Habits(care=1) if is_easy else one.habits,
            one.chance,
            identical=identical,
            expected=self.known.get(task.item.id),
        )
        return complete(self.rubric, answers, identical=identical)


def _background(questions: Sequence[BackgroundQuestion], chance: random.Random) -> dict[str, Value]:
    given: dict[str, Value] = {}
    for question in questions:
        match question.kind:
            case BackgroundKind.CHOICE:
                given[question.id] = chance.choice(list(question.choices))
            case BackgroundKind.NUMBER:
                given[question.id] = chance.randint(question.bounds[0], question.bounds[1])
            case BackgroundKind.YES_NO:
                given[question.id] = chance.random() < 0.5
            case _:
                given[question.id] = "simulated"
    return given


def _draw(store: Store, rubric: Rubric, seed: int) -> list[str]:
    """Sample rewrites for an expert, if the rubric has a yes-or-no outcome."""
    if not rubric.verdicts:
        return []
    systems = {rewrite.id: rewrite.splitter for rewrite in store.export_items()}
    found = buckets(store.export_ratings(rubric), rubric.verdicts[0])
    return draw_sample(found, {item: systems[item] for item in found}, _EACH, seed=seed)
