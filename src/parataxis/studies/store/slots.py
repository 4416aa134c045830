"""The life of a slot: opened, leased, lapsed, taken again. Every change here keeps the number of
open, leased and done slots of an item as it is."""

import random
from collections.abc import Iterable
from typing import Any

from sqlalchemy import (
    ColumnElement,
    Select,
    delete,
    exists,
    func,
    insert,
    literal_column,
    or_,
    select,
    update,
)

from parataxis.studies.store.tables import item, slot
from parataxis.studies.store.work import RANKS, Record, State, Work

__all__ = ["claim", "had_by", "has_begun", "reopen", "sweep", "take_place", "withdraw"]

_SWEPT_AT_ONCE = 100
_SLACK = 5 * 60_000
"""Clocks of two servers may differ by so much."""

# Literals, not parameters: the engines must see that the partial indices apply.
_IS_OPEN = literal_column("slot.state") == literal_column("'open'")
_IS_LEASED = literal_column("slot.state") == literal_column("'leased'")


def _open_again(work: Work, rows: Iterable[Record]) -> None:
    """Open a slot at the place of each of these, which have just given theirs up."""
    work.run_many(
        insert(slot),
        [
            {
                "item_id": row.item_id,
                "kind": row.kind,
                "purpose": row.purpose,
                "place": row.place,
                "state": State.OPEN,
                "attempt": 1,
                "rank": row.rank,
                "writer_id": row.writer_id,
            }
            for row in rows
            if row.place is not None
        ],
    )


def sweep(work: Work) -> None:
    """Open the slots whose leases ran out. A lease that ends too far in the future was given
    before the clock was put back; it is shortened to what it should be."""
    work.run(
        update(slot)
        .where(_IS_LEASED, slot.c.leased_until > work.now + work.lease + _SLACK)
        .values(leased_until=work.now + work.lease)
    )
    expired = (
        select(slot)
        .where(_IS_LEASED, slot.c.leased_until < work.now)
        .order_by(slot.c.leased_until)
        .limit(_SWEPT_AT_ONCE)
    )
    reopen(work, work.rows(work.locked(expired, skip=True)), State.LAPSED)


def reopen(work: Work, rows: Iterable[Record], state: State) -> None:
    """Give these leased or done slots that state, and open others in their place."""
    rows = list(rows)
    if not rows:
        return
    ids = [row.id for row in rows]
    for start in range(0, len(ids), 500):
        work.run(update(slot).where(slot.c.id.in_(ids[start : start + 500])).values(state=state))
    _open_again(work, (row for row in rows if row.state in (State.LEASED, State.DONE)))


def take_place(work: Work, mine: Record) -> int | None:
    """Take an open place of the item for a slot that has none, or None where all are taken."""
    sweep(work)
    free = (
        select(slot.c.id, slot.c.place)
        .where(slot.c.item_id == mine.item_id, slot.c.kind == mine.kind, _IS_OPEN)
        .order_by(slot.c.place)
        .limit(1)
    )
    found = work.first(work.locked(free, skip=True))
    if found is None:
        return None
    work.run(delete(slot).where(slot.c.id == found.id))
    return int(found.place)


def claim(work: Work, me: Record, kind: str, begun: int) -> int | None:
    """Lease an open slot to a person: the id of the slot, or None where there is none for them.

    The search begins at a rank that is drawn anew for each of the person's tasks, so that each
    person meets the items in an order of their own.
    """
    start = random.Random(f"{me.seed}:{begun}").randrange(RANKS)
    found = work.first(work.locked(_candidate(me, kind).where(slot.c.rank >= start), skip=True))
    if found is None:
        found = work.first(work.locked(_candidate(me, kind).where(slot.c.rank < start), skip=True))
    if found is None:
        return None
    leased = {
        "state": State.LEASED,
        "person_id": me.id,
        "leased_at": work.now,
        "leased_until": work.now + work.lease,
    }
    lapsed = work.first(
        select(slot.c.id).where(slot.c.item_id == found.item_id, slot.c.person_id == me.id)
    )
    if lapsed is None:
        work.run(update(slot).where(slot.c.id == found.id).values(**leased))
        return int(found.id)
    work.run(delete(slot).where(slot.c.id == found.id))
    work.run(update(slot).where(slot.c.id == lapsed.id).values(**leased, place=found.place))
    return int(lapsed.id)


def had_by(person_id: int) -> ColumnElement[bool]:
    """Whether a slot is of an item that the person wrote, or had before, unless their lease of it
    ran out."""
    mine = slot.alias("mine")
    had = exists().where(
        mine.c.item_id == slot.c.item_id,
        mine.c.person_id == person_id,
        mine.c.state != State.LAPSED,
    )
    return or_(had, func.coalesce(slot.c.writer_id, 0) == person_id)


def _candidate(me: Record, kind: str) -> Select[Any]:
    """An open slot that may be the person's."""
    return (
        select(slot.c.id, slot.c.item_id, slot.c.place)
        .where(_IS_OPEN, slot.c.kind == kind, ~had_by(me.id))
        .order_by(slot.c.rank, slot.c.id)
        .limit(1)
    )


def has_begun(work: Work, item_id: int) -> bool:
    """Whether somebody works, or worked, on an item."""
    begun = select(slot.c.id).where(slot.c.item_id == item_id, slot.c.state != State.OPEN).limit(1)
    return work.first(begun) is not None


def withdraw(work: Work, item_id: int) -> None:
    """Take a rewrite out of the study; ratings of it are kept, and void."""
    work.run(update(item).where(item.c.id == item_id).values(withdrawn=True))
    work.run(delete(slot).where(slot.c.item_id == item_id, slot.c.state == State.OPEN))
    work.run(update(slot).where(slot.c.item_id == item_id).values(state=State.VOID))
