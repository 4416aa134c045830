"""Connections, transactions with retries, and error messages in one sentence.

All differences between SQLite and PostgreSQL are handled here.
"""

import os
import sqlite3
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from alembic.command import stamp, upgrade
from alembic.config import Config
from alembic.runtime.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import (
    URL,
    Connection,
    Engine,
    Executable,
    Row,
    Select,
    create_engine,
    event,
    insert,
    inspect,
    make_url,
    text,
)
from sqlalchemy.exc import ArgumentError, DBAPIError, IntegrityError, OperationalError, TimeoutError

from parataxis.errors import InputError, system_errors
from parataxis.studies.store.tables import METADATA
from parataxis.studies.store.tables import event as event_table
from parataxis.studies.store.types import StoreError
from parataxis.studies.study import ItemKind, Study

if TYPE_CHECKING:
    Record = Row[*tuple[Any, ...]]
else:  # the number of type parameters depends on the version of SQLAlchemy
    Record = Row


T = TypeVar("T")

_TRIES = 8
_BUSY_MS = 30_000
"""How long a process waits for another one that writes to the same SQLite file."""

_CONNECTIONS = 10
"""Connections of one process to PostgreSQL, which allows a hundred by default."""

_DEADLOCK, _SERIALIZATION, _UNIQUE = "40P01", "40001", "23505"


class Database:
    """A database and its transactions."""

    def __init__(self, url: str) -> None:
        self.url = _parsed(url)
        self.is_sqlite = self.url.get_backend_name() == "sqlite"
        self._engine = _sqlite(self.url) if self.is_sqlite else _postgresql(self.url)
        # SQLite allows one writer at a time; PostgreSQL has a limited number of connections.
        self._writing = _FairLock(1) if self.is_sqlite else _FairLock(_CONNECTIONS)
        self._reading = nullcontext() if self.is_sqlite else self._writing

    @property
    def name(self) -> str:
        """The name in messages, without the password."""
        if self.is_sqlite:
            return str(self.url.database)
        return self.url.render_as_string(hide_password=True)

    def close(self) -> None:
        self._engine.dispose()

    def write(self, work: Callable[[Connection], T]) -> T:
        """Run a function in a transaction that is committed, and on disk, when this returns."""
        return self.run(work, Mode.DURABLE)

    def read(self, work: Callable[[Connection], T]) -> T:
        """Run a function in a read-only transaction with a consistent snapshot."""
        return self.run(work, Mode.READ)

    def forget(self) -> None:
        """Remove deleted data from the files: SQLite overwrites it in the database, but the
        write-ahead log still has it. PostgreSQL removes it by VACUUM."""
        if self.is_sqlite:
            with self._writing, self._translated_errors(), self._engine.connect() as connection:
                raw = connection.connection.cursor()
                raw.execute("PRAGMA wal_checkpoint(TRUNCATE)")
                raw.close()

    def run(self, work: Callable[[Connection], T], mode: "Mode") -> T:
        """Run a function in a transaction. After a conflict with another transaction, or a
        connection lost before the commit, the transaction is rolled back and retried."""
        options: dict[str, Any] = {"mode": mode}
        if mode is Mode.READ and not self.is_sqlite:
            options["isolation_level"] = "REPEATABLE READ"
        for attempt in range(_TRIES):
            committing = False
            try:
                with (
                    self._reading if mode is Mode.READ else self._writing,
                    self._translated_errors(),
                    self._engine.connect().execution_options(**options) as connection,
                    connection.begin(),
                ):
                    result = work(connection)
                    committing = mode is not Mode.READ
                return result
            except _RetryError as error:
                if committing and error.lost:  # it may or may not have been committed
                    raise StoreError(str(error)) from error
                time.sleep(0.005 * 2**attempt)
        raise StoreError(f"The database {self.name} is too busy; try again.")

    @contextmanager
    def _translated_errors(self) -> Iterator[None]:
        """Turn an error of an engine into a StoreError, or into a retry."""
        try:
            yield
        except DBAPIError as error:
            sentence = self._sentence(error)
            if _is_transient(error) or error.connection_invalidated:
                raise _RetryError(sentence, lost=error.connection_invalidated) from error
            raise StoreError(sentence) from error
        except TimeoutError as error:  # all connections of the pool are in use
            raise StoreError(f"The database {self.name} is too busy; try again.") from error

    def _sentence(self, error: DBAPIError) -> str:
        reason = " ".join(str(error.orig).split()).rstrip(".")
        low = reason.lower()
        disk = f"The disk with the database {self.name}"
        if "is full" in low or "no space left" in low:
            left = "nothing acknowledged is lost, and work can go on when there is space."
            return f"{disk} is full; {left}"
        if "disk i/o error" in low:
            lost = "nothing acknowledged is lost."
            return f"{disk} cannot be written (is it full, or gone?); {lost}"
        if "not a database" in low:
            return f"{self.name} is not a database."
        if "locked" in low or "busy" in low:
            return f"The database {self.name} is too busy; try again."
        return f"The database {self.name} cannot be used: {reason}."


