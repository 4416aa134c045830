"""The benchmark with many raters over HTTP and servers that are killed, in a small size."""

import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("uvicorn", reason="needs the extra [study]")

BENCHMARK = Path(__file__).parents[3] / "benchmarks" / "studies_load.py"


@pytest.mark.slow
def test_load_nothing_is_lost_when_one_of_two_servers_is_killed(url: str) -> None:
    size = "--people 6 --submissions 60 --raters 2 --think 0.3 --arrive 0.5 --kills 1 --servers 2"
    done = subprocess.run(
        [sys.executable, BENCHMARK, "--url", url, *size.split()], capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    assert "6 raters, 2 server(s): 60 ratings" in done.stdout
    assert "killed and back" in done.stdout
    for fault in ("lost", "doubled", "crossed", "items with more than 2 ratings"):
        assert f"{fault}: 0\n" in done.stdout
