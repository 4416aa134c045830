"""The JSON API for participants, used by the scripts of the pages and by simulated raters."""

from typing import Annotated, Any, Literal

from fastapi import APIRouter, Depends
from fastapi.security import APIKeyCookie, APIKeyHeader
from pydantic import (
    AfterValidator,
    AliasPath,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    StrictBool,
    StrictStr,
)
from pydantic_core import PydanticCustomError

from parataxis.studies.pages import work
from parataxis.studies.pages.site import COOKIES, PERSON, CsrfError, Visit, person_visit
from parataxis.studies.pages.work import SlotPath
from parataxis.studies.records import Timestamp
from parataxis.studies.store.tasks import SECONDS
from parataxis.studies.store.types import NotYoursError, Stage
from parataxis.studies.study import ItemKind, Role


class ApiProblem(BaseModel):
    """Why a request was refused, with error messages by question."""

    detail: str
    problems: dict[str, str] = Field(default_factory=dict)


_COOKIE = APIKeyCookie(
    name=COOKIES[PERSON],
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


async def _read(
    visit: Annotated[Visit, Depends(person_visit)],
    _cookie: Annotated[str | None, Depends(_COOKIE)] = None,
) -> Visit:
    return visit


Reading = Annotated[Visit, Depends(_read)]


async def _write(visit: Reading, token: Annotated[str | None, Depends(_TOKEN)] = None) -> Visit:
    if visit.session is None or not visit.site.signing.is_csrf(visit.session, token):
        raise CsrfError
    return visit


Writing = Annotated[Visit, Depends(_write)]


_MOST = "At most; null is any number."


class SessionOut(BaseModel):
    """The person of the session."""

    person: str
    role: Role
    csrf: str


def _without_seconds(draft: dict[str, Value] | None) -> dict[str, Value] | None:
    return draft and {name: value for name, value in draft.items() if name != SECONDS}


class TaskOut(BaseModel):
    """A task. Nothing in it reveals where the item comes from, or whether it is a control item."""

    model_config = ConfigDict(from_attributes=True)

    slot: str
    kind: ItemKind
    stage: Literal["training", "test", "work"]
    source: str = Field(validation_alias=AliasPath("item", "source"))
    simple: list[str] | None = Field(
        validation_alias=AliasPath("item", "simple"),
        description="The rewrite to be rated; null when writing.",
    )
    identical: bool = Field(
        validation_alias=AliasPath("item", "identical"),
        description="Whether the rewrite is equal to its source.",
    )
    draft: Annotated[dict[str, Value] | None, AfterValidator(_without_seconds)]
    submitted: dict[str, Value] | None
    final: bool = Field(description="Whether other answers would not count any more.")
    lease_until: Timestamp | None


class ProgressOut(BaseModel):
    """How far a person has got."""

    model_config = ConfigDict(from_attributes=True)

    stage: Stage
    written: int = Field(validation_alias=AliasPath("done", "write"))
    rated: int = Field(validation_alias=AliasPath("done", "rate"))
    may_write: int | None = Field(validation_alias=AliasPath("limit", "write"), description=_MOST)
    may_rate: int | None = Field(validation_alias=AliasPath("limit", "rate"), description=_MOST)
    training: tuple[int, int]
    test: tuple[int, int]
    attempt: int
    attempts: int
    can_undo: bool


_ANSWERS = 200


def _few(answers: Any) -> Any:
    """Refuse too many answers before each of them gets errors of its own."""
    if isinstance(answers, dict) and len(answers) > _ANSWERS:
        raise PydanticCustomError("too_long", "There are more than {most}", {"most": _ANSWERS})
    return answers


class AnswersIn(BaseModel):
    """Answers by question; for a write task "rewrite" or "flag"."""

    model_config = ConfigDict(extra="forbid")

    answers: Annotated[dict[str, Value], BeforeValidator(_few)] = Field(max_length=_ANSWERS)
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
def session(visit: Reading) -> SessionOut:
    """Send the token as the header X-CSRF-Token with every request that writes."""
    person = visit.site.store.person(visit.who)
    if person is None or visit.session is None:
        raise NotYoursError("This person does not exist any more.")
    csrf = visit.site.signing.csrf(visit.session)
    return SessionOut(person=person.id, role=person.role, csrf=csrf)


@router.get("/progress", summary="How far the person has got")
def progress(visit: Reading) -> ProgressOut:
    """The stage says which page comes next, or why there is nothing to do."""
    return ProgressOut.model_validate(visit.site.store.progress(visit.who))


@router.get("/tasks/next", summary="The current task, or a new one")
def next_task(visit: Reading) -> TaskOut | None:
    """Null if there is none; `/api/progress` says why."""
    found = visit.site.store.next_task(visit.who)
    return None if found is None else TaskOut.model_validate(found)


@router.get("/tasks/{slot}", summary="A task of this person", responses={422: _WRITING[422]})
def task(visit: Reading, slot: SlotPath) -> TaskOut:
    """Also works for a submitted task."""
    return TaskOut.model_validate(visit.site.store.task(visit.who, slot))


@router.put("/tasks/{slot}/draft", summary="Save a draft", responses=_WRITING)
def save_draft(visit: Writing, slot: SlotPath, body: AnswersIn) -> DraftOut:
    """Unfinished answers are saved, without those that are not valid. The lease is renewed."""
    return DraftOut(saved=work.save_draft(visit, slot, body.answers, body.seconds))


@router.post("/tasks/{slot}/submission", summary="Submit a task", responses=_WRITING)
def submit(visit: Writing, slot: SlotPath, body: AnswersIn) -> NextOut:
    """The same answers again change nothing. Other answers are a correction; if it is too late for
    one, the path of the next page has `notice=too-late`, and the first answers count."""
    return NextOut(next=work.submit(visit, slot, body.answers, body.seconds))


@router.post("/tasks/{slot}/help", summary="Help while writing", responses=_WRITING)
def give_help(visit: Writing, slot: SlotPath, body: TextIn) -> work.HelpOut:
    """The number of sentences, and the words that are lost or new."""
    found = visit.site.store.task(visit.who, slot)
    return work.give_help(found.item.source, work.clean(body.text))


@router.post("/undo", summary="Undo the last submission", responses=_WRITING)
def undo(visit: Writing) -> NextOut:
    """The task is open again, with its answers as a draft. If nothing can be undone, the next
    page says so."""
    return NextOut(next=work.undo(visit))
