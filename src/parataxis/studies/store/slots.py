"""Items and their slots: opened, leased, expired, taken again.

Every change of a slot here keeps the number of open, leased and done slots of its item constant.
"""

import hashlib
import json
import random
import secrets
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from sqlalchemy import (
    Boolean,
    and_,
    bindparam,
    delete,
    exists,
    func,
    literal_column,
    or_,
    select,
    update,
)

from parataxis.errors import InputError
from parataxis.rewrite.record import Rewrite
from parataxis.studies.items import Item, sentences_of
from parataxis.studies.records import FLAG, HUMAN, REWRITE, Purpose, Value
from parataxis.studies.store.database import EXPERT, Record, Transaction
from parataxis.studies.store.tables import answer, item, person, slot
from parataxis.studies.store.types import COUNTING, PersonState, SlotState
from parataxis.studies.study import ItemKind

RANKS = 2**31 - 1
"""Items have random ranks below this number, and a search starts at any of them."""
_SWEPT_AT_ONCE = 100
_CLOCK_SKEW = 5 * 60_000
"""The most by which the clocks of two servers may differ."""

# Literals instead of parameters, so that the engines use the partial indexes.
_IS_OPEN = literal_column("slot.state") == literal_column("'open'")
_IS_LEASED = literal_column("slot.state") == literal_column("'leased'")


_ALPHABET = "23456789abcdefghjkmnpqrstuvwxyz"  # without characters that look alike


def new_code() -> str:
    """A random id of a person or a task; with 31^10 of them nobody guesses one."""
    return "".join(secrets.choice(_ALPHABET) for _ in range(10))


def hash_of(source: str) -> int:
    """A number that the same source always has, apart from white space."""
    digest = hashlib.sha256(" ".join(source.split()).encode("utf-8", "surrogatepass")).digest()
    return int.from_bytes(digest[:8]) >> 1


CHANGE = update(slot).where(slot.c.id == bindparam("slot"))
"""Changes the given columns of the slot with the id ``slot``."""


# --- Items


def add_items(tx: Transaction, items: Sequence[Item]) -> None:
    """Add items to the study. Those to be judged get open slots, in random order."""
    places = random.SystemRandom().sample(range(len(items)), len(items))
    rows = [
        {
            "key": each.id,
            "kind": each.kind,
            "purpose": each.purpose,
            "source": each.source,
            "rewrite": _stored(each.rewrite) if each.rewrite else None,
            "expected": dict(each.expected) or None,
            "feedback": each.feedback,
            "hard": each.hard or None,
            "rank": place * RANKS // len(items),
            "withdrawn": False,
        }
        for each, place in zip(items, places, strict=True)
    ]
    _refuse_bad(tx, rows)
    tx.insert_all(item, rows)
    wanted = {ItemKind.RATE.value: tx.study.raters_of_items}
    if tx.study.write:
        wanted[ItemKind.WRITE.value] = tx.study.write.writers
    keys = {each.id for each in items if each.purpose is Purpose.ITEM}
    judged = tx.rows(select(item).where(item.c.purpose == Purpose.ITEM))
    found = (row for row in judged if row.key in keys)
    tx.insert_all(slot, [new for row in found for new in _new_slots(row, wanted[row.kind])])


def _refuse_bad(tx: Transaction, rows: Iterable[Mapping[str, Any]]) -> None:
    known = {row.key for row in tx.rows(select(item.c.key))}
    for row in rows:
        if row["key"] in known:
            raise InputError(f'The study has an item "{row["key"]}" already.')
        known.add(row["key"])
        if not row["key"] or "\0" in row["key"]:
            raise InputError("An item of the study has no id, or one that cannot be used.")
        if "\0" in row["source"] or "\\u0000" in json.dumps(row["rewrite"]):
            raise InputError(f'The item "{row["key"]}" holds a NUL character.')
        if row["kind"] == ItemKind.WRITE and tx.study.write is None:
            raise InputError(
                f'The item "{row["key"]}" has no rewrite, but the study has no "write" phase.'
            )


def _stored(rewrite: Rewrite) -> dict[str, Any]:
    return dict(rewrite.model_dump(mode="json", exclude_none=True, exclude={"id"}))


def _new_slots(of: Record, wanted: int, kind: str | None = None) -> list[dict[str, Any]]:
    values = {"item_id": of.id, "kind": kind or of.kind, "source_hash": hash_of(of.source)}
    return [_open_slot(of, **values, place=place) for place in range(1, wanted + 1)]


def _open_slot(like: Record, **values: Any) -> dict[str, Any]:
    """The row of an open slot, with the rank and the writer of an item or of another slot."""
    copied = {"purpose": like.purpose, "rank": like.rank, "writer_id": like.writer_id}
    return {**copied, "state": SlotState.OPEN, "attempt": 1, **values}


