"""The routes of the API, by resource."""

import logging
import math
from collections.abc import AsyncIterator
from importlib.resources import files
from typing import Annotated, Any
from urllib.parse import quote

from fastapi import APIRouter, Body, Request
from fastapi.params import Body as BodyParameter
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
    Analysed,
    AnalyseRequest,
    Checked,
    CheckRequest,
    DocumentRead,
    End,
    Explained,
    Failed,
    Health,
    Problem,
    Readability,
    ReadabilityRequest,
    Readable,
    Ready,
    SentencesToSplit,
    Split,
    SplitLine,
    SplitRequest,
    Splitters,
    SplitText,
    Start,
    WithSentences,
    WithText,
)
from parataxis.serve.models import Request as RequestModel
from parataxis.serve.problems import REFUSALS, TooMuchError, refusal, reported, require_short
from parataxis.serve.service import Service, ServiceDep, results
from parataxis.serve.tasks import AnalyseTask, CheckTask, SplitTask
from parataxis.text.documents import Document
from parataxis.text.readability import grade_level, readability_counts, spoken_words

_LOG = logging.getLogger(__name__)

_LINES = "application/x-ndjson"
_EXAMPLE = (
    '{"type":"start","splitter":"pointer","sentences":1}\n'
    '{"type":"split","index":0,"start":0,"end":10,"rewrite":{"source":"It rained.",'
    '"simple":["It rained."],"splitter":"pointer"},"patterns":[],"splits":[[]]}\n'
    '{"type":"end","text":"It rained."}\n'
)

split_router = APIRouter(prefix="/v1", tags=["split"], responses=REFUSALS)
reading_router = APIRouter(prefix="/v1", tags=["read"], responses=REFUSALS)
documents_router = APIRouter(prefix="/v1/documents", tags=["documents"], responses=REFUSALS)
status_router = APIRouter(tags=["status"])
api_routers = (split_router, reading_router, documents_router, status_router)
page_router = APIRouter(include_in_schema=False)


def _body(**examples: type[RequestModel]) -> BodyParameter:
    """A body with examples in the description of the API."""
    named = {name.replace("_", " "): model.example() for name, model in examples.items()}
    body: BodyParameter = Body(openapi_examples={n: {"value": v} for n, v in named.items()})
    return body


def _json(answer: BaseModel) -> Response:
    """The answer as JSON, without the second validation that FastAPI would do."""
    return Response(answer.model_dump_json(), media_type="application/json")


# Splitting -------------------------------------------------------------------------------------

SplitBody = Annotated[
    SplitRequest, _body(a_text=WithText, sentences=WithSentences, options=SentencesToSplit)
]


class _SplitJob:
    """A request that is being processed."""

    def __init__(
        self, document: Document | None, sentences: list[str], task: SplitTask, service: Service
    ) -> None:
        self._service = service
        self.document = document
        self.splitter = task.lane
        self.job: Job[str, Explained] = service.engine.submit(task, sentences)

    def split(self, index: int, result: Explained, kind: type[Split] = Split) -> Split:
        """A result with its position in the text."""
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
        """The rewritten text, if the request sent a text."""
        if self.document is None:
            return None
        whole = DocumentRewrite(self.document, [each.rewrite for each in found])
        return await self._service.in_thread(lambda: whole.text)


async def _begin(body: SplitRequest, service: Service) -> _SplitJob:
    task = service.offers.task(body)
    document, sentences = await service.read(body)
    return _SplitJob(document, sentences, task, service)


@split_router.post("/split", response_model=SplitText)
async def split(body: SplitBody, request: Request, service: ServiceDep) -> Response:
    """Split the sentences of a text, or separate sentences."""
    work = await _begin(body, service)
    found = await results(request, work.job)
    return _json(
        SplitText(
            splitter=work.splitter,
            text=await work.text(found),
            rewrites=[work.split(index, each) for index, each in enumerate(found)],
        )
    )


class _Stream(StreamingResponse):
    """Streams the lines of a job, and cancels the job however the stream ends."""

    media_type = _LINES

    def __init__(self, work: _SplitJob) -> None:
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
            "description": "One JSON object per line: `start`, then a `split` for each "
            "sentence, in order, and finally `end` or `error`. A `split` is an entry of `rewrites` "
            "in the answer of `/v1/split`.",
            "content": {_LINES: {"schema": {"type": "string"}, "example": _EXAMPLE}},
        }
    },
)
async def stream(body: SplitBody, service: ServiceDep) -> Response:
    """Split like `/v1/split`, but stream the rewrites. Closing the connection cancels the rest."""
    return _Stream(await _begin(body, service))


async def _lines(work: _SplitJob) -> AsyncIterator[str]:
    yield _line(Start(splitter=work.splitter, sentences=len(work.job.futures)))
    found: list[Explained] = []
    try:
        async for result in work.job.results():
            yield _line(work.split(len(found), result, SplitLine))
            found.append(result)
        yield _line(End(text=await work.text(found)))
    except Exception as error:  # the status line is sent, so the stream must report the error
        if not isinstance(error, ParataxisError):
            _LOG.exception("a stream failed")
        yield _line(Failed(detail=reported(error)))


