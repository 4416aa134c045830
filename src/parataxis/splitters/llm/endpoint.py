"""Asking an OpenAI-compatible endpoint: several calls at once, within limits of time, size and
money."""

import json
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from time import monotonic
from typing import TYPE_CHECKING

from parataxis.errors import InputError, ParataxisError
from parataxis.splitters.llm.ledger import Fate, Ledger, Tokens
from parataxis.splitters.llm.prompt import Messages
from parataxis.splitters.llm.replies import (
    BadReplyError,
    Failure,
    Reply,
    TurnedAwayError,
    complaint,
    read_completion,
    turned_away,
)
from parataxis.splitters.llm.settings import Settings

if TYPE_CHECKING:
    import httpx2

__all__ = ["Ask", "Call", "Endpoint"]

LARGEST = 1 << 20
"""Bytes of the longest answer that is read."""

TRIES = 3
"""How often a request is sent that is turned away for now, or does not reach the endpoint."""

FIRST_WAIT = 0.5
"""Seconds before the second try; before each later one it is twice as long."""

LONGEST_WAIT = 60.0
"""Seconds that are waited at most where the endpoint asks for a wait."""

TOO_MANY = 3
"""After so many failures in a row the endpoint is left alone for a while."""

PAUSE = 300.0
"""Seconds for which it is left alone."""


@dataclass(frozen=True, slots=True)
class Call:
    """What is to be asked; the answer has at most ``longest`` tokens."""

    messages: Messages
    longest: int


Ask = Callable[[Sequence[Call]], list[Reply]]


