"""The routes of the API, by resource."""

import asyncio
import logging
import math
from collections import deque
from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from functools import partial
from importlib.resources import files
from json import dumps, loads
from typing import Annotated, Any, Self
from urllib.parse import quote

from fastapi import APIRouter, Body, Request
from fastapi.concurrency import run_in_threadpool
from fastapi.params import Body as BodyParameter
from fastapi.responses import HTMLResponse, PlainTextResponse, Response, StreamingResponse
from fastapi.staticfiles import StaticFiles
from prometheus_client import CONTENT_TYPE_LATEST
from pydantic import BaseModel
from starlette.datastructures import FormData, UploadFile
from starlette.types import Receive, Scope, Send

from parataxis import __version__
from parataxis.errors import InputError, ParataxisError
from parataxis.run.documents import document_format
from parataxis.serve import documents, models
from parataxis.serve.engine import Job
from parataxis.serve.problems import TooMuchError, refusal, reported, require_short
from parataxis.serve.service import Service, ServiceDep, results
from parataxis.serve.tasks import (
    AlternativesTask,
    AnalyseTask,
    CheckTask,
    DifficultyTask,
    InText,
    Made,
)
from parataxis.text.documents import Document
from parataxis.text.english import looks_english
from parataxis.text.readability import grade_level, readability_counts, spoken_words
from parataxis.text.segments import Span

_LOG = logging.getLogger(__name__)

_API = loads((files("parataxis.serve") / "openapi.json").read_text(encoding="utf-8"))
"""What FastAPI cannot derive for the description of the API: refusals, streams, forms, files."""

_REFUSALS: dict[int | str, dict[str, Any]] = {
    status: {"model": models.Problem, **meaning} for status, meaning in _API["refusals"].items()
}

split_router = APIRouter(prefix="/v1", tags=["split"], responses=_REFUSALS)
reading_router = APIRouter(prefix="/v1", tags=["read"], responses=_REFUSALS)
documents_router = APIRouter(prefix="/v1/documents", tags=["documents"], responses=_REFUSALS)
status_router = APIRouter(tags=["status"])
api_routers = (split_router, reading_router, documents_router, status_router)
page_router = APIRouter(include_in_schema=False)


def _body(**examples: type[models.Request]) -> BodyParameter:
    """A body with examples in the description of the API."""
    named = {name.replace("_", " "): model.example() for name, model in examples.items()}
    body: BodyParameter = Body(openapi_examples={n: {"value": v} for n, v in named.items()})
    return body


class _Pieces(Response):
    """An answer of JSON: the beginning of an object up to a list, and the items of that list. They
    are put together while they are sent, so that a large answer holds up nobody."""

    media_type = "application/json"

    def __init__(self, first: str, items: Iterable[bytes]) -> None:
        super().__init__()
        del self.headers["content-length"]
        self._part = bytearray(first.encode())
        self._items = items

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        headers = {"status": self.status_code, "headers": self.raw_headers}
        await send({"type": "http.response.start", **headers})
        for number, item in enumerate(self._items):
            self._part += b"," * (number > 0) + item
            if len(self._part) > _PART:
                part, self._part = bytes(self._part), bytearray()
                await send({"type": "http.response.body", "body": part, "more_body": True})
                await asyncio.sleep(0)  # to send need not wait, and others want their turn
        self._part += b"]}"
        await send({"type": "http.response.body", "body": bytes(self._part), "more_body": False})


_PART = 1 << 16


def _placed(json: bytes, span: Span | None, **fields: object) -> bytes:
    """The JSON of an object with further fields, and its position in the text, at the beginning."""
    start, end = (span.start, span.end) if span else (None, None)
    head = dumps({**fields, "start": start, "end": end}, separators=(",", ":"))
    return head[:-1].encode() + b"," + json[1:]


# Splitting -------------------------------------------------------------------------------------

SplitBody = Annotated[
    models.SplitRequest,
    _body(a_text=models.WithText, sentences=models.WithSentences, options=models.SentencesToSplit),
]


_Job = Job[str, Made]


