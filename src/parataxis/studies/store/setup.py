"""Putting items into a study, each with as many open slots as are wanted of it."""

import json
import random
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from sqlalchemy import insert, select

from parataxis.errors import InputError
from parataxis.rewrite.record import Rewrite
from parataxis.studies.items import Item, Kind
from parataxis.studies.records import Purpose
from parataxis.studies.store.tables import item, slot
from parataxis.studies.store.work import RANKS, State, Work

__all__ = ["add_items", "open_slots", "stored_rewrite"]

_AT_ONCE = 1000


def add_items(work: Work, items: Sequence[Item]) -> None:
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
    wanted = {Kind.RATE.value: work.study.raters_of_items}
    if work.study.write:
        wanted[Kind.WRITE.value] = work.study.write.writers
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
            "state": State.OPEN,
            "attempt": 1,
            "rank": rank,
            "writer_id": writer_id,
        }
        for place in range(1, wanted + 1)
    ]


def _refuse(work: Work, rows: Iterable[Mapping[str, Any]]) -> None:
    there = {row.key for row in work.rows(select(item.c.key))}
    for row in rows:
        if row["key"] in there:
            raise InputError(f'The study has an item "{row["key"]}" already.')
        there.add(row["key"])
        if not row["key"] or "\0" in row["key"]:
            raise InputError("An item of the study has no id, or one that cannot be used.")
        if "\0" in row["source"] or "\\u0000" in json.dumps(row["rewrite"]):
            raise InputError(f'The item "{row["key"]}" holds a NUL character.')
        if row["kind"] == Kind.WRITE and work.study.write is None:
            raise InputError(f'The item "{row["key"]}" has no rewrite, and nobody is to write one.')
