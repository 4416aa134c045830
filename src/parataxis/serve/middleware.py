"""The outermost layers of the service: metrics for Prometheus, and limits on requests."""

import asyncio
import ipaddress
import math
import time
from collections.abc import Callable
from functools import partial

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest
from starlette.exceptions import HTTPException
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from parataxis.serve.problems import refusal
from parataxis.web import Throttle

BODY_TIMEOUT = 60.0
"""Seconds in which the body of a request must have arrived."""

_SECONDS = (0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60)
_SIZES = (1, 2, 4, 8, 16, 32)


class Metrics:
    """The metrics of one service."""

    def __init__(self, waiting: Callable[[], int]) -> None:
        self._registry = CollectorRegistry()
        counter = partial(Counter, registry=self._registry)
        histogram = partial(Histogram, registry=self._registry)
        self.requests = counter(
            "parataxis_requests", "Requests that were answered.", ("method", "path", "status")
        )
        self.seconds = histogram(
            "parataxis_request_seconds",
            "Seconds from a request to the end of its answer.",
            ("path",),
            buckets=_SECONDS,
        )
        self._sentences = counter(
            "parataxis_sentences", "Sentences that were processed.", ("lane",)
        )
        self._batches = histogram(
            "parataxis_batch_sentences", "Sentences in a batch.", ("lane",), buckets=_SIZES
        )
        self._busy = counter("parataxis_busy_seconds", "Seconds spent on batches.", ("lane",))
        gauge = Gauge("parataxis_waiting_sentences", "Waiting sentences.", registry=self._registry)
        gauge.set_function(waiting)

    def count_batch(self, lane: str, items: int, seconds: float) -> None:
        """Count a batch that the engine has processed."""
        self._sentences.labels(lane).inc(items)
        self._batches.labels(lane).observe(items)
        self._busy.labels(lane).inc(seconds)

    def text(self) -> bytes:
        """All metrics in the Prometheus text format."""
        return generate_latest(self._registry)


class CountRequests:
    """Counts requests and measures their duration. All unknown paths share one label, because
    clients can invent any number of them."""

    def __init__(self, app: ASGIApp, metrics: Metrics) -> None:
        self._app = app
        self._metrics = metrics

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
            self._metrics.requests.labels(method, path, str(status)).inc()
            self._metrics.seconds.labels(path).observe(time.monotonic() - begun)


class LimitRequests:
    """Limits the POST requests per minute and address, the concurrent ones, and the time in which
    a body must arrive. A refused request is not even read."""

    def __init__(self, app: ASGIApp, *, per_minute: int, concurrent: int) -> None:
        self._app = app
        self._per_minute, self._concurrent = per_minute, concurrent
        self._throttle = Throttle(per_minute, 60)
        self._inside = 0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or scope["method"] != "POST":
            await self._app(scope, receive, send)
            return
        address = _network(scope)
        wait = self._throttle.wait(address)
        if wait > 0:
            detail = (
                f"More than {self._per_minute} requests came from your address within a minute; "
                f"try again in {max(1, math.ceil(wait))} s."
            )
            await refusal(detail, 429, retry=wait)(scope, receive, send)
            return
        if self._inside >= self._concurrent:
            detail = "The service is busy; try again in 1 s."
            await refusal(detail, 503, retry=1)(scope, receive, send)
            return
        self._throttle.count(address)
        self._inside += 1
        try:
            await self._app(scope, _with_timeout(receive), send)
        finally:
            self._inside -= 1


def _network(scope: Scope) -> str:
    """The IPv4 address, or the /64 network of an IPv6 address, from which one subscriber can
    choose addresses freely."""
    host = (scope.get("client") or ("unknown",))[0]
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        return str(host)
    if address.version == 4:
        return str(address)
    return str(ipaddress.ip_network(f"{address}/64", strict=False))


def _with_timeout(receive: Receive) -> Receive:
    """Like receive(), but fails when the body does not arrive in time."""
    end = asyncio.get_running_loop().time() + BODY_TIMEOUT
    is_read = False

    async def received() -> Message:
        nonlocal is_read
        if is_read:
            return await receive()
        try:
            async with asyncio.timeout_at(end):
                message = await receive()
        except TimeoutError:
            raise HTTPException(408, "The body came too slowly.") from None
        is_read = not message.get("more_body", False)
        return message

    return received
