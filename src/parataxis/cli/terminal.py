"""Where a command writes: results to standard output or a file, progress to a terminal."""

import errno
import io
import os
import signal
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path
from time import monotonic
from types import FrameType
from typing import TYPE_CHECKING, Self, TextIO

from parataxis.errors import InputError, system_errors
from parataxis.text.inputs import STDIN

if TYPE_CHECKING:
    from rich.progress import Progress as RichProgress
    from rich.progress import TaskID


_PATIENCE = 1.0
"""Seconds before a progress bar appears: what is quick needs none."""


ENDINGS = [getattr(signal, name) for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name)]
"""The signals that end a process."""


class ReaderGoneError(Exception):
    """The reader of the output, such as ``head``, has closed the pipe; this is no failure."""


def is_reader_gone(error: OSError) -> bool:
    """Whether a write failed because the reader of a pipe has closed it."""
    # Windows often calls such a write an invalid argument.
    return error.errno == errno.EPIPE or (os.name == "nt" and error.errno == errno.EINVAL)


class Output:
    """Standard output, or a file that is created with the first write; every write is flushed."""

    def __init__(self, path: Path | None = None) -> None:
        self._path = path
        self._stream: TextIO | None = sys.stdout if path is None else None
        self._has_failed = False
        # Line ends are part of the text, and the text is UTF-8 whatever the locale says.
        if path is None and isinstance(sys.stdout, io.TextIOWrapper):
            sys.stdout.reconfigure(encoding="utf-8", newline="")

    @property
    def is_terminal(self) -> bool:
        """Whether it is shown on a terminal."""
        return self._path is None and self._stream is not None and self._stream.isatty()

    def write(self, piece: str | bytes) -> None:
        """Write text, or bytes of any kind, so that they are there even if the program ends now."""
        if not piece or self._has_failed:
            return
        try:
            if self._stream is None and self._path is not None:
                self._stream = self._path.open("w", encoding="utf-8", newline="")
            elif self._stream is None:
                raise InputError("Standard output is closed; name a file for the output.")
            if isinstance(piece, bytes):
                self._stream.buffer.write(piece)
            else:
                self._stream.write(piece)
            self._stream.flush()
        except OSError as error:
            self._has_failed = True
            raise self._problem(error) from error

    def close(self) -> None:
        """Close the file, if it was made."""
        if self._path is None or self._stream is None:
            return
        try:
            self._stream.close()
        except OSError as error:
            if not self._has_failed:
                raise self._problem(error) from error

    def _problem(self, error: OSError) -> Exception:
        is_pipe = self._path is None or isinstance(error, BrokenPipeError)
        if is_pipe and is_reader_gone(error):
            return ReaderGoneError()
        name = "The output" if self._path is None else self._path
        reason = (error.strerror or str(error)).lower()
        return InputError(f"{name} cannot be written: {reason}.")


@contextmanager
def open_output(path: Path | None) -> Iterator[Output]:
    """Standard output, or the file ``path``."""
    output = Output(path if path is not None and str(path) != STDIN else None)
    try:
        yield output
    finally:
        output.close()


def require_other_file(output: Path, source: Path) -> None:
    """Raise InputError where the output would be written over an input."""
    if output.exists() and output.samefile(source):
        raise InputError(f"{output} is also an input; write the output to another file.")


@contextmanager
def whole_step() -> Iterator[None]:
    """Delay Ctrl-C until a step is done, so that no write is cut in the middle. A second Ctrl-C,
    where a step hangs, is not delayed."""
    if signal.getsignal(signal.SIGINT) is not signal.default_int_handler:
        yield
        return
    is_pending = False

    def wait(number: int, frame: FrameType | None) -> None:
        nonlocal is_pending
        if is_pending:
            signal.default_int_handler(number, frame)
        is_pending = True

    signal.signal(signal.SIGINT, wait)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    if is_pending:
        raise KeyboardInterrupt


def warn(sentence: str) -> None:
    """Write a sentence that is not a result to standard error."""
    sys.stderr.write(f"parataxis: {sentence}\n")


def wants_colour(output: Output) -> bool:
    """Whether to use colour: on a terminal, unless NO_COLOR (https://no-color.org) is set."""
    if os.environ.get("NO_COLOR"):
        return False
    if os.environ.get("FORCE_COLOR"):
        return True
    return output.is_terminal and os.environ.get("TERM") != "dumb"


class Progress:
    """A progress bar on standard error for work that takes a while. It is shown only on a terminal
    to which no results are written."""

    def __init__(self, total: int | None, output: Output) -> None:
        self._total = total
        self._visible = sys.stderr.isatty() and not output.is_terminal
        self._started = monotonic()
        self._done = self._sentences = 0
        self._bar: RichProgress | None = None
        self._task: TaskID | None = None

    def advance(self, size: int, sentences: int) -> None:
        """Count ``size`` bytes of input and ``sentences`` sentences as done."""
        self._done += size
        self._sentences += sentences
        if self._visible and monotonic() - self._started > _PATIENCE:
            self._show()

    @property
    def rate(self) -> float:
        """Sentences per second until now."""
        return self._sentences / max(monotonic() - self._started, 1e-9)

    @property
    def report(self) -> str:
        """Progress, rate and remaining time, in one sentence."""
        said = f"{self._sentences:,} sentences, {self.rate:,.0f} per second"
        if not self._total or not self._done:
            return f"{said}."
        seconds = (monotonic() - self._started) * max(0.0, self._total / self._done - 1)
        left = timedelta(seconds=round(seconds))
        return f"{said}, {self._done / self._total:.0%} of the input, about {left} left."

    def _show(self) -> None:
        if self._bar is None:
            from rich.console import Console
            from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

            self._bar = Progress(
                TextColumn("{task.fields[sentences]:,} sentences"),
                TextColumn("{task.fields[rate]:,.0f} per second"),
                BarColumn(),
                TimeRemainingColumn(),
                console=Console(stderr=True),
                transient=True,
            )
            self._task = self._bar.add_task("", total=self._total, sentences=0, rate=0)
            self._bar.start()
        if self._task is not None:
            self._bar.update(
                self._task, completed=self._done, sentences=self._sentences, rate=self.rate
            )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._bar is not None:
            self._bar.stop()


def write_folder(folder: Path, files: Mapping[str, str | bytes]) -> None:
    """Write files, by their names, into a folder, which is made if need be. They appear when all of
    them are written, or not at all."""
    from parataxis.text.files import all_or_none  # most commands do without

    with system_errors(f"{folder} cannot be written"):
        folder.mkdir(parents=True, exist_ok=True)
        with all_or_none([folder / name for name in files]) as streams:
            for stream, content in zip(streams, files.values(), strict=True):
                stream.write(content.encode() if isinstance(content, str) else content)
