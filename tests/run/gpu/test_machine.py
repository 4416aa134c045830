"""A GPU and its processes, as an actor uses them; tests/run/test_cluster.py has the cluster."""

import subprocess
import sys
from pathlib import Path
from socket import gethostname

import pytest

from parataxis.errors import ParataxisError
from parataxis.run.encode import OutputFormat, RecordEncoder
from parataxis.run.gpu.server import Machine
from parataxis.run.pipeline import SplitterTask, Work

LOST = """
import os, signal
from multiprocessing import active_children
from parataxis.run.encode import OutputFormat, RecordEncoder
from parataxis.run.gpu.server import Machine
from parataxis.run.pipeline import SplitterTask, Work

work = Work(SplitterTask("pointer"), RecordEncoder(OutputFormat.TEXT), "pointer")
machine = Machine(work.on, "cpu", 1)
print(machine([])[0].sentences, len(active_children()), flush=True)
os.kill(max(process.pid for process in active_children()), signal.SIGKILL)
machine([])
"""
"""Kills the process that composes and checks, and not the one with the models."""


def test_machine_ends_where_a_process_is_lost() -> None:
    done = subprocess.run(
        [sys.executable, "-c", LOST], capture_output=True, text=True, check=False, timeout=100
    )
    assert (done.returncode, done.stdout) == (1, "0 2\n"), done.stderr
    assert "Traceback" not in done.stderr


def test_machine_says_where_torch_is_missing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "torch.py").write_text("raise ImportError\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    machine = Machine(
        Work(SplitterTask("pointer"), RecordEncoder(OutputFormat.TEXT), "pointer").on, "cuda", 1
    )
    with pytest.raises(ParataxisError) as raised:
        machine([])
    assert str(raised.value) == (
        f"On {gethostname()}: The models could not be put on cuda: A GPU needs torch and onnx; "
        "install the extra with: pip install 'parataxis[gpu]'."
    )
