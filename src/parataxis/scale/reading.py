"""Files read as batches of units, from any place in them, in memory that does not grow."""

import csv
import io
import zlib
from collections.abc import Iterator, Sequence
from typing import NamedTuple, TextIO

from parataxis.errors import InputError
from parataxis.scale.files import DataFile, Kind
from parataxis.scale.tables import ParquetColumn, csv_rows, table_units, tsv_rows
from parataxis.scale.units import (
    Piece,
    Unit,
    block_units,
    broken_unit,
    json_units,
    line_units,
    tsv_units,
)

__all__ = ["LONGEST", "START", "Batch", "Position", "check_columns", "read_batches", "read_units"]

LONGEST = 1 << 22
"""Characters of the longest line that is read as one."""

_UNITS_PER_SENTENCE = 8
_BYTES = 1 << 24
"""Bytes of input in a batch, about: a few long lines must not take all memory."""
_MARK = "\ufeff"


class Position(NamedTuple):
    """A place between two units: of the file with this index, so many units have been read."""

    file: int = 0
    unit: int = 0


START = Position()


class Batch(NamedTuple):
    """Units that are worked on together, and where reading goes on after them.

    ``size`` is how many bytes of the input files they took; ``ends_file`` says that the last file
    it came from has been read to its end.
    """

    units: Sequence[Unit]
    end: Position
    size: int
    ends_file: bool = False


def check_columns(files: Sequence[DataFile], column: str | None) -> None:
    """Raise InputError where a table has no such column, before any work is done."""
    for file in files:
        if file.kind is Kind.PARQUET:
            ParquetColumn(file.path, column).check()
        elif file.kind in (Kind.CSV, Kind.TSV):
            try:
                next(read_units(file, column), None)
            except OSError as error:
                raise _unreadable(file, error) from error
        elif column and file.kind is not Kind.JSONL:
            raise InputError(f"{file.name} is {file.kind}, which has no columns.")


def read_batches(
    files: Sequence[DataFile],
    column: str | None = None,
    start: Position = START,
    *,
    sentences: int,
    by_file: bool = False,
) -> Iterator[Batch]:
    """The units from ``start`` on, in batches of about so many sentences.

    Where a batch ends depends only on the files and on where one ended before, never on time or
    on how many processes there are. With ``by_file`` no batch holds units of two files, and the
    last one of each file, which may be empty, says that it is.
    """
    units: list[Unit] = []
    count = held = size = 0
    for index in range(start.file, len(files)):
        place = start.unit if index == start.file else 0
        done = 0
        total = files[index].size
        share = _Share()
        for unit in read_units(files[index], column, place, share):
            units.append(unit)
            place += 1
            count += len(unit.sentences)
            held += unit.size
            if (
                count >= sentences
                or len(units) >= _UNITS_PER_SENTENCE * sentences
                or held >= _BYTES
            ):
                yield Batch(units, Position(index, place), size + share.done - done)
                done = share.done
                units, count, held, size = [], 0, 0, 0
        size += total - done
        if by_file:
            yield Batch(units, Position(index + 1), size, ends_file=True)
            units, count, held, size = [], 0, 0, 0
    if units:
        yield Batch(units, Position(len(files)), size, ends_file=True)


class _Share:
    """How many bytes of a file have been read."""

    done = 0


def read_units(
    file: DataFile, column: str | None = None, skip: int = 0, share: _Share | None = None
) -> Iterator[Unit]:
    """The units of a file, without the first ``skip``.

    Where packed or Parquet data prove broken, a last unit with that problem ends the file.
    """
    share = share or _Share()
    number = 0
    try:
        if file.kind is Kind.PARQUET:
            yield from _parquet(file, column, skip, share)
            return
        for number, unit in enumerate(_lines_units(file, column, share), start=1):
            if number > skip:
                yield unit
    except (EOFError, zlib.error, OSError) as error:
        if getattr(error, "errno", None) is not None:
            raise _unreadable(file, error) from error
        if number + 1 > skip:
            yield broken_unit(file.name, number, error)


def _unreadable(file: DataFile, error: BaseException) -> InputError:
    reason = (getattr(error, "strerror", None) or str(error)).lower()
    return InputError(f"{file.name} cannot be read: {reason}.")


def _parquet(file: DataFile, column: str | None, skip: int, share: _Share) -> Iterator[Unit]:
    for unit in ParquetColumn(file.path, column).units(skip):
        share.done += unit.size
        yield unit


def _lines_units(file: DataFile, column: str | None, share: _Share) -> Iterator[Unit]:
    csv.field_size_limit(LONGEST)
    with file.unpacked() as (stream, plain):
        lines = _Lines(io.TextIOWrapper(stream, "utf-8", "surrogateescape", newline=""))
        for unit in _of_kind(file, column, lines):
            share.done = plain.tell()
            yield unit


def _of_kind(file: DataFile, column: str | None, lines: "_Lines") -> Iterator[Unit]:
    name = file.name
    match file.kind:
        case Kind.LINES:
            return line_units(lines, name)
        case Kind.JSONL:
            return json_units(lines, name, [column]) if column else json_units(lines, name)
        case Kind.TSV:
            return table_units(tsv_rows(lines), name, column) if column else tsv_units(lines, name)
        case Kind.CSV:
            return table_units(csv_rows(lines), name, column)
        case _:
            return block_units(map(str, lines), name, lambda: lines.mark)


class _Lines(Iterator[str]):
    """Lines with their ends; one that is too long comes in pieces. ``mark`` is the byte order
    mark that stood before the first."""

    def __init__(self, text: TextIO) -> None:
        self._text = text
        self._has_begun = self._is_inside = False
        self.mark = ""

    def __next__(self) -> str:
        line = self._text.readline(LONGEST)
        if not line:
            raise StopIteration
        if not self._has_begun:
            self._has_begun = True
            if line.startswith(_MARK):
                self.mark, line = _MARK, line[1:]
        was_inside = self._is_inside
        self._is_inside = not line.endswith(("\n", "\r")) and len(line) >= LONGEST - 1
        if not was_inside and not self._is_inside:
            return line
        piece = Piece(line)
        piece.is_first = not was_inside
        return piece
