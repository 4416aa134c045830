"""``parataxis split`` over data: formats in and out, bad records, kills, interrupts, full disks."""

import csv
import gzip
import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from parataxis.run import output as durable
from parataxis.run import watch
from parataxis.run.output import FileOutput

pa = pytest.importorskip("pyarrow")
parquet = pytest.importorskip("pyarrow.parquet")

Run = Callable[..., Any]

SOURCES = [f"Ann ate {n} plums; Bob left." for n in range(40)]


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def zstd(data: bytes) -> bytes:
    packed: bytes = pa.Codec("zstd").compress(data, asbytes=True)
    return packed


def make(name: str, sources: Sequence[str] = SOURCES) -> str:
    lines = "".join(json.dumps({"source": source}) + "\n" for source in sources).encode()
    match name.partition(".")[2]:
        case "parquet":
            parquet.write_table(pa.table({"source": sources}), name)
        case "csv":
            with Path(name).open("w", newline="") as stream:
                csv.writer(stream).writerows([["n", "source"], *(["x", each] for each in sources)])
        case "txt":
            Path(name).write_text("\n\n".join(sources))
        case "jsonl.gz":
            Path(name).write_bytes(gzip.compress(lines))
        case "jsonl.zst":
            Path(name).write_bytes(zstd(lines))
        case _:
            Path(name).write_bytes(lines)
    return name


def records(name: str) -> list[dict[str, Any]]:
    if name.endswith(".parquet"):
        rows = parquet.read_table(name).to_pylist()
        return [{key: value for key, value in row.items() if value is not None} for row in rows]
    data = Path(name).read_bytes()
    if name.endswith(".gz"):
        data = gzip.decompress(data)
    if name.endswith(".zst"):
        data = pa.input_stream(pa.py_buffer(data), compression="zstd").read()
    return [json.loads(line) for line in data.decode().splitlines()]


INPUTS = ["a.parquet", "a.csv", "a.jsonl.gz", "a.jsonl.zst", "a.txt"]


@pytest.mark.parametrize("output", ["o.parquet", "o.jsonl.gz", "o.jsonl.zst", "o.jsonl"])
@pytest.mark.parametrize("name", INPUTS)
def test_long_run_every_format_in_and_out(run: Run, name: str, output: str) -> None:
    options = ["--resume", "--no-provenance", "-j", "1"]
    done = run("split", make(name), "-s", "semicolon", "-o", output, *options)
    assert (done.code, done.out) == (0, "")
    assert [(each["source"], each["simple"]) for each in records(output)] == [
        (source, [source.replace("; Bob left", ""), "Bob left."]) for source in SOURCES
    ]
    of_records = "" if name == "a.txt" else " of 40 records"  # text has none that a user knows
    assert f"40 sentences{of_records} done" in done.err
    assert sorted(path.name for path in Path().iterdir()) == sorted([name, output])


@pytest.mark.parametrize("form", ["jsonl", "text"])
@pytest.mark.parametrize("name", ["a.jsonl", "a.txt"])
def test_long_run_writes_what_the_short_one_writes(run: Run, name: str, form: str) -> None:
    short = run("split", make(name), "-s", "semicolon", "-f", form).out
    long = run("split", name, "-s", "semicolon", "-f", form, "--on-error", "pass", "-j", 1)
    assert long.out == short
    assert long.code == 0


def test_long_run_to_a_folder_gives_one_file_for_each_input(run: Run) -> None:
    Path("in/deep").mkdir(parents=True)
    make("in/a.jsonl.zst", SOURCES[:3])
    make("in/deep/b.csv", SOURCES[3:5])
    assert run("split", "in", "-s", "semicolon", "-o", "out/", "-j", 1).code == 0
    assert [len(records(f"out/{name}")) for name in ("a.jsonl", "deep/b.jsonl")] == [3, 2]
    assert not Path("out/.unfinished").exists()
    Path("in/a.csv").write_text("source\nIt rained.\n")
    done = run("split", "in", "-s", "semicolon", "-o", "out/")
    assert done.code == 2
    assert "Two inputs would both be written to out/a.jsonl" in done.err


