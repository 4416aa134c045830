"""The output formats: how the units of a batch and their rewrites become bytes."""

import gzip
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, NamedTuple

from parataxis.rewrite.compose import left_whole
from parataxis.rewrite.jsonl import to_json
from parataxis.rewrite.record import Rewrite
from parataxis.run.files import Packing, arrow
from parataxis.run.rows import ID, Row, RowKind
from parataxis.run.units import BadRecord, Unit

if TYPE_CHECKING:
    from parataxis.syntax.patterns import Occurrence

ROW_GROUP = 8192
"""Rows of a group in a Parquet file."""

Results = Sequence[tuple[Unit, Sequence[Rewrite]]]
Patterns = Sequence[Sequence["Occurrence"]] | None
"""The patterns of each sentence of a batch, where they were asked for."""


class OutputFormat(StrEnum):
    """What ``split`` can write."""

    TEXT = "text"
    JSON = "json"
    JSONL = "jsonl"
    PARQUET = "parquet"
    DIFF = "diff"
    HTML = "html"


RECORDS = (OutputFormat.JSON, OutputFormat.JSONL, OutputFormat.PARQUET)
"""The formats that have records, with the columns that are kept."""

_FIELDS = frozenset([*Rewrite.model_fields, "error"]) - {ID}
"""The fields of a record. A column of the input with the name of one of them is not kept."""


class OutputFrame(NamedTuple):
    """What stands around and between the batches of an output; ``empty`` is all of one without
    any bytes."""

    start: bytes = b""
    separator: bytes = b""
    end: bytes = b""
    empty: bytes = b""


