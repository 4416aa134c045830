"""Where a command writes: results to standard output or a file, progress to a terminal."""

import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from time import monotonic
from types import TracebackType
from typing import TYPE_CHECKING, Self, TextIO

from parataxis.cli.inputs import STDIN, Input
from parataxis.errors import InputError

if TYPE_CHECKING:
    from rich.progress import Progress as RichProgress
    from rich.progress import TaskID

__all__ = ["Output", "Progress", "ReaderGoneError", "open_output", "wants_colour", "warn"]

_PATIENCE = 1.0
"""Seconds before a progress bar appears: what is quick needs none."""


class ReaderGoneError(Exception):
    """The reader of the output, such as ``head``, wants no more; that is no fault."""


class Output:
    """A text stream that shows each piece as soon as it is written."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream

    @property
    def is_terminal(self) -> bool:
        """Whether a person is watching."""
        return self._stream.isatty()

    def write(self, text: str) -> None:
        """Write a piece, so that it is there even if the program ends now."""
        if not text:
            return
        try:
            self._stream.write(text)
            self._stream.flush()
        except BrokenPipeError as error:
            raise ReaderGoneError from error
        except OSError as error:
            raise _unwritable("The output", error) from error


@contextmanager
def open_output(path: Path | None, inputs: Sequence[Input] = ()) -> Iterator[Output]:
    """Standard output, or the file ``path``, which must not be one of the inputs."""
    if path is None or str(path) == STDIN:
        # Line ends are part of the text, and the text is UTF-8 whatever the locale says.
        if hasattr(sys.stdout, "reconfigure"):
            sys.stdout.reconfigure(encoding="utf-8", newline="")
        yield Output(sys.stdout)
        return
    for source in inputs:
        if source.path and path.exists() and path.samefile(source.path):
            raise InputError(f"{path} is also an input; write the output to another file.")
    try:
        stream = path.open("w", encoding="utf-8", newline="")
    except OSError as error:
        raise _unwritable(str(path), error) from error
    with stream:
        yield Output(stream)


def warn(sentence: str) -> None:
    """Say something that is not a result, in one sentence, on standard error."""
    sys.stderr.write(f"parataxis: {sentence}\n")


def _unwritable(name: str, error: OSError) -> InputError:
    reason = (error.strerror or str(error)).lower()
    return InputError(f"{name} cannot be written: {reason}.")


def wants_colour(output: Output) -> bool:
    """Whether to use colour: on a terminal, unless NO_COLOR (https://no-color.org) is set."""
    if os.environ.get("NO_COLOR"):
        return False
    if os.environ.get("FORCE_COLOR"):
        return True
    return output.is_terminal and os.environ.get("TERM") != "dumb"


class Progress:
    """A progress bar on standard error for work that takes a while; silent unless a person
    watches there and sees no results passing on the same terminal."""

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

    def _show(self) -> None:
        if self._bar is None:
            from rich.console import Console
            from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

            self._bar = Progress(
                TextColumn("{task.fields[sentences]:,} sentences"),
                BarColumn(),
                TimeRemainingColumn(),
                console=Console(stderr=True),
                transient=True,
            )
            self._task = self._bar.add_task("", total=self._total, sentences=0)
            self._bar.start()
        if self._task is not None:
            self._bar.update(self._task, completed=self._done, sentences=self._sentences)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        if self._bar is not None:
            self._bar.stop()
