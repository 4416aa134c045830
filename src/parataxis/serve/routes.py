"""The routes of the API, by resource."""

import logging
import math
from collections.abc import AsyncIterator
from importlib.resources import files
from typing import Annotated, Any
from urllib.parse import quote

from fastapi import APIRouter, Body, Request
from fastapi.responses import HTMLResponse, PlainTextResponse, Response, StreamingResponse
from fastapi.staticfiles import StaticFiles
from prometheus_client import CONTENT_TYPE_LATEST
from pydantic import BaseModel
from starlette.datastructures import FormData, UploadFile
from starlette.types import Receive, Scope, Send

from parataxis import __version__
from parataxis.api import DocumentRewrite
from parataxis.errors import InputError, ParataxisError
from parataxis.serve import documents
from parataxis.serve.engine import Job
from parataxis.serve.models import (
    ANALYSE_EXAMPLES,
    CHECK_EXAMPLES,
    READABILITY_EXAMPLES,
    SPLIT_EXAMPLES,
    AnalyseRequest,
    CheckRequest,
    ReadabilityRequest,
    SplitRequest,
)
from parataxis.serve.problems import REFUSALS, TooMuchError, refusal, require_short, told
from parataxis.serve.records import (
    Analysed,
    Checked,
    DocumentRead,
    End,
    Explained,
    Failed,
    Health,
    OfferedSplitter,
    Problem,
    Readability,
    Readable,
    Ready,
    Split,
    SplitLine,
    Splitters,
    SplitText,
    Start,
)
from parataxis.serve.service import Service, ServiceDep, results
from parataxis.serve.tasks import AnalyseTask, CheckTask, SplitTask
from parataxis.text.documents import Document
from parataxis.text.readability import grade_level, readability_counts, words

# Splitting: the whole answer at once, or line by line as it is made.

_LOG = logging.getLogger(__name__)

_LINES = "application/x-ndjson"
_EXAMPLE = (
    '{"type":"start","splitter":"pointer","sentences":1}\n'
    '{"type":"split","index":0,"start":0,"end":10,"rewrite":{"source":"It rained.",'
    '"simple":["It rained."],"splitter":"pointer"},"patterns":[],"splits":[[]]}\n'
    '{"type":"end","text":"It rained."}\n'
)

split_router = APIRouter(prefix="/v1", tags=["split"], responses=REFUSALS)


SplitBody = Annotated[SplitRequest, Body(openapi_examples=SPLIT_EXAMPLES)]


class _Work:
    """A request that is being worked on."""

    def __init__(
        self, document: Document | None, sentences: list[str], task: SplitTask, service: Service
    ) -> None:
        self._service = service
        self.document = document
        self.splitter = task.name
        self.job: Job[str, Explained] = service.engine.submit(task, sentences)

    def split(self, index: int, result: Explained, kind: type[Split] = Split) -> Split:
        """A result with its place."""
        span = self.document.sentences[index] if self.document else None
        return kind(
            index=index,
            start=span.start if span else None,
            end=span.end if span else None,
            rewrite=result.rewrite,
            patterns=result.patterns,
            splits=result.splits,
        )

    async def text(self, found: list[Explained]) -> str | None:
        """The text with all rewrites, where a text was sent."""
        if self.document is None:
            return None
        whole = DocumentRewrite(self.document, [each.rewrite for each in found])
        return await self._service.aside(lambda: whole.text)


async def _begin(body: SplitRequest, service: Service) -> _Work:
    task = service.offers.task(
        body.splitter,
        strict=body.strict,
        beam=body.beam,
        check=body.check,
        patterns=body.patterns,
    )
    document, sentences = await service.read(body)
    return _Work(document, sentences, task, service)


@split_router.post("/split", response_model=SplitText)
async def split(body: SplitBody, request: Request, service: ServiceDep) -> Response:
    """Split the sentences of a text, or single sentences."""
    work = await _begin(body, service)
    found = await results(request, work.job)
    answer = SplitText(
        splitter=work.splitter,
        text=await work.text(found),
        rewrites=[work.split(index, each) for index, each in enumerate(found)],
    )
    return Response(answer.model_dump_json(), media_type="application/json")


class _Stream(StreamingResponse):
    """The lines of a request; however it ends, nothing of it is left in the queue."""

    media_type = _LINES

    def __init__(self, work: _Work) -> None:
        super().__init__(_lines(work))
        self._job = work.job

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            await super().__call__(scope, receive, send)
        finally:
            self._job.cancel()