@pytest.mark.parametrize(
    ("name", "form"), [("a.parquet", ".parquet"), ("a.txt", ".txt"), ("a.csv", ".jsonl")]
)
def test_long_run_to_a_folder_keeps_the_kind(run: Run, name: str, form: str) -> None:
    assert run("split", make(name), "-s", "semicolon", "-o", "out/", "-j", 1).code == 0
    assert [path.name for path in Path("out").iterdir()] == [f"a{form}"]


@pytest.mark.parametrize("named", ["in", "./in/", "link"])
def test_long_run_to_a_folder_in_the_input_can_be_resumed(run: Run, named: str) -> None:
    Path("in").mkdir()
    Path("link").symlink_to("in")
    make("in/a.jsonl", SOURCES[:3])
    bad = Path("in/b.csv")
    bad.write_text("source,x\n,1\n")
    command = ["split", named, "-s", "source", "-o", "in/out/", "-j", 1, "--resume"]
    assert run(*command, "--on-error", "stop").code == 2
    assert len(records("in/out/a.jsonl")) == 3
    assert run(*command).code == 3
    assert len(records("in/out/b.jsonl")) == 1
    again = run(*command)
    assert (again.code, "nothing is left to do" in again.err) == (0, True)
    both = run(*command[:2], "in/out/b.jsonl", "-o", "in/out/", "--resume")
    assert (both.code, both.err) == (
        2,
        "parataxis: in/out/b.jsonl is also an input; write the output to another file.\n",
    )
    bad.unlink()
    Path("in/a.jsonl").unlink()
    assert run(*command).err == "parataxis: There is nothing to read but what is in in/out/.\n"


@pytest.mark.parametrize("output", ["o.csv", "o.json", "o.jsonl.bz2"])
def test_long_run_writes_text_to_any_name_where_that_is_asked_for(run: Run, output: str) -> None:
    make("a.csv", ["It rained."])
    assert run("split", "a.csv", "-s", "source", "-o", output, "-f", "text", "-j", 1).code == 0
    assert Path(output).read_text() == "It rained.\n"


@pytest.mark.parametrize("name", ["o.jsonl.gz", "o.txt.gz", "o.jsonl.zst", "o.jsonl"])
@pytest.mark.parametrize("text", ["", "\n"])
def test_long_run_without_sentences_writes_a_whole_file(run: Run, name: str, text: str) -> None:
    for folder in ("in", "out"):
        Path(folder).mkdir()
    Path("in/a.txt").write_text(text)
    made = f"out/{name}"
    assert run("split", "in", "-s", "source", "-o", made, "--resume", "-j", 1).code == 0
    assert Path(made).read_bytes() or name == "o.jsonl"
    assert run("split", "out", "-s", "source", "-o", "p.txt", "--resume", "-j", 1).code == 0
    assert Path("p.txt").read_text() == (text if name == "o.txt.gz" else "")


def interrupted(run: Run, output: str) -> list[object]:
    """A command that was begun and can go on."""
    Path("a.csv").write_text("source,x\n" + "It rained.,1\n" * 600 + ",2\nIt rained.,3\n")
    command = ["split", "a.csv", "-s", "source", "-o", output, "-j", 1]
    assert run(*command, "--on-error", "stop").code == 2
    return command


@pytest.mark.parametrize("name", ["run.json", "checkpoint"])
@pytest.mark.parametrize(
    "damage",
    [
        lambda text: text[:-9],
        lambda text: "",
        lambda text: "\x00" * len(text),
        lambda text: "[]",
        lambda text: '{"version": 1, "position": [0, "x"], "inputs": 5}',
    ],
)
def test_long_run_tells_that_its_state_is_damaged(
    run: Run, name: str, damage: Callable[[str], str]
) -> None:
    command = interrupted(run, "o.jsonl")
    state = Path("o.jsonl.unfinished")
    (state / name).write_text(damage((state / name).read_text()))
    done = run(*command, "--resume")
    assert (done.code, done.err) == (
        2,
        f"parataxis: {state / name} is damaged; remove {state} to begin again.\n",
    )


