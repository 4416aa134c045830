"""The records that the store returns: people, tasks, submissions and progress."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Literal

from parataxis.errors import ParataxisError
from parataxis.studies.items import Expected
from parataxis.studies.records import Answers, Purpose, Text, Value
from parataxis.studies.study import ItemKind, OnFailure, Role


class StoreError(ParataxisError):
    """The database cannot be used: it is full, unreachable, locked, corrupt or of a newer version.

    Everything acknowledged before is safe. The current call did nothing and may be repeated.
    """


class NotYoursError(ParataxisError):
    """The task was never given to this person, or the person does not exist."""


class UndoError(ParataxisError):
    """This person has nothing that can be undone; the message says why."""


class PersonState(StrEnum):
    """Whether a person may work."""

    ACTIVE = "active"
    BLOCKED = "blocked"
    """Gets no more tasks; earlier work counts."""
    EXCLUDED = "excluded"
    """Gets no more tasks; earlier work is void."""
    ERASED = "erased"


class Stage(StrEnum):
    """What a person has to do next, or why there is nothing to do."""

    CONSENT = "consent"
    BACKGROUND = "background"
    TRAINING = "training"
    TEST = "test"
    WORK = "work"
    WAITING = "waiting"
    """Nothing to do now, but rewrites or expired leases of others may still come."""
    FINISHED = "finished"
    FAILED = "failed"
    """All attempts at the qualification failed."""
    BLOCKED = "blocked"
    """Blocked, excluded or erased."""
    PAUSED = "paused"


class SlotState(StrEnum):
    """The state of a slot."""

    OPEN = "open"
    LEASED = "leased"
    DONE = "done"
    """Submitted, and counted."""
    SURPLUS = "surplus"
    """Submitted late, after others had done all that was wanted of the item."""
    LAPSED = "lapsed"
    """The lease expired. The draft is kept, and a late submission is still accepted."""
    RETURNED = "returned"
    """Handed back by the person."""
    VOID = "void"
    """The person was excluded or blocked, or the rewrite withdrawn."""
    REJECTED = "rejected"
    """The organiser did not accept this one."""


FINISHED = (SlotState.DONE, SlotState.SURPLUS)
"""The states of submitted slots, counted or not."""
COUNTING = (SlotState.OPEN, SlotState.LEASED, SlotState.DONE)
"""The states of the slots that are wanted of an item."""
UNFINISHED = (SlotState.LEASED, SlotState.LAPSED, SlotState.RETURNED)
"""The states of slots that their person may still submit."""


@dataclass(frozen=True)
class Person:
    """A participant. ``id`` is random, and is the name used in exports."""

    id: str
    role: Role
    state: PersonState
    name: str | None = None
    """The organiser's name for them; personal data."""
    language: str | None = None
    panel: Mapping[str, str] = field(default_factory=dict)
    """The URL parameters with which a panel sent them; personal data."""
    background: Mapping[str, Value] | None = None
    """Their answers to the background form; personal data."""
    invited: datetime | None = None
    consented: datetime | None = None
    seen: datetime | None = None
    qualified: bool | None = None
    """Whether they passed the test; None before its end, or if there is no test."""
    attempt: int = 1
    may_write: bool | None = None
    """The same for the test of writers."""


@dataclass(frozen=True)
class TaskItem:
    """The visible part of an item. The id may reveal the system, so raters must not see it."""

    id: str
    source: str
    simple: tuple[str, ...] | None
    """None if it is yet to be written."""
    identical: bool = False
    """Whether the rewrite is equal to its source, so that the rubric's fixed answers apply."""


@dataclass(frozen=True)
class Task:
    """Something for a person to do. ``slot`` is its id, needed to submit it; it is random.

    Tasks with the purposes attention and known must look like any other item.
    """

    slot: str
    kind: ItemKind
    purpose: Purpose
    item: TaskItem
    draft: dict[str, Value] | None
    lease_until: datetime | None
    """None after submission. Control items never expire, but do not show it."""
    submitted: dict[str, Value] | None = None
    final: bool = False
    """Whether it is submitted, and another answer would not count any more."""

    @property
    def stage(self) -> Literal["training", "test", "work"]:
        """The stage that it belongs to; control items look like work."""
        if self.purpose is Purpose.TRAINING:
            return "training"
        return "test" if self.purpose is Purpose.TEST else "work"


