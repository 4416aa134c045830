"""The service on a real server that can be made slow or cut off, and writers with a browser."""

import asyncio
import os
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("fastapi", reason="needs the extra [serve]")
pytest.importorskip("uvicorn", reason="needs the extra [serve]")
pytest.importorskip("prometheus_client", reason="needs the extra [serve]")
pytest.importorskip("httpx2", reason="needs httpx2, which [dev] has")
pytest.importorskip("docx", reason="needs python-docx, which [dev] has")

import uvicorn
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from parataxis.serve.app import make_app
from parataxis.serve.service import ServiceSettings

PICTURES = os.environ.get("PARATAXIS_PICTURES")
"""The folder that pictures of the page are written to, where somebody wants them."""


class Trouble:
    """Stands before the service. Streams can be slowed down, cut off after some lines, or be others
    than the service would send."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app
        self.reset()

    def reset(self) -> None:
        """No trouble."""
        self.pause = 0.0
        self.cut_after: int | None = None
        self.instead: list[bytes] = []

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if not scope.get("path", "").endswith("/split/stream"):
            await self._app(scope, receive, send)
            return
        if self.instead:
            await self._send_instead(send)
            return
        sent = 0

        async def troubled(message: Message) -> None:
            nonlocal sent
            if message["type"] != "http.response.body":
                await send(message)
                return
            for line in message.get("body", b"").splitlines(keepends=True):
                if sent == self.cut_after:
                    self.cut_after = None
                    raise ConnectionError("cut off")
                await asyncio.sleep(self.pause)
                await send({"type": "http.response.body", "body": line, "more_body": True})
                sent += 1
            if not message.get("more_body"):
                await send({"type": "http.response.body", "body": b""})

        await self._app(scope, receive, troubled)

    async def _send_instead(self, send: Send) -> None:
        headers = [(b"content-type", b"application/x-ndjson")]
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        for chunk in self.instead:
            await asyncio.sleep(self.pause)
            await send({"type": "http.response.body", "body": chunk, "more_body": True})
        await send({"type": "http.response.body", "body": b""})


class Server:
    """A service at a port of its own."""

    def __init__(self, settings: ServiceSettings) -> None:
        app = make_app(settings)
        self.service = app.state.service
        self.trouble = Trouble(app)
        config = uvicorn.Config(
            self.trouble, port=0, log_level="critical", timeout_graceful_shutdown=1
        )
        self._server = uvicorn.Server(config)
        self._thread = threading.Thread(target=self._server.run)
        self._thread.start()
        while not self._server.started:
            time.sleep(0.02)
        port = self._server.servers[0].sockets[0].getsockname()[1]
        self.url = f"http://127.0.0.1:{port}/"

    def close(self) -> None:
        self._server.should_exit = True
        self._thread.join(20)


@pytest.fixture(scope="session")
def running() -> Iterator[Server]:
    server = Server(ServiceSettings())
    service = server.service
    for _ in range(1200):  # the models are loaded in the background
        if service.is_ready or service.problem:
            break
        time.sleep(0.05)
    yield server
    server.close()


@pytest.fixture
def server(running: Server) -> Iterator[Server]:
    """The service, without trouble."""
    yield running
    running.trouble.reset()


class Writer:
    """Somebody at the page."""

    def __init__(self, page: Any) -> None:
        self.page = page

    def split(self, text: str, splitter: str = "rules", *, wait: bool = True) -> None:
        """Paste a text and have it split."""
        self.page.get_by_label("Your text").fill(text)
        self.choose(splitter)
        self.page.get_by_role("button", name="Split", exact=True).click()
        if wait:
            self.wait()

    def open(self, path: Path, splitter: str = "rules") -> None:
        """Choose a file."""
        self.choose(splitter)
        self.page.locator("#file").set_input_files(path)
        self.wait()

    def choose(self, splitter: str) -> None:
        self.page.locator("#splitter option").first.wait_for(state="attached")
        self.page.get_by_label("Splitter", exact=True).select_option(splitter)

    def wait(self) -> None:
        """Until all is done and drawn; a file that is still being read has no rows yet."""
        running = self.page.locator("#running")
        running.wait_for(state="hidden")
        self.page.locator("#feed article.dressed").first.wait_for()
        running.wait_for(state="hidden")

    def row(self, number: int) -> Any:
        return self.page.locator("#feed article").nth(number)

    def simple(self, number: int) -> list[str]:
        """The simple sentences of a row, as they are shown."""
        return self.row(number).locator(".simple .words").all_inner_texts()

    def lit(self) -> str:
        """The source words that are lit."""
        return " ".join(self.page.locator(".source .lit").all_inner_texts())

    def hears(self, text: str) -> None:
        """A short message is shown, and read out."""
        self.page.locator("#toast", has_text=text).wait_for()
        assert self.page.locator("#announcer").inner_text() == text

    def act(self, number: int, name: str) -> None:
        self.row(number).get_by_role("button", name=name, exact=True).click()

    def keep(self) -> None:
        """Keep what was typed; the page may have to ask for its checks first."""
        self.page.get_by_role("button", name="Keep").click()
        self.page.get_by_label("Your rewrite").wait_for(state="detached")

    def download(self, kind: str, folder: Path) -> Path:
        """Take the result away as a file."""
        self.page.get_by_role("button", name="Download", exact=True).click()
        with self.page.expect_download() as waiting:
            self.page.locator(f"[data-format={kind}]").click()
        path = folder / waiting.value.suggested_filename
        waiting.value.save_as(path)
        return path


@pytest.fixture
def writer(server: Server, device: Any) -> Callable[..., Writer]:
    """Sits somebody down at the page, on a device of its own."""

    def make(**options: Any) -> Writer:
        usual = {"viewport": {"width": 1280, "height": 900}, "reduced_motion": "reduce"}
        page = device(**{**usual, **options}).new_page()
        page.goto(server.url)
        return Writer(page)

    return make


@pytest.fixture
def picture() -> Callable[..., None]:
    """Writes a picture of the page for the documentation, where pictures are wanted."""

    def take(page: Any, name: str, **options: Any) -> None:
        if PICTURES:
            page.screenshot(path=Path(PICTURES) / f"workbench-{name}.png", **options)

    return take
