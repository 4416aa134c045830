"""What the service and the studies share: security headers, body limits and rate limits."""

import ipaddress
import re
import threading
import time
from collections import defaultdict, deque
from collections.abc import Callable

from starlette.datastructures import Headers, MutableHeaders
from starlette.exceptions import HTTPException
from starlette.responses import PlainTextResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

_POLICY = {
    "default-src": "'none'",
    "script-src": "'self'",
    "style-src": "'self'",
    "img-src": "'self'",
    "connect-src": "'self'",
    "form-action": "'self'",
    "base-uri": "'none'",
    "frame-ancestors": "'none'",
}


def _policy(**changes: str) -> str:
    named = {name.replace("_", "-"): value for name, value in changes.items()}
    return "; ".join(f"{name} {value}" for name, value in (_POLICY | named).items())


_HEADERS = {
    "content-security-policy": _policy(),
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "permissions-policy": "camera=(), geolocation=(), microphone=()",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
}
_SECURE = "max-age=31536000"
_STATIC = "/static/"


class _TooLargeError(HTTPException):
    """The body is larger than the limit."""


class Guard:
    """Sets the security headers of every answer, and refuses a body larger than ``largest`` bytes,
    or what this returns for a path; ``refuse`` makes the answer to it."""

    def __init__(
        self,
        app: ASGIApp,
        largest: int | Callable[[str], int],
        *,
        secure: bool,
        refuse: Callable[[str, int], Response] = PlainTextResponse,
    ) -> None:
        self._app = app
        self._largest = largest
        self._secure = secure
        self._refuse = refuse

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        begun = False
        seen = 0
        largest = self._largest(scope["path"]) if callable(self._largest) else self._largest
        too_large = _TooLargeError(413, "This is too large.")

        async def guarded(message: Message) -> None:
            nonlocal begun
            if message["type"] == "http.response.start":
                begun = True
                add_headers(MutableHeaders(scope=message), scope["path"], secure=self._secure)
            await send(message)

        async def counted() -> Message:
            nonlocal seen
            message = await receive()
            seen += len(message.get("body", b""))
            if seen > largest:
                raise too_large
            return message

        try:
            declared = Headers(scope=scope).get("content-length", "0")
            if not re.fullmatch("[0-9]{1,12}", declared) or int(declared) > largest:
                raise too_large
            await self._app(scope, counted, guarded)
        except _TooLargeError:
            if begun:
                raise
            await self._refuse(too_large.detail, 413)(scope, receive, guarded)


def add_headers(headers: MutableHeaders, path: str, *, secure: bool) -> None:
    """Set the headers that every answer needs."""
    for name, value in _HEADERS.items():
        headers.setdefault(name, value)
    if secure:
        headers.setdefault("strict-transport-security", _SECURE)
    if not path.startswith(_STATIC):
        headers.setdefault("cache-control", "no-store")


def allow_frame(headers: MutableHeaders, where: str) -> None:
    """Let another site show a page in a frame and receive its form; only for pages without a
    session."""
    headers["content-security-policy"] = _policy(frame_ancestors=where, form_action=where)


def network_of(client: tuple[str, int] | None) -> str:
    """The IPv4 address, or the /64 network of an IPv6 address, from which one subscriber can
    choose addresses freely.

    >>> network_of(("::ffff:192.0.2.1", 80)), network_of(("2001:db8::1", 80)), network_of(None)
    ('192.0.2.1', '2001:db8::/64', '')
    """
    host = client[0] if client else ""
    try:
        found = ipaddress.ip_address(host)
    except ValueError:
        return host
    found = getattr(found, "ipv4_mapped", None) or found
    return str(found if found.version == 4 else ipaddress.ip_network((found, 64), strict=False))


class Throttle:
    """A rate limit: at most ``times`` events per key within a sliding window of ``seconds``. It
    counts within one process."""

    def __init__(
        self, times: int, seconds: float, *, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._times = times
        self._seconds = seconds
        self._clock = clock
        self._events: dict[str, deque[float]] = defaultdict(deque)
        self._cleared = clock()
        self._turn = threading.Lock()

    def wait(self, key: str) -> float:
        """Seconds until the next event is allowed; 0 means now."""
        with self._turn:
            now = self._forget(key)
            events = self._events.get(key, ())
            is_free = len(events) < self._times
            return 0.0 if is_free else max(0.0, events[-self._times] + self._seconds - now)

    def count(self, key: str) -> None:
        """Count an event."""
        with self._turn:
            now = self._forget(key)
            self._events[key].append(now)

    def forgive(self, key: str) -> None:
        """Forget the events of a key."""
        with self._turn:
            self._events.pop(key, None)

    def _forget(self, key: str) -> float:
        """Drop expired events: of this key now, of all keys once per window."""
        now = self._clock()
        is_due = now - self._cleared >= self._seconds
        for each in list(self._events) if is_due else (key,):
            events = self._events.get(each)
            while events and events[0] <= now - self._seconds:
                events.popleft()
            if not events:
                self._events.pop(each, None)
        if is_due:
            self._cleared = now
        return now