@dataclass(frozen=True)
class Submitted:
    """The result of a submission."""

    slot: str
    purpose: Purpose
    state: SlotState
    """Done, surplus, void or rejected. The answers are stored in all cases."""
    late: bool = False
    """Whether it is a correction that came too late, so that the earlier answers count."""
    repeated: bool = False
    """Whether the slot had been submitted before: a double click, a second tab, a correction."""
    as_expected: Mapping[str, bool] = field(default_factory=dict)
    """For each question with a known answer, whether that answer was given."""
    expected: Expected = field(default_factory=dict)
    feedback: Text | None = None
    consequence: OnFailure | None = None
    """What followed from failing too many control items."""
    qualified: bool | None = None
    """After the last test item: whether the test was passed."""


@dataclass(frozen=True)
class OwnSubmission:
    """What a person submitted, for them to look up."""

    task: Task
    state: SlotState
    when: datetime | None


@dataclass(frozen=True)
class GivenAnswer:
    """What somebody submitted, for the organiser."""

    slot: str
    person: Person
    kind: str
    state: SlotState
    answers: Answers
    seconds: float | None
    when: datetime | None


@dataclass(frozen=True)
class ItemAnswers:
    """A source or a rewrite, and what people submitted about it, for the organiser."""

    id: str
    kind: ItemKind
    purpose: Purpose
    system: str
    writer: Person | None
    simple: tuple[str, ...]
    expected: Expected
    answers: tuple[GivenAnswer, ...]


@dataclass(frozen=True)
class SourceOverview:
    """A source in the organiser's list; ``number`` leads to its page."""

    number: int
    source: str
    purpose: Purpose
    rewrites: int
    written: tuple[int, int]
    """Rewrites and flags that were submitted, and wanted."""
    rated: tuple[int, int]


@dataclass(frozen=True)
class PersonProgress:
    """How far a person has got."""

    stage: Stage
    done: Mapping[ItemKind, int]
    """Finished tasks other than training and test. Control items are included, so that they do
    not stand out."""
    limit: Mapping[ItemKind, int | None]
    """The most that one person may do (``per_person``), with the control items that they will
    get, so that these do not stand out; None if there is no limit."""
    training: tuple[int, int] = (0, 0)
    """Training items done, and all of them."""
    test: tuple[int, int] = (0, 0)
    """Test items done in this attempt, and all of them."""
    attempt: int = 1
    attempts: int = 1
    surplus: int = 0
    can_undo: bool = False


@dataclass(frozen=True)
class PhaseOverview:
    """The progress of writing, rating or the experts, in slots."""

    wanted: int
    coming: int
    """Ratings that will be wanted of rewrites that are yet to be written, if none is flagged."""
    done: int
    held: int
    open: int
    items: int
    items_complete: int
    surplus: int
    void: int
    seconds: float | None
    """The median time for a task."""

    @property
    def total(self) -> int:
        return self.wanted + self.coming

    @property
    def share(self) -> float:
        return self.done / self.total if self.total else 0.0


@dataclass(frozen=True)
class PersonOverview:
    """The work of one person, for the organiser."""

    person: Person
    done: int
    held: int
    surplus: int
    void: int
    rejected: int
    seconds: float | None
    """The median time for a task."""
    quick: int
    """Tasks done in less time than the study's floor."""
    pay: "Pay"
    controls: int
    """Attention and known items answered."""
    failures: int
    """Attention and known items failed."""
    warnings: int


@dataclass(frozen=True)
class Pay:
    """What a person is owed: for rewrites and ratings that were not rejected, surplus and control
    items included. Nothing if the person is excluded; flags are not paid."""

    rewrites: int = 0
    hard: int = 0
    """Rewrites among these of hard sources."""
    ratings: int = 0
    owed: float = 0.0


@dataclass(frozen=True)
class Overview:
    """The numbers of the organiser's page."""

    paused: bool
    phases: Mapping[str, PhaseOverview]
    """By "write", "rate" and "expert", as far as the study has them."""
    people: tuple[PersonOverview, ...]
    pace: tuple[tuple[datetime, int], ...]
    """Submissions per hour in the last 48 hours; hours without any are left out."""
    flags: Mapping[str, int]
    """How often writers chose "simple" and "too-hard"."""
    last: datetime | None
    """The time of the latest submission."""
