"""The inputs of a command: a text on the command line, files, or standard input.

Files are read once before a command writes anything, so that bad input leaves no partial output.
A stream (standard input, a pipe) is checked as it arrives.
"""

import codecs
import io
import os
import re
import sys
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import BinaryIO, cast

from parataxis.errors import InputError

STDIN = "-"
"""The argument that stands for standard input."""

_CHUNK = 1 << 16
_FILE_SUFFIX = re.compile(r"\.(txt|text|md|rst|tsv|csv|jsonl?|html?|xml|docx?|odt|rtf|pdf)$", re.I)
_MARK = "\ufeff"
_UTF16_MARKS = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)


@dataclass(frozen=True)
class Input:
    """One text to read; ``name`` is used in ids and error messages.

    ``text`` is a text from the command line, ``path`` a file or a pipe; an input with neither is
    standard input. ``size`` is the number of bytes, or None for a stream.
    """

    name: str
    path: Path | None = None
    text: str | None = None
    size: int | None = None

    @property
    def is_stream(self) -> bool:
        """Whether the input can be read only once, as it arrives."""
        return self.size is None

    @property
    def suffix(self) -> str:
        """The suffix of the file name, in lower case: ".jsonl"."""
        return self.path.suffix.lower() if self.path else ""

    @contextmanager
    def lines(self) -> Iterator["Lines"]:
        """The lines, with their own line ends."""
        if self.text is not None:
            yield Lines(io.BytesIO(self.text.encode()), self.name)
        elif self.path is None:
            if sys.stdin is None:
                raise InputError("Standard input is closed; there is nothing to read.")
            yield Lines(sys.stdin.buffer, self.name)
        else:
            with _open(self.path) as stream:
                yield Lines(stream, self.name)


class Lines(Iterator[str]):
    """The lines of a byte stream, each as soon as it is complete.

    A byte order mark at the start is stored separately. Raises InputError, with the line number,
    for bytes that are not UTF-8 text, and at the end of a stream that is empty or all whitespace.
    """

    def __init__(self, stream: BinaryIO, name: str) -> None:
        # Read the raw stream, not the buffer: a thread that waits for input locks the buffer, and
        # Python cannot exit (on Ctrl-C) while the buffer of standard input is locked.
        if isinstance(stream, io.BufferedReader):
            self._read_some: Callable[[int], bytes | None] = stream.raw.read
        else:  # typing.BinaryIO leaves out read1, which all such streams have
            self._read_some = cast(io.BytesIO, stream).read1
        self._name = name
        self.byte_order_mark = ""
        utf8 = codecs.getincrementaldecoder("utf-8")()
        self._decoder = io.IncrementalNewlineDecoder(utf8, translate=False)
        self._arrived: deque[str] = deque()
        self._arrived_with_words = 0
        self._unfinished: list[str] = []
        self._count = 0
        self._has_begun = self._has_words = False
        self._is_over = False

    def __next__(self) -> str:
        while not self._arrived:
            if self._is_over:
                self._check_words()
                raise StopIteration
            self._read()
        line = self._arrived.popleft()
        self._arrived_with_words -= _has_words(line)
        return line

    @property
    def is_ready(self) -> bool:
        """Whether a line with words has already arrived, so that the next read does not block."""
        return self._arrived_with_words > 0

    def _read(self) -> None:
        data = self._read_some(_CHUNK) or b""
        self._is_over = not data
        if not self._has_begun and data.startswith(_UTF16_MARKS):
            raise InputError(f"{self._name} is UTF-16 text; save it as UTF-8.")
        if b"\0" in data:
            raise InputError(f"{self._name} is a binary file, not text.")
        try:
            text = self._decoder.decode(data, final=self._is_over)
        except UnicodeDecodeError as error:
            raise self._not_utf8(error) from error
        if text.startswith(_MARK) and not self._has_begun:
            self.byte_order_mark = _MARK
            text = text.removeprefix(_MARK)
        self._has_begun = self._has_begun or bool(text)
        self._add(text)

    def _check_words(self) -> None:
        if not self._has_words:
            raise InputError(f"{self._name} is empty.")

    def _add(self, text: str) -> None:
        self._has_words = self._has_words or _has_words(text)
        self._unfinished.append(text)
        if not self._is_over and "\n" not in text and "\r" not in text:
            return
        lines = list(io.StringIO("".join(self._unfinished), newline=""))
        self._unfinished = []
        if not self._is_over and not lines[-1].endswith(("\n", "\r")):
            self._unfinished = [lines.pop()]
        self._count += len(lines)
        self._arrived.extend(lines)
        self._arrived_with_words += sum(map(_has_words, lines))

    def _not_utf8(self, error: UnicodeDecodeError) -> InputError:
        line = self._count + 1 + error.object[: error.start].count(b"\n")
        byte = error.object[error.start]
        return InputError(
            f"{self._name}, line {line}: byte 0x{byte:02x} is not UTF-8, so this is not text or "
            "has to be saved as UTF-8 first."
        )


def _has_words(text: str) -> bool:
    return bool(text) and not text.isspace()


def named_file(argument: str) -> tuple[str, str]:
    """The name of a system, where "NAME=FILE" gives one, and its file.

    >>> named_file("COPY512=copy.jsonl"), named_file("copy.jsonl")
    (('COPY512', 'copy.jsonl'), ('', 'copy.jsonl'))
    """
    name, mark, file = argument.partition("=")
    return (name, file) if mark and not Path(argument).exists() else ("", argument)


def resolve_inputs(arguments: Sequence[str]) -> list[Input]:
    """The inputs that the arguments of a command name; each file is checked to be readable.

    An argument that names a file is that file; "-", or no argument when something is piped in, is
    standard input; a single other argument is the text itself, unless it looks like the name of a
    file that does not exist.
    """
    if not arguments:
        if sys.stdin is None or sys.stdin.isatty():
            raise InputError("There is nothing to read: give a text in quotes, a file, or -.")
        return [Input("stdin")]
    if list(arguments).count(STDIN) > 1:
        raise InputError("Standard input (-) can be read only once.")
    return [_resolve(argument, alone=len(arguments) == 1) for argument in arguments]


def _resolve(argument: str, *, alone: bool) -> Input:
    if argument == STDIN:
        return Input("stdin")
    # os.path.exists, unlike pathlib, answers for any string, however long.
    if os.path.exists(argument):  # noqa: PTH110
        return _file(Path(argument))
    if not argument.strip():
        raise InputError("The text is empty; give at least one sentence.")
    if _looks_like_file(argument):
        raise InputError(f"There is no file {argument}.")
    if not alone:
        raise InputError(f'There is no file "{argument}"; put a text in quotes.')
    try:
        size = len(argument.encode())
    except UnicodeEncodeError as error:
        raise InputError("The text is not valid UTF-8.") from error
    return Input("text", text=argument, size=size)


def _looks_like_file(argument: str) -> bool:
    if _FILE_SUFFIX.search(argument):
        return True
    if any(character.isspace() for character in argument):
        return False
    return bool(Path(argument).suffix) or "/" in argument or os.sep in argument


def _file(path: Path) -> Input:
    found = Input(str(path), path=path)
    if path.is_dir():
        raise InputError(f"{path} is a directory; give the files in it.")
    if not path.is_file():  # a named pipe or a device can be read only once
        return found
    with found.lines() as lines:
        for _ in lines:  # reading checks every line
            pass
    return replace(found, size=path.stat().st_size)


def _open(path: Path) -> BinaryIO:
    try:
        return path.open("rb")
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        raise InputError(f"{path} cannot be read: {reason}.") from error
