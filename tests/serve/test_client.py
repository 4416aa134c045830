"""The client, against a service on a port and against what is no service."""

import socket
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("httpx2", reason="needs the extra [client]")
pytest.importorskip("fastapi", reason="needs the extra [serve]")
pytest.importorskip("prometheus_client", reason="needs the extra [serve]")

from parataxis import Splitter, split
from parataxis.errors import InputError, ParataxisError, TryLaterError
from parataxis.rewrite.record import Rewrite
from parataxis.serve.client import Client

from .conftest import Held, Running, Serve, wait_for

TEXT = "The mill, which was built in 1811, burnt down.\n\n* It rained."


@pytest.fixture(scope="module")
def client() -> Iterator[Client]:
    from parataxis.serve.app import make_app
    from parataxis.serve.service import ServiceSettings

    running = Running(
        make_app(ServiceSettings(splitters=("rules", "pointer", "source"), page=False))
    )
    with Client(f"{running.url}/") as made:
        yield made
    running.stop()


def test_client_splits_a_text(client: Client) -> None:
    found = client.split(TEXT)
    assert found.splitter == "rules"
    assert found.text == split(TEXT, splitter="rules").text
    first, second = found.rewrites
    assert first.rewrite == Splitter("rules", check=True)(first.rewrite.source)
    assert (first.index, first.start, first.end) == (0, 0, 46)
    assert [each.name for each in first.patterns or ()] == ["relative clause"]
    assert first.splits == [[], ["rc"]]
    assert TEXT[second.start : second.end] == "It rained."


def test_client_splits_sentences_with_options(client: Client) -> None:
    sentences = ["The mill, which was built in 1811, burnt down.", "It rained."]
    found = client.split(sentences, splitter="pointer", strict=True, beam=2, patterns=False)
    assert found.text is None
    expected = Splitter("pointer", strict=True, beam=2).pipe(sentences)
    assert [each.rewrite for each in found.rewrites] == list(expected)
    assert found.rewrites[0].patterns is None


def test_client_streams(client: Client) -> None:
    with client.stream(TEXT, splitter="rules") as stream:
        assert (stream.sentences, stream.splitter, stream.text) == (2, "rules", None)
        found = list(stream)
    whole = client.split(TEXT, splitter="rules")
    assert [(each.index, each.rewrite) for each in found] == [
        (each.index, each.rewrite) for each in whole.rewrites
    ]
    assert stream.text == whole.text


def test_client_stream_keeps_signs_that_end_lines_elsewhere(client: Client) -> None:
    sentence = "Ann\u2028came\x0band\u0085left."
    (found,) = client.stream([sentence], splitter="source")
    assert found.rewrite.simple == (sentence,)


def test_client_checks(client: Client) -> None:
    source = "He may not go."
    rewrite = Rewrite(source=source, simple=["He may go."], splitter="mine")
    first, second = client.check([rewrite, (source, [source])])
    assert [each.message for each in first.rewrite.findings or ()] == [
        "The negation 'not' is missing."
    ]
    assert first.rewrite.splitter == "mine"
    assert second.rewrite.findings == ()


def test_client_analyses(client: Client) -> None:
    (found,) = client.analyse("It rained.")
    assert [(word.text, word.upos, word.head) for word in found.words] == [
        ("It", "PRON", 1),
        ("rained", "VERB", None),
        (".", "PUNCT", 1),
    ]
    assert (found.start, found.end) == (0, 10)
    assert client.analyse(["It rained."])[0].start is None


def test_client_tells_splitters_readability_and_readiness(client: Client) -> None:
    told = client.splitters()
    assert told.default == "rules"
    assert [each.name for each in told.splitters] == ["rules", "pointer", "source"]
    assert [each.words for each in client.readability([["It rained."], []])] == [2, 0]
    wait_for(client.is_ready)


def test_client_reads_and_writes_documents(client: Client, tmp_path: Path) -> None:
    path = tmp_path / "letter.md"
    path.write_text("# News\n\nThe mill, which was *built* in 1811, burnt down. It rained.\n")
    read = client.read_document(path)
    assert [each.text for each in read.sentences][1] == "It rained."
    rewrite = client.split([read.sentences[0].text]).rewrites[0].rewrite
    assert client.rewrite_document(path, [rewrite, None]).decode() == (
        "# News\n\nThe mill burnt down. The mill was *built* in 1811. It rained.\n"
    )
    with pytest.raises(InputError, match="Only a Word document"):
        client.rewrite_document(path, [rewrite, None], tracked=True)
    with pytest.raises(InputError, match="cannot be read: no such file"):
        client.read_document(tmp_path / "none.md")


@pytest.mark.parametrize(
    ("ask", "told"),
    [
        (lambda c: c.split(" "), 'The field "text" is empty; give at least one sentence.'),
        (lambda c: c.stream([]), 'The field "sentences" is empty; give at least one sentence.'),
        (lambda c: c.split("A.", splitter="x"), 'There is no splitter "x" here'),
        (lambda c: c.split("\ud800."), r"A text has a lone surrogate \(half a character\)."),
        (lambda c: c.split("x" * 1_000_001), "There are 1000001 characters; at most 1000000"),
    ],
)
def test_client_says_what_the_service_says(client: Client, ask: Any, told: str) -> None:
    with pytest.raises(InputError, match=told):
        ask(client)


