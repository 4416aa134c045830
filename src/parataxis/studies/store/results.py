"""The organiser's overview of a study, its results as records, and all about one person."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import asdict
from datetime import datetime
from statistics import median
from typing import Any

from sqlalchemy import Select, func, select

from parataxis.rewrite.record import Rewrite
from parataxis.studies.records import FLAG, Flag, FlaggedSource, Purpose, Rating, is_identical
from parataxis.studies.rubric import Rubric, outcomes
from parataxis.studies.store.database import EXPERT, Record, Transaction, moment
from parataxis.studies.store.participants import as_person, lock_person
from parataxis.studies.store.tables import answer, event, item, person, slot, study
from parataxis.studies.store.tasks import SUBMIT
from parataxis.studies.store.types import (
    COUNTING,
    FINISHED,
    Overview,
    PersonOverview,
    PhaseOverview,
    SlotState,
)
from parataxis.studies.study import ItemKind

_HOUR = 3_600_000
_HOURS = 48
_CONTROLS = (Purpose.ATTENTION, Purpose.KNOWN)


# --- The organiser's overview


def overview_of_study(tx: Transaction) -> Overview:
    """The numbers of the organiser's page."""
    phases: dict[str, list[Record]] = defaultdict(list)
    people: dict[int, list[Record]] = defaultdict(list)
    columns = (slot.c.kind, slot.c.purpose, slot.c.state, slot.c.item_id, slot.c.person_id)
    query = select(*columns, slot.c.leased_until, answer.c.seconds)
    for row in tx.rows(query.outerjoin(answer, answer.c.id == slot.c.answer_id)):
        people[row.person_id].append(row)
        if row.purpose == Purpose.ITEM:
            phases[row.kind].append(row)
    return Overview(
        paused=bool(tx.one(select(study.c.paused))[0]),
        phases={
            kind: _phase(phases[kind], tx.now)
            for kind in sorted(phases, key=lambda kind: kind != ItemKind.WRITE)
        },
        people=_people(tx, people),
        pace=_pace(tx),
        flags=_flags(tx),
        last=moment(tx.one(select(func.max(answer.c.at)))[0]),
    )


def _seconds(rows: Iterable[Record]) -> float | None:
    """The median time for a task to be judged."""
    times = [row.seconds for row in rows if row.purpose == Purpose.ITEM and row.state in FINISHED]
    known = [seconds for seconds in times if seconds is not None]
    return median(known) if known else None


def _phase(rows: Sequence[Record], now: int) -> PhaseOverview:
    counted = [row for row in rows if row.state in COUNTING]
    states = Counter(row.state for row in rows)
    # An expired lease keeps its place until somebody needs it, but nobody works on it.
    expired = sum(row.state == SlotState.LEASED and row.leased_until < now for row in rows)
    items = {row.item_id for row in counted}
    incomplete = {row.item_id for row in counted if row.state != SlotState.DONE}
    return PhaseOverview(
        wanted=len(counted),
        done=states[SlotState.DONE],
        held=states[SlotState.LEASED] - expired,
        open=states[SlotState.OPEN] + expired,
        items=len(items),
        items_complete=len(items - incomplete),
        surplus=states[SlotState.SURPLUS],
        void=states[SlotState.VOID],
        seconds=_seconds(rows),
    )


def _people(tx: Transaction, slots: dict[int, list[Record]]) -> tuple[PersonOverview, ...]:
    failed = (
        select(slot.c.person_id, func.count(slot.c.id.distinct()))
        .join(answer, answer.c.slot_id == slot.c.id)
        .where(slot.c.purpose.in_(_CONTROLS), answer.c.passed.is_(False))
        .group_by(slot.c.person_id)
    )
    warned = select(event.c.person_id, func.count()).where(event.c.what == "warned")
    failures = dict(map(tuple, tx.rows(failed)))
    warnings = dict(map(tuple, tx.rows(warned.group_by(event.c.person_id))))
    found = []
    for row in tx.rows(select(person).order_by(person.c.id)):
        mine = slots[row.id]
        states = Counter(each.state for each in mine if each.purpose == Purpose.ITEM)
        controls = [each.state for each in mine if each.purpose in _CONTROLS]
        found.append(
            PersonOverview(
                person=as_person(row),
                done=states[SlotState.DONE],
                held=states[SlotState.LEASED],
                surplus=states[SlotState.SURPLUS],
                void=states[SlotState.VOID],
                seconds=_seconds(mine),
                controls=sum(state in (SlotState.DONE, SlotState.VOID) for state in controls),
                failures=failures.get(row.id, 0),
                warnings=warnings.get(row.id, 0),
            )
        )
    return tuple(found)


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


# --- Exports


