"""The engine of a cluster, on a real one of several nodes: whatever dies, the output is that of
one machine."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

pytest.importorskip("ray", reason="needs the extra [ray]")
pytest.importorskip("pyarrow", reason="needs the extra [scale]")

SPLITTERS = """
import os, signal, sys, time
from parataxis import Rewrite


class SlowSplitter:
    name = "slow"
    summary = "Cuts at semicolons, slowly, and writes down where."

    def __call__(self, sentence):
        if sentence.startswith("Poison"):
            os.kill(os.getpid(), signal.SIGKILL)
        parts = [part.strip(" .") + "." for part in sentence.split(";")]
        return Rewrite(source=sentence, simple=parts, splitter=self.name)

    def pipe(self, sentences):
        if "ray" in sys.modules:
            node = sys.modules["ray"].get_runtime_context().get_node_id()
            with open(os.environ["TRACES"], "a") as traces:
                traces.write(f"{os.getpid()} {node}\\n")
            time.sleep(0.03)
        return map(self, sentences)
"""

FILES = {
    "slow_splitters.py": SPLITTERS,
    "slow_splitters-1.0.dist-info/METADATA": "Metadata-Version: 2.1\nName: s\nVersion: 1.0\n",
    "slow_splitters-1.0.dist-info/entry_points.txt": (
        "[parataxis.splitters]\nslow = slow_splitters:SlowSplitter\n"
    ),
}

SETTINGS = {
    "RAY_USAGE_STATS_ENABLED": "0",
    "RAY_memory_monitor_refresh_ms": "0",  # it would kill actors where other tests take memory
    "PARATAXIS_THREADS": "1",
}


@dataclass
class Nodes:
    """A cluster that runs; ``traces`` says which processes have worked."""

    address: str
    folder: Path
    process: "subprocess.Popen[str]"
    environment: dict[str, str]

    @property
    def traces(self) -> list[tuple[int, str]]:
        """The process and the node of each call, the last one last."""
        path = self.folder / "traces"
        lines = path.read_text().splitlines() if path.exists() else []
        return [(int(pid), node) for pid, node in map(str.split, lines)]

    def forget(self) -> None:
        (self.folder / "traces").unlink(missing_ok=True)

    def remove(self, node: str) -> None:
        assert self.process.stdin
        assert self.process.stdout
        self.process.stdin.write(f"remove {node}\n")
        self.process.stdin.flush()
        assert self.process.stdout.readline() == "removed\n"

    def start(self, *arguments: str) -> "subprocess.Popen[str]":
        """Start ``parataxis split``."""
        return subprocess.Popen(
            [sys.executable, "-m", "parataxis", "split", *arguments],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            cwd=self.folder,
            env=self.environment,
        )

    def split(self, *arguments: str) -> "subprocess.CompletedProcess[str]":
        """Run ``parataxis split`` to its end."""
        process = self.start(*arguments)
        out, err = process.communicate(timeout=60)
        return subprocess.CompletedProcess(arguments, process.returncode, out, err)

    def on_cluster(self, *arguments: str) -> "subprocess.CompletedProcess[str]":
        return self.split(*arguments, "--engine", "ray", "--address", self.address)


@pytest.fixture(scope="module")
def nodes(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Nodes]:
    folder = tmp_path_factory.mktemp("cluster")
    for name, text in FILES.items():
        (folder / "site" / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / "site" / name).write_text(text)
    paths = [str(folder / "site"), *filter(None, [os.environ.get("PYTHONPATH")])]
    environment = {
        **os.environ,
        **SETTINGS,
        "PYTHONPATH": os.pathsep.join(map(os.path.abspath, paths)),
        "TRACES": str(folder / "traces"),
    }
    with subprocess.Popen(
        [sys.executable, str(Path(__file__).with_name("nodes.py")), "2"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        env=environment,
    ) as process:
        assert process.stdout
        yield Nodes(process.stdout.readline().strip(), folder, process, environment)
        process.communicate(timeout=60)  # ends its input, and so the cluster


def wait_until(happens: Callable[[], object]) -> None:
    end = time.monotonic() + 60
    while not happens():
        assert time.monotonic() < end, "it did not happen"
        time.sleep(0.02)


def write_records(path: Path, count: int) -> None:
    """Sentences, some bad records among them."""
    lines = [json.dumps({"source": f"Ann ate {n} plums; Bob left."}) for n in range(count)]
    lines[5] = "{"
    lines[count // 2] = json.dumps({"source": None})
    path.write_text("\n".join(lines) + "\n")


def told(error: str) -> list[str]:
    """What stands on standard error, less what depends on time."""
    lines = error.splitlines()
    assert all(line.startswith("parataxis: ") for line in lines), error
    return [line for line in lines if "per second" not in line]


def test_cluster_output_is_that_of_one_machine_whatever_dies(nodes: Nodes) -> None:
    nodes.forget()
    write_records(nodes.folder / "in.jsonl", 40 * 256)
    common = ("in.jsonl", "-s", "slow")
    alone = nodes.split(*common, "-o", "alone.jsonl", "--jobs", "1", "--on-error", "pass")
    assert alone.returncode == 0, alone.stderr

    run = nodes.start(*common, "-o", "both.jsonl", "--engine", "ray", "--address", nodes.address)
    wait_until(lambda: len(set(nodes.traces)) == 2)
    (first, _), (_, lost) = dict.fromkeys(nodes.traces)
    os.kill(first, signal.SIGKILL)
    wait_until(lambda: len(set(nodes.traces)) == 3)
    nodes.remove(lost)
    out, err = run.communicate(timeout=60)

    assert (run.returncode, out) == (0, ""), err
    complaints = told(err)
    assert sum("An actor was lost" in line for line in complaints) == 2
    assert [line for line in complaints if "was lost" not in line] == told(alone.stderr)
    both = (nodes.folder / "both.jsonl").read_bytes()
    assert both == (nodes.folder / "alone.jsonl").read_bytes()
    assert both.count(b"\n") == 40 * 256
    assert not (nodes.folder / "both.jsonl.unfinished").exists()
