"""The JSON API of the people of a study, for the scripts of the pages and for simulated raters."""

from datetime import datetime
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Depends, Request
from fastapi.security import APIKeyCookie, APIKeyHeader
from pydantic import BaseModel, ConfigDict, Field, StrictBool, StrictStr

from parataxis.studies.items import ItemKind
from parataxis.studies.pages import work
from parataxis.studies.pages.answers import SECONDS, clean
from parataxis.studies.pages.keys import Session
from parataxis.studies.pages.site import (
    COOKIES,
    CSRF_HEADER,
    CsrfError,
    LanguageDep,
    PersonDep,
    SiteDep,
)
from parataxis.studies.pages.tasks import SlotPath
from parataxis.studies.records import Purpose
from parataxis.studies.store import NotYoursError, Stage, Task
from parataxis.studies.study import Role


class ApiProblem(BaseModel):
    """Why a request was refused, and what is wrong with which answer."""

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
    description="The token of the session, as `/api/session` and every page give it.",
    auto_error=False,
)

_REFUSALS: dict[int | str, dict[str, Any]] = {
    401: {"model": ApiProblem, "description": "There is no session."},
    404: {"model": ApiProblem, "description": "There is nothing like that for this person."},
    429: {"model": ApiProblem, "description": "This person asks too often; see Retry-After."},
    503: {"model": ApiProblem, "description": "The database cannot be used now."},
}
_WRITING: dict[int | str, dict[str, Any]] = {
    400: {"model": ApiProblem, "description": "The body is no JSON."},
    403: {"model": ApiProblem, "description": "The token is missing or wrong."},
    413: {"description": "The body is too large."},
    422: {"model": ApiProblem, "description": "Something is wrong with what was sent."},
}

router = APIRouter(prefix="/api", tags=["people"], responses=_REFUSALS)

Value = StrictBool | Annotated[int, Field(ge=-(2**31), lt=2**31)] | StrictStr | None
"""In JSON 5.0 is a whole number too."""


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


class _In(BaseModel):
    model_config = ConfigDict(extra="forbid")


class SessionOut(BaseModel):
    """Who is asking."""

    person: str
    role: Role
    csrf: str


class TaskOut(BaseModel):
    """Something to do. Nothing tells where the item comes from, or why it is asked."""

    slot: int
    kind: ItemKind
    stage: Literal["training", "test", "work"]
    source: str
    simple: list[str] | None = Field(description="The rewrite to be rated; null when writing.")
    identical: bool = Field(description="Whether the rewrite says nothing but its source.")
    draft: dict[str, Value] | None
    submitted: dict[str, Value] | None
    lease_until: datetime | None


class ProgressOut(BaseModel):
    """Where somebody stands."""

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


class AnswersIn(_In):
    """Answers by question; of a write task "rewrite" or "flag"."""

    answers: dict[str, Value] = Field(max_length=200)
    seconds: float | None = Field(default=None, ge=0, le=86_400)


class DraftOut(BaseModel):
    """Whether a draft was kept; it is not where the task is submitted already."""

    saved: bool


class NextOut(BaseModel):
    """The page where to go on."""

    next: str


class TextIn(_In):
    """What a writer has typed so far."""

    text: StrictStr = Field(max_length=20_000)


class HelpOut(BaseModel):
    """What a writer may like to know; nothing of it is an error."""

    sentences: int
    lost: list[str] = Field(description="Words of the source that are missing.")
    new: list[str] = Field(description="Words that the source does not have.")


@router.get("/session", summary="Who is asking, and the token for writing")
def session(site: SiteDep, who: Reading) -> SessionOut:
    """The token must be sent as the header X-CSRF-Token with everything that writes."""
    person = site.store.person(who.who)
    if person is None:
        raise NotYoursError("This person is not there any more.")
    return SessionOut(person=person.id, role=person.role, csrf=site.signing.csrf(who))


@router.get("/progress", summary="Where somebody stands")
def progress(site: SiteDep, who: Reading) -> ProgressOut:
    """The stage says which page comes next, or why there is nothing to do."""
    found = site.store.progress(who.who)
    return ProgressOut(
        stage=found.stage,
        written=found.done.get(ItemKind.WRITE, 0),
        rated=found.done.get(ItemKind.RATE, 0),
        may_write=found.limit.get(ItemKind.WRITE),
        may_rate=found.limit.get(ItemKind.RATE),
        training=found.training,
        test=found.test,
        attempt=found.attempt,
        attempts=found.attempts,
        can_undo=found.can_undo,
    )


@router.get("/tasks/next", summary="The task that is held, or a new one")
def next_task(site: SiteDep, who: Reading) -> TaskOut | None:
    """Null where there is none; `/api/progress` says why."""
    found = site.store.next_task(who.who)
    return None if found is None else _shown(found)


@router.get(
    "/tasks/{slot}", summary="A task that was given to this person", responses={422: _WRITING[422]}
)
def task(site: SiteDep, who: Reading, slot: SlotPath) -> TaskOut:
    """Also one that is submitted."""
    return _shown(site.store.task(who.who, slot))


@router.put("/tasks/{slot}/draft", summary="Keep a draft", responses=_WRITING)
def save_draft(site: SiteDep, who: Writing, slot: SlotPath, body: AnswersIn) -> DraftOut:
    """Unfinished answers are kept; what is no answer is left out. The task is held on."""
    return DraftOut(saved=work.save_draft(site, who.who, slot, body.answers, body.seconds))


@router.post(
    "/tasks/{slot}/submission",
    summary="Submit a task",
    responses=_WRITING,
)
def submit(
    site: SiteDep, who: Writing, slot: SlotPath, body: AnswersIn, language: LanguageDep
) -> NextOut:
    """The same answers again change nothing; others are a correction where one is possible."""
    return NextOut(next=work.submit(site, who.who, slot, body.answers, body.seconds, language))


@router.post("/tasks/{slot}/help", summary="Help while writing", responses=_WRITING)
def give_help(site: SiteDep, who: Writing, slot: SlotPath, body: TextIn) -> HelpOut:
    """The number of sentences, and the words that are lost or new."""
    found = site.store.task(who.who, slot)
    given = work.give_help(found.item.source, clean(body.text))
    return HelpOut(sentences=given.sentences, lost=list(given.lost), new=list(given.new))


@router.post("/undo", summary="Take back the last submission", responses=_WRITING)
def undo(site: SiteDep, who: Writing) -> NextOut:
    """The task is held again, with its answers as a draft; where nothing can be undone, the page
    says so."""
    return NextOut(next=work.undo(site, who.who))


def _shown(found: Task) -> TaskOut:
    stage: Literal["training", "test", "work"] = "work"
    if found.purpose is Purpose.TRAINING:
        stage = "training"
    elif found.purpose is Purpose.TEST:
        stage = "test"
    draft = found.draft
    return TaskOut(
        slot=found.slot,
        kind=found.kind,
        stage=stage,
        source=found.item.source,
        simple=None if found.item.simple is None else list(found.item.simple),
        identical=found.item.identical,
        draft=None if draft is None else {k: v for k, v in draft.items() if k != SECONDS},
        submitted=found.submitted,
        lease_until=found.lease_until,
    )
