"""What the parts of the store work with in one transaction, and the states of a slot."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import StrEnum
from typing import TYPE_CHECKING, Any

from sqlalchemy import Connection, Executable, Row, Select, bindparam, insert, select

from parataxis.studies.items import Kind
from parataxis.studies.store.tables import event, person, study
from parataxis.studies.store.types import NotYoursError, Person, PersonState
from parataxis.studies.study import Role, Study

__all__ = [
    "EXPERT",
    "FINISHED",
    "RANKS",
    "Record",
    "State",
    "Work",
    "as_person",
    "lock_person",
    "may_be_code",
    "may_be_slot",
    "moment",
    "task_kind",
]

if TYPE_CHECKING:
    Record = Row[*tuple[Any, ...]]
else:  # the number of its parameters depends on the version
    Record = Row

RANKS = 2**31 - 1
"""Items have ranks below this number, drawn by chance; an order begins anywhere among them."""


class State(StrEnum):
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


FINISHED = (State.DONE, State.SURPLUS)
"""The states of what a person has done, whether or not it counts."""


def moment(milliseconds: int | None) -> datetime | None:
    """The time that a column holds."""
    if milliseconds is None:
        return None
    return datetime.fromtimestamp(milliseconds / 1000, UTC)


@dataclass(frozen=True)
class Work:
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


def lock_person(work: Work, code: str) -> Record:
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


def task_kind(kind: str) -> Kind:
    """What a slot asks a person to do."""
    return Kind.RATE if kind == EXPERT else Kind(kind)
