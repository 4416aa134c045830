"""Reading what an endpoint sends back. Nothing in it is trusted, and the key gets no further."""

import json
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from math import isfinite
from time import monotonic
from typing import TYPE_CHECKING

from parataxis.errors import InputError, ParataxisError
from parataxis.splitters.llm.prompt import Messages
from parataxis.splitters.llm.settings import Fate, Ledger, LlmSettings, Tokens

if TYPE_CHECKING:
    import httpx2


_MISPLACED = frozenset([301, 302, 303, 307, 308, 401, 402, 403, 404, 405])
"""Statuses that point to a wrong address, key or model, not to a wrong request."""

_PLACEHOLDER = 8
"""Keys that are shorter stand for none, and may occur in any text ("none", "x")."""

_PART_OF_KEY = 6
_LONGEST_QUOTE = 200


@dataclass(frozen=True, slots=True)
class Completion:
    """What the model wrote."""

    text: str


@dataclass(frozen=True, slots=True)
class Failure:
    """Why there is no answer, as a clause: "the endpoint cannot be reached"."""

    reason: str
    fate: Fate = Fate.UNANSWERED


Reply = Completion | Failure

HELD_KEY = Failure("the answer holds the key of the endpoint", Fate.UNREADABLE)


class BadReplyError(Exception):
    """An endpoint took a request on, and perhaps money for it, but sent nothing of use."""


class TurnedAwayError(Exception):
    """An endpoint did not take a request on; ``again`` says that it may do so after a ``wait``."""

    def __init__(self, reason: str, *, wait: float | None = None, again: bool = False) -> None:
        super().__init__(reason)
        self.wait, self.again = wait, again


def turned_away(
    status: int, retry_after: str | None, content: bytes, key: str | None
) -> TurnedAwayError:
    """What a status other than 200 means for a request."""
    if status == 429:
        reason = "the endpoint takes no more requests for now (status 429)"
    elif status >= 500:
        reason = f"the endpoint failed (status {status})"
    else:
        quote = _quote(content, key)
        return TurnedAwayError(f"the endpoint turned the request down (status {status}{quote})")
    return TurnedAwayError(reason, wait=_seconds(retry_after), again=True)


def complaint(status: int, content: bytes, key: str | None) -> InputError | None:
    """The error for a status that means that the settings are wrong; None for another one."""
    if status not in _MISPLACED:
        return None
    match status:
        case 401 | 403:
            missing = "" if key else ", and none is set"
            return InputError(
                f"The endpoint of PARATAXIS_LLM_URL refuses the key (status {status}){missing}; "
                "check PARATAXIS_LLM_KEY."
            )
        case 402:
            return InputError(
                "The endpoint of PARATAXIS_LLM_URL wants to be paid first (status 402); see to "
                "your account there."
            )
        case 404 | 405:
            return InputError(
                "The endpoint of PARATAXIS_LLM_URL has no such address or model (status "
                f"{status}{_quote(content, key)}); check it and PARATAXIS_LLM_MODEL."
            )
    return InputError(
        f"PARATAXIS_LLM_URL leads on to another address (status {status}), which is not followed "
        "because the key would go there; set it to the last address."
    )


def read_completion(content: bytes, key: str | None) -> tuple[Reply, Tokens | None]:
    """What the model wrote, or why it wrote nothing, and the tokens this took if they are told."""
    try:
        completion = json.loads(content)
    except (ValueError, RecursionError):
        raise BadReplyError("the endpoint's answer is not JSON") from None
    if not isinstance(completion, dict) or not isinstance(completion.get("choices"), list):
        raise BadReplyError("the endpoint's answer is not a chat completion")
    choice = completion["choices"][0] if completion["choices"] else None
    choice = choice if isinstance(choice, dict) else {}
    message = choice.get("message")
    if not isinstance(message, dict):
        raise BadReplyError("the endpoint's answer has no choices")
    is_filtered = choice.get("finish_reason") == "content_filter"
    return _reply(message, key, is_filtered=is_filtered), _tokens(completion.get("usage"))


def _reply(message: dict[str, object], key: str | None, *, is_filtered: bool) -> Reply:
    text = message.get("content")
    if is_filtered or message.get("refusal"):
        return Failure("the language model declined to rewrite it", Fate.DECLINED)
    if not isinstance(text, str) or not text.strip():
        return Failure("the language model's answer is empty", Fate.UNREADABLE)
    if holds_key(text, key):
        return HELD_KEY
    return Completion(text)


def holds_key(text: str, key: str | None) -> bool:
    """Whether a text holds the key, which must get into no record."""
    if not key or len(key) < _PLACEHOLDER:
        return False
    return key.casefold() in text.casefold()


def _tokens(usage: object) -> Tokens | None:
    if not isinstance(usage, dict):
        return None
    read, written = usage.get("prompt_tokens"), usage.get("completion_tokens")
    if not (isinstance(read, int) and isinstance(written, int) and min(read, written) >= 0):
        return None
    return Tokens(read, written)


def _quote(content: bytes, key: str | None) -> str:
    """What an endpoint says about an error, unless that could tell the key."""
    try:
        message = json.loads(content)["error"]["message"]
    except (ValueError, RecursionError, LookupError, TypeError):
        return ""
    if not isinstance(message, str) or _tells(message, key):
        return ""
    shown = " ".join("".join(c if c.isprintable() else " " for c in message).split())
    return f': "{shown[:_LONGEST_QUOTE]}"' if shown else ""


def _tells(text: str, key: str | None) -> bool:
    """Whether a text holds so much of the key that it should not be shown."""
    if not key:
        return False
    starts = range(len(key) - _PART_OF_KEY + 1)
    return any(key[start : start + _PART_OF_KEY] in text for start in starts)


def _seconds(retry_after: str | None) -> float | None:
    """The wait that a Retry-After header asks for, in seconds or until a date."""
    if not retry_after:
        return None
    try:
        seconds = float(retry_after)
    except ValueError:
        try:
            until = parsedate_to_datetime(retry_after)
        except ValueError:
            return None
        seconds = (until.replace(tzinfo=until.tzinfo or UTC) - datetime.now(UTC)).total_seconds()
    return max(0.0, seconds) if isfinite(seconds) else None


# Asking an OpenAI-compatible endpoint: several calls at once, within limits of time, size and
# money.

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
        settings: LlmSettings,
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
