"""The organiser's overview of a study, its results as records, and all about one person."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import asdict
from datetime import datetime
from statistics import median
from typing import Any

from sqlalchemy import Select, func, select

from parataxis.rewrite.record import Rewrite
from parataxis.studies.records import (
    FLAG,
    Flag,
    FlaggedSource,
    Purpose,
    Rating,
    is_identical,
    timestamp,
)
from parataxis.studies.rubric import Rubric, outcomes
from parataxis.studies.store.database import EXPERT, Record, Transaction, moment
from parataxis.studies.store.participants import as_person, lock_person
from parataxis.studies.store.tables import answer, event, item, person, slot, study
from parataxis.studies.store.tasks import SUBMIT
from parataxis.studies.store.types import (
    COUNTING,
    FINISHED,
    GivenAnswer,
    ItemAnswers,
    Overview,
    Pay,
    PersonOverview,
    PersonState,
    PhaseOverview,
    SlotState,
    SourceOverview,
)
from parataxis.studies.study import ItemKind, Payment

_HOUR = 3_600_000
_HOURS = 48
_CONTROLS = (Purpose.ATTENTION, Purpose.KNOWN)
_UNWRITTEN = (SlotState.OPEN, SlotState.LEASED)


# --- The organiser's overview


def overview_of_study(tx: Transaction) -> Overview:
    """The numbers of the organiser's page."""
    phases: dict[str, list[Record]] = defaultdict(list)
    people: dict[int, list[Record]] = defaultdict(list)
    columns = (slot.c.kind, slot.c.purpose, slot.c.state, slot.c.item_id, slot.c.person_id)
    times = (slot.c.leased_at, slot.c.leased_until, slot.c.submitted_at, answer.c.seconds)
    query = select(slot.c.id, *columns, slot.c.answer_id, *times)
    for row in tx.rows(query.outerjoin(answer, answer.c.id == slot.c.answer_id)):
        people[row.person_id].append(row)
        if row.purpose == Purpose.ITEM:
            phases[row.kind].append(row)
    coming = [row for row in phases[ItemKind.WRITE] if row.state in _UNWRITTEN]
    expected = {ItemKind.RATE.value: len(coming) * tx.study.raters_of_rewrites}
    flags = [row.answers.get(FLAG) for row in _written(tx) if row.state == SlotState.DONE]
    return Overview(
        paused=bool(tx.one(select(study.c.paused))[0]),
        phases={
            kind: _phase(phases[kind], tx.now, expected.get(kind, 0))
            for kind in (ItemKind.WRITE.value, ItemKind.RATE.value, EXPERT)
            if phases[kind] or expected.get(kind)
        },
        people=_people(tx, people),
        pace=_pace(tx),
        flags={flag.value: flags.count(flag) for flag in Flag},
        last=moment(tx.one(select(func.max(answer.c.at)))[0]),
    )


def _seconds(rows: Iterable[Record]) -> float | None:
    """The median time for a task to be judged."""
    times = [row.seconds for row in rows if row.purpose == Purpose.ITEM and row.state in FINISHED]
    known = [seconds for seconds in times if seconds is not None]
    return median(known) if known else None


def _phase(rows: Sequence[Record], now: int, coming: int) -> PhaseOverview:
    counted = [row for row in rows if row.state in COUNTING]
    states = Counter(row.state for row in rows)
    # An expired lease keeps its place until somebody needs it, but nobody works on it.
    expired = sum(row.state == SlotState.LEASED and row.leased_until < now for row in rows)
    items = {row.item_id for row in counted}
    incomplete = {row.item_id for row in counted if row.state != SlotState.DONE}
    return PhaseOverview(
        wanted=len(counted),
        coming=coming,
        done=states[SlotState.DONE],
        held=states[SlotState.LEASED] - expired,
        open=states[SlotState.OPEN] + expired,
        items=len(items),
        items_complete=len(items - incomplete),
        surplus=states[SlotState.SURPLUS],
        void=states[SlotState.VOID] + states[SlotState.REJECTED],
        seconds=_seconds(rows),
    )


