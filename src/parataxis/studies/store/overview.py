"""What an organiser sees of a study: how far it is, how fast it goes, and how people do."""

from collections import defaultdict
from statistics import median
from typing import Any

from sqlalchemy import Integer, cast, func, select

from parataxis.studies.records import Purpose
from parataxis.studies.store.tables import answer, event, item, person, slot, study
from parataxis.studies.store.types import FLAG, Flag, Overview, PersonOverview, PhaseOverview
from parataxis.studies.store.work import FINISHED, Record, State, Work, as_person, moment

__all__ = ["overview"]

_HOUR = 3_600_000
_HOURS = 48
_CONTROLS = (Purpose.ATTENTION, Purpose.KNOWN)


def overview(work: Work) -> Overview:
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


def _phases(work: Work, answers: Any) -> dict[str, PhaseOverview]:
    counts: dict[str, dict[str, int]] = defaultdict(lambda: defaultdict(int))
    query = select(slot.c.kind, slot.c.state, func.count()).where(slot.c.purpose == Purpose.ITEM)
    for kind, state, count in work.rows(query.group_by(slot.c.kind, slot.c.state)):
        counts[kind][state] = count
    # A lease that ran out keeps its place until somebody needs it; nobody works on it.
    over = (slot.c.state == State.LEASED, slot.c.leased_until < work.now)
    lapsed = select(slot.c.kind, func.count()).where(*over).group_by(slot.c.kind)
    for kind, count in work.rows(lapsed):
        counts[kind][State.LEASED] -= count
        counts[kind][State.OPEN] += count
    complete = _complete(work)
    seconds: dict[str, list[float]] = defaultdict(list)
    for row in answers:
        if row.seconds is not None:
            seconds[row.kind].append(row.seconds)
    return {
        kind: PhaseOverview(
            wanted=sum(found[state] for state in (State.OPEN, State.LEASED, State.DONE)),
            done=found[State.DONE],
            held=found[State.LEASED],
            open=found[State.OPEN],
            items=complete[kind][0],
            items_complete=complete[kind][1],
            surplus=found[State.SURPLUS],
            void=found[State.VOID],
            seconds=median(seconds[kind]) if seconds[kind] else None,
        )
        for kind, found in sorted(counts.items(), key=lambda pair: pair[0] != "write")
    }


def _complete(work: Work) -> dict[str, tuple[int, int]]:
    """By kind: the items, and those with nothing open or leased."""
    left = func.sum(cast(slot.c.state != State.DONE, Integer)).label("left")
    each = (
        select(slot.c.kind, slot.c.item_id, left)
        .where(slot.c.purpose == Purpose.ITEM)
        .where(slot.c.state.in_((State.OPEN, State.LEASED, State.DONE)))
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


def _people(work: Work, answers: Any) -> tuple[PersonOverview, ...]:
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
        def count(state: State) -> int:
            return counts[row.id, Purpose.ITEM, state]

        return PersonOverview(
            person=as_person(row),
            done=count(State.DONE),
            held=count(State.LEASED),
            surplus=count(State.SURPLUS),
            void=count(State.VOID),
            seconds=median(seconds[row.id]) if seconds[row.id] else None,
            controls=sum(counts[row.id, "control", state] for state in (State.DONE, State.VOID)),
            failures=failures.get(row.id, 0),
            warnings=warnings.get(row.id, 0),
        )

    return tuple(one(row) for row in work.rows(select(person).order_by(person.c.id)))


def _by_person(work: Work, query: Any) -> dict[int, int]:
    return {row[0]: row[1] for row in work.rows(query)}


def _pace(work: Work) -> tuple[tuple[Any, int], ...]:
    hour = (answer.c.at - answer.c.at % _HOUR).label("hour")
    rows = work.rows(
        select(hour, func.count())
        .where(answer.c.action == "submit", answer.c.at > work.now - _HOURS * _HOUR)
        .group_by(hour)
        .order_by(hour)
    )
    return tuple((moment(at), count) for at, count in rows)


def _flags(work: Work) -> dict[str, int]:
    rows = work.rows(
        select(answer.c.answers)
        .join(slot, slot.c.answer_id == answer.c.id)
        .join(item, item.c.id == slot.c.item_id)
        .where(slot.c.kind == "write", slot.c.state == State.DONE)
    )
    found = [row.answers.get(FLAG) for row in rows]
    return {flag.value: found.count(flag) for flag in Flag}
