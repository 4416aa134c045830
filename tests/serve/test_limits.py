"""Each limit, and each refusal in one sentence."""

import json
import threading
from typing import Any

import httpx2
import pytest
from fastapi.testclient import TestClient

from parataxis.serve import middleware

from .conftest import URL, Ask, Held, Serve, wait_for

JSON = {"content-type": "application/json"}
EITHER = 'Give an object with either "text" or "sentences".'
SURROGATE = "has a lone surrogate (half a character); leave it out."


@pytest.mark.parametrize("path", ["/v1/split", "/v1/split/stream"])
@pytest.mark.parametrize(
    ("body", "status", "detail"),
    [
        ({}, 422, EITHER),
        ([], 422, EITHER),
        ("text", 422, EITHER),
        ({"text": "A.", "sentences": ["B."]}, 422, EITHER),
        ({"text": ""}, 422, 'The field "text" is empty; give at least one sentence.'),
        ({"text": " \n\x1c"}, 422, 'The field "text" is empty; give at least one sentence.'),
        ({"text": 3}, 422, 'The field "text": input should be a valid string.'),
        ({"sentences": []}, 422, 'The field "sentences" is empty; give at least one sentence.'),
        (
            {"sentences": ["A.", " "]},
            422,
            'The field "sentences.1" is empty; give at least one sentence.',
        ),
        ({"sentences": "A."}, 422, 'The field "sentences": input should be a valid list.'),
        (
            {"text": "A.", "strict": "yes"},
            422,
            'The field "strict": input should be a valid boolean.',
        ),
        (
            {"text": "A.", "beam": 9},
            422,
            'The field "beam": input should be less than or equal to 8.',
        ),
        ({"text": "A.", "beam": 2.5}, 422, 'The field "beam": input should be a valid integer.'),
        ({"text": "A.", "size": 2}, 422, 'The field "size" is not known; leave it out.'),
        (
            {"text": "A.", "splitter": "rulez"},
            422,
            'There is no splitter "rulez" here; there are: pointer, rules, source.',
        ),
        (
            {"text": "A.", "splitter": "seq2seq:/etc"},
            422,
            'There is no splitter "seq2seq:/etc" here; there are: pointer, rules, source.',
        ),
        (
            {"text": "A.", "splitter": "rules", "beam": 2},
            422,
            'The splitter "rules" follows no beam; leave the beam out or choose another splitter.',
        ),
    ],
)
def test_limits_what_is_wrong_is_told_in_one_sentence(
    plain: TestClient, path: str, body: Any, status: int, detail: str
) -> None:
    answer = plain.post(path, json=body)
    assert (answer.status_code, answer.json()) == (status, {"detail": detail})


@pytest.mark.parametrize(
    ("content", "status", "detail"),
    [
        (b'{"text": "A', 400, "The body is no JSON."),
        (b"", 422, "The body is missing."),
        (b"\xff\xfe", 400, "The body is no JSON."),
        (b"[" * 100, 400, "The body is nested too deeply."),
        (b"[" * 100_000, 413, "The body has more than 80008 values."),
        (b'{"text": "\\ud800 is half."}', 422, f'The field "text" {SURROGATE}'),
        (b'{"sentences": ["A.", "\\udc00"]}', 422, f'The field "sentences.1" {SURROGATE}'),
        (b'{"text": "A.", "beam": NaN}', 422, 'The field "beam": input should be a valid integer.'),
    ],
)
def test_limits_bytes_that_are_no_request(
    plain: TestClient, content: bytes, status: int, detail: str
) -> None:
    answer = plain.post("/v1/split", content=content, headers=JSON)
    assert (answer.status_code, answer.json()) == (status, {"detail": detail})


def test_limits_json_must_be_sent_as_such(plain: TestClient) -> None:
    """A page of another site can send a form, but no JSON without asking the service first."""
    answer = plain.post(
        "/v1/split", content=b'{"text": "A."}', headers={"content-type": "text/plain"}
    )
    assert answer.status_code == 415
    assert answer.json()["detail"] == 'Send JSON, with the header "Content-Type: application/json".'


@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("/v1/split", {"text": "Ann sings. " * 10, "splitter": "source"}),
        ("/v1/split/stream", {"sentences": ["Ann sings."] * 10, "splitter": "source"}),
        ("/v1/analyse", {"text": "Ann sings. " * 10}),
        ("/v1/check", {"rewrites": [{"source": "Ann sings.", "simple": ["Ann sings."]}] * 10}),
        ("/v1/readability", {"texts": [["Ann sings."] * 5] * 2}),
    ],
)
def test_limits_characters_and_sentences_of_a_request(
    ask: Ask, path: str, body: dict[str, Any]
) -> None:
    answer = ask(sentences=9).post(path, json=body)
    assert answer.status_code == 413
    what = "rewrites" if path == "/v1/check" else "sentences"
    assert answer.json()["detail"] == f"There are 10 {what}; at most 9 are taken at once."
    answer = ask(characters=90).post(path, json=body)
    assert answer.status_code == 413
    assert answer.json()["detail"].endswith(" characters; at most 90 are taken at once.")


