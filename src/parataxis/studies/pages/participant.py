"""The pages of participants: arriving by a link or from a panel, consent, background,
instructions, tasks, and leaving."""

import re
import time
from collections.abc import Mapping
from typing import Any
from urllib.parse import urlsplit

from fastapi import APIRouter
from fastapi.responses import HTMLResponse, RedirectResponse, Response

from parataxis.errors import InputError
from parataxis.studies.pages import work
from parataxis.studies.pages.site import (
    LANGUAGE_COOKIE,
    PERSON,
    AnyVisit,
    PersonVisit,
    Visit,
    choose,
)
from parataxis.studies.pages.work import STATUS, ProblemsError, SlotPath
from parataxis.studies.records import Purpose, Value
from parataxis.studies.rubric import applicable, writing
from parataxis.studies.store.tasks import SECONDS
from parataxis.studies.store.types import (
    NotYoursError,
    Person,
    PersonProgress,
    PersonState,
    Stage,
    Task,
)
from parataxis.studies.study import ItemKind, Role
from parataxis.web import allow_frame

router = APIRouter(include_in_schema=False, default_response_class=HTMLResponse)

_WORKING = (Stage.TRAINING, Stage.TEST, Stage.WORK)
_ON_A_PAGE = 25


# --- Arriving


@router.get("/")
def home(visit: AnyVisit) -> Response:
    """Continue, or explain that a personal link is needed."""
    session = visit.session_of(PERSON)
    if session is None:
        return visit.page("landing.html")
    return visit.redirect(_first_path(Visit(visit.request, session)))


@router.get("/join/{token}")
def join(visit: AnyVisit, token: str) -> Response:
    person = visit.site.signing.person_of_link(token)
    known = visit.site.store.person(person) if person else None
    if known is None or known.state is PersonState.ERASED:
        return visit.message(410, "link-over")
    return _welcome(visit, known)


@router.get("/panel")
def panel(visit: AnyVisit) -> Response:
    arrivals = visit.site.arrivals
    if wait := arrivals.wait(visit.address):
        answer = visit.message(429, "too-many")
        answer.headers["retry-after"] = str(int(wait) + 1)
        return answer
    arrivals.count(visit.address)
    try:
        person = visit.site.store.person_by_panel(dict(visit.request.query_params))
    except InputError:
        return visit.message(400, "no-panel")
    return _welcome(visit, person)


@router.get("/mturk")
def mturk(visit: AnyVisit) -> Response:
    """An external question of Mechanical Turk: a page in its frame that opens the study in a new
    tab, where cookies work, and submits the completion code."""
    if visit.site.study.panel is None:
        return visit.message(400, "no-panel")
    given = visit.request.query_params
    assignment = given.get("assignmentId", "")
    host = _turk_host(given.get("turkSubmitTo", ""))
    accepted = host and assignment not in ("", "ASSIGNMENT_ID_NOT_AVAILABLE")
    submit_to = f"https://{host}/mturk/externalSubmit" if accepted else ""
    answer = visit.page("mturk.html", submit=submit_to, assignment=assignment, query=str(given))
    allow_frame(answer.headers, "https://*.mturk.com")
    return answer


def _turk_host(url: str) -> str:
    """The host of Mechanical Turk that accepts the code, or "" if the URL is not theirs."""
    try:
        parts = urlsplit(url)
        host = parts.hostname or ""
    except ValueError:
        return ""
    # Only names and dots: browsers treat a backslash as the end of the host.
    is_theirs = re.fullmatch(r"([a-z0-9-]+\.)*mturk\.com", host) is not None
    return host if parts.scheme == "https" and is_theirs else ""


def _welcome(visit: Visit, person: Person) -> Response:
    answer = visit.redirect("/")
    visit.keep_session(answer, PERSON, person.id)
    if person.language and LANGUAGE_COOKIE not in visit.request.cookies:
        language = choose([person.language], visit.site.languages)
        visit.set_cookie(answer, LANGUAGE_COOKIE, language)
    return answer


