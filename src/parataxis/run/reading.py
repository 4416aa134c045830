"""Inputs read as batches of units, from any place in them, in memory that does not grow."""

import csv
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from itertools import islice
from typing import NamedTuple

from parataxis.errors import InputError, system_errors
from parataxis.rewrite.jsonl import SOURCES, field_of, read_record
from parataxis.run.files import DataFile, DataFormat
from parataxis.run.units import (
    Columns,
    Unit,
    block_units,
    broken_unit,
    json_units,
    line_units,
    marked,
    too_long,
    tsv_units,
)
from parataxis.text.inputs import Lines

LONGEST = 1 << 22
"""Characters of the longest line that is read as one."""

LONGEST_SENTENCE = 1 << 17
"""Characters of the longest sentence that is given to a splitter: what is longer is no sentence,
and would take much memory."""

_LOOKED_AT = 1000  # records in which a field is looked for, before a file is said not to have it

_UNITS_PER_SENTENCE = 8
"""Units of a batch for each sentence that it may hold: blank lines must not hold results back."""
_LENGTH = 1024
"""Characters for each sentence of a batch, on average, at most: a rewrite takes some hundred
times as much memory as its sentence, and a column may hold whole documents."""


class Position(NamedTuple):
    """A place between two units: of the file with this index, so many units have been read."""

    file: int = 0
    unit: int = 0


START = Position()


class Batch(NamedTuple):
    """Units that are worked on together, and where reading goes on after them. ``size`` is how many
    bytes of the input files they took; ``ends_file`` says that the last file it came from has been
    read to its end."""

    units: Sequence[Unit]
    end: Position
    size: int
    ends_file: bool = False


def check_columns(files: Sequence[DataFile], columns: Columns) -> None:
    """Raise InputError if a file has no such column, before any work is done. What streams in is
    checked as it is read."""
    for file in files:
        if (columns.text or columns.keep) and not file.has_columns:
            raise InputError(f"{file.name} is {file.kind}, which has no columns.")
        if columns.keep and not columns.text and file.kind is DataFormat.TSV:
            raise InputError(
                f"{file.name} is read without its header; name its column of text with --column, "
                "so that others can be kept."
            )
        if file.is_stream:
            continue
        if file.kind is DataFormat.PARQUET:
            from parataxis.run.tables import ParquetRows

            ParquetRows(file, columns).schema()
        elif file.kind is DataFormat.JSONL:
            check_fields(read_fields(file), columns, file.name)
        elif file.kind in (DataFormat.CSV, DataFormat.TSV):
            next(read_units(file, columns), None)


def read_fields(file: DataFile) -> list[Mapping[str, object]]:
    """The first records of a file of JSON lines, as far as they can be read."""
    records = []
    with file.unpacked() as stream:
        for line in islice(Lines(stream, file.name, strict=False, longest=LONGEST), _LOOKED_AT):
            with suppress(InputError):
                records.append(read_record(line, file.name, 0))
    return records


def check_fields(records: Sequence[Mapping[str, object]], columns: Columns, name: str) -> None:
    """Raise InputError where none of the records has the fields that are asked for."""
    names = list(dict.fromkeys(field for record in records for field in record))
    fields = [columns.text] if columns.text else SOURCES
    if records and not any(_has(record, field) for record in records for field in fields):
        raise columns.missing(names, name)
    for each in columns.keep or ():
        if records and not any(_has(record, each) for record in records):
            columns.kept(names, name)


def _has(record: Mapping[str, object], field: str) -> bool:
    return field in record or field_of(record, field) is not None


def read_batches(
    files: Sequence[DataFile],
    columns: Columns | None = None,
    start: Position = START,
    *,
    sentences: int,
    by_file: bool = False,
) -> Iterator[Batch]:
    """The units from ``start`` on, in batches of about so many sentences. Where a batch ends
    depends only on the files and on where one ended before, never on time or on how many processes
    there are; but a batch of a stream ends where no more has arrived yet. With ``by_file`` no batch
    holds units of two files, and the last one of each file, which may be empty, says that it is."""
    units: list[Unit] = []
    count = held = size = 0
    for index in range(start.file, len(files)):
        place = start.unit if index == start.file else 0
        file, share = files[index], Share()
        portion = file.portion
        total = (portion.start if portion else 0) + file.length
        is_followed = index + 1 < len(files) or bool(portion and portion.is_followed)
        is_followed = is_followed and not by_file
        done = 0
        if file.is_stream and units:
            yield Batch(units, Position(index, 0), size)
            units, count, held, size = [], 0, 0, 0
        for unit in read_units(file, columns, place, share, is_followed=is_followed):
            units.append(unit)
            place += 1
            count += len(unit.sentences)
            held += sum(len(sentence.source) for sentence in unit.sentences) or unit.size
            if (
                count >= sentences
                or len(units) >= _UNITS_PER_SENTENCE * sentences
                or held >= _LENGTH * sentences
                or not share.is_ready()
            ):
                size += share.done - max(done, share.skipped)
                yield Batch(units, Position(index, place), size)
                done = share.done
                units, count, held, size = [], 0, 0, 0
        size += max(0, total - max(done, share.skipped))
        if by_file:
            yield Batch(units, Position(index + 1), size, ends_file=True)
            units, count, held, size = [], 0, 0, 0
    if units:
        yield Batch(units, Position(len(files)), size, ends_file=True)


