"""A study with invented people, to try it out before real ones come. Needs the extra [study]."""

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

from parataxis.checks import Checker
from parataxis.rewrite.record import FindingKind as Fault
from parataxis.studies.agreement import buckets
from parataxis.studies.agreement import sample as drawn_from
from parataxis.studies.items import Expected, Item, ItemKind, effort
from parataxis.studies.records import Answers, Purpose, Value
from parataxis.studies.rubric import (
    NUMBERS,
    Question,
    QuestionKind,
    Rubric,
    applicable,
    complete,
    outcomes,
)
from parataxis.studies.store import Overview, Stage, Store, Task
from parataxis.studies.study import BackgroundKind, BackgroundQuestion, Role, Study

# What a perfect rater would answer about a rewrite: by the checks, and else by a chance that is
# the same for everybody. It is made to try studies out, and says nothing about real rewrites.

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
        if question.kind is QuestionKind.TEXT:
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
    if question.kind is QuestionKind.YES_NO:
        return (not question.best) if isinstance(question.best, bool) else chance.random() < 0.5
    if question.kind is QuestionKind.CHOICE:
        return chance.choice([key for key in question.choices if key != question.best])
    if question.kind in NUMBERS:
        others = [number for number in question.numbers if number != question.best]
        near = question.best if isinstance(question.best, int) else others[-1]
        others.sort(key=lambda number: abs(number - near))
        return chance.choice(others[:2])
    return None


# Invented people: with how much care they look, how they lean, and what they get up to.

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


# People at work in the database of a study, one click after another, as on the pages.

Pool = Mapping[str, Sequence[Sequence[str]]]
"""Rewrites that writers know, by source."""

_START = datetime(2026, 1, 5, 9, tzinfo=UTC)
_EACH = 2
"""Rewrites of each bucket that the expert rates (Zhang et al. 2020, §6)."""
_QUALIFYING = (Purpose.TRAINING, Purpose.TEST)


class Clock:
    """A time that passes only when it is told to; for :meth:`Store.open`."""

    def __init__(self, start: datetime = _START) -> None:
        self._now = start

    def __call__(self) -> datetime:
        return self._now

    def wait(self, seconds: float) -> None:
        """Let time pass."""
        self._now += timedelta(seconds=seconds)


@dataclass(frozen=True)
class Simulated:
    """What happened."""

    overview: Overview
    people: int
    """Writers and raters."""
    submissions: int
    abandoned: int
    """Tasks that somebody took and left."""
    undone: int
    excluded: int
    failed: int
    """People who did not qualify."""
    expert: int
    """Rewrites that the expert rated."""


@dataclass
class _Somebody:
    id: str
    habits: Habits
    chance: random.Random
    done: int = 0
    is_gone: bool = False
    has_undone: bool = False


@dataclass
class _Town:
    """All that the people know, and what they did."""

    store: Store
    study: Study
    rubric: Rubric
    truth: Truth
    clock: Clock
    pool: Pool
    known: Mapping[str, Item]
    crowd: int
    counts: dict[str, int] = field(
        default_factory=lambda: dict.fromkeys(("done", "left", "back"), 0)
    )


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
    """Let so many people do a study that has just been created, and an expert look over them.

    A third of them write, where there is something to write, and never fewer than a source needs;
    the others, at least one, rate. What they answer
    follows from the seed; which of them gets what, the store draws by a chance of its own.
    """
    study = store.study
    chance = random.Random(seed)
    known = {item.id: item for item in items}
    truth = truth or Truth(rubric, seed)
    town = _Town(store, study, rubric, truth, clock, pool or {}, known, people)
    crew = _invite(town, people, chance)
    _work(town, crew, chance)
    drawn = _draw(town, seed)
    if drawn:
        expert = store.invite(["Expert"], Role.EXPERT)[0]
        store.ask_experts(drawn)
        habits = Habits(care=1, pace=120)
        _work(town, [_Somebody(expert.id, habits, random.Random(f"{seed}:expert"))], chance)
    stages = [store.progress(one.id).stage for one in crew]
    return Simulated(
        store.overview(),
        len(crew),
        town.counts["done"],
        town.counts["left"],
        town.counts["back"],
        stages.count(Stage.BLOCKED),
        stages.count(Stage.FAILED),
        len(drawn),
    )