@dataclass(frozen=True)
class RecordEncoder:
    """Turns units and their rewrites into bytes, a batch at a time; an :class:`OutputFrame` is what
    comes between. The bytes of Parquet become a file by :func:`write_parquet`.

    Without ``provenance``, records do not say where each word came from, and are much smaller.
    ``rows`` says whether a record is made for each row of the input or for each sentence. With
    ``explain``, patterns are shown. ``title`` is that of a page, ``header`` says whether a diff
    names the sentences. ``kept`` are, for Parquet, the types of the columns that are kept, by the
    name of the input file or, under "", for all files.
    """

    form: OutputFormat
    packing: Packing = Packing.NONE
    provenance: bool = True
    rows: RowKind = RowKind.INPUT
    explain: bool = False
    title: str = ""
    header: bool = True
    colour: bool = False
    kept: Mapping[str, Any] = field(default_factory=dict)

    @property
    def needs_patterns(self) -> bool:
        """Whether the patterns of the sources are written."""
        return self.explain or self.form is OutputFormat.HTML

    @property
    def frame(self) -> OutputFrame:
        """What stands around and between the batches."""
        start, separator, end = "", "", ""
        if self.form is OutputFormat.JSON:
            start, separator, end = "[", ",", "\n]\n"
        elif self.form is OutputFormat.HTML:
            from parataxis.rewrite.render import page_end, page_start

            start, end = page_start(self.title), page_end()
        elif self.explain and self.form is OutputFormat.TEXT:
            separator = "\n"
        parts = [self._pack(part.encode()) if part else b"" for part in (start, separator, end)]
        return OutputFrame(parts[0], parts[1], parts[2], self._pack(b""))

    def __call__(self, results: Results, splitter: str, patterns: Patterns = None) -> bytes:
        """The bytes of a batch; ``splitter`` is named in the records of problems."""
        if not self.provenance:
            results = [
                (unit, [_without_provenance(each) for each in all_]) for unit, all_ in results
            ]
        match self.form:
            case OutputFormat.TEXT if not self.explain:
                data = "".join(unit.rebuild(rewrites) for unit, rewrites in results)
                return self._pack(data.encode("utf-8", "surrogateescape")) if data else b""
            case OutputFormat.PARQUET:
                return self._arrow(list(self._records(results, patterns)), splitter)
            case OutputFormat.JSONL:
                pieces = [f"{line}\n" for line in self._lines(results, splitter, patterns)]
                text = "".join(pieces)
            case OutputFormat.JSON:
                pieces = [f"\n{line}" for line in self._lines(results, splitter, patterns)]
                text = ",".join(pieces)
            case _:
                text = self._shown(results, splitter, patterns)
        return self._pack(text.encode("utf-8", "replace")) if text else b""

    def _shown(self, results: Results, splitter: str, patterns: Patterns) -> str:
        """The sentences for people to read."""
        from parataxis.rewrite.render import page_entry, render_diff, render_explanation

        ready = iter(patterns or ())
        pieces = []
        for unit, rewrites in results:
            for rewrite in rewrites or _passed(unit.problem, splitter):
                found = next(ready, ()) if rewrites and patterns is not None else None
                if self.form is OutputFormat.HTML:
                    pieces.append(page_entry(rewrite, found or ()))
                elif self.form is OutputFormat.DIFF:
                    piece = render_diff(rewrite, found, header=self.header, colour=self.colour)
                    pieces.append(piece)
                else:
                    pieces.append(render_explanation(rewrite, found or (), colour=self.colour))
        return ("\n" if self.form is OutputFormat.TEXT else "").join(pieces)

    def _records(
        self, results: Results, patterns: Patterns
    ) -> Iterator[tuple[Rewrite | BadRecord, Row | None]]:
        """The records, each with the row that it comes from."""
        ready = iter(patterns or ())
        for unit, rewrites in results:
            if unit.problem:
                yield unit.problem, unit.row
            if patterns is not None:
                rewrites = [_with_patterns(each, next(ready)) for each in rewrites]
            if unit.row and rewrites and self.rows is RowKind.INPUT:
                yield unit.row.joined(rewrites), unit.row
            else:
                yield from ((rewrite, unit.row) for rewrite in rewrites)

    def _lines(self, results: Results, splitter: str, patterns: Patterns) -> Iterator[str]:
        for record, row in self._records(results, patterns):
            kept = {
                name: value
                for name, value in ((row and row.fields) or {}).items()
                if name not in _FIELDS and (name != ID or not isinstance(value, str | None))
            }
            if isinstance(record, BadRecord):
                made = _problem_row(record, splitter)
                line = _dumped({each: made[each] for each in made if each not in kept})
            elif ID in kept:
                line = record.model_dump_json(exclude_none=True, exclude={ID})
            else:
                line = to_json(record)
            names = (record.model_extra or {}) if isinstance(record, Rewrite) else {}
            kept = {name: value for name, value in kept.items() if name not in names}
            yield f"{line[:-1]},{_dumped(kept)[1:]}" if kept else line

    def schema(self, table: str = "") -> Any:
        """The columns of the Parquet file that is made of an input file, or of all."""
        pa = arrow()
        kept = self.kept.get(table, self.kept.get("", pa.schema([])))
        first = [each for each in kept if each.name not in _FIELDS and each.name != "more"]
        names = {each.name for each in first} | (set() if self.provenance else {"provenance"})
        return pa.schema([*first, *(each for each in parquet_schema() if each.name not in names)])

    def _arrow(
        self, records: Sequence[tuple[Rewrite | BadRecord, Row | None]], splitter: str
    ) -> bytes:
        """A batch of rows as an Arrow stream; such can be appended to a file and cut off again."""
        if not records:
            return b""
        pa = arrow()
        schema = self.schema(next((row.table for _, row in records if row), ""))
        rows = [
            to_row(each) if isinstance(each, Rewrite) else _problem_row(each, splitter)
            for each, _ in records
        ]
        fields = [(row and row.fields) or {} for _, row in records]
        is_kept = set(schema.names).difference(_FIELDS, ["more"])
        misfits: list[dict[str, Any]] = [
            {name: each[name] for name in each if name not in is_kept and name not in _FIELDS}
            for each in fields
        ]
        columns = {}
        for name in is_kept:
            values = [
                row.get(ID) if name == ID and each.get(ID) is None else each.get(name)
                for each, row in zip(fields, rows, strict=True)
            ]
            columns[name], bad = _column(values, schema.field(name).type)
            for place in bad:
                misfits[place][name] = values[place]
        for row, each in zip(rows, misfits, strict=True):
            if each:
                row["more"] = _dumped({**json.loads(row.get("more", "{}")), **each})
        for name in schema.names:
            if name not in columns:
                columns[name] = pa.array([row.get(name) for row in rows], schema.field(name).type)
        batch = pa.RecordBatch.from_arrays([columns[name] for name in schema.names], schema=schema)
        options = pa.ipc.IpcWriteOptions(compression="zstd")
        sink = pa.BufferOutputStream()
        with pa.ipc.new_stream(sink, batch.schema, options=options) as writer:
            writer.write_batch(batch)
        data: bytes = sink.getvalue().to_pybytes()
        return data

    def _pack(self, data: bytes) -> bytes:
        """Each batch is compressed separately: such files may be concatenated."""
        match self.packing:
            case Packing.GZIP:
                return gzip.compress(data, mtime=0)
            case Packing.ZSTD:
                packed: bytes = arrow().Codec("zstd").compress(data, asbytes=True)
                return packed
            case Packing.NONE:
                return data