def ask_experts(tx: Transaction, items: Iterable[str]) -> int:
    """Ask an expert to rate each of these items (ids). Expert ratings are exported
    separately. Items that experts were asked about before are skipped; returns how many are new."""
    wanted = set(items)
    found = tx.rows(
        select(item)
        .where(item.c.kind == ItemKind.RATE, item.c.withdrawn.is_(False))
        .where(item.c.purpose == Purpose.ITEM)
    )
    unknown = wanted - {row.key for row in found}
    if unknown:
        raise InputError(f'The study has no rewrite "{min(unknown)}" to be rated.')
    asked = {row.item_id for row in tx.rows(select(slot.c.item_id).where(slot.c.kind == EXPERT))}
    new = [row for row in found if row.key in wanted and row.id not in asked]
    tx.insert_all(slot, [each for row in new for each in _new_slots(row, 1, EXPERT)])
    return len(new)


# --- Rewrites by participants


def written_in(tx: Transaction, row: Record) -> Sequence[Record]:
    if row.kind != ItemKind.WRITE:
        return ()
    return tx.rows(select(item).where(item.c.slot_id == row.id, item.c.withdrawn.is_(False)))


def offer(tx: Transaction, row: Record, answers: Mapping[str, Value], answer_id: int) -> None:
    """Make an item, for others to rate, of what was written in a slot. A flag makes none."""
    if answers.get(FLAG) is not None:
        return
    of = tx.one(select(item).where(item.c.id == row.item_id))
    simple = sentences_of(str(answers[REWRITE]))
    rewrite = Rewrite(source=of.source, simple=simple, splitter=HUMAN)
    item_id = tx.insert(
        item,
        key=f"{of.key}.{answer_id}",
        kind=ItemKind.RATE,
        purpose=Purpose.ITEM,
        source=of.source,
        rewrite={**_stored(rewrite), "source_id": of.key},
        rank=random.SystemRandom().randrange(RANKS),
        writer_id=row.person_id,
        slot_id=row.id,
        answer_id=answer_id,
        withdrawn=False,
    )
    made = tx.one(select(item).where(item.c.id == item_id))
    tx.insert_all(slot, _new_slots(made, tx.study.raters_of_rewrites))


def withdraw(tx: Transaction, item_id: int) -> None:
    """Take a rewrite out of the study. Its ratings are kept, but void."""
    tx.run(update(item).where(item.c.id == item_id).values(withdrawn=True))
    tx.run(delete(slot).where(slot.c.item_id == item_id, slot.c.state == SlotState.OPEN))
    given = update(slot).where(slot.c.item_id == item_id, slot.c.state != SlotState.REJECTED)
    tx.run(given.values(state=SlotState.VOID))


def offer_again(tx: Transaction, row: Record) -> None:
    """Bring back the rewrite that was written in a slot, with its ratings."""
    made = tx.first(select(item).where(item.c.slot_id == row.id, item.c.answer_id == row.answer_id))
    if made is None:  # it was submitted while the person was excluded
        found = tx.one(select(answer.c.answers).where(answer.c.id == row.answer_id))
        offer(tx, row, found.answers, row.answer_id)
        return
    tx.run(update(item).where(item.c.id == made.id).values(withdrawn=False))
    free = set(range(1, tx.study.raters_of_rewrites + 1))
    rated = tx.rows(
        select(slot)
        .join(person, person.c.id == slot.c.person_id)
        .where(slot.c.item_id == made.id, slot.c.answer_id.is_not(None))
        .where(slot.c.state != SlotState.REJECTED)
        .where(person.c.state != PersonState.EXCLUDED)
        .order_by(slot.c.id)
    )
    for rating in rated:
        is_counted = rating.kind != ItemKind.RATE or rating.place in free
        state = SlotState.DONE if is_counted else SlotState.SURPLUS
        free -= {rating.place} if rating.kind == ItemKind.RATE else set()
        tx.run(CHANGE, slot=rating.id, state=state)
    new = _new_slots(made, tx.study.raters_of_rewrites)
    tx.insert_all(slot, [each for each in new if each["place"] in free])


def has_begun(tx: Transaction, item_id: int) -> bool:
    """Whether anybody works, or has worked, on an item. If not, nobody can start before the end
    of a transaction that writes."""
    states = tx.rows(tx.locked(select(slot.c.state).where(slot.c.item_id == item_id)))
    return any(row.state != SlotState.OPEN for row in states)


# --- Leases

# Frequent queries are built once, since building one takes longer than running it.
_SHORTEN = (
    update(slot)
    .where(_IS_LEASED, slot.c.leased_until > bindparam("latest"))
    .values(leased_until=bindparam("until"))
)
_EXPIRED = (
    select(slot)
    .where(_IS_LEASED, slot.c.leased_until < bindparam("now"), slot.c.place.is_not(None))
    .order_by(slot.c.leased_until)
    .limit(_SWEPT_AT_ONCE)
    .with_for_update(skip_locked=True)
)


