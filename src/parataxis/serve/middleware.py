"""The outermost layers of the service: metrics for Prometheus, and limits on requests."""

import asyncio
import math
import re
import time
from collections import Counter, deque
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import prometheus_client as prometheus
from starlette.datastructures import Headers
from starlette.requests import ClientDisconnect
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from parataxis.errors import TryLaterError
from parataxis.serve.problems import is_json, refusal
from parataxis.web import Throttle, network_of

BODY_TIMEOUT = 60.0
"""Seconds in which the body of a request must have arrived."""
STALL_TIMEOUT = 10.0
"""Seconds in which more of a body must have arrived."""
PATIENCE = 2.0
"""Seconds after which a stalled request gives way to another one of the same address."""
BUFFERED = 256_000_000
"""Bytes that all bodies may have together; those of one address, a quarter of it."""
DEEPEST = 16
"""Levels of lists and objects in a body of JSON."""

_PART = 1 << 16
_ESCAPE = re.compile(rb"\\.", re.DOTALL)
_NO_BRACKETS = re.compile(rb"[^\[\]{}]+")
_CHARACTERS = "parataxis.characters"

_SECONDS = (0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60)
_SIZES = (1, 2, 4, 8, 16, 32)


class Metrics:
    """The metrics of one service."""

    def __init__(self, waiting: Callable[[], int]) -> None:
        self._registry = prometheus.CollectorRegistry()
        counter = partial(prometheus.Counter, registry=self._registry)
        histogram = partial(prometheus.Histogram, registry=self._registry)
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
        gauge = prometheus.Gauge(
            "parataxis_waiting_sentences", "Waiting sentences.", registry=self._registry
        )
        gauge.set_function(waiting)

    def count_batch(self, lane: str, items: int, seconds: float) -> None:
        """Count a batch that the engine has processed."""
        self._sentences.labels(lane).inc(items)
        self._batches.labels(lane).observe(items)
        self._busy.labels(lane).inc(seconds)

    def text(self) -> bytes:
        """All metrics in the Prometheus text format."""
        return prometheus.generate_latest(self._registry)


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


class _RefusedError(Exception):
    """A request is refused; ``retry`` is the number of seconds until a retry makes sense."""

    def __init__(self, status: int, detail: str, *, retry: float | None = None) -> None:
        super().__init__(detail)
        self.status, self.retry = status, retry


class JsonShape:
    """Counts the values and the depth of JSON while it arrives, so that a body is refused before it
    is parsed: a megabyte of empty strings takes hundreds of megabytes as objects."""

    def __init__(self, values: int, depth: int = DEEPEST) -> None:
        self._most, self._deepest = values, depth
        self._values = self._depth = 0
        self._is_in_string = False
        self._rest = b""

    def feed(self, data: bytes) -> None:
        """Read some bytes; fails if there are too many values or levels, or if they are UTF-16 or
        UTF-32, of which a parser makes JSON too, but whose quotation marks are other bytes."""
        if b"\0" in data:
            raise _RefusedError(400, "The body is not JSON in UTF-8.")
        data = _ESCAPE.sub(b"", self._rest + data)
        self._rest = b"\\" if data.endswith(b"\\") else b""  # what it escapes is yet to come
        parts = data.split(b'"')
        outside = b"".join(parts[self._is_in_string :: 2])
        self._is_in_string ^= len(parts) % 2 == 0
        self._values += sum(map(outside.count, (b",", b"[", b"{")))
        if self._values > self._most:
            raise _RefusedError(413, f"The body has more than {self._most} values.")
        for bracket in _NO_BRACKETS.sub(b"", outside).decode():
            self._depth += 1 if bracket in "[{" else -1
            if self._depth > self._deepest:
                raise _RefusedError(400, "The body is nested too deeply.")


