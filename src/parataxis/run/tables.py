"""Sentences in a column of a table: TSV, CSV and Parquet files; each row is a unit."""

import csv
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

from parataxis.errors import InputError
from parataxis.run.files import RemotePath, arrow
from parataxis.run.units import (
    HEADERS,
    TextPiece,
    Unit,
    bad_line,
    broken_unit,
    cell_unit,
    not_text,
    problem_unit,
    rest_unit,
)
from parataxis.text.files import unquoted

_ID = "id"
_ROWS, _BYTES = 1024, 1 << 24
"""How much of a Parquet file is read at a time, about."""


class TableRow(NamedTuple):
    """The cells of a row, the line it begins in, and how it stands in the file."""

    number: int
    cells: Sequence[str]
    line: str
    complaint: str = ""


def tsv_rows(lines: Iterable[str]) -> Iterator[TableRow]:
    """The rows of tab-separated lines."""
    number = 0
    for line in lines:
        number += not isinstance(line, TextPiece) or line.is_first
        complaint = not_text(line)
        cells = [] if complaint else [unquoted(cell) for cell in line.rstrip("\r\n").split("\t")]
        yield TableRow(number, cells, line, complaint)


def csv_rows(lines: Iterable[str]) -> Iterator[TableRow]:
    """The rows of comma-separated lines; a cell in quotes may hold line ends.

    Where a quote is not closed again, not all that follows is taken for one cell: its line is bad,
    and reading goes on with the next.
    """
    left = _PutBack(lines)
    number = 1
    for line in left:
        taken = [line]
        is_piece = isinstance(line, TextPiece)
        cells, complaint = ([], not_text(line)) if is_piece else _csv_row(taken, left)
        yield TableRow(number, cells, line if len(taken) == 1 else "".join(taken), complaint)
        number += sum(not isinstance(each, TextPiece) or each.is_first for each in taken)


def _csv_row(taken: list[str], left: "_PutBack") -> tuple[list[str], str]:
    """The cells of the row that begins with the line taken, and what is wrong with it; more lines
    are taken where it has more."""
    try:
        cells = next(csv.reader(_row_lines(taken, left)))
        if len(taken) > 1:  # a quote that is followed by more than a comma belongs to another cell
            next(csv.reader(taken, strict=True))
        return cells, next(filter(None, map(not_text, taken)), "")
    except (_UnclosedError, csv.Error) as error:
        if len(taken) == 1 and isinstance(error, csv.Error):
            return [], f"this is no row of CSV ({error})"
        left.put_back(taken[1:])
        del taken[1:]
        return [], "a quote is opened in this line, and not closed again"


def _row_lines(taken: list[str], left: "_PutBack") -> Iterator[str]:
    """The lines of a row, as long as more are asked for: that is, inside quotes."""
    yield taken[0]
    length = len(taken[0])
    for line in left:
        taken.append(line)
        length += len(line)
        if isinstance(line, TextPiece) or length > csv.field_size_limit():
            break
        yield line
    raise _UnclosedError


class _UnclosedError(Exception):
    """More lines were wanted for a row than there are."""


class _PutBack(Iterator[str]):
    """Lines of which the last ones can be put back."""

    def __init__(self, lines: Iterable[str]) -> None:
        self._lines = iter(lines)
        self._back: list[str] = []

    def __next__(self) -> str:
        return self._back.pop() if self._back else next(self._lines)

    def put_back(self, lines: Sequence[str]) -> None:
        """Give these again, before all others."""
        self._back.extend(reversed(lines))


def find_column(header: Sequence[str], column: str | None, name: str) -> int:
    """Where in the header the column of the sources stands."""
    names = [each.strip() for each in header]
    wanted = [column] if column else list(HEADERS)
    for each in wanted:
        if each in names:
            return names.index(each)
    listed = ", ".join(names[:20]) or "none"
    if column:
        raise InputError(f'{name} has no column "{column}"; its columns are: {listed}.')
    raise InputError(f"{name} has the columns {listed}; name one with --column.")


def table_units(rows: Iterator[TableRow], name: str, column: str | None) -> Iterator[Unit]:
    """The cells of a column under a header; a column named "id" gives the ids."""
    first = next(rows, None)
    if first is None:
        return
    place = find_column(first.cells, column, name)
    label = first.cells[place].strip()
    ids = list(first.cells).index(_ID) if _ID in first.cells else None
    for row in rows:
        if isinstance(row.line, TextPiece) and not row.line.is_first:
            yield rest_unit(row.line)
            continue
        if not row.line.strip():
            continue
        cell = row.cells[place].strip() if place < len(row.cells) else None
        own = row.cells[ids] if ids is not None and ids < len(row.cells) else None
        complaint = row.complaint or _complaint(cell, label)
        if complaint or cell is None:
            yield bad_line(name, row.number, complaint, row.line, own=own)
        else:
            size = len(row.line.encode())
            yield cell_unit(own, name, row.number, cell, size=size)