class _SplitJob:
    """A request that is being processed."""

    def __init__(self, document: Document | None, splitter: str, job: _Job) -> None:
        self.document, self.splitter, self.job = document, splitter, job

    @classmethod
    async def begin(cls, request: Request, body: models.SplitRequest, service: Service) -> Self:
        """Start to split the sentences of a request."""
        task = service.offers.task(body)
        document, sentences = await service.read(request, body)
        following: Sequence[str] = document.following if document else ()
        if isinstance(body, models.SentencesToSplit) and body.consecutive:
            following = [*sentences[1:], ""]
        if following:
            sentences = list(map(InText, sentences, following))
        return cls(document, task.lane, service.engine.submit(task, sentences))

    def split(self, index: int, json: bytes, **fields: object) -> bytes:
        """The JSON of a result with its position in the text."""
        span = self.document.sentences[index] if self.document else None
        return _placed(json, span, **fields, index=index)

    async def text(self, simple: Mapping[int, Sequence[str]]) -> str | None:
        """The text with the sentences that were split, if the request sent a text."""
        if self.document is None:
            return None
        return await run_in_threadpool(self.document.rebuild, simple)


@split_router.post("/split", response_model=models.SplitText)
async def split(body: SplitBody, request: Request, service: ServiceDep) -> Response:
    """Split the sentences of a text, or separate sentences."""
    work = await _SplitJob.begin(request, body, service)
    found = deque(await results(request, work.job))
    text = await work.text({i: each.simple for i, each in enumerate(found) if each.simple})
    head = dumps({"splitter": work.splitter, "text": text}, ensure_ascii=False)
    items = (work.split(i, found.popleft().json) for i in range(len(found)))
    return _Pieces(f'{head[:-1]},"rewrites":[', items)


class _Stream(StreamingResponse):
    """Streams the lines of a job, and cancels the job however the stream ends."""

    media_type = "application/x-ndjson"

    def __init__(self, work: _SplitJob) -> None:
        super().__init__(_lines(work))
        self._job = work.job

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            await super().__call__(scope, receive, send)
        finally:
            self._job.cancel()


@split_router.post("/split/stream", response_class=Response, responses=_API["stream"])
async def stream(body: SplitBody, request: Request, service: ServiceDep) -> Response:
    """Split like `/v1/split`, but stream the rewrites. Closing the connection cancels the rest."""
    return _Stream(await _SplitJob.begin(request, body, service))


async def _lines(work: _SplitJob) -> AsyncIterator[str | bytes]:
    yield _line(models.Start(splitter=work.splitter, sentences=work.job.size))
    simple: dict[int, Sequence[str]] = {}
    index = 0
    try:
        async for result in work.job.results():
            yield work.split(index, result.json, type="split") + b"\n"
            if result.simple:
                simple[index] = result.simple
            index += 1
        yield _line(models.End(text=await work.text(simple)))
    except Exception as error:  # the status line is sent, so the stream must report the error
        if not isinstance(error, ParataxisError):
            _LOG.exception("a stream failed")
        yield _line(models.Failed(detail=reported(error)))


def _line(model: BaseModel) -> str:
    return f"{model.model_dump_json()}\n"


@split_router.post("/alternatives", response_model=models.Alternatives)
async def alternatives(
    body: Annotated[models.AlternativesRequest, _body(a_sentence=models.AlternativesRequest)],
    request: Request,
    service: ServiceDep,
) -> Response:
    """Find other rewrites of a sentence, also of one that is left whole."""
    task = service.offers.task(body)
    service.require_room(request, [body.sentence])
    other = AlternativesTask(task.splitter, task.lane, task.settings)
    found = await results(request, service.engine.submit(other, [body.sentence]))
    return Response(found[0].json, media_type="application/json")


# Checks, analyses and readability, which need no splitter --------------------------------------


