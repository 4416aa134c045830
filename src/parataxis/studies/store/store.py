"""The public interface of the database of a study, and the files that are exported from it."""

import io
import json
import zipfile
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import UTC, datetime
from functools import partial
from typing import Concatenate, ParamSpec, Self, TypeVar

from sqlalchemy import Connection, select, update

from parataxis.errors import InputError
from parataxis.rewrite.jsonl import to_json
from parataxis.studies.items import Item
from parataxis.studies.records import FlaggedSource, Rating
from parataxis.studies.rubric import Rubric
from parataxis.studies.store import participants, results, slots, tasks
from parataxis.studies.store.database import Database, Mode, Transaction, migrate
from parataxis.studies.store.tables import event
from parataxis.studies.store.tables import study as study_table
from parataxis.studies.study import Study, digests, refuse_changes

T = TypeVar("T")
P = ParamSpec("P")
Clock = Callable[[], datetime]

_LOGGED_OUT = "logged-out"
_utc = partial(datetime.now, UTC)
_STUDY = select(study_table.c.description, study_table.c.files)


def _writes(
    function: Callable[Concatenate[Transaction, P], T], mode: Mode = Mode.DURABLE
) -> "Callable[Concatenate[Store, P], T]":
    """A method that runs the function in a transaction of that mode."""

    def method(store: "Store", /, *args: P.args, **options: P.kwargs) -> T:
        return store._run(lambda tx: function(tx, *args, **options), mode)

    method.__doc__ = function.__doc__
    return method


def _reads(
    function: Callable[Concatenate[Transaction, P], T],
) -> "Callable[Concatenate[Store, P], T]":
    return _writes(function, Mode.READ)


