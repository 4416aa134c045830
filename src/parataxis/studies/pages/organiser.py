"""The organiser's pages: log in, watch the study, invite and exclude people, export results."""

import csv
import io
import json
from typing import Annotated

from fastapi import APIRouter, Path, Request
from fastapi.concurrency import run_in_threadpool
from fastapi.responses import HTMLResponse, PlainTextResponse, Response

from parataxis.errors import InputError
from parataxis.studies.exports import FILES, export_file, export_zip
from parataxis.studies.pages.dashboard import AgreementCache, CurrentAgreement, concerns, hours
from parataxis.studies.pages.keys import is_password
from parataxis.studies.pages.site import (
    COOKIES,
    ORGANISER,
    VISITOR,
    CsrfError,
    OrganiserDep,
    OrganiserForm,
    OrganiserVisit,
    Site,
    SiteDep,
    Visit,
    form_of,
    keep_session,
    organiser_of,
    page,
    redirect,
    root_of,
    session_of,
)
from parataxis.studies.pages.work import clean
from parataxis.studies.store.types import NotYoursError, Person, PersonState
from parataxis.studies.study import Role

router = APIRouter(prefix="/organiser", include_in_schema=False)

PersonPath = Annotated[str, Path(pattern=r"^[0-9a-z]{1,40}$")]

MOST_INVITED = 500


# --- Logging in


@router.get("/login", response_class=HTMLResponse)
def login_form(request: Request, site: SiteDep) -> Response:
    """Ask for the password."""
    if organiser_of(request, site) is not None:
        return redirect(request, "/organiser")
    return _login_page(request, site, "")


def _login_page(request: Request, site: Site, problem: str, status: int = 200) -> HTMLResponse:
    """The form, in a session of its own, so that other sites cannot log anybody in."""
    holder = Response()
    session = session_of(request, site, "organiser")
    if session is None:  # a new one would invalidate a login form in another tab
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


@router.post("/login")
async def login(request: Request, site: SiteDep) -> Response:
    """Check the password. After a few failures an address has to wait."""
    session = session_of(request, site, "organiser")
    if session is None:
        raise CsrfError
    password = (await form_of(request, site, session)).get("password", "")
    address = request.client.host if request.client else ""
    if wait := site.logins.wait(address):
        answer = _login_page(request, site, "login-too-often", 429)
        answer.headers["retry-after"] = str(int(wait) + 1)
        return answer
    site.logins.count(address)  # before the slow check, so that parallel attempts gain nothing
    right = await run_in_threadpool(is_password, password, site.settings.secrets.password_hash)
    if not right:
        return _login_page(request, site, "login-wrong", 401)
    site.logins.forgive(address)
    welcome = redirect(request, "/organiser")
    keep_session(request, welcome, "organiser", ORGANISER)
    return welcome


@router.post("/logout")
def logout(visit: OrganiserVisit, form: OrganiserForm) -> Response:
    """Log out. This ends the session on the server, so that a copied cookie is useless."""
    visit.site.store.end_session(visit.session.nonce)
    answer = visit.redirect("/organiser/login")
    answer.delete_cookie(COOKIES["organiser"], path=root_of(visit.request) or "/")
    return answer


# --- Progress


@router.get("", response_class=HTMLResponse)
@router.get("/", response_class=HTMLResponse)
def dashboard(visit: OrganiserVisit) -> Response:
    """The numbers of the study."""
    overview = visit.site.store.overview()
    counted = _agreement(visit)
    return visit.page(
        "dashboard.html",
        overview=overview,
        numbers=counted,
        concerns=concerns(overview, counted),
        hours=hours(overview),
        active=sum(each.person.state is PersonState.ACTIVE for each in overview.people),
        files=list(FILES),
    )


def _agreement(visit: Visit) -> CurrentAgreement:
    cache: AgreementCache = visit.request.app.state.agreement
    return cache(visit.site.store, visit.site.rubric, visit.language)


@router.post("/pause")
def pause(visit: OrganiserVisit, form: OrganiserForm) -> Response:
    """Stop giving out tasks."""
    visit.site.store.pause()
    return visit.redirect("/organiser?notice=changed")


@router.post("/resume")
def resume(visit: OrganiserVisit, form: OrganiserForm) -> Response:
    """Give out tasks again."""
    visit.site.store.resume()
    return visit.redirect("/organiser?notice=changed")


