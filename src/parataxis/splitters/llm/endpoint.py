"""Calls to an OpenAI-compatible endpoint, several at once, with limits on time, size and money.

Nothing that the endpoint sends is trusted, and the API key appears in no error or record.
"""

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
from parataxis.splitters.llm.ledger import Ledger, LlmOutcome, Tokens
from parataxis.splitters.llm.prompt import Messages
from parataxis.splitters.llm.settings import LlmSettings

if TYPE_CHECKING:
    import httpx2

_PLACEHOLDER = 8
"""Shorter keys are placeholders, which may occur in any text ("none", "x")."""

_PART_OF_KEY = 6
_LONGEST_QUOTE = 200


LARGEST = 1 << 20
"""The largest answer that is read, in bytes."""

_MOST_TOKENS = 10**9
"""The most tokens of a call that are believed; no model reads so many."""

TRIES = 3
"""How often a request is sent if the endpoint refuses it for now or cannot be reached."""

FIRST_WAIT = 0.5
"""Seconds before the first retry; the back-off doubles with each further one."""

LONGEST_WAIT = 60.0
"""The longest Retry-After, in seconds, that is respected; a longer one is a failure."""

TOO_MANY = 3
"""After so many failures in a row no requests are sent for a while."""

PAUSE = 300.0
"""Seconds for which no requests are sent then."""


@dataclass(frozen=True, slots=True)
class Call:
    """The messages of a request; the answer has at most ``longest`` tokens."""

    messages: Messages
    longest: int


@dataclass(frozen=True, slots=True)
class Failure:
    """Why there is no answer, as a clause: "the endpoint cannot be reached"."""

    reason: str
    outcome: LlmOutcome = LlmOutcome.UNANSWERED


Reply = str | Failure
"""What the model wrote, or why there is no answer."""

Ask = Callable[[Sequence[Call]], list[Reply]]

HELD_KEY = Failure("the answer holds the key of the endpoint", LlmOutcome.UNREADABLE)


class BadReplyError(Exception):
    """The endpoint accepted a request, and may charge for it, but sent no usable answer."""


class TurnedAwayError(Exception):
    """The endpoint refused a request; ``again`` says that it may be retried after a ``wait``."""

    def __init__(self, reason: str, *, wait: float | None = None, again: bool = False) -> None:
        super().__init__(reason)
        self.wait, self.again = wait, again


def turned_away(
    status: int, retry_after: str | None, content: bytes, key: str | None
) -> TurnedAwayError:
    """The error for a request that was answered with another status than 200."""
    if status == 429:
        reason = "the endpoint takes no more requests for now (status 429)"
    elif status >= 500:
        reason = f"the endpoint failed (status {status})"
    else:
        quote = _quote(content, key)
        return TurnedAwayError(f"the endpoint turned the request down (status {status}{quote})")
    return TurnedAwayError(reason, wait=_seconds(retry_after), again=True)


def complaint(status: int, content: bytes, key: str | None) -> InputError | None:
    """The error if a status means that the settings are wrong."""
    endpoint = "The endpoint of PARATAXIS_LLM_URL"
    match status:
        case 401 | 403:
            missing = "" if key else ", and none is set"
            reason = f"{endpoint} refuses the key (status {status}){missing}; "
            return InputError(reason + "check PARATAXIS_LLM_KEY.")
        case 402:
            reason = f"{endpoint} requires payment (status 402); "
            return InputError(reason + "check your account there.")
        case 404 | 405:
            quote = _quote(content, key)
            reason = f"{endpoint} has no such address or model (status {status}{quote}); "
            return InputError(reason + "check it and PARATAXIS_LLM_MODEL.")
        case 301 | 302 | 303 | 307 | 308:
            reason = f"PARATAXIS_LLM_URL redirects to another address (status {status}), "
            remedy = "which is not followed because the key would go there; set it to the last one."
            return InputError(reason + remedy)
    return None


def read_completion(content: bytes, key: str | None) -> tuple[Reply, Tokens | None]:
    """The reply in a chat completion, and the tokens that it took if they are reported."""
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
        return Failure("the language model declined to rewrite it", LlmOutcome.DECLINED)
    if not isinstance(text, str) or not text.strip():
        return Failure("the language model's answer is empty", LlmOutcome.UNREADABLE)
    return HELD_KEY if holds_key(text, key) else text


def holds_key(text: str, key: str | None) -> bool:
    """Whether a text holds the key, which must not get into a record."""
    if not key or len(key) < _PLACEHOLDER:
        return False
    return key.casefold() in text.casefold()


def _tokens(usage: object) -> Tokens | None:
    if not isinstance(usage, dict):
        return None
    read, written = usage.get("prompt_tokens"), usage.get("completion_tokens")
    if not (isinstance(read, int) and isinstance(written, int)):
        return None
    if min(read, written) < 0 or max(read, written) > _MOST_TOKENS:
        return None
    return Tokens(read, written)


def _quote(content: bytes, key: str | None) -> str:
    """The endpoint's error message, unless it could reveal the key."""
    try:
        message = json.loads(content)["error"]["message"]
    except (ValueError, RecursionError, LookupError, TypeError):
        return ""
    if not isinstance(message, str) or _reveals(message, key):
        return ""
    shown = " ".join("".join(c if c.isprintable() else " " for c in message).split())
    return f': "{shown[:_LONGEST_QUOTE]}"' if shown else ""


