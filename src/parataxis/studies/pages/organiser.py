"""What the organiser's page says about a study so far: agreement, and people to look at."""

import csv
import io
import json
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from statistics import median
from typing import Annotated

from fastapi import APIRouter, Path, Request
from fastapi.concurrency import run_in_threadpool
from fastapi.responses import HTMLResponse, PlainTextResponse, Response

from parataxis.errors import InputError
from parataxis.studies.agreement import RaterAgreement
from parataxis.studies.exports import FILES, export_file, export_zip
from parataxis.studies.pages.answers import clean
from parataxis.studies.pages.keys import Session, is_password
from parataxis.studies.pages.site import (
    COOKIES,
    ORGANISER,
    VISITOR,
    CsrfError,
    LanguageDep,
    OrganiserDep,
    OrganiserForm,
    Site,
    SiteDep,
    form_of,
    keep_session,
    organiser_of,
    page,
    redirect,
    root_of,
    session_of,
)
from parataxis.studies.records import Rating
from parataxis.studies.report import Agreement, agreements, raters_compared
from parataxis.studies.rubric import Rubric, outcomes
from parataxis.studies.store import (
    NotYoursError,
    Overview,
    Person,
    PersonOverview,
    PersonState,
    Store,
)
from parataxis.studies.study import Role

_FRESH = 15.0
"""Seconds for which numbers that take a while to count are shown again."""
_SHARE = 30
"""Numbers stay fresh for so many times the time that counting took: raters should not wait."""
_ENOUGH = 5
"""Tasks or shared items from which on a person can be compared with the others."""
_QUICK = 1 / 3
_APART = 0.2


@dataclass(frozen=True)
class Concern:
    """Why an organiser should look at somebody; ``reason`` is the key of a text."""

    reason: str
    detail: str = ""


@dataclass(frozen=True)
class Numbers:
    """What can be counted from the ratings."""

    agreement: tuple[Agreement, ...]
    raters: dict[str, RaterAgreement]
    ratings: int


class Counter:
    """Counts agreement, at most every few seconds: ratings come faster than people look."""

    def __init__(self, fresh: float = _FRESH) -> None:
        self._fresh = fresh
        self._turn = threading.Lock()
        self._kept: dict[str, tuple[float, Numbers]] = {}

    def __call__(self, store: Store, rubric: Rubric, language: str) -> Numbers:
        with self._turn:
            until, kept = self._kept.get(language, (0.0, None))
            begun = time.monotonic()
            if kept is None or begun > until:
                kept = numbers(rubric, _ratings(store, rubric), language)
                took = time.monotonic() - begun
                until = begun + max(self._fresh, _SHARE * took if self._fresh else 0)
                self._kept[language] = (until, kept)
            return kept


def _ratings(store: Store, rubric: Rubric) -> list[Rating]:
    return store.export_ratings(
        lambda answers, identical: outcomes(rubric, answers, identical=identical)
    )


def numbers(rubric: Rubric, ratings: Sequence[Rating], language: str) -> Numbers:
    """Agreement so far, about each question and of each rater."""
    return Numbers(
        tuple(agreements(rubric, ratings, language, trials=0)),
        {each.rater: each for each in raters_compared(rubric, ratings)},
        len(ratings),
    )


def concerns(overview: Overview, counted: Numbers) -> list[tuple[PersonOverview, list[Concern]]]:
    """People to look at, and why: failed controls, much quicker than others, far from others."""
    typical = [each.seconds for each in overview.people if each.seconds and each.done >= _ENOUGH]
    usual = median(typical) if len(typical) > 2 else None
    shares = [
        each.agreement
        for each in counted.raters.values()
        if each.agreement is not None and each.items >= _ENOUGH
    ]
    level = median(shares) if len(shares) > 2 else None
    found = []
    for each in overview.people:
        if each.person.state not in (PersonState.ACTIVE, PersonState.BLOCKED):
            continue
        reasons = []
        if each.failures:
            reasons.append(Concern("concern-controls", f"{each.failures}/{each.controls}"))
        if usual and each.seconds and each.done >= _ENOUGH and each.seconds < _QUICK * usual:
            reasons.append(Concern("concern-quick", f"{each.seconds:.0f} s"))
        beside = counted.raters.get(each.person.id)
        if (
            beside is not None
            and beside.agreement is not None
            and level is not None
            and beside.items >= _ENOUGH
            and beside.agreement < level - _APART
        ):
            reasons.append(Concern("concern-apart", f"{100 * beside.agreement:.0f} %"))
        if reasons:
            found.append((each, reasons))
    return found


# The organiser's side: log in, see how the study goes, invite and exclude people, export.

router = APIRouter(prefix="/organiser", include_in_schema=False)

PersonPath = Annotated[str, Path(pattern=r"^[0-9a-z]{1,40}$")]

