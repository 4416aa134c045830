"""The settings of the llm splitter, read from an environment."""

import pytest

from parataxis.errors import InputError
from parataxis.splitters.llm.settings import VARIABLES, LlmSettings

LEAST = {"PARATAXIS_LLM_URL": "http://localhost:8080/v1", "PARATAXIS_LLM_MODEL": "small"}


def read(**more: str) -> LlmSettings:
    extra = {f"PARATAXIS_LLM_{name}": value for name, value in more.items()}
    return LlmSettings.from_environment({**LEAST, **extra})


def test_settings_need_only_url_and_model() -> None:
    assert read() == LlmSettings(url="http://localhost:8080/v1/chat/completions", model="small")


def test_settings_read_everything() -> None:
    assert read(
        KEY=" sk-123 \n",
        CALLS="2",
        SENTENCES="5",
        CONCURRENT="1",
        TIMEOUT="2.5",
        BUDGET="0.5",
        PRICE_IN="3",
        PRICE_OUT="15",
        TEMPERATURE="0.2",
        OPTIONS='{"seed": 7}',
    ) == LlmSettings(
        url="http://localhost:8080/v1/chat/completions",
        model="small",
        key="sk-123",
        calls=2,
        sentences=5,
        concurrent=1,
        timeout=2.5,
        budget=0.5,
        price_in=3.0,
        price_out=15.0,
        temperature=0.2,
        options={"seed": 7},
    )


@pytest.mark.parametrize(
    ("given", "used"),
    [
        ("https://example.org/v1", "https://example.org/v1/chat/completions"),
        ("https://example.org/v1/", "https://example.org/v1/chat/completions"),
        ("https://example.org/v1/chat/completions", "https://example.org/v1/chat/completions"),
        ("http://[::1]:8080", "http://[::1]:8080/chat/completions"),
        ("https://example.org/v1?x=1#top", "https://example.org/v1/chat/completions?x=1"),
    ],
)
def test_settings_complete_the_url(given: str, used: str) -> None:
    assert read(URL=given).url == used


SECRET = "sk-secret-987654321"


@pytest.mark.parametrize(
    ("more", "words"),
    [
        ({"URL": ""}, "is not configured: set PARATAXIS_LLM_URL"),
        ({"MODEL": " "}, "is not configured: set PARATAXIS_LLM_MODEL"),
        ({"URL": SECRET}, "PARATAXIS_LLM_URL must be an address"),
        ({"URL": "ftp://example.org"}, "PARATAXIS_LLM_URL must be an address"),
        ({"URL": "http://:80/v1"}, "PARATAXIS_LLM_URL must be an address"),
        ({"URL": "http://a b/v1"}, "PARATAXIS_LLM_URL must be an address"),
        ({"URL": "http://[::1"}, "PARATAXIS_LLM_URL must be an address"),
        ({"URL": f"http://me:{SECRET}@example.org"}, "must not hold a password"),
        ({"KEY": f"{SECRET}\n{SECRET}"}, "PARATAXIS_LLM_KEY holds a space or a character"),
        ({"KEY": f"{SECRET}é"}, "PARATAXIS_LLM_KEY holds a space or a character"),
        ({"CALLS": "0"}, "PARATAXIS_LLM_CALLS must be a whole number from 1 to 20"),
        ({"CALLS": "1e1"}, "PARATAXIS_LLM_CALLS must be a whole number"),
        ({"SENTENCES": "9" * 5000}, "PARATAXIS_LLM_SENTENCES must be a whole number"),
        ({"CONCURRENT": "-1"}, "PARATAXIS_LLM_CONCURRENT must be a whole number"),
        ({"TIMEOUT": "0"}, "PARATAXIS_LLM_TIMEOUT must be greater than 0"),
        ({"TIMEOUT": "inf"}, "PARATAXIS_LLM_TIMEOUT must be a number"),
        ({"BUDGET": SECRET}, "PARATAXIS_LLM_BUDGET must be a number"),
        ({"BUDGET": "1"}, "needs the prices"),
        ({"BUDGET": "1", "PRICE_IN": "1"}, "needs the prices"),
        ({"PRICE_IN": "-1"}, "PARATAXIS_LLM_PRICE_IN must be a number"),
        ({"OPTIONS": "[1]"}, "PARATAXIS_LLM_OPTIONS must be a JSON object"),
        ({"OPTIONS": "{"}, "PARATAXIS_LLM_OPTIONS must be a JSON object"),
        ({"OPTIONS": "[" * 100_000}, "PARATAXIS_LLM_OPTIONS must be a JSON object"),
        ({"OPTIONS": '{"max_tokens": true}'}, "positive whole numbers"),
        ({"OPTIONS": '{"messages": []}'}, "cannot set messages"),
        (
            {"BUDGET": "1", "PRICE_IN": "1", "PRICE_OUT": "1", "OPTIONS": '{"max_tokens": null}'},
            "needs answers of limited length",
        ),
    ],
)
def test_settings_refuse_in_one_sentence(more: dict[str, str], words: str) -> None:
    with pytest.raises(InputError) as caught:
        read(**more)
    message = str(caught.value)
    assert words in message
    assert message.endswith(".")
    assert "\n" not in message
    assert SECRET not in message


def test_settings_do_not_show_the_key() -> None:
    assert SECRET not in repr(read(KEY=SECRET))


def test_settings_options_add_replace_and_remove_fields() -> None:
    chosen = read(OPTIONS='{"max_tokens": null, "max_completion_tokens": 900, "seed": 1}')
    body = chosen.body([], 50)
    assert body == {
        "model": "small",
        "messages": [],
        "temperature": 0.0,
        "stream": False,
        "max_completion_tokens": 900,
        "seed": 1,
    }
    assert chosen.most_tokens(body) == 900
    assert read().most_tokens(read().body([], 50)) == 50


def test_settings_cost_is_by_the_million() -> None:
    assert read(PRICE_IN="2", PRICE_OUT="10").cost(1_000_000, 100_000) == 3.0
    assert read().cost(1_000_000, 100_000) == 0.0


def test_settings_variables_are_those_that_are_read() -> None:
    for name, value in {"URL": "http://other/v1", "MODEL": "large", "KEY": "sk-1"}.items():
        assert read(**{name: value}) != read()
    assert {f"PARATAXIS_LLM_{name.upper()}" for name in LlmSettings.model_fields} == set(VARIABLES)