class Share:
    """How much of a file has been read: bytes in all, bytes of the units that were passed over,
    and whether more of it is there without waiting."""

    done = skipped = 0
    is_ready: Callable[[], bool] = staticmethod(lambda: True)


def read_units(
    file: DataFile,
    columns: Columns | None = None,
    skip: int = 0,
    share: Share | None = None,
    *,
    is_followed: bool = False,
) -> Iterator[Unit]:
    """The units of one file or of its portion, without the first ``skip``. What cannot be read is a
    unit with a problem; so is the rest of a file that is damaged. The last line gets a line end
    where another file follows."""
    columns = columns or Columns()
    with system_errors(f"{file.name} cannot be read"):
        for unit in _units(file, columns, skip, share or Share(), is_followed=is_followed):
            yield too_long(unit, LONGEST_SENTENCE)


def _units(
    file: DataFile, columns: Columns, skip: int, share: Share, *, is_followed: bool
) -> Iterator[Unit]:
    if file.kind is DataFormat.PARQUET:
        from parataxis.run.tables import ParquetRows

        start = file.portion.start if file.portion else 0
        for unit in ParquetRows(file, columns).units(skip):
            share.skipped = share.skipped or start + skip * unit.size
            share.done = max(share.done, share.skipped) + unit.size
            yield unit
        return
    csv.field_size_limit(LONGEST)
    with file.unpacked() as stream:
        lines = Lines(stream, file.name, strict=False, longest=LONGEST, close_last=is_followed)
        if file.is_stream:
            # A block of running text is answered at once: the next one may be long in coming.
            is_text = file.kind is DataFormat.TEXT
            share.is_ready = (lambda: False) if is_text else (lambda: lines.is_ready)
        number = at = 0
        start, stop = file.portion[:2] if file.portion else (0, math.inf)
        try:
            for unit in _of_kind(file, columns, lines, skip):
                share.done = stream.done
                at, place = at + unit.size, at
                if place >= stop:
                    return
                if place < start:
                    share.skipped = share.done
                    continue
                number += 1
                if number > skip:
                    yield unit
                elif number == skip:
                    share.skipped = share.done
        except InputError:  # the header may be what is damaged
            if stream.error is None:
                raise
        if stream.error and number + 1 > skip:
            yield broken_unit(file.name, stream.error)
        if file.is_stream and not lines.has_words and not stream.error:
            raise InputError(f"{file.name} is empty.")


def _of_kind(file: DataFile, columns: Columns, lines: Lines, skip: int) -> Iterator[Unit]:
    name = file.name
    match file.kind:
        case DataFormat.LINES:
            return marked(line_units(lines, name), lambda: lines.byte_order_mark)
        case DataFormat.JSONL:
            checked = _checked(lines, columns, name) if file.is_stream else lines
            return json_units(checked, name, columns)
        case DataFormat.TSV if columns.text is None:
            return tsv_units(lines, name)
        case DataFormat.CSV | DataFormat.TSV:
            from parataxis.run.tables import csv_rows, table_units, tsv_rows

            rows = csv_rows(lines) if file.kind is DataFormat.CSV else tsv_rows(lines)
            return table_units(rows, name, columns)
        case _:
            blocks = block_units(
                map(str, lines), name, skip, file.portion.start if file.portion else 0
            )
            return marked(blocks, lambda: lines.byte_order_mark)


def _checked(lines: Lines, columns: Columns, name: str) -> Iterator[str]:
    """The lines, of which the first that holds a record must have the fields asked for."""
    records: list[Mapping[str, object]] = []
    for line in lines:
        if not records:
            with suppress(InputError):
                records.append(read_record(line, name, 0))
            check_fields(records, columns, name)
        yield line
