"""The tables of a study's database. Times are milliseconds since 1970, UTC, on every engine.

New databases are created from these tables; the migrations upgrade older ones.
"""

from typing import Any

import sqlalchemy as sa
from sqlalchemy import BigInteger, Boolean, Column, Float, ForeignKey, Index, Integer, String, Text

METADATA = sa.MetaData()

_Json = sa.JSON(none_as_null=True)


def _table(name: str, *parts: Column[Any] | sa.schema.SchemaItem) -> sa.Table:
    return sa.Table(name, METADATA, Column("id", Integer, primary_key=True), *parts)


def _partial_index(name: str, condition: str, *columns: str, unique: bool = False) -> Index:
    where = sa.text(condition)
    return Index(name, *columns, unique=unique, sqlite_where=where, postgresql_where=where)


study = _table(
    "study",
    Column("name", Text, nullable=False),
    Column("description", _Json, nullable=False),
    # The digests of the files that the study was created from.
    Column("files", _Json),
    Column("paused", Boolean, nullable=False),
    Column("created_at", BigInteger, nullable=False),
)

person = _table(
    "person",
    Column("code", String(32), nullable=False, unique=True),
    Column("role", String(16), nullable=False),
    Column("state", String(16), nullable=False),
    Column("name", Text),
    Column("language", String(16)),
    Column("panel_id", Text, unique=True),
    Column("panel", _Json),
    Column("background", _Json),
    Column("invited_at", BigInteger, nullable=False),
    Column("consented_at", BigInteger),
    Column("seen_at", BigInteger),
    Column("qualified", Boolean),
    Column("attempt", Integer, nullable=False),
    # The same for the qualification of writers.
    Column("may_write", Boolean),
    Column("write_attempt", Integer),
    # Seeds the order of the person's items.
    Column("seed", BigInteger, nullable=False),
)

item = _table(
    "item",
    Column("key", Text, nullable=False, unique=True),
    Column("kind", String(8), nullable=False),
    Column("purpose", String(16), nullable=False),
    Column("source", Text, nullable=False),
    Column("rewrite", _Json),
    Column("expected", _Json),
    Column("feedback", _Json),
    # Whether writers get a bonus for this source.
    Column("hard", Boolean),
    Column("rank", Integer, nullable=False),
    # The writer, the slot and the answer, if a participant wrote the rewrite.
    Column("writer_id", Integer, ForeignKey("person.id")),
    Column("slot_id", Integer),
    Column("answer_id", Integer),
    Column("withdrawn", Boolean, nullable=False),
    Index("item_purpose", "purpose", "id"),
    Index("item_slot", "slot_id"),
    Index("item_writer", "writer_id"),
)

# One row for each rating or rewrite that is wanted, and one for each that somebody submitted or
# started although it is no longer wanted. The open, leased and done slots of an item have
# different places from 1 to N. The database enforces this, so there are never more than N.
slot = _table(
    "slot",
    # A random id, drawn when the slot is given to a person. Ids of rows tell where an item is from.
    Column("code", String(16)),
    Column("item_id", Integer, ForeignKey("item.id"), nullable=False),
    Column("kind", String(8), nullable=False),
    Column("purpose", String(16), nullable=False),
    # None for training, test and control items, which everybody does.
    Column("place", Integer),
    Column("state", String(8), nullable=False),
    Column("person_id", Integer, ForeignKey("person.id")),
    Column("attempt", Integer, nullable=False),
    # Copied from the item, so that a single index finds the next open slot.
    Column("rank", Integer, nullable=False),
    Column("writer_id", Integer),
    # Equal for all rewrites of a source, and for the source itself.
    Column("source_hash", BigInteger),
    Column("leased_at", BigInteger),
    Column("leased_until", BigInteger),
    Column("draft", _Json),
    Column("answer_id", Integer),
    Column("submitted_at", BigInteger),
    sa.UniqueConstraint("item_id", "person_id", "attempt", name="slot_once"),
    _partial_index(
        "slot_place", "state IN ('open', 'leased', 'done')", "item_id", "kind", "place", unique=True
    ),
    _partial_index("slot_open", "state = 'open'", "kind", "rank", "id"),
    _partial_index("slot_leased", "state = 'leased'", "leased_until"),
    Index("slot_person", "person_id", "state", "kind", "purpose"),
    Index("slot_writer", "writer_id"),
    Index("slot_code", "code", unique=True),
    Index("slot_source", "person_id", "source_hash"),
)

# Rows are never changed, and deleted only when a participant's data are erased.
answer = _table(
    "answer",
    Column("slot_id", Integer, ForeignKey("slot.id"), nullable=False),
    Column("person_id", Integer, ForeignKey("person.id"), nullable=False),
    Column("action", String(8), nullable=False),
    Column("answers", _Json, nullable=False),
    Column("passed", Boolean),
    Column("seconds", Float),
    Column("at", BigInteger, nullable=False),
    Index("answer_slot", "slot_id", "id"),
    Index("answer_person", "person_id", "id"),
    Index("answer_at", "at"),
)

event = _table(
    "event",
    Column("at", BigInteger, nullable=False),
    Column("person_id", Integer, ForeignKey("person.id")),
    Column("what", String(16), nullable=False),
    Column("detail", Text),
    Index("event_person", "person_id", "id"),
)
