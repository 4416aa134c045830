"""``parataxis split`` with a splitter that costs money: its report, whatever happens."""

import json
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import NamedTuple

import pytest

pytest.importorskip("httpx2", reason="needs the extra [llm]")


class Result(NamedTuple):
    code: int
    out: str
    err: str


Run = Callable[..., Result]

MILL = "The mill, which was built in 1850, burned down."
REPORT = (
    "parataxis: llm made 1 call (1,000 tokens in, 200 out) at a cost of 0.0050; of 2 sentences the "
    "language model split 1 and left 1 whole, and the pointer model wrote 0.\n"
)


class Model(BaseHTTPRequestHandler):
    """A language model that knows one sentence, until the key is wrong."""

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        asked = json.loads(body["messages"][-1]["content"])["sentences"]
        simple = {MILL: ["The mill burned down.", "It was built in 1850."]}
        entries = [
            {"id": each["id"], "simple": simple.get(each["sentence"], [each["sentence"]])}
            for each in asked
        ]
        text = json.dumps({"rewrites": entries})
        usage = {"prompt_tokens": 1000, "completion_tokens": 200}
        answer = {"choices": [{"message": {"content": text}}], "usage": usage}
        content = json.dumps(answer).encode()
        self.send_response(200 if self.headers["Authorization"] == "Bearer right-key" else 401)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, format: str, *args: object) -> None:
        pass


@pytest.fixture(autouse=True)
def endpoint(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), Model)
    threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
    variables = {
        "URL": f"http://127.0.0.1:{server.server_address[1]}",
        "MODEL": "small",
        "KEY": "right-key",
        "PRICE_IN": "3",
        "PRICE_OUT": "10",
    }
    for name, value in variables.items():
        monkeypatch.setenv(f"PARATAXIS_LLM_{name}", value)
    for name in ("HTTP_PROXY", "ALL_PROXY", "http_proxy", "all_proxy"):
        monkeypatch.delenv(name, raising=False)
    yield
    server.shutdown()
    server.server_close()


def test_split_llm_shows_calls_and_cost_at_the_end(run: Run) -> None:
    done = run("split", "--splitter", "llm", f"{MILL} It rained.")
    assert done.out == "The mill burned down. It was built in 1850. It rained.\n"
    assert (done.code, done.err) == (0, REPORT)


def test_split_llm_shows_them_for_a_document_too(run: Run, tmp_path: Path) -> None:
    page, made = tmp_path / "page.md", tmp_path / "made.md"
    page.write_text(f"# Mill\n\n{MILL} *It rained.*\n", encoding="utf-8")
    done = run("split", "--splitter", "llm", page, "-o", made)
    assert "The mill burned down. It was built in 1850." in made.read_text(encoding="utf-8")
    assert done.code == 0
    assert "llm made 1 call (1,000 tokens in, 200 out) at a cost of 0.0050" in done.err


def test_split_llm_shows_them_after_a_long_run(run: Run, tmp_path: Path) -> None:
    table, made = tmp_path / "table.csv", tmp_path / "made.jsonl"
    table.write_text(f'text\n"{MILL}"\nIt rained.\n', encoding="utf-8")
    done = run("split", "--splitter", "llm", "--column", "text", table, "-o", made)
    records = [json.loads(line) for line in made.read_text(encoding="utf-8").splitlines()]
    assert [record["written_by"] for record in records] == ["small", "small"]
    assert done.code == 0
    assert REPORT in done.err


def test_split_llm_works_in_one_process(run: Run) -> None:
    done = run("split", "--splitter", "llm", "--jobs", "2", MILL)
    assert (done.code, done.out) == (2, "")
    assert done.err == (
        'parataxis: The splitter "llm" tracks spending in a single process, so it cannot run with '
        "--jobs.\n"
    )


def test_split_llm_tells_a_wrong_key_in_one_sentence(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PARATAXIS_LLM_KEY", "wrong-key-0123456789")
    done = run("split", "--splitter", "llm", MILL)
    assert (done.code, done.out) == (2, "")
    assert done.err == (
        "parataxis: The endpoint of PARATAXIS_LLM_URL refuses the key (status 401); check "
        "PARATAXIS_LLM_KEY.\n"
    )


def test_split_llm_tells_what_is_not_configured(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("PARATAXIS_LLM_MODEL")
    done = run("split", "--splitter", "llm", MILL)
    assert (done.code, done.out) == (2, "")
    assert done.err == (
        'parataxis: The splitter "llm" is not configured: set PARATAXIS_LLM_MODEL to the name of a '
        "model.\n"
    )


def test_split_pointer_shows_no_report(run: Run) -> None:
    assert run("split", "It rained.") == Result(0, "It rained.\n", "")