class Endpoint:
    """The endpoint of some settings. It may be used by several threads."""

    def __init__(
        self,
        settings: Settings,
        ledger: Ledger,
        *,
        sleep: Callable[[float], Awaitable[None]] | None = None,
        clock: Callable[[], float] = monotonic,
    ) -> None:
        self._settings, self._ledger = settings, ledger
        self._sleep, self._clock = sleep, clock
        self._has_answered = False
        self._failures = 0
        self._closed_until = -float("inf")

    @contextmanager
    def line(self) -> Iterator[Ask]:
        """A function that makes calls, several at once, and returns what came of each, in order.

        It raises InputError where the endpoint refuses the key or is not where it should be, as
        long as it has never answered.
        """
        try:
            import httpx2
            from anyio.from_thread import start_blocking_portal
        except ImportError as error:
            raise ParataxisError(
                "The splitter \"llm\" needs httpx2; install it with: pip install 'parataxis[llm]'."
            ) from error
        # A compressed answer could grow beyond all limits when it is unpacked.
        headers = {"Content-Type": "application/json", "Accept-Encoding": "identity"}
        if self._settings.key:
            headers["Authorization"] = f"Bearer {self._settings.key}"
        # The loop has a thread of its own, since the caller may be running in a loop already.
        with start_blocking_portal() as portal:
            client = httpx2.AsyncClient(headers=headers, timeout=None, follow_redirects=False)
            with portal.wrap_async_context_manager(client):
                yield lambda calls: portal.call(self._ask_all, client, calls)

    async def _ask_all(self, client: "httpx2.AsyncClient", calls: Sequence[Call]) -> list[Reply]:
        replies: dict[int, Reply] = {}
        while waiting := [place for place in range(len(calls)) if place not in replies]:
            # The first call goes alone: whether address and key are right must be told once only.
            some = waiting if self._has_answered else waiting[:1]
            made = await self._ask_some(client, {place: calls[place] for place in some})
            if not made:
                refused = Failure("the next call could pass the budget", Fate.OVER_BUDGET)
                made = dict.fromkeys(waiting, refused)
            replies |= made
        return [replies[place] for place in range(len(calls))]

    async def _ask_some(
        self, client: "httpx2.AsyncClient", calls: Mapping[int, Call]
    ) -> dict[int, Reply]:
        """What came of those calls for which there was money beside that for the others."""
        import anyio

        limiter = anyio.CapacityLimiter(self._settings.concurrent)
        replies: dict[int, Reply] = {}
        errors: list[ParataxisError] = []

        async def make(place: int, body: bytes, most: Tokens) -> None:
            async with limiter:
                try:
                    replies[place] = await self._ask(client, body, most)
                except ParataxisError as error:  # a group of tasks would hide it in another one
                    errors.append(error)

        async with anyio.create_task_group() as group:
            for place, call in calls.items():
                fields = self._settings.body(call.messages, call.longest)
                body = json.dumps(fields, ensure_ascii=False).encode()
                # A token has at least one byte, so there are fewer of them than bytes.
                most = Tokens(len(body), self._settings.most_tokens(fields) or call.longest)
                if self._ledger.put_aside(most):
                    group.start_soon(make, place, body, most)
        if errors:
            raise errors[0]
        return replies

    async def _ask(self, client: "httpx2.AsyncClient", body: bytes, most: Tokens) -> Reply:
        used: Tokens | None = None
        try:
            if self._clock() < self._closed_until:
                return Failure(f"the endpoint failed {TOO_MANY} times in a row and is left alone")
            reply, told = await self._tried(client, body)
            used = told or most
        except TurnedAwayError as error:
            return self._failed(error, Fate.UNANSWERED if error.again else Fate.TURNED_DOWN)
        except BadReplyError as error:
            used = most
            return self._failed(error, Fate.UNANSWERED)
        finally:
            self._ledger.settle(most, used)
        self._has_answered, self._failures = True, 0
        return reply

    def _failed(self, error: Exception, fate: Fate) -> Failure:
        self._failures += 1
        if self._failures >= TOO_MANY:
            self._closed_until, self._failures = self._clock() + PAUSE, 0
        return Failure(str(error), fate)

    async def _tried(
        self, client: "httpx2.AsyncClient", body: bytes
    ) -> tuple[Reply, Tokens | None]:
        """What a request brings, sent again a few times where it is turned away for now."""
        import anyio

        sleep = self._sleep or anyio.sleep
        for attempt in range(TRIES - 1):
            try:
                return await self._sent(client, body)
            except TurnedAwayError as error:
                if not error.again:
                    raise
                wait = FIRST_WAIT * 2**attempt if error.wait is None else error.wait
            if wait > LONGEST_WAIT:
                reason = f"the endpoint asks to wait for {wait:.0f} seconds"
                raise TurnedAwayError(reason, again=True)
            await sleep(wait)
        return await self._sent(client, body)

    async def _sent(self, client: "httpx2.AsyncClient", body: bytes) -> tuple[Reply, Tokens | None]:
        import anyio
        import httpx2

        seconds = self._settings.timeout
        # The errors of libraries are not passed on: they hold the request, and so the key.
        try:
            with anyio.fail_after(seconds):
                response, content = await self._received(client, body)
        except TimeoutError:
            raise BadReplyError(f"the endpoint did not answer within {seconds:g} s") from None
        except httpx2.ConnectError:
            raise TurnedAwayError("the endpoint cannot be reached", again=True) from None
        except httpx2.InvalidURL:
            raise InputError("PARATAXIS_LLM_URL is not the address of an endpoint.") from None
        except httpx2.HTTPError:
            raise BadReplyError("the endpoint broke off its answer") from None
        if response.status_code == 200:
            return read_completion(content, self._settings.key)
        error = complaint(response.status_code, content, self._settings.key)
        if error and not self._has_answered:
            raise error
        retry_after = response.headers.get("retry-after")
        raise turned_away(response.status_code, retry_after, content, self._settings.key)

    async def _received(
        self, client: "httpx2.AsyncClient", body: bytes
    ) -> "tuple[httpx2.Response, bytes]":
        content = bytearray()
        async with client.stream("POST", self._settings.url, content=body) as response:
            async for chunk in response.aiter_raw():
                content += chunk
                if len(content) > LARGEST:
                    raise BadReplyError(f"the endpoint's answer is longer than {LARGEST:,} bytes")
            return response, bytes(content)
