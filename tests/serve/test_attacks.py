"""Requests that are made to fill the memory, to stop the service, or to use it from elsewhere."""

import asyncio
import json
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx2
import numpy as np
import pytest
from fastapi.testclient import TestClient
from hypothesis import given
from hypothesis import strategies as st
from pydantic import TypeAdapter, ValidationError

from parataxis.checks.verifier import MOST_PIECES, OUTPUTS, Verifier, is_verifiable
from parataxis.errors import InputError, TooLongError
from parataxis.serve import middleware, models
from parataxis.serve.middleware import JsonShape, LimitRequests, RequestLimits, Room
from parataxis.serve.routes import _Pieces
from parataxis.serve.tasks import LONGEST_SENTENCE, LONGEST_WORD
from parataxis.syntax.analyser import ROLES, Analyser, Tokenized, load_analyser
from parataxis.syntax.analysis import Analysis
from parataxis.syntax.onnx import OnnxModel
from parataxis.text import readability
from parataxis.text.tokens import tokenize
from parataxis.web import connections
from parataxis.web.access import read_token

from .conftest import Ask, Held, Running, Serve, wait_for

JSON = {"content-type": "application/json"}
TOKEN = "a-token-of-24-characters"

# Before the limits ---------------------------------------------------------------


@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("split", b'{"sentences": [' + b'"",' * 3_900_000 + b'""]}'),
        ("split/stream", b'{"sentences": [' + b"0," * 1_000_000 + b"0]}"),
        ("analyse", b"{" + b'"a":0,' * 1_000_000 + b'"a":0}'),
        ("readability", b'{"texts": [' + b"[]," * 3_900_000 + b"[]]}"),
        ("check", b'{"rewrites": [' + b"0," * 1_000_000 + b"0]}"),
        ("check", b'{"rewrites": [{"source": "A.", "simple": [' + b'"",' * 3_900_000 + b'""]}]}'),
    ],
)
def test_attacks_too_many_values_are_refused_while_they_arrive(
    plain: TestClient, path: str, body: bytes
) -> None:
    read = 0

    async def receive() -> dict[str, Any]:
        nonlocal read
        part = body[read : read + 65_536]
        read += len(part)
        return {"type": "http.request", "body": part, "more_body": read < len(body)}

    status = asyncio.run(_sent(plain.app, f"/v1/{path}", receive))
    assert status == 413
    assert read < 800_000


async def _sent(app: Any, path: str, receive: Any, **headers: str) -> int:
    """Send a request without a server; the status of its answer."""
    statuses = []

    async def send(message: Any) -> None:
        statuses.extend([message["status"]] if "status" in message else [])

    named = {"host": "localhost", **JSON, **headers}
    scope = {
        "type": "http",
        "method": "POST",
        "path": path,
        "query_string": b"",
        "headers": [(name.encode(), value.encode()) for name, value in named.items()],
        "client": ("192.0.2.1", 1),
    }
    await app(scope, receive, send)
    (status,) = statuses
    return int(status)


VALUES = st.recursive(
    st.none() | st.text(max_size=5) | st.sampled_from(['"', "\\", '\\"', "[{,", "\\\\"]),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=3), inner),
    max_leaves=20,
)


@given(VALUES, st.booleans(), st.integers(1, 7))
def test_attacks_values_are_counted_in_whatever_parts_they_come(
    value: object, is_ascii: bool, size: int
) -> None:
    def count(value: object) -> tuple[int, int]:
        """The brackets and commas of a value, and its depth."""
        inner = value.values() if isinstance(value, dict) else value
        if not isinstance(value, list | dict):
            return 0, 0
        counts = [count(each) for each in inner]  # type: ignore[attr-defined]
        own = 1 + max(0, len(counts) - 1)
        return own + sum(n for n, _ in counts), 1 + max((d for _, d in counts), default=0)

    body = json.dumps(value, ensure_ascii=is_ascii).encode()
    values, depth = count(value)

    def fed(most: int, deepest: int) -> bool:
        shape = JsonShape(most, deepest)
        try:
            for start in range(0, len(body), size):
                shape.feed(body[start : start + size])
        except middleware._RefusedError:
            return False
        return True

    assert fed(values, depth)
    assert not values or not fed(values - 1, depth)
    assert not depth or not fed(values, depth - 1)