def test_limits_what_is_just_within_them_is_taken(ask: Ask) -> None:
    client = ask(sentences=10, characters=100)
    body = {"sentences": ["Ann sings."] * 10, "splitter": "source", "patterns": False}
    assert client.post("/v1/split", json=body).status_code == 200


@pytest.mark.parametrize("is_declared", [True, False])
def test_limits_a_huge_body_is_not_read(ask: Ask, is_declared: bool) -> None:
    client = ask(characters=100)
    sent = 0

    def parts() -> Any:
        nonlocal sent
        for _ in range(100):
            sent += 10_000
            yield b" " * 10_000

    content = b" " * 1_000_000 if is_declared else parts()
    answer = client.post("/v1/split", content=content, headers=JSON)
    assert (answer.status_code, answer.json()) == (413, {"detail": "This is too large."})
    assert answer.headers["x-content-type-options"] == "nosniff"


def test_limits_requests_of_one_address_in_a_minute(ask: Ask) -> None:
    client = ask("source", per_minute=3)
    body = {"texts": [["Ann sings."]]}
    assert [client.post("/v1/readability", json=body).status_code for _ in range(4)] == [
        200,
        200,
        200,
        429,
    ]
    refused = client.post("/v1/readability", json=body)
    seconds = int(refused.headers["retry-after"])
    assert 50 <= seconds <= 60
    assert refused.json()["detail"] == (
        f"More than 3 requests came from your address within a minute; try again in {seconds} s."
    )
    assert refused.headers["content-security-policy"].startswith("default-src 'none'")
    assert client.get("/v1/health").status_code == 200  # who only looks is not counted
    other = TestClient(client.app, URL, client=("192.0.2.7", 1))
    assert other.post("/v1/readability", json=body).status_code == 200


def test_limits_an_ipv6_subscriber_is_one_address(ask: Ask) -> None:
    app = ask("source", per_minute=1).app
    body = {"texts": [["Ann sings."]]}
    ends = ["2001:db8::1", "2001:db8::2:0:0:1", "2001:db8:0:1::1"]
    statuses = [
        TestClient(app, URL, client=(end, 1)).post("/v1/readability", json=body).status_code
        for end in ends
    ]
    assert statuses == [200, 429, 200]


def test_limits_requests_at_the_same_time_and_sentences_that_wait(serve: Serve) -> None:
    held = Held()
    running = serve("source", held, concurrent=3, queue=40)
    engine = running.app.state.service.engine

    def post(number: int) -> httpx2.Response:
        body = {"sentences": ["Ann sings."] * number, "splitter": "held", "patterns": False}
        return httpx2.post(f"{running.url}/v1/split", json=body, timeout=20)

    threads = [threading.Thread(target=post, args=(number,)) for number in (1, 30)]
    for thread in threads:
        thread.start()
        wait_for(lambda: held.batches)
    wait_for(lambda: engine.waiting == 30)
    full = post(11)
    assert full.status_code == 503
    assert full.json()["detail"].startswith("The service is busy; try again in ")
    assert int(full.headers["retry-after"]) >= 1
    threads.append(threading.Thread(target=post, args=(10,)))
    threads[-1].start()
    wait_for(lambda: engine.waiting == 40)
    many = post(1)
    assert (many.status_code, many.headers["retry-after"]) == (503, "1")
    assert many.json() == {"detail": "The service is busy; try again in 1 s."}
    held.go.set()
    for thread in threads:
        thread.join(20)
    assert post(1).status_code == 200
    assert len(held.seen) == 42


def test_limits_a_body_that_does_not_come(serve: Serve, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(middleware, "BODY_TIMEOUT", 0.3)
    never = threading.Event()

    def parts() -> Any:
        yield b'{"text"'
        never.wait(1)
        yield b': "A."}'

    url = serve("source").url
    answer = httpx2.post(f"{url}/v1/split", content=parts(), headers=JSON, timeout=10)
    never.set()
    assert (answer.status_code, answer.json()) == (408, {"detail": "The body came too slowly."})


@pytest.mark.parametrize(
    ("method", "path", "status"),
    [
        ("GET", "/v1/split", 405),
        ("GET", "/nothing", 404),
        ("POST", "/v1/split/", 404),
        ("GET", "/docs", 404),
        ("DELETE", "/v1/documents", 405),
    ],
)
def test_limits_what_there_is_not(plain: TestClient, method: str, path: str, status: int) -> None:
    answer = plain.request(method, path)
    assert answer.status_code == status
    assert json.loads(answer.text)["detail"].endswith(".")
    assert answer.headers["referrer-policy"] == "no-referrer"
