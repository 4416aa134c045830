"""The JSON API for participants, used by the scripts of the pages and by simulated raters."""

from datetime import datetime
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Depends, Request
from fastapi.security import APIKeyCookie, APIKeyHeader
from pydantic import BaseModel, ConfigDict, Field, StrictBool, StrictStr

from parataxis.studies.items import ItemKind
from parataxis.studies.pages import work
from parataxis.studies.pages.keys import Session
from parataxis.studies.pages.site import (
    COOKIES,
    CSRF_HEADER,
    CsrfError,
    LanguageDep,
    PersonDep,
    SiteDep,
)
from parataxis.studies.pages.tasks import SlotPath, stage_of
from parataxis.studies.store.types import NotYoursError, Stage, Task
from parataxis.studies.study import Role


class ApiProblem(BaseModel):
    """Why a request was refused, with error messages by question."""

    detail: str
    problems: dict[str, str] = Field(default_factory=dict)


_COOKIE = APIKeyCookie(
    name=COOKIES["person"],
    scheme_name="session",
    description="Set by a personal link or by the URL of a panel.",
    auto_error=False,
)
_TOKEN = APIKeyHeader(
    name="X-CSRF-Token",
    scheme_name="csrf",
    description="The token of the session, from `/api/session` or any page.",
    auto_error=False,
)


def _refusals(descriptions: dict[int, str]) -> dict[int | str, dict[str, Any]]:
    """The documentation of error responses, by status."""
    return {
        status: {"model": ApiProblem, "description": text} for status, text in descriptions.items()
    }


_READING = _refusals(
    {
        401: "There is no session.",
        404: "There is nothing like that for this person.",
        429: "This person sends too many requests; see Retry-After.",
        503: "The database cannot be used now.",
    }
)
_WRITING = _refusals(
    {
        400: "The body is not JSON.",
        403: "The CSRF token is missing or wrong.",
        422: "The request is not valid.",
    }
) | {413: {"description": "The body is too large."}}

router = APIRouter(prefix="/api", tags=["people"], responses=_READING)

Value = StrictBool | Annotated[int, Field(ge=-(2**31), lt=2**31)] | StrictStr | None
"""JSON has no integers, so 5.0 is accepted as a whole number too."""


async def _checked(
    request: Request,
    site: SiteDep,
    session: PersonDep,
    _cookie: Annotated[str | None, Depends(_COOKIE)] = None,
    _token: Annotated[str | None, Depends(_TOKEN)] = None,
) -> Session:
    if not site.signing.is_csrf(session, request.headers.get(CSRF_HEADER)):
        raise CsrfError
    return session


async def _read(
    session: PersonDep, _cookie: Annotated[str | None, Depends(_COOKIE)] = None
) -> Session:
    return session


Writing = Annotated[Session, Depends(_checked)]
Reading = Annotated[Session, Depends(_read)]


class SessionOut(BaseModel):
    """The person of the session."""

    person: str
    role: Role
    csrf: str


class TaskOut(BaseModel):
    """A task. Nothing in it reveals where the item comes from, or whether it is a control item."""

    slot: int
    kind: ItemKind
    stage: Literal["training", "test", "work"]
    source: str
    simple: list[str] | None = Field(description="The rewrite to be rated; null when writing.")
    identical: bool = Field(description="Whether the rewrite is equal to its source.")
    draft: dict[str, Value] | None
    submitted: dict[str, Value] | None
    lease_until: datetime | None


class ProgressOut(BaseModel):
    """How far a person has got."""

    stage: Stage
    written: int
    rated: int
    may_write: int | None = Field(description="At most; null is any number.")
    may_rate: int | None = Field(description="At most; null is any number.")
    training: tuple[int, int]
    test: tuple[int, int]
    attempt: int
    attempts: int
    can_undo: bool


class AnswersIn(BaseModel):
    """Answers by question; for a write task "rewrite" or "flag"."""

    model_config = ConfigDict(extra="forbid")

    answers: dict[str, Value] = Field(max_length=200)
    seconds: float | None = Field(default=None, ge=0, le=86_400)


