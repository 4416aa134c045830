"""What Prometheus can read: how much is asked, how long it takes, and what waits."""

import time
from collections.abc import Callable

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest
from starlette.types import ASGIApp, Message, Receive, Scope, Send

__all__ = ["Counting", "Measures"]

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
