"""Connections of slow clients: deadlines for headers, for bodies and for reading answers, and a
limit per address. Needs uvicorn."""

import asyncio
from collections import defaultdict

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

from parataxis.web import network_of

HEADER_TIMEOUT = 10.0
"""Seconds in which the headers of a request must have arrived."""
BODY_TIMEOUT = 75.0
"""Seconds in which its body must have arrived; an application may be less patient."""
WRITE_TIMEOUT = 60.0
"""Seconds in which a client must take the next 64 KB of an answer."""
PER_ADDRESS = 256
"""Open connections of one address."""
_READ_SIZE = 1 << 14
"""Bytes that are read at once: a body can come in chunks of one byte, and h11 reads each chunk."""


class Connection(H11Protocol):
    """A connection with deadlines. If an address has too many, the one that has waited longest for
    the headers of a request is closed, or else the new one."""

    _by_address: dict[str, dict["Connection", None]]

    def __init_subclass__(cls) -> None:
        cls._by_address = defaultdict(dict)

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        transport.max_size = _READ_SIZE  # type: ignore[attr-defined]
        self._deadline: asyncio.TimerHandle | None = None
        self._awaited: object = None  # the request whose body has a deadline
        self._address = network_of(self.client)
        self._others = self._by_address[self._address]
        self._others[self] = None
        self._wait(HEADER_TIMEOUT)
        if len(self._others) > PER_ADDRESS:
            idle = (each for each in self._others if not each.is_answering and each is not self)
            next(idle, self).transport.abort()

    def connection_lost(self, exc: Exception | None) -> None:
        self._wait(None)
        self._others.pop(self, None)
        if not self._others:
            self._by_address.pop(self._address, None)
        super().connection_lost(exc)

    @property
    def is_answering(self) -> bool:
        """Whether a request has begun whose answer is not complete."""
        return self.cycle is not None and not self.cycle.response_complete

    def handle_events(self) -> None:
        super().handle_events()
        if not self.is_answering or self.flow.write_paused:
            return
        if self.conn.their_state is not h11.SEND_BODY:
            self._wait(None)
        elif self._awaited is not self.cycle:
            self._awaited = self.cycle
            self._wait(BODY_TIMEOUT)

    def on_response_complete(self) -> None:
        # Before the next request is read, which ends it.
        self._wait(WRITE_TIMEOUT if self.flow.write_paused else HEADER_TIMEOUT)
        super().on_response_complete()

    def pause_writing(self) -> None:
        super().pause_writing()
        self._wait(WRITE_TIMEOUT)

    def resume_writing(self) -> None:
        super().resume_writing()
        self._wait(None if self.is_answering else HEADER_TIMEOUT)

    def _wait(self, seconds: float | None) -> None:
        """Close the connection after some seconds, unless this is called again before."""
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None
        if seconds is not None and not self.transport.is_closing():
            self._deadline = self.loop.call_later(seconds, self.transport.abort)


def limited_connections() -> type[Connection]:
    """A protocol for ``uvicorn.Config(http=...)`` that counts the connections of one server."""

    class Counted(Connection):
        pass

    return Counted
