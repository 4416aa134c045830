"""Reading what an endpoint sends back. Nothing in it is trusted, and the key gets no further."""

import json
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from math import isfinite

from parataxis.errors import InputError
from parataxis.splitters.llm.ledger import Fate, Tokens

__all__ = [
    "HELD_KEY",
    "Answer",
    "BadReplyError",
    "Failure",
    "Reply",
    "TurnedAwayError",
    "complaint",
    "holds_key",
    "read_completion",
    "turned_away",
]

_MISPLACED = frozenset([301, 302, 303, 307, 308, 401, 402, 403, 404, 405])
"""Statuses that point to a wrong address, key or model, not to a wrong request."""

_PLACEHOLDER = 8
"""Keys that are shorter stand for none, and may occur in any text ("none", "x")."""

_PART_OF_KEY = 6
_LONGEST_QUOTE = 200


@dataclass(frozen=True, slots=True)
class Answer:
    """What the model wrote."""

    text: str


@dataclass(frozen=True, slots=True)
class Failure:
    """Why there is no answer, as a clause: "the endpoint cannot be reached"."""

    reason: str
    fate: Fate = Fate.UNANSWERED


Reply = Answer | Failure

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
    return Answer(text)


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