@reading_router.post("/check", response_model=models.Checked)
async def check(
    body: Annotated[models.CheckRequest, _body(a_rewrite=models.CheckRequest)],
    request: Request,
    service: ServiceDep,
) -> Response:
    """Check rewrites by any person or system: provenance, findings, and which patterns were
    split."""
    service.require_room(request, body.rewrites, "rewrites")
    for each in body.rewrites:
        require_short(each.source, each.simple)
    job = service.engine.submit(CheckTask(), body.rewrites)
    return _Pieces('{"rewrites":[', (each.json for each in await results(request, job)))


@reading_router.post("/analyse", response_model=models.Analysed)
async def analyse(
    body: Annotated[
        models.AnalyseRequest, _body(a_text=models.WithText, sentences=models.WithSentences)
    ],
    request: Request,
    service: ServiceDep,
) -> Response:
    """Analyse sentences: tags and heads of the words, semantic roles, and patterns."""
    document, sentences = await service.read(request, body)
    found = await results(request, service.engine.submit(AnalyseTask(), sentences))
    spans = document.sentences if document else [None] * len(found)
    placed = (_placed(each.json, span) for each, span in zip(found, spans, strict=True))
    return _Pieces('{"sentences":[', placed)


@reading_router.post("/difficulty", response_model=models.Difficulty)
async def difficulty(
    body: Annotated[models.WithText, _body(a_text=models.WithText)],
    request: Request,
    service: ServiceDep,
) -> Response:
    """Say which sentences of a text are long or nested, before anything is split."""
    document, sentences = await service.read(request, body)
    found = await results(request, service.engine.submit(DifficultyTask(), sentences))
    spans = document.sentences if document else ()
    placed = (_placed(each.json, span) for each, span in zip(found, spans, strict=True))
    is_english = dumps(looks_english(body.text))
    return _Pieces(f'{{"english":{is_english},"sentences":[', placed)


@reading_router.post("/readability", response_model=models.Readability)
async def readability(
    body: Annotated[models.ReadabilityRequest, _body(before_and_after=models.ReadabilityRequest)],
    request: Request,
    service: ServiceDep,
) -> Response:
    """Measure the Flesch-Kincaid grade level of texts and the length of their sentences."""
    service.require_room(request, body.texts, "texts")
    service.require_room(request, [sentence for text in body.texts for sentence in text])

    def measured() -> str:
        read = models.Readability(texts=[_readable(text) for text in body.texts])
        return read.model_dump_json()

    return Response(await run_in_threadpool(measured), media_type="application/json")


def _readable(text: list[str]) -> models.Readable:
    sentences, spoken, syllables = readability_counts(text)
    grade = grade_level(sentences, spoken, syllables)
    return models.Readable(
        grade=None if math.isnan(grade) else grade,
        sentences=sentences,
        words=spoken,
        words_per_sentence=spoken / sentences if sentences else None,
        longest=max((len(spoken_words(sentence)) for sentence in text), default=0),
    )


# Documents, which are not stored ---------------------------------------------------------------

_TRUE, _FALSE = ("true", "1", "on"), ("false", "0", "off", "")


# The routes parse the forms themselves, because rewrites can be larger than the default limit of a
# field.
@documents_router.post("", openapi_extra=_API["document"], response_model=models.DocumentRead)
async def read(request: Request, service: ServiceDep) -> Response:
    """Read the text of a document, in a form that can be shown, and its sentences."""
    async with request.form(max_files=1, max_fields=0) as form:
        name, data = await _file(form, service)
    async with service.limiter:
        answer = await run_in_threadpool(service.readers.read, data, name)
    return Response(answer, media_type="application/json")


@documents_router.post(
    "/rewritten",
    openapi_extra=_API["rewrites"],
    response_class=Response,
    responses=_API["rewritten"],
)
async def rewritten(request: Request, service: ServiceDep) -> Response:
    """Replace the sentences of a document by their rewrites; everything else is unchanged."""
    limit = 32 * service.settings.characters
    async with request.form(max_files=2, max_fields=2, max_part_size=limit) as form:
        name, data = await _file(form, service)
        rewrites = await _rewrites(form)
        tracked = _flag(await _field(form, "tracked"))
    write = partial(service.readers.write, data, name, rewrites, tracked=tracked)
    async with service.limiter:
        name, made, note = await run_in_threadpool(write)
    headers = {"content-disposition": f"attachment; filename*=UTF-8''{quote(name, safe='')}"}
    if note:
        headers["x-parataxis-note"] = note
    return Response(made, media_type=documents.MEDIA_TYPES[document_format(name)], headers=headers)


