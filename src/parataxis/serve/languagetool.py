"""LanguageTool's HTTP API (https://languagetool.org/http-api), so that editors which take the
address of a LanguageTool server show the suggestions of Parataxis. The matches of a real one can be
merged in."""

import json
import logging
import re
from bisect import bisect_right
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from http.client import HTTPException
from typing import Any
from urllib.error import URLError
from urllib.parse import urlencode
from urllib.request import Request as UrlRequest
from urllib.request import urlopen

from anyio import CapacityLimiter, to_thread
from fastapi import APIRouter, Request
from fastapi.concurrency import run_in_threadpool
from fastapi.responses import JSONResponse, Response

from parataxis import __version__
from parataxis.errors import InputError
from parataxis.lint import LintFinding, LintFormat, LintSettings, findings_of, load_judge
from parataxis.lint.readers import Source, read_source
from parataxis.lint.rules import LintVerdict
from parataxis.serve.problems import TooMuchError
from parataxis.serve.service import Service, ServiceDep, results
from parataxis.serve.tasks import is_readable
from parataxis.text.english import looks_english

_LOG = logging.getLogger(__name__)

LONGEST = 50_000
"""Characters of the longest text."""
LARGEST = 12 * LONGEST + (1 << 16)
"""Bytes of a form: a character can take twelve."""
_PATIENCE = 30.0
"""Seconds that a LanguageTool server has to answer."""
_LARGEST_ANSWER = 20_000_000
_ASKING = 8
"""Requests to a LanguageTool server at the same time, so that a slow one takes few threads."""
_CATEGORY = "PARATAXIS"
_THEIRS = "TOO_LONG_SENTENCE"
"""LanguageTool's own rule for long sentences, which says nothing that we do not say."""
_VARIANTS = {"US": "US", "GB": "GB", "AU": "Australian", "CA": "Canadian", "NZ": "New Zealand"}
_LANGUAGES = [
    {"name": "English", "code": "en", "longCode": "en"},
    *(
        {"name": f"English ({name})", "code": "en", "longCode": f"en-{code}"}
        for code, name in _VARIANTS.items()
    ),
]

languagetool_router = APIRouter(prefix="/v2", include_in_schema=False)


@dataclass(frozen=True)
class JudgeTask:
    """Judges sentences as the linter does."""

    lane: str = "lint"

    def __call__(self, items: Sequence[str], /) -> list[LintVerdict | None]:
        found = iter(load_judge(LintSettings())([item for item in items if is_readable(item)]))
        return [next(found) if is_readable(item) else None for item in items]


@languagetool_router.api_route("/check", methods=["GET", "POST"])
async def check(request: Request, service: ServiceDep) -> Response:
    """Report long sentences, each with its rewrite, as LanguageTool does."""
    async with request.form(max_files=0, max_fields=50, max_part_size=LARGEST) as form:
        sent = {**request.query_params, **form}
    fields = {name: value for name, value in sent.items() if isinstance(value, str)}
    text, markup = await run_in_threadpool(_text, fields)
    service.require_room(request, [text])
    language = fields.get("language", "auto")
    theirs = await _theirs(service, "check", fields)
    found = []
    if language.startswith("en") or (language == "auto" and looks_english(text)):
        source = await run_in_threadpool(read_source, text, LintFormat.TEXT)
        sentences = [sentence.text for sentence in source.sentences]
        verdicts = await results(request, service.engine.submit(JudgeTask(), sentences))
        found = await run_in_threadpool(_matches, source, verdicts, markup, fields)
    return JSONResponse(_merged(_answer(language, found), theirs))


@languagetool_router.get("/languages")
async def languages(service: ServiceDep) -> Response:
    """List the languages."""
    theirs = await _theirs(service, "languages", None)
    return JSONResponse(theirs if isinstance(theirs, list) else _LANGUAGES)


def _text(fields: dict[str, str]) -> tuple[str, list[tuple[int, int]]]:
    """The text of a request and the places of markup in it, which is blanked out."""
    if "text" not in fields and "data" not in fields:
        raise InputError('Send a "text" or an annotated text as "data".')
    text, markup = _annotated(fields["data"]) if "data" in fields else (fields["text"], [])
    if len(text) > LONGEST:
        raise TooMuchError(f"The text has {len(text)} characters; at most {LONGEST} are taken.")
    return text, markup


def _annotated(data: str) -> tuple[str, list[tuple[int, int]]]:
    try:
        parts = json.loads(data)
        parts = parts["annotation"] if "annotation" in parts else [{"text": parts["text"]}]
        text = ""
        markup: list[tuple[int, int]] = []
        for part in parts:
            if "text" in part:
                text += str(part["text"])
                continue
            blank = re.sub(r"[^\n]", " ", str(part["markup"]))
            if "\n" in part.get("interpretAs", ""):
                blank = "\n" * len(blank)
            markup.append((len(text), len(text) + len(blank)))
            text += blank
    except (ValueError, TypeError, KeyError, RecursionError) as error:
        raise InputError('The field "data" is no annotated text of LanguageTool.') from error
    return text, markup


