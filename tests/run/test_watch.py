"""What operators see: progress for programs, a file of bad records, metrics, and how a run ends."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from parataxis.cli.main import main
from parataxis.run import watch
from parataxis.run.output import FileOutput
from parataxis.run.pipeline import SENTENCES

prometheus = pytest.importorskip("prometheus_client.parser", reason="needs the extra [serve]")


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    lines = [f'{{"source": "Ann ate {n} plums."}}' for n in range(3 * SENTENCES)]
    lines[5], lines[-1] = "{", '{"source": "Bad \\u0000."}'
    Path("in.jsonl").write_text("\n".join(lines))


def split(*options: str, output: str = "out.jsonl") -> int:
    given = ["-s", "source", "-j", "1", "-o", output, "--errors", "bad.jsonl", *options]
    return main(["split", "in.jsonl", *given])


def test_watch_json_tells_programs_how_far_a_run_is(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(watch, "_TICK", 0.0)
    assert split("--progress", "json", "--metrics", "run.prom") == 3
    told = capsys.readouterr().err.splitlines()
    events = [json.loads(line) for line in told if line.startswith("{")]
    assert [each["event"] for each in events] == ["start", *["progress"] * 3, "end"]
    assert [each["sentences"] for each in events[:2]] == [0, 256]
    end = events[-1]
    assert (end["sentences"], end["problems"], end["outcome"]) == (766, 2, "done")
    assert end["records"] == 768
    assert (end["done"], end["seconds_left"]) == (1.0, 0.0)
    assert end["memory"] > 10 << 20
    assert " of memory" in told[-1]
    found = {
        sample.name: sample.value
        for family in prometheus.text_string_to_metric_families(Path("run.prom").read_text())
        for sample in family.samples
    }
    assert found["parataxis_split_sentences_total"] == 766
    assert found["parataxis_split_problems_total"] == 2
    assert (found["parataxis_split_done_ratio"], found["parataxis_split_running"]) == (1, 0)


def test_watch_errors_are_all_in_one_file() -> None:
    assert split() == 3
    bad = [json.loads(line) for line in Path("bad.jsonl").read_text().splitlines()]
    assert [each["id"] for each in bad] == ["in.jsonl:6", "in.jsonl:768"]
    assert bad[0] == {
        "id": "in.jsonl:6",
        "where": "in.jsonl, line 6",
        "error": "this is not a line of JSON",
        "source": "{",
    }


def test_watch_errors_are_noted_once_if_a_run_is_resumed(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    split(output="whole.jsonl")
    whole = Path("bad.jsonl").read_bytes()
    append, commit = FileOutput.append, FileOutput.commit

    def interrupted(self: FileOutput, batch: Any, encoded: Any) -> None:
        if self.now.sentences > SENTENCES:
            raise KeyboardInterrupt
        append(self, batch, encoded)
        if self.now.sentences <= SENTENCES:
            commit(self)

    with monkeypatch.context() as patch:
        patch.setattr(FileOutput, "append", interrupted)
        patch.setattr(FileOutput, "commit", lambda self: None)
        assert split("--progress", "json") == 130
    assert '"outcome": "interrupted"' in capsys.readouterr().err
    assert b'"errors": 0' not in Path("out.jsonl.unfinished/checkpoint").read_bytes()
    with Path("bad.jsonl").open("a") as file:
        file.write("what was noted after the checkpoint\n")
    assert split("--resume") == 3
    assert Path("bad.jsonl").read_bytes() == whole
    assert Path("out.jsonl").read_bytes() == Path("whole.jsonl").read_bytes()


@pytest.mark.skipif(sys.platform == "win32", reason="sends a signal")
@pytest.mark.parametrize(
    ("command", "number"),
    [("split", signal.SIGTERM), ("split", signal.SIGINT), ("claims", signal.SIGTERM)],
)
def test_watch_signal_while_modules_are_imported_ends_a_run_as_later(
    command: str, number: int
) -> None:
    """Python says on standard error what it has imported."""
    program = [sys.executable, "-X", "importtime", "-m", "parataxis", command, "in.jsonl"]
    with subprocess.Popen(
        [*program, "-o", "out.jsonl"], stderr=subprocess.PIPE, text=True
    ) as process:
        assert process.stderr
        for line in process.stderr:
            if line.endswith("| parataxis.cli\n") or "typer" in line:
                os.kill(process.pid, number)
                break
        rest = process.stderr.read()
    assert process.returncode == 130
    assert "Traceback" not in rest
    assert list(Path().glob("out*")) == []
