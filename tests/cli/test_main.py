"""The command as a program: exit codes, interruption, closed pipes, processes, streaming."""

import json
import os
import shlex
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import parataxis
from parataxis.cli import main as main_module
from parataxis.splitters.source import SourceSplitter
from parataxis.syntax.onnx import weights_named

Run = Callable[..., Any]

COMMAND = (sys.executable, "-m", "parataxis")
MILL = "The mill, which was built in 1850, burned down."
SPLIT_MILL = "The mill burned down. It was built in 1850."
SPLIT_MILL_BY_RULES = "The mill burned down. The mill was built in 1850."


def start(*arguments: object, **options: Any) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [*COMMAND, *map(str, arguments)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        bufsize=0,  # so that communicate() gets what was not read before it
        **options,
    )


def test_main_shows_help_without_arguments(run: Run) -> None:
    done = run()
    assert done.code == 0
    assert done.out.startswith("Usage: parataxis [OPTIONS] COMMAND")


def test_main_shows_the_version(run: Run) -> None:
    first, *models = run("--version").out.splitlines()
    assert first == f"parataxis {parataxis.__version__}"
    assert models == [weights_named(name) for name in ("analyser", "pointer", "verifier")]


@pytest.mark.parametrize(
    ("words", "found"),
    [
        ("parataxis cor", {"correlate", "corpus"}),
        ("parataxis split --bea", {"--beam"}),
        ("parataxis split --level at", {"atomic"}),
        ("parataxis study si", {"simulate"}),
    ],
)
def test_main_completes_commands_options_and_choices(words: str, found: set[str]) -> None:
    asked = {"COMP_WORDS": words, "COMP_CWORD": str(words.count(" "))}
    done = subprocess.run(
        COMMAND,
        env={**os.environ, **asked, "_PARATAXIS_COMPLETE": "complete_bash"},
        stdout=subprocess.PIPE,
        text=True,
        check=False,
    )
    assert set(done.stdout.split()) == found


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish", "powershell"])
def test_main_shows_a_script_for_completion(
    run: Run, shell: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("_TYPER_COMPLETE_TEST_DISABLE_SHELL_DETECTION", "1")
    assert "_PARATAXIS_COMPLETE" in run("--show-completion", shell).out


def test_main_answers_an_unknown_command(run: Run) -> None:
    done = run("spilt", "It rained.")
    assert (done.code, done.out) == (2, "")
    assert done.err.startswith("parataxis: No such command 'spilt'.")
    assert done.err.count("\n") == 1


def test_main_has_a_sentence_for_a_bug(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object, **__: object) -> None:
        raise KeyError("lost key")

    monkeypatch.setattr(main_module, "app", fail)
    done = run("split", "It rained.")
    assert (done.code, done.out) == (70, "")
    assert done.err == (
        "parataxis: This is a bug (KeyError: 'lost key'); please report it with what "
        "PARATAXIS_DEBUG=1 shows.\n"
    )
    monkeypatch.setenv("PARATAXIS_DEBUG", "1")
    with pytest.raises(KeyError):
        run("split", "It rained.")


@pytest.mark.parametrize(
    ("asked", "code", "message"),
    [
        (3, 3, ""),
        (0, 0, ""),
        (None, 0, ""),
        ("No licence\nfound.", 1, "parataxis: No licence found.\n"),
    ],
)
def test_main_keeps_the_exit_code_that_a_splitter_asks_for(
    run: Run,
    monkeypatch: pytest.MonkeyPatch,
    asked: int | str | None,
    code: int,
    message: str,
) -> None:
    def leave(*_: object) -> None:
        sys.exit(asked)

    monkeypatch.setattr(SourceSplitter, "pipe", leave)
    assert run("split", "It rained.", "-s", "source") == (code, "", message)


@pytest.mark.skipif(os.name == "nt", reason="Windows has no broken pipes of this kind")
def test_main_is_silent_when_nobody_reads_its_help() -> None:
    reading, writing = os.pipe()
    os.close(reading)
    done = subprocess.run([*COMMAND, "--help"], stdout=writing, stderr=subprocess.PIPE, check=False)
    os.close(writing)
    assert (done.returncode, done.stderr) == (0, b"")


@pytest.mark.parametrize("threads", ["abc", "-3"])
def test_main_answers_a_bad_number_of_threads(threads: str) -> None:
    done = subprocess.run(
        [*COMMAND, "split", MILL],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "PARATAXIS_THREADS": threads},
    )
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("parataxis: PARATAXIS_THREADS must be ")
    assert done.stderr.count("\n") == 1


def test_main_runs_as_a_program() -> None:
    done = subprocess.run([*COMMAND, "split", MILL], capture_output=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, f"{SPLIT_MILL}\n".encode(), b"")


def test_main_writes_utf8_whatever_the_locale() -> None:
    environment = {**os.environ, "LC_ALL": "C", "PYTHONIOENCODING": "ascii", "PYTHONUTF8": "0"}
    done = subprocess.run(
        [*COMMAND, "split", "-s", "source"],
        input="Zoë aß 雨.\r\n".encode(),
        capture_output=True,
        check=False,
        env=environment,
    )
    assert (done.returncode, done.stdout) == (0, "Zoë aß 雨.\r\n".encode())


@pytest.mark.parametrize("jobs", [1, 2])
def test_main_answers_each_line_at_once(jobs: int) -> None:
    program = start("split", "-s", "rules", "--input", "lines", "-f", "jsonl", "-j", jobs)
    assert program.stdin
    assert program.stdout
    for sentence in (MILL, "It rained."):
        program.stdin.write(f"{sentence}\n".encode())
        program.stdin.flush()
        assert json.loads(program.stdout.readline())["source"] == sentence
    program.communicate()
    assert program.returncode == 0


