"""What the routes share: the study, requests with their sessions, and the texts of the pages."""

from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Annotated, Any

from fastapi import Depends, HTTPException, Request, Response
from fastapi.concurrency import run_in_threadpool
from fastapi.responses import HTMLResponse, RedirectResponse
from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from parataxis.studies.pages.keys import Session, Signing, StudySettings
from parataxis.studies.records import Text, in_language, timestamp
from parataxis.studies.rubric import Case, Rubric
from parataxis.studies.store import Store
from parataxis.studies.study import Study
from parataxis.studies.yaml_files import LanguageTexts
from parataxis.web import Throttle, network_of

PERSON, ORGANISER = "person", "organiser"
"""The kinds of sessions. ORGANISER is also whose session it is after logging in."""
VISITOR = "visitor"
"""Whose session it is at the organiser's login form."""
COOKIES = {PERSON: "parataxis_person", ORGANISER: "parataxis_organiser"}
LANGUAGE_COOKIE = "parataxis_language"
BROWSER_COOKIE = "parataxis_browser"
"""Tells a browser in which the organiser has logged in before."""
LANGUAGES = {"en": "English", "es": "Español"}
"""The languages of the interface and their own names."""
NOTICES = (
    *("undone", "cannot-undo", "passed", "again", "late", "too-late", "attention"),
    *("changed", "invited"),
)
"""The notices that the URL of a page may ask for."""
interface = partial(LanguageTexts, "parataxis.studies.pages", "interface.yaml")
"""The texts of the interface in a language."""
_YEAR = 365 * 86_400
_FIELDS = 300


def choose(wanted: Iterable[str | None], offered: Sequence[str]) -> str:
    """The first of the wanted languages that is offered, or else the first that is offered.

    >>> choose([None, "fr", "es-MX"], ["en", "es"])
    'es'
    """
    for each in wanted:
        for code in (each or "", (each or "").partition("-")[0].strip().lower()):
            if code in offered:
                return code
    return offered[0]


class NoSessionError(Exception):
    """A request without a session; its argument is the kind of the session."""


class CsrfError(Exception):
    """The CSRF token of a request is missing or wrong."""


class Site:
    """The objects that live as long as the application."""

    def __init__(self, store: Store, study: Study, rubric: Rubric, settings: StudySettings) -> None:
        self.store, self.study, self.rubric, self.settings = store, study, rubric, settings
        self.signing = Signing(settings)
        self.logins = Throttle(5, 300)
        self.passwords = ThreadPoolExecutor(2)  # a check takes time and 64 MB
        self.arrivals = Throttle(settings.arrivals_per_minute, 60)
        self.requests = Throttle(settings.requests_per_minute, 60)
        self.languages = [code for code in study.languages if code in LANGUAGES] or ["en"]
        self.templates = Environment(
            loader=PackageLoader("parataxis.studies.pages"),
            autoescape=True,
            undefined=StrictUndefined,
            trim_blocks=True,
            lstrip_blocks=True,
            auto_reload=False,
        )
        self._examples: dict[str, dict[str, Markup]] = {}
        # Compile and render now, so that the first visitors need not wait.
        for name in self.templates.list_templates():
            self.templates.get_template(name)
        for language in self.languages:
            self.examples(language)

    def examples(self, language: str) -> dict[str, Markup]:
        """The examples of each question as HTML. They are on every rating page and never change,
        so they are rendered once."""
        if language not in self._examples:
            self._examples[language] = {
                question.id: self.shown(question.examples, language)
                for question in self.rubric.questions
                if question.examples
            }
        return self._examples[language]

    def shown(self, cases: Sequence[Case], language: str) -> Markup:
        macros: Any = self.templates.get_template("macros.html").module
        texts = interface(language), lambda text: in_language(text, language)
        return Markup(macros.examples(*texts, cases))


