"""Splitting: the whole answer at once, or line by line as it is made."""

import logging
from collections.abc import AsyncIterator
from typing import Annotated

from fastapi import APIRouter, Body, Request
from fastapi.responses import Response, StreamingResponse
from pydantic import BaseModel
from starlette.types import Receive, Scope, Send

from parataxis.api import DocumentRewrite
from parataxis.client.records import (
    End,
    Explained,
    Failed,
    Split,
    SplitLine,
    SplitText,
    Start,
)
from parataxis.errors import ParataxisError
from parataxis.text.documents import Document
from parataxis.web.service.engine import Job
from parataxis.web.service.models import SPLIT_EXAMPLES, SplitRequest
from parataxis.web.service.problems import REFUSALS, told
from parataxis.web.service.service import Service, ServiceDep, results
from parataxis.web.service.tasks import SplitTask

__all__ = ["router"]

_LOG = logging.getLogger(__name__)

_LINES = "application/x-ndjson"
_EXAMPLE = (
    '{"type":"start","splitter":"pointer","sentences":1}\n'
    '{"type":"split","index":0,"start":0,"end":10,"rewrite":{"source":"It rained.",'
    '"simple":["It rained."],"splitter":"pointer"},"patterns":[],"splits":[[]]}\n'
    '{"type":"end","text":"It rained."}\n'
)

router = APIRouter(prefix="/v1", tags=["split"], responses=REFUSALS)


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


@router.post("/split", response_model=SplitText)
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


@router.post(
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