@pytest.mark.parametrize("left", [["lock", "checkpoint"], []])
def test_long_run_that_was_killed_at_its_very_end_leaves_nothing(run: Run, left: list[str]) -> None:
    command = ["split", make("a.csv"), "-s", "source", "-o", "o.jsonl", "-j", 1, "--resume"]
    assert run(*command).code == 0
    state = Path("o.jsonl.unfinished")
    state.mkdir()
    for name in left:
        (state / name).touch()
    done = run(*command)
    assert (done.code, "nothing is left to do" in done.err) == (0, True)
    assert not state.exists()


@pytest.mark.parametrize("name", ["b.txt", "b.html"])
def test_split_refuses_to_write_over_an_unfinished_long_run(run: Run, name: str) -> None:
    Path(name).write_text("<p>It rained.</p>")
    output = f"o{Path(name).suffix}"
    command = interrupted(run, output)
    done = run("split", name, "-s", "source", "-o", output)
    assert (done.code, done.err) == (
        2,
        f"parataxis: There is an unfinished run in {output}.unfinished; go on with --resume, or "
        "remove it to begin again.\n",
    )
    assert not Path(output).exists()
    assert run(*command, "--resume").code == 3
    assert run("split", name, "-s", "source", "-o", output).code == 0


CHANGES: dict[str, Callable[[Path], object]] = {
    "longer": lambda path: path.write_text(path.read_text() + "It snowed.\n"),
    "shorter": lambda path: os.truncate(path, 50),
    "gone": Path.unlink,
}


@pytest.mark.parametrize("output", ["o.jsonl", "out/"])
@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_long_run_tells_an_input_that_changes_while_it_is_read(
    run: Run, monkeypatch: pytest.MonkeyPatch, output: str, change: Callable[[Path], object]
) -> None:
    path = Path("a.csv")
    path.write_text("source\n" + "It rained.\n" * 600)
    append, is_changed = FileOutput.append, False

    def change_first(self: FileOutput, *arguments: Any) -> None:
        nonlocal is_changed
        if not is_changed:
            change(path)
            is_changed = True
        append(self, *arguments)

    command = ["split", "a.csv", "-s", "source", "-o", output, "-j", 1]
    monkeypatch.setattr(FileOutput, "append", change_first)
    done = run(*command)
    state = "out/.unfinished" if output == "out/" else "o.jsonl.unfinished"
    assert (done.code, done.err) == (
        2,
        f"parataxis: a.csv changed while it was read; remove {state} to begin again.\n",
    )
    assert not Path("o.jsonl").exists()
    assert not Path("out/a.jsonl").exists()
    assert run(*command, "--resume").code == 2


def test_long_run_tells_bad_records_and_passes_them_through(run: Run) -> None:
    bad = ["{", '{"source": null}', '{"x": 1}', "\udcff"]
    good = [json.dumps({"source": source}) for source in SOURCES]
    lines = "\n".join([*good[:2], *bad, *good[2:]])
    Path("a.jsonl").write_bytes(lines.encode("utf-8", "surrogateescape"))
    done = run(
        "split", "a.jsonl", "-s", "semicolon", "-o", "o.jsonl", "--on-error", "pass", "-j", 1
    )
    assert done.code == 3
    told = done.err.splitlines()
    assert told[0] == "parataxis: a.jsonl, line 3: this is not a line of JSON."
    assert told[3] == "parataxis: a.jsonl, line 6: the bytes are not UTF-8 text."
    assert told[4] == "parataxis: Passed through as they were: 4 records."
    made = records("o.jsonl")
    assert len(made) == 44
    assert [each["error"] for each in made[2:6]] == [
        "this is not a line of JSON",
        'the record has neither "source" nor "complex"',
        'the record has neither "source" nor "complex"',
        "the bytes are not UTF-8 text",
    ]
    assert [each["source"] for each in made[2:4]] == bad[:2]


