"""Puts the application of a study together."""

import threading
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse, Response
from fastapi.staticfiles import StaticFiles
from starlette.exceptions import HTTPException

from parataxis import __version__
from parataxis.errors import InputError, ParataxisError
from parataxis.studies.pages import api, arrival, organiser, tasks
from parataxis.studies.pages.answers import clean
from parataxis.studies.pages.api import ApiProblem
from parataxis.studies.pages.keys import Signing, StudySettings
from parataxis.studies.pages.organiser import Counter
from parataxis.studies.pages.site import (
    CsrfError,
    NoSessionError,
    Site,
    make_templates,
    page,
    redirect,
    root_of,
)
from parataxis.studies.pages.work import ProblemsError, give_help
from parataxis.studies.rubric import Rubric
from parataxis.studies.store import NotYoursError, Store
from parataxis.studies.study import Study
from parataxis.web import Guard, Throttle, add_headers


def make_app(store: Store, study: Study, rubric: Rubric, settings: StudySettings) -> FastAPI:
    """The application of one study.

    ``store`` must hold the study; ``study`` and ``rubric`` are what people read.
    """
    app = FastAPI(
        title=f"{study.name}: the API of a study",
        summary="What the pages of writers and raters do, as JSON.",
        version=__version__,
        docs_url=None,  # its page needs scripts of another host
        redoc_url=None,
        openapi_url="/api/openapi.json",
        redirect_slashes=False,  # such a redirect goes to whatever host the request names
        lifespan=_lifespan,
    )
    site = Site(
        store=store,
        study=study,
        rubric=rubric,
        settings=settings,
        signing=Signing(settings),
        templates=make_templates(),
        logins=Throttle(5, 300, altogether=200),
        arrivals=Throttle(settings.arrivals_per_minute, 60),
        requests=Throttle(settings.requests_per_minute, 60),
    )
    for language in site.languages:  # made now, as the first visitors come all at once
        site.examples(rubric, language)
    app.state.site, app.state.counter = site, Counter()
    for module in (arrival, tasks, api, organiser):
        app.include_router(module.router)
    shared, own = ("parataxis.web", "static"), ("parataxis.studies.pages", "static")
    app.mount("/static", StaticFiles(packages=[own, shared]), "static")
    app.add_middleware(Guard, largest=settings.largest_body, secure=settings.is_secure)
    for error, handler in _HANDLERS.items():
        app.add_exception_handler(error, handler)
    return app


@asynccontextmanager
async def _lifespan(app: FastAPI) -> AsyncIterator[None]:
    """What the first writer would have to wait for is loaded while nobody waits."""
    if app.state.site.study.write is not None:
        warm = ("Ann, who was born here, paints.", "Ann was born here. Ann painted it.")
        threading.Thread(target=give_help, args=warm, daemon=True).start()
    yield


def _is_api(request: Request) -> bool:
    return request.url.path.removeprefix(root_of(request)).startswith("/api/")


def _answer(
    request: Request,
    status: int,
    detail: str,
    title: str,
    problems: Mapping[str, str] | None = None,
) -> Response:
    """The refusal, as JSON or as a page, by who asks."""
    if _is_api(request):
        told = {clean(name): problem for name, problem in (problems or {}).items()}
        body = ApiProblem(detail=detail, problems=told)
        return JSONResponse(body.model_dump(), status)
    return page(request, "message.html", status=status, title=title, body=f"{title}-text")


def _no_session(request: Request, error: NoSessionError) -> Response:
    if error.kind == "organiser":
        return redirect(request, "/organiser/login")
    if _is_api(request):
        return _answer(request, 401, "There is no session: come by your personal link.", "no-link")
    return page(request, "landing.html", status=401)


def _csrf(request: Request, error: CsrfError) -> Response:
    return _answer(request, 403, "The token of the session is missing or wrong.", "forged")


def _not_yours(request: Request, error: NotYoursError) -> Response:
    return _answer(request, 404, "There is nothing like that for you.", "not-found")


def _problems(request: Request, error: ProblemsError) -> Response:
    return _answer(request, 422, str(error), "not-understood", error.problems)


def _invalid(request: Request, error: RequestValidationError) -> Response:
    found = error.errors()
    if found and found[0]["type"] == "json_invalid":
        return _answer(request, 400, "The body is no JSON.", "not-understood")
    if not _is_api(request):
        return _answer(request, 404, "", "not-found")
    problems = {".".join(map(str, each["loc"])): str(each["msg"]) for each in found}
    return _answer(request, 422, "This was not understood.", "not-understood", problems)


def _input(request: Request, error: InputError) -> Response:
    return _answer(request, 422, str(error), "not-understood")


def _database(request: Request, error: ParataxisError) -> Response:
    """The database cannot be used. What is asked again later will be done."""
    answer = _answer(request, 503, "The database cannot be used now; try again.", "busy")
    answer.headers["retry-after"] = "5"
    return answer


def _http(request: Request, error: HTTPException) -> Response:
    titles = {404: "not-found", 405: "not-found", 429: "too-fast"}
    title = titles.get(error.status_code, "not-understood")
    answer = _answer(request, error.status_code, str(error.detail), title)
    answer.headers.update(error.headers or {})
    return answer


def _bug(request: Request, error: Exception) -> Response:
    """Such an answer is made outside of the guard, so it gets its headers here."""
    answer = _answer(request, 500, "Something went wrong.", "broken")
    secure = request.app.state.site.settings.is_secure
    add_headers(answer.headers, request.url.path, secure=secure)
    return answer


_HANDLERS: dict[type[Exception], Any] = {
    NoSessionError: _no_session,
    CsrfError: _csrf,
    NotYoursError: _not_yours,
    ProblemsError: _problems,
    RequestValidationError: _invalid,
    InputError: _input,
    ParataxisError: _database,
    HTTPException: _http,
    Exception: _bug,
}
