"""Arrival by a link or from a panel, consent, background, instructions, and leaving."""

import re
from urllib.parse import urlsplit

from fastapi import APIRouter, Request
from fastapi.responses import HTMLResponse, RedirectResponse, Response

from parataxis.errors import InputError
from parataxis.studies.items import ItemKind
from parataxis.studies.pages.site import (
    LANGUAGE_COOKIE,
    Interface,
    PersonForm,
    PersonVisit,
    Site,
    SiteDep,
    choose,
    keep_session,
    page,
    redirect,
    root_of,
    session_of,
    set_cookie,
)
from parataxis.studies.pages.work import STATUS, background_from, next_path
from parataxis.studies.rubric import writing
from parataxis.studies.store.types import Person, PersonProgress, PersonState, Stage
from parataxis.studies.study import Role
from parataxis.web import allow_frame

router = APIRouter(include_in_schema=False)

_WORKING = (Stage.TRAINING, Stage.TEST, Stage.WORK)


@router.get("/", response_class=HTMLResponse)
def home(request: Request, site: SiteDep) -> Response:
    """Continue, or explain that a personal link is needed."""
    session = session_of(request, site, "person")
    if session is None:
        return page(request, "landing.html")
    return redirect(request, _first_path(site, session.who))


@router.get("/join/{token}")
def join(request: Request, site: SiteDep, token: str) -> Response:
    """Arrive by a personal link."""
    person = site.signing.person_of_link(token)
    known = site.store.person(person) if person else None
    if known is None or known.state is PersonState.ERASED:
        return page(request, "message.html", status=410, title="link-over", body="link-over-text")
    return _welcome(request, site, known)


@router.get("/panel")
def panel(request: Request, site: SiteDep) -> Response:
    """Arrive by the URL of a panel."""
    address = request.client.host if request.client else ""
    if wait := site.arrivals.wait(address):
        answer = page(request, "message.html", status=429, title="too-many", body="too-many-text")
        answer.headers["retry-after"] = str(int(wait) + 1)
        return answer
    site.arrivals.count(address)
    try:
        person = site.store.person_by_panel(dict(request.query_params))
    except InputError:
        return page(request, "message.html", status=400, title="no-panel", body="no-panel-text")
    return _welcome(request, site, person)


@router.get("/mturk", response_class=HTMLResponse)
def mturk(request: Request, site: SiteDep) -> Response:
    """An external question of Mechanical Turk: a page in its frame that opens the study in a new
    tab, where cookies work, and submits the completion code."""
    if site.study.panel is None:
        return page(request, "message.html", status=400, title="no-panel", body="no-panel-text")
    given = request.query_params
    assignment = given.get("assignmentId", "")
    host = _turk_host(given.get("turkSubmitTo", ""))
    accepted = host and assignment not in ("", "ASSIGNMENT_ID_NOT_AVAILABLE")
    answer = page(
        request,
        "mturk.html",
        submit=f"https://{host}/mturk/externalSubmit" if accepted else "",
        assignment=assignment,
        query=str(given),
    )
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


def _welcome(request: Request, site: Site, person: Person) -> Response:
    answer = redirect(request, "/")
    keep_session(request, answer, "person", person.id)
    if person.language and LANGUAGE_COOKIE not in request.cookies:
        set_cookie(request, answer, LANGUAGE_COOKIE, choose([person.language], site.languages))
    return answer


@router.get("/language/{code}")
def language(request: Request, site: SiteDep, code: str, back: str = "/") -> Response:
    """Choose the language of the pages."""
    local = back.startswith("/") and not back.startswith("//") and "\\" not in back
    home_ = f"{root_of(request)}/"
    answer = RedirectResponse(back if local and back.isprintable() else home_, 303)
    if code in site.languages:
        set_cookie(request, answer, LANGUAGE_COOKIE, code)
    return answer


def _first_path(site: Site, person: str) -> str:
    """The path of the first page after arrival."""
    progress = site.store.progress(person)
    if progress.stage is Stage.CONSENT:
        return "/consent"
    if progress.stage is Stage.BACKGROUND:
        return "/background"
    if progress.stage not in _WORKING:
        return STATUS
    if _has_begun(progress):
        return next_path(site, person)
    return _after_consent(site, person)


def _has_begun(progress: PersonProgress) -> bool:
    return any(progress.done.values()) or progress.training[0] > 0 or progress.test[0] > 0


def _after_consent(site: Site, person: str) -> str:
    known = site.store.person(person) if site.study.background else None
    return "/background" if known and known.background is None else "/instructions"


@router.get("/consent", response_class=HTMLResponse)
def consent(visit: PersonVisit) -> Response:
    """The consent form."""
    if visit.site.study.consent is None:
        return visit.redirect("/")
    return visit.page("consent.html", problem=False)


@router.post("/consent")
def agree(visit: PersonVisit, form: PersonForm) -> Response:
    """Give consent."""
    if form.get("agree") != "yes":
        return visit.page("consent.html", status=422, problem=True)
    visit.site.store.consent(visit.who, visit.language)
    return visit.redirect(_after_consent(visit.site, visit.who))


@router.get("/background", response_class=HTMLResponse)
def background(visit: PersonVisit) -> Response:
    """The background form."""
    if not visit.site.study.background:
        return visit.redirect("/")
    known = visit.site.store.person(visit.who)
    # Anybody who knows a panel id can arrive with it, so the answers are not shown again.
    given = dict(known.background or {}) if known and not known.panel else {}
    return visit.page("background.html", given=given, problems={})


@router.post("/background")
def save_background(visit: PersonVisit, form: PersonForm) -> Response:
    """Store the answers to the background form."""
    questions, texts = visit.site.study.background, Interface(visit.language)
    given, problems = background_from(questions, form, texts, 500)
    if problems:
        return visit.page("background.html", status=422, given=given, problems=problems)
    visit.site.store.save_background(visit.who, given)
    return visit.redirect("/instructions")


@router.get("/instructions", response_class=HTMLResponse)
def instructions(visit: PersonVisit) -> Response:
    """The instructions."""
    site = visit.site
    person, progress = site.store.person(visit.who), site.store.progress(visit.who)
    role = person.role if person else Role.RATER
    return visit.page(
        "instructions.html",
        rubric=site.rubric,
        examples=site.examples(site.rubric, visit.language),
        writing=writing(),
        writing_examples=site.examples(writing(), visit.language),
        writes=role in (Role.WRITER, Role.BOTH),
        rates=role is not Role.WRITER,
        progress=progress,
        begun=_has_begun(progress),
    )


@router.get(STATUS, response_class=HTMLResponse)
def status(visit: PersonVisit) -> Response:
    """Why there is nothing to do, or the completion code."""
    progress = visit.site.store.progress(visit.who)
    if progress.stage in (*_WORKING, Stage.CONSENT, Stage.BACKGROUND):
        return visit.redirect(_first_path(visit.site, visit.who))
    done = sum(progress.done.values())
    # A person who waits for others has done everything available, and may leave with the code.
    may_leave = progress.stage is Stage.FINISHED or (progress.stage is Stage.WAITING and done > 0)
    person = visit.site.store.person(visit.who)
    by_panel = person is not None and bool(person.panel)
    return visit.page(
        "status.html",
        progress=progress,
        stage=progress.stage.value,
        done={kind.value: progress.done.get(kind, 0) for kind in ItemKind},
        leave=visit.site.study.panel if may_leave and by_panel else None,
    )