def export_items(tx: Transaction, purposes: Iterable[Purpose] = (Purpose.ITEM,)) -> list[Rewrite]:
    """The rewrites to be rated, in the order in which they were added. One that a participant
    wrote has the splitter "human", their id as ``writer``, and its source's id as ``source_id``."""
    rows = tx.rows(
        select(item, person.c.code)
        .outerjoin(person, person.c.id == item.c.writer_id)
        .where(item.c.kind == ItemKind.RATE, item.c.withdrawn.is_(False))
        .where(item.c.purpose.in_(list(purposes)))
        .order_by(item.c.id)
    )
    found = []
    for row in rows:
        writer = {} if row.code is None else {"writer": row.code}
        found.append(Rewrite.model_validate({**row.rewrite, "id": row.key, **writer}))
    return found


def export_ratings(
    tx: Transaction,
    rubric: Rubric | None = None,
    purposes: Iterable[Purpose] = (Purpose.ITEM,),
    *,
    experts: bool = False,
) -> list[Rating]:
    """The ratings that count, by raters or by experts, in the order in which they were given.
    Their outcomes are derived by the rubric."""
    kind = EXPERT if experts else ItemKind.RATE
    found = []
    for row in tx.rows(_counted(kind).where(slot.c.purpose.in_(list(purposes)))):
        identical = is_identical(Rewrite.model_validate(row.rewrite))
        found.append(
            Rating(
                item=row.key,
                rater=row.code,
                rubric=tx.study.rubric_name,
                answers=row.answers,
                outcomes=outcomes(rubric, row.answers, identical=identical) if rubric else {},
                identical=identical,
                purpose=Purpose(row.purpose),
                seconds=row.seconds,
                when=moment(row.at),
            )
        )
    return found


def export_flagged(tx: Transaction) -> list[FlaggedSource]:
    """The sources that writers flagged as simple or too hard."""
    return [
        FlaggedSource(row.key, row.source, row.code, Flag(row.answers[FLAG]), moment(row.at))
        for row in tx.rows(_counted(ItemKind.WRITE))
        if row.answers.get(FLAG) is not None
    ]


def _counted(kind: str) -> Select[Any]:
    """The answers that count, each with its item and person."""
    columns = (item.c.key, item.c.source, item.c.rewrite, person.c.code, slot.c.purpose)
    return (
        select(*columns, answer.c.answers, answer.c.seconds, answer.c.at)
        .select_from(slot)
        .join(item, item.c.id == slot.c.item_id)
        .join(person, person.c.id == slot.c.person_id)
        .join(answer, answer.c.id == slot.c.answer_id)
        .where(slot.c.state == SlotState.DONE, slot.c.kind == kind)
        .order_by(answer.c.id)
    )


def export_history(tx: Transaction) -> list[dict[str, Any]]:
    """Everything ever submitted, corrected or undone, as plain JSON values; ``counts`` says
    whether it is among the ratings or rewrites that count."""
    rows = tx.rows(
        select(
            item.c.key.label("item"),
            person.c.code.label("person"),
            slot.c.id.label("slot"),
            slot.c.kind,
            slot.c.purpose,
            slot.c.attempt,
            answer.c.action,
            answer.c.answers,
            answer.c.passed,
            answer.c.seconds,
            answer.c.at.label("when"),
            slot.c.state,
            (slot.c.answer_id == answer.c.id).label("counts"),
        )
        .select_from(answer)
        .join(slot, slot.c.id == answer.c.slot_id)
        .join(item, item.c.id == slot.c.item_id)
        .join(person, person.c.id == answer.c.person_id)
        .order_by(answer.c.id)
    )
    return [
        {
            **row._mapping,
            "when": _when(row.when),
            "counts": row.state == SlotState.DONE and bool(row.counts),
        }
        for row in rows
    ]


def _when(milliseconds: int | None) -> str | None:
    time = moment(milliseconds)
    return time.isoformat() if time else None


def personal_data(tx: Transaction, code: str) -> dict[str, Any]:
    """All that the study stores about a person, as plain JSON values."""
    me = lock_person(tx, code)
    drafts = tx.rows(
        select(slot.c.id, slot.c.draft, item.c.key)
        .join(item, item.c.id == slot.c.item_id)
        .where(slot.c.person_id == me.id, slot.c.draft.is_not(None))
        .order_by(slot.c.id)
    )
    events = tx.rows(select(event).where(event.c.person_id == me.id).order_by(event.c.id))
    times = {"invited": me.invited_at, "consented": me.consented_at, "seen": me.seen_at}
    return {
        **asdict(as_person(me)),
        "panel": me.panel,
        **{name: _when(time) for name, time in times.items()},
        "submissions": [each for each in export_history(tx) if each["person"] == me.code],
        "drafts": [{"slot": row.id, "item": row.key, "answers": row.draft} for row in drafts],
        "events": [
            {"when": _when(row.at), "what": row.what, "detail": row.detail} for row in events
        ],
    }
