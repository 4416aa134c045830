"""What Prometheus can read: how much is asked, how long it takes, and what waits."""

import asyncio
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Annotated, ParamSpec, TypeVar

from anyio import CapacityLimiter, to_thread
from fastapi import Depends, Request
from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from parataxis.serve.engine import Engine, Job
from parataxis.serve.models import WithSentences, WithText
from parataxis.serve.problems import TooMuchError
from parataxis.serve.reader import Readers
from parataxis.serve.settings import ServiceSettings
from parataxis.serve.tasks import Offers
from parataxis.text.documents import Document, read_document

_SECONDS = (0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60)
_SIZES = (1, 2, 4, 8, 16, 32)


class Measures:
    """The counters of one service."""

    def __init__(self) -> None:
        self._registry = CollectorRegistry()
        self.requests = Counter(
            "parataxis_requests",
            "Requests that were answered.",
            ("method", "path", "status"),
            registry=self._registry,
        )
        self.seconds = Histogram(
            "parataxis_request_seconds",
            "Seconds from a request to the end of its answer.",
            ("path",),
            buckets=_SECONDS,
            registry=self._registry,
        )
        self._items = Counter(
            "parataxis_sentences",
            "Sentences that were worked on.",
            ("lane",),
            registry=self._registry,
        )
        self._batches = Histogram(
            "parataxis_batch_sentences",
            "Sentences in a batch.",
            ("lane",),
            buckets=_SIZES,
            registry=self._registry,
        )
        self._busy = Counter(
            "parataxis_busy_seconds",
            "Seconds spent on batches.",
            ("lane",),
            registry=self._registry,
        )
        self._waiting = Gauge(
            "parataxis_waiting_sentences", "Sentences that wait.", registry=self._registry
        )

    def note(self, lane: str, items: int, seconds: float) -> None:
        """Count a batch."""
        self._items.labels(lane).inc(items)
        self._batches.labels(lane).observe(items)
        self._busy.labels(lane).inc(seconds)

    def watch(self, waiting: Callable[[], int]) -> None:
        """Ask this function how many sentences wait."""
        self._waiting.set_function(waiting)

    def text(self) -> bytes:
        """All of it, in the format of Prometheus."""
        return generate_latest(self._registry)


class Counting:
    """Counts requests. Paths that are none of ours have one name together: anybody can invent
    them."""

    def __init__(self, app: ASGIApp, measures: Measures) -> None:
        self._app = app
        self._measures = measures

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        status, begun = 500, time.monotonic()

        async def noted(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
            await send(message)

        try:
            await self._app(scope, receive, noted)
        finally:
            path = getattr(scope.get("route"), "path", None) or "other"
            method = scope["method"] if scope["method"] in ("GET", "POST") else "other"
            self._measures.requests.labels(method, path, str(status)).inc()
            self._measures.seconds.labels(path).observe(time.monotonic() - begun)


# What the routes share: settings, splitters, the engine, and what is measured.

P = ParamSpec("P")
T = TypeVar("T")
R = TypeVar("R")


@dataclass
class Service:
    """The parts of a running service."""

    settings: ServiceSettings
    offers: Offers
    engine: Engine
    measures: Measures
    readers: Readers
    limiter: CapacityLimiter
    """How many documents are read at the same time."""
    is_ready: bool = False
    problem: str | None = None
    """Why it will not become ready."""

    def require_room(self, sizes: Sequence[int], what: str = "sentences") -> None:
        """Refuse more, or longer, than is taken at once; ``sizes`` are numbers of characters."""
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

    async def aside(self, function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Run what takes long in a thread."""
        return await to_thread.run_sync(partial(function, *args, **kwargs))

    async def in_turn(self, function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """The same for what takes very long: so many at a time, and the others wait."""
        return await to_thread.run_sync(partial(function, *args, **kwargs), limiter=self.limiter)

    async def read(self, body: WithText | WithSentences) -> tuple[Document | None, list[str]]:
        """The sentences of a request, and the text that they stand in, where that was sent."""
        if isinstance(body, WithSentences):
            self.require_room([len(sentence) for sentence in body.sentences])
            return None, body.sentences
        self.require_room([len(body.text)])
        document = await self.aside(read_document, body.text)
        sentences = [span.text for span in document.sentences]
        self.require_room([len(sentence) for sentence in sentences])
        return document, sentences


def _service(request: Request) -> Service:
    service: Service = request.app.state.service
    return service


ServiceDep = Annotated[Service, Depends(_service)]


async def results(request: Request, job: Job[T, R]) -> list[R]:
    """All results of a job; the work ends where whoever asked goes away."""
    watch = asyncio.create_task(_gone(request))
    watch.add_done_callback(lambda _: job.cancel())
    try:
        return [result async for result in job.results()]
    finally:
        watch.cancel()


async def _gone(request: Request) -> None:
    while (await request.receive())["type"] != "http.disconnect":
        pass