def _reveals(text: str, key: str | None) -> bool:
    """Whether a text holds a part of the key that is long enough to matter."""
    if not key:
        return False
    starts = range(len(key) - _PART_OF_KEY + 1)
    return any(key[start : start + _PART_OF_KEY] in text for start in starts)


def _seconds(retry_after: str | None) -> float | None:
    """The wait of a Retry-After header, which gives seconds or a date."""
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


class Endpoint:
    """Sends calls to the endpoint of the settings; threads can share it."""

    def __init__(
        self,
        settings: LlmSettings,
        ledger: Ledger,
        *,
        sleep: Callable[[float], Awaitable[None]] | None = None,
        clock: Callable[[], float] = monotonic,
    ) -> None:
        self.settings, self.ledger = settings, ledger
        self._sleep, self._clock = sleep, clock
        self._has_answered = False
        self._failures = 0
        self._closed_until = -float("inf")

    @contextmanager
    def line(self) -> Iterator[Ask]:
        """A function that makes calls, several at once, and returns their replies in order.

        It raises InputError if the endpoint refuses the key or the address is wrong, unless the
        endpoint has answered before.
        """
        try:
            import httpx2
            from anyio.from_thread import start_blocking_portal
        except ImportError as error:
            raise ParataxisError(
                "The splitter \"llm\" needs httpx2; install it with: pip install 'parataxis[llm]'."
            ) from error
        # A compressed answer could exceed every limit when it is unpacked.
        headers = {"Content-Type": "application/json", "Accept-Encoding": "identity"}
        if self.settings.key:
            headers["Authorization"] = f"Bearer {self.settings.key}"
        # The event loop runs in its own thread, since the caller may be inside a loop already.
        with start_blocking_portal() as portal:
            client = httpx2.AsyncClient(headers=headers, timeout=None, follow_redirects=False)
            with portal.wrap_async_context_manager(client):
                yield lambda calls: portal.call(self._ask_all, client, calls)

    async def _ask_all(self, client: "httpx2.AsyncClient", calls: Sequence[Call]) -> list[Reply]:
        replies: dict[int, Reply] = {}
        while waiting := [place for place in range(len(calls)) if place not in replies]:
            # The first call goes alone, so that a wrong address or key is reported only once.
            some = waiting if self._has_answered else waiting[:1]
            made = await self._ask_some(client, {place: calls[place] for place in some})
            if not made:
                refused = Failure("the next call could pass the budget", LlmOutcome.OVER_BUDGET)
                made = dict.fromkeys(waiting, refused)
            replies |= made
        return [replies[place] for place in range(len(calls))]

    async def _ask_some(
        self, client: "httpx2.AsyncClient", calls: Mapping[int, Call]
    ) -> dict[int, Reply]:
        """The replies to those calls that fit into the budget together."""
        import anyio

        limiter = anyio.CapacityLimiter(self.settings.concurrent)
        replies: dict[int, Reply] = {}
        errors: list[ParataxisError] = []

        async def make(place: int, body: bytes, most: Tokens) -> None:
            async with limiter:
                try:
                    replies[place] = await self._ask(client, body, most)
                except ParataxisError as error:  # a task group would wrap it in an ExceptionGroup
                    errors.append(error)

        async with anyio.create_task_group() as group:
            for place, call in calls.items():
                fields = self.settings.body(call.messages, call.longest)
                body = json.dumps(fields, ensure_ascii=False).encode()
                # A token has at least one byte, so there are fewer of them than bytes.
                most = Tokens(len(body), self.settings.most_tokens(fields) or call.longest)
                if self.ledger.reserve(most):
                    group.start_soon(make, place, body, most)
        if errors:
            raise errors[0]
        return replies

    async def _ask(self, client: "httpx2.AsyncClient", body: bytes, most: Tokens) -> Reply:
        used: Tokens | None = None
        try:
            if self._clock() < self._closed_until:
                return Failure(f"the endpoint failed {TOO_MANY} times in a row and is left alone")
            reply, reported = await self._tried(client, body)
            used = reported or most
        except TurnedAwayError as error:
            return self._failed(
                error, LlmOutcome.UNANSWERED if error.again else LlmOutcome.TURNED_DOWN
            )
        except BadReplyError as error:
            used = most
            return self._failed(error, LlmOutcome.UNANSWERED)
        finally:
            self.ledger.settle(most, used)
        self._has_answered, self._failures = True, 0
        return reply

    def _failed(self, error: Exception, outcome: LlmOutcome) -> Failure:
        self._failures += 1
        if self._failures >= TOO_MANY:
            self._closed_until, self._failures = self._clock() + PAUSE, 0
        return Failure(str(error), outcome)

    async def _tried(
        self, client: "httpx2.AsyncClient", body: bytes
    ) -> tuple[Reply, Tokens | None]:
        """Send a request, with retries if it is refused for now."""
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

        seconds = self.settings.timeout
        # Errors of the library are not passed on: they hold the request, and so the key.
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
            return read_completion(content, self.settings.key)
        error = complaint(response.status_code, content, self.settings.key)
        if error and not self._has_answered:
            raise error
        retry_after = response.headers.get("retry-after")
        raise turned_away(response.status_code, retry_after, content, self.settings.key)

    async def _received(
        self, client: "httpx2.AsyncClient", body: bytes
    ) -> "tuple[httpx2.Response, bytes]":
        content = bytearray()
        async with client.stream("POST", self.settings.url, content=body) as response:
            async for chunk in response.aiter_raw():
                content += chunk
                if len(content) > LARGEST:
                    raise BadReplyError(f"the endpoint's answer is longer than {LARGEST:,} bytes")
            return response, bytes(content)
