"""The settings of the service, and the parts that its routes share."""

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Annotated, ParamSpec, TypeVar

from anyio import CapacityLimiter, to_thread
from fastapi import Depends, Request

from parataxis.api import DEFAULT_SPLITTER
from parataxis.serve.engine import Engine, Job
from parataxis.serve.middleware import Metrics
from parataxis.serve.models import WithSentences, WithText
from parataxis.serve.problems import TooMuchError
from parataxis.serve.reader import Readers
from parataxis.serve.tasks import Offers
from parataxis.splitters.registry import SentenceSplitter
from parataxis.text.documents import Document, read_document

P = ParamSpec("P")
T = TypeVar("T")
R = TypeVar("R")


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
    concurrent: int = 128
    """Requests that are answered at the same time."""
    queue: int = 20_000
    """Sentences that may wait."""


@dataclass
class Service:
    """The parts of a running service."""

    settings: ServiceSettings
    offers: Offers
    engine: Engine
    metrics: Metrics
    readers: Readers
    limiter: CapacityLimiter
    """Limits how many documents are read at the same time."""
    is_ready: bool = False
    problem: str | None = None
    """Why the service will not become ready."""

    def require_room(self, sizes: Sequence[int], what: str = "sentences") -> None:
        """Refuse a request that is over the limits; ``sizes`` are numbers of characters."""
        limits = self.settings
        if len(sizes) > limits.sentences:
            raise TooMuchError(
                f"There are {len(sizes)} {what}; at most {limits.sentences} are taken at once."
            )
        if sum(sizes) > limits.characters:
            raise TooMuchError(
                f"There are {sum(sizes)} characters; at most {limits.characters} are taken at once."
            )

    def close(self) -> None:
        """Stop all work."""
        self.engine.close()
        self.readers.close()

    async def in_thread(self, function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Run a slow function in a thread."""
        return await to_thread.run_sync(partial(function, *args, **kwargs))

    async def in_turn(self, function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Run a very slow function in a thread, only a few of them at a time."""
        return await to_thread.run_sync(partial(function, *args, **kwargs), limiter=self.limiter)

    async def read(self, body: WithText | WithSentences) -> tuple[Document | None, list[str]]:
        """The sentences of a request, and the document they are in if it sent a text."""
        if isinstance(body, WithSentences):
            self.require_room([len(sentence) for sentence in body.sentences])
            return None, body.sentences
        self.require_room([len(body.text)])
        document = await self.in_thread(read_document, body.text)
        sentences = [span.text for span in document.sentences]
        self.require_room([len(sentence) for sentence in sentences])
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
