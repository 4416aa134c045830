"""What an organiser sees of a study: how far it is, how fast it goes, and how people do."""

from collections import defaultdict
from statistics import median
from typing import Any

from sqlalchemy import Integer, Select, cast, func, select

from parataxis.studies.items import ItemKind
from parataxis.studies.records import Purpose
from parataxis.studies.store.assign import (
    HAD,
    KINDS,
    Tally,
    barred,
    may_do_more,
    qualified_so_far,
    qualifying,
    tally_of,
)
from parataxis.studies.store.submit import last_submission
from parataxis.studies.store.tables import (
    FINISHED,
    Record,
    StoreWork,
    StudyState,
    answer,
    as_person,
    event,
    item,
    moment,
    person,
    slot,
    study,
    task_kind,
)
from parataxis.studies.store.types import (
    FLAG,
    Flag,
    Overview,
    PersonOverview,
    PersonProgress,
    PhaseOverview,
    Stage,
    UndoError,
)
from parataxis.studies.study import Role

_HOUR = 3_600_000
_HOURS = 48
_CONTROLS = (Purpose.ATTENTION, Purpose.KNOWN)


def overview(work: StoreWork) -> Overview:
    """All numbers of one moment."""
    answers = work.rows(
        select(slot.c.kind, slot.c.person_id, answer.c.seconds)
        .join(answer, answer.c.id == slot.c.answer_id)
        .where(slot.c.state.in_(FINISHED), slot.c.purpose == Purpose.ITEM)
    )
    paused = work.first(select(study.c.paused))
    last = work.first(select(func.max(answer.c.at)))
    return Overview(
        paused=bool(paused and paused[0]),
        phases=_phases(work, answers),
        people=_people(work, answers),
        pace=_pace(work),
        flags=_flags(work),
        last=moment(last[0]) if last else None,
    )


def _phases(work: StoreWork, answers: Any) -> dict[str, PhaseOverview]:
    counts: dict[str, dict[str, int]] = defaultdict(lambda: defaultdict(int))
    query = select(slot.c.kind, slot.c.state, func.count()).where(slot.c.purpose == Purpose.ITEM)
    for kind, state, count in work.rows(query.group_by(slot.c.kind, slot.c.state)):
        counts[kind][state] = count
    # A lease that ran out keeps its place until somebody needs it; nobody works on it.
    over = (slot.c.state == StudyState.LEASED, slot.c.leased_until < work.now)
    lapsed = select(slot.c.kind, func.count()).where(*over).group_by(slot.c.kind)
    for kind, count in work.rows(lapsed):
        counts[kind][StudyState.LEASED] -= count
        counts[kind][StudyState.OPEN] += count
    complete = _complete(work)
    seconds: dict[str, list[float]] = defaultdict(list)
    for row in answers:
        if row.seconds is not None:
            seconds[row.kind].append(row.seconds)
    return {
        kind: PhaseOverview(
            wanted=sum(
                found[state] for state in (StudyState.OPEN, StudyState.LEASED, StudyState.DONE)
            ),
            done=found[StudyState.DONE],
            held=found[StudyState.LEASED],
            open=found[StudyState.OPEN],
            items=complete[kind][0],
            items_complete=complete[kind][1],
            surplus=found[StudyState.SURPLUS],
            void=found[StudyState.VOID],
            seconds=median(seconds[kind]) if seconds[kind] else None,
        )
        for kind, found in sorted(counts.items(), key=lambda pair: pair[0] != "write")
    }


def _complete(work: StoreWork) -> dict[str, tuple[int, int]]:
    """By kind: the items, and those with nothing open or leased."""
    left = func.sum(cast(slot.c.state != StudyState.DONE, Integer)).label("left")
    each = (
        select(slot.c.kind, slot.c.item_id, left)
        .where(slot.c.purpose == Purpose.ITEM)
        .where(slot.c.state.in_((StudyState.OPEN, StudyState.LEASED, StudyState.DONE)))
        .group_by(slot.c.kind, slot.c.item_id)
        .subquery()
    )
    done = func.sum(cast(each.c.left == 0, Integer))
    found: dict[str, tuple[int, int]] = defaultdict(lambda: (0, 0))
    for kind, items, complete in work.rows(
        select(each.c.kind, func.count(), done).group_by(each.c.kind)
    ):
        found[kind] = (items, int(complete))
    return found


