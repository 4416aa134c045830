"""The example study runs from one command to all tables."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

for package in ("yaml", "sqlalchemy", "sacrebleu", "scipy", "matplotlib"):
    pytest.importorskip(package, reason="needs the extras [study] and [metrics]")

EXAMPLE = Path(__file__).parents[2] / "examples" / "study"


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("bash") is None, reason="needs bash")
def test_study_example_runs_from_one_command_to_all_tables(tmp_path: Path) -> None:
    out = tmp_path / "run"
    done = subprocess.run(
        [str(EXAMPLE / "run"), str(out)],
        env={**os.environ, "PARATAXIS": f"{sys.executable} -m parataxis"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    for heading in (
        "Ratings",
        "Agreement",
        "Reliability",
        "Correlation with metrics",
        "Perfect rewrites",
    ):
        assert heading in done.stdout
    assert "<svg" in (out / "report" / "reliability.svg").read_text(encoding="utf-8")
    assert (out / "report" / "perfect.tsv").is_file()
    assert not list(EXAMPLE.glob("*.db"))