@pytest.mark.parametrize(
    ("model", "body"),
    [
        (models.CheckRequest, {"rewrites": [0] * 5000}),
        (models.WithSentences, {"sentences": [""] * 5000}),
        (models.ReadabilityRequest, {"texts": [[0] * 5000]}),
        (models.WithText, {"text": "A.", **dict.fromkeys(map(str, range(5000)), 0)}),
        (models.CheckRequest, {"rewrites": [{"source": "A.", "simple": [0] * 5000}]}),
    ],
)
def test_attacks_only_the_first_error_is_reported(model: Any, body: Any) -> None:
    with pytest.raises(ValidationError) as caught:
        TypeAdapter(model).validate_python(body)
    assert caught.value.error_count() == 1


@pytest.mark.parametrize("path", ["split", "split/stream", "analyse"])
@pytest.mark.parametrize("text", ['"' * 200_000, "a " * 100_000, "(" * 200_000])
def test_attacks_an_endless_sentence_is_not_taken_apart(
    plain: TestClient, path: str, text: str
) -> None:
    options = {} if path == "analyse" else {"splitter": "source"}
    answer = plain.post(f"/v1/{path}", json={"text": text, **options})
    assert answer.status_code == 200
    assert len(answer.content) < 4 * len(json.dumps(text)) + 10_000
    assert f"more than {LONGEST_SENTENCE:,} characters" in answer.text


def test_attacks_long_words_and_sentences_are_not_remembered(plain: TestClient) -> None:
    before = readability._remembered.cache_info().misses
    long = {"texts": [["b" * 2000, "c d " * 500]]}
    assert plain.post("/v1/readability", json=long).status_code == 200
    assert readability._remembered.cache_info().misses == before
    body = {"sentences": [f"It was {'a' * (LONGEST_WORD + 1)}."]}
    for path in ("split", "analyse"):
        assert f"{LONGEST_WORD} in one word" in plain.post(f"/v1/{path}", json=body).text


def test_attacks_lines_are_counted_before_they_are_read(ask: Ask) -> None:
    answer = ask("source", sentences=10).post("/v1/split", json={"text": "a\n" * 151})
    assert (answer.status_code, "151 lines" in answer.text) == (413, True)


# One source may have many rewrites, and the memory of the verifier grows with the square of them.
def test_attacks_many_rewrites_are_verified_in_parts() -> None:
    sizes: list[int] = []

    def model(inputs: Any) -> Any:
        pieces = inputs["pieces"].shape[1]
        sizes.append(pieces)
        return {"scores": np.zeros((1, pieces)), "faults": np.zeros((1, pieces, OUTPUTS))}

    source = " ".join(f"word{n}" for n in range(100))
    verdicts = Verifier(model)(source, [[f"{n} {source}."] for n in range(40)])
    assert len(verdicts) == 40
    assert max(sizes) <= MOST_PIECES
    assert not is_verifiable("a " * 600, ["a " * 700])
    assert is_verifiable(source, [source])


# Ten verbs in a long sentence take a hundred megabytes.
def test_attacks_the_roles_of_many_verbs_are_found_in_parts() -> None:
    analyser = load_analyser()
    sizes: list[int] = []

    def model(inputs: Any) -> Any:
        found = analyser._model(inputs)
        verbs, words, _ = found["roles"].shape
        sizes.append(verbs * words)
        return found

    text = "Ann came and " * 30 + "Ann left because Bob, who sang, had seen it."
    found = Analyser(model, analyser._labels)(text)
    assert len(found.frames) == 34
    assert max(sizes) <= ROLES < sum(sizes)
    tokens = Tokenized(text, tokenize(text), [frame.predicate for frame in found.frames])
    (whole,) = analyser.pipe_tokenized([tokens])
    assert found == whole  # at once