@documents_router.post(
    "/blocked", openapi_extra=_API["rewrites"], response_model=models.BlockedChanges
)
async def blocked(request: Request, service: ServiceDep) -> Response:
    """Say which rewrites cannot be written into a document, and why."""
    limit = 32 * service.settings.characters
    async with request.form(max_files=2, max_fields=2, max_part_size=limit) as form:
        name, data = await _file(form, service)
        rewrites = await _rewrites(form)
    async with service.limiter:
        found = await run_in_threadpool(service.readers.blocked, data, name, rewrites)
    listed = [models.BlockedChange(index=index, reason=reason) for index, reason in found]
    answer = models.BlockedChanges(blocked=listed)
    return Response(answer.model_dump_json(), media_type="application/json")


async def _rewrites(form: FormData) -> bytes:
    if not (rewrites := await _field(form, "rewrites")):
        raise InputError(
            'The field "rewrites" is missing; give a rewrite or null for each sentence.'
        )
    return rewrites


async def _file(form: FormData, service: Service) -> tuple[str, bytes]:
    upload = form.get("file")
    if not isinstance(upload, UploadFile):
        raise InputError('The field "file" is missing; send a file in it.')
    data = await upload.read()
    if len(data) > service.settings.upload:
        raise TooMuchError(
            f"The file has {len(data)} bytes; at most {service.settings.upload} are taken."
        )
    return upload.filename or "", data


async def _field(form: FormData, name: str) -> bytes:
    value = form.get(name, "")
    return value.encode() if isinstance(value, str) else await value.read()


def _flag(value: bytes) -> bool:
    text = value.decode(errors="replace").lower()
    if text not in (*_TRUE, *_FALSE):
        raise InputError('The field "tracked" must be true or false.')
    return text in _TRUE


# Status ----------------------------------------------------------------------------------------


@status_router.get("/v1/splitters")
async def splitters(service: ServiceDep) -> models.Splitters:
    """List the splitters that the service offers."""
    return models.Splitters(default=service.offers.default, splitters=service.offers.listed())


@status_router.get("/v1/health")
async def health() -> models.Health:
    """Report that the service is alive."""
    return models.Health(version=__version__)


@status_router.get(
    "/v1/ready",
    response_model=models.Ready,
    responses={
        503: {"model": models.Problem, "description": "The default splitter is not loaded."}
    },
)
async def ready(service: ServiceDep) -> models.Ready | Response:
    """Report whether the default splitter is loaded."""
    if service.is_ready:
        return models.Ready()
    return refusal(service.problem or "The models are being loaded.", 503, retry=1)


@status_router.get("/metrics", response_class=PlainTextResponse)
async def metrics(service: ServiceDep) -> Response:
    """Metrics in the Prometheus text format."""
    return Response(service.metrics.text(), media_type=CONTENT_TYPE_LATEST)


# The page, whose scripts get all they show from the API ----------------------------------------

_PAGE = (files("parataxis.serve") / "page.html").read_text(encoding="utf-8")
_FILES = StaticFiles(packages=[("parataxis.serve", "static"), ("parataxis.web", "static")])
# Scripts import each other, so a browser must not mix cached ones of two versions.
_FRESH = {"cache-control": "no-cache"}


@page_router.api_route("/", methods=["GET", "HEAD"])
async def page() -> HTMLResponse:
    """The page."""
    return HTMLResponse(_PAGE, headers=_FRESH)


@page_router.api_route("/static/{path:path}", methods=["GET", "HEAD"])
async def static(path: str, request: Request) -> Response:
    """A file of the page."""
    answer = await _FILES.get_response(path, request.scope)
    answer.headers.update(_FRESH)
    return answer