MOST_INVITED = 500
_HOURS = 48


# --- Logging in


@router.get("/login", response_class=HTMLResponse)
def login_form(request: Request, site: SiteDep) -> Response:
    """Ask for the password."""
    if organiser_of(request, site) is not None:
        return redirect(request, "/organiser")
    return _login_page(request, site, "")


def _login_page(request: Request, site: Site, problem: str, status: int = 200) -> HTMLResponse:
    """The form, in a session of its own: nobody can be logged in from another site."""
    holder = Response()
    session = session_of(request, site, "organiser")
    if session is None:  # else a login form in another tab would be out of date
        session = keep_session(request, holder, "organiser", VISITOR)
    answer = page(
        request,
        "login.html",
        session=session,
        status=status,
        problem=problem,
        is_set=site.settings.secrets.password_hash is not None,
    )
    if "set-cookie" in holder.headers:
        answer.headers["set-cookie"] = holder.headers["set-cookie"]
    return answer


async def _login_fields(request: Request, site: SiteDep) -> str:
    session = session_of(request, site, "organiser")
    if session is None:
        raise CsrfError
    return (await form_of(request, site, session)).get("password", "")


@router.post("/login")
async def login(request: Request, site: SiteDep) -> Response:
    """Check the password. After some failures from an address nobody there may try for a while."""
    password = await _login_fields(request, site)
    address = request.client.host if request.client else ""
    if wait := site.logins.wait(address):
        answer = _login_page(request, site, "login-too-often", 429)
        answer.headers["retry-after"] = str(int(wait) + 1)
        return answer
    site.logins.count(address)  # before the slow check, so that many at once gain nothing
    right = await run_in_threadpool(is_password, password, site.settings.secrets.password_hash)
    if not right:
        return _login_page(request, site, "login-wrong", 401)
    site.logins.forgive(address)
    welcome = redirect(request, "/organiser")
    keep_session(request, welcome, "organiser", ORGANISER)
    return welcome


@router.post("/logout")
def logout(request: Request, site: SiteDep, session: OrganiserDep, form: OrganiserForm) -> Response:
    """Log out at this device. Whoever has copied the cookie is logged out too."""
    site.store.end_session(session.nonce)
    answer = redirect(request, "/organiser/login")
    answer.delete_cookie(COOKIES["organiser"], path=root_of(request) or "/")
    return answer


# --- How the study goes


@router.get("", response_class=HTMLResponse)
@router.get("/", response_class=HTMLResponse)
def dashboard(
    request: Request, site: SiteDep, session: OrganiserDep, language: LanguageDep
) -> Response:
    """The numbers of the study."""
    overview = site.store.overview()
    counted = request.app.state.counter(site.store, site.rubric, language)
    return page(
        request,
        "dashboard.html",
        session=session,
        overview=overview,
        numbers=counted,
        concerns=concerns(overview, counted),
        hours=_hours(overview),
        active=sum(each.person.state is PersonState.ACTIVE for each in overview.people),
        files=list(FILES),
    )


def _hours(overview: Overview) -> list[tuple[datetime, int, int]]:
    """Submissions in each of the last hours, and their share of the most, in per cent."""
    counts = dict(overview.pace)
    now = datetime.now(UTC).replace(minute=0, second=0, microsecond=0)
    hours = [now - timedelta(hours=back) for back in reversed(range(_HOURS))]
    most = max([counts.get(hour, 0) for hour in hours], default=0) or 1
    return [(hour, counts.get(hour, 0), round(100 * counts.get(hour, 0) / most)) for hour in hours]


@router.post("/pause")
def pause(request: Request, site: SiteDep, form: OrganiserForm) -> Response:
    """Give nobody a task for now."""
    site.store.pause()
    return redirect(request, "/organiser?notice=changed")


@router.post("/resume")
def resume(request: Request, site: SiteDep, form: OrganiserForm) -> Response:
    """Go on."""
    site.store.resume()
    return redirect(request, "/organiser?notice=changed")


# --- People


@router.get("/people", response_class=HTMLResponse)
def people(
    request: Request, site: SiteDep, session: OrganiserDep, language: LanguageDep
) -> Response:
    """Everybody, with their links."""
    return _people_page(request, site, session, language)


def _people_page(
    request: Request,
    site: Site,
    session: Session,
    language: str,
    problem: str = "",
    status: int = 200,
) -> HTMLResponse:
    overview = site.store.overview()
    counted = request.app.state.counter(site.store, site.rubric, language)
    return page(
        request,
        "people.html",
        session=session,
        status=status,
        people=overview.people,
        raters=counted.raters,
        links={each.person.id: _link(site, each.person) for each in overview.people},
        flagged={each.person.id for each, _ in concerns(overview, counted)},
        roles=_roles(site),
        most=MOST_INVITED,
        problem=problem,
    )


