"""The organiser's pages: log in, watch the study, invite and exclude people, export results."""

import asyncio
import csv
import io
import json
from dataclasses import replace
from typing import Annotated

from fastapi import APIRouter, Path
from fastapi.responses import HTMLResponse, PlainTextResponse, Response

from parataxis.errors import InputError
from parataxis.studies.pages import work
from parataxis.studies.pages.dashboard import AgreementCache, CurrentAgreement, concerns, hours
from parataxis.studies.pages.keys import is_password
from parataxis.studies.pages.site import (
    BROWSER_COOKIE,
    COOKIES,
    ORGANISER,
    VISITOR,
    AnyVisit,
    OrganiserVisit,
    Site,
    Visit,
)
from parataxis.studies.pages.work import clean
from parataxis.studies.store import FILES, export_file, export_zip
from parataxis.studies.store.types import NotYoursError, Person, PersonOverview, PersonState
from parataxis.studies.study import Role
from parataxis.text.files import plain_cell

router = APIRouter(
    prefix="/organiser", include_in_schema=False, default_response_class=HTMLResponse
)

PersonPath = Annotated[str, Path(pattern=r"^[0-9a-z]{1,40}$")]

MOST_INVITED = 500
_ON_A_PAGE = 50


# --- Logging in


@router.get("/login")
def login_form(visit: AnyVisit) -> Response:
    if visit.organiser_session() is not None:
        return visit.redirect("/organiser")
    return _login_page(visit, "")


def _login_page(visit: Visit, problem: str, status: int = 200) -> HTMLResponse:
    """The form, in a session of its own, so that other sites cannot log anybody in."""
    holder = Response()
    session = visit.session_of(ORGANISER)
    if session is None:  # a new one would invalidate a login form in another tab
        session = visit.keep_session(holder, ORGANISER, VISITOR)
    is_set = visit.site.settings.secrets.password_hash is not None
    answer = replace(visit, session=session).page(
        "login.html", status=status, problem=problem, is_set=is_set
    )
    if "set-cookie" in holder.headers:
        answer.headers["set-cookie"] = holder.headers["set-cookie"]
    return answer


@router.post("/login")
async def login(visit: AnyVisit) -> Response:
    """Check the password. After a few failures an address has to wait."""
    visit = await replace(visit, session=visit.session_of(ORGANISER)).with_form()
    site, logins = visit.site, visit.site.logins
    # Somebody else's wrong passwords do not keep a browser out that has logged in before.
    browser = site.signing.browser(visit.request.cookies.get(BROWSER_COOKIE, ""))
    address = browser or visit.address
    if wait := logins.wait(address):
        answer = _login_page(visit, "login-too-often", 429)
        answer.headers["retry-after"] = str(int(wait) + 1)
        return answer
    logins.count(address)  # before the slow check, so that parallel attempts gain nothing
    known, password = site.settings.secrets.password_hash, visit.form.get("password", "")
    if not await asyncio.wrap_future(site.passwords.submit(is_password, password, known)):
        return _login_page(visit, "login-wrong", 401)
    logins.forgive(address)
    welcome = visit.redirect("/organiser")
    visit.keep_session(welcome, ORGANISER, ORGANISER)
    visit.set_cookie(welcome, BROWSER_COOKIE, site.signing.browser() or "")
    return welcome


@router.post("/logout")
def logout(visit: OrganiserVisit) -> Response:
    """Log out. This ends the session on the server, so that a copied cookie is useless."""
    if visit.session:
        visit.site.store.end_session(visit.session.nonce)
    answer = visit.redirect("/organiser/login")
    answer.delete_cookie(COOKIES[ORGANISER], path=visit.root or "/")
    return answer


# --- Progress


@router.get("")
@router.get("/")
def dashboard(visit: OrganiserVisit) -> Response:
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
def pause(visit: OrganiserVisit) -> Response:
    visit.site.store.pause()
    return visit.redirect("/organiser?notice=changed")


@router.post("/resume")
def resume(visit: OrganiserVisit) -> Response:
    visit.site.store.resume()
    return visit.redirect("/organiser?notice=changed")


# --- People


@router.get("/people")
def people(visit: OrganiserVisit) -> Response:
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
    if site.study.write is None:
        return [Role.RATER.value, Role.EXPERT.value]
    return [role.value for role in Role]


def _link(site: Site, person: Person) -> str | None:
    if person.state is not PersonState.ACTIVE or person.panel:
        return None
    return site.signing.link(person.id)


@router.post("/invite")
def invite(visit: OrganiserVisit) -> Response:
    """Add people: so many without a name, or one for each line."""
    names = [
        line.strip() for line in clean(visit.form.get("names", "")).splitlines() if line.strip()
    ]
    given, role = visit.form.get("count", "").strip(), visit.form.get("role", "")
    count = int(given) if given.isdecimal() and len(given) < 6 else 0
    try:
        if role not in _roles(visit.site) or not 0 < (len(names) or count) <= MOST_INVITED:
            raise InputError("The role or the number of people is not valid.")
        visit.site.store.invite(names or count, Role(role))
    except InputError:
        return _people_page(visit, "invite-problem", 422)
    return visit.redirect("/organiser/people?notice=invited")


