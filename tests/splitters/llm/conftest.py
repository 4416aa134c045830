"""An endpoint on this machine that behaves, or misbehaves, as it is told."""

import json
import re
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest

KEY = "sk-very-secret-0123456789"


@dataclass(frozen=True)
class Received:
    """A request: which one it is (from 0), and what it asks for."""

    number: int
    path: str
    headers: Mapping[str, str]
    body: dict[str, Any]

    @property
    def sentences(self) -> list[str]:
        """The sentences of the last question, in order."""
        asked = [m["content"] for m in self.body["messages"] if '"sentences"' in m["content"]]
        question, _ = json.JSONDecoder().raw_decode(asked[-1])
        return [each["sentence"] for each in question["sentences"]]

    @property
    def faults(self) -> list[str]:
        """What the last message complains about."""
        return re.findall(r"^- (.*)$", self.body["messages"][-1]["content"], re.MULTILINE)


Respond = Callable[[Received, BaseHTTPRequestHandler], None]


@dataclass
class FakeEndpoint:
    """The endpoint, with all requests that it got."""

    url: str
    requests: list[Received] = field(default_factory=list)


def send(
    handler: BaseHTTPRequestHandler, content: bytes, status: int = 200, **headers: object
) -> None:
    """Send a whole response."""
    handler.send_response(status)
    for name, value in {"Content-Length": len(content), **headers}.items():
        handler.send_header(name.replace("_", "-"), str(value))
    handler.end_headers()
    handler.wfile.write(content)


def completion(text: str | None, *, used: tuple[int, int] = (100, 50), **message: object) -> bytes:
    """A chat completion in which the model wrote this."""
    choice = {"index": 0, "message": {"role": "assistant", "content": text, **message}}
    usage = {"prompt_tokens": used[0], "completion_tokens": used[1]}
    return json.dumps({"choices": [choice], "usage": usage}).encode()


def rewrites(*simple: Sequence[str]) -> str:
    """The answer of a model that does as it was told."""
    entries = [{"id": number, "simple": list(each)} for number, each in enumerate(simple, 1)]
    return json.dumps({"rewrites": entries})


@pytest.fixture
def tools() -> dict[str, Any]:
    """What tests need to write responses."""
    return {"send": send, "completion": completion, "rewrites": rewrites, "key": KEY}


@pytest.fixture
def serve(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[Respond], FakeEndpoint]]:
    """Start an endpoint whose responses are written by a function."""
    for name in ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.lower(), raising=False)
    servers: list[ThreadingHTTPServer] = []

    def start(respond: Respond) -> FakeEndpoint:
        lock = threading.Lock()

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                with lock:
                    received = Received(len(fake.requests), self.path, dict(self.headers), body)
                    fake.requests.append(received)
                # The splitter may have heard enough.
                with suppress(BrokenPipeError, ConnectionResetError):
                    respond(received, self)

            def log_message(self, format: str, *args: object) -> None:
                pass

        server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        server.daemon_threads = True
        servers.append(server)
        fake = FakeEndpoint(f"http://127.0.0.1:{server.server_address[1]}/v1")
        threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
        return fake

    yield start
    for server in servers:
        server.shutdown()
        server.server_close()