def _sweep(tx: Transaction) -> None:
    """Reopen the slots whose leases have expired. A lease that ends too far in the future was
    given before the clock was put back, and is shortened."""
    until = tx.now + tx.lease
    tx.run(_SHORTEN, latest=until + _CLOCK_SKEW, until=until)
    reopen(tx, tx.rows(_EXPIRED, now=tx.now), SlotState.LAPSED)


def reopen(tx: Transaction, rows: Iterable[Record], state: SlotState) -> None:
    """Set the state of these slots, and open new ones in the places that they held."""
    rows = list(rows)
    ids = [row.id for row in rows]
    for start in range(0, len(ids), 500):
        tx.run(update(slot).where(slot.c.id.in_(ids[start : start + 500])).values(state=state))
    again = [row for row in rows if row.state in COUNTING and row.place is not None]
    same = ("item_id", "kind", "place", "source_hash")
    tx.insert_all(slot, [_open_slot(r, **{name: r._mapping[name] for name in same}) for r in again])


def take_place(tx: Transaction, row: Record) -> int | None:
    """Take an open place of the item for a slot that has none; None if all are taken."""
    _sweep(tx)
    free = (
        select(slot.c.id, slot.c.place)
        .where(slot.c.item_id == row.item_id, slot.c.kind == row.kind, _IS_OPEN)
        .order_by(slot.c.place)
        .limit(1)
    )
    found = tx.first(tx.locked(free, skip_locked=True))
    if found is None:
        return None
    tx.run(delete(slot).where(slot.c.id == found.id))
    return int(found.place)


_MINE = slot.alias("mine")
_IS_MINE = (_MINE.c.item_id == slot.c.item_id, _MINE.c.person_id == bindparam("me"))

_KNOWS_SOURCE = exists().where(
    _MINE.c.person_id == bindparam("me"),
    _MINE.c.source_hash == slot.c.source_hash,
    _MINE.c.kind != slot.c.kind,
)
HAD_ITEM = exists().where(*_IS_MINE, _MINE.c.state != SlotState.LAPSED)
HAD = or_(
    HAD_ITEM,
    func.coalesce(slot.c.writer_id, 0) == bindparam("me"),
    and_(bindparam("apart", type_=Boolean), _KNOWS_SOURCE),
)
"""Whether a slot belongs to an item that the person ``me`` wrote or had before, except if their
lease of it expired. If ``apart``, also whether they wrote a rewrite of its source and are now asked
to rate one, or the other way round."""

_CANDIDATE = (
    select(
        slot.c.id,
        slot.c.place,
        select(_MINE.c.id).where(*_IS_MINE).scalar_subquery().label("lapsed"),
        select(_MINE.c.code).where(*_IS_MINE).scalar_subquery().label("lapsed_code"),
    )
    .where(_IS_OPEN, slot.c.kind == bindparam("kind"), ~HAD)
    .order_by(slot.c.rank, slot.c.id)
    .limit(1)
    .with_for_update(skip_locked=True, of=slot)
)
_FROM_START = _CANDIDATE.where(slot.c.rank >= bindparam("start"))
_BEFORE_START = _CANDIDATE.where(slot.c.rank < bindparam("start"))


def claim(tx: Transaction, me: Record, kind: str, begun: int) -> str | None:
    """Lease an open slot to a person; returns its code, or None if there is none for them.

    The search starts at a rank that is drawn anew for each of the person's tasks, so that
    everybody sees the items in a different order. Expired leases are considered only if nothing
    is open: nobody needs their places before that.
    """
    found = _candidate(tx, me, kind, begun)
    if found is None:
        _sweep(tx)
        found = _candidate(tx, me, kind, begun)
    if found is None:
        return None
    if found.lapsed is not None:
        tx.run(delete(slot).where(slot.c.id == found.id))
    mine = int(found.id if found.lapsed is None else found.lapsed)
    lease = {"leased_at": tx.now, "leased_until": tx.now + tx.lease}
    code = str(found.lapsed_code or new_code())
    values = {"state": SlotState.LEASED, "place": found.place, "submitted_at": None, **lease}
    tx.run(CHANGE, slot=mine, person_id=me.id, code=code, **values)
    return code


def _candidate(tx: Transaction, me: Record, kind: str, begun: int) -> Record | None:
    start = random.Random(f"{me.seed}:{begun}").randrange(RANKS)
    where = {"me": me.id, "kind": kind, "start": start, "apart": tx.study.keeps_apart}
    return tx.first(_FROM_START, **where) or tx.first(_BEFORE_START, **where)
