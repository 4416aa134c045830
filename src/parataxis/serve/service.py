"""The settings of the service, and the parts that its routes share."""

import asyncio
from collections.abc import Sequence, Sized
from dataclasses import dataclass, field
from typing import Annotated, TypeVar

from anyio import CapacityLimiter
from fastapi import Depends, Request
from fastapi.concurrency import run_in_threadpool

from parataxis.api import DEFAULT_SPLITTER
from parataxis.serve.engine import Engine, Job
from parataxis.serve.middleware import Metrics, Room
from parataxis.serve.models import WithSentences, WithText
from parataxis.serve.problems import measure, require_few_lines
from parataxis.serve.reader import Readers
from parataxis.serve.tasks import Offers
from parataxis.splitters.registry import SentenceSplitter
from parataxis.syntax.onnx import threads
from parataxis.text.documents import Document, read_document

T = TypeVar("T", bound=Sized)
R = TypeVar("R")


_READERS = 2
"""Documents that are read at the same time."""
_FULL = 4
"""The requests of the largest size that are answered at the same time."""
_EACH = 8
"""Sentences of a batch for each thread; the pointer does not use a thread for fewer."""


@dataclass(frozen=True)
class ServiceSettings:
    """What the service offers, and its limits."""

    splitters: tuple[str | SentenceSplitter, ...] = (DEFAULT_SPLITTER, "rules", "source")
    """The splitters on offer: names, "NAME:DIR" or objects; the first is the default."""
    page: bool = True
    """Whether to serve the page for writers besides the API."""
    characters: int = 1_000_000
    """Characters of all sentences in one request."""
    sentences: int = 10_000
    """Sentences in one request."""
    upload: int = 8_000_000
    """Bytes of a document."""
    per_minute: int = 600
    """Requests per minute from one address."""
    per_address: int = 64
    """Requests of one address that are read or answered at the same time."""
    concurrent: int = 128
    """Requests that are answered at the same time."""
    queue: int = 20_000
    """Sentences that may wait."""
    hosts: tuple[str, ...] = ()
    """Names under which the service is offered, besides "localhost"; "*" means any."""
    token: str | None = field(default=None, repr=False)
    """What clients must send to use the service."""
    languagetool: str | None = None
    """The address of a LanguageTool server whose answers are merged into those of ``/v2``."""


class Service:
    """The parts of a running service; ``problem`` says why it will not become ready."""

    def __init__(self, settings: ServiceSettings) -> None:
        self.settings = settings
        self.offers = Offers(settings.splitters)
        self.metrics = Metrics(lambda: self.engine.waiting)
        batch = _EACH * threads()
        self.engine = Engine(settings.queue, batch=batch, note=self.metrics.count_batch)
        self.readers = Readers(settings.characters, settings.sentences)
        self.limiter = CapacityLimiter(_READERS)
        self.room = Room(_FULL * settings.characters)
        self.is_ready = False
        self.problem: str | None = None

    def require_room(
        self, request: Request, items: Sequence[Sized], what: str = "sentences"
    ) -> None:
        """Refuse a request with too many items, or too many characters in all of them, or that
        comes while there are too many others."""
        limits = self.settings
        self.room.take(request.scope, measure(items, limits.sentences, limits.characters, what))

    def close(self) -> None:
        """Stop all work."""
        self.engine.close()
        self.readers.close()

    async def read(
        self, request: Request, body: WithText | WithSentences
    ) -> tuple[Document | None, list[str]]:
        """The sentences of a request, and the document they are in if it sent a text."""
        if isinstance(body, WithSentences):
            self.require_room(request, body.sentences)
            return None, body.sentences
        self.require_room(request, [body.text])
        require_few_lines(body.text, self.settings.sentences)
        document = await run_in_threadpool(read_document, body.text)
        sentences = [span.text for span in document.sentences]
        measure(sentences, self.settings.sentences, self.settings.characters)
        return document, sentences


def _service(request: Request) -> Service:
    service: Service = request.app.state.service
    return service


ServiceDep = Annotated[Service, Depends(_service)]


async def results(request: Request, job: Job[T, R]) -> list[R]:
    """All results of a job, which is cancelled when the client disconnects."""
    watch = asyncio.create_task(_disconnected(request))
    watch.add_done_callback(lambda _: job.cancel())
    try:
        return [result async for result in job.results()]
    finally:
        watch.cancel()


async def _disconnected(request: Request) -> None:
    while (await request.receive())["type"] != "http.disconnect":
        pass
