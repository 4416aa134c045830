"""The results of a study as records, and all that is stored about a person."""

from collections.abc import Iterable
from dataclasses import asdict
from typing import Any

from sqlalchemy import Select, select

from parataxis.rewrite.record import Rewrite
from parataxis.studies.items import ItemKind
from parataxis.studies.records import (
    FLAG,
    Flag,
    FlaggedSource,
    Purpose,
    Rating,
    is_identical,
)
from parataxis.studies.rubric import Rubric, outcomes
from parataxis.studies.store.tables import answer, event, item, person, slot
from parataxis.studies.store.transaction import (
    EXPERT,
    Transaction,
    as_person,
    lock_person,
    moment,
)
from parataxis.studies.store.types import SlotState


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
