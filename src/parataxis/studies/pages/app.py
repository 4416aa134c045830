"""The application of a study: routes, limits and error pages."""

import threading
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse, Response
from fastapi.staticfiles import StaticFiles
from starlette.exceptions import HTTPException

from parataxis import __version__
from parataxis.errors import InputError, ParataxisError
from parataxis.studies.pages import api, organiser, participant
from parataxis.studies.pages.dashboard import AgreementCache
from parataxis.studies.pages.keys import StudySettings
from parataxis.studies.pages.site import ORGANISER, CsrfError, NoSessionError, Site, Visit
from parataxis.studies.pages.work import ProblemsError, clean, give_help
from parataxis.studies.rubric import Rubric
from parataxis.studies.store import Store
from parataxis.studies.store.types import NotYoursError
from parataxis.studies.study import Study
from parataxis.web import Guard, add_headers


def make_app(store: Store, study: Study, rubric: Rubric, settings: StudySettings) -> FastAPI:
    """The application of one study, which the store must hold. The texts that people read come
    from ``study`` and ``rubric``."""
    app = FastAPI(
        title=f"{study.name}: the API of a study",
        summary="What the pages of writers and raters do, as JSON.",
        version=__version__,
        docs_url=None,  # the documentation page needs scripts from another host
        redoc_url=None,
        openapi_url="/api/openapi.json",
        redirect_slashes=False,  # such a redirect goes to any host that the request names
        lifespan=_lifespan,
    )
    app.state.site, app.state.agreement = Site(store, study, rubric, settings), AgreementCache()
    for module in (participant, api, organiser):
        app.include_router(module.router)
    shared, own = ("parataxis.web", "static"), ("parataxis.studies.pages", "static")
    app.mount("/static", StaticFiles(packages=[own, shared]), "static")
    app.add_middleware(Guard, largest=settings.largest_body, secure=settings.is_secure)
    for error, handler in _HANDLERS.items():
        app.add_exception_handler(error, handler)
    return app


@asynccontextmanager
async def _lifespan(app: FastAPI) -> AsyncIterator[None]:
    """Load the models of the live help in the background, before the first writer needs them."""
    if app.state.site.study.write is not None:
        warm = ("Ann, who was born here, paints.", "Ann was born here. Ann painted it.")
        threading.Thread(target=give_help, args=warm, daemon=True).start()
    yield


def _is_api(request: Request) -> bool:
    return request.url.path.removeprefix(Visit(request).root).startswith("/api/")


def _answer(
    request: Request,
    status: int,
    title: str,
    detail: str,
    problems: Mapping[str, str] | None = None,
) -> Response:
    """An error response: JSON for the API, otherwise a page with the text of that title."""
    if not _is_api(request):
        return Visit(request).message(status, title)
    cleaned = {clean(name): problem for name, problem in (problems or {}).items()}
    return JSONResponse(api.ApiProblem(detail=detail, problems=cleaned).model_dump(), status)


def _always(
    status: int, title: str, detail: str = "", *, retry_after: str = ""
) -> Callable[[Request, Exception], Response]:
    """A handler with a fixed response; without a detail, the message of the error is used."""

    def handle(request: Request, error: Exception) -> Response:
        problems = getattr(error, "problems", None)
        answer = _answer(request, status, title, detail or str(error), problems)
        if retry_after:
            answer.headers["retry-after"] = retry_after
        return answer

    return handle


def _no_session(request: Request, error: NoSessionError) -> Response:
    if error.args == (ORGANISER,):
        return Visit(request).redirect("/organiser/login")
    if _is_api(request):
        return _answer(request, 401, "no-link", "There is no session; open your personal link.")
    return Visit(request).page("landing.html", status=401)


_PROBLEMS, _PROBLEM = 20, 200
"""The problems of a request that are reported, and the characters of a name in one."""


def _invalid(request: Request, error: RequestValidationError) -> Response:
    found = error.errors()
    if found and found[0]["type"] == "json_invalid":
        return _answer(request, 400, "not-understood", "The body is not JSON.")
    if not _is_api(request):
        return _answer(request, 404, "not-found", "")
    first = found[:_PROBLEMS]
    problems = {".".join(map(str, each["loc"]))[:_PROBLEM]: str(each["msg"]) for each in first}
    return _answer(request, 422, "not-understood", "The request is not valid.", problems)


def _http(request: Request, error: HTTPException) -> Response:
    titles = {404: "not-found", 405: "not-found", 429: "too-fast"}
    title = titles.get(error.status_code, "not-understood")
    answer = _answer(request, error.status_code, title, str(error.detail))
    answer.headers.update(error.headers or {})
    return answer


def _bug(request: Request, error: Exception) -> Response:
    """This response does not pass through the guard, so its headers are added here."""
    answer = _answer(request, 500, "broken", "Something went wrong.")
    secure = request.app.state.site.settings.is_secure
    add_headers(answer.headers, request.url.path, secure=secure)
    return answer


_HANDLERS: dict[type[Exception], Any] = {
    NoSessionError: _no_session,
    CsrfError: _always(403, "forged", "The CSRF token is missing or wrong."),
    NotYoursError: _always(404, "not-found", "There is nothing like that for you."),
    ProblemsError: _always(422, "not-understood"),
    RequestValidationError: _invalid,
    InputError: _always(422, "not-understood"),
    ParataxisError: _always(
        503, "busy", "The database cannot be used now; try again.", retry_after="5"
    ),
    HTTPException: _http,
    Exception: _bug,
}