def _is_quick(tx: Transaction, row: Record) -> bool:
    """Whether a task took less time than the study's floor. The time that the page reports may be
    invented, so that it is not believed beyond the time since the task was given out."""
    least = tx.study.least_seconds(row.kind)
    if not least or row.answer_id is None or row.purpose not in (Purpose.ITEM, *_CONTROLS):
        return False
    known = [] if row.seconds is None else [row.seconds]
    if row.submitted_at is not None and row.leased_at is not None:
        known.append((row.submitted_at - row.leased_at) / 1000)
    return bool(known) and min(known) < least


def _pay(tx: Transaction, rows: Iterable[Record], hard: set[int], flagged: set[int]) -> Pay:
    paid = [
        row
        for row in rows
        if row.purpose in (Purpose.ITEM, *_CONTROLS)
        and row.answer_id is not None
        and row.state in (*FINISHED, SlotState.VOID)
        and row.id not in flagged
    ]
    written = [row for row in paid if row.kind == ItemKind.WRITE]
    bonuses = sum(row.item_id in hard for row in written)
    ratings, prices = len(paid) - len(written), tx.study.payment or Payment()
    owed = len(written) * prices.per_rewrite + bonuses * prices.per_hard
    return Pay(len(written), bonuses, ratings, round(owed + ratings * prices.per_rating, 2))


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
    hard = {row.id for row in tx.rows(select(item.c.id).where(item.c.hard.is_(True)))}
    flagged = {row.id for row in _written(tx) if row.answers.get(FLAG) is not None}
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
                rejected=states[SlotState.REJECTED],
                seconds=_seconds(mine),
                quick=sum(_is_quick(tx, each) for each in mine),
                pay=Pay() if row.state == PersonState.EXCLUDED else _pay(tx, mine, hard, flagged),
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


def _written(tx: Transaction) -> Sequence[Record]:
    """What writers submitted: rewrites and flags."""
    return tx.rows(
        select(slot.c.id, slot.c.state, answer.c.answers)
        .join(answer, answer.c.id == slot.c.answer_id)
        .where(slot.c.kind == ItemKind.WRITE, slot.c.purpose == Purpose.ITEM)
    )


# --- Item by item


def sources(tx: Transaction, start: int = 0, most: int = 50) -> tuple[list[SourceOverview], int]:
    """Some of the sources, in the order in which they were added, and how many there are."""
    first = func.min(item.c.id).label("number")
    query = select(first, item.c.source).group_by(item.c.source).order_by(first)
    rows = tx.rows(query.offset(start).limit(most))
    texts = [row.source for row in rows]
    of = tx.rows(select(item).where(item.c.source.in_(texts)).order_by(item.c.id))
    numbers = {row.source: row.number for row in rows}
    groups: dict[int, list[Record]] = defaultdict(list)
    by_item = {each.id: numbers[each.source] for each in of}
    for each in of:
        groups[numbers[each.source]].append(each)
    given: dict[int, Counter[tuple[str, bool]]] = defaultdict(Counter)
    columns = (slot.c.item_id, slot.c.kind, slot.c.state)
    counted = select(*columns, func.count().label("number")).group_by(*columns)
    for each in tx.rows(counted.where(slot.c.item_id.in_(by_item), slot.c.state.in_(COUNTING))):
        given[by_item[each.item_id]][each.kind, each.state == SlotState.DONE] += each.number
    found = []
    for row in rows:
        counts = given[row.number]
        done = {kind: counts[kind, True] for kind in ItemKind}
        wanted = {kind: done[kind] + counts[kind, False] for kind in ItemKind}
        rewrites = [e for e in groups[row.number] if e.rewrite and not e.withdrawn]
        found.append(
            SourceOverview(
                number=row.number,
                source=row.source,
                purpose=Purpose(groups[row.number][0].purpose),
                rewrites=len(rewrites),
                written=(done[ItemKind.WRITE], wanted[ItemKind.WRITE]),
                rated=(done[ItemKind.RATE], wanted[ItemKind.RATE]),
            )
        )
    return found, int(tx.one(select(func.count(item.c.source.distinct())))[0])


