"""Tables: TSV, CSV and Parquet files, of which each row is a unit."""

import csv
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from typing import Any, NamedTuple

from parataxis.errors import InputError, in_words
from parataxis.run.encode import plain_schema
from parataxis.run.files import DataFile, DataFormat, arrow
from parataxis.run.reading import read_fields
from parataxis.run.units import (
    ID,
    Columns,
    Row,
    Unit,
    broken_unit,
    kept_fields,
    not_text,
    problem_unit,
    rest_unit,
    row_unit,
)
from parataxis.text.files import unquoted
from parataxis.text.inputs import Lines, TextPiece

_ROWS, _BYTES = 1024, 1 << 24  # how much of a Parquet file is read at a time, about


class TableRow(NamedTuple):
    """The cells of a row, the number of its first line, and its text in the file."""

    number: int
    cells: Sequence[str]
    line: str
    complaint: str = ""


def tsv_rows(lines: Iterable[str]) -> Iterator[TableRow]:
    number = 0
    for line in lines:
        number += not isinstance(line, TextPiece) or line.is_first
        complaint = not_text(line)
        cells = [] if complaint else [unquoted(cell) for cell in line.rstrip("\r\n").split("\t")]
        yield TableRow(number, cells, line, complaint)


def csv_rows(lines: Iterable[str]) -> Iterator[TableRow]:
    """The rows of comma-separated lines; a cell in quotes may hold line ends. A quote that is not
    closed does not turn the rest of the file into one cell: its line is bad, and reading continues
    with the next."""
    left = _PutBack(lines)
    number = 1
    for line in left:
        taken = [line]
        is_piece = isinstance(line, TextPiece)
        cells, complaint = ([], not_text(line)) if is_piece else _csv_row(taken, left)
        yield TableRow(number, cells, line if len(taken) == 1 else "".join(taken), complaint)
        number += sum(not isinstance(each, TextPiece) or each.is_first for each in taken)


def _csv_row(taken: list[str], left: "_PutBack") -> tuple[list[str], str]:
    """The cells of the row that begins with the line in ``taken``, and what is wrong with it; its
    further lines are added to ``taken``."""
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
        self._back.extend(reversed(lines))


def table_units(rows: Iterator[TableRow], name: str, columns: Columns) -> Iterator[Unit]:
    """The rows under a header; a column named "id" gives the ids."""
    first = next(rows, None)
    if first is None:
        return
    names = [each.strip() for each in first.cells]
    label = columns.find(names, name)
    kept = columns.kept(names, name)
    for row in rows:
        if isinstance(row.line, TextPiece) and not row.line.is_first:
            yield rest_unit(row.line)
            continue
        if not row.line.strip():
            continue
        given: list[str | None] = [*row.cells[: len(names)], *[None] * len(names)][: len(names)]
        # Of two columns with one name the first counts.
        cells = dict(zip(reversed(names), reversed(given), strict=True))
        cell, own = cells.get(label), cells.get(ID) or None
        fields = {each: cells[each] for each in kept}
        made = Row(own or f"{name}:{row.number}", name, "", (), None if row.complaint else fields)
        complaint = row.complaint or cell_complaint(cell and cell.strip(), label)
        if any(each.strip() for each in row.cells[len(names) :]):  # a comma that is not quoted?
            complaint = f"it has {len(row.cells)} cells, and the header {len(names)}"
        if complaint or cell is None:
            yield problem_unit(name, row.number, complaint, row.line, own=own, row=made)
        else:
            yield row_unit(made, cell.strip(), columns, size=len(row.line.encode()))