@split_router.post(
    "/split/stream",
    response_class=Response,
    responses={
        200: {
            "description": "One JSON object on each line: `start`, then a `split` for each "
            "sentence, in order, and at last `end` or `error`. A `split` is what `/v1/split` has "
            "in `rewrites`.",
            "content": {_LINES: {"schema": {"type": "string"}, "example": _EXAMPLE}},
        }
    },
)
async def stream(body: SplitBody, service: ServiceDep) -> Response:
    """The same as a stream of lines. Who closes the connection cancels what has not begun."""
    return _Stream(await _begin(body, service))


async def _lines(work: _Work) -> AsyncIterator[str]:
    yield _line(Start(splitter=work.splitter, sentences=len(work.job.futures)))
    found: list[Explained] = []
    try:
        async for result in work.job.results():
            yield _line(work.split(len(found), result, SplitLine))
            found.append(result)
        yield _line(End(text=await work.text(found)))
    except Exception as error:  # the answer has begun, so this is the only place to tell it
        if not isinstance(error, ParataxisError):
            _LOG.exception("a stream could not go on")
        yield _line(Failed(detail=told(error)))


def _line(model: BaseModel) -> str:
    return f"{model.model_dump_json()}\n"


# What needs no splitter: checks, analyses, readability.

reading_router = APIRouter(prefix="/v1", tags=["read"], responses=REFUSALS)


@reading_router.post("/check", response_model=Checked)
async def check(
    body: Annotated[CheckRequest, Body(openapi_examples=CHECK_EXAMPLES)],
    request: Request,
    service: ServiceDep,
) -> Response:
    """Check rewrites, whoever made them: where each word comes from, what the checks find, and
    which patterns were split."""
    task = CheckTask()
    service.require_room([task.size(each) for each in body.rewrites], "rewrites")
    for each in body.rewrites:
        require_short(each.source, each.simple)
    job = service.engine.submit(task, body.rewrites)
    answer = Checked(rewrites=await results(request, job))
    return Response(answer.model_dump_json(), media_type="application/json")


@reading_router.post("/analyse", response_model=Analysed)
async def analyse(
    body: Annotated[AnalyseRequest, Body(openapi_examples=ANALYSE_EXAMPLES)],
    request: Request,
    service: ServiceDep,
) -> Response:
    """Show what the analyser sees: words with tags and heads, roles, and patterns."""
    document, sentences = await service.read(body)
    found = await results(request, service.engine.submit(AnalyseTask(), sentences))
    spans = document.sentences if document else [None] * len(found)
    answer = Analysed(
        sentences=[
            each.model_copy(update={"start": span.start, "end": span.end}) if span else each
            for each, span in zip(found, spans, strict=True)
        ]
    )
    return Response(answer.model_dump_json(), media_type="application/json")


@reading_router.post("/readability")
def readability(
    body: Annotated[ReadabilityRequest, Body(openapi_examples=READABILITY_EXAMPLES)],
    service: ServiceDep,
) -> Readability:
    """The Flesch-Kincaid grade level of texts, and how long their sentences are."""
    service.require_room([len(sentence) for text in body.texts for sentence in text])
    return Readability(texts=[_readable(text) for text in body.texts])


def _readable(text: list[str]) -> Readable:
    sentences, spoken, syllables = readability_counts(text)
    return Readable(
        grade=_or_none(grade_level(sentences, spoken, syllables)),
        sentences=sentences,
        words=spoken,
        words_per_sentence=spoken / sentences if sentences else None,
        longest=max((len(words(sentence)) for sentence in text), default=0),
    )


def _or_none(number: float) -> float | None:
    return None if math.isnan(number) else number


# Documents: what they say, and the same documents with rewrites. Nothing is written down.

documents_router = APIRouter(prefix="/v1/documents", tags=["documents"], responses=REFUSALS)

_FILE = {"type": "string", "format": "binary", "description": "A .txt, .md, .docx or .html file."}
_TRUE, _FALSE = ("true", "1", "on"), ("false", "0", "off", "")


def _form(**fields: dict[str, Any]) -> dict[str, Any]:
    """The description of a form. It is read by hand, because rewrites can be larger than what a
    form is read with otherwise."""
    schema = {"type": "object", "properties": fields, "required": ["file"]}
    content = {"multipart/form-data": {"schema": schema}}
    return {"requestBody": {"required": True, "content": content}}


