"""Where commands write: whole steps, files that appear late, progress only for people."""

import errno
import io
import os
import signal
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from parataxis.cli import terminal
from parataxis.cli.terminal import (
    Output,
    Progress,
    ReaderGoneError,
    open_output,
    require_other_file,
    wants_colour,
    whole_step,
)
from parataxis.errors import InputError


class Terminal(io.StringIO):
    """A stream that a person watches."""

    def isatty(self) -> bool:
        return True


def interrupted_step(interrupts: int, done: list[str]) -> None:
    with whole_step():
        for _ in range(interrupts):
            signal.raise_signal(signal.SIGINT)
        done.append("the rest of the step")


@pytest.fixture
def usual_interrupt() -> Iterator[None]:
    """SIGINT as Python handles it; PySpark, which other tests start, handles it in its own way."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.usefixtures("usual_interrupt")
@pytest.mark.skipif(os.name == "nt", reason="Windows raises no SIGINT in this way")
@pytest.mark.parametrize(("interrupts", "finished"), [(1, True), (2, False)])
def test_terminal_finishes_a_step_unless_interrupted_twice(interrupts: int, finished: bool) -> None:
    done: list[str] = []
    with pytest.raises(KeyboardInterrupt):
        interrupted_step(interrupts, done)
    assert bool(done) is finished
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_terminal_makes_a_file_with_its_first_piece(tmp_path: Path) -> None:
    path = tmp_path / "out.txt"
    path.write_text("old", encoding="utf-8")
    with open_output(path) as out:
        assert path.read_text(encoding="utf-8") == "old"
        out.write("One.\r\n")
        assert path.read_bytes() == b"One.\r\n"
        out.write("雨\n")
    assert path.read_bytes() == "One.\r\n雨\n".encode()


def test_terminal_does_not_write_over_an_input(tmp_path: Path) -> None:
    path = tmp_path / "in.txt"
    path.write_text("It rained.", encoding="utf-8")
    other_name = tmp_path / "." / "in.txt"
    with pytest.raises(InputError, match="is also an input"):
        require_other_file(other_name, path)


def test_terminal_takes_a_dash_for_standard_output(capsys: pytest.CaptureFixture[str]) -> None:
    with open_output(Path("-")) as out:
        out.write("One.")
    assert capsys.readouterr().out == "One."


class Closed(io.StringIO):
    """A pipe whose reader has gone."""

    def __init__(self, number: int) -> None:
        super().__init__()
        self.number = number

    def write(self, text: str) -> int:
        raise OSError(self.number, os.strerror(self.number))


@pytest.mark.parametrize(
    ("number", "system", "expected"),
    [
        (errno.EPIPE, "posix", ReaderGoneError),
        (errno.EPIPE, "nt", ReaderGoneError),
        (errno.EINVAL, "posix", InputError),
        (errno.EINVAL, "nt", ReaderGoneError),
        (errno.ENOSPC, "nt", InputError),
    ],
)
def test_terminal_knows_when_the_reader_has_gone(
    monkeypatch: pytest.MonkeyPatch, number: int, system: str, expected: type[Exception]
) -> None:
    monkeypatch.setattr(sys, "stdout", Closed(number))
    output = Output()
    with monkeypatch.context() as patch:
        patch.setattr(os, "name", system)
        with pytest.raises(expected):
            output.write("One.")


@pytest.mark.parametrize(
    ("stream", "environment", "expected"),
    [
        (Terminal(), {}, True),
        (Terminal(), {"NO_COLOR": "1"}, False),
        (Terminal(), {"TERM": "dumb"}, False),
        (io.StringIO(), {}, False),
        (io.StringIO(), {"FORCE_COLOR": "1"}, True),
        (io.StringIO(), {"FORCE_COLOR": "1", "NO_COLOR": "1"}, False),
    ],
)
def test_terminal_colours_for_people(
    monkeypatch: pytest.MonkeyPatch,
    stream: io.StringIO,
    environment: dict[str, str],
    expected: bool,
) -> None:
    for name in ("NO_COLOR", "FORCE_COLOR"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("TERM", "xterm")
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr(sys, "stdout", stream)
    assert wants_colour(Output()) is expected


@pytest.mark.parametrize(
    ("stdout", "stderr", "is_shown"),
    [
        (io.StringIO(), Terminal(), True),
        (Terminal(), Terminal(), False),  # the results themselves pass on the terminal
        (io.StringIO(), io.StringIO(), False),
    ],
)
@pytest.mark.parametrize("total", [100, None])
def test_terminal_shows_progress_to_people(
    monkeypatch: pytest.MonkeyPatch,
    stdout: io.StringIO,
    stderr: io.StringIO,
    is_shown: bool,
    total: int | None,
) -> None:
    monkeypatch.setattr(terminal, "_PATIENCE", 0)
    monkeypatch.setattr(sys, "stdout", stdout)
    monkeypatch.setattr(sys, "stderr", stderr)
    stderr.truncate(0)
    with Progress(total, Output()) as progress:
        progress.advance(50, 1234)
    assert ("1,234 sentences" in stderr.getvalue()) is is_shown
    assert stdout.getvalue() == ""


def test_terminal_shows_no_progress_for_what_is_quick(monkeypatch: pytest.MonkeyPatch) -> None:
    stderr = Terminal()
    monkeypatch.setattr(sys, "stdout", io.StringIO())
    monkeypatch.setattr(sys, "stderr", stderr)
    with Progress(10, Output()) as progress:
        progress.advance(10, 1)
    assert stderr.getvalue() == ""