def _without_provenance(rewrite: Rewrite) -> Rewrite:
    return rewrite.model_copy(update={"provenance": None})


def _with_patterns(rewrite: Rewrite, patterns: Sequence["Occurrence"]) -> Rewrite:
    source = rewrite.source
    found = [
        {"pattern": p.pattern, "words": source[p.start : p.end], "start": p.start, "end": p.end}
        for p in patterns
    ]
    return rewrite.model_copy(update={"patterns": found})


def _passed(problem: BadRecord | None, splitter: str) -> list[Rewrite]:
    """What is shown of a problem."""
    if problem is None or not problem.source.strip():
        return []
    text = problem.source.encode("utf-8", "surrogateescape").decode("utf-8", "replace")
    whole = left_whole(text, splitter=splitter, note=f"Passed through: {problem.complaint}.")
    return [whole.model_copy(update={"id": problem.id})]


def _problem_row(problem: BadRecord, splitter: str) -> dict[str, Any]:
    """The record of a problem: no simple sentences, and the reason."""
    source = problem.source.encode("utf-8", "surrogateescape").decode("utf-8", "replace")
    return {
        "source": source,
        "simple": [],
        "splitter": splitter,
        "id": problem.id.encode("utf-8", "replace").decode(),
        "error": problem.complaint,
    }


def _json_value(cell: Any) -> Any:
    """The value of an Arrow column of one row, with times as text."""
    types = arrow().types
    kind = cell.type
    if not cell.is_valid()[0].as_py():
        return None
    if types.is_struct(kind):
        return {kind.field(n).name: _json_value(cell.field(n)) for n in range(kind.num_fields)}
    if types.is_map(kind):
        return [
            list(pair) for pair in zip(*map(_json_values, (cell.keys, cell.items)), strict=True)
        ]
    if types.is_nested(kind) and hasattr(cell, "flatten"):
        return _json_values(cell.flatten())
    if types.is_timestamp(kind) or types.is_date(kind) or types.is_time(kind):
        return cell.cast("string")[0].as_py()
    try:
        return cell[0].as_py()
    except (ValueError, OverflowError):
        return str(cell[0])


def _json_values(column: Any) -> list[Any]:
    return [_json_value(column.slice(place, 1)) for place in range(len(column))]


def _dumped(fields: Mapping[str, Any]) -> str:
    return json.dumps(_plain(fields), ensure_ascii=False, separators=(",", ":"), default=_as_text)


def _plain(value: Any) -> Any:
    """A value without numbers that JSON does not know."""
    if hasattr(value, "is_valid"):  # a column of Arrow with one row
        value = _json_value(value)
    if isinstance(value, float) and value - value != 0:  # infinite, or no number
        return None
    if isinstance(value, Mapping):
        return {str(name): _plain(each) for name, each in value.items()}
    return [_plain(each) for each in value] if isinstance(value, list | tuple) else value


