"""The tables of a study's database. Times are milliseconds since 1970, UTC, on every engine.

The migrations make these tables; a test compares the two.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import StrEnum
from typing import TYPE_CHECKING, Any

from sqlalchemy import (
    JSON,
    BigInteger,
    Boolean,
    Column,
    Connection,
    Executable,
    Float,
    ForeignKey,
    Index,
    Integer,
    MetaData,
    Row,
    Select,
    String,
    Table,
    Text,
    UniqueConstraint,
    bindparam,
    insert,
    select,
    text,
)

from parataxis.studies.items import ItemKind
from parataxis.studies.store.types import NotYoursError, Person, PersonState
from parataxis.studies.study import Role, Study

if TYPE_CHECKING:
    Record = Row[*tuple[Any, ...]]
else:  # the number of its parameters depends on the version
    Record = Row


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


# What the parts of the store work with in one transaction, and the states of a slot.

RANKS = 2**31 - 1
"""Items have ranks below this number, drawn by chance; an order begins anywhere among them."""


class StudyState(StrEnum):
    """What a slot is."""

    OPEN = "open"
    LEASED = "leased"
    DONE = "done"
    SURPLUS = "surplus"
    """Submitted when all that is wanted of the item was there."""
    LAPSED = "lapsed"
    """Its lease ran out; the draft is kept, and a late submission still welcome."""
    RETURNED = "returned"
    """Handed back by the person."""
    VOID = "void"


FINISHED = (StudyState.DONE, StudyState.SURPLUS)
"""The states of what a person has done, whether or not it counts."""


def moment(milliseconds: int | None) -> datetime | None:
    """The time that a column holds."""
    if milliseconds is None:
        return None
    return datetime.fromtimestamp(milliseconds / 1000, UTC)


@dataclass(frozen=True)
class StoreWork:
    """One transaction of one study at one moment."""

    connection: Connection
    study: Study
    now: int
    writes: bool = True

    @property
    def lease(self) -> int:
        """How long a task is kept for somebody, in milliseconds."""
        return int(self.study.lease_minutes * 60_000)

    def run(self, statement: Executable, **values: Any) -> int:
        """Execute a statement; the number of rows that it changed."""
        return int(self.connection.execute(statement, values).rowcount)

    def run_many(self, statement: Executable, rows: Sequence[Mapping[str, Any]]) -> None:
        """Execute a statement for each of the rows."""
        if rows:
            self.connection.execute(statement, rows)

    def rows(self, query: Executable, **values: Any) -> Sequence[Record]:
        """All rows of a query."""
        return self.connection.execute(query, values).all()

    def first(self, query: Executable, **values: Any) -> Record | None:
        """The first row of a query, or None."""
        return self.connection.execute(query, values).first()

    def insert(self, table: Any, **values: Any) -> int:
        """Insert a row and return its id."""
        key = self.connection.execute(insert(table), values).inserted_primary_key
        return int(key[0]) if key else 0

    def locked(self, query: Select[Any], *, skip: bool = False) -> Select[Any]:
        """The query, whose rows nobody else changes until the end of a transaction that writes;
        rows that somebody else has locked are waited for, or passed over."""
        return query.with_for_update(skip_locked=skip) if self.writes else query

    def note(self, what: str, person_id: int | None = None, detail: str | None = None) -> None:
        """Add an event to the log."""
        self.insert(event, at=self.now, person_id=person_id, what=what, detail=detail)


# What is asked with every click is put together once: that takes longer than the asking.
_PAUSED = select(study.c.paused).limit(1).scalar_subquery().label("paused")
_PERSON = select(person, _PAUSED).where(person.c.code == bindparam("code"))
_LOCKED_PERSON = _PERSON.with_for_update(of=person)


def lock_person(work: StoreWork, code: str) -> Record:
    """The row of a person, and whether the study is paused. Until the end of the transaction
    nothing else happens to this person: clicks in two tabs come one after the other."""
    query = _LOCKED_PERSON if work.writes else _PERSON
    row = work.first(query, code=code) if may_be_code(code) else None
    if row is None:
        raise NotYoursError("There is nobody of that id in this study.")
    return row


def may_be_code(code: str) -> bool:
    """Whether a text can be somebody's id at all. Engines choke on some that cannot."""
    return len(code) <= _LONGEST_CODE and code.isascii() and code.isalnum()


def may_be_slot(number: int) -> bool:
    """Whether a number can be that of a slot at all."""
    return 0 < number <= _HIGHEST_ID


def as_person(row: Record) -> Person:
    """A person as others see them."""
    return Person(
        id=row.code,
        role=Role(row.role),
        state=PersonState(row.state),
        name=row.name,
        language=row.language,
        panel=row.panel or {},
        background=row.background,
        invited=moment(row.invited_at),
        consented=moment(row.consented_at),
        seen=moment(row.seen_at),
        qualified=row.qualified,
        attempt=row.attempt,
    )


_LONGEST_CODE = 32
_HIGHEST_ID = 2**31 - 1

EXPERT = "expert"
"""The kind of slots that only experts fill; to everybody else it is a rating."""


def task_kind(kind: str) -> ItemKind:
    """What a slot asks a person to do."""
    return ItemKind.RATE if kind == EXPERT else ItemKind(kind)
