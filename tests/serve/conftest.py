"""A service, asked as a program would ask it."""

import threading
import time
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import pytest

pytest.importorskip("fastapi", reason="needs the extra [serve]")
pytest.importorskip("prometheus_client", reason="needs the extra [serve]")
pytest.importorskip("httpx2", reason="needs httpx2, which [dev] has")

import uvicorn
from fastapi.testclient import TestClient

from parataxis.rewrite.compose import left_whole
from parataxis.rewrite.record import Rewrite
from parataxis.serve.app import make_app
from parataxis.serve.service import ServiceSettings
from parataxis.web.connections import limited_connections


class Held:
    """A splitter that holds each batch until it is let go, and notes what it was given."""

    name = "held"
    summary = "Waits."

    def __init__(self, *, is_held: bool = True) -> None:
        self.batches: list[list[str]] = []
        self.go = threading.Event()
        if not is_held:
            self.go.set()

    def __call__(self, sentence: str) -> Rewrite:
        return next(self.pipe([sentence]))

    def pipe(self, sentences: Iterable[str]) -> Iterator[Rewrite]:
        batch = list(sentences)
        self.batches.append(batch)
        self.go.wait(20)
        for sentence in batch:
            if "bug" in sentence:
                raise RuntimeError("the secret of the server")
            yield left_whole(sentence, splitter=self.name)

    @property
    def seen(self) -> list[str]:
        return [sentence for batch in self.batches for sentence in batch]


class Running:
    """A service on a port."""

    def __init__(self, app: Any) -> None:
        self.app = app
        self._server = uvicorn.Server(
            uvicorn.Config(
                app,
                host="127.0.0.1",
                port=0,
                log_level="error",
                timeout_graceful_shutdown=1,
                http=limited_connections(),
            )
        )
        self._thread = threading.Thread(target=self._server.run, daemon=True)
        self._thread.start()
        wait_for(lambda: self._server.started)
        port = self._server.servers[0].sockets[0].getsockname()[1]
        self.url = f"http://127.0.0.1:{port}"

    def stop(self) -> None:
        self._server.should_exit = True
        self._thread.join(20)


def wait_for(condition: Callable[[], object], seconds: float = 20) -> None:
    """Wait until something is true, and fail where it does not become true."""
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "this never came"
        time.sleep(0.005)


URL = "http://localhost"
Ask = Callable[..., TestClient]


@pytest.fixture
def ask() -> Iterator[Ask]:
    """Makes a service with some settings and gives a client of it."""
    made: list[TestClient] = []

    def make(*splitters: Any, **settings: Any) -> TestClient:
        given = {"splitters": splitters} if splitters else {}
        app = make_app(ServiceSettings(page=False, **given, **settings))
        made.append(TestClient(app, URL, raise_server_exceptions=False))
        return made[-1]

    yield make
    for client in made:
        client.app.state.service.close()  # type: ignore[attr-defined]


@pytest.fixture(scope="session")
def plain() -> Iterator[TestClient]:
    """A service with the usual settings."""
    app = make_app(ServiceSettings(page=False))
    with TestClient(app, URL, raise_server_exceptions=False) as client:
        yield client


Serve = Callable[..., Running]


@pytest.fixture
def serve() -> Iterator[Serve]:
    """Runs a service with some settings on a port."""
    made: list[Running] = []

    def make(*splitters: Any, **settings: Any) -> Running:
        given = {"splitters": splitters} if splitters else {}
        made.append(Running(make_app(ServiceSettings(page=False, **given, **settings))))
        return made[-1]

    yield make
    for running in made:
        running.stop()