def test_client_says_when_to_try_again(serve: Any) -> None:
    with Client(serve("source", per_minute=1).url) as client:
        client.readability([[]])
        for ask in (lambda: client.split("A."), lambda: client.stream("A.")):
            with pytest.raises(TryLaterError, match="More than 1 requests came") as caught:
                ask()
            assert 50 <= caught.value.seconds <= 60


def test_client_that_closes_a_stream_cancels_the_rest(serve: Any) -> None:
    held = Held(is_held=False)
    running = serve("source", held)
    engine = running.app.state.service.engine
    with Client(running.url) as client:
        stream = client.stream(["Ann sings."] * 5000, splitter="held")
        assert next(iter(stream)).index == 0
        held.go.clear()
        stream.close()
        wait_for(lambda: engine.waiting == 0)
        held.go.set()
    assert len(held.seen) < 5000


def test_client_a_stream_that_fails_midway_raises(serve: Any) -> None:
    sentences = [*(f"Number {n}." for n in range(6)), "A bug."]
    with Client(serve(Held(is_held=False)).url) as client:
        stream = iter(client.stream(sentences))
        assert [next(stream).index for _ in range(2)] == [0, 1]
        with pytest.raises(ParataxisError, match="Something went wrong on our side"):
            list(stream)


class Impostor:
    """Answers every request with the same bytes, once."""

    def __init__(self, answer: bytes) -> None:
        self._socket = socket.create_server(("127.0.0.1", 0))
        self._answer = answer
        self.url = f"http://127.0.0.1:{self._socket.getsockname()[1]}"
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def _run(self) -> None:
        connection, _ = self._socket.accept()
        with connection:
            connection.recv(65536)
            connection.sendall(self._answer)
            connection.shutdown(socket.SHUT_WR)
            connection.recv(65536)

    def close(self) -> None:
        self._socket.close()


OK = b"HTTP/1.1 200 OK\r\ncontent-type: application/x-ndjson\r\nconnection: close\r\n\r\n"
START = b'{"type":"start","splitter":"x","sentences":1}\n'
STRANGER = "is no Parataxis service that we know"


@pytest.mark.parametrize(
    ("answer", "told"),
    [
        (OK + b"<html>", STRANGER),
        (OK + b'{"some": "json"}\n', STRANGER),
        (b"HTTP/1.1 404 Not Found\r\ncontent-length: 4\r\n\r\nnone", STRANGER),
        (b"HTTP/1.1 502 Bad Gateway\r\ncontent-length: 0\r\n\r\n", STRANGER),
        (b"not HTTP at all\r\n\r\n", "There is no answer from http://127.0.0.1:"),
        (b"", "There is no answer from http://127.0.0.1:"),
    ],
)
def test_client_knows_what_is_no_service(answer: bytes, told: str) -> None:
    impostor = Impostor(answer)
    with Client(impostor.url) as client, pytest.raises(ParataxisError, match=told):
        client.split("A.")
    impostor.close()


@pytest.mark.parametrize(
    "answer", [OK + b"<html>\n", OK + b'{"some": "json"}\n', b"HTTP/1.1 404 No\r\n\r\nnone"]
)
def test_client_knows_what_is_no_stream(answer: bytes) -> None:
    impostor = Impostor(answer)
    with Client(impostor.url) as client, pytest.raises(ParataxisError, match=STRANGER):
        client.stream("A.")
    impostor.close()


@pytest.mark.parametrize("lines", [b"", START, START + b'{"type":"split"'])
def test_client_knows_a_stream_that_ends_too_early(lines: bytes) -> None:
    impostor = Impostor(OK + lines)
    with Client(impostor.url) as client, pytest.raises(ParataxisError, match="too early"):
        list(client.stream("A."))
    impostor.close()


def test_client_without_a_service() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
    urls = [f"http://127.0.0.1:{port}", "nowhere", "http://[", "ftp://a"]
    for url in urls:
        with Client(url) as client, pytest.raises(ParataxisError, match="There is no answer from"):
            client.splitters()


def test_client_does_not_wait_forever(serve: Any) -> None:
    held = Held()
    with Client(serve("source", held).url, timeout=0.3) as client:
        with pytest.raises(ParataxisError, match=r"said nothing for 0.3 seconds"):
            client.split("A.", splitter="held")
        with pytest.raises(ParataxisError, match=r"said nothing for 0.3 seconds"):
            list(client.stream("A.", splitter="held"))
    held.go.set()


def test_client_alternatives_and_difficulty(serve: Serve) -> None:
    source = "The mill, which was built in 1811, burnt down."
    with Client(serve("pointer").url) as client:
        found = client.alternatives(source, keep_phrases=["burnt down"])
        assert found[0].rewrite.source == source
        assert client.difficulty(source).sentences[0].words == 9


def test_client_sends_the_token(serve: Serve) -> None:
    url = serve("source", token="a-token-of-24-characters").url
    with Client(url, token="a-token-of-24-characters") as known:
        assert known.split("It rained.").text == "It rained."
    with Client(url) as unknown, pytest.raises(InputError, match="Send the token"):
        unknown.split("It rained.")
