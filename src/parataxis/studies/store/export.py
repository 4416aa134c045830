"""What a study leaves behind: rewrites and ratings as records, and all that is known of a
person."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from sqlalchemy import select

from parataxis.rewrite.record import Rewrite
from parataxis.studies.items import ItemKind
from parataxis.studies.records import Answers, Purpose, Rating, is_identical
from parataxis.studies.store.tables import (
    EXPERT,
    Record,
    StoreWork,
    StudyState,
    answer,
    event,
    item,
    lock_person,
    moment,
    person,
    slot,
)
from parataxis.studies.store.types import FLAG, Flag, Flagged

Outcomes = Callable[[Answers, bool], Mapping[str, bool | float | None]]
"""What a rubric derives from the answers about a rewrite that is, or is not, its source."""


def items(work: StoreWork, purposes: Iterable[Purpose]) -> Iterator[Rewrite]:
    """The rewrites that are rated, in the order in which they came."""
    rows = work.rows(
        select(item, person.c.code)
        .outerjoin(person, person.c.id == item.c.writer_id)
        .where(item.c.kind == ItemKind.RATE, item.c.withdrawn.is_(False))
        .where(item.c.purpose.in_(list(purposes)))
        .order_by(item.c.id)
    )
    for row in rows:
        who = {} if row.code is None else {"writer": row.code}
        yield Rewrite.model_validate({**row.rewrite, "id": row.key, **who})


def ratings(
    work: StoreWork, outcomes: Outcomes | None, purposes: Iterable[Purpose], *, experts: bool
) -> Iterator[Rating]:
    """The ratings that count, in the order in which they were given."""
    rows = work.rows(
        select(
            item.c.key,
            item.c.rewrite,
            person.c.code,
            slot.c.purpose,
            answer.c.answers,
            answer.c.seconds,
            answer.c.at,
        )
        .select_from(slot)
        .join(item, item.c.id == slot.c.item_id)
        .join(person, person.c.id == slot.c.person_id)
        .join(answer, answer.c.id == slot.c.answer_id)
        .where(
            slot.c.state == StudyState.DONE, slot.c.kind == (EXPERT if experts else ItemKind.RATE)
        )
        .where(slot.c.purpose.in_(list(purposes)))
        .order_by(answer.c.id)
    )
    for row in rows:
        identical = is_identical(Rewrite.model_validate(row.rewrite))
        yield Rating(
            item=row.key,
            rater=row.code,
            rubric=work.study.rubric_name,
            answers=row.answers,
            outcomes=dict(outcomes(row.answers, identical)) if outcomes else {},
            identical=identical,
            purpose=Purpose(row.purpose),
            seconds=row.seconds,
            when=moment(row.at),
        )


def flagged(work: StoreWork) -> Iterator[Flagged]:
    """The sources that writers flagged instead of rewriting them."""
    rows = work.rows(
        select(item.c.key, item.c.source, person.c.code, answer.c.answers, answer.c.at)
        .select_from(slot)
        .join(item, item.c.id == slot.c.item_id)
        .join(person, person.c.id == slot.c.person_id)
        .join(answer, answer.c.id == slot.c.answer_id)
        .where(slot.c.state == StudyState.DONE, slot.c.kind == ItemKind.WRITE)
        .order_by(answer.c.id)
    )
    for row in rows:
        when = moment(row.at)
        if row.answers.get(FLAG) is not None and when is not None:
            yield Flagged(row.key, row.source, row.code, Flag(row.answers[FLAG]), when)


def history(work: StoreWork) -> Iterator[dict[str, Any]]:
    """Everything that was ever submitted, corrected or undone, and whether it counts."""
    rows = work.rows(
        select(
            item.c.key,
            person.c.code,
            slot.c.id,
            slot.c.kind,
            slot.c.purpose,
            slot.c.state,
            slot.c.attempt,
            slot.c.answer_id,
            answer.c.id.label("number"),
            answer.c.action,
            answer.c.answers,
            answer.c.passed,
            answer.c.seconds,
            answer.c.at,
        )
        .select_from(answer)
        .join(slot, slot.c.id == answer.c.slot_id)
        .join(item, item.c.id == slot.c.item_id)
        .join(person, person.c.id == answer.c.person_id)
        .order_by(answer.c.id)
    )
    return (_entry(row) for row in rows)


def _entry(row: Record) -> dict[str, Any]:
    when = moment(row.at)
    return {
        "item": row.key,
        "person": row.code,
        "slot": row.id,
        "kind": row.kind,
        "purpose": row.purpose,
        "attempt": row.attempt,
        "action": row.action,
        "answers": row.answers,
        "passed": row.passed,
        "seconds": row.seconds,
        "when": when.isoformat() if when else None,
        "state": row.state,
        "counts": row.state == StudyState.DONE and row.answer_id == row.number,
    }


def personal_data(work: StoreWork, code: str) -> dict[str, Any]:
    """All that the study holds about a person, as plain values."""
    me = lock_person(work, code)
    drafts = work.rows(
        select(slot.c.id, slot.c.draft, item.c.key)
        .join(item, item.c.id == slot.c.item_id)
        .where(slot.c.person_id == me.id, slot.c.draft.is_not(None))
        .order_by(slot.c.id)
    )
    events = work.rows(select(event).where(event.c.person_id == me.id).order_by(event.c.id))

    def when(milliseconds: int | None) -> str | None:
        time = moment(milliseconds)
        return time.isoformat() if time else None

    return {
        "id": me.code,
        "role": me.role,
        "state": me.state,
        "name": me.name,
        "language": me.language,
        "panel": me.panel,
        "background": me.background,
        "invited": when(me.invited_at),
        "consented": when(me.consented_at),
        "seen": when(me.seen_at),
        "qualified": me.qualified,
        "attempt": me.attempt,
        "submissions": [entry for entry in history(work) if entry["person"] == me.code],
        "drafts": [{"slot": row.id, "item": row.key, "answers": row.draft} for row in drafts],
        "events": [
            {"when": when(row.at), "what": row.what, "detail": row.detail} for row in events
        ],
    }