def _people(work: StoreWork, answers: Any) -> tuple[PersonOverview, ...]:
    seconds: dict[int, list[float]] = defaultdict(list)
    for row in answers:
        if row.seconds is not None:
            seconds[row.person_id].append(row.seconds)
    counts: dict[tuple[int, str, str], int] = defaultdict(int)
    columns = (slot.c.person_id, slot.c.purpose, slot.c.state)
    for who, purpose, state, count in work.rows(
        select(*columns, func.count()).where(slot.c.person_id.is_not(None)).group_by(*columns)
    ):
        counts[who, "control" if purpose in _CONTROLS else purpose, state] += count
    failures = _by_person(
        work,
        select(slot.c.person_id, func.count(slot.c.id.distinct()))
        .join(answer, answer.c.slot_id == slot.c.id)
        .where(slot.c.purpose.in_(_CONTROLS), answer.c.passed.is_(False))
        .group_by(slot.c.person_id),
    )
    warnings = _by_person(
        work,
        select(event.c.person_id, func.count())
        .where(event.c.what == "warned")
        .group_by(event.c.person_id),
    )

    def one(row: Record) -> PersonOverview:
        def count(state: StudyState) -> int:
            return counts[row.id, Purpose.ITEM, state]

        return PersonOverview(
            person=as_person(row),
            done=count(StudyState.DONE),
            held=count(StudyState.LEASED),
            surplus=count(StudyState.SURPLUS),
            void=count(StudyState.VOID),
            seconds=median(seconds[row.id]) if seconds[row.id] else None,
            controls=sum(
                counts[row.id, "control", state] for state in (StudyState.DONE, StudyState.VOID)
            ),
            failures=failures.get(row.id, 0),
            warnings=warnings.get(row.id, 0),
        )

    return tuple(one(row) for row in work.rows(select(person).order_by(person.c.id)))


def _by_person(work: StoreWork, query: Any) -> dict[int, int]:
    return {row[0]: row[1] for row in work.rows(query)}


def _pace(work: StoreWork) -> tuple[tuple[Any, int], ...]:
    hour = (answer.c.at - answer.c.at % _HOUR).label("hour")
    rows = work.rows(
        select(hour, func.count())
        .where(answer.c.action == "submit", answer.c.at > work.now - _HOURS * _HOUR)
        .group_by(hour)
        .order_by(hour)
    )
    return tuple((moment(at), count) for at, count in rows)


def _flags(work: StoreWork) -> dict[str, int]:
    rows = work.rows(
        select(answer.c.answers)
        .join(slot, slot.c.answer_id == answer.c.id)
        .join(item, item.c.id == slot.c.item_id)
        .where(slot.c.kind == "write", slot.c.state == StudyState.DONE)
    )
    found = [row.answers.get(FLAG) for row in rows]
    return {flag.value: found.count(flag) for flag in Flag}


# Where a person stands in a study.

_STAGES = {Purpose.TRAINING.value: Stage.TRAINING, Purpose.TEST.value: Stage.TEST}


def progress(work: StoreWork, me: Record) -> PersonProgress:
    """Where the person stands."""
    tally = tally_of(work, me.id)
    study = work.study
    training, test, attempts = (0, 0), (0, 0), 1
    if study.qualification:
        attempts = study.qualification.attempts
        training = qualified_so_far(work, me, Purpose.TRAINING, 1)
        test = qualified_so_far(work, me, Purpose.TEST, me.attempt)
    done = {ItemKind.WRITE: 0, ItemKind.RATE: 0}
    for (kind, purpose, state), count in tally.items():
        if state in FINISHED and purpose not in (Purpose.TRAINING, Purpose.TEST):
            done[task_kind(kind)] += count
    return PersonProgress(
        stage=_stage(work, me, tally),
        done=done,
        limit={
            ItemKind.WRITE: study.write.per_person if study.write else None,
            ItemKind.RATE: study.rate.per_person,
        },
        training=training,
        test=test,
        attempt=me.attempt,
        attempts=attempts,
        surplus=sum(count for (_, _, state), count in tally.items() if state == StudyState.SURPLUS),
        can_undo=_can_undo(work, me),
    )


def _can_undo(work: StoreWork, me: Record) -> bool:
    try:
        last_submission(work, me)
    except UndoError:
        return False
    return True


def _stage(work: StoreWork, me: Record, tally: Tally) -> Stage:
    reason = barred(work, me)
    if reason is not None:
        return reason
    for _, purpose, state in tally:
        if state == StudyState.LEASED:
            return _STAGES.get(purpose, Stage.WORK)
    kinds = [kind for kind in KINDS[Role(me.role)] if may_do_more(work, kind, tally)]
    for kind in kinds:
        if kind == ItemKind.RATE and (left := qualifying(work, me)) is not None:
            return _STAGES[left]
        if _there_are(work, me, kind, StudyState.OPEN):
            return Stage.WORK
    coming = any(_there_are(work, me, kind, StudyState.LEASED) for kind in kinds)
    coming = coming or (ItemKind.RATE.value in kinds and _is_being_written(work))
    return Stage.WAITING if coming else Stage.FINISHED


def _there_are(work: StoreWork, me: Record, kind: str, state: StudyState) -> bool:
    """Whether there are such slots that may be the person's, now or later."""
    return work.first(_wanted(kind, (state,)).where(~HAD), me=me.id) is not None


def _is_being_written(work: StoreWork) -> bool:
    """Whether rewrites are still to come."""
    return work.first(_wanted(ItemKind.WRITE, (StudyState.OPEN, StudyState.LEASED))) is not None


def _wanted(kind: str, states: tuple[StudyState, ...]) -> Select[Any]:
    return (
        select(slot.c.id)
        .where(slot.c.state.in_(states), slot.c.kind == kind, slot.c.place.is_not(None))
        .limit(1)
    )
