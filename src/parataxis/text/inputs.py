"""Lines of text as they arrive, and what the arguments of a command mean: files or text."""

import codecs
import io
import os
import re
import sys
from collections import deque
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import BinaryIO, cast

from parataxis.errors import InputError

STDIN = "-"
"""The argument that stands for standard input."""

_CHUNK = 1 << 13
_FILE_SUFFIX = re.compile(
    r"\.(txt|text|md|rst|tsv|csv|jsonl?|ndjson|parquet|gz|zst|html?|xml|docx?|odt|rtf|pdf)$", re.I
)
_MARK = "\ufeff"
_UTF16_MARKS = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)


class TextPiece(str):
    """A part of a line that is too long to be read as one."""

    is_first = False


def read_some(stream: BinaryIO | io.RawIOBase) -> Callable[[int], bytes | None]:
    """A function that reads what has arrived in a stream, at most so many bytes."""
    # A buffer of standard input is bypassed: it is locked while a thread waits for input in it,
    # and Python cannot exit (on Ctrl-C) as long as it is locked.
    if isinstance(stream, io.BufferedReader):
        return cast(io.RawIOBase, stream.raw).read
    if isinstance(stream, io.RawIOBase):
        return stream.read
    return cast(io.BytesIO, stream).read1  # typing.BinaryIO lacks it


class Lines(Iterator[str]):
    """The lines of a stream of bytes with their line ends, each as soon as it has arrived whole.

    A byte order mark at the start is kept apart. Where ``strict`` is true, raises InputError, with
    the line, where the bytes are not UTF-8 text, and at the end of a stream that held nothing but
    white space. Otherwise bytes that are not UTF-8 become surrogates ("surrogateescape").

    A line of more than ``longest`` characters comes in pieces. With ``close_last`` the last line
    gets a line end where it has none.
    """

    def __init__(
        self,
        stream: BinaryIO | io.RawIOBase,
        name: str,
        *,
        strict: bool = True,
        longest: int = sys.maxsize,
        close_last: bool = False,
    ) -> None:
        self._read_some = read_some(stream)
        self._name, self._strict = name, strict
        self._longest, self._close_last = longest, close_last
        self.byte_order_mark = ""
        utf8 = codecs.getincrementaldecoder("utf-8")("strict" if strict else "surrogateescape")
        self._decoder = io.IncrementalNewlineDecoder(utf8, translate=False)
        self._arrived: deque[str] = deque()
        self._arrived_with_words = 0
        self._unfinished: list[str] = []
        self._unfinished_length = 0
        self._count = 0
        self._is_inside = False
        self._has_begun = self.has_words = False
        self._is_over = False

    def __next__(self) -> str:
        while not self._arrived:
            if self._is_over:
                if self._strict and not self.has_words:
                    raise InputError(f"{self._name} is empty.")
                raise StopIteration
            self._read()
        line = self._arrived.popleft()
        self._arrived_with_words -= _has_words(line)
        return line

    @property
    def is_ready(self) -> bool:
        """Whether a line with words in it has arrived, so that the next one is there at once."""
        return self._arrived_with_words > 0

    def _read(self) -> None:
        data = self._read_some(_CHUNK) or b""
        self._is_over = not data
        if not self._has_begun and data.startswith(_UTF16_MARKS):
            raise InputError(f"{self._name} is UTF-16 text; save it as UTF-8.")
        if self._strict and b"\0" in data:
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

    def _add(self, text: str) -> None:
        self.has_words = self.has_words or _has_words(text)
        self._unfinished.append(text)
        self._unfinished_length += len(text)
        is_long = self._unfinished_length > self._longest
        if not self._is_over and not is_long and "\n" not in text and "\r" not in text:
            return
        lines = list(io.StringIO("".join(self._unfinished), newline=""))
        rest = ""
        if lines and not lines[-1].endswith(("\n", "\r")):
            if not self._is_over:
                rest = lines.pop()
            elif self._close_last and len(lines[-1]) <= self._longest and not self._is_inside:
                lines[-1] += "\n"
        self._count += len(lines)
        for line in lines:
            self._take(line)
        while len(rest) > self._longest:
            self._take_piece(rest[: self._longest])
            rest = rest[self._longest :]
        self._unfinished, self._unfinished_length = [rest], len(rest)

    def _take(self, line: str) -> None:
        """Take a line that is there to its end."""
        if len(line) <= self._longest and not self._is_inside:
            self._arrived.append(line)
            self._arrived_with_words += _has_words(line)
            return
        for start in range(0, len(line), self._longest):
            self._take_piece(line[start : start + self._longest])
        self._is_inside = False

    def _take_piece(self, text: str) -> None:
        piece = TextPiece(text)
        piece.is_first = not self._is_inside
        self._is_inside = True
        self._arrived.append(piece)
        self._arrived_with_words += _has_words(piece)

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


def require_piped_input() -> None:
    """Raise InputError where no argument was given and nothing is piped in."""
    if sys.stdin is None or sys.stdin.isatty():
        raise InputError("There is nothing to read: give a text in quotes, a file, or -.")


def looks_like_file(argument: str) -> bool:
    """Whether an argument is meant as the name of a file, by its form.

    >>> [looks_like_file(each) for each in ("a.txt", "my notes.md", "b/c", "Stop!", "It rained.")]
    [True, True, True, False, False]
    """
    if _FILE_SUFFIX.search(argument):
        return True
    if any(character.isspace() for character in argument):
        return False
    return bool(Path(argument).suffix) or "/" in argument or os.sep in argument
