"""What the store gives and takes: people, tasks, and what became of a submission."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum

from parataxis.errors import ParataxisError
from parataxis.studies.items import Expected, ItemKind
from parataxis.studies.records import Purpose, Text, Value
from parataxis.studies.study import OnFailure, Role

REWRITE, FLAG = "rewrite", "flag"
"""The answers to a write task: the text, and perhaps a flag instead of one."""


class StoreError(ParataxisError):
    """The database cannot be used: it is full, away, locked, broken or of a newer version.

    What was acknowledged before is safe; what was asked now is not done, and may be asked again.
    """


class NotYoursError(ParataxisError):
    """A slot that was never given to this person, or a person who does not exist."""


class UndoError(ParataxisError):
    """There is nothing that this person can undo; the message says why."""


class PersonState(StrEnum):
    """Whether somebody may work."""

    ACTIVE = "active"
    BLOCKED = "blocked"
    """Gets no more tasks; what they did counts."""
    EXCLUDED = "excluded"
    """Gets no more tasks, and what they did is void."""
    ERASED = "erased"


class Stage(StrEnum):
    """What a person has to do next, or why there is nothing."""

    CONSENT = "consent"
    BACKGROUND = "background"
    TRAINING = "training"
    TEST = "test"
    WORK = "work"
    WAITING = "waiting"
    """Nothing to do now, but rewrites or leases of others may still come free."""
    FINISHED = "finished"
    FAILED = "failed"
    """The qualification was failed in all attempts."""
    BLOCKED = "blocked"
    """Blocked, excluded or erased."""
    PAUSED = "paused"


class Flag(StrEnum):
    """What a writer may say instead of a rewrite (Zhang et al. 2020, §4.2.1)."""

    SIMPLE = "simple"
    """There is nothing to split."""
    TOO_HARD = "too-hard"


class Stored(StrEnum):
    """What became of a submission. All are kept; only some count."""

    COUNTED = "counted"
    SURPLUS = "surplus"
    """It came late, and others had done all that was wanted of the item."""
    VOID = "void"
    """The person was excluded or blocked, or the rewrite withdrawn."""


@dataclass(frozen=True)
class Person:
    """Somebody of a study. ``id`` is drawn by chance and is what exports call them."""

    id: str
    role: Role
    state: PersonState
    name: str | None = None
    """What the organiser calls them; personal."""
    language: str | None = None
    panel: Mapping[str, str] = field(default_factory=dict)
    """The parameters with which a panel sent them; personal."""
    background: Mapping[str, Value] | None = None
    """Their answers to the background form; personal."""
    invited: datetime | None = None
    consented: datetime | None = None
    seen: datetime | None = None
    qualified: bool | None = None
    """Whether they passed the test; None before its end, or where there is none."""
    attempt: int = 1
    """The number of the attempt at the test."""


@dataclass(frozen=True)
class TaskItem:
    """What is shown of an item. The id may tell the system: show it to no rater."""

    id: str
    source: str
    simple: tuple[str, ...] | None
    """None where it is to be written."""
    identical: bool = False
    """Whether the rewrite says nothing but its source, so that the rubric's fixed answers hold."""


@dataclass(frozen=True)
class Task:
    """Something for a person to do. ``slot`` is its number, for submitting.

    The purposes attention and known must look like item.
    """

    slot: int
    kind: ItemKind
    purpose: Purpose
    item: TaskItem
    draft: dict[str, Value] | None
    lease_until: datetime | None
    """None where nobody else waits for it (training, test and control items), and after
    submission."""
    submitted: dict[str, Value] | None = None
    """The answers in force, where it was submitted (see ``Store.task``)."""


@dataclass(frozen=True)
class Submitted:
    """What became of a submission."""

    slot: int
    purpose: Purpose
    stored: Stored
    repeated: bool = False
    """Whether the slot had been submitted before: a double click, a second tab, a correction."""
    as_expected: Mapping[str, bool] = field(default_factory=dict)
    """For each question whose answer is known, whether it was given."""
    expected: Expected = field(default_factory=dict)
    """The known answers, to be shown; of training items only."""
    feedback: Text | None = None
    """What to say about a training item."""
    consequence: OnFailure | None = None
    """What happened because a control item was failed once too often."""
    qualified: bool | None = None
    """After the last item of the test: whether it was passed."""


@dataclass(frozen=True)
class PersonProgress:
    """Where a person stands."""

    stage: Stage
    done: Mapping[ItemKind, int]
    """Finished tasks that are neither training nor test. Control items are among them, so that
    they do not stand out."""
    limit: Mapping[ItemKind, int | None]
    """How many one person may do (``per_person``); None is any number."""
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
    """How far the writing, the rating or the experts have come, counted in slots."""

    wanted: int = 0
    done: int = 0
    held: int = 0
    open: int = 0
    items: int = 0
    items_complete: int = 0
    surplus: int = 0
    void: int = 0
    seconds: float | None = None
    """The median time for one."""

    @property
    def share(self) -> float:
        """Done of what is wanted, from 0 to 1."""
        return self.done / self.wanted if self.wanted else 0.0


@dataclass(frozen=True)
class PersonOverview:
    """What an organiser sees of a person."""

    person: Person
    done: int
    held: int
    surplus: int
    void: int
    seconds: float | None
    """The median time for a task."""
    controls: int
    """Attention and known items they answered."""
    failures: int
    """How many of these they failed."""
    warnings: int


@dataclass(frozen=True)
class Overview:
    """The numbers of the organiser's page."""

    paused: bool
    phases: Mapping[str, PhaseOverview]
    """By "write", "rate" and "expert"; only those the study has."""
    people: tuple[PersonOverview, ...]
    pace: tuple[tuple[datetime, int], ...]
    """Submissions by the hour, for the last 48 hours in which there were any."""
    flags: Mapping[str, int]
    """How often writers said "simple" and "too-hard"."""
    last: datetime | None
    """The latest submission."""


@dataclass(frozen=True)
class Flagged:
    """A source that a writer flagged instead of rewriting it."""

    source_id: str
    source: str
    writer: str
    flag: Flag
    when: datetime
