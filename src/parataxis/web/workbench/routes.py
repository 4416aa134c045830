"""The page and the files it is made of. All it shows comes from the API, asked by its scripts."""

from importlib.resources import files

from fastapi import APIRouter, Request
from fastapi.responses import HTMLResponse, Response
from fastapi.staticfiles import StaticFiles

__all__ = ["router"]

router = APIRouter(include_in_schema=False)

_PAGE = (files("parataxis.web.workbench") / "page.html").read_text(encoding="utf-8")
_FILES = StaticFiles(packages=[("parataxis.web.workbench", "static"), ("parataxis.web", "static")])
# Scripts import each other: those of two versions must not meet, so a browser asks each time.
_FRESH = {"cache-control": "no-cache"}


@router.api_route("/", methods=["GET", "HEAD"])
async def page() -> HTMLResponse:
    """The page. It is the same for everybody, and names its files relative to itself."""
    return HTMLResponse(_PAGE, headers=_FRESH)


@router.api_route("/static/{path:path}", methods=["GET", "HEAD"])
async def static(path: str, request: Request) -> Response:
    """A file of the page."""
    answer = await _FILES.get_response(path, request.scope)
    answer.headers.update(_FRESH)
    return answer
