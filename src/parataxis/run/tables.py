"""Tables: TSV, CSV and Parquet files, of which each row is a unit."""

import csv
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from typing import Any, BinaryIO, NamedTuple

from parataxis.errors import InputError
from parataxis.run.files import AnyPath, DataFile, DataFormat, arrow, in_words
from parataxis.run.reading import read_fields
from parataxis.run.rows import ID, Columns, Row
from parataxis.run.units import (
    Unit,
    bad_line,
    broken_unit,
    kept_fields,
    not_text,
    problem_unit,
    rest_unit,
    row_unit,
)
from parataxis.text.files import unquoted
from parataxis.text.inputs import Lines, TextPiece

_ROWS, _BYTES = 1024, 1 << 24
"""How much of a Parquet file is read at a time, about."""


class TableRow(NamedTuple):
    """The cells of a row, the number of its first line, and its text in the file."""

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

    A quote that is not closed does not turn the rest of the file into one cell: its line is bad,
    and reading continues with the next.
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
        """Give these again, before all others."""
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
        cells: Mapping[str, str | None] = dict(
            zip(reversed(names), _filled(row, names), strict=True)
        )
        cell, own = cells.get(label), cells.get(ID) or None
        fields = {each: cells[each] for each in kept}
        made = Row(own or f"{name}:{row.number}", name, "", (), None if row.complaint else fields)
        surplus = any(each.strip() for each in row.cells[len(names) :])
        complaint = row.complaint or _complaint(cell and cell.strip(), label)
        if surplus:  # as where a comma in a text is not quoted: a part of it would be lost
            complaint = f"it has {len(row.cells)} cells, and the header {len(names)}"
        if complaint or cell is None:
            yield bad_line(name, row.number, complaint, row.line, own=own, row=made)
        else:
            yield row_unit(made, cell.strip(), columns, size=len(row.line.encode()))


def _filled(row: TableRow, names: Sequence[str]) -> list[str | None]:
    """The cells of a row, the last one first, so that of two columns with one name the first
    counts; a short row lacks cells."""
    cells = [*row.cells[: len(names)], *[None] * (len(names) - len(row.cells))]
    return cells[::-1]


