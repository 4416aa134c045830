"""Which endpoint is asked, for which model, and within which limits: read from the environment."""

import json
import math
import os
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from threading import Lock
from typing import Any, NamedTuple
from urllib.parse import urlsplit

from parataxis.errors import InputError

_PATH = "/chat/completions"
_LENGTHS = ("max_tokens", "max_completion_tokens")
"""The fields of a request that limit the tokens of its answer."""

VARIABLES = {
    "PARATAXIS_LLM_URL": "`llm`: the address of an OpenAI-compatible endpoint, such as "
    "`http://localhost:8080/v1`.",
    "PARATAXIS_LLM_MODEL": "`llm`: the name of the model, as the endpoint knows it.",
    "PARATAXIS_LLM_KEY": "`llm`: the key of the endpoint, if it wants one.",
    "PARATAXIS_LLM_CALLS": "`llm`: how often a sentence is sent at most (3).",
    "PARATAXIS_LLM_SENTENCES": "`llm`: how many sentences go into one call (8).",
    "PARATAXIS_LLM_CONCURRENT": "`llm`: how many calls are made at once (4).",
    "PARATAXIS_LLM_TIMEOUT": "`llm`: how many seconds a call may take (60).",
    "PARATAXIS_LLM_BUDGET": "`llm`: how much may be spent, in the money of the prices; without it, "
    "anything.",
    "PARATAXIS_LLM_PRICE_IN": "`llm`: the price of a million tokens that are read.",
    "PARATAXIS_LLM_PRICE_OUT": "`llm`: the price of a million tokens that are written.",
    "PARATAXIS_LLM_TEMPERATURE": "`llm`: the temperature of the model (0).",
    "PARATAXIS_LLM_OPTIONS": "`llm`: more fields of each request, as a JSON object; `null` leaves "
    "a field out.",
}
"""The environment variables of this splitter and what they mean, with what holds without them."""


@dataclass(frozen=True)
class LlmSettings:
    """All that the environment says. Prices are for a million tokens; without a price, nothing is
    known about costs."""

    url: str
    model: str
    key: str | None = field(default=None, repr=False)
    calls: int = 3
    sentences: int = 8
    concurrent: int = 4
    timeout: float = 60.0
    budget: float | None = None
    price_in: float | None = None
    price_out: float | None = None
    temperature: float = 0.0
    options: Mapping[str, Any] = field(default_factory=dict)

    @classmethod
    def from_environment(cls, environment: Mapping[str, str] | None = None) -> "LlmSettings":
        """The settings; InputError, in one sentence, where they are missing or make no sense."""
        environment = os.environ if environment is None else environment
        read = _Reader(environment)
        settings = cls(
            url=_url(read.text("URL")),
            model=read.text("MODEL"),
            key=_key(environment.get("PARATAXIS_LLM_KEY", "")),
            calls=read.whole("CALLS", cls.calls, most=20),
            sentences=read.whole("SENTENCES", cls.sentences, most=50),
            concurrent=read.whole("CONCURRENT", cls.concurrent, most=64),
            timeout=read.positive("TIMEOUT", cls.timeout),
            budget=read.amount("BUDGET"),
            price_in=read.amount("PRICE_IN"),
            price_out=read.amount("PRICE_OUT"),
            temperature=read.amount("TEMPERATURE") or 0.0,
            options=read.options("OPTIONS"),
        )
        settings._require_prices()
        return settings

    def body(self, messages: list[dict[str, str]], longest: int) -> dict[str, Any]:
        """The body of a request whose answer has at most ``longest`` tokens."""
        body = {
            "model": self.model,
            "messages": messages,
            "temperature": self.temperature,
            "max_tokens": longest,
            "stream": False,
            **self.options,
        }
        return {name: value for name, value in body.items() if value is not None}

    def most_tokens(self, body: Mapping[str, Any]) -> int | None:
        """How many tokens the answer to a request has at most, if it says so."""
        return max((body[name] for name in _LENGTHS if name in body), default=None)

    def cost(self, read: int, written: int) -> float:
        """What so many tokens cost; nothing, where no price is known."""
        return (read * (self.price_in or 0) + written * (self.price_out or 0)) / 1e6

    def _require_prices(self) -> None:
        if self.budget is None:
            return
        if self.price_in is None or self.price_out is None:
            raise InputError(
                "PARATAXIS_LLM_BUDGET needs the prices of a million tokens; set "
                "PARATAXIS_LLM_PRICE_IN and PARATAXIS_LLM_PRICE_OUT."
            )
        if self.most_tokens(self.body([], 1)) is None:
            raise InputError(
                "PARATAXIS_LLM_BUDGET needs answers of limited length; give max_tokens or "
                "max_completion_tokens in PARATAXIS_LLM_OPTIONS."
            )