class Mode(StrEnum):
    """The kind of a transaction."""

    READ = "read"
    """It changes nothing, and sees a consistent snapshot."""
    QUICK = "quick"
    """Committed without waiting for the disk: it survives the end of the process, but a power
    failure may undo it, unless a durable transaction followed."""
    DURABLE = "durable"


class _FairLock:
    """A lock that several threads may hold, granted in the order of the requests, so that no
    thread starves. SQLite itself polls, and an ordinary lock is not fair."""

    def __init__(self, places: int) -> None:
        self._guard = threading.Lock()
        self._queue: deque[threading.Lock] = deque()
        self._free = places

    def __enter__(self) -> None:
        with self._guard:
            if self._free:
                self._free -= 1
                return
            mine = threading.Lock()
            mine.acquire()
            self._queue.append(mine)
        try:
            mine.acquire()
        except BaseException:  # interrupted: pass the lock on to the next thread
            with self._guard:
                called = mine not in self._queue
                if not called:
                    self._queue.remove(mine)
            if called:
                self.__exit__()
            raise

    def __exit__(self, *_: object) -> None:
        with self._guard:
            if self._queue:
                self._queue.popleft().release()
            else:
                self._free += 1


class _RetryError(Exception):
    """The transaction conflicted with another one, or lost its connection; retry it."""

    def __init__(self, sentence: str, *, lost: bool) -> None:
        super().__init__(sentence)
        self.lost = lost


def _is_transient(error: DBAPIError) -> bool:
    """Whether the same transaction may succeed when it is retried."""
    if isinstance(error, IntegrityError):
        code = getattr(error.orig, "sqlstate", None)
        return code == _UNIQUE or (code is None and "UNIQUE" in str(error.orig))
    return getattr(error.orig, "sqlstate", None) in {_DEADLOCK, _SERIALIZATION} or (
        isinstance(error, OperationalError)
        and getattr(error.orig, "sqlite_errorcode", None) == sqlite3.SQLITE_BUSY_SNAPSHOT
    )


def _parsed(url: str) -> URL:
    if "://" not in url:
        return URL.create("sqlite", database=url)
    try:
        parsed = make_url(url)
    except ArgumentError as error:
        raise InputError(f'"{url.split("@")[-1]}" is not the URL of a database.') from error
    backend = parsed.get_backend_name()
    if backend == "postgresql":
        return parsed.set(drivername="postgresql+psycopg")
    if backend == "sqlite" and parsed.database not in {None, "", ":memory:"}:
        return parsed
    raise InputError(
        f"A study is kept in a file (SQLite) or in a database postgresql://..., not in {backend}."
        if backend != "sqlite"
        else "A study needs a file to be kept in, such as sqlite:///pilot.db."
    )


def _sqlite(url: URL) -> Engine:
    path = Path(str(url.database))
    with system_errors(f"The database {path} cannot be opened"):  # private from the start
        os.close(os.open(path, os.O_CREAT | os.O_RDWR, 0o600))
    engine = create_engine(url, pool_size=16, max_overflow=64)

    @event.listens_for(engine, "connect")
    def _set_up(connection: Any, _: object) -> None:
        connection.isolation_level = None  # transactions begin in _begin
        for pragma in (
            f"busy_timeout={_BUSY_MS}",
            "foreign_keys=ON",
            "secure_delete=ON",  # overwrite deleted data
            "cache_size=-16000",
        ):
            connection.execute(f"PRAGMA {pragma}").close()
        _enable_wal(connection)

    @event.listens_for(engine, "begin")
    def _begin(connection: Connection) -> None:
        mode = connection.get_execution_options().get("mode", Mode.DURABLE)
        if mode is Mode.READ:
            connection.exec_driver_sql("BEGIN")
            return
        # In the write-ahead log, a durable commit makes all earlier commits durable too.
        wait = "FULL" if mode is Mode.DURABLE else "NORMAL"
        if connection.info.get("synchronous") != wait:
            connection.exec_driver_sql(f"PRAGMA synchronous={wait}")
            connection.info["synchronous"] = wait
        connection.exec_driver_sql("BEGIN IMMEDIATE")

    return engine