class ParquetRows:
    """The rows of a Parquet file, read in pieces: memory does not grow with the file."""

    def __init__(self, path: AnyPath, columns: Columns) -> None:
        arrow()
        self._path, self._name, self._columns = path, str(path), columns

    def check(self) -> None:
        """Raise InputError where there is no such column of text. A file that is damaged or not
        Parquet is reported when it is read."""
        with self._path.open("rb") as stream, suppress(*_broken()):
            self._open(stream)

    def schema(self) -> Any:
        """The types of the columns that are kept; None where the file is damaged."""
        with self._path.open("rb") as stream, suppress(*_broken()):
            file, _ = self._open(stream)
            schema = file.schema_arrow
            pa = arrow()
            names = self._columns.kept(schema.names, self._name)
            return pa.schema([(each, _plain_type(schema.field(each).type)) for each in names])
        return None

    def units(self, skip: int = 0) -> Iterator[Unit]:
        """The rows, without the first ``skip``; whole row groups are skipped unread.

        Where the file is damaged, a unit with that problem is the last one.
        """
        number = 0
        with self._path.open("rb") as stream:
            try:
                file, label = self._open(stream)
                size = max(1, self._path.stat().st_size // max(1, file.metadata.num_rows))
                for group in range(file.num_row_groups):
                    rows = file.metadata.row_group(group).num_rows
                    if number + rows < skip:  # where a group is damaged, its rows are no units
                        number += rows
                        continue
                    for own, cell, fields in self._rows(file, group, label):
                        number += 1
                        if number > skip:
                            yield self._unit(own, number, cell, fields, label, size)
            except _broken() as error:
                if isinstance(error, OSError) and error.errno is not None:
                    raise
                if number + 1 > skip:
                    yield broken_unit(self._name, error)

    def _open(self, stream: BinaryIO) -> tuple[Any, str]:
        """The file, and the name of its column of text."""
        from pyarrow import parquet

        # Without these two, a row group, which may be the whole file, is read at once.
        file = parquet.ParquetFile(stream, buffer_size=1 << 20, pre_buffer=False)
        schema = file.schema_arrow
        label = self._columns.find(schema.names, self._name)
        if schema.names.count(label) > 1:
            raise InputError(f'{self._name} has more than one column "{label}".')
        kind = _field_type(schema, label)
        if kind is None:
            raise self._columns.missing(schema.names, self._name)
        if not _is_text(kind):
            raise InputError(f'The column "{label}" of {self._name} is {kind}, not text.')
        return file, label

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

    def _unit(
        self,
        own: object,
        number: int,
        text: str | None,
        fields: Mapping[str, Any],
        label: str,
        size: int,
    ) -> Unit:
        given = f"{self._name}:{number}" if own is None else str(own)
        row = Row(given, self._name, "", (), fields)
        complaint = cell_complaint(text, label)
        if complaint or text is None:
            return problem_unit(
                self._name,
                number,
                complaint,
                text or "",
                f"{text or ''}\n",
                word="row",
                own=given,
                row=row,
            )
        return row_unit(row, text, self._columns, size=size)


def kept_schema(file: DataFile, columns: Columns) -> Any:
    """The types of the columns of a file that are kept. Those of JSON lines are the types that the
    first records have; where these differ or are nested, there is no column."""
    pa = arrow()
    match file.kind:
        case DataFormat.PARQUET:
            return ParquetRows(file.path, columns).schema() or pa.schema([])
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


def united(schemas: Mapping[str, Any]) -> Any:
    """One schema for the columns of several files."""
    pa = arrow()
    try:
        return pa.unify_schemas(list(schemas.values()), promote_options="permissive")
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


def _field_type(schema: Any, name: str) -> Any:
    """The type of a column or of a field in a column of structs; None where there is none."""
    if name in schema.names:
        return schema.field(name).type
    outer, *inner = name.split(".")
    kind = schema.field(outer).type
    for each in inner:
        if not arrow().types.is_struct(kind) or kind.get_field_index(each) < 0:
            return None
        kind = kind.field(each).type
    return kind


def _plain_type(kind: Any) -> Any:
    """The type of the values, where a column is dictionary-encoded."""
    return kind.value_type if arrow().types.is_dictionary(kind) else kind


def _values(column: Any) -> Sequence[Any]:
    """The cells of a column that is kept, as objects from which it can be made again."""
    types = arrow().types
    if _is_text(column.type) and not types.is_null(column.type):
        return cell_texts(column, strip=False)
    if types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    if types.is_temporal(column.type) or types.is_nested(column.type):
        # Python's times hold fewer years and digits than Arrow's, so these stay columns of one row.
        return [
            column.take([place]) if is_there else None
            for place, is_there in enumerate(column.is_valid().to_pylist())
        ]
    values: list[Any] = column.to_pylist()
    return values


def cell_complaint(cell: str | None, column: str) -> str:
    """What is wrong with a cell as :func:`cell_texts` gives it, or nothing."""
    return not_text(cell or "") or _complaint(cell, column)


def _complaint(cell: str | None, column: str) -> str:
    if cell is None:
        return f'there is nothing in the column "{column}"'
    return "" if cell else f'the column "{column}" is empty'


def _broken() -> tuple[type[Exception], ...]:
    """The errors of a damaged file."""
    return arrow().ArrowException, OSError


def _is_text(kind: Any) -> bool:
    """Whether a column holds text; one of nulls alone has no other type."""
    types = arrow().types
    if types.is_dictionary(kind):
        kind = kind.value_type
    return any(
        is_one(kind)
        for is_one in (types.is_string, types.is_large_string, types.is_string_view, types.is_null)
    )


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