@router.get("/language/{code}")
def language(visit: AnyVisit, code: str, back: str = "/") -> Response:
    local = back.startswith("/") and not back.startswith("//") and "\\" not in back
    answer = RedirectResponse(back if local and back.isprintable() else f"{visit.root}/", 303)
    if code in visit.site.languages:
        visit.set_cookie(answer, LANGUAGE_COOKIE, code)
    return answer


def _first_path(visit: Visit) -> str:
    progress = visit.site.store.progress(visit.who)
    if progress.stage in (Stage.CONSENT, Stage.BACKGROUND):
        return f"/{progress.stage}"
    if progress.stage not in _WORKING:
        return STATUS
    return work.next_path(visit) if _has_begun(progress) else _after_consent(visit)


def _has_begun(progress: PersonProgress) -> bool:
    return any(progress.done.values()) or progress.training[0] > 0 or progress.test[0] > 0


def _after_consent(visit: Visit) -> str:
    known = visit.site.store.person(visit.who) if visit.site.study.background else None
    return "/background" if known and known.background is None else "/instructions"


@router.get("/consent")
def consent(visit: PersonVisit) -> Response:
    if visit.site.study.consent is None:
        return visit.redirect("/")
    return visit.page("consent.html", problem=False)


@router.post("/consent")
def agree(visit: PersonVisit) -> Response:
    if visit.form.get("agree") != "yes":
        return visit.page("consent.html", status=422, problem=True)
    visit.site.store.consent(visit.who, visit.language)
    return visit.redirect(_after_consent(visit))


@router.get("/background")
def background(visit: PersonVisit) -> Response:
    if not visit.site.study.background:
        return visit.redirect("/")
    known = visit.site.store.person(visit.who)
    # Anybody who knows a panel id can arrive with it, so the answers are not shown again.
    given = dict(known.background or {}) if known and not known.panel else {}
    return visit.page("background.html", given=given, problems={})


@router.post("/background")
def save_background(visit: PersonVisit) -> Response:
    given, problems = work.background_from(visit)
    if problems:
        return visit.page("background.html", status=422, given=given, problems=problems)
    visit.site.store.save_background(visit.who, given)
    return visit.redirect("/instructions")


@router.get("/instructions")
def instructions(visit: PersonVisit) -> Response:
    site = visit.site
    person, progress = site.store.person(visit.who), site.store.progress(visit.who)
    role = person.role if person else Role.RATER
    write, shipped = site.study.write, writing()
    cases = (write and write.examples) or shipped.questions[0].examples
    return visit.page(
        "instructions.html",
        rubric=site.rubric,
        examples=site.examples(visit.language),
        rules=(write and write.instructions) or shipped.instructions,
        writing_examples=site.shown(cases, visit.language),
        writes=role in (Role.WRITER, Role.BOTH),
        rates=role is not Role.WRITER,
        progress=progress,
        begun=_has_begun(progress),
    )


@router.get(STATUS)
def status(visit: PersonVisit) -> Response:
    """Why there is nothing to do, or the completion code."""
    progress = visit.site.store.progress(visit.who)
    if progress.stage in (*_WORKING, Stage.CONSENT, Stage.BACKGROUND):
        return visit.redirect(_first_path(visit))
    # Who has worked and waits for others has done everything available, and may leave with the
    # code. Who came when nothing was left has done nothing for it.
    has_worked = any(progress.done.values())
    is_over = progress.stage is Stage.FINISHED
    person = visit.site.store.person(visit.who)
    by_panel = person is not None and bool(person.panel)
    panel, code, url = visit.site.study.panel if by_panel else None, None, None
    if panel and has_worked and (is_over or progress.stage is Stage.WAITING):
        code, url = panel.completion_code, panel.completion_url
    elif panel and (is_over or progress.stage in (Stage.FAILED, Stage.BLOCKED)):
        code, url = panel.screen_out_code, panel.screen_out_url
    stage = "nothing-left" if is_over and not has_worked else progress.stage.value
    values: dict[str, Any] = {"stage": stage, "done": progress.done}
    return visit.page("status.html", progress=progress, **values, code=code, url=url)


