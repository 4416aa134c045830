"""Putting items into a study, each with as many open slots as are wanted of it."""

import json
import random
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from sqlalchemy import delete, insert, select, update

from parataxis.errors import InputError
from parataxis.rewrite.record import Rewrite
from parataxis.studies.items import Item, ItemKind, sentences_of
from parataxis.studies.records import HUMAN, Purpose, Value
from parataxis.studies.store.tables import (
    RANKS,
    Record,
    StoreWork,
    StudyState,
    answer,
    item,
    person,
    slot,
)
from parataxis.studies.store.types import (
    FLAG,
    REWRITE,
    PersonState,
)

_AT_ONCE = 1000


def add_items(work: StoreWork, items: Sequence[Item]) -> None:
    """Add items; those to be judged get open slots, in an order drawn by chance."""
    chance = random.SystemRandom()
    places = chance.sample(range(len(items)), len(items))
    rows = [
        {
            "key": each.id,
            "kind": each.kind,
            "purpose": each.purpose,
            "source": each.source,
            "rewrite": stored_rewrite(each.rewrite) if each.rewrite else None,
            "expected": dict(each.expected) or None,
            "feedback": each.feedback,
            "rank": place * RANKS // len(items),
            "withdrawn": False,
        }
        for each, place in zip(items, places, strict=True)
    ]
    _refuse(work, rows)
    for start in range(0, len(rows), _AT_ONCE):
        work.run_many(insert(item), rows[start : start + _AT_ONCE])
    wanted = {ItemKind.RATE.value: work.study.raters_of_items}
    if work.study.write:
        wanted[ItemKind.WRITE.value] = work.study.write.writers
    keys = {each.id for each in items if each.purpose is Purpose.ITEM}
    columns = (item.c.id, item.c.key, item.c.kind, item.c.rank)
    new = select(*columns).where(item.c.purpose == Purpose.ITEM)
    slots = [
        row
        for found in work.rows(new)
        if found.key in keys
        for row in open_slots(found.id, found.kind, wanted[found.kind], found.rank)
    ]
    for start in range(0, len(slots), _AT_ONCE):
        work.run_many(insert(slot), slots[start : start + _AT_ONCE])


def stored_rewrite(rewrite: Rewrite) -> dict[str, Any]:
    """The fields of a rewrite as the database keeps them."""
    return dict(rewrite.model_dump(mode="json", exclude_none=True, exclude={"id"}))


def open_slots(
    item_id: int, kind: str, wanted: int, rank: int, writer_id: int | None = None
) -> list[dict[str, Any]]:
    """The rows of the slots of a new item."""
    return [
        {
            "item_id": item_id,
            "kind": kind,
            "purpose": Purpose.ITEM,
            "place": place,
            "state": StudyState.OPEN,
            "attempt": 1,
            "rank": rank,
            "writer_id": writer_id,
        }
        for place in range(1, wanted + 1)
    ]


def _refuse(work: StoreWork, rows: Iterable[Mapping[str, Any]]) -> None:
    there = {row.key for row in work.rows(select(item.c.key))}
    for row in rows:
        if row["key"] in there:
            raise InputError(f'The study has an item "{row["key"]}" already.')
        there.add(row["key"])
        if not row["key"] or "\0" in row["key"]:
            raise InputError("An item of the study has no id, or one that cannot be used.")
        if "\0" in row["source"] or "\\u0000" in json.dumps(row["rewrite"]):
            raise InputError(f'The item "{row["key"]}" holds a NUL character.')
        if row["kind"] == ItemKind.WRITE and work.study.write is None:
            raise InputError(f'The item "{row["key"]}" has no rewrite, and nobody is to write one.')


def made_in(work: StoreWork, row: Record) -> Sequence[Record]:
    """The item that was written in a slot, where there is one."""
    if row.kind != ItemKind.WRITE:
        return ()
    return work.rows(select(item).where(item.c.slot_id == row.id, item.c.withdrawn.is_(False)))


def offer(work: StoreWork, row: Record, answers: Mapping[str, Value], answer_id: int) -> None:
    """Make what was written in a slot an item; a flag makes none."""
    if answers.get(FLAG) is not None:
        return
    source = work.rows(select(item).where(item.c.id == row.item_id))[0]
    rewrite = Rewrite(
        source=source.source, simple=sentences_of(str(answers[REWRITE])), splitter=HUMAN
    )
    rank = random.SystemRandom().randrange(RANKS)
    item_id = work.insert(
        item,
        key=f"{source.key}.{answer_id}",
        kind=ItemKind.RATE,
        purpose=Purpose.ITEM,
        source=source.source,
        rewrite={**stored_rewrite(rewrite), "source_id": source.key},
        rank=rank,
        writer_id=row.person_id,
        slot_id=row.id,
        answer_id=answer_id,
        withdrawn=False,
    )
    wanted = work.study.raters_of_rewrites
    work.run_many(insert(slot), open_slots(item_id, ItemKind.RATE, wanted, rank, row.person_id))


def withdraw(work: StoreWork, item_id: int) -> None:
    """Take a rewrite out of the study; ratings of it are kept, and void."""
    work.run(update(item).where(item.c.id == item_id).values(withdrawn=True))
    work.run(delete(slot).where(slot.c.item_id == item_id, slot.c.state == StudyState.OPEN))
    work.run(update(slot).where(slot.c.item_id == item_id).values(state=StudyState.VOID))


def offer_again(work: StoreWork, row: Record) -> None:
    """Bring back the rewrite that a slot gave, with the ratings that it had."""
    made = work.first(
        select(item).where(item.c.slot_id == row.id, item.c.answer_id == row.answer_id)
    )
    if made is None:  # it was submitted while the person was out
        said = work.rows(select(answer.c.answers).where(answer.c.id == row.answer_id))[0]
        offer(work, row, said.answers, row.answer_id)
        return
    work.run(update(item).where(item.c.id == made.id).values(withdrawn=False))
    free = set(range(1, work.study.raters_of_rewrites + 1))
    rated = work.rows(
        select(slot)
        .join(person, person.c.id == slot.c.person_id)
        .where(slot.c.item_id == made.id, slot.c.answer_id.is_not(None))
        .where(person.c.state != PersonState.EXCLUDED)
        .order_by(slot.c.id)
    )
    for rating in rated:
        state = StudyState.DONE
        if rating.kind == ItemKind.RATE:
            state = StudyState.DONE if rating.place in free else StudyState.SURPLUS
            free.discard(rating.place)
        work.run(update(slot).where(slot.c.id == rating.id).values(state=state))
    fresh = open_slots(
        made.id, ItemKind.RATE, work.study.raters_of_rewrites, made.rank, made.writer_id
    )
    work.run_many(insert(slot), [each for each in fresh if each["place"] in free])
