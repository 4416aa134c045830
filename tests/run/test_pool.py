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


LOST = """
import os, signal, sys
from pathlib import Path
from parataxis.errors import ParataxisError
from parataxis.run.pool import in_order

def work(number):
    with open("done", "a") as done:
        done.write(f"{number}\\n")
    if number in (1, 14) and (sys.argv[1] == "always" or not Path(f"lost{number}").exists()):
        Path(f"lost{number}").touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return 10 * number

if __name__ == "__main__":
    prepare = (lambda: None) if sys.argv[2] == "fork" else None
    try:
        print(list(in_order(range(20), work, sent=int, jobs=2, prepare=prepare)))
    except ParataxisError as error:
        print(error)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="sends a signal")
@pytest.mark.parametrize("start", ["fork", "spawn"])
@pytest.mark.parametrize("lost", ["once", "always"])
def test_processes_that_are_lost_are_replaced_once(tmp_path: Path, start: str, lost: str) -> None:
    script = tmp_path / "lost.py"
    script.write_text(LOST)
    done = subprocess.run(
        [sys.executable, script, lost, start],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=120,
        check=True,
    )
    times = (tmp_path / "done").read_text().split().count("1")
    assert times == 2
    if lost == "once":
        assert done.stdout == f"{[(n, 10 * n) for n in range(20)]}\n"
        assert "A worker process died; it is replaced" in done.stderr
    else:
        assert done.stdout.startswith("A worker process died again")