@router.get("/mine")
def mine(visit: PersonVisit, page: int = 1) -> Response:
    if not 0 < page < 10**6:
        raise NotYoursError("There is no such page.")
    start = _ON_A_PAGE * (page - 1)
    found = visit.site.store.submissions(visit.who, start, _ON_A_PAGE + 1)
    return visit.page(
        "mine.html",
        found=found[:_ON_A_PAGE],
        page=page,
        is_more=len(found) > _ON_A_PAGE,
        rubric=visit.site.rubric,
        shown=work.shown,
    )


# --- Tasks


@router.get("/task")
def next_task(visit: PersonVisit) -> Response:
    return visit.redirect(work.next_path(visit))


@router.get("/task/{slot}")
def task(visit: PersonVisit, slot: SlotPath) -> Response:
    """A sentence to rewrite, or a rewrite to rate."""
    found, progress = visit.site.store.task_and_progress(visit.who, slot)
    given = found.submitted if found.submitted is not None else found.draft or {}
    return _task_page(visit, found, progress, given)


@router.post("/task/{slot}")
def submit_task(visit: PersonVisit, slot: SlotPath) -> Response:
    """Submit the answers; show the page again if something is missing."""
    found, progress = visit.site.store.task_and_progress(visit.who, slot)
    answers = work.answers_from(visit, found)
    try:
        return visit.redirect(work.submit(visit, slot, answers, _seconds(visit.form)))
    except ProblemsError as error:
        return _task_page(visit, found, progress, answers, error.problems, status=422)


@router.get("/task/{slot}/feedback")
def feedback(visit: PersonVisit, slot: SlotPath) -> Response:
    site = visit.site
    found, progress = site.store.task_and_progress(visit.who, slot)
    if found.submitted is None or found.purpose is not Purpose.TRAINING:
        return visit.redirect(f"/task/{slot}")
    # Submitting the same answers again changes nothing, and returns the known answers.
    known = site.store.submit(visit.who, slot, found.submitted)
    values: dict[str, Any] = {"task": found, "known": known, "progress": progress}
    return visit.page("feedback.html", **values, rubric=site.rubric, shown=work.shown)


@router.post("/undo")
def undo_last(visit: PersonVisit) -> Response:
    return visit.redirect(work.undo(visit))


def _seconds(form: Mapping[str, str]) -> float | None:
    """The time measured by the script of the page, or else since the page was rendered."""
    measured, begun = work.seconds_from(form.get("seconds") or None), form.get("started", "")
    if measured is None and re.fullmatch(r"[0-9]{1,12}", begun):
        return work.seconds_from(time.time() - int(begun))
    return measured


def _task_page(
    visit: Visit,
    task: Task,
    progress: PersonProgress,
    given: Mapping[str, Value],
    problems: Mapping[str, str] | None = None,
    status: int = 200,
) -> HTMLResponse:
    values: dict[str, Any] = {
        "status": status,
        "task": task,
        "given": given,
        "problems": problems or {},
        "progress": progress,
        "seconds": (task.draft or {}).get(SECONDS) or 0,
        "started": int(time.time()),
    }
    site = visit.site
    if task.kind is ItemKind.WRITE:
        least = site.study.write.sentences if site.study.write else 1
        return visit.page("write.html", **values, least=least)
    asked = applicable(site.rubric, given, identical=task.item.identical)
    return visit.page(
        "rate.html",
        **values,
        rubric=site.rubric,
        asked={question.id for question in asked},
        fixed=site.rubric.identical if task.item.identical else {},
        shown=work.shown,
        examples=site.examples(visit.language),
    )
