"""What an endpoint sends back."""

import json
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import pytest

from parataxis.splitters.llm.endpoint import (
    BadReplyError,
    Failure,
    complaint,
    read_completion,
    turned_away,
)
from parataxis.splitters.llm.ledger import LlmOutcome, Tokens

KEY = "sk-very-secret-0123456789"


def completion(message: object, **more: object) -> bytes:
    return json.dumps({"choices": [{"message": message, **more}]}).encode()


@pytest.mark.parametrize(
    ("content", "reply"),
    [
        (completion({"content": "Yes."}), "Yes."),
        (
            completion({"content": None, "refusal": "I will not."}),
            Failure("the language model declined to rewrite it", LlmOutcome.DECLINED),
        ),
        (
            completion({"content": "So"}, finish_reason="content_filter"),
            Failure("the language model declined to rewrite it", LlmOutcome.DECLINED),
        ),
        (
            completion({"content": " \n"}),
            Failure("the language model's answer is empty", LlmOutcome.UNREADABLE),
        ),
        (
            completion({"content": None}),
            Failure("the language model's answer is empty", LlmOutcome.UNREADABLE),
        ),
        (
            completion({"content": [{"type": "text"}]}),
            Failure("the language model's answer is empty", LlmOutcome.UNREADABLE),
        ),
        (
            completion({"content": f"Your key is {KEY}."}),
            Failure("the answer holds the key of the endpoint", LlmOutcome.UNREADABLE),
        ),
    ],
)
def test_replies_are_answers_or_reasons(content: bytes, reply: object) -> None:
    assert read_completion(content, KEY) == (reply, None)


def test_replies_may_hold_a_placeholder() -> None:
    assert read_completion(completion({"content": "none"}), "none")[0] == "none"


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"<html>", "the endpoint's answer is not JSON"),
        (b"\xff\xfe", "the endpoint's answer is not JSON"),
        (b"[" * 100_000, "the endpoint's answer is not JSON"),
        (b'{"choices": [{"mess', "the endpoint's answer is not JSON"),
        (b"[]", "the endpoint's answer is not a chat completion"),
        (b'{"choices": "none"}', "the endpoint's answer is not a chat completion"),
        (b'{"choices": []}', "the endpoint's answer has no choices"),
        (b'{"choices": [1]}', "the endpoint's answer has no choices"),
        (b'{"choices": [{}]}', "the endpoint's answer has no choices"),
    ],
)
def test_replies_that_are_none_say_so(content: bytes, reason: str) -> None:
    with pytest.raises(BadReplyError) as caught:
        read_completion(content, KEY)
    assert str(caught.value) == reason


@pytest.mark.parametrize(
    ("usage", "tokens"),
    [
        ({"prompt_tokens": 7, "completion_tokens": 3}, Tokens(7, 3)),
        ({"prompt_tokens": 7}, None),
        ({"prompt_tokens": -7, "completion_tokens": 3}, None),
        ({"prompt_tokens": "7", "completion_tokens": 3}, None),
        ({"prompt_tokens": 10**400, "completion_tokens": 3}, None),
        ({"prompt_tokens": 7, "completion_tokens": 10**9 + 1}, None),
        (None, None),
    ],
)
def test_replies_tell_tokens_or_not(usage: object, tokens: Tokens | None) -> None:
    content = json.dumps({"choices": [{"message": {"content": "Yes."}}], "usage": usage}).encode()
    assert read_completion(content, None) == ("Yes.", tokens)


@pytest.mark.parametrize(
    ("status", "retry_after", "wait", "again"),
    [
        (429, "7", 7.0, True),
        (429, "0.5", 0.5, True),
        (429, "-3", 0.0, True),
        (429, "soon", None, True),
        (429, "nan", None, True),
        (429, "1e999", None, True),
        (503, None, None, True),
        (500, "2", 2.0, True),
        (400, "2", None, False),
        (413, None, None, False),
    ],
)
def test_replies_turn_away_for_now_or_for_good(
    status: int, retry_after: str | None, wait: float | None, again: bool
) -> None:
    error = turned_away(status, retry_after, b"", KEY)
    assert (error.wait, error.again) == (wait, again)
    assert f"status {status}" in str(error)


def test_replies_may_name_a_date_to_wait_for() -> None:
    soon = format_datetime(datetime.now(UTC) + timedelta(seconds=30), usegmt=True)
    wait = turned_away(429, soon, b"", KEY).wait
    assert wait is not None
    assert 25 < wait <= 30
    assert turned_away(429, "Fri, 01 Jan 1999 00:00:00 GMT", b"", KEY).wait == 0.0


@pytest.mark.parametrize(
    ("status", "key", "words"),
    [
        (401, KEY, "refuses the key (status 401); check PARATAXIS_LLM_KEY"),
        (403, None, "refuses the key (status 403), and none is set; check"),
        (402, KEY, "requires payment"),
        (404, KEY, "has no such address or model (status 404); check it and"),
        (302, KEY, "redirects to another address (status 302), which is not followed"),
    ],
)
def test_replies_that_the_settings_are_wrong(status: int, key: str | None, words: str) -> None:
    assert words in str(complaint(status, b"", key))


@pytest.mark.parametrize("status", [400, 429, 500, 503])
def test_replies_that_the_request_is_wrong_are_no_complaint(status: int) -> None:
    assert complaint(status, b"", KEY) is None


@pytest.mark.parametrize(
    ("message", "quoted"),
    [
        ("No model\n 'x'\x1b[31m.", "(status 404: \"No model 'x' [31m.\")"),
        (f"Key {KEY} is wrong.", "(status 404);"),
        (f"Key {KEY[:7]}*** is wrong.", "(status 404);"),
        (f"Key ***{KEY[-6:]} is wrong.", "(status 404);"),
        ("x" * 1000, f'(status 404: "{"x" * 200}")'),
        (7, "(status 404);"),
    ],
)
def test_replies_are_quoted_without_the_key(message: object, quoted: str) -> None:
    content = json.dumps({"error": {"message": message}}).encode()
    assert quoted in str(complaint(404, content, KEY))
    refused = f"{turned_away(404, None, content, KEY)};"
    assert quoted in refused
