"""The output formats: how the units of a batch and their rewrites become bytes."""

import gzip
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cache
from pathlib import Path
from types import NoneType
from typing import TYPE_CHECKING, Any, BinaryIO, NamedTuple, get_args, get_origin

from pydantic import BaseModel

from parataxis.rewrite.compose import left_whole
from parataxis.rewrite.jsonl import to_json
from parataxis.rewrite.record import Rewrite
from parataxis.run.files import Packing, arrow
from parataxis.run.units import ID, BadRecord, Row, RowKind, Unit, unit_claims

if TYPE_CHECKING:
    from parataxis.splitters.claims import Claim
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


_COLUMNS = [
    *("id", "source", "simple", "splitter", "weights", "note", "confidence", "further"),
    *("provenance", "findings"),
]
"""The fields of a rewrite that are columns of a table. All fields of a claim are."""

RECORDS = (OutputFormat.JSON, OutputFormat.JSONL, OutputFormat.PARQUET)
"""The formats that have records, with the columns that are kept."""


class OutputFrame(NamedTuple):
    """What stands around and between the batches of an output; ``empty`` is all of one without
    any bytes."""

    start: bytes = b""
    separator: bytes = b""
    end: bytes = b""
    empty: bytes = b""


@dataclass(frozen=True)
class RecordEncoder:
    """Turns units and their rewrites into bytes, a batch at a time; ``frame`` stands between the
    batches, and :func:`write_parquet` makes a file of those of Parquet.

    Without ``provenance``, records do not say where each word came from. ``rows`` says whether each
    row of the input gives a record, each sentence or each claim; ``names`` are put into claims in
    place of pronouns. With ``explain``, patterns are shown.
    ``title`` is that of a page; ``header`` says whether a diff names the sentences. ``kept`` are,
    for Parquet, the types of the kept columns by the name of the input file, or for all under "".
    """

    form: OutputFormat
    packing: Packing = Packing.NONE
    provenance: bool = True
    rows: RowKind = RowKind.INPUT
    names: bool = False
    explain: bool = False
    title: str = ""
    header: bool = True
    colour: bool = False
    kept: Mapping[str, Any] = field(default_factory=dict)

    @property
    def _fields(self) -> frozenset[str]:
        """The fields of a record. A column of the input with such a name is not kept; plain
        rewrites have no level."""
        if self.rows is RowKind.CLAIM:
            return frozenset([*_claim_fields(), "error"]).difference([ID])
        absent = [ID, "level", *([] if self.provenance else ["provenance"])]
        return frozenset([*Rewrite.model_fields, "error"]).difference(absent)

    @property
    def needs_patterns(self) -> bool:
        """Whether the patterns of the sources are written."""
        return self.explain or self.form is OutputFormat.HTML

    @property
    def frame(self) -> OutputFrame:
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
        if not self.provenance and self.rows is not RowKind.CLAIM:  # claims need it
            bare = {"provenance": None}
            results = [
                (unit, [each.model_copy(update=bare) for each in all_]) for unit, all_ in results
            ]
        match self.form:
            case OutputFormat.TEXT if self.rows is RowKind.CLAIM:
                records = self._records(results, None)
                claims = (
                    each.text for each, _ in records if not isinstance(each, Rewrite | BadRecord)
                )
                text = "".join(f"{claim}\n" for claim in claims)
            case OutputFormat.TEXT if not self.explain:
                data = "".join(unit.rebuild(rewrites) for unit, rewrites in results)
                return self._pack(data.encode("utf-8", "surrogateescape")) if data else b""
            case OutputFormat.PARQUET:
                return self._arrow(list(self._records(results, patterns)), splitter)
            case OutputFormat.JSONL:
                text = "".join(f"{line}\n" for line in self._lines(results, splitter, patterns))
            case OutputFormat.JSON:
                text = ",".join(f"\n{line}" for line in self._lines(results, splitter, patterns))
            case _:
                text = self._shown(results, splitter, patterns)
        return self._pack(text.encode("utf-8", "replace")) if text else b""

    def _shown(self, results: Results, splitter: str, patterns: Patterns) -> str:
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
    ) -> Iterator["tuple[Rewrite | Claim | BadRecord, Row | None]"]:
        """The records, each with the row that it comes from."""
        ready = iter(patterns or ())
        claims = unit_claims(results, names=self.names) if self.rows is RowKind.CLAIM else None
        for unit, rewrites in results:
            if unit.problem:
                yield unit.problem, unit.row
            if claims is not None:
                yield from ((claim, unit.row) for claim in next(claims))
                continue
            if patterns is not None:
                rewrites = [_with_patterns(each, next(ready)) for each in rewrites]
            if unit.row and rewrites and self.rows is RowKind.INPUT:
                yield unit.row.joined(rewrites), unit.row
            else:
                yield from ((rewrite, unit.row) for rewrite in rewrites)

    def _lines(self, results: Results, splitter: str, patterns: Patterns) -> Iterator[str]:
        own = self._fields
        for record, row in self._records(results, patterns):
            kept = {
                name: value
                for name, value in ((row and row.fields) or {}).items()
                if name not in own and (name != ID or not isinstance(value, str | None))
            }
            if isinstance(record, BadRecord):
                made = self._problem_row(record, splitter)
                line = _dumped({each: made[each] for each in made if each not in kept})
            elif not isinstance(record, Rewrite):
                kept.pop(ID, None)  # that of the row is the document of the claim
                line = record.model_dump_json(exclude_none=True)
            elif ID in kept:
                line = record.model_dump_json(exclude_none=True, exclude={ID})
            else:
                line = to_json(record)
            names = set()
            if isinstance(record, Rewrite):
                names = {*(record.model_extra or {}), *(["level"] if record.level else [])}
            kept = {name: value for name, value in kept.items() if name not in names}
            yield f"{line[:-1]},{_dumped(kept)[1:]}" if kept else line

    def schema(self, table: str = "") -> Any:
        """The columns of the Parquet file that is made of an input file, or of all."""
        pa = arrow()
        kept = self.kept.get(table, self.kept.get("", pa.schema([])))
        own = self._fields
        first = [each for each in kept if each.name not in own and each.name != "more"]
        if self.rows is RowKind.CLAIM:
            first = [each for each in first if each.name != ID]
        names = {each.name for each in first} | (set() if self.provenance else {"provenance"})
        columns = parquet_schema(is_claims=self.rows is RowKind.CLAIM)
        return pa.schema([*first, *(each for each in columns if each.name not in names)])

    def _arrow(
        self, records: "Sequence[tuple[Rewrite | Claim | BadRecord, Row | None]]", splitter: str
    ) -> bytes:
        """A batch of rows as an Arrow stream; such can be appended to a file and cut off again."""
        if not records:
            return b""
        pa, own = arrow(), self._fields
        schema = plain_schema(self.schema(next((row.table for _, row in records if row), "")))
        rows = [
            self._problem_row(each, splitter) if isinstance(each, BadRecord) else to_row(each)
            for each, _ in records
        ]
        fields = [(row and row.fields) or {} for _, row in records]
        if self.rows is RowKind.CLAIM:  # the id of a row is the document of its claims
            own = own | {ID}
        is_kept = set(schema.names).difference(own, ["more"])
        misfits: list[dict[str, Any]] = [
            {name: each[name] for name in each if name not in is_kept and name not in own}
            for each in fields
        ]
        columns = {}
        for name in is_kept:
            values = [
                row.get(name) if each.get(name) is None else each.get(name)
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

    def _problem_row(self, problem: BadRecord, splitter: str) -> dict[str, Any]:
        """The record of a problem: no simple sentences, and the reason."""
        source = problem.source.encode("utf-8", "surrogateescape").decode("utf-8", "replace")
        return {
            "source": source,
            **({} if self.rows is RowKind.CLAIM else {"simple": []}),
            "splitter": splitter,
            "id": problem.id.encode("utf-8", "replace").decode(),
            "error": problem.complaint,
        }

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


def _with_patterns(rewrite: Rewrite, patterns: Sequence["Occurrence"]) -> Rewrite:
    source = rewrite.source
    found = [
        {"pattern": p.pattern, "words": source[p.start : p.end], "start": p.start, "end": p.end}
        for p in patterns
    ]
    return rewrite.model_copy(update={"patterns": found})


def _passed(problem: BadRecord | None, splitter: str) -> list[Rewrite]:
    if problem is None or not problem.source.strip():
        return []
    text = problem.source.encode("utf-8", "surrogateescape").decode("utf-8", "replace")
    whole = left_whole(text, splitter=splitter, note=f"Passed through: {problem.complaint}.")
    return [whole.model_copy(update={"id": problem.id})]


def _dumped(fields: Mapping[str, Any]) -> str:
    return json.dumps(_plain(fields), ensure_ascii=False, separators=(",", ":"), default=_as_text)


def _plain(value: Any) -> Any:
    """A value that JSON knows: times of Arrow become text, and numbers that are none, null."""
    if hasattr(value, "to_pylist"):  # a column of Arrow with one row
        value = value[0]
    if hasattr(value, "as_py"):
        value = _arrow_value(value)
    if isinstance(value, float) and value - value != 0:  # infinite, or no number
        return None
    if isinstance(value, Mapping):
        return {str(name): _plain(each) for name, each in value.items()}
    return [_plain(each) for each in value] if isinstance(value, list | tuple) else value


def _arrow_value(scalar: Any) -> Any:
    types, kind = arrow().types, scalar.type
    if not scalar.is_valid:
        return None
    if types.is_struct(kind):
        return {kind.field(n).name: scalar[n] for n in range(kind.num_fields)}
    if types.is_map(kind):
        return list(zip(scalar.values.field(0), scalar.values.field(1), strict=True))
    if types.is_nested(kind) and hasattr(scalar, "values"):
        return list(scalar.values)
    if types.is_timestamp(kind) or types.is_date(kind) or types.is_time(kind):
        return scalar.cast("string").as_py()
    try:
        return scalar.as_py()
    except (ValueError, OverflowError):
        return str(scalar)


def _as_text(value: Any) -> str:
    return value.decode("utf-8", "backslashreplace") if isinstance(value, bytes) else str(value)


def _column(values: Sequence[Any], kind: Any) -> tuple[Any, list[int]]:
    """A column of this type, and the places of the values that do not fit it, which are null."""
    pa = arrow()
    try:
        cells = [each[0].cast(kind) if isinstance(each, pa.Array) else each for each in values]
        return pa.array(cells, kind), []
    except (TypeError, ValueError, OverflowError):  # Arrow's errors are such
        if len(values) == 1:
            return pa.nulls(1, kind), [0]
    parts = [_column([value], kind) for value in values]
    bad = [place for place, (_, misfits) in enumerate(parts) if misfits]
    return pa.concat_arrays([part for part, _ in parts]), bad


def _claim_fields() -> Mapping[str, Any]:
    from parataxis.splitters.claims import Claim

    return Claim.model_fields


@cache
def parquet_schema(*, is_claims: bool = False) -> Any:
    """The columns of a Parquet file of rewrites or claims: the fields of the record, by its names.
    ``error`` says why a record of the input could not be read; ``more`` holds, as JSON, fields that
    have no column and values that do not fit the type of their column."""
    fields = _claim_fields() if is_claims else Rewrite.model_fields
    names = list(fields) if is_claims else _COLUMNS
    types = [(name, _arrow_type(fields[name].annotation)) for name in names]
    return arrow().schema([*types, *[(name, arrow().string()) for name in ("error", "more")]])


def _arrow_type(kind: Any) -> Any:
    pa = arrow()
    inner = [each for each in get_args(kind) if each not in (NoneType, Ellipsis)]
    if get_origin(kind) is tuple:
        return pa.list_(_arrow_type(inner[0]))
    if inner:
        return _arrow_type(inner[0])
    if issubclass(kind, BaseModel):
        fields = kind.model_fields.items()
        return pa.struct([(name, _arrow_type(each.annotation)) for name, each in fields])
    return {int: pa.int32(), float: pa.float64()}.get(kind, pa.string())


def plain_schema(schema: Any) -> Any:
    """A schema with the types of the values in place of dictionaries."""
    pa = arrow()
    types = [(each.name, each.type) for each in schema]
    return pa.schema(
        [(name, kind.value_type if pa.types.is_dictionary(kind) else kind) for name, kind in types]
    )


def to_row(record: "Rewrite | Claim") -> dict[str, Any]:
    """A rewrite or a claim as a row of :func:`parquet_schema`."""
    if not isinstance(record, Rewrite):
        return record.model_dump(mode="json", exclude_none=True)
    more = dict(record.model_extra or {})
    row = record.model_dump(mode="json", exclude=set(more), exclude_none=True)
    more |= {name: row.pop(name) for name in list(row) if name not in _COLUMNS}
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


def write_parquet(streams: BinaryIO, target: Path | BinaryIO, schema: Any = None) -> None:
    """Make a Parquet file of the encoded rows, in groups of :data:`ROW_GROUP`: the file does not
    depend on where batches ended."""
    pa = arrow()
    from pyarrow import parquet

    schema = schema or parquet_schema()
    held: list[Any] = []
    with parquet.ParquetWriter(target, schema, compression="zstd") as writer:

        def write(table: Any) -> None:
            writer.write_table(table.combine_chunks().cast(schema), ROW_GROUP)

        while streams.peek(1):  # type: ignore[attr-defined]  # a buffered file has it
            held += pa.ipc.open_stream(streams)
            while sum(map(len, held)) >= ROW_GROUP:
                table = pa.Table.from_batches(held)
                write(table[:ROW_GROUP])
                held = table[ROW_GROUP:].to_batches()
        if held and (table := pa.Table.from_batches(held)):
            write(table)
