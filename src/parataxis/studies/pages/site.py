"""What the routes share: the study, the session, the texts of the interface, and rendering."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Annotated, Any

from fastapi import Depends, HTTPException, Request, Response
from fastapi.responses import HTMLResponse, RedirectResponse
from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from parataxis.studies.pages.keys import Session, Signing, StudySettings
from parataxis.studies.records import Text, in_language
from parataxis.studies.rubric import Rubric
from parataxis.studies.store import Store
from parataxis.studies.study import Study
from parataxis.studies.yaml_files import texts_of
from parataxis.web import Throttle

COOKIES = {"person": "parataxis_person", "organiser": "parataxis_organiser"}
LANGUAGE_COOKIE = "parataxis_language"
CSRF_HEADER = "x-csrf-token"
ORGANISER, VISITOR = "organiser", "visitor"
"""Whose session it is on the organiser's pages: logged in, or at the login form."""
_YEAR = 365 * 86_400
_FIELDS = 300

Form = Mapping[str, str]


LANGUAGES = {"en": "English", "es": "Español"}
"""The languages of the interface and their own names."""


def catalogue() -> dict[str, dict[str, str]]:
    """All texts of the interface, by key and language."""
    return texts_of("parataxis.studies.pages", "interface.yaml")


@dataclass(frozen=True)
class Interface:
    """The texts of the interface in one language.

    >>> Interface("es")("yes")
    'Sí'
    """

    language: str

    def __call__(self, key: str, **values: object) -> str:
        """The text with that key, with values filled in."""
        text = catalogue()[key][self.language]
        return text.format(**values) if values else text


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
    """A request without a session; ``kind`` is "person" or "organiser"."""

    def __init__(self, kind: str) -> None:
        super().__init__(kind)
        self.kind = kind


class CsrfError(Exception):
    """The CSRF token of a request is missing or wrong."""


@dataclass(frozen=True)
class Site:
    """The objects that live as long as the application."""

    store: Store
    study: Study
    rubric: Rubric
    settings: StudySettings
    signing: Signing
    templates: Environment
    logins: Throttle
    arrivals: Throttle
    requests: Throttle
    _examples: dict[tuple[bool, str], dict[str, Markup]] = field(default_factory=dict)

    def examples(self, rubric: Rubric, language: str) -> dict[str, Markup]:
        """The examples of each question as HTML. They are on every rating page and never change,
        so they are rendered once."""
        key = rubric is self.rubric, language
        if key not in self._examples:
            macros: Any = self.templates.get_template("macros.html").module
            texts = Interface(language)
            self._examples[key] = {
                question.id: macros.examples(
                    texts, lambda text: in_language(text, language), question.examples
                )
                for question in rubric.questions
                if question.examples
            }
        return self._examples[key]

    @property
    def languages(self) -> list[str]:
        """The languages that people can choose."""
        return [code for code in self.study.languages if code in LANGUAGES] or ["en"]


