"""`parataxis serve`."""

import socket
import subprocess
import sys
from typing import Any

import pytest

pytest.importorskip("prometheus_client", reason="needs the extra [serve]")
pytest.importorskip("httpx2", reason="needs httpx2, which [dev] has")

import httpx2
import uvicorn

from parataxis.cli.main import main
from parataxis.serve.service import ServiceSettings


@pytest.fixture
def served(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """What would be served, instead of serving it."""
    found: list[Any] = []
    monkeypatch.setattr(uvicorn.Server, "run", lambda server: found.append(server.config))
    return found


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        return int(taken.getsockname()[1])


def test_serve_without_options_has_the_usual_settings(served: list[Any]) -> None:
    assert main(["serve", "--port", str(free_port())]) == 0
    assert served[0].app.state.service.settings == ServiceSettings(hosts=("127.0.0.1",))


def test_serve_options_are_settings(served: list[Any], capsys: pytest.CaptureFixture[str]) -> None:
    port = str(free_port())
    options = "--no-page -s rules -s source --characters 9 --sentences 8 --upload 0.5"
    limits = "--per-minute 7 --concurrent 6 --queue 5"
    assert main(["serve", "--port", port, *options.split(), *limits.split()]) == 0
    assert served[0].app.state.service.settings == ServiceSettings(
        splitters=("rules", "source"),
        page=False,
        characters=9,
        sentences=8,
        upload=500_000,
        per_minute=7,
        concurrent=6,
        queue=5,
        hosts=("127.0.0.1",),
    )
    assert (served[0].host, served[0].port) == ("127.0.0.1", int(port))
    assert capsys.readouterr().err == (
        f"The API is at http://127.0.0.1:{port}/v1 (Ctrl-C ends it).\n"
    )


def test_serve_says_where_the_page_is(
    served: list[Any], capsys: pytest.CaptureFixture[str]
) -> None:
    port = free_port()
    assert main(["serve", "--port", str(port)]) == 0
    assert capsys.readouterr().err == (
        f"The page is at http://127.0.0.1:{port} and the API at http://127.0.0.1:{port}/v1 "
        "(Ctrl-C ends it).\n"
    )


@pytest.mark.parametrize(
    ("options", "told"),
    [
        (["-s", "rulez"], 'There is no splitter "rulez"'),
        (["-s", "rules", "-s", "rules"], 'The splitter "rules" is named twice.'),
        (["-s", "rules:dir"], 'The splitter "rules" takes no model'),
        (["--queue", "0"], "greater than or equal to 1"),
    ],
)
def test_serve_mistakes_are_told_in_one_sentence(
    served: list[Any], capsys: pytest.CaptureFixture[str], options: list[str], told: str
) -> None:
    assert main(["serve", *options]) == 2
    error = capsys.readouterr().err
    assert told in error
    assert error.count("\n") == 1
    assert not served


def test_serve_tells_that_a_port_is_taken(capsys: pytest.CaptureFixture[str]) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        assert main(["serve", "--port", port]) == 2
    assert f"Nothing can be served at 127.0.0.1, port {port}: " in capsys.readouterr().err


def test_serve_answers_and_ends_at_once_when_it_is_told_to() -> None:
    port = str(free_port())
    command = [sys.executable, "-m", "parataxis", "serve", "--no-page", "-s", "source"]
    process = subprocess.Popen([*command, "--port", port], stderr=subprocess.PIPE, text=True)
    try:
        assert process.stderr is not None
        assert process.stderr.readline().startswith("The API is at")
        url = f"http://127.0.0.1:{port}/v1"
        transport = httpx2.HTTPTransport(retries=8)
        with httpx2.Client(transport=transport, timeout=20) as client:
            told = client.post(f"{url}/split", json={"text": "It rained."}).json()
        assert told["text"] == "It rained."
        process.terminate()
        process.wait(20)
        assert process.stderr.read() == ""
    finally:
        process.kill()
        process.wait()
        if process.stderr:
            process.stderr.close()