class ParquetRows:
    """The rows of a Parquet file, read in pieces: memory does not grow with the file."""

    def __init__(self, file: DataFile, columns: Columns) -> None:
        self._broken = (arrow().ArrowException, OSError)  # the errors of a damaged file
        self._file, self._name, self._columns = file, file.name, columns

    def schema(self) -> Any:
        """The types of the columns that are kept; none if the file is damaged. Raises InputError if
        there is no such column of text."""
        pa = arrow()
        with suppress(*self._broken), self._opened() as (file, _):
            schema = file.schema_arrow
            kept = [schema.field(each) for each in self._columns.kept(schema.names, self._name)]
            types = [
                pa.dictionary(pa.int32(), each.type.value_type)  # it is made again
                if pa.types.is_dictionary(each.type)
                else each.type
                for each in kept
            ]
            return pa.schema([(each.name, kind) for each, kind in zip(kept, types, strict=True)])
        return pa.schema([])

    def units(self, skip: int = 0) -> Iterator[Unit]:
        """The rows of the file or of its portion, without the first ``skip``; whole row groups are
        skipped unread. If the file is damaged, a unit with that problem is the last one."""
        number = 0
        try:
            with self._opened() as (file, label):
                rows = file.metadata.num_rows
                size = max(1, self._file.size // max(1, rows))
                start, end = self._range(rows)
                skip += start
                for group in range(file.num_row_groups):
                    rows = file.metadata.row_group(group).num_rows
                    if number + rows < skip:  # the rows of a damaged group are no units
                        number += rows
                        continue
                    for own, cell, fields in self._rows(file, group, label):
                        number += 1
                        if number <= skip:
                            continue
                        if number > end:
                            return
                        given = f"{self._name}:{number}" if own is None else str(own)
                        row = Row(given, self._name, "", (), fields)
                        if cell and not cell_complaint(cell, label):
                            yield row_unit(row, cell, self._columns, size=size)
                        else:
                            yield self._problem(number, row, cell, label)
        except self._broken as error:
            if isinstance(error, OSError) and error.errno is not None:
                raise
            is_first = self._file.portion is None or self._file.portion.start == 0
            if number + 1 > skip and (number or is_first):  # another shard reports it otherwise
                yield broken_unit(self._name, error)

    def _range(self, rows: int) -> tuple[int, int]:
        """The rows before the first one of the portion, and before its end."""
        if (portion := self._file.portion) is None:
            return 0, rows
        size = max(1, self._file.size)
        return portion.start * rows // size, int(min(portion.stop, size)) * rows // size

    @contextmanager
    def _opened(self) -> Iterator[tuple[Any, str]]:
        """The file, and the name of its column of text."""
        from pyarrow import parquet

        with self._file.open() as stream:
            # Without these two, a row group, which may be the whole file, is read at once.
            file = parquet.ParquetFile(stream, buffer_size=1 << 20, pre_buffer=False)
            schema = file.schema_arrow
            label = self._columns.find(schema.names, self._name)
            if schema.names.count(label) > 1:
                raise InputError(f'{self._name} has more than one column "{label}".')
            try:
                kind = nested_column(schema.empty_table(), label).type
            except arrow().ArrowException as error:  # there is no such field
                raise self._columns.missing(schema.names, self._name) from error
            if not _is_text(kind):
                raise InputError(f'The column "{label}" of {self._name} is {kind}, not text.')
            yield file, label

    def _rows(
        self, file: Any, group: int, label: str
    ) -> Iterator[tuple[object, str | None, Mapping[str, Any]]]:
        """The ids, cells and kept columns of a row group."""
        names = file.schema_arrow.names
        kept = self._columns.kept(names, self._name)
        outer = label if label in names else label.partition(".")[0]
        wanted = [*kept, *{outer, *([ID] if names.count(ID) == 1 else [])}.difference(kept)]
        about = file.metadata.row_group(group)
        length = max(1, about.total_byte_size // max(1, about.num_rows))
        rows = min(_ROWS, max(1, _BYTES // length))
        for batch in file.iter_batches(rows, row_groups=[group], columns=wanted):
            cells = cell_texts(nested_column(batch, label))
            has_ids = ID in wanted and label != ID
            ids = batch.column(ID).to_pylist() if has_ids else [None] * len(cells)
            values = [_values(batch.column(each)) for each in kept]
            for number, (own, cell) in enumerate(zip(ids, cells, strict=True)):
                yield own, cell, {k: v[number] for k, v in zip(kept, values, strict=True)}

    def _problem(self, number: int, row: Row, cell: str | None, label: str) -> Unit:
        complaint, line = cell_complaint(cell, label), f"{cell or ''}\n"
        return problem_unit(
            self._name, number, complaint, line, source=cell or "", word="row", own=row.id, row=row
        )


def kept_schema(file: DataFile, columns: Columns) -> Any:
    """The types of the columns of a file that are kept. Fields of JSON lines have the type of the
    first records; if these differ or are nested, there is no column."""
    pa = arrow()
    match file.kind:
        case DataFormat.PARQUET:
            return ParquetRows(file, columns).schema()
        case DataFormat.CSV | DataFormat.TSV if columns.text or file.kind is DataFormat.CSV:
            with file.unpacked() as stream:
                lines = Lines(stream, file.name, strict=False)
                rows = csv_rows(lines) if file.kind is DataFormat.CSV else tsv_rows(lines)
                header = next(rows, None)
            names = [each.strip() for each in header.cells] if header else []
            return pa.schema([(each, pa.string()) for each in columns.kept(names, file.name)])
        case DataFormat.JSONL:
            records = [kept_fields(record, columns) for record in read_fields(file)]
            names = list(dict.fromkeys(field for record in records for field in record))
            types = {each: _type_of([record.get(each) for record in records]) for each in names}
            return pa.schema([(name, kind) for name, kind in types.items() if kind])
        case _:
            return pa.schema([])


def united(schemas: Sequence[Any]) -> Any:
    pa = arrow()
    if any(each != schemas[0] for each in schemas):
        schemas = [plain_schema(each) for each in schemas]
    try:
        return pa.unify_schemas(schemas, promote_options="permissive")
    except (TypeError, ValueError) as error:  # Arrow's errors are such
        raise InputError(
            f"The files have columns of one name and different types ({in_words(error)}); write "
            "them to a folder (-o FOLDER/), or choose columns with --keep."
        ) from error


def _type_of(values: Sequence[object]) -> Any:
    """The type of values that came from JSON; None where they are nested or not of one type."""
    pa = arrow()
    try:
        kind = pa.array(values).type
    except (TypeError, ValueError, OverflowError):  # Arrow's errors are such
        return None
    inner = kind.value_type if pa.types.is_list(kind) else kind
    if pa.types.is_null(kind):
        return pa.string()
    return None if pa.types.is_nested(inner) or pa.types.is_null(inner) else kind


def nested_column(table: Any, name: str) -> Any:
    """A column of an Arrow table, or a field in a column of structs: "doc.text"."""
    if name in table.schema.names:
        return table.column(name)
    from pyarrow import compute

    outer, *inner = name.split(".")
    return compute.struct_field(table.column(outer), inner)


def _values(column: Any) -> Sequence[Any]:
    """The cells of a column that is kept, as objects from which it can be made again."""
    types = arrow().types
    if types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    if _is_text(column.type) and not types.is_null(column.type):
        return cell_texts(column, strip=False)
    if types.is_temporal(column.type) or types.is_nested(column.type):
        # Columns of one row: Python's times hold fewer years and digits than Arrow's.
        is_there = column.is_valid().to_pylist()
        return [column.take([place]) if there else None for place, there in enumerate(is_there)]
    values: list[Any] = column.to_pylist()
    return values


def cell_complaint(cell: str | None, column: str) -> str:
    """What is wrong with a cell as :func:`cell_texts` gives it, or nothing."""
    if cell is None:
        return f'there is nothing in the column "{column}"'
    return not_text(cell) if cell else f'the column "{column}" is empty'


def _is_text(kind: Any) -> bool:
    """Whether a column holds text; one of nulls alone has no other type."""
    types = arrow().types
    if types.is_dictionary(kind):
        kind = kind.value_type
    tests = (types.is_string, types.is_large_string, types.is_string_view, types.is_null)
    return any(is_one(kind) for is_one in tests)


def cell_texts(column: Any, *, strip: bool = True) -> list[str | None]:
    """The cells of a column of Arrow, which does not check whether text is UTF-8."""
    pa = arrow()
    if not _is_text(column.type):
        raise InputError(f"A column of {column.type} was given, not one of text.")
    if pa.types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    cells: list[bytes | None] = column.cast(pa.large_binary()).to_pylist()
    texts = [cell if cell is None else cell.decode("utf-8", "surrogateescape") for cell in cells]
    return [text and text.strip() for text in texts] if strip else texts