class DraftOut(BaseModel):
    """Whether the draft was saved; false if the task is submitted already."""

    saved: bool


class NextOut(BaseModel):
    """The path of the next page."""

    next: str


class TextIn(BaseModel):
    """The text that a writer has typed so far."""

    model_config = ConfigDict(extra="forbid")

    text: StrictStr = Field(max_length=20_000)


@router.get("/session", summary="The person of the session, and the CSRF token")
def session(site: SiteDep, who: Reading) -> SessionOut:
    """Send the token as the header X-CSRF-Token with every request that writes."""
    person = site.store.person(who.who)
    if person is None:
        raise NotYoursError("This person does not exist any more.")
    return SessionOut(person=person.id, role=person.role, csrf=site.signing.csrf(who))


@router.get("/progress", summary="How far the person has got")
def progress(site: SiteDep, who: Reading) -> ProgressOut:
    """The stage says which page comes next, or why there is nothing to do."""
    found = site.store.progress(who.who)
    return ProgressOut(
        stage=found.stage,
        written=found.done[ItemKind.WRITE],
        rated=found.done[ItemKind.RATE],
        may_write=found.limit[ItemKind.WRITE],
        may_rate=found.limit[ItemKind.RATE],
        training=found.training,
        test=found.test,
        attempt=found.attempt,
        attempts=found.attempts,
        can_undo=found.can_undo,
    )


@router.get("/tasks/next", summary="The current task, or a new one")
def next_task(site: SiteDep, who: Reading) -> TaskOut | None:
    """Null if there is none; `/api/progress` says why."""
    found = site.store.next_task(who.who)
    return None if found is None else _shown(found)


@router.get("/tasks/{slot}", summary="A task of this person", responses={422: _WRITING[422]})
def task(site: SiteDep, who: Reading, slot: SlotPath) -> TaskOut:
    """Also works for a submitted task."""
    return _shown(site.store.task(who.who, slot))


@router.put("/tasks/{slot}/draft", summary="Save a draft", responses=_WRITING)
def save_draft(site: SiteDep, who: Writing, slot: SlotPath, body: AnswersIn) -> DraftOut:
    """Unfinished answers are saved, without those that are not valid. The lease is renewed."""
    return DraftOut(saved=work.save_draft(site, who.who, slot, body.answers, body.seconds))


@router.post("/tasks/{slot}/submission", summary="Submit a task", responses=_WRITING)
def submit(
    site: SiteDep, who: Writing, slot: SlotPath, body: AnswersIn, language: LanguageDep
) -> NextOut:
    """The same answers again change nothing; other answers are a correction, if one is possible."""
    return NextOut(next=work.submit(site, who.who, slot, body.answers, body.seconds, language))


@router.post("/tasks/{slot}/help", summary="Help while writing", responses=_WRITING)
def give_help(site: SiteDep, who: Writing, slot: SlotPath, body: TextIn) -> work.HelpOut:
    """The number of sentences, and the words that are lost or new."""
    found = site.store.task(who.who, slot)
    return work.give_help(found.item.source, work.clean(body.text))


@router.post("/undo", summary="Undo the last submission", responses=_WRITING)
def undo(site: SiteDep, who: Writing) -> NextOut:
    """The task is open again, with its answers as a draft. If nothing can be undone, the next
    page says so."""
    return NextOut(next=work.undo(site, who.who))


def _shown(found: Task) -> TaskOut:
    draft = found.draft
    return TaskOut(
        slot=found.slot,
        kind=found.kind,
        stage=stage_of(found),
        source=found.item.source,
        simple=None if found.item.simple is None else list(found.item.simple),
        identical=found.item.identical,
        draft=None if draft is None else {k: v for k, v in draft.items() if k != work.SECONDS},
        submitted=found.submitted,
        lease_until=found.lease_until,
    )
