"""The settings of the llm splitter, read from the environment."""

import json
import os
from collections.abc import Mapping
from typing import Annotated, Any
from urllib.parse import urlsplit

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, ValidationError

from parataxis.errors import InputError

_PREFIX = "PARATAXIS_LLM_"
_PATH = "/chat/completions"
_LENGTHS = ("max_tokens", "max_completion_tokens")
"""The fields of a request that limit the tokens of its answer."""
_RESERVED = frozenset(["messages", "model", "stream", "n"])


def _url(text: str) -> str:
    """Complete the address of an endpoint to that of its chat completions."""
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


def _key(key: str | None) -> str | None:
    """Refuse a key that no header can carry, before a library quotes it in an error."""
    if key and (not (key.isascii() and key.isprintable()) or " " in key):
        raise InputError(
            "PARATAXIS_LLM_KEY holds a space or a character that no key has; copy it again."
        )
    return key


def _options(value: object) -> object:
    """Read the JSON object with more fields for each request."""
    try:
        found = json.loads(value) if isinstance(value, str) else value
    except (ValueError, RecursionError):
        found = None
    if not isinstance(found, dict) or not all(_is_length(found.get(key)) for key in _LENGTHS):
        raise InputError(
            "PARATAXIS_LLM_OPTIONS must be a JSON object, in which max_tokens and "
            "max_completion_tokens are positive whole numbers or null."
        )
    if found.keys() & _RESERVED:
        raise InputError("PARATAXIS_LLM_OPTIONS cannot set messages, model, stream or n.")
    return found


def _is_length(value: object) -> bool:
    return value is None or (isinstance(value, int) and value is not True and value > 0)


_Amount = Annotated[float, Field(ge=0, allow_inf_nan=False)]


class LlmSettings(BaseModel):
    """The settings of the llm splitter; the description of each field documents its variable.

    Prices are per million tokens; without prices, costs are unknown.
    """

    model_config = ConfigDict(frozen=True)

    url: Annotated[str, AfterValidator(_url)] = Field(
        description="the address of an OpenAI-compatible endpoint, such as "
        "`http://localhost:8080/v1`."
    )
    model: str = Field(description="the name of the model, as the endpoint knows it.")
    key: Annotated[str | None, AfterValidator(_key)] = Field(
        default=None, repr=False, description="the API key of the endpoint, if it needs one."
    )
    calls: int = Field(
        default=3, ge=1, le=20, description="how often a sentence is sent at most (3)."
    )
    sentences: int = Field(
        default=8, ge=1, le=50, description="how many sentences go into one call (8)."
    )
    concurrent: int = Field(
        default=4, ge=1, le=64, description="how many calls are made at once (4)."
    )
    timeout: float = Field(
        default=60.0,
        gt=0,
        allow_inf_nan=False,
        description="the timeout of a call in seconds (60).",
    )
    budget: _Amount | None = Field(
        default=None,
        description="how much may be spent, in the currency of the prices; unlimited if not set.",
    )
    price_in: _Amount | None = Field(
        default=None, description="the price of a million input tokens."
    )
    price_out: _Amount | None = Field(
        default=None, description="the price of a million output tokens."
    )
    temperature: _Amount = Field(default=0.0, description="the temperature of the model (0).")
    options: Annotated[dict[str, Any], BeforeValidator(_options)] = Field(
        default={},
        description="more fields for each request, as a JSON object; `null` removes a field.",
    )

    @classmethod
    def from_environment(cls, environment: Mapping[str, str] | None = None) -> "LlmSettings":
        """Read the settings; raises InputError if they are missing or invalid. No value is quoted
        in an error, since a key may have got into the wrong variable."""
        environment = os.environ if environment is None else environment
        values = {name: environment.get(_variable(name), "").strip() for name in cls.model_fields}
        for name, what in (("url", "the address of an endpoint"), ("model", "the name of a model")):
            if not values[name]:
                raise InputError(
                    f'The splitter "llm" is not configured: set {_variable(name)} to {what}.'
                )
        try:
            settings = cls.model_validate({name: each for name, each in values.items() if each})
        except ValidationError as error:
            raise InputError(_complaint(error)) from None
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
        """The limit on the tokens of the answer to a request, if it has one."""
        return max((body[name] for name in _LENGTHS if name in body), default=None)

    def cost(self, read: int, written: int) -> float:
        """The cost of so many tokens; 0 if no price is known."""
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


def _variable(field: str) -> str:
    return _PREFIX + field.upper()


VARIABLES = {
    _variable(name): f"`llm`: {field.description}"
    for name, field in LlmSettings.model_fields.items()
}
"""The environment variables of this splitter and their meanings."""


def _complaint(error: ValidationError) -> str:
    """The first error of pydantic as a sentence without the value."""
    first = error.errors(include_url=False, include_input=False)[0]
    field = str(first["loc"][0])
    if first["type"] == "greater_than":
        return f"{_variable(field)} must be greater than 0."
    if LlmSettings.model_fields[field].annotation is int:
        limits = {type(each).__name__: each for each in LlmSettings.model_fields[field].metadata}
        return f"{_variable(field)} must be a whole number from 1 to {limits['Le'].le}."
    return f"{_variable(field)} must be a number that is not negative."