class _Reader:
    """Reads variables by the part of their names behind ``PARATAXIS_LLM_``. No value is repeated in
    an error: what was meant to be a key may have got into another variable."""

    def __init__(self, environment: Mapping[str, str]) -> None:
        self._environment = environment

    def text(self, name: str) -> str:
        value = self._value(name)
        if not value:
            raise InputError(
                f'The splitter "llm" is not configured: set PARATAXIS_LLM_{name} to '
                + ("the address of an endpoint." if name == "URL" else "the name of a model.")
            )
        return value

    def whole(self, name: str, default: int, *, most: int) -> int:
        value = self._value(name)
        if not value:
            return default
        if not (value.isascii() and value.isdecimal() and 1 <= int(value[:9]) <= most):
            raise InputError(f"PARATAXIS_LLM_{name} must be a whole number from 1 to {most}.")
        return int(value)

    def amount(self, name: str) -> float | None:
        value = self._value(name)
        if not value:
            return None
        number = _number(value)
        if number is None or number < 0:
            raise InputError(f"PARATAXIS_LLM_{name} must be a number that is not negative.")
        return number

    def positive(self, name: str, default: float) -> float:
        number = self.amount(name)
        if number == 0:
            raise InputError(f"PARATAXIS_LLM_{name} must be greater than 0.")
        return default if number is None else number

    def options(self, name: str) -> dict[str, Any]:
        value = self._value(name)
        try:
            found = json.loads(value or "{}")
        except (ValueError, RecursionError):
            found = None
        if not isinstance(found, dict) or not all(_is_length(found.get(key)) for key in _LENGTHS):
            raise InputError(
                f"PARATAXIS_LLM_{name} must be a JSON object, in which max_tokens and "
                "max_completion_tokens are positive whole numbers or null."
            )
        if found.keys() & {"messages", "model", "stream", "n"}:
            raise InputError(f"PARATAXIS_LLM_{name} cannot set messages, model, stream or n.")
        return found

    def _value(self, name: str) -> str:
        return self._environment.get(f"PARATAXIS_LLM_{name}", "").strip()


def _number(text: str) -> float | None:
    try:
        number = float(text)
    except ValueError:
        return None
    return number if math.isfinite(number) else None


def _is_length(value: object) -> bool:
    return value is None or (isinstance(value, int) and value is not True and value > 0)


def _url(text: str) -> str:
    """The address to which requests go: that of the endpoint or of its chat completions."""
    try:
        parts = urlsplit(text)
        is_good = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        is_good = False
    if not is_good or not text.isascii() or not text.isprintable() or " " in text:
        raise InputError(
            "PARATAXIS_LLM_URL must be an address such as https://example.org/v1, without spaces."
        )
    if "@" in parts.netloc:
        raise InputError("PARATAXIS_LLM_URL must not hold a password; set PARATAXIS_LLM_KEY.")
    path = parts.path.rstrip("/")
    return parts._replace(path=path if path.endswith(_PATH) else path + _PATH, fragment="").geturl()


def _key(text: str) -> str | None:
    """The key, which goes into a header: what cannot stand there is refused before a library
    complains about it and repeats it."""
    key = text.strip()
    if not (key.isascii() and key.isprintable()) or " " in key:
        raise InputError(
            "PARATAXIS_LLM_KEY holds a space or a character that no key has; copy it again."
        )
    return key or None


# What has been spent and done: calls, tokens, money, and whose rewrites came out.


class Tokens(NamedTuple):
    """The tokens that a call reads and writes."""

    read: int
    written: int


class Fate(StrEnum):
    """Who wrote a rewrite, or why it was not the language model."""

    SPLIT = "split by the model"
    WHOLE = "left whole by the model"
    FAULTED = "faulted by the checks"
    DECLINED = "declined by the model"
    UNREADABLE = "answered in a way that cannot be read"
    UNANSWERED = "not answered by the endpoint"
    TURNED_DOWN = "turned down by the endpoint"
    OVER_BUDGET = "beyond the budget"
    NOT_SENT = "not sent: too long, or without words"


_BY_MODEL = (Fate.SPLIT, Fate.WHOLE)


class Ledger:
    """Counts for as long as a splitter lives, whoever uses it; a budget holds for all of them.

    Before a call, the most that it can cost is put aside; afterwards that is replaced by what it
    has cost. So a call that could pass the budget is never made.
    """

    def __init__(self, settings: LlmSettings) -> None:
        self._settings = settings
        self._lock = Lock()
        self._fates: Counter[Fate] = Counter()
        self._put_aside = 0.0
        self.calls = 0
        self.tokens = Tokens(0, 0)

    @property
    def spent(self) -> float:
        """What the calls have cost until now."""
        return self._settings.cost(*self.tokens)

    def put_aside(self, most: Tokens) -> bool:
        """Reserve what a call costs at most; False where that could pass the budget."""
        cost = self._settings.cost(*most)
        budget = self._settings.budget
        with self._lock:
            if budget is not None and self.spent + self._put_aside + cost > budget:
                return False
            self._put_aside += cost
            return True

    def settle(self, most: Tokens, used: Tokens | None) -> None:
        """Book a call for which ``most`` was put aside: what it used, or None if it never took
        place."""
        with self._lock:
            self._put_aside -= self._settings.cost(*most)
            if used is not None:
                self.calls += 1
                self.tokens = Tokens(
                    self.tokens.read + used.read, self.tokens.written + used.written
                )

    def count(self, fate: Fate) -> None:
        """Book a rewrite."""
        with self._lock:
            self._fates[fate] += 1

    def report(self) -> str | None:
        """All of it in one sentence; None where nothing was asked for."""
        total = self._fates.total()
        if not total:
            return None
        split, whole = self._fates[Fate.SPLIT], self._fates[Fate.WHOLE]
        others = [f"{n} {why}" for why, n in self._fates.items() if why not in _BY_MODEL]
        reasons = f" ({', '.join(others)})" if others else ""
        return (
            f"llm made {_counted(self.calls, 'call')} ({self.tokens.read:,} tokens in, "
            f"{self.tokens.written:,} out){self._money()}; of {_counted(total, 'sentence')} the "
            f"language model split {split:,} and left {whole:,} whole, and the pointer model wrote "
            f"{total - split - whole:,}{reasons}."
        )

    def _money(self) -> str:
        if self._settings.price_in is None and self._settings.price_out is None:
            return ""
        budget = self._settings.budget
        of = "" if budget is None else f" of a budget of {budget:g}"
        return f" at a cost of {self.spent:.4f}{of}"


def _counted(number: int, noun: str) -> str:
    return f"{number:,} {noun}" + ("" if number == 1 else "s")