class Room:
    """Counts the characters of all requests that are being answered, which may be ``characters``
    together, and those of one address half of it: whoever does not read the answers keeps others
    from nothing."""

    def __init__(self, characters: int) -> None:
        self._most = characters
        self._of: Counter[str] = Counter()

    @property
    def taken(self) -> int:
        """The characters of all requests."""
        return self._of.total()

    def take(self, scope: Scope, characters: int) -> None:
        """Count the characters of a request; raises TryLaterError if there are too many already."""
        address = network_of(scope["client"])
        for taken, most in ((self.taken, self._most), (self._of[address], self._most // 2)):
            if taken and taken + characters > most:
                raise TryLaterError("The service is busy; try again in 5 s.", 5)
        self._of[address] += characters
        scope[_CHARACTERS] = scope.get(_CHARACTERS, 0) + characters

    def leave(self, scope: Scope) -> None:
        """Forget the characters of a request, which has been answered."""
        self._of[network_of(scope["client"])] -= scope.pop(_CHARACTERS, 0)
        self._of = +self._of  # without zeros


@dataclass(frozen=True)
class RequestLimits:
    """Limits on requests with a body: per minute and address, of one address at the same time,
    answered at the same time, and the values in a body of JSON."""

    per_minute: int
    per_address: int
    concurrent: int
    values: int


@dataclass(eq=False)
class _Visit:
    """A request, the time when something of its body last arrived, and its size; ``deadline`` is
    set while more is awaited."""

    last: float
    size: int = 0
    deadline: asyncio.Timeout | None = None


class LimitRequests:
    """Limits requests and reads their bodies, so that the application sees only complete ones, and
    a slow client takes the place of nobody. A refused request is not even read."""

    def __init__(self, app: ASGIApp, *, limits: RequestLimits, room: Room) -> None:
        self._app, self._limits, self._room = app, limits, room
        self._throttle = Throttle(limits.per_minute, 60)
        self._visits: dict[str, list[_Visit]] = {}
        self._inside = self._buffered = 0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or _only_looks(scope):
            await self._app(scope, receive, send)
            return
        address, visit = network_of(scope["client"]), _Visit(asyncio.get_running_loop().time())
        visits = self._visits.setdefault(address, [])
        try:
            try:
                self._admit(address, visits)
                visits.append(visit)
                body = await self._read(scope, receive, visit, visits)
                if self._inside >= self._limits.concurrent:
                    raise _RefusedError(503, "The service is busy; try again in 1 s.", retry=1)
            except _RefusedError as error:
                await refusal(str(error), error.status, retry=error.retry)(scope, receive, send)
                return
            except ClientDisconnect:
                return
            self._inside += 1
            try:
                await self._app(scope, _replayed(body, receive), send)
            finally:
                self._inside -= 1
                self._room.leave(scope)
        finally:
            self._buffered -= visit.size
            if visit in visits:
                visits.remove(visit)
            if not visits:
                self._visits.pop(address, None)

    def _admit(self, address: str, visits: list[_Visit]) -> None:
        wait = self._throttle.wait(address)
        if wait > 0:
            raise _RefusedError(
                429,
                f"More than {self._limits.per_minute} requests came from your address within a "
                f"minute; try again in {max(1, math.ceil(wait))} s.",
                retry=wait,
            )
        if len(visits) >= self._limits.per_address and not _drop_stalled(visits):
            raise _RefusedError(
                429,
                f"{len(visits)} requests of your address are not finished; try again in 1 s.",
                retry=1,
            )
        self._throttle.count(address)

    async def _read(
        self, scope: Scope, receive: Receive, visit: _Visit, visits: list[_Visit]
    ) -> deque[bytearray]:
        """The body, in parts that are small enough to be parsed one by one."""
        shape = JsonShape(self._limits.values) if is_json(Headers(scope=scope)) else None
        clock = asyncio.get_running_loop().time
        end = clock() + BODY_TIMEOUT
        parts = deque([bytearray()])
        more = True
        while more:
            try:
                async with asyncio.timeout_at(min(end, clock() + STALL_TIMEOUT)) as visit.deadline:
                    message = await receive()
            except TimeoutError:
                raise _RefusedError(408, "The body came too slowly.") from None
            finally:
                visit.deadline = None
            if message["type"] == "http.disconnect":
                raise ClientDisconnect
            data, more = message.get("body", b""), message.get("more_body", False)
            visit.last = clock()
            visit.size += len(data)
            self._buffered += len(data)
            own = sum(each.size for each in visits)
            if own > BUFFERED // 4 or self._buffered > BUFFERED:
                raise _RefusedError(503, "The service is busy; try again in 5 s.", retry=5)
            if shape:
                shape.feed(data)
            if len(parts[-1]) > _PART:
                parts.append(bytearray())
            parts[-1] += data
        return parts


def _only_looks(scope: Scope) -> bool:
    """Whether a request asks for no work; a text can also come in the query or with a GET."""
    if scope["method"] not in ("GET", "HEAD", "OPTIONS") or scope["query_string"]:
        return False
    headers = Headers(scope=scope)
    return "transfer-encoding" not in headers and headers.get("content-length", "0") == "0"


def _drop_stalled(visits: list[_Visit]) -> bool:
    """Give up the request whose body has stalled longest; False if none has stalled for a while."""
    now = asyncio.get_running_loop().time()
    waiting = [each for each in visits if each.deadline and now - each.last >= PATIENCE]
    if not waiting:
        return False
    longest = min(waiting, key=lambda each: each.last)
    visits.remove(longest)
    if longest.deadline:
        longest.deadline.reschedule(now)
    return True


def _replayed(parts: deque[bytearray], receive: Receive) -> Receive:
    """Like receive(), but with the body that was read before. Each part gives other requests a
    turn, because forms are parsed part by part."""

    async def replayed() -> Message:
        if not parts:
            return await receive()
        await asyncio.sleep(0)
        part = bytes(parts.popleft())
        return {"type": "http.request", "body": part, "more_body": bool(parts)}

    return replayed