# --- People


@router.get("/people", response_class=HTMLResponse)
def people(visit: OrganiserVisit) -> Response:
    """Everybody, with their links."""
    return _people_page(visit)


def _people_page(visit: Visit, problem: str = "", status: int = 200) -> HTMLResponse:
    overview = visit.site.store.overview()
    counted = _agreement(visit)
    return visit.page(
        "people.html",
        status=status,
        people=overview.people,
        raters=counted.raters,
        links={each.person.id: _link(visit.site, each.person) for each in overview.people},
        flagged={each.person.id for each, _ in concerns(overview, counted)},
        roles=_roles(visit.site),
        most=MOST_INVITED,
        problem=problem,
    )


def _roles(site: Site) -> list[str]:
    """The roles that this study can use."""
    if site.study.write is None:
        return [Role.RATER.value, Role.EXPERT.value]
    return [role.value for role in Role]


def _link(site: Site, person: Person) -> str | None:
    if person.state is not PersonState.ACTIVE or person.panel:
        return None
    return site.signing.link(person.id)


@router.post("/invite")
def invite(visit: OrganiserVisit, form: OrganiserForm) -> Response:
    """Add people: so many without a name, or one for each line."""
    names = [line.strip() for line in clean(form.get("names", "")).splitlines() if line.strip()]
    given, role = form.get("count", "").strip(), form.get("role", "")
    count = int(given) if given.isdecimal() and len(given) < 6 else 0
    try:
        if role not in _roles(visit.site) or not 0 < (len(names) or count) <= MOST_INVITED:
            raise InputError("The role or the number of people is not valid.")
        visit.site.store.invite(names or count, Role(role))
    except InputError:
        return _people_page(visit, "invite-problem", 422)
    return visit.redirect("/organiser/people?notice=invited")


@router.get("/people.csv")
def table(site: SiteDep, session: OrganiserDep) -> Response:
    """Everybody as a table, for a mail merge with the links or for paying a panel."""
    file = io.StringIO()
    rows = csv.writer(file, lineterminator="\n")
    rows.writerow(["id", "name", "role", "state", "panel", "done", "failed", "link"])
    for each in site.store.overview().people:
        person = each.person
        texts = [person.name or "", person.role.value, person.state.value]
        panel, link = person.panel.get("person", ""), _link(site, person) or ""
        cells = [person.id, *texts, panel, str(each.done), str(each.failures), link]
        rows.writerow([_plain_cell(cell) for cell in cells])
    return _download(file.getvalue(), "people.csv", "text/csv; charset=utf-8")


def _plain_cell(text: str) -> str:
    """A cell that a spreadsheet does not treat as a formula."""
    return f"'{text}" if text[:1] in "=+-@\t\r" and text else text


@router.get("/people/{person}", response_class=HTMLResponse)
def person_page(visit: OrganiserVisit, person: PersonPath) -> Response:
    """One person: their work, and actions."""
    people = visit.site.store.overview().people
    found = next((each for each in people if each.person.id == person), None)
    if found is None:
        raise NotYoursError(f'There is no person "{person}" in this study.')
    link = _link(visit.site, found.person)
    return visit.page("person.html", found=found, person=found.person, link=link)


@router.get("/people/{person}/data.json")
def personal_data(site: SiteDep, session: OrganiserDep, person: PersonPath) -> Response:
    """All that the study stores about a person."""
    data = json.dumps(site.store.personal_data(person), ensure_ascii=False, indent=1, default=str)
    return _download(f"{data}\n", f"{person}.json", "application/json")


@router.post("/people/{person}/{action}")
def act(visit: OrganiserVisit, form: OrganiserForm, person: PersonPath, action: str) -> Response:
    """Exclude, block, reinstate or erase a person."""
    store = visit.site.store
    reason = clean(form.get("reason", "")).strip()[:200] or None
    match action:
        case "exclude":
            store.exclude(person, reason)
        case "block":
            store.block(person, reason)
        case "reinstate":
            store.reinstate(person)
        case "erase" if form.get("sure") == "yes":
            store.erase(person, ratings=form.get("ratings") == "yes")
            return visit.redirect("/organiser/people?notice=changed")
        case "erase":
            return visit.redirect(f"/organiser/people/{person}")
        case _:
            raise NotYoursError("There is no such action.")
    return visit.redirect(f"/organiser/people/{person}?notice=changed")


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
