"""Settings for all tests, and a real browser for the pages of studies and of the service."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from hypothesis import settings

# How long an example takes depends on how busy the machine is, so it says nothing here.
settings.register_profile("parataxis", deadline=None)
settings.load_profile("parataxis")

CHROMIUM = Path("/usr/bin/chromium")


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    sync_api = pytest.importorskip("playwright.sync_api", reason="needs playwright")
    if not CHROMIUM.exists():
        pytest.skip("needs Chromium (Debian's package chromium)")
    with sync_api.sync_playwright() as playwright:
        running = playwright.chromium.launch(executable_path=str(CHROMIUM), args=["--no-sandbox"])
        yield running
        running.close()


class Devices:
    """Makes devices, each with cookies of its own, and notes what must never happen on them."""

    def __init__(self, browser: Any) -> None:
        self._browser = browser
        self._contexts: list[Any] = []
        self.complaints: list[str] = []

    def __call__(self, **options: Any) -> Any:
        context = self._browser.new_context(**{"locale": "en-GB", **options})
        context.set_default_timeout(15_000)
        self._contexts.append(context)
        context.add_init_script(
            "addEventListener('securitypolicyviolation',"
            " (event) => console.error('policy: ' + event.violatedDirective));"
        )
        context.on("page", self._watch)
        return context

    def _watch(self, page: Any) -> None:
        page.on("console", self._read)
        page.on("pageerror", lambda error: self.complaints.append(f"error: {error}"))
        page.on("dialog", lambda dialog: self.complaints.append(f"dialog: {dialog.message}"))
        page.on("request", self._follow)

    def _read(self, message: Any) -> None:
        if message.type in ("error", "warning"):
            self.complaints.append(f"console: {message.text}")

    def _follow(self, request: Any) -> None:
        if urlsplit(request.url).hostname not in ("127.0.0.1", None):
            self.complaints.append(f"request: {request.url}")

    def forgive(self, *parts: str) -> None:
        """Forget complaints that hold one of these, of which there must be some."""
        for part in parts:
            assert any(part in each for each in self.complaints), (part, self.complaints)
            self.complaints = [each for each in self.complaints if part not in each]

    def close(self) -> None:
        for context in self._contexts:
            context.close()


@pytest.fixture
def device(browser: Any) -> Iterator[Devices]:
    """Makes devices; at the end no page may have complained, and no request have left the host."""
    devices = Devices(browser)
    yield devices
    devices.close()
    assert devices.complaints == []