def test_long_run_tells_only_the_first_of_many_bad_records(run: Run) -> None:
    Path("a.jsonl").write_text("{\n" * 100 + '{"source": "It rained."}')
    done = run("split", "a.jsonl", "-s", "source", "-o", "o.jsonl", "--on-error", "pass", "-j", 1)
    assert done.err.count("this is not a line of JSON") == 20
    assert "Passed through as they were: 100 records (80 more than were reported here)." in done.err


def test_long_run_can_stop_at_a_bad_record_and_go_on(run: Run) -> None:
    Path("a.csv").write_text("source,x\n" + "It rained.,1\n" * 600 + ",2\nIt rained.,3\n")
    command = ["split", "a.csv", "-s", "source", "-o", "o.jsonl", "-j", 1]
    done = run(*command, "--on-error", "stop")
    assert done.code == 2
    assert done.err == 'parataxis: a.csv, line 602: the column "source" is empty.\n'
    assert not Path("o.jsonl").exists()
    refused = run(*command)
    assert refused.code == 2
    assert refused.err == (
        "parataxis: There is an unfinished run in o.jsonl.unfinished; go on with --resume, or "
        "remove it to begin again.\n"
    )
    assert run(*command, "--resume").code == 3
    assert [("error" in each) for each in records("o.jsonl")] == [False] * 600 + [True, False]
    again = run(*command, "--resume")
    assert again.code == 0
    assert "nothing is left to do" in again.err


REFUSALS = {
    "option": (["-s", "semicolon"], "was begun with --splitter source, not semicolon"),
    "format": (["-f", "text"], "was begun with --format jsonl, not text"),
    "column": (["-c", "x"], "was begun with --column None, not x"),
    "more inputs": (["b.csv"], "was begun with 1 input files, not 2"),
    "changed": ([], "cannot go on, because a.csv has changed since"),
}


@pytest.mark.parametrize(("options", "message"), REFUSALS.values(), ids=REFUSALS)
def test_long_run_refuses_to_go_on_with_something_else(
    run: Run, options: list[str], message: str
) -> None:
    Path("a.csv").write_text("source,x\n" + "It rained.,1\n" * 600 + ",2\nIt rained.,3\n")
    make("b.csv")
    command = ["split", "a.csv", "-s", "source", "-o", "o.jsonl", "-j", 1]
    run(*command, "--on-error", "stop")
    if not options:
        Path("a.csv").write_text(Path("a.csv").read_text().replace("3", "4"))
    done = run(*command, "--resume", *options)
    assert (done.code, done.err.count("\n")) == (2, 1)
    assert done.err == (
        f"parataxis: The unfinished run {message}; remove o.jsonl.unfinished to begin again.\n"
    )


WRONG = {
    "no file": (["b.parquet", "-o", "o.jsonl"], "There is no file b.parquet."),
    "parquet to a pipe": (["a.csv", "-f", "parquet"], "Parquet is written to a file"),
    "resume a pipe": (["a.csv", "--resume"], "Only output to a file or folder can be resumed"),
    "itself": (["a.csv", "-f", "text", "-o", "a.csv"], "a.csv is also an input;"),
    "nowhere": (["a.csv", "-o", "no/o.jsonl"], "no/o.jsonl cannot be written: "),
    "standard input": (["-", "-c", "text", "-o", "o.jsonl"], "stdin is text, which has no columns"),
    "a pipe": (["--resume", "-o", "o.jsonl"], "Standard input cannot be read again, so this run"),
    "the folder itself": ([".", "-o", "./"], "./ is also an input; write to another folder."),
    "a file in the folder": (
        [".", "--resume", "-o", "o.jsonl"],
        "o.jsonl would be read as an input the next time, since it is in .; write it to another",
    ),
    "as csv": (["a.csv", "-o", "o.csv"], ".csv files are not written; name the output .txt,"),
    "as tsv": (["a.csv", "-o", "o.TSV"], ".tsv files are not written; name the output .txt,"),
    "as json": (["a.csv", "-o", "o.json.gz"], ".json files are not written; name the output"),
    "as bz2": (["a.csv", "-o", "o.jsonl.bz2"], ".bz2 files are not written; name the output"),
}


