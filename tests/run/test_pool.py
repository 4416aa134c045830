"""The processes of a run."""

import subprocess
import sys
from pathlib import Path

import pytest

INTERRUPTED = """
import os, signal, threading, time
from parataxis.run.pool import Processes

if __name__ == "__main__":
    pool = Processes(time.sleep, 2)
    pool.submit(0).result()
    pool.submit(60)
    time.sleep(0.5)  # until a process has it
    threading.Timer(0.5, os.kill, [os.getpid(), signal.SIGINT]).start()
    try:
        pool.end()
    except KeyboardInterrupt:
        print("interrupted")
"""


@pytest.mark.skipif(sys.platform == "win32", reason="sends a signal")
def test_processes_end_at_once_if_waiting_for_them_is_interrupted(tmp_path: Path) -> None:
    script = tmp_path / "interrupted.py"
    script.write_text(INTERRUPTED)
    done = subprocess.run(
        [sys.executable, script], capture_output=True, text=True, timeout=40, check=False
    )
    assert (done.stdout, done.returncode) == ("interrupted\n", 0)
