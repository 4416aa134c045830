"""Reading lines of plain or gzip-compressed UTF-8 text, and writing whole files or none.

The path ``-`` is standard input or standard output.
"""

import codecs
import csv
import gzip
import io
import os
import re
import sys
import tempfile
import zlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from itertools import zip_longest
from pathlib import Path
from typing import BinaryIO, NamedTuple, cast

from parataxis.errors import InputError, system_errors

STREAM = Path("-")

BLANK_SOURCE = "the source is blank"
BLANK_SIMPLE = "there is no simple sentence"
_NOT_UTF8 = "the line is not UTF-8"
_NO_PARTNER = "an aligned file has no such line"

_GZIP = b"\x1f\x8b"
_UTF16 = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)

Writer = Callable[[str], object]
"""Writes one line of a file; the newline is added."""


class Line(NamedTuple):
    """A line of a file without its end; ``text`` is None where the bytes are not UTF-8."""

    number: int
    text: str | None


@dataclass(frozen=True, slots=True)
class Malformed:
    """A line that does not follow its format: where it is and what is wrong."""

    file: str
    line: int
    reason: str

    def __str__(self) -> str:
        return f"{self.file}, line {self.line}: {self.reason}"


@dataclass
class ReadReport:
    """Counts the lines that a reader has seen. A malformed line is passed to ``tell`` and counted,
    never dropped silently; with ``strict`` the first one raises InputError."""

    strict: bool = False
    tell: Callable[[Malformed], None] = lambda _: None
    lines: int = 0
    malformed: int = 0
    reasons: dict[str, int] = field(default_factory=dict)

    def reject(self, file: str, line: int, reason: str) -> None:
        """Report that a line cannot be used."""
        found = Malformed(file, line, reason)
        if self.strict:
            raise InputError(f"{found}.")
        self.malformed += 1
        self.reasons[reason] = self.reasons.get(reason, 0) + 1
        self.tell(found)


def name_of(path: Path) -> str:
    """The name of a file in messages and ids."""
    return "stdin" if path == STREAM else str(path)


def read_lines(path: Path, report: ReadReport) -> Iterator[tuple[int, str]]:
    """The numbered lines of a file; lines that are not UTF-8 are rejected."""
    for line in _lines(path):
        report.lines += 1
        if line.text is None:
            report.reject(name_of(path), line.number, _NOT_UTF8)
        else:
            yield line.number, line.text


def strict_lines(path: Path) -> Iterator[str]:
    """The lines of a file; one that is not UTF-8 raises InputError."""
    return (line for _, line in read_lines(path, ReadReport(strict=True)))


def aligned(
    paths: Sequence[Path],
    report: ReadReport,
    first: Callable[[Iterator[Line]], Iterator[Line]] = lambda lines: lines,
) -> Iterator[list[tuple[int, str]]]:
    """The rows of aligned files, each a list of numbered lines.

    ``first`` may combine lines of the first file before they are aligned. A row is rejected if one
    of its lines is missing or is not UTF-8; the other rows stay aligned.
    """
    files = [first(_lines(paths[0])), *map(_lines, paths[1:])]
    for row in zip_longest(*files):
        report.lines += 1
        lines = [(line.number, line.text) for line in row if line and line.text is not None]
        if len(lines) == len(paths):
            yield lines
            continue
        for path, line in zip(paths, row, strict=True):
            if line is not None and line.text is None:
                report.reject(name_of(path), line.number, _NOT_UTF8)
                break
        else:
            longer = next(place for place, line in enumerate(row) if line is not None)
            report.reject(name_of(paths[longer]), row[longer].number, _NO_PARTNER)


def _lines(path: Path) -> Iterator[Line]:
    """The lines of a file, cut only at line feeds: sentences may contain other separators."""
    try:
        with _open(path) as stream:
            for number, data in enumerate(stream, start=1):
                if number == 1:
                    if data.startswith(_UTF16):
                        raise InputError(f"{path} is UTF-16 text; save it as UTF-8.")
                    data = data.removeprefix(codecs.BOM_UTF8)
                text = None
                with suppress(UnicodeDecodeError):
                    text = data.decode().removesuffix("\n").removesuffix("\r")
                yield Line(number, text)
    except (gzip.BadGzipFile, EOFError, zlib.error) as error:
        raise InputError(f"{path} is a broken gzip file.") from error
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        raise InputError(f"{path} cannot be read: {reason}.") from error