def one_source(
    tx: Transaction, number: int
) -> tuple[list[ItemAnswers], str, int | None, int | None] | None:
    """All about the source of the item with that number: it and its rewrites with what people
    submitted, its text, and the numbers of the sources before and after it; None if there is no
    such item."""
    row = tx.first(select(item.c.source).where(item.c.id == number))
    if row is None:
        return None
    first = func.min(item.c.id).label("number")
    near = select(first).group_by(item.c.source)
    before = tx.first(near.having(first < number).order_by(first.desc()).limit(1))
    after = tx.first(near.having(first > number).order_by(first).limit(1))
    people = {each.id: as_person(each) for each in tx.rows(select(person))}
    given: dict[int, list[GivenAnswer]] = defaultdict(list)
    answered = (
        select(slot, answer.c.answers, answer.c.seconds, answer.c.at)
        .join(item, item.c.id == slot.c.item_id)
        .join(answer, answer.c.id == slot.c.answer_id)
        .where(item.c.source == row.source)
    )
    for each in tx.rows(answered.order_by(answer.c.id)):
        who, when = people[each.person_id], moment(each.at)
        values = (who, each.kind, SlotState(each.state), each.answers, each.seconds, when)
        given[each.item_id].append(GivenAnswer(each.code, *values))
    found = []
    items = select(item).where(item.c.source == row.source, item.c.withdrawn.is_(False))
    for each in tx.rows(items.order_by(item.c.id)):
        rewrite = Rewrite.model_validate(each.rewrite) if each.rewrite else None
        found.append(
            ItemAnswers(
                id=each.key,
                kind=ItemKind(each.kind),
                purpose=Purpose(each.purpose),
                system=rewrite.splitter if rewrite else "",
                writer=people.get(each.writer_id),
                simple=rewrite.simple if rewrite else (),
                expected=each.expected or {},
                answers=tuple(given[each.id]),
            )
        )
    earlier, later = (None if each is None else int(each.number) for each in (before, after))
    return found, str(row.source), earlier, later


# --- Exports


def export_items(tx: Transaction) -> list[Rewrite]:
    """The rewrites to be rated, in the order in which they were added. One that a participant
    wrote has the splitter "human", their id as ``writer``, and its source's id as ``source_id``."""
    rows = tx.rows(
        select(item, person.c.code)
        .outerjoin(person, person.c.id == item.c.writer_id)
        .where(item.c.kind == ItemKind.RATE, item.c.withdrawn.is_(False))
        .where(item.c.purpose == Purpose.ITEM)
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
        for row in tx.rows(_counted(ItemKind.WRITE).where(slot.c.purpose == Purpose.ITEM))
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
            slot.c.code.label("slot"),
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
    return timestamp(time) if time else None


_BLIND = ("item", "person", "slot", "purpose", "passed", "attempt")


def personal_data(tx: Transaction, code: str) -> dict[str, Any]:
    """All that the study stores about a person, as plain JSON values. It may be handed to them, so
    tasks have the ids that they know, and nothing tells systems and control items."""
    me = lock_person(tx, code)
    drafts = tx.rows(
        select(slot.c.code, slot.c.draft)
        .where(slot.c.person_id == me.id, slot.c.draft.is_not(None))
        .order_by(slot.c.id)
    )
    events = tx.rows(select(event).where(event.c.person_id == me.id).order_by(event.c.id))
    times = {"invited": me.invited_at, "consented": me.consented_at, "seen": me.seen_at}
    return {
        **asdict(as_person(me)),
        "panel": me.panel,
        **{name: _when(time) for name, time in times.items()},
        "submissions": [
            {"task": each["slot"], **{k: v for k, v in each.items() if k not in _BLIND}}
            for each in export_history(tx)
            if each["person"] == me.code
        ],
        "drafts": [{"task": row.code, "answers": row.draft} for row in drafts],
        "events": [
            {"when": _when(row.at), "what": row.what, "detail": row.detail} for row in events
        ],
    }