@documents_router.post("", openapi_extra=_form(file=_FILE), response_model=DocumentRead)
async def read(request: Request, service: ServiceDep) -> Response:
    """The text of a document, as it can be shown, and where its sentences stand in it."""
    async with request.form(max_files=1, max_fields=0) as form:
        name, data = await _file(form, service)
    answer = await service.in_turn(service.readers.read, data, name)
    service.require_room([len(sentence.text) for sentence in answer.sentences])
    return Response(answer.model_dump_json(), media_type="application/json")


@documents_router.post(
    "/rewritten",
    openapi_extra=_form(
        file=_FILE,
        rewrites={
            "type": "string",
            "contentMediaType": "application/json",
            "description": "A list: for each sentence of the document a rewrite, or null where it "
            "is to be left alone.",
        },
        tracked={
            "type": "boolean",
            "default": False,
            "description": "Whether a Word document gets the splits as tracked changes.",
        },
    ),
    response_class=Response,
    responses={
        200: {
            "description": "The file. `X-Parataxis-Note` says, in one sentence, what was left "
            "alone although its rewrite is split, and why.",
            "content": {
                kind: {"schema": {"type": "string"}} for kind in documents.MEDIA_TYPES.values()
            },
        }
    },
)
async def rewritten(request: Request, service: ServiceDep) -> Response:
    """A document with its sentences replaced by their rewrites; all else stays as it was."""
    limit = 32 * service.settings.characters
    async with request.form(max_files=2, max_fields=2, max_part_size=limit) as form:
        name, data = await _file(form, service)
        rewrites = await _field(form, "rewrites")
        tracked = _flag(await _field(form, "tracked"))
    if not rewrites:
        raise InputError(
            'The field "rewrites" is missing; give a rewrite or null for each sentence.'
        )
    write = service.readers.write
    name, made, note = await service.in_turn(write, data, name, rewrites, tracked=tracked)
    headers = {"content-disposition": f"attachment; filename*=UTF-8''{quote(name, safe='')}"}
    if note:
        headers["x-parataxis-note"] = note
    return Response(made, media_type=documents.media_type(name), headers=headers)


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


# What the service offers and how it is.

status_router = APIRouter(tags=["status"])


@status_router.get("/v1/splitters")
async def splitters(service: ServiceDep) -> Splitters:
    """The splitters that can be asked for."""
    return Splitters(
        default=service.offers.default,
        splitters=[
            OfferedSplitter(
                name=offer.name,
                summary=offer.summary,
                adjustable=offer.is_adjustable,
                problem=offer.problem,
            )
            for offer in service.offers.values()
        ],
    )


@status_router.get("/v1/health")
async def health() -> Health:
    """Whether the service is alive."""
    return Health(version=__version__)


@status_router.get(
    "/v1/ready",
    response_model=Ready,
    responses={503: {"model": Problem, "description": "The default splitter is not loaded."}},
)
async def ready(service: ServiceDep) -> Ready | Response:
    """Whether the default splitter is loaded, so that an answer comes at once."""
    if service.is_ready:
        return Ready()
    return refusal(service.problem or "The models are being loaded.", 503, retry=1)


@status_router.get("/metrics", response_class=PlainTextResponse)
async def metrics(service: ServiceDep) -> Response:
    """What Prometheus reads."""
    return Response(service.measures.text(), media_type=CONTENT_TYPE_LATEST)


# The page and the files it is made of. All it shows comes from the API, asked by its scripts.

page_router = APIRouter(include_in_schema=False)

_PAGE = (files("parataxis.serve") / "page.html").read_text(encoding="utf-8")
_FILES = StaticFiles(packages=[("parataxis.serve", "static"), ("parataxis.web", "static")])
# Scripts import each other: those of two versions must not meet, so a browser asks each time.
_FRESH = {"cache-control": "no-cache"}


@page_router.api_route("/", methods=["GET", "HEAD"])
async def page() -> HTMLResponse:
    """The page. It is the same for everybody, and names its files relative to itself."""
    return HTMLResponse(_PAGE, headers=_FRESH)


@page_router.api_route("/static/{path:path}", methods=["GET", "HEAD"])
async def static(path: str, request: Request) -> Response:
    """A file of the page."""
    answer = await _FILES.get_response(path, request.scope)
    answer.headers.update(_FRESH)
    return answer
