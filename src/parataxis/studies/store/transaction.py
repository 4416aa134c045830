"""One transaction of a study, and what the functions of the store share within it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from sqlalchemy import Connection, Executable, Row, Select, bindparam, insert, select

from parataxis.studies.items import ItemKind
from parataxis.studies.store.tables import event, person
from parataxis.studies.store.tables import study as study_table
from parataxis.studies.store.types import NotYoursError, Person, PersonState
from parataxis.studies.study import Role, Study

if TYPE_CHECKING:
    Record = Row[*tuple[Any, ...]]
else:  # the number of type parameters depends on the version of SQLAlchemy
    Record = Row

EXPERT = "expert"
"""The kind of slots that only experts fill; experts see them as ratings."""

_LONGEST_CODE = 32
_HIGHEST_ID = 2**31 - 1


@dataclass(frozen=True)
class Transaction:
    """A connection in a transaction, the study, and the time of the transaction."""

    connection: Connection
    study: Study
    now: int
    writes: bool = True

    @property
    def lease(self) -> int:
        """The length of a lease in milliseconds."""
        return int(self.study.lease_minutes * 60_000)

    def run(self, statement: Executable, **values: Any) -> int:
        """Execute a statement and return the number of rows that it changed."""
        return int(self.connection.execute(statement, values).rowcount)

    def insert(self, table: Any, **values: Any) -> int:
        """Insert a row and return its id."""
        key = self.connection.execute(insert(table), values).inserted_primary_key
        return int(key[0]) if key else 0

    def insert_all(self, table: Any, rows: Sequence[Mapping[str, Any]]) -> None:
        """Insert many rows, a thousand at a time."""
        for start in range(0, len(rows), 1000):
            self.connection.execute(insert(table), rows[start : start + 1000])

    def rows(self, query: Executable, **values: Any) -> Sequence[Record]:
        """All rows of a query."""
        return self.connection.execute(query, values).all()

    def first(self, query: Executable, **values: Any) -> Record | None:
        """The first row of a query, or None."""
        return self.connection.execute(query, values).first()

    def one(self, query: Executable, **values: Any) -> Record:
        """The first row of a query that has one."""
        return self.rows(query, **values)[0]

    def locked(self, query: Select[Any], *, skip: bool = False) -> Select[Any]:
        """The query, with its rows locked until the end of a transaction that writes. Rows that
        are locked already are waited for, or skipped."""
        return query.with_for_update(skip_locked=skip) if self.writes else query

    def log(self, what: str, person_id: int | None = None, detail: str | None = None) -> None:
        """Add an event to the log."""
        self.insert(event, at=self.now, person_id=person_id, what=what, detail=detail)


# Frequent queries are built once, since building one takes longer than running it.
_PAUSED = select(study_table.c.paused).limit(1).scalar_subquery().label("paused")
_PERSON = select(person, _PAUSED).where(person.c.code == bindparam("code"))
_LOCKED_PERSON = _PERSON.with_for_update(of=person)


def lock_person(tx: Transaction, code: str) -> Record:
    """The row of a person, and whether the study is paused. The lock lasts until the end of the
    transaction, so that requests of one person from two tabs are handled one after the other."""
    query = _LOCKED_PERSON if tx.writes else _PERSON
    row = tx.first(query, code=code) if is_code(code) else None
    if row is None:
        raise NotYoursError("There is no person with that id in this study.")
    return row


def is_code(code: str) -> bool:
    """Whether a text has the form of a person's id. Some other texts are errors in an engine."""
    return len(code) <= _LONGEST_CODE and code.isascii() and code.isalnum()


def is_slot_id(number: int) -> bool:
    """Whether a number can be the id of a slot."""
    return 0 < number <= _HIGHEST_ID


def task_kind(kind: str) -> ItemKind:
    """What a slot asks a person to do."""
    return ItemKind.RATE if kind == EXPERT else ItemKind(kind)


def moment(milliseconds: int | None) -> datetime | None:
    """The time that a column holds."""
    return None if milliseconds is None else datetime.fromtimestamp(milliseconds / 1000, UTC)


def as_person(row: Record) -> Person:
    """The record of a person, from a row."""
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
