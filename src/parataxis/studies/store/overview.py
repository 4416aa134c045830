"""The organiser's view of a study: progress, pace and people."""

from collections import defaultdict
from collections.abc import Iterable
from datetime import datetime
from statistics import median
from typing import Any

from sqlalchemy import Integer, Select, cast, func, select

from parataxis.studies.items import ItemKind
from parataxis.studies.records import FLAG, Flag, Purpose
from parataxis.studies.store.submissions import SUBMIT
from parataxis.studies.store.tables import answer, event, person, slot, study
from parataxis.studies.store.transaction import Record, Transaction, as_person, moment
from parataxis.studies.store.types import (
    COUNTING,
    FINISHED,
    Overview,
    PersonOverview,
    PhaseOverview,
    SlotState,
)

_HOUR = 3_600_000
_HOURS = 48
_CONTROLS = (Purpose.ATTENTION, Purpose.KNOWN)


def overview_of_study(tx: Transaction) -> Overview:
    """The numbers of the organiser's page."""
    answers = tx.rows(
        select(slot.c.kind, slot.c.person_id, answer.c.seconds)
        .join(answer, answer.c.id == slot.c.answer_id)
        .where(slot.c.state.in_(FINISHED), slot.c.purpose == Purpose.ITEM)
        .where(answer.c.seconds.is_not(None))
    )
    return Overview(
        paused=bool(tx.one(select(study.c.paused))[0]),
        phases=_phases(tx, _medians((row.kind, row.seconds) for row in answers)),
        people=_people(tx, _medians((row.person_id, row.seconds) for row in answers)),
        pace=_pace(tx),
        flags=_flags(tx),
        last=moment(tx.one(select(func.max(answer.c.at)))[0]),
    )


def _medians(pairs: Iterable[tuple[Any, float]]) -> dict[Any, float]:
    times: dict[Any, list[float]] = defaultdict(list)
    for key, seconds in pairs:
        times[key].append(seconds)
    return {key: median(found) for key, found in times.items()}


def _phases(tx: Transaction, seconds: dict[str, float]) -> dict[str, PhaseOverview]:
    counts: dict[str, dict[str, int]] = defaultdict(lambda: defaultdict(int))
    query = select(slot.c.kind, slot.c.state, func.count()).where(slot.c.purpose == Purpose.ITEM)
    for kind, state, count in tx.rows(query.group_by(slot.c.kind, slot.c.state)):
        counts[kind][state] = count
    # An expired lease keeps its place until somebody needs it, but nobody works on it.
    expired = (slot.c.state == SlotState.LEASED, slot.c.leased_until < tx.now)
    query = select(slot.c.kind, func.count()).where(*expired).group_by(slot.c.kind)
    for kind, count in tx.rows(query):
        counts[kind][SlotState.LEASED] -= count
        counts[kind][SlotState.OPEN] += count
    items = _items(tx)
    return {
        kind: PhaseOverview(
            wanted=sum(found[state] for state in COUNTING),
            done=found[SlotState.DONE],
            held=found[SlotState.LEASED],
            open=found[SlotState.OPEN],
            items=items[kind][0],
            items_complete=items[kind][1],
            surplus=found[SlotState.SURPLUS],
            void=found[SlotState.VOID],
            seconds=seconds.get(kind),
        )
        for kind, found in sorted(counts.items(), key=lambda pair: pair[0] != ItemKind.WRITE)
    }


def _items(tx: Transaction) -> dict[str, tuple[int, int]]:
    """By kind, the number of items, and of those that have all they need."""
    left = func.sum(cast(slot.c.state != SlotState.DONE, Integer)).label("left")
    each = (
        select(slot.c.kind, slot.c.item_id, left)
        .where(slot.c.purpose == Purpose.ITEM, slot.c.state.in_(COUNTING))
        .group_by(slot.c.kind, slot.c.item_id)
        .subquery()
    )
    complete = func.sum(cast(each.c.left == 0, Integer))
    found: dict[str, tuple[int, int]] = defaultdict(lambda: (0, 0))
    query = select(each.c.kind, func.count(), complete).group_by(each.c.kind)
    for kind, items, done in tx.rows(query):
        found[kind] = (items, int(done))
    return found


def _people(tx: Transaction, seconds: dict[int, float]) -> tuple[PersonOverview, ...]:
    counts: dict[tuple[int, str, str], int] = defaultdict(int)
    columns = (slot.c.person_id, slot.c.purpose, slot.c.state)
    query = select(*columns, func.count()).where(slot.c.person_id.is_not(None))
    for who, purpose, state, count in tx.rows(query.group_by(*columns)):
        counts[who, "control" if purpose in _CONTROLS else purpose, state] += count
    failures = _by_person(
        tx,
        select(slot.c.person_id, func.count(slot.c.id.distinct()))
        .join(answer, answer.c.slot_id == slot.c.id)
        .where(slot.c.purpose.in_(_CONTROLS), answer.c.passed.is_(False))
        .group_by(slot.c.person_id),
    )
    warnings = _by_person(
        tx,
        select(event.c.person_id, func.count())
        .where(event.c.what == "warned")
        .group_by(event.c.person_id),
    )

    def one(row: Record) -> PersonOverview:
        return PersonOverview(
            person=as_person(row),
            done=counts[row.id, Purpose.ITEM, SlotState.DONE],
            held=counts[row.id, Purpose.ITEM, SlotState.LEASED],
            surplus=counts[row.id, Purpose.ITEM, SlotState.SURPLUS],
            void=counts[row.id, Purpose.ITEM, SlotState.VOID],
            seconds=seconds.get(row.id),
            controls=sum(
                counts[row.id, "control", state] for state in (SlotState.DONE, SlotState.VOID)
            ),
            failures=failures.get(row.id, 0),
            warnings=warnings.get(row.id, 0),
        )

    return tuple(map(one, tx.rows(select(person).order_by(person.c.id))))


def _by_person(tx: Transaction, query: Select[Any]) -> dict[int, int]:
    return {who: count for who, count in tx.rows(query)}  # noqa: C416  # rows are no plain tuples


def _pace(tx: Transaction) -> tuple[tuple[datetime, int], ...]:
    hour = (answer.c.at - answer.c.at % _HOUR).label("hour")
    rows = tx.rows(
        select(hour, func.count())
        .where(answer.c.action == SUBMIT, answer.c.at > tx.now - _HOURS * _HOUR)
        .group_by(hour)
        .order_by(hour)
    )
    return tuple((time, count) for at, count in rows if (time := moment(at)) is not None)


def _flags(tx: Transaction) -> dict[str, int]:
    rows = tx.rows(
        select(answer.c.answers)
        .join(slot, slot.c.answer_id == answer.c.id)
        .where(slot.c.kind == ItemKind.WRITE, slot.c.state == SlotState.DONE)
    )
    found = [row.answers.get(FLAG) for row in rows]
    return {flag.value: found.count(flag) for flag in Flag}
