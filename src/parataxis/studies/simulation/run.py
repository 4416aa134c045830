"""People at work in the database of a study, one click after another, as on the pages."""

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

from parataxis.studies.items import Item, Kind
from parataxis.studies.records import Purpose, Value
from parataxis.studies.reliability import buckets
from parataxis.studies.reliability import sample as drawn_from
from parataxis.studies.rubric.answers import complete, outcomes
from parataxis.studies.rubric.model import Rubric
from parataxis.studies.simulation.people import (
    Habits,
    cast_raters,
    cast_writers,
    rate,
    seconds_for,
    write,
)
from parataxis.studies.simulation.truth import Truth
from parataxis.studies.store import Overview, Stage, Store, Task
from parataxis.studies.study import BackgroundKind, BackgroundQuestion, Role, Study

__all__ = ["Clock", "Simulated", "simulate"]

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
    if task.kind is Kind.WRITE:
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