# One byte of this sign is a quotation mark, after which strings would count as what is outside.
@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-16-be", "utf-32"])
def test_attacks_json_is_utf8(plain: TestClient, encoding: str) -> None:
    body = '{"texts": [["\u2261 left."]' + ", []" * 200_000 + "]}"
    answer = plain.post("/v1/readability", content=body.encode(encoding), headers=JSON)
    assert answer.status_code == 400
    assert answer.json()["detail"] == "The body is not JSON in UTF-8."


# Each of the parts takes as long as the whole sentence: 150 verbs took half a minute.
def test_attacks_more_verbs_than_prose_has_are_refused() -> None:
    analyser = load_analyser()
    calls: list[int] = []

    def model(inputs: Any) -> Any:
        calls.append(1)
        return analyser._model(inputs)

    with pytest.raises(TooLongError, match=r"450 words, of which 150 are verbs"):
        Analyser(model, analyser._labels)("Ann came and " * 150)
    assert len(calls) == 1


def test_attacks_few_long_analyses_are_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    analyser = Analyser(load_analyser()._model, load_analyser()._labels)
    read: list[str] = []

    def analyse(sentence: Tokenized) -> Analysis:
        read.append(sentence.text)
        return Analysis(sentence.text, ())

    monkeypatch.setattr(analyser, "_analyse", analyse)
    for text in ("It rained {}.", "a " * 1_000 + "{}."):
        read.clear()
        for number in (*range(200), *range(200)):
            analyser(text.format(number))
        assert len(read) == (200 if len(text) < 100 else 400)


def test_attacks_models_give_back_what_a_long_sentence_took() -> None:
    model = load_analyser()._model
    assert isinstance(model, OnnxModel)
    assert not model._session.get_session_options().enable_cpu_mem_arena


def test_attacks_a_large_answer_gives_others_their_turn() -> None:
    turns, sizes = 0, []

    async def main() -> None:
        nonlocal turns

        async def other() -> None:
            nonlocal turns
            while True:
                turns += 1
                await asyncio.sleep(0)

        async def send(message: Any) -> None:
            sizes.append(len(message.get("body", b"")))

        task = asyncio.create_task(other())
        await _Pieces('{"a":[', [b"x" * 1000] * 10_000)({}, None, send)  # type: ignore[arg-type]
        task.cancel()

    asyncio.run(main())
    assert sum(sizes) == len('{"a":[]}') + 10_000 * 1001 - 1
    assert max(sizes) < 70_000
    assert turns >= len(sizes) - 2


def test_attacks_requests_that_are_too_large_together(serve: Serve) -> None:
    held = Held()
    running = serve(held, characters=100, sentences=10)
    body = {"sentences": ["a" * 100], "patterns": False, "check": False}
    room = running.app.state.service.room

    def refused(address: str) -> bool:
        answer = httpx2.post(f"{running.url}/v1/split", json=body, headers=_from(address))
        return (answer.status_code, answer.headers.get("retry-after")) == (503, "5")

    with _posted(running, [body] * 2, "192.0.2.1") as threads:
        wait_for(lambda: room.taken == 200)
        assert refused("192.0.2.1")  # which keeps nobody else from the other half
        with _posted(running, [body] * 2, "192.0.2.2") as more:
            wait_for(lambda: room.taken == 400)
            assert refused("192.0.2.3")
            threads += more
        held.go.set()
        for thread in threads:
            thread.join(20)
    wait_for(lambda: running.app.state.service.room.taken == 0)
    assert httpx2.post(f"{running.url}/v1/split", json=body).status_code == 200


def _from(address: str) -> dict[str, str]:
    """As a proxy on this machine says."""
    return {"x-forwarded-for": address}