def _line(model: BaseModel) -> str:
    return f"{model.model_dump_json()}\n"


# Checks, analyses and readability, which need no splitter --------------------------------------


@reading_router.post("/check", response_model=Checked)
async def check(
    body: Annotated[CheckRequest, _body(a_rewrite=CheckRequest)],
    request: Request,
    service: ServiceDep,
) -> Response:
    """Check rewrites by any person or system: provenance, findings, and which patterns were
    split."""
    task = CheckTask()
    service.require_room([task.size(each) for each in body.rewrites], "rewrites")
    for each in body.rewrites:
        require_short(each.source, each.simple)
    job = service.engine.submit(task, body.rewrites)
    return _json(Checked(rewrites=await results(request, job)))


@reading_router.post("/analyse", response_model=Analysed)
async def analyse(
    body: Annotated[AnalyseRequest, _body(a_text=WithText, sentences=WithSentences)],
    request: Request,
    service: ServiceDep,
) -> Response:
    """Analyse sentences: tags and heads of the words, semantic roles, and patterns."""
    document, sentences = await service.read(body)
    found = await results(request, service.engine.submit(AnalyseTask(), sentences))
    spans = document.sentences if document else [None] * len(found)
    placed = [
        each.model_copy(update={"start": span.start, "end": span.end}) if span else each
        for each, span in zip(found, spans, strict=True)
    ]
    return _json(Analysed(sentences=placed))


@reading_router.post("/readability")
def readability(
    body: Annotated[ReadabilityRequest, _body(before_and_after=ReadabilityRequest)],
    service: ServiceDep,
) -> Readability:
    """Measure the Flesch-Kincaid grade level of texts and the length of their sentences."""
    service.require_room([len(sentence) for text in body.texts for sentence in text])
    return Readability(texts=[_readable(text) for text in body.texts])


def _readable(text: list[str]) -> Readable:
    sentences, spoken, syllables = readability_counts(text)
    grade = grade_level(sentences, spoken, syllables)
    return Readable(
        grade=None if math.isnan(grade) else grade,
        sentences=sentences,
        words=spoken,
        words_per_sentence=spoken / sentences if sentences else None,
        longest=max((len(spoken_words(sentence)) for sentence in text), default=0),
    )


# Documents, which are not stored ---------------------------------------------------------------

_FILE = {"type": "string", "format": "binary", "description": "A .txt, .md, .docx or .html file."}
_TRUE, _FALSE = ("true", "1", "on"), ("false", "0", "off", "")


def _form(**fields: dict[str, Any]) -> dict[str, Any]:
    """The description of a form. The routes parse it themselves, because rewrites can be larger
    than the default limit of a form field."""
    schema = {"type": "object", "properties": fields, "required": ["file"]}
    content = {"multipart/form-data": {"schema": schema}}
    return {"requestBody": {"required": True, "content": content}}


@documents_router.post("", openapi_extra=_form(file=_FILE), response_model=DocumentRead)
async def read(request: Request, service: ServiceDep) -> Response:
    """Read the text of a document, in a form that can be shown, and its sentences."""
    async with request.form(max_files=1, max_fields=0) as form:
        name, data = await _file(form, service)
    answer = await service.in_turn(service.readers.read, data, name)
    service.require_room([len(sentence.text) for sentence in answer.sentences])
    return _json(answer)


@documents_router.post(
    "/rewritten",
    openapi_extra=_form(
        file=_FILE,
        rewrites={
            "type": "string",
            "contentMediaType": "application/json",
            "description": "A list with a rewrite for each sentence of the document, or null to "
            "leave the sentence unchanged.",
        },
        tracked={
            "type": "boolean",
            "default": False,
            "description": "Whether to mark the splits in a Word document as tracked changes.",
        },
    ),
    response_class=Response,
    responses={
        200: {
            "description": "The file. The header `X-Parataxis-Note` says in one sentence which "
            "rewrites could not be applied, and why.",
            "content": {
                kind: {"schema": {"type": "string"}} for kind in documents.MEDIA_TYPES.values()
            },
        }
    },
)
async def rewritten(request: Request, service: ServiceDep) -> Response:
    """Replace the sentences of a document by their rewrites; everything else is unchanged."""
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


# Status ----------------------------------------------------------------------------------------


@status_router.get("/v1/splitters")
async def splitters(service: ServiceDep) -> Splitters:
    """List the splitters that the service offers."""
    offered = [offer.listed() for offer in service.offers.values()]
    return Splitters(default=service.offers.default, splitters=offered)


@status_router.get("/v1/health")
async def health() -> Health:
    """Report that the service is alive."""
    return Health(version=__version__)


@status_router.get(
    "/v1/ready",
    response_model=Ready,
    responses={503: {"model": Problem, "description": "The default splitter is not loaded."}},
)
async def ready(service: ServiceDep) -> Ready | Response:
    """Report whether the default splitter is loaded."""
    if service.is_ready:
        return Ready()
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