@dataclass(frozen=True)
class Visit:
    """A request with its session, if it has one; ``form`` holds the fields of a posted form."""

    request: Request
    session: Session | None = None
    form: Mapping[str, str] = field(default_factory=dict)

    @property
    def site(self) -> Site:
        site: Site = self.request.app.state.site
        return site

    @property
    def who(self) -> str:
        return self.session.who if self.session else VISITOR

    @property
    def address(self) -> str:
        return network_of(self.request.client)

    @property
    def language(self) -> str:
        """The chosen language, or the one that the browser asks for."""
        accepted = self.request.headers.get("accept-language", "")[:200].split(",")
        asked = [part.partition(";")[0] for part in accepted]
        return choose([self.request.cookies.get(LANGUAGE_COOKIE), *asked], self.site.languages)

    @property
    def root(self) -> str:
        """The root path of the application; requests for static files have one of their own."""
        scope = self.request.scope
        return str(scope.get("app_root_path", scope.get("root_path", "")))

    def session_of(self, kind: str) -> Session | None:
        return self.site.signing.session(kind, self.request.cookies.get(COOKIES[kind]))

    def organiser_session(self) -> Session | None:
        """The session of an organiser who is logged in, or None."""
        session = self.session_of(ORGANISER)
        if session is None or session.who != ORGANISER or self.site.store.has_ended(session.nonce):
            return None
        return session

    async def with_form(self) -> "Visit":
        """The visit with the fields of its form, if there is one; CsrfError unless the form was
        made in this session."""
        if self.request.method != "POST":
            return self
        async with self.request.form(max_files=0, max_fields=_FIELDS) as form:
            fields = {key: value for key, value in form.items() if isinstance(value, str)}
        token = fields.pop("csrf", None)
        if self.session is None or not self.site.signing.is_csrf(self.session, token):
            raise CsrfError
        return replace(self, form=fields)

    def page(self, name: str, *, status: int = 200, **values: Any) -> HTMLResponse:
        """Render a page in the language of the request, with the CSRF token for its forms."""
        site, language, url = self.site, self.language, self.request.url
        texts, notice = interface(language), self.request.query_params.get("notice")

        def text(of: Text | None) -> str:
            return "" if of is None else in_language(of, language)

        content = site.templates.get_template(name).render(
            t=texts,
            text=text,
            language=language,
            languages={code: LANGUAGES[code] for code in site.languages},
            timestamp=timestamp,
            study=site.study,
            root=self.root,
            here=url.path,
            back=f"{url.path}?{url.query}".rstrip("?"),
            csrf=site.signing.csrf(self.session) if self.session else "",
            notice=texts(f"notice-{notice}") if notice in NOTICES else "",
            **values,
        )
        return HTMLResponse(content, status)

    def message(self, status: int, title: str) -> HTMLResponse:
        """A page that only says something: the texts ``title`` and ``title-text``."""
        return self.page("message.html", status=status, title=title, body=f"{title}-text")

    def redirect(self, path: str) -> RedirectResponse:
        return RedirectResponse(self.root + path, 303)

    def keep_session(self, response: Response, kind: str, who: str) -> Session:
        """Start a session, in a cookie that scripts cannot read and other sites cannot use."""
        cookie, session = self.site.signing.new_session(kind, who)
        self.set_cookie(response, COOKIES[kind], cookie, self.site.signing.seconds_of(kind))
        return session

    def set_cookie(self, response: Response, name: str, value: str, seconds: int = _YEAR) -> None:
        response.set_cookie(
            name,
            value,
            max_age=seconds,
            path=self.root or "/",
            secure=self.site.settings.is_secure or self.request.url.scheme == "https",
            httponly=True,
            samesite="lax",
        )


async def _visit(request: Request) -> Visit:
    return Visit(request)


AnyVisit = Annotated[Visit, Depends(_visit)]
"""A visit by anybody."""


async def person_visit(visit: AnyVisit) -> Visit:
    """A visit by a participant, without the form."""
    session = visit.session_of(PERSON)
    if session is None:
        raise NoSessionError(PERSON)
    requests = visit.site.requests
    if wait := requests.wait(session.who):
        after = {"retry-after": str(int(wait) + 1)}
        raise HTTPException(429, "Too many requests; wait a little.", after)
    requests.count(session.who)
    return replace(visit, session=session)


async def _person_form(visit: Annotated[Visit, Depends(person_visit)]) -> Visit:
    return await visit.with_form()


async def _organiser_form(visit: AnyVisit) -> Visit:
    session = await run_in_threadpool(visit.organiser_session)
    if session is None:
        raise NoSessionError(ORGANISER)
    return await replace(visit, session=session).with_form()


PersonVisit = Annotated[Visit, Depends(_person_form)]
OrganiserVisit = Annotated[Visit, Depends(_organiser_form)]