@contextmanager
def _posted(running: Running, bodies: list[Any], by: str) -> Iterator[list[threading.Thread]]:
    def post(body: Any) -> None:
        httpx2.post(f"{running.url}/v1/split", json=body, timeout=20, headers=_from(by))

    threads = [threading.Thread(target=post, args=(body,)) for body in bodies]
    for thread in threads:
        thread.start()
    yield threads


# Slow clients ---------------------------------------------------------------

HALF_HEAD = b"GET /v1/health HTTP/1.1\r\nHost: localhost\r\n"
HALF_BODY = (
    b"POST /v1/split HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
    b'Content-Length: 100\r\n\r\n{"text"'
)


def _opened(running: Running, data: bytes, *, receive: int | None = None) -> socket.socket:
    host, _, port = running.url.removeprefix("http://").partition(":")
    made = socket.socket()
    if receive:
        made.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive)
    made.settimeout(20)
    made.connect((host, int(port)))
    made.sendall(data)
    return made


def _rest(opened: socket.socket) -> bytes:
    """What the service sends until it closes the connection."""
    found = b""
    try:
        while part := opened.recv(65_536):
            found += part
    except ConnectionResetError:
        pass
    opened.close()
    return found


@pytest.mark.parametrize("before", [b"", HALF_HEAD + b"\r\n"])
def test_attacks_headers_that_do_not_come(
    serve: Serve, monkeypatch: pytest.MonkeyPatch, before: bytes
) -> None:
    monkeypatch.setattr(connections, "HEADER_TIMEOUT", 0.2)
    running = serve("source")
    for data in (before, before + HALF_HEAD):
        assert _rest(_opened(running, data)).count(b"200 OK") == (before != b"")


@pytest.mark.parametrize("kind", [b"POST /v1/split", b"GET /v2/check"])
def test_attacks_a_body_that_comes_slowly(
    serve: Serve, monkeypatch: pytest.MonkeyPatch, kind: bytes
) -> None:
    monkeypatch.setattr(middleware, "STALL_TIMEOUT", 0.2)
    request = HALF_BODY.replace(b"POST /v1/split", kind)
    assert _rest(_opened(serve("source"), request)).startswith(b"HTTP/1.1 408")