def make_templates() -> Environment:
    """The templates, with autoescaping. They are compiled here, so that the first visitors need
    not wait."""
    made = Environment(
        loader=PackageLoader("parataxis.studies.pages"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        auto_reload=False,
    )
    for name in made.list_templates():
        made.get_template(name)
    return made


async def _site(request: Request) -> Site:
    site = request.app.state.site
    if not isinstance(site, Site):
        raise TypeError("the application was not made by make_app")
    return site


SiteDep = Annotated[Site, Depends(_site)]


def language_of(request: Request, site: Site) -> str:
    """The chosen language, or the one that the browser asks for."""
    accepted = request.headers.get("accept-language", "")[:200].split(",")
    wanted = [request.cookies.get(LANGUAGE_COOKIE), *(part.partition(";")[0] for part in accepted)]
    return choose(wanted, site.languages)


async def _language(request: Request, site: SiteDep) -> str:
    return language_of(request, site)


LanguageDep = Annotated[str, Depends(_language)]


def session_of(request: Request, site: Site, kind: str) -> Session | None:
    """The session of a person or of an organiser, or None."""
    return site.signing.session(kind, request.cookies.get(COOKIES[kind]))


async def _person(request: Request, site: SiteDep) -> Session:
    session = session_of(request, site, "person")
    if session is None:
        raise NoSessionError("person")
    if wait := site.requests.wait(session.who):
        after = {"retry-after": str(int(wait) + 1)}
        raise HTTPException(429, "Too many requests; wait a little.", after)
    site.requests.count(session.who)
    return session


def organiser_of(request: Request, site: Site) -> Session | None:
    """The session of an organiser who is logged in, or None."""
    session = session_of(request, site, "organiser")
    if session is None or session.who != ORGANISER or site.store.has_ended(session.nonce):
        return None
    return session


def _organiser(request: Request, site: SiteDep) -> Session:
    session = organiser_of(request, site)
    if session is None:
        raise NoSessionError("organiser")
    return session


PersonDep = Annotated[Session, Depends(_person)]
OrganiserDep = Annotated[Session, Depends(_organiser)]


async def form_of(request: Request, site: Site, session: Session) -> Form:
    """The fields of a form; CsrfError unless it was made in this session."""
    async with request.form(max_files=0, max_fields=_FIELDS) as form:
        fields = {key: value for key, value in form.items() if isinstance(value, str)}
    if not site.signing.is_csrf(session, fields.pop("csrf", None)):
        raise CsrfError
    return fields


async def _person_form(request: Request, site: SiteDep, session: PersonDep) -> Form:
    return await form_of(request, site, session)


async def _organiser_form(request: Request, site: SiteDep, session: OrganiserDep) -> Form:
    return await form_of(request, site, session)


PersonForm = Annotated[Form, Depends(_person_form)]
OrganiserForm = Annotated[Form, Depends(_organiser_form)]


@dataclass(frozen=True)
class Visit:
    """A request with its session."""

    request: Request
    site: Site
    session: Session

    @property
    def who(self) -> str:
        """The id of the person."""
        return self.session.who

    @property
    def language(self) -> str:
        """The language of the pages."""
        return language_of(self.request, self.site)

    def page(self, name: str, *, status: int = 200, **values: Any) -> HTMLResponse:
        """Render a page for this session."""
        return page(self.request, name, session=self.session, status=status, **values)

    def redirect(self, path: str) -> RedirectResponse:
        """Redirect to another page of the application."""
        return redirect(self.request, path)


async def _person_visit(request: Request, site: SiteDep, session: PersonDep) -> Visit:
    return Visit(request, site, session)


async def _organiser_visit(request: Request, site: SiteDep, session: OrganiserDep) -> Visit:
    return Visit(request, site, session)


PersonVisit = Annotated[Visit, Depends(_person_visit)]
OrganiserVisit = Annotated[Visit, Depends(_organiser_visit)]


def page(
    request: Request,
    name: str,
    *,
    session: Session | None = None,
    status: int = 200,
    **values: Any,
) -> HTMLResponse:
    """Render a page in the language of the request, with the CSRF token for its forms."""
    site: Site = request.app.state.site
    language = language_of(request, site)
    texts = Interface(language)

    def text(of: Text | None) -> str:
        return "" if of is None else in_language(of, language)

    content = site.templates.get_template(name).render(
        t=texts,
        text=text,
        language=language,
        languages={code: LANGUAGES[code] for code in site.languages},
        study=site.study,
        root=root_of(request),
        here=request.url.path,
        back=f"{request.url.path}?{request.url.query}".rstrip("?"),
        csrf=site.signing.csrf(session) if session else "",
        notice=_notice(request, texts),
        **values,
    )
    return HTMLResponse(content, status)


NOTICES = ("undone", "cannot-undo", "passed", "again", "late", "attention", "changed", "invited")
"""The notices that the URL of a page may ask for."""


def _notice(request: Request, texts: Callable[[str], str]) -> str:
    key = request.query_params.get("notice")
    return texts(f"notice-{key}") if key in NOTICES else ""


def redirect(request: Request, path: str) -> RedirectResponse:
    """Redirect to another page of the application."""
    return RedirectResponse(root_of(request) + path, 303)


def root_of(request: Request) -> str:
    """The root path of the application; requests for static files have one of their own."""
    scope = request.scope
    return str(scope.get("app_root_path", scope.get("root_path", "")))


def keep_session(request: Request, response: Response, kind: str, who: str) -> Session:
    """Start a session, in a cookie that scripts cannot read and other sites cannot use."""
    signing: Signing = request.app.state.site.signing
    cookie, session = signing.new_session(kind, who)
    set_cookie(request, response, COOKIES[kind], cookie, signing.seconds_of(kind))
    return session


def set_cookie(
    request: Request, response: Response, name: str, value: str, seconds: int = _YEAR
) -> None:
    """Set a cookie for the paths of the application."""
    site: Site = request.app.state.site
    response.set_cookie(
        name,
        value,
        max_age=seconds,
        path=root_of(request) or "/",
        secure=site.settings.is_secure or request.url.scheme == "https",
        httponly=True,
        samesite="lax",
    )
