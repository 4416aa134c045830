"""Files read as batches of units, from any place in them, in memory that does not grow."""

import csv
import io
from collections.abc import Iterator, Sequence
from typing import NamedTuple, TextIO

from parataxis.errors import InputError
from parataxis.run.files import DataFile, DataFormat
from parataxis.run.tables import ParquetColumn, csv_rows, table_units, tsv_rows
from parataxis.run.units import (
    TextPiece,
    Unit,
    block_units,
    broken_unit,
    json_units,
    line_units,
    marked,
    too_long,
    tsv_units,
)

LONGEST = 1 << 22
"""Characters of the longest line that is read as one."""

LONGEST_SENTENCE = 1 << 17
"""Characters of the longest sentence that is given to a splitter: what is longer is none, and
would take much memory."""

_UNITS_PER_SENTENCE = 8
_LENGTH = 1024
"""Characters for each sentence of a batch, on average, at most: a rewrite takes some hundred
times as much memory as its sentence, and whole documents may stand in a column."""
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
        if file.kind is DataFormat.PARQUET:
            ParquetColumn(file.path, column).check()
        elif file.kind in (DataFormat.CSV, DataFormat.TSV):
            next(read_units(file, column), None)
        elif column and not file.has_columns:
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
        total = files[index].size
        share = _Share()
        is_followed = not by_file and index + 1 < len(files)
        done = 0
        for unit in read_units(files[index], column, place, share, is_followed=is_followed):
            units.append(unit)
            place += 1
            count += len(unit.sentences)
            held += sum(len(sentence.source) for sentence in unit.sentences) or unit.size
            if (
                count >= sentences
                or len(units) >= _UNITS_PER_SENTENCE * sentences
                or held >= _LENGTH * sentences
            ):
                size += share.done - max(done, share.skipped)
                yield Batch(units, Position(index, place), size)
                done = share.done
                units, count, held, size = [], 0, 0, 0
        size += total - max(done, share.skipped)
        if by_file:
            yield Batch(units, Position(index + 1), size, ends_file=True)
            units, count, held, size = [], 0, 0, 0
    if units:
        yield Batch(units, Position(len(files)), size, ends_file=True)


class _Share:
    """How many bytes of a file have been read, and how many of them to pass over units."""

    done = skipped = 0


def read_units(
    file: DataFile,
    column: str | None = None,
    skip: int = 0,
    share: _Share | None = None,
    *,
    is_followed: bool = False,
) -> Iterator[Unit]:
    """The units of a file, without the first ``skip``. Where another file follows in the same
    output, the last line gets a line end if it has none.

    Where packed or Parquet data prove broken, a last unit with that problem ends the file.
    """
    share = share or _Share()
    if file.kind is DataFormat.PARQUET:
        units = _parquet(file, column, skip, share)
    else:
        units = _lines_units(file, column, skip, share, is_followed=is_followed)
    try:
        for unit in units:
            yield too_long(unit, LONGEST_SENTENCE)
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        raise InputError(f"{file.name} cannot be read: {reason}.") from error


def _parquet(file: DataFile, column: str | None, skip: int, share: _Share) -> Iterator[Unit]:
    for unit in ParquetColumn(file.path, column).units(skip):
        share.skipped = share.skipped or skip * unit.size
        share.done = max(share.done, share.skipped) + unit.size
        yield unit


def _lines_units(
    file: DataFile, column: str | None, skip: int, share: _Share, *, is_followed: bool
) -> Iterator[Unit]:
    csv.field_size_limit(LONGEST)
    with file.unpacked() as stream:
        text = io.TextIOWrapper(io.BufferedReader(stream), "utf-8", "surrogateescape", newline="")
        lines = _Lines(text, is_followed=is_followed)
        number = 0
        try:
            for number, unit in enumerate(_of_kind(file, column, lines, skip), start=1):
                share.done = stream.done
                if number > skip:
                    yield unit
                elif number == skip:
                    share.skipped = share.done
        except InputError:  # the header may be what is broken
            if stream.error is None:
                raise
        if stream.error and number + 1 > skip:
            yield broken_unit(file.name, stream.error)


def _of_kind(file: DataFile, column: str | None, lines: "_Lines", skip: int) -> Iterator[Unit]:
    name = file.name
    match file.kind:
        case DataFormat.LINES:
            return marked(line_units(lines, name), lambda: lines.mark)
        case DataFormat.JSONL:
            return json_units(lines, name, [column]) if column else json_units(lines, name)
        case DataFormat.TSV:
            return table_units(tsv_rows(lines), name, column) if column else tsv_units(lines, name)
        case DataFormat.CSV:
            return table_units(csv_rows(lines), name, column)
        case _:
            return marked(block_units(map(str, lines), name, skip), lambda: lines.mark)


class _Lines(Iterator[str]):
    """Lines with their ends; one that is too long comes in pieces. ``mark`` is the byte order
    mark that stood before the first. Where another file follows, the last one has an end too."""

    def __init__(self, text: TextIO, *, is_followed: bool) -> None:
        self._text, self._is_followed = text, is_followed
        self._is_inside = False
        self._next = self._text.readline(LONGEST)
        self.mark = _MARK if self._next.startswith(_MARK) else ""
        self._next = self._next.removeprefix(_MARK) or self._text.readline(LONGEST)

    def __next__(self) -> str:
        if not (line := self._next):
            raise StopIteration
        self._next = self._text.readline(LONGEST)
        was_inside = self._is_inside
        is_whole = line.endswith(("\n", "\r"))
        self._is_inside = not is_whole and len(line) >= LONGEST - 1
        if self._is_followed and not self._next and not is_whole:
            line += "\n"
        if not was_inside and not self._is_inside:
            return line
        piece = TextPiece(line)
        piece.is_first = not was_inside
        return piece