def csv_rows(path: Path) -> Iterator[tuple[int, list[str]]]:
    """The rows of a CSV file, with the lines that they begin on."""
    try:
        with (
            system_errors(f"{path} cannot be read"),
            path.open(encoding="utf-8-sig", newline="") as stream,
        ):
            reader = csv.reader(stream, strict=True)
            start = 1
            for cells in reader:
                yield start, cells
                start = reader.line_num + 1
    except (csv.Error, UnicodeDecodeError) as error:
        raise InputError(f"{path} is not a CSV file in UTF-8 ({error}).") from error


def unquoted(cell: str) -> str:
    """A cell of a TSV file without the quotation marks that a spreadsheet put around it; those of
    the text itself stay.

    >>> unquoted('"She said ""no""."'), unquoted('"No," she said, "never."')
    ('She said "no".', '"No," she said, "never."')
    """
    inner = cell[1:-1]
    if len(cell) < 2 or cell[0] != '"' or cell[-1] != '"' or '"' in inner.replace('""', ""):
        return cell
    return inner.replace('""', '"')


_FORMULA = re.compile(r"'*[=+\-@\t\r\n＝＋－＠]")
_NUMBER = re.compile(r"'*[+-]?[0-9]+([.,][0-9]+)*( ?%)?")


def _is_formula(cell: str) -> bool:
    return _FORMULA.match(cell) is not None and _NUMBER.fullmatch(cell) is None


def plain_cell(text: str) -> str:
    """A cell of a table that a spreadsheet does not treat as a formula, with an apostrophe before
    it; :func:`from_plain_cell` takes it away again.

    >>> [plain_cell(text) for text in ("=1+1", "'=1+1", "-1.5", "@Ann left.", "'tis so")]
    ["'=1+1", "''=1+1", '-1.5', "'@Ann left.", "'tis so"]
    """
    return f"'{text}" if _is_formula(text) else text


def from_plain_cell(cell: str) -> str:
    """The text of a cell that :func:`plain_cell` made."""
    return cell[1:] if cell[:1] == "'" and _is_formula(cell[1:]) else cell


@contextmanager
def _open(path: Path) -> Iterator[BinaryIO]:
    with ExitStack() as stack:
        if path == STREAM:
            if sys.stdin is None:
                raise InputError("Standard input is closed; there is nothing to read.")
            plain = cast(io.BufferedReader, sys.stdin.buffer)
        else:
            plain = stack.enter_context(path.open("rb"))
        is_packed = hasattr(plain, "peek") and plain.peek(2)[:2] == _GZIP
        yield cast(BinaryIO, gzip.GzipFile(fileobj=plain)) if is_packed else plain


@contextmanager
def write_files(paths: Sequence[Path]) -> Iterator[list[Writer]]:
    """Writers of lines, one for each path.

    The files appear when all of them are complete, and not at all if anything fails. A file whose
    name ends in .gz is compressed.
    """
    with all_or_none(paths) as files, ExitStack() as packed:
        for place, path in enumerate(paths):
            if path.suffix == ".gz":  # without a time in it, the same text gives the same file
                packer = gzip.GzipFile("", "wb", fileobj=files[place], mtime=0)
                files[place] = packed.enter_context(cast(BinaryIO, packer))
        yield [_writer(file) for file in files]


def write_whole(path: Path, data: bytes) -> None:
    """Write a file that appears when it is complete, and not at all if writing fails."""
    with system_errors(f"{path} cannot be written"), all_or_none([path]) as (file,):
        file.write(data)


@contextmanager
def all_or_none(paths: Sequence[Path]) -> Iterator[list[BinaryIO]]:
    """Open files, one for each path, that appear when the block ends without an error."""
    made: list[tuple[Path, Path]] = []
    try:
        with ExitStack() as stack:
            files = []
            for path in paths:
                if path == STREAM:
                    files.append(sys.stdout.buffer)
                    stack.callback(sys.stdout.buffer.flush)
                    continue
                target = path.resolve()  # a symbolic link stays one
                unfinished, file = _make(target)
                if unfinished != target:
                    made.append((unfinished, target))
                files.append(stack.enter_context(file))
            yield files
        for unfinished, target in made:
            unfinished.replace(target)
    finally:
        for unfinished, _ in made:
            unfinished.unlink(missing_ok=True)


def _make(path: Path) -> tuple[Path, BinaryIO]:
    """An unfinished file beside ``path``; a pipe or a device is written to directly."""
    with system_errors(f"{path} cannot be written"):
        if path.exists() and not path.is_file():
            return path, path.open("wb")
        number, name = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
        Path(name).chmod(0o666 & ~_umask())
    return Path(name), os.fdopen(number, "wb")


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask


def _writer(stream: BinaryIO) -> Writer:
    return lambda line: stream.write(f"{line}\n".encode())