@pytest.mark.parametrize("jobs", [1, 2])
def test_main_answers_each_paragraph_at_once(jobs: int) -> None:
    program = start("split", "-", "-s", "rules", "-j", jobs)
    assert program.stdin
    assert program.stdout
    program.stdin.write(f"{MILL}\n\n".encode())
    program.stdin.flush()
    assert program.stdout.readline() == f"{SPLIT_MILL_BY_RULES}\n".encode()
    program.communicate()


def test_main_uses_several_processes_and_keeps_order(tmp_path: Path) -> None:
    text = "".join(f"Ann ate {n} plums, and Bob left.\n\n" for n in range(80))
    path = tmp_path / "many.txt"
    path.write_text(text, encoding="utf-8")
    arguments = ["split", path, "-s", "rules", "-j", "2"]
    done = subprocess.run([*COMMAND, *arguments], capture_output=True, check=False)
    assert (done.returncode, done.stderr) == (0, b"")
    assert done.stdout.decode() == text.replace(", and Bob", ". Bob")


@pytest.mark.skipif(os.name == "nt", reason="Windows has no SIGINT for another process")
@pytest.mark.parametrize("jobs", [1, 2])
def test_main_loses_nothing_when_interrupted(jobs: int) -> None:
    program = start("split", "-", "-s", "rules", "-f", "json", "-j", jobs, start_new_session=True)
    assert program.stdin
    assert program.stdout
    for n in range(40):  # enough for the first results of two processes
        program.stdin.write(f"Ann ate {n} plums, and Bob left.\n\n".encode())
    program.stdin.flush()
    first = program.stdout.read(1)  # the first result has been written
    os.killpg(program.pid, signal.SIGINT)
    rest, errors = program.communicate(timeout=60)
    assert (program.returncode, errors) == (130, b"")
    records = json.loads(first + rest)
    assert [record["source"] for record in records] == [
        f"Ann ate {n} plums, and Bob left." for n in range(len(records))
    ]
    assert records


@pytest.mark.skipif(os.name == "nt", reason="Windows has no SIGINT for another process")
@pytest.mark.parametrize("jobs", [1, 2])
def test_main_can_be_interrupted_while_it_waits_for_input(jobs: int) -> None:
    program = start("split", "-", "-s", "source", "-j", jobs, start_new_session=True)
    assert program.stdin
    assert program.stdout
    program.stdin.write(b"One.\n\n")
    program.stdin.flush()
    assert program.stdout.readline() == b"One.\n"  # it is all written, and no more comes
    os.killpg(program.pid, signal.SIGINT)
    assert program.wait(timeout=60) == 130  # while the input is still open
    assert program.communicate() == (b"\n", b"")


@pytest.mark.parametrize("jobs", [1, 2])
def test_main_writes_what_came_before_a_bad_line(jobs: int) -> None:
    program = start("split", "-i", "jsonl", "-s", "source", "-j", jobs, "--on-error", "stop")
    lines = "".join(f'{{"source": "Ann ate {n} plums."}}\n' for n in range(100))
    out, errors = program.communicate(lines.encode() + b"{\n")
    assert program.returncode == 2
    assert errors == b"parataxis: stdin, line 101: this is not a line of JSON.\n"
    # Of the batch with the bad line nothing is written.
    assert out.decode() == "".join(f"Ann ate {n} plums.\n" for n in range(96))


@pytest.mark.skipif(os.name == "nt", reason="Windows has no broken pipes of this kind")
def test_main_is_silent_when_the_reader_goes() -> None:
    program = start("split", "-", "-s", "source")
    assert program.stdin
    assert program.stdout
    assert program.stderr
    program.stdin.write(b"One.\n\n")
    program.stdin.flush()
    assert program.stdout.readline() == b"One.\n"
    program.stdout.close()
    program.stdin.write(b"Two.\n\n" * 1000)
    program.stdin.close()
    assert program.stderr.read() == b""
    assert program.wait(timeout=60) == 0


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no /dev/full here")
@pytest.mark.parametrize(
    ("command", "message"),
    [
        ("split 'It rained.' -s source > /dev/full", "The output cannot be written: no space"),
        ("split 'It rained.' -s source -o /dev/full", "/dev/full cannot be written: no space"),
        ("splitters > /dev/full", "The output cannot be written: no space left on device."),
        ("split 'It rained.' -s source >&-", "Standard output is closed"),
        ("split -s source <&-", "There is nothing to read"),
        ("split - -s source <&-", "Standard input is closed"),
    ],
)
def test_main_answers_broken_streams(command: str, message: str) -> None:
    program = " ".join(map(shlex.quote, COMMAND))
    done = subprocess.run(
        f"{program} {command}", shell=True, capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith(f"parataxis: {message}")
    assert done.stderr.count("\n") == 1


def test_main_imports_no_model_runtime_for_help() -> None:
    program = (
        "import sys; from parataxis.cli.main import main; main(['--help']);"
        "sys.exit(bool({'onnxruntime', 'lemminflect', 'torch', 'tokenizers'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, check=False)
    assert done.returncode == 0


def test_main_takes_what_an_interrupt_broke_for_an_interrupt(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def broken(**_: object) -> None:
        try:
            raise KeyboardInterrupt
        finally:
            raise RuntimeError("the pool was closed meanwhile")

    monkeypatch.setattr(main_module, "app", broken)
    assert main_module.main(["split"]) == 130
    assert capsys.readouterr().err == ""