class ParquetColumn:
    """The text column of a Parquet file, read in pieces: memory does not grow with the file."""

    def __init__(self, path: Path | RemotePath, column: str | None) -> None:
        arrow()
        self._path, self._name, self._wanted = path, str(path), column

    def check(self) -> None:
        """Raise InputError where there is no such column of text; that a file is broken, or not
        Parquet, is found when it is read."""
        with self._path.open("rb") as stream, suppress(*_broken()):
            self._open(stream)

    def units(self, skip: int = 0) -> Iterator[Unit]:
        """The rows, without the first ``skip``; whole groups of rows are skipped unread.

        Where the file proves broken, a last unit with that problem ends it.
        """
        number = 0
        with self._path.open("rb") as stream:
            try:
                file, column, columns = self._open(stream)
                size = max(1, self._path.stat().st_size // max(1, file.metadata.num_rows))
                for group in range(file.num_row_groups):
                    rows = file.metadata.row_group(group).num_rows
                    if number + rows < skip:  # where a group is broken, its rows are no units
                        number += rows
                        continue
                    for own, cell in _cells(file, group, column, columns):
                        number += 1
                        if number > skip:
                            yield self._unit(own, number, cell, column, size)
            except _broken() as error:
                if isinstance(error, OSError) and error.errno is not None:
                    raise
                if number + 1 > skip:
                    yield broken_unit(self._name, error)

    def _open(self, stream: BinaryIO) -> tuple[Any, str, list[str]]:
        from pyarrow import parquet

        # Without these two, a group of rows, which may be the whole file, is read at once.
        file = parquet.ParquetFile(stream, buffer_size=1 << 20, pre_buffer=False)
        schema = file.schema_arrow
        column = schema.names[find_column(schema.names, self._wanted, self._name)]
        if schema.names.count(column) > 1:
            raise InputError(f'{self._name} has more than one column "{column}".')
        kind = schema.field(column).type
        if not _is_text(kind):
            raise InputError(f'The column "{column}" of {self._name} is {kind}, not text.')
        has_ids = schema.names.count(_ID) == 1 and column != _ID
        return file, column, [column, _ID] if has_ids else [column]

    def _unit(self, own: object, number: int, text: str | None, column: str, size: int) -> Unit:
        given = None if own is None else str(own)
        complaint = cell_complaint(text, column)
        if complaint or text is None:
            line = f"{text or ''}\n"
            return problem_unit(
                self._name, number, complaint, text or "", line, word="row", own=given
            )
        return cell_unit(given, self._name, number, text, size=size)


def _cells(
    file: Any, group: int, column: str, columns: Sequence[str]
) -> Iterator[tuple[object, str | None]]:
    """The ids and cells of a group of rows."""
    about = file.metadata.row_group(group)
    length = max(1, about.total_byte_size // max(1, about.num_rows))
    rows = min(_ROWS, max(1, _BYTES // length))
    for batch in file.iter_batches(rows, row_groups=[group], columns=columns):
        cells = cell_texts(batch.column(column))
        ids = batch.column(_ID).to_pylist() if _ID in columns else [None] * len(cells)
        yield from zip(ids, cells, strict=True)


def cell_complaint(cell: str | None, column: str) -> str:
    """What is wrong with a cell as :func:`cell_texts` gives it, or nothing."""
    return not_text(cell or "") or _complaint(cell, column)


def _complaint(cell: str | None, column: str) -> str:
    if cell is None:
        return f'there is nothing in the column "{column}"'
    return "" if cell else f'the column "{column}" is empty'


def _broken() -> tuple[type[Exception], ...]:
    """The errors that tell that a file is broken."""
    return arrow().ArrowException, OSError


def _is_text(kind: Any) -> bool:
    """Whether a column can be one of text; where all its cells are null, it has no other type."""
    types = arrow().types
    if types.is_dictionary(kind):
        kind = kind.value_type
    return any(
        is_one(kind)
        for is_one in (types.is_string, types.is_large_string, types.is_string_view, types.is_null)
    )


def cell_texts(column: Any) -> list[str | None]:
    """The cells of a column of Arrow, which does not look whether text is UTF-8."""
    pa = arrow()
    if not _is_text(column.type):
        raise InputError(f"A column of {column.type} was given, not one of text.")
    if pa.types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    cells: list[bytes | None] = column.cast(pa.large_binary()).to_pylist()
    return [
        cell if cell is None else cell.decode("utf-8", "surrogateescape").strip() for cell in cells
    ]