def _as_text(value: Any) -> str:
    return value.decode("utf-8", "backslashreplace") if isinstance(value, bytes) else str(value)


def _column(values: Sequence[Any], kind: Any) -> tuple[Any, list[int]]:
    """A column of this type, and the places of the values that do not fit it, which are null."""
    pa = arrow()
    try:
        if any(isinstance(value, pa.Array) for value in values):
            rows = [
                value.cast(kind) if isinstance(value, pa.Array) else pa.array([value], kind)
                for value in values
            ]
            return pa.concat_arrays(rows), []
        return pa.array(values, kind), []
    except _MISFIT:
        if len(values) == 1:
            return pa.nulls(1, kind), [0]
    parts = [_column([value], kind) for value in values]
    bad = [place for place, (_, misfits) in enumerate(parts) if misfits]
    return pa.concat_arrays([part for part, _ in parts]), bad


_MISFIT = (TypeError, ValueError, OverflowError)  # Arrow's errors are such
"""What is raised where a value is not of the type of its column."""


@cache
def parquet_schema() -> Any:
    """The columns of a Parquet file of rewrites: the fields of the record, by the same names.

    ``error`` is there where a record of the input could not be read; ``more`` holds, as JSON,
    fields that a splitter of a third party added and values that do not fit the type of their
    column.
    """
    pa = arrow()
    token = pa.struct(
        [
            ("text", pa.string()),
            ("start", pa.int32()),
            ("end", pa.int32()),
            ("origin", pa.string()),
            ("source", pa.list_(pa.int32())),
        ]
    )
    finding = pa.struct(
        [
            ("kind", pa.string()),
            ("words", pa.string()),
            ("sentence", pa.int32()),
            ("start", pa.int32()),
            ("end", pa.int32()),
            ("message", pa.string()),
        ]
    )
    return pa.schema(
        [
            ("id", pa.string()),
            ("source", pa.string()),
            ("simple", pa.list_(pa.string())),
            ("splitter", pa.string()),
            ("note", pa.string()),
            ("confidence", pa.float64()),
            ("provenance", pa.list_(pa.list_(token))),
            ("findings", pa.list_(finding)),
            ("error", pa.string()),
            ("more", pa.string()),
        ]
    )


def to_row(rewrite: Rewrite) -> dict[str, Any]:
    """A rewrite as a row of :func:`parquet_schema`."""
    more = rewrite.model_extra or {}
    row = rewrite.model_dump(mode="json", exclude=set(more), exclude_none=True)
    if more:
        row["more"] = json.dumps(more, ensure_ascii=False)
    return row


def from_row(row: Mapping[str, Any]) -> Rewrite:
    """The rewrite in a row; columns that were kept are fields of it. The row of a problem has none
    and is refused."""
    fields = {name: value for name, value in row.items() if value is not None}
    more = json.loads(fields.pop("more", "{}"))
    if ID in fields:
        fields[ID] = str(fields[ID])
    return Rewrite.model_validate(fields | more)


def write_parquet(streams: BinaryIO, target: Path, schema: Any = None) -> None:
    """Make a Parquet file of the rows that were encoded, in groups of :data:`ROW_GROUP`; where the
    batches ended cannot be seen in it."""
    pa = arrow()
    from pyarrow import parquet

    held: list[Any] = []
    count = 0
    with parquet.ParquetWriter(target, schema or parquet_schema(), compression="zstd") as writer:
        for batch in _batches(streams):
            held.append(batch)
            count += len(batch)
            while count >= ROW_GROUP:
                table = pa.Table.from_batches(held)
                writer.write_table(table[:ROW_GROUP].combine_chunks(), ROW_GROUP)
                held = table[ROW_GROUP:].to_batches()
                count -= ROW_GROUP
        if count:
            writer.write_table(pa.Table.from_batches(held).combine_chunks(), ROW_GROUP)


def _batches(streams: BinaryIO) -> Iterator[Any]:
    while streams.peek(1):  # type: ignore[attr-defined]  # a buffered file has it
        yield from arrow().ipc.open_stream(streams)
