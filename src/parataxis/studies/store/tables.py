"""The tables of a study's database. Times are milliseconds since 1970, UTC, on every engine.

The migrations make these tables; a test compares the two.
"""

from sqlalchemy import (
    JSON,
    BigInteger,
    Boolean,
    Column,
    Float,
    ForeignKey,
    Index,
    Integer,
    MetaData,
    String,
    Table,
    Text,
    UniqueConstraint,
    text,
)

__all__ = ["METADATA", "answer", "event", "item", "person", "slot", "study"]

METADATA = MetaData()

_Json = JSON(none_as_null=True)

study = Table(
    "study",
    METADATA,
    Column("id", Integer, primary_key=True),
    Column("name", Text, nullable=False),
    Column("description", _Json, nullable=False),
    Column("paused", Boolean, nullable=False),
    Column("created_at", BigInteger, nullable=False),
)

person = Table(
    "person",
    METADATA,
    Column("id", Integer, primary_key=True),
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
    # What the order of their items is drawn from.
    Column("seed", BigInteger, nullable=False),
)

item = Table(
    "item",
    METADATA,
    Column("id", Integer, primary_key=True),
    Column("key", Text, nullable=False, unique=True),
    Column("kind", String(8), nullable=False),
    Column("purpose", String(16), nullable=False),
    Column("source", Text, nullable=False),
    Column("rewrite", _Json),
    Column("expected", _Json),
    Column("feedback", _Json),
    Column("rank", Integer, nullable=False),
    # Who wrote it, in which slot and by which answer, where a person of the study did.
    Column("writer_id", Integer, ForeignKey("person.id")),
    Column("slot_id", Integer),
    Column("answer_id", Integer),
    Column("withdrawn", Boolean, nullable=False),
    Index("item_purpose", "purpose", "id"),
    Index("item_slot", "slot_id"),
    Index("item_writer", "writer_id"),
)

# One row for each rating or rewrite that is wanted, and one for each that somebody gave or began
# though it is no longer wanted. The open, leased and done rows of an item have different places
# from 1 to N, which the database itself enforces: there can never be more than N.
slot = Table(
    "slot",
    METADATA,
    Column("id", Integer, primary_key=True),
    Column("item_id", Integer, ForeignKey("item.id"), nullable=False),
    Column("kind", String(8), nullable=False),
    Column("purpose", String(16), nullable=False),
    # None for training, test and control items: everybody does those.
    Column("place", Integer),
    Column("state", String(8), nullable=False),
    Column("person_id", Integer, ForeignKey("person.id")),
    Column("attempt", Integer, nullable=False),
    # Copies of the item's, so that one index finds the next open slot.
    Column("rank", Integer, nullable=False),
    Column("writer_id", Integer),
    Column("leased_at", BigInteger),
    Column("leased_until", BigInteger),
    Column("draft", _Json),
    Column("answer_id", Integer),
    Column("submitted_at", BigInteger),
    UniqueConstraint("item_id", "person_id", "attempt", name="slot_once"),
    Index(
        "slot_place",
        "item_id",
        "kind",
        "place",
        unique=True,
        sqlite_where=text("state IN ('open', 'leased', 'done')"),
        postgresql_where=text("state IN ('open', 'leased', 'done')"),
    ),
    Index(
        "slot_open",
        "kind",
        "rank",
        "id",
        sqlite_where=text("state = 'open'"),
        postgresql_where=text("state = 'open'"),
    ),
    Index(
        "slot_leased",
        "leased_until",
        sqlite_where=text("state = 'leased'"),
        postgresql_where=text("state = 'leased'"),
    ),
    Index("slot_person", "person_id", "state", "kind", "purpose"),
    Index("slot_writer", "writer_id"),
)

# Never changed and, unless somebody has their data erased, never deleted.
answer = Table(
    "answer",
    METADATA,
    Column("id", Integer, primary_key=True),
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

event = Table(
    "event",
    METADATA,
    Column("id", Integer, primary_key=True),
    Column("at", BigInteger, nullable=False),
    Column("person_id", Integer, ForeignKey("person.id")),
    Column("what", String(16), nullable=False),
    Column("detail", Text),
    Index("event_person", "person_id", "id"),
)
