"""The database of a study, as everybody else sees it."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import UTC, datetime
from types import TracebackType
from typing import Any, Self, TypeVar

from sqlalchemy import Connection, insert, select, update

from parataxis.errors import InputError
from parataxis.rewrite.record import Rewrite
from parataxis.studies.items import Item, ItemKind
from parataxis.studies.records import Answers, Purpose, Rating, Value
from parataxis.studies.store import assign, export, people, setup
from parataxis.studies.store import overview as overviews
from parataxis.studies.store import overview as progresses
from parataxis.studies.store import people as discipline
from parataxis.studies.store import submit as submissions
from parataxis.studies.store.database import Database, migrate
from parataxis.studies.store.export import Outcomes
from parataxis.studies.store.submit import Check
from parataxis.studies.store.tables import EXPERT, StoreWork, event, item, lock_person, slot
from parataxis.studies.store.tables import study as study_table
from parataxis.studies.store.types import (
    Flagged,
    Overview,
    Person,
    PersonProgress,
    Submitted,
    Task,
)
from parataxis.studies.study import Role, Study

T = TypeVar("T")

_ENDED = "logged-out"

Clock = Callable[[], datetime]


def _utc() -> datetime:
    return datetime.now(UTC)


class Store:
    """One study in one database, for many threads and processes at once.

    Every method is one transaction; when it returns, what it did survives a killed process, and,
    tasks given out and drafts aside, a loss of power. People are named by their ids and tasks by
    the numbers of their slots. Errors are ParataxisError: StoreError where the database fails
    (nothing was done, ask again), NotYoursError where somebody names a task or a person that is
    not theirs.
    """

    def __init__(self, database: Database, clock: Clock = _utc) -> None:
        self._database = database
        self._clock = clock
        self._study: Study | None = None

    @classmethod
    def open(cls, url: str, *, clock: Clock = _utc) -> Self:
        """Open a database, which is made or upgraded where needed.

        ``url`` is the path of an SQLite file, ``sqlite:///pilot.db``, or ``postgresql://...``.
        ``clock`` gives the time, with its zone.
        """
        database = Database(url)
        try:
            migrate(database)
        except BaseException:
            database.close()
            raise
        return cls(database, clock)

    def close(self) -> None:
        """Close all connections."""
        self._database.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    # --- The study

    @property
    def exists(self) -> bool:
        """Whether the database holds a study yet."""
        return self._stored_study() is not None

    @property
    def study(self) -> Study:
        """The study as it was created, or updated."""
        if self._study is None:
            self._study = self._stored_study()
        if self._study is None:
            raise InputError(f"The database {self._database.name} holds no study yet; create one.")
        return self._study

    def create(self, study: Study, items: Sequence[Item]) -> None:
        """Begin a study with these items (see :func:`parataxis.studies.items.read_items`)."""

        def work(connection: Connection) -> None:
            if connection.execute(select(study_table.c.id)).first() is not None:
                raise InputError(f"The database {self._database.name} holds a study already.")
            begun = StoreWork(connection, study, self._now())
            begun.insert(
                study_table,
                id=1,
                name=study.name,
                description=study.model_dump(mode="json"),
                paused=False,
                created_at=begun.now,
            )
            setup.add_items(begun, items)
            begun.note("created")

        self._database.write(work)
        self._study = study

    def add_items(self, items: Sequence[Item]) -> None:
        """Add items to a study that has begun."""
        self._write(lambda work: setup.add_items(work, items))

    def update(self, study: Study) -> None:
        """Take over a changed description: its texts, leases, limits, controls. How many people
        are wanted for an item holds for items that come later; the rubric must stay."""
        if study.rubric != self.study.rubric:
            raise InputError("The rubric of a study that has begun cannot be changed.")
        values = {"name": study.name, "description": study.model_dump(mode="json")}
        self._write(lambda work: work.run(update(study_table).values(**values)))
        self._study = study

    @property
    def paused(self) -> bool:
        """Whether nobody gets new tasks."""
        return bool(self._read(lambda work: work.rows(select(study_table.c.paused))[0][0]))

    def pause(self) -> None:
        """Give nobody a task; what people submit is taken."""
        self._pause(True)

    def resume(self) -> None:
        """Go on."""
        self._pause(False)

    def ask_experts(self, items: Iterable[str], experts: int = 1) -> int:
        """Ask experts about these items (ids); each is rated by so many of them, and these ratings
        are exported by themselves. Items that were asked about before are left as they are; the
        number of the new ones is returned."""
        wanted = set(items)

        def work(each: StoreWork) -> int:
            found = each.rows(
                select(item.c.id, item.c.key, item.c.rank, item.c.writer_id)
                .where(item.c.kind == ItemKind.RATE, item.c.withdrawn.is_(False))
                .where(item.c.purpose == Purpose.ITEM)
            )
            unknown = wanted - {row.key for row in found}
            if unknown:
                raise InputError(f'The study has no rewrite "{min(unknown)}" to be rated.')
            asked = select(slot.c.item_id).where(slot.c.kind == EXPERT)
            there = {row.item_id for row in each.rows(asked)}
            new = [row for row in found if row.key in wanted and row.id not in there]
            for row in new:
                fresh = setup.open_slots(row.id, EXPERT, experts, row.rank, row.writer_id)
                each.run_many(insert(slot), fresh)
            return len(new)

        return self._write(work)

    # --- People

    def invite(self, people_: int | Iterable[str], role: Role = Role.RATER) -> list[Person]:
        """New people: so many without a name, or one for each name."""
        names = [None] * people_ if isinstance(people_, int) else list(people_)
        return self._write(lambda work: people.invite(work, names, role))

    def person_by_panel(self, parameters: Mapping[str, str]) -> Person:
        """The person that a panel sends with these URL parameters, new or known. InputError where
        the study has no panel or the parameter that names the person is missing."""
        panel = self.study.panel
        if panel is None:
            raise InputError("This study takes nobody from a panel.")
        return self._write(lambda work: people.by_panel(work, panel, parameters))

    def person(self, person: str) -> Person | None:
        """The person of that id, or None."""
        return self._read(lambda work: people.find(work, person))

    def people(self) -> list[Person]:
        """Everybody, in the order in which they came."""
        return self._read(people.people)

    def consent(self, person: str, language: str | None = None) -> None:
        """Note that a person agrees to take part, and in which language they read."""
        self._write(lambda work: people.consent(work, person, language))

    def save_background(self, person: str, answers: Mapping[str, Value]) -> None:
        """Keep a person's answers to the background form; InputError where a required one is
        missing."""
        self._write(lambda work: people.set_background(work, person, answers))

    # --- Tasks

    def next_task(self, person: str) -> Task | None:
        """The task that the person holds (the one they took last, where there are several), else a
        new one. None where there is none; ``progress(person).stage`` says why."""
        return self._write(lambda work: assign.next_task(work, person), durable=False)

    def task(self, person: str, slot: int) -> Task:
        """A task that was given to the person, also one that is submitted; NotYoursError for any
        other."""
        return self._read(lambda work: assign.task(work, lock_person(work, person), slot))

    def task_and_progress(self, person: str, slot: int) -> tuple[Task, PersonProgress]:
        """What ``task`` and ``progress`` give, both at one moment."""

        def work(each: StoreWork) -> tuple[Task, PersonProgress]:
            me = lock_person(each, person)
            return assign.task(each, me, slot), progresses.progress(each, me)

        return self._read(work)

    def save_draft(self, person: str, slot: int, answers: Answers) -> bool:
        """Keep a draft, and begin the lease anew. False where the task is submitted already, which
        is no fault: the last keystrokes may arrive after the click."""
        return self._write(
            lambda work: submissions.save_draft(work, person, slot, answers), durable=False
        )

    def submit(
        self, person: str, slot: int, answers: Answers, seconds: float | None = None
    ) -> Submitted:
        """Submit the answers to a task. They are kept in any case; whether they count says the
        result. The same answers again change nothing; other answers are a correction.

        The answers to a write task are ``{"rewrite": text}`` or ``{"flag": "simple"}`` or
        ``{"flag": "too-hard"}``. A rewrite becomes an item for raters at once. Whether answers fit
        the rubric, or a rewrite shows effort, is for the caller to check before.
        """
        return self._write(lambda work: submissions.submit(work, person, slot, answers, seconds))

    def submit_and_take(
        self, person: str, slot: int, check: Check, seconds: float | None = None
    ) -> tuple[Submitted, int | None]:
        """Submit what ``check`` makes of the task, and take the next one: ``submit`` and
        ``next_task`` in one transaction. Gives the slot of the next task, or None where there is
        none, and after an item of the training. What ``check`` raises ends it, and nothing is
        done."""
        return self._write(
            lambda work: submissions.submit_and_take(work, person, slot, check, seconds)
        )

    def undo(self, person: str) -> Task:
        """Take back the person's last submission, one step: the task is theirs again, and its
        answers are the draft. UndoError says why where that is not possible."""
        return self._write(lambda work: submissions.undo(work, person))

    def release(self, person: str, slot: int) -> None:
        """Hand a task back: others get it, the person will not get it again."""
        self._write(lambda work: submissions.release(work, person, slot))

    def progress(self, person: str) -> PersonProgress:
        """Where the person stands: their stage, what they have done, their qualification."""
        return self._read(lambda work: progresses.progress(work, lock_person(work, person)))

    # --- Organising

    def end_session(self, session: str) -> None:
        """Note that an organiser has logged out of that session."""
        self._write(lambda work: work.note(_ENDED, detail=session))

    def has_ended(self, session: str) -> bool:
        """Whether an organiser has logged out of that session, by whichever server."""
        ended = select(event.c.id).where(event.c.what == _ENDED, event.c.detail == session)
        return self._read(lambda work: work.first(ended) is not None)

    def overview(self) -> Overview:
        """The numbers of the organiser's page."""
        return self._read(overviews.overview)

    def exclude(self, person: str, reason: str | None = None) -> None:
        """Take a person out of the study: no more tasks, what they rated and wrote is void (and
        kept), and others are asked to do it again."""
        self._write(lambda work: discipline.exclude(work, lock_person(work, person), reason))

    def block(self, person: str, reason: str | None = None) -> None:
        """Give a person no more tasks; what they did counts."""
        self._write(lambda work: discipline.block(work, lock_person(work, person), reason))

    def reinstate(self, person: str) -> None:
        """Let a person work again who was blocked or excluded. What they did counts again where
        nobody else has done it since; the rest is kept as surplus."""
        self._write(lambda work: discipline.reinstate(work, lock_person(work, person)))

    def personal_data(self, person: str) -> dict[str, Any]:
        """All that the study holds about a person, as plain values for JSON."""
        return self._read(lambda work: export.personal_data(work, person))

    def erase(self, person: str, *, ratings: bool = False) -> None:
        """Forget who a person is: their name, their panel, their background, their drafts and
        their id. What they submitted stays, under an id that nobody knows; with ``ratings`` it goes
        as well, and others are asked to do it again. This cannot be undone."""
        self._write(lambda work: discipline.erase(work, lock_person(work, person), ratings=ratings))
        self._database.forget()

    # --- Results

    def export_items(self, purposes: Iterable[Purpose] = (Purpose.ITEM,)) -> list[Rewrite]:
        """The rewrites that are rated. One that a person of the study wrote has the splitter
        "human", their id as ``writer``, and the id of its source as ``source_id``."""
        return self._read(lambda work: list(export.items(work, purposes)))

    def export_ratings(
        self,
        outcomes: Outcomes | None = None,
        purposes: Iterable[Purpose] = (Purpose.ITEM,),
        *,
        experts: bool = False,
    ) -> list[Rating]:
        """The ratings that count: those of raters, or those of experts. ``outcomes`` derives from
        the answers, and from whether the rewrite is its source, what the rubric says."""
        return self._read(
            lambda work: list(export.ratings(work, outcomes, purposes, experts=experts))
        )

    def export_flagged(self) -> list[Flagged]:
        """The sources that writers called simple or too hard."""
        return self._read(lambda work: list(export.flagged(work)))

    def export_history(self) -> list[dict[str, Any]]:
        """Everything ever submitted, corrected or undone, as plain values for JSON; ``counts``
        says whether it is among the ratings or rewrites that count."""
        return self._read(lambda work: list(export.history(work)))

    # --- Within

    def _now(self) -> int:
        return round(self._clock().timestamp() * 1000)

    def _write(self, work: Callable[[StoreWork], T], *, durable: bool = True) -> T:
        study = self.study
        return self._database.write(
            lambda connection: work(StoreWork(connection, study, self._now())), durable=durable
        )

    def _read(self, work: Callable[[StoreWork], T]) -> T:
        study = self.study
        return self._database.read(
            lambda connection: work(StoreWork(connection, study, self._now(), writes=False))
        )

    def _stored_study(self) -> Study | None:
        row = self._database.read(
            lambda connection: connection.execute(select(study_table.c.description)).first()
        )
        return None if row is None else Study.model_validate(row.description)

    def _pause(self, paused: bool) -> None:
        def work(each: StoreWork) -> None:
            each.run(update(study_table).values(paused=paused))
            each.note("paused" if paused else "resumed")

        self._write(work)
