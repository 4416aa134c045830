"""Errors of the service: every one is answered with one sentence in JSON."""

import math
import re
from collections.abc import Sequence, Sized
from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse, Response
from starlette.datastructures import Headers
from starlette.exceptions import HTTPException

from parataxis.errors import InputError, ParataxisError, TryLaterError, UnknownSplitterError
from parataxis.serve.models import Problem
from parataxis.web import add_headers

BUG = "Something went wrong on our side; the service has noted it."


class TooMuchError(InputError):
    """The request is larger than the limits of the service."""


LONGEST = 2000
"""Characters of the longest source that is aligned with its rewrite word by word."""


def require_short(source: str, simple: Sequence[str]) -> None:
    """Refuse a rewrite that would take too long to align with its source."""
    if len(source) > LONGEST or sum(map(len, simple)) > 2 * LONGEST:
        raise TooMuchError(
            f"A rewrite is too long: its source may have {LONGEST} characters, and its simple "
            f"sentences twice as many together; this one begins with {source[:40]!r}."
        )


def measure(items: Sequence[Sized], most: int, characters: int, what: str = "sentences") -> int:
    """The characters of all items; raises TooMuchError for too many of either."""
    total = sum(map(len, items))
    for count, noun, limit in ((len(items), what, most), (total, "characters", characters)):
        if count > limit:
            raise TooMuchError(f"There are {count} {noun}; at most {limit} are taken at once.")
    return total


LINES = 15
"""Lines, tags or runs that are allowed for each sentence, since they take time too."""


def require_few_lines(text: str, sentences: int) -> None:
    """Refuse a text with far more lines than sentences are allowed."""
    if (lines := text.count("\n")) > LINES * sentences:
        raise TooMuchError(f"There are {lines} lines; at most {LINES * sentences} are taken.")


_LONGEST_NAME = 200
_SENTENCES = {
    400: "The body cannot be read.",
    404: "There is nothing here.",
    405: "This cannot be done here: see /v1/openapi.json.",
}


def refusal(detail: str, status: int, *, retry: float | None = None) -> Response:
    """A refusal; ``retry`` is the number of seconds until a retry makes sense."""
    headers = {} if retry is None else {"retry-after": str(max(1, math.ceil(retry)))}
    return JSONResponse(Problem(detail=_clean(detail)).model_dump(), status, headers)


def reported(error: BaseException) -> str:
    """The sentence that the client gets for an error."""
    return _clean(str(error)) if isinstance(error, ParataxisError) else BUG


def is_json(headers: Headers) -> bool:
    """Whether a body is sent as JSON."""
    kind = headers.get("content-type", "").partition(";")[0].strip().lower()
    return re.fullmatch(r"application/(?:[^\s/]+\+)?json", kind) is not None


def add_handlers(app: FastAPI) -> None:
    """Answer every error with one sentence."""
    for error, handler in _HANDLERS.items():
        app.add_exception_handler(error, handler)


def _clean(text: str) -> str:
    """Replace lone surrogates, which cannot be encoded."""
    return text.encode(errors="replace").decode()


def _invalid(request: Request, error: RequestValidationError) -> Response:
    first = error.errors()[0]
    if first["type"] == "json_invalid":
        return refusal("The body is no JSON.", 400)
    if first["type"] != "missing" and not is_json(request.headers):
        return refusal('Send JSON, with the header "Content-Type: application/json".', 415)
    return refusal(complaint(first), 422)


def complaint(error: Any) -> str:
    """Describe an error of pydantic in one sentence."""
    place = [str(part) for part in error["loc"] if part not in ("body", "query", "path")]
    if error["type"] == "text_or_sentences":
        return str(error["msg"])
    if error["type"] == "unknown_field":
        place.append(error["ctx"]["field"])
    if len(place) > 1 and place[0] in ("text", "sentences"):
        place = place[1:]  # the tag of the union comes first
    where = f'The field "{".".join(place)[:_LONGEST_NAME]}"' if place else "The body"
    match error["type"]:
        case "missing":
            return f"{where} is missing."
        case "extra_forbidden" | "unknown_field":
            return f"{where} is not known; leave it out."
        case "string_unicode":
            return f"{where} has a lone surrogate (half a character); leave it out."
        case "string_pattern_mismatch" | "string_too_short" | "too_short":
            return f"{where} is empty; give at least one sentence."
    message = str(error["msg"]).removeprefix("Value error, ").rstrip(".")
    return f"{where}: {message[0].lower()}{message[1:]}."


def _http(request: Request, error: HTTPException) -> Response:
    detail = _SENTENCES.get(error.status_code) or str(error.detail)
    answer = refusal(detail, error.status_code)
    answer.headers.update(error.headers or {})
    return answer


def _bug(request: Request, error: Exception) -> Response:
    """This answer is made outside of the Guard, so it gets its headers here."""
    answer = refusal(BUG, 500)
    add_headers(answer.headers, request.url.path, secure=False)
    return answer


_HANDLERS: dict[type[Exception], Any] = {
    RequestValidationError: _invalid,
    TryLaterError: lambda _, error: refusal(str(error), 503, retry=error.seconds),
    TooMuchError: lambda _, error: refusal(str(error), 413),
    InputError: lambda _, error: refusal(str(error), 422),
    UnknownSplitterError: lambda _, error: refusal(str(error), 422),
    ParataxisError: lambda _, error: refusal(str(error), 503),
    HTTPException: _http,
    Exception: _bug,
}