def _matches(
    source: Source,
    verdicts: Sequence[LintVerdict | None],
    markup: Sequence[tuple[int, int]],
    fields: dict[str, str],
) -> list[dict[str, Any]]:
    """The matches of the rules that are wanted."""
    is_wanted = _wanted(fields)
    listed = (each for each in findings_of(source, verdicts) if not _touches(each, markup))
    found = (_match(each, source.text) for each in listed)
    return [each for each in found if is_wanted(each["rule"]["id"])]


def _touches(finding: LintFinding, markup: Sequence[tuple[int, int]]) -> bool:
    """Whether a sentence has markup in it, which a rewrite would lose."""
    before = bisect_right(markup, finding.start, key=lambda place: place[1])
    return before < len(markup) and markup[before][0] < finding.end


def _match(finding: LintFinding, text: str) -> dict[str, Any]:
    edit = finding.edit
    start, end = (edit.start, edit.end) if edit else (finding.start, finding.end)
    offset, length = _units(text[:start]), _units(text[start:end])
    before, after = text[max(0, start - 40) : start], text[end : end + 40]
    return {
        "message": finding.message,
        "shortMessage": "Hard to read",
        "offset": offset,
        "length": length,
        "replacements": [{"value": edit.text}] if edit else [],
        "context": {
            "text": f"{before}{text[start:end]}{after}".replace("\n", " "),
            "offset": _units(before),
            "length": length,
        },
        "sentence": finding.sentence,
        "type": {"typeName": "Hint"},
        "rule": {
            "id": f"{_CATEGORY}_{finding.reasons[0].replace('-', '_').upper()}",
            "description": "A sentence that is hard to read",
            "issueType": "style",
            "category": {"id": _CATEGORY, "name": "Parataxis"},
        },
        "ignoreForIncompleteSentence": False,
        "contextForSureMatch": 0,
    }


def _units(text: str) -> int:
    """The length of a text as LanguageTool counts, which is written in Java: units of UTF-16."""
    return len(text.encode("utf-16-le", "surrogatepass")) // 2


def _wanted(fields: dict[str, str]) -> Callable[[str], bool]:
    """Whether neither a rule nor our category is switched off."""
    off, on = (
        {
            *fields.get(f"{state}Rules", "").split(","),
            *fields.get(f"{state}Categories", "").split(","),
        }
        for state in ("disabled", "enabled")
    )
    is_only = fields.get("enabledOnly") in ("true", "yes")
    return lambda rule: not off & {rule, _CATEGORY} and bool(not is_only or on & {rule, _CATEGORY})


def _answer(language: str, matches: list[dict[str, Any]]) -> dict[str, Any]:
    code = language if language != "auto" else "en-US"
    name = next((each["name"] for each in _LANGUAGES if each["longCode"] == code), code)
    about = {"name": name, "code": code}
    return {
        "software": {
            "name": "Parataxis",
            "version": __version__,
            "buildDate": "",
            "apiVersion": 1,
            "premium": False,
            "status": "",
        },
        "warnings": {"incompleteResults": False},
        "language": {**about, "detectedLanguage": {**about, "confidence": 1.0}},
        "matches": matches,
    }


def _merged(ours: dict[str, Any], theirs: object) -> dict[str, Any]:
    """Our answer with the matches of a LanguageTool server, in the order of the text."""
    if not isinstance(theirs, dict) or not isinstance(theirs.get("matches"), list):
        return ours
    own = [(each["offset"], each["offset"] + each["length"]) for each in ours["matches"]]

    def is_said(match: dict[str, Any]) -> bool:
        place = match["offset"]
        is_length = match.get("rule", {}).get("id") == _THEIRS
        return is_length and any(start <= place < end for start, end in own)

    try:
        others = [each for each in theirs["matches"] if not is_said(each)]
        matches = sorted([*others, *ours["matches"]], key=lambda each: each["offset"])
    except (KeyError, TypeError, AttributeError):
        _LOG.warning("the LanguageTool server sent matches that we do not know")
        return ours
    return {**ours, **theirs, "matches": matches}


_limiter = CapacityLimiter(_ASKING)


async def _theirs(service: Service, path: str, fields: dict[str, str] | None) -> object:
    """What the LanguageTool server answers, if there is one."""
    url = service.settings.languagetool
    return url and await to_thread.run_sync(_asked, url, path, fields, limiter=_limiter)


def _asked(url: str, path: str, fields: dict[str, str] | None) -> object:
    """What a LanguageTool server answers; None if it does not, since ours can stand alone."""
    body = None if fields is None else urlencode(fields).encode()
    request = UrlRequest(f"{url}/v2/{path}", data=body)
    try:
        with urlopen(request, timeout=_PATIENCE) as answer:
            return json.loads(answer.read(_LARGEST_ANSWER))
    except (URLError, OSError, ValueError, RecursionError, HTTPException) as error:
        _LOG.warning("the LanguageTool server at %s does not answer: %s", url, error)
        return None