class Store:
    """One study in one database, for many threads and processes at once.

    Every method is one transaction. Its changes survive a killed process and, except for leases
    and drafts, a power failure. People are identified by their ids and tasks by the numbers of
    their slots. Errors are ParataxisError: StoreError if the database fails (nothing was changed,
    and the call may be repeated), NotYoursError for a task or a person that does not belong to
    the caller.
    """

    def __init__(self, database: Database, clock: Clock = _utc) -> None:
        self._database = database
        self._clock = clock
        self._study: Study | None = None

    @classmethod
    def open(cls, url: str, *, clock: Clock = _utc) -> Self:
        """Open a database; it is created or upgraded if necessary.

        ``url`` is the path of an SQLite file, ``sqlite:///pilot.db``, or ``postgresql://...``.
        ``clock`` returns the time, with its zone.
        """
        database = Database(url)
        try:
            migrate(database)
        except BaseException:
            database.close()
            raise
        return cls(database, clock)

    def close(self) -> None:
        self._database.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    # --- The study

    @property
    def exists(self) -> bool:
        return self._stored_study() is not None

    @property
    def study(self) -> Study:
        """The current description of the study."""
        if self._study is None:
            self._study = self._stored_study()
        if self._study is None:
            raise InputError(f"The database {self._database.name} holds no study yet; create one.")
        return self._study

    def create(self, study: Study, items: Sequence[Item], rubric: Rubric | None = None) -> None:
        """Create a study with these items (see :func:`parataxis.studies.items.read_items`). With
        the rubric, digests of it and of the study's files are stored, for ``update``."""

        def work(connection: Connection) -> None:
            if connection.execute(select(study_table.c.id)).first() is not None:
                raise InputError(f"The database {self._database.name} holds a study already.")
            tx = Transaction(connection, study, self._now())
            tx.insert(
                study_table,
                id=1,
                name=study.name,
                description=study.model_dump(mode="json"),
                files=digests(study, rubric) if rubric else None,
                paused=False,
                created_at=tx.now,
            )
            slots.add_items(tx, items)
            tx.log("created")

        self._database.write(work)
        self._study = study

    def update(self, study: Study, rubric: Rubric) -> None:
        """Replace the description: texts, leases, limits, payment. InputError if anything that
        decides the results has changed; see :func:`parataxis.studies.study.refuse_changes`."""
        stored = self._database.read(lambda connection: connection.execute(_STUDY).one())
        refuse_changes(stored.description, stored.files, study, rubric)
        study = study.model_copy(update={"items": self.study.items})  # perhaps create --items
        if study != self.study:
            values = {"name": study.name, "description": study.model_dump(mode="json")}
            self._run(lambda tx: tx.run(update(study_table).values(**values)))
            self._study = study

    @property
    def paused(self) -> bool:
        """Whether nobody gets new tasks."""
        return bool(self._run(lambda tx: tx.one(select(study_table.c.paused))[0], Mode.READ))

    def pause(self, *, paused: bool = True) -> None:
        """Stop giving out tasks; submissions are still accepted."""

        def work(tx: Transaction) -> None:
            tx.run(update(study_table).values(paused=paused))
            tx.log("paused" if paused else "resumed")

        self._run(work)

    def resume(self) -> None:
        """Give out tasks again."""
        self.pause(paused=False)

    add_items = _writes(slots.add_items)
    ask_experts = _writes(slots.ask_experts)

    # --- People

    invite = _writes(participants.invite)
    person_by_panel = _writes(participants.person_by_panel)
    person = _reads(participants.find_person)
    people = _reads(participants.all_people)
    consent = _writes(participants.consent)
    save_background = _writes(participants.save_background)
    exclude = _writes(participants.exclude)
    block = _writes(participants.block)
    reinstate = _writes(participants.reinstate)
    reject = _writes(participants.reject)
    accept = _writes(participants.accept)
    personal_data = _reads(results.personal_data)

    # --- Tasks

    next_task = _writes(tasks.next_task, Mode.QUICK)
    task = _reads(tasks.task)
    save_draft = _writes(tasks.save_draft, Mode.QUICK)
    submit = _writes(tasks.submit)
    submit_and_take = _writes(tasks.submit_and_take)
    undo = _writes(tasks.undo)
    release = _writes(tasks.release)
    task_and_progress = _reads(tasks.task_and_progress)
    progress = _reads(tasks.progress_of)

    # --- Results

    overview = _reads(results.overview_of_study)
    submissions = _reads(tasks.submissions)
    sources = _reads(results.sources)
    source = _reads(results.one_source)
    export_items = _reads(results.export_items)
    export_ratings = _reads(results.export_ratings)
    export_flagged = _reads(results.export_flagged)
    export_history = _reads(results.export_history)

    def erase(self, person: str, *, ratings: bool = False) -> None:
        """Erase a person's data; see :func:`parataxis.studies.store.participants.erase`."""
        self._run(lambda tx: participants.erase(tx, person, ratings=ratings))
        self._database.forget()

    # --- Sessions of the organiser

    def end_session(self, session: str) -> None:
        """Record that an organiser has logged out of that session."""
        self._run(lambda tx: tx.log(_LOGGED_OUT, detail=session))

    def has_ended(self, session: str) -> bool:
        """Whether an organiser has logged out of that session, on any server."""
        ended = select(event.c.id).where(event.c.what == _LOGGED_OUT, event.c.detail == session)
        return self._run(lambda tx: tx.first(ended) is not None, Mode.READ)

    # --- Transactions

    def _now(self) -> int:
        return round(self._clock().timestamp() * 1000)

    def _run(self, work: Callable[[Transaction], T], mode: Mode = Mode.DURABLE) -> T:
        study, writes = self.study, mode is not Mode.READ
        return self._database.run(
            lambda connection: work(Transaction(connection, study, self._now(), writes)), mode
        )

    def _stored_study(self) -> Study | None:
        row = self._database.read(lambda connection: connection.execute(_STUDY).first())
        return None if row is None else Study.model_validate(row.description)


# --- Files

FILES: Mapping[str, Callable[[Store, Rubric], Iterable[str]]] = {
    "items.jsonl": lambda store, _: map(to_json, store.export_items()),
    "ratings.jsonl": lambda store, rubric: map(
        Rating.model_dump_json, store.export_ratings(rubric)
    ),
    "experts.jsonl": lambda store, rubric: map(
        Rating.model_dump_json, store.export_ratings(rubric, experts=True)
    ),
    "flagged.jsonl": lambda store, _: map(FlaggedSource.to_json, store.export_flagged()),
    "history.jsonl": lambda store, _: (
        json.dumps(each, ensure_ascii=False) for each in store.export_history()
    ),
}
"""The lines of each file: rewrites to be rated, ratings that count, ratings by experts, sources
that writers flagged, and everything ever submitted."""


def export_file(name: str, store: Store, rubric: Rubric) -> str:
    """The content of one of the files, as JSON lines."""
    return "".join(f"{line}\n" for line in FILES[name](store, rubric))


def export_zip(store: Store, rubric: Rubric) -> bytes:
    """All files in one archive."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name in FILES:
            archive.writestr(name, export_file(name, store, rubric))
    return buffer.getvalue()