@router.get("/people.csv")
def table(visit: OrganiserVisit) -> Response:
    """Everybody as a table, for a mail merge with the links or for paying a panel."""
    file = io.StringIO()
    rows = csv.writer(file, lineterminator="\n")
    counts = ["done", "failed", "rejected", "quick", "rewrites", "hard", "ratings", "owed"]
    rows.writerow(["id", "name", "role", "state", "panel", *counts, "currency", "link"])
    currency = visit.site.study.payment.currency if visit.site.study.payment else ""
    for each in visit.site.store.overview().people:
        person, pay = each.person, each.pay
        texts = [person.name or "", person.role.value, person.state.value]
        panel, link = person.panel.get("person", ""), _link(visit.site, person) or ""
        work = [each.done, each.failures, each.rejected, each.quick]
        paid = [pay.rewrites, pay.hard, pay.ratings, f"{pay.owed:.2f}"]
        cells = [person.id, *texts, panel, *work, *paid, currency, link]
        rows.writerow([plain_cell(str(cell)) for cell in cells])
    return _download(file.getvalue(), "people.csv", "text/csv; charset=utf-8")


@router.get("/people/{person}")
def person_page(visit: OrganiserVisit, person: PersonPath) -> Response:
    found = _overview_of(visit, person)
    link = _link(visit.site, found.person)
    return visit.page("person.html", found=found, person=found.person, link=link)


def _overview_of(visit: Visit, person: str) -> PersonOverview:
    people = visit.site.store.overview().people
    found = next((each for each in people if each.person.id == person), None)
    if found is None:
        raise NotYoursError(f'There is no person "{person}" in this study.')
    return found


@router.get("/people/{person}/data.json")
def personal_data(visit: OrganiserVisit, person: PersonPath) -> Response:
    data = json.dumps(visit.site.store.personal_data(person), ensure_ascii=False, indent=1)
    return _download(f"{data}\n", f"{person}.json", "application/json")


@router.post("/people/{person}/{action}")
def act(visit: OrganiserVisit, person: PersonPath, action: str) -> Response:
    """Exclude, block, reinstate or erase a person."""
    store = visit.site.store
    reason = clean(visit.form.get("reason", "")).strip()[:200] or None
    match action:
        case "exclude" if visit.form.get("sure") == "yes":
            store.exclude(person, reason)
        case "exclude":  # ask first, and say what that means
            found = _overview_of(visit, person)
            return visit.page("confirm.html", found=found, person=found.person, given=reason or "")
        case "block":
            store.block(person, reason)
        case "reinstate":
            store.reinstate(person)
        case "erase" if visit.form.get("sure") == "yes":
            store.erase(person, ratings=visit.form.get("ratings") == "yes")
            return visit.redirect("/organiser/people?notice=changed")
        case "erase":
            return visit.redirect(f"/organiser/people/{person}")
        case _:
            raise NotYoursError("There is no such action.")
    return visit.redirect(f"/organiser/people/{person}?notice=changed")


# --- Item by item


@router.get("/items")
def items(visit: OrganiserVisit, page: int = 1) -> Response:
    if not 0 < page < 10**6:
        raise NotYoursError("There is no such page.")
    found, count = visit.site.store.sources(_ON_A_PAGE * (page - 1), _ON_A_PAGE)
    return visit.page(
        "items.html", found=found, count=count, page=page, is_more=_ON_A_PAGE * page < count
    )


@router.get("/items/{number}")
def item(visit: OrganiserVisit, number: Annotated[int, Path(ge=1, lt=2**31)]) -> Response:
    """One source with its rewrites, and what people wrote and answered."""
    known = visit.site.store.source(number)
    if known is None:
        raise NotYoursError("There is no such source.")
    found, source, before, after = known
    return visit.page(
        "item.html",
        found=found,
        source=source,
        before=before,
        after=after,
        rubric=visit.site.rubric,
        shown=work.shown,
    )


@router.post("/work/{slot}/{action}")
def judge(visit: OrganiserVisit, slot: work.SlotPath, action: str) -> Response:
    """Reject one rewrite or rating, or accept it again."""
    reason = clean(visit.form.get("reason", "")).strip()[:200] or None
    if action == "reject" and visit.form.get("sure") == "yes":
        visit.site.store.reject(slot, reason)
    elif action == "accept":
        visit.site.store.accept(slot)
    elif action != "reject":
        raise NotYoursError("There is no such action.")
    back = visit.form.get("item", "")
    where = f"/{back}" if back.isdecimal() else ""
    return visit.redirect(f"/organiser/items{where}?notice=changed")


# --- Results


@router.get("/export/{name}")
def export(visit: OrganiserVisit, name: str) -> Response:
    """One file of the study, or all of them in an archive."""
    store, rubric = visit.site.store, visit.site.rubric
    if name == "study.zip":
        return _download(export_zip(store, rubric), name, "application/zip")
    if name not in FILES:
        raise NotYoursError("There is no such file.")
    lines = export_file(name, store, rubric)
    return _download(lines, name, "application/x-ndjson; charset=utf-8")


def _download(content: str | bytes, name: str, media: str) -> Response:
    headers = {"content-disposition": f'attachment; filename="{name}"'}
    return PlainTextResponse(content, headers=headers, media_type=media)
