"""The life of a slot: opened, leased, lapsed, taken again. Every change here keeps the number of
open, leased and done slots of an item as it is."""

import random
from collections.abc import Iterable

from sqlalchemy import (
    bindparam,
    delete,
    exists,
    func,
    insert,
    literal_column,
    or_,
    select,
    update,
)

from parataxis.studies.store.tables import slot
from parataxis.studies.store.work import RANKS, Record, State, Work

__all__ = ["HAD", "claim", "has_begun", "reopen", "sweep", "take_place"]

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


# What is asked with every click is put together once: that takes longer than the asking.
_SHORTEN = (
    update(slot)
    .where(_IS_LEASED, slot.c.leased_until > bindparam("latest"))
    .values(leased_until=bindparam("until"))
)
_EXPIRED = (
    select(slot)
    .where(_IS_LEASED, slot.c.leased_until < bindparam("now"))
    .order_by(slot.c.leased_until)
    .limit(_SWEPT_AT_ONCE)
    .with_for_update(skip_locked=True)
)


def sweep(work: Work) -> None:
    """Open the slots whose leases ran out. A lease that ends too far in the future was given
    before the clock was put back; it is shortened to what it should be."""
    until = work.now + work.lease
    work.run(_SHORTEN, latest=until + _SLACK, until=until)
    reopen(work, work.rows(_EXPIRED, now=work.now), State.LAPSED)


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


_MINE = slot.alias("mine")
_OWN = (
    select(_MINE.c.id)
    .where(_MINE.c.item_id == slot.c.item_id, _MINE.c.person_id == bindparam("me"))
    .scalar_subquery()
)

HAD = or_(
    exists().where(
        _MINE.c.item_id == slot.c.item_id,
        _MINE.c.person_id == bindparam("me"),
        _MINE.c.state != State.LAPSED,
    ),
    func.coalesce(slot.c.writer_id, 0) == bindparam("me"),
)
"""Whether a slot is of an item that the person ``me`` wrote, or had before, unless their lease of
it ran out."""

_CANDIDATE = (
    select(slot.c.id, slot.c.place, _OWN.label("lapsed"))
    .where(_IS_OPEN, slot.c.kind == bindparam("kind"), ~HAD)
    .order_by(slot.c.rank, slot.c.id)
    .limit(1)
    .with_for_update(skip_locked=True, of=slot)
)
_FROM_START = _CANDIDATE.where(slot.c.rank >= bindparam("start"))
_BEFORE_START = _CANDIDATE.where(slot.c.rank < bindparam("start"))
_LEASE = (
    update(slot)
    .where(slot.c.id == bindparam("slot"))
    .values(
        state=State.LEASED,
        person_id=bindparam("me"),
        place=bindparam("at"),
        leased_at=bindparam("now"),
        leased_until=bindparam("until"),
    )
)


def claim(work: Work, me: Record, kind: str, begun: int) -> int | None:
    """Lease an open slot to a person: the id of the slot, or None where there is none for them.

    The search begins at a rank that is drawn anew for each of the person's tasks, so that each
    person meets the items in an order of their own. Leases that ran out are looked at only where
    nothing is open: until then nobody needs their places.
    """
    found = _candidate(work, me, kind, begun)
    if found is None:
        sweep(work)
        found = _candidate(work, me, kind, begun)
    if found is None:
        return None
    if found.lapsed is not None:
        work.run(delete(slot).where(slot.c.id == found.id))
    mine = int(found.id if found.lapsed is None else found.lapsed)
    until = work.now + work.lease
    work.run(_LEASE, slot=mine, me=me.id, at=found.place, now=work.now, until=until)
    return mine


def _candidate(work: Work, me: Record, kind: str, begun: int) -> Record | None:
    where = {
        "me": me.id,
        "kind": kind,
        "start": random.Random(f"{me.seed}:{begun}").randrange(RANKS),
    }
    return work.first(_FROM_START, **where) or work.first(_BEFORE_START, **where)


def has_begun(work: Work, item_id: int) -> bool:
    """Whether somebody works, or worked, on an item; if not, nobody begins before the end of a
    transaction that writes."""
    states = work.rows(work.locked(select(slot.c.state).where(slot.c.item_id == item_id)))
    return any(row.state != State.OPEN for row in states)