def _roles(site: Site) -> list[str]:
    """The roles that make sense in this study."""
    roles = [Role.RATER, Role.EXPERT]
    if site.study.write is not None:
        roles = [Role.WRITER, Role.RATER, Role.BOTH, Role.EXPERT]
    return [role.value for role in roles]


def _link(site: Site, person: Person) -> str | None:
    if person.state is not PersonState.ACTIVE or person.panel:
        return None
    return site.signing.link(person.id)


@router.post("/invite")
def invite(
    request: Request,
    site: SiteDep,
    session: OrganiserDep,
    form: OrganiserForm,
    language: LanguageDep,
) -> Response:
    """New people: so many without a name, or one for each line."""
    names = [line.strip() for line in clean(form.get("names", "")).splitlines() if line.strip()]
    count = form.get("count", "").strip()
    role = form.get("role", "")
    wanted: int | list[str] = names or (int(count) if count.isdecimal() and len(count) < 6 else 0)
    number = len(names) or wanted
    if role not in _roles(site) or not isinstance(number, int) or not 0 < number <= MOST_INVITED:
        return _people_page(request, site, session, language, "invite-problem", 422)
    try:
        site.store.invite(wanted, Role(role))
    except InputError:
        return _people_page(request, site, session, language, "invite-problem", 422)
    return redirect(request, "/organiser/people?notice=invited")


@router.get("/people.csv")
def table(site: SiteDep, session: OrganiserDep) -> Response:
    """Everybody as a table: for a mail merge with the links, or to pay people of a panel."""
    file = io.StringIO()
    rows = csv.writer(file, lineterminator="\n")
    rows.writerow(["id", "name", "role", "state", "panel", "done", "failed", "link"])
    for each in site.store.overview().people:
        person = each.person
        texts = [person.name or "", person.role.value, person.state.value]
        panel, link = (person.panel or {}).get("person", ""), _link(site, person) or ""
        cells = [person.id, *texts, panel, str(each.done), str(each.failures), link]
        rows.writerow([_plain_cell(cell) for cell in cells])
    return _download(file.getvalue(), "people.csv", "text/csv; charset=utf-8")


def _plain_cell(text: str) -> str:
    """A cell that no spreadsheet takes for a formula."""
    return f"'{text}" if text[:1] in "=+-@\t\r" and text else text


@router.get("/people/{person}", response_class=HTMLResponse)
def person_page(
    request: Request, site: SiteDep, session: OrganiserDep, person: PersonPath
) -> Response:
    """One person: what they did, and what can be done about them."""
    found = next((each for each in site.store.overview().people if each.person.id == person), None)
    if found is None:
        raise NotYoursError(f'There is nobody called "{person}" in this study.')
    return page(
        request,
        "person.html",
        session=session,
        found=found,
        person=found.person,
        link=_link(site, found.person),
    )


@router.get("/people/{person}/data.json")
def personal_data(site: SiteDep, session: OrganiserDep, person: PersonPath) -> Response:
    """All that the study holds about a person."""
    data = json.dumps(site.store.personal_data(person), ensure_ascii=False, indent=1, default=str)
    return _download(f"{data}\n", f"{person}.json", "application/json")


@router.post("/people/{person}/{action}")
def act(
    request: Request, site: SiteDep, form: OrganiserForm, person: PersonPath, action: str
) -> Response:
    """Exclude, block, reinstate or erase somebody."""
    reason = clean(form.get("reason", "")).strip()[:200] or None
    store: Store = site.store
    match action:
        case "exclude":
            store.exclude(person, reason)
        case "block":
            store.block(person, reason)
        case "reinstate":
            store.reinstate(person)
        case "erase" if form.get("sure") == "yes":
            store.erase(person, ratings=form.get("ratings") == "yes")
            return redirect(request, "/organiser/people?notice=changed")
        case "erase":
            return redirect(request, f"/organiser/people/{person}")
        case _:
            raise NotYoursError("There is no such action.")
    return redirect(request, f"/organiser/people/{person}?notice=changed")


# --- Results


@router.get("/export/study.zip")
def export_all(site: SiteDep, session: OrganiserDep) -> Response:
    """All files of the study in one archive."""
    return _download(export_zip(site.store, site.rubric), "study.zip", "application/zip")


@router.get("/export/{name}")
def export(site: SiteDep, session: OrganiserDep, name: str) -> Response:
    """One file of the study."""
    if name not in FILES:
        raise NotYoursError("There is no such file.")
    return _download(
        export_file(name, site.store, site.rubric), name, "application/x-ndjson; charset=utf-8"
    )


def _download(content: str | bytes, name: str, media: str) -> Response:
    headers = {"content-disposition": f'attachment; filename="{name}"'}
    return PlainTextResponse(content, headers=headers, media_type=media)