def test_attacks_a_body_for_which_an_application_waits_forever(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async def patient(scope: Any, receive: Any, send: Any) -> None:
        while scope["type"] == "http" and (await receive()).get("more_body"):
            pass

    monkeypatch.setattr(connections, "BODY_TIMEOUT", 0.5)
    running = Running(patient)
    opened = _opened(running, HALF_BODY)
    ticks = 0
    try:
        while ticks < 200:  # a byte now and then does not help
            ticks += 1
            time.sleep(0.05)
            opened.sendall(b" ")
    except OSError:
        pass
    assert ticks < 60
    running.stop()


def test_attacks_many_half_sent_headers_make_room_for_a_whole_one(
    serve: Serve, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(connections, "PER_ADDRESS", 3)
    running = serve("source")
    waiting = [_opened(running, HALF_HEAD) for _ in range(3)]
    assert httpx2.get(f"{running.url}/v1/health").status_code == 200
    assert _rest(waiting[0]) == b""
    waiting[1].sendall(b"\r\n")
    assert waiting[1].recv(100).startswith(b"HTTP/1.1 200")
    for each in waiting[1:]:
        each.close()


def test_attacks_a_client_that_does_not_read_its_answer(
    serve: Serve, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(connections, "WRITE_TIMEOUT", 0.2)
    running = serve("source")
    body = json.dumps({"text": "a" * 900_000, "patterns": False, "check": False})
    head = HALF_BODY.partition(b"\r\n\r\n")[0].replace(b"100", str(len(body)).encode())
    opened = _opened(running, head + b"\r\n\r\n" + body.encode(), receive=4096)
    room = running.app.state.service.room
    wait_for(lambda: room.taken)
    wait_for(lambda: not room.taken)
    opened.close()


def test_attacks_half_sent_bodies_take_no_place_of_others() -> None:
    async def app(scope: Any, receive: Any, send: Any) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": b""})

    async def half() -> dict[str, Any]:
        await asyncio.sleep(1000)
        return {}

    async def whole() -> dict[str, Any]:
        return {"type": "http.request", "body": b"{}", "more_body": False}

    async def main() -> None:
        limits = RequestLimits(per_minute=1000, per_address=20, concurrent=1, values=10)
        limited = LimitRequests(app, limits=limits, room=Room(100))
        tasks = [asyncio.create_task(_sent(limited, "/", half)) for _ in range(20)]
        await asyncio.sleep(0)
        assert await _sent(limited, "/", whole) == 429
        middleware.PATIENCE, patience = 0.0, middleware.PATIENCE
        try:
            assert await _sent(limited, "/", whole) == 200  # one that has stalled gives way
        finally:
            middleware.PATIENCE = patience
        done, waiting = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        assert [task.result() for task in done] == [408]
        assert len(waiting) == 19
        for task in waiting:
            task.cancel()

    asyncio.run(main())


# Hosts, other sites and the token ---------------------------------------------------------------


@pytest.mark.parametrize(
    ("host", "status"),
    [
        ("localhost:8000", 200),
        ("LOCALHOST.", 200),
        ("page.localhost:8000", 200),
        ("127.0.0.1:8000", 200),
        ("[::1]:8000", 200),
        ("192.168.1.20", 200),
        ("split.example.org", 200),
        ("split.example.org:443", 200),
        ("evil.example", 403),
        ("localhost.evil.example", 403),
        ("127.0.0.1.evil.example", 403),
        ("evil.example:80@localhost", 403),
        ("", 403),
    ],
)
def test_attacks_a_name_that_was_bound_to_this_address(ask: Ask, host: str, status: int) -> None:
    client = ask("source", hosts=("Split.example.org",))
    for path in ("/v1/health", "/v1/splitters", "/nothing"):
        answer = client.get(path, headers={"host": host})
        assert (answer.status_code == 403) == (status == 403), path
        assert answer.headers["x-content-type-options"] == "nosniff"


@pytest.mark.parametrize(
    ("headers", "is_answered"),
    [
        ({}, True),
        ({"origin": "http://localhost"}, True),
        ({"origin": "https://split.example.org"}, True),
        ({"origin": "http://localhost:3000"}, False),
        ({"origin": "http://127.0.0.1:3000"}, False),
        ({"origin": "https://evil.example"}, False),
        ({"origin": "null"}, False),
        ({"origin": "moz-extension://1b2c"}, True),
        ({"sec-fetch-site": "same-origin"}, True),
        ({"sec-fetch-site": "none"}, True),
        ({"sec-fetch-site": "same-site"}, False),
        ({"sec-fetch-site": "cross-site"}, False),
        ({"sec-fetch-site": "cross-site", "sec-fetch-mode": "navigate"}, False),
        ({"sec-fetch-site": "same-origin", "origin": "https://behind.a.proxy"}, True),
    ],
)
def test_attacks_pages_of_other_sites(ask: Ask, headers: dict[str, str], is_answered: bool) -> None:
    client = ask("source", hosts=("127.0.0.1", "split.example.org"))
    file = {"file": ("a.txt", b"Ann sings.")}
    answers = [
        client.post("/v1/documents", files=file, headers=headers),
        client.post("/v1/readability", json={"texts": [["A."]]}, headers=headers),
        client.post("/nothing", headers=headers),
    ]
    assert [answer.status_code for answer in answers] == (
        [200, 200, 404] if is_answered else [403, 403, 403]
    )


def test_attacks_a_link_from_another_site_opens_the_page(ask: Ask) -> None:
    client = ask("source")
    link = {"sec-fetch-site": "cross-site", "sec-fetch-mode": "navigate"}
    assert client.get("/v1/health", headers=link).status_code == 200
    picture = {"sec-fetch-site": "cross-site", "sec-fetch-mode": "no-cors"}
    assert client.get("/v1/health", headers=picture).status_code == 403
    assert client.get("/v2/check?text=A.", headers=link).status_code == 403  # which is work


@pytest.mark.parametrize(
    ("header", "status"),
    [
        (f"Bearer {TOKEN}", 200),
        (f"bearer {TOKEN}", 200),
        (f"Bearer {TOKEN}x", 401),
        (f"Bearer {TOKEN[:-1]}", 401),
        (f"Basic {TOKEN}", 401),
        ("Bearer é", 401),
        (None, 401),
    ],
)
def test_attacks_without_the_token(ask: Ask, header: str | None, status: int) -> None:
    client = ask("source", token=TOKEN)
    headers = {"authorization": header.encode()} if header else {}
    body = {"texts": [["A."]]}
    answer = client.post("/v1/readability", json=body, headers=headers)  # type: ignore[arg-type]
    assert answer.status_code == status
    assert client.get("/metrics", headers=headers).status_code == status  # type: ignore[arg-type]
    assert client.get("/v1/health").status_code == 200
    if status == 401:
        assert answer.headers["www-authenticate"] == "Bearer"
        assert TOKEN not in answer.text


@pytest.mark.parametrize(
    ("content", "complaint"),
    [
        (b"short\n", "fewer than 16 characters"),
        (b"", "fewer than 16 characters"),
        (b"two words and more of them", "one token"),
        (b"two-lines-are-too\nmany-for-us", "one token"),
        ("ein-schlüssel-mit-umlaut".encode(), "one token"),
    ],
)
def test_attacks_a_token_that_is_none(tmp_path: Path, content: bytes, complaint: str) -> None:
    path = tmp_path / "token"
    path.write_bytes(content)
    with pytest.raises(InputError, match=complaint):
        read_token(path)
    path.write_text(f"{TOKEN}\n")
    assert read_token(path) == TOKEN


# Documents ---------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "data"),
    [
        ("a.html", b"<!--" * 500_000),
        ("a.html", b"<p>a</p>" * 400_000),
        ("a.html", b"<![" * 100),
        ("a.md", b"a\n\n" * 400_000),
        ("a.txt", b"a " * 700_000),
    ],
)
def test_attacks_documents_are_refused_before_they_are_read(
    plain: TestClient, name: str, data: bytes
) -> None:
    answer = plain.post("/v1/documents", files={"file": (name, data)})
    assert answer.status_code in (413, 422)
    assert "takes too long" not in answer.text


def test_attacks_a_control_character_in_a_rewrite_of_a_word_document(
    plain: TestClient,
) -> None:
    docx = pytest.importorskip("docx", reason="needs python-docx")
    from io import BytesIO

    made, stream = docx.Document(), BytesIO()
    made.add_paragraph("Ann sings, and Bob left.")
    made.save(stream)
    rewrite = {"source": "Ann sings, and Bob left.", "simple": ["Ann\x01 sings.", "Bob left."]}
    for each in (
        {**rewrite, "splitter": "mine"},
        {**rewrite, "simple": ["Ann sings.", "Bob left."], "splitter": "\x1f"},
    ):
        answer = plain.post(
            "/v1/documents/rewritten",
            files={"file": ("a.docx", stream.getvalue())},
            data={"rewrites": json.dumps([each]), "tracked": "true"},
        )
        assert answer.status_code == 422
        assert answer.json()["detail"].startswith("Rewrite 1 has a control character")


def test_attacks_media_types_that_only_look_like_json(plain: TestClient) -> None:
    for kind in ("text/json", "json", "application/jsonp", "application/x-json", ""):
        answer = plain.post("/v1/split", content=b'{"text": "A."}', headers={"content-type": kind})
        assert answer.status_code == 415, kind


def test_attacks_a_text_in_the_address_is_counted_too(ask: Ask) -> None:
    client = ask("source", per_minute=2)
    asked = [client.get("/v2/check", params={"text": "A.", "language": "de"}) for _ in range(3)]
    assert [answer.status_code for answer in asked] == [200, 200, 429]
    assert client.get("/v1/health").status_code == 200