@pytest.mark.parametrize(("arguments", "message"), WRONG.values(), ids=WRONG)
def test_long_run_answers_mistakes_in_one_sentence(
    run: Run, arguments: list[str], message: str
) -> None:
    make("a.csv")
    done = run("split", "-s", "source", *arguments)
    assert (done.code, done.out, done.err.count("\n")) == (2, "", 1)
    assert done.err.startswith(f"parataxis: {message}")
    assert [path.name for path in Path().iterdir()] == ["a.csv"]


def test_long_run_does_not_write_over_an_input_by_another_name(run: Run) -> None:
    path = Path(make("a.csv")).resolve()
    before = path.read_bytes()
    done = run("split", path.as_uri(), "-s", "source", "-f", "text", "-o", "a.csv")
    assert (done.code, done.err) == (
        2,
        "parataxis: a.csv is also an input; write the output to another file.\n",
    )
    assert path.read_bytes() == before


def test_long_run_on_a_full_disk_can_be_resumed(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    make("a.csv", SOURCES * 50)
    command = ["split", "a.csv", "-s", "source", "-o", "o.jsonl", "-j", 1, "--no-provenance"]
    run(*command)
    whole = Path("o.jsonl").read_bytes()
    Path("o.jsonl").unlink()
    write, room = os.write, [len(whole) // 2]

    def full(number: int, data: memoryview) -> int:
        if not room[0]:
            raise OSError(28, "No space left on device")
        part = data[: room[0]]
        room[0] -= len(part)
        return write(number, part)

    with monkeypatch.context() as patch:
        patch.setattr(durable.os, "write", full)
        done = run(*command)
    assert (done.code, done.err) == (
        2,
        "parataxis: o.jsonl cannot be written: no space left on device; correct that and go on "
        "with --resume.\n",
    )
    monkeypatch.setattr(watch, "_MINUTE", 0)
    again = run(*command, "--resume")
    assert again.code == 0
    assert Path("o.jsonl").read_bytes() == whole
    shares = [int(share) for share in re.findall(r"(\d+)% of the input", again.err)]
    assert shares == sorted(shares)
    assert 5 < shares[0] < 50, "of what was left"
    assert shares[-1] == 100


EAGER = """
import sys
from parataxis.__main__ import main
from parataxis.run import output
output.EVERY = 0.0
sys.exit(main())
"""
"""The command with a checkpoint after each batch."""

PROGRAM = [sys.executable, "-c", EAGER, "split", "-s", "source", "--no-provenance"]


def start(*arguments: str, **options: Any) -> "subprocess.Popen[str]":
    return subprocess.Popen(
        [*PROGRAM, *arguments], stderr=subprocess.PIPE, text=True, start_new_session=True, **options
    )


def is_alive(session: int) -> bool:
    """Whether a process of this session still runs."""
    for entry in Path("/proc").iterdir():
        try:
            fields = (entry / "stat").read_text().rpartition(")")[2].split()
        except OSError:
            continue
        if int(fields[3]) == session and fields[0] != "Z":
            return True
    return False


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
@pytest.mark.parametrize(("output", "kills"), [("o.jsonl", 3), ("o.parquet", 2)])
def test_long_run_after_several_kills_is_the_same(output: str, kills: int) -> None:
    make("a.jsonl", [f"Ann ate {n} plums, and Bob left the house." for n in range(3_000)])
    with start("a.jsonl", "-o", f"whole.{output}", "-j", "1", "-c", "source") as program:
        assert program.wait() == 0
    places: list[list[int]] = []
    for _ in range(kills):
        with start("a.jsonl", "-o", output, "--resume", "-j", "2", "-c", "source") as program:
            wait_for_output(Path(f"{output}.unfinished"), program)
            if program.poll() is not None:  # on a busy machine it may have come to its end
                break
            place = json.loads(Path(f"{output}.unfinished/checkpoint").read_bytes())["position"]
            places.append(place)
            os.kill(program.pid, signal.SIGKILL)
            program.wait()
            deadline = time.monotonic() + 10
            while is_alive(program.pid) and time.monotonic() < deadline:
                time.sleep(0.02)
            assert not is_alive(program.pid), "a process was left behind"
    assert places
    assert all(before < after for before, after in pairwise(places))
    with start("a.jsonl", "-o", output, "--resume", "-j", "2", "-c", "source") as program:
        assert program.wait() == 0
    assert Path(output).read_bytes() == Path(f"whole.{output}").read_bytes()


def wait_for_output(state: Path, program: "subprocess.Popen[str]") -> None:
    """Wait until the run has come further than it had before."""
    checkpoint = state / "checkpoint"
    before = checkpoint.read_bytes() if checkpoint.exists() else b""
    while program.poll() is None:
        if checkpoint.exists() and checkpoint.read_bytes() != before:
            return
        time.sleep(0.002)


@pytest.mark.skipif(sys.platform != "linux", reason="sends a signal to a session")
@pytest.mark.parametrize(
    ("kill", "number"),
    [(os.killpg, signal.SIGINT), (os.kill, signal.SIGTERM), (os.killpg, signal.SIGHUP)],
)
def test_long_run_can_be_interrupted(kill: Callable[[int, int], None], number: int) -> None:
    make("a.jsonl", [f"Ann ate {n} plums." for n in range(20_000)])
    with start("a.jsonl", "-o", "o.jsonl.gz", "-j", "2") as program:
        wait_for_output(Path("o.jsonl.gz.unfinished"), program)
        kill(program.pid, number)
        _, told = program.communicate()
    assert program.returncode == 130
    assert told == "parataxis: Interrupted; go on with --resume.\n"
    with start("a.jsonl", "-o", "o.jsonl.gz", "--resume", "-j", "2") as program:
        _, told = program.communicate()
    assert program.returncode == 0
    assert told.startswith("parataxis: 20,000 sentences of 20,000 records done")
    assert [each["id"] for each in records("o.jsonl.gz")] == [
        f"a.jsonl:{n + 1}" for n in range(20_000)
    ]


def test_long_run_with_models_is_the_same_in_any_number_of_processes(run: Run) -> None:
    make("a.csv", [f"Ann, who ate {n} plums, came, and Bob left." for n in range(300)])
    for jobs in (1, 2):
        command = ["split", "a.csv", "-s", "rules", "-o", f"{jobs}.jsonl", "-j", jobs]
        assert run(*command).code == 0
    made = Path("1.jsonl").read_bytes()
    assert Path("2.jsonl").read_bytes() == made
    assert records("1.jsonl")[299]["simple"] == ["Ann came.", "Ann ate 299 plums.", "Bob left."]


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_long_run_takes_the_same_memory_for_more_input() -> None:
    """Three times the input: the memory at its highest must stay nearly the same."""
    peaks = []
    for copies in (1, 3):
        line = json.dumps({"source": "Ann ate plums, and Bob left.", "more": "x" * 2000}) + "\n"
        Path("a.jsonl").write_text(line * (2500 * copies))
        with start("a.jsonl", "-f", "text", "-o", "o.txt", "-c", "source", "-j", "1") as program:
            peak = 0
            while program.poll() is None:
                status = Path(f"/proc/{program.pid}/status").read_text()
                held = [line for line in status.splitlines() if line.startswith("VmHWM")]
                peak = max(peak, int(held[0].split()[1])) if held else peak
                time.sleep(0.01)
        assert program.returncode == 0
        peaks.append(peak)
    assert peaks[1] < peaks[0] + 8_000, peaks