def _invite(town: _Town, people: int, chance: random.Random) -> list[_Somebody]:
    """The people; the first rater comes by the panel, where the study has one."""
    writers = max(town.study.write.writers + 1, people // 3) if town.study.write else 0
    raters = max(1, people - writers)
    store, found = town.store, []
    for role, habits in (
        (Role.WRITER, cast_writers(writers, chance)),
        (Role.RATER, cast_raters(raters, chance)),
    ):
        names = [f"{role} {number}" for number in range(1, len(habits) + 1)]
        ids = []
        panel = town.study.panel
        if panel is not None and panel.role is role and names:
            given = {name: f"simulated-{meaning}" for meaning, name in panel.parameters.items()}
            ids.append(store.person_by_panel(given).id)
        ids += [person.id for person in store.invite(names[len(ids) :], role)]
        found += [
            _Somebody(id_, each, random.Random(f"{chance.random()}"))
            for id_, each in zip(ids, habits, strict=True)
        ]
    return found


def _work(town: _Town, crew: Sequence[_Somebody], chance: random.Random) -> None:
    """Until nobody has anything to do, also not after the leases of those who left."""
    idle: set[str] = set()
    has_waited = False
    while True:
        awake = [one for one in crew if not one.is_gone and one.id not in idle]
        if awake:
            one = chance.choice(awake)
            if _step(town, one):
                has_waited = False
                idle.clear()
            else:
                idle.add(one.id)
        elif has_waited:
            return
        else:
            town.clock.wait(60 * town.study.lease_minutes + 1)
            has_waited = True
            idle.clear()


def _step(town: _Town, one: _Somebody) -> bool:
    """One page of one person; False where there is nothing to do for them."""
    store = town.store
    match store.progress(one.id).stage:
        case Stage.CONSENT:
            store.consent(one.id, town.study.languages[0])
        case Stage.BACKGROUND:
            store.save_background(one.id, _background(town.study.background, one.chance))
        case _:
            task = store.next_task(one.id)  # also where they wait: a lease may have ended
            return task is not None and _do(town, one, task)
    return True


def _do(town: _Town, one: _Somebody, task: Task) -> bool:
    habits = one.habits
    if habits.leaves_after is not None and one.done >= habits.leaves_after:
        one.is_gone = True
        town.counts["left"] += 1
        return True
    seconds = seconds_for(habits, one.chance)
    town.clock.wait(seconds / town.crowd)
    town.store.submit(one.id, task.slot, _answers(town, one, task), seconds)
    town.counts["done"] += 1
    one.done += task.purpose not in _QUALIFYING
    if (
        habits.undoes_at is not None
        and one.done >= habits.undoes_at
        and not one.has_undone
        and town.store.progress(one.id).can_undo
    ):
        one.has_undone = True
        again = town.store.undo(one.id)
        town.store.submit(one.id, again.slot, _answers(town, one, again), seconds)
        town.counts["back"] += 1
    return True


def _answers(town: _Town, one: _Somebody, task: Task) -> dict[str, Value]:
    if task.kind is ItemKind.WRITE:
        wanted = town.study.write.sentences if town.study.write else 2
        return write(task.item.source, town.pool, one.habits, one.chance, wanted)
    simple, identical = task.item.simple or (), task.item.identical
    qualifies = task.purpose in _QUALIFYING
    is_plain = qualifies if one.habits.cheats else task.purpose is Purpose.ATTENTION
    item = town.known.get(task.item.id)
    answers = rate(
        town.rubric,
        town.truth(task.item.source, simple, identical=identical),
        Habits(care=1) if is_plain else one.habits,
        one.chance,
        identical=identical,
        expected=item.expected if item else None,
    )
    return complete(town.rubric, answers, identical=identical)


def _background(questions: Sequence[BackgroundQuestion], chance: random.Random) -> dict[str, Value]:
    given: dict[str, Value] = {}
    for question in questions:
        match question.kind:
            case BackgroundKind.CHOICE:
                given[question.id] = chance.choice(list(question.choices))
            case BackgroundKind.NUMBER:
                given[question.id] = chance.randint(18, 80)
            case BackgroundKind.YES_NO:
                given[question.id] = chance.random() < 0.5
            case _:
                given[question.id] = "simulated"
    return given


def _draw(town: _Town, seed: int) -> list[str]:
    """Rewrites for an expert, where the rubric has an outcome that is yes or no."""
    if not town.rubric.verdicts:
        return []
    ratings = town.store.export_ratings(
        lambda answers, identical: outcomes(town.rubric, answers, identical=identical)
    )
    systems = {rewrite.id: rewrite.splitter for rewrite in town.store.export_items()}
    found = buckets(ratings, town.rubric.verdicts[0])
    groups = {item: systems[item] for item in found}
    return drawn_from(found, groups, _EACH, seed=seed)