def _enable_wal(connection: sqlite3.Connection) -> None:
    """Turn on the write-ahead log, so that readers never wait. Only one connection can do this
    at a time, and SQLite returns an error to the others instead of making them wait."""
    end = time.monotonic() + _BUSY_MS / 1000
    while True:
        try:
            connection.execute("PRAGMA journal_mode=WAL").close()
            return
        except sqlite3.OperationalError as error:
            busy = error.sqlite_errorcode & 0xFF == sqlite3.SQLITE_BUSY
            if not busy or time.monotonic() > end:
                raise
        time.sleep(0.005)


def _postgresql(url: URL) -> Engine:
    try:
        engine = create_engine(url, pool_size=_CONNECTIONS, max_overflow=0)
    except ImportError as error:
        raise InputError(
            "PostgreSQL needs psycopg; install it with: pip install 'psycopg[binary]'."
        ) from error

    @event.listens_for(engine, "begin")
    def _begin(connection: Connection) -> None:
        if connection.get_execution_options().get("mode") is Mode.QUICK:
            connection.exec_driver_sql("SET LOCAL synchronous_commit = off")

    return engine


VERSION_TABLE = "parataxis_version"

_FOLDER = Path(__file__).parent / "migrations"
_LOCK = 0x7061726174  # an arbitrary key of an advisory lock


def migrate(database: Database) -> None:
    """Create the tables, or upgrade them to this version, in one transaction. A new database is
    stamped with the newest version instead of going through all of them."""
    config = Config()
    folder = str(_FOLDER).replace("%", "%%")  # Alembic interpolates the option
    config.set_main_option("script_location", folder)
    config.set_main_option("path_separator", "os")
    scripts = ScriptDirectory.from_config(config)
    known = {script.revision for script in scripts.walk_revisions()}
    head = scripts.get_current_head()

    def work(connection: Connection) -> None:
        if not database.is_sqlite:  # two servers may start at the same time
            connection.execute(text("SELECT pg_advisory_xact_lock(:key)"), {"key": _LOCK})
        current = _current(connection)
        if current == head:
            return
        if current is not None and current not in known:
            raise StoreError(
                f"The database {database.name} was made by a newer version of Parataxis; "
                "update Parataxis to use it."
            )
        if current is None and inspect(connection).get_table_names():
            raise InputError(f"The database {database.name} does not hold a study.")
        config.attributes.update(connection=connection, version_table=VERSION_TABLE)
        if current is None:
            METADATA.create_all(connection)
            stamp(config, "head")
        else:
            upgrade(config, "head")

    # Reading the version first locks nobody out.
    if database.read(_current) != head:
        database.write(work)


def _current(connection: Connection) -> str | None:
    options = {"version_table": VERSION_TABLE}
    return MigrationContext.configure(connection, opts=options).get_current_revision()


# --- Transactions

EXPERT = "expert"
"""The kind of slots that only experts fill; experts see them as ratings."""


@dataclass(frozen=True)
class Transaction:
    """A connection in a transaction, the study, and the time of the transaction."""

    connection: Connection
    study: Study
    now: int
    writes: bool = True

    @property
    def lease(self) -> int:
        return int(self.study.lease_minutes * 60_000)

    def run(self, statement: Executable, **values: Any) -> int:
        """Execute a statement and return the number of rows that it changed."""
        return int(self.connection.execute(statement, values).rowcount)

    def insert(self, table: Any, **values: Any) -> int:
        key = self.connection.execute(insert(table), values).inserted_primary_key
        return int(key[0]) if key else 0

    def insert_all(self, table: Any, rows: Sequence[Mapping[str, Any]]) -> None:
        for start in range(0, len(rows), 1000):
            self.connection.execute(insert(table), rows[start : start + 1000])

    def rows(self, query: Executable, **values: Any) -> Sequence[Record]:
        return self.connection.execute(query, values).all()

    def first(self, query: Executable, **values: Any) -> Record | None:
        return self.connection.execute(query, values).first()

    def one(self, query: Executable, **values: Any) -> Record:
        """The first row of a query that has one."""
        return self.rows(query, **values)[0]

    def locked(self, query: Select[Any], **options: Any) -> Select[Any]:
        """The query, with its rows locked until the end of a transaction that writes; for the
        options see ``with_for_update`` of SQLAlchemy."""
        return query.with_for_update(**options) if self.writes else query

    def log(self, what: str, person_id: int | None = None, detail: str | None = None) -> None:
        self.insert(event_table, at=self.now, person_id=person_id, what=what, detail=detail)


def task_kind(kind: str) -> ItemKind:
    """What a slot asks a person to do."""
    return ItemKind.RATE if kind == EXPERT else ItemKind(kind)


def moment(milliseconds: int | None) -> datetime | None:
    """The time that a column holds."""
    return None if milliseconds is None else datetime.fromtimestamp(milliseconds / 1000, UTC)
