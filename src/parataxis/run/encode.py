"""What a long run writes: the bytes of a batch as text, JSON lines or, for Parquet, Arrow data."""

import gzip
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from pathlib import Path
from typing import Any, BinaryIO

from parataxis.rewrite.jsonl import to_json
from parataxis.rewrite.record import Rewrite
from parataxis.run.files import Packing, arrow
from parataxis.run.units import BadRecord, Unit

ROW_GROUP = 8192
"""Rows of a group in a Parquet file."""


class RecordFormat(StrEnum):
    """What can be written."""

    TEXT = "text"
    JSONL = "jsonl"
    PARQUET = "parquet"


@dataclass(frozen=True)
class RecordEncoder:
    """Turns units and their rewrites into bytes. What it makes of several batches, one after the
    other, is the whole; that of Parquet is made a Parquet file by :func:`write_parquet`.

    Without ``provenance``, records do not say where each word came from, and are much smaller.
    """

    form: RecordFormat
    packing: Packing = Packing.NONE
    provenance: bool = True

    def __call__(self, results: Sequence[tuple[Unit, Sequence[Rewrite]]], splitter: str) -> bytes:
        """The bytes of a batch; ``splitter`` is named in the records of problems."""
        match self.form:
            case RecordFormat.TEXT:
                text = "".join(unit.rebuild(rewrites) for unit, rewrites in results)
                data = text.encode("utf-8", "surrogateescape")
                return self._pack(data) if data else b""
            case RecordFormat.JSONL:
                lines = [f"{line}\n" for line in self._lines(results, splitter)]
                return self._pack("".join(lines).encode()) if lines else b""
            case RecordFormat.PARQUET:
                rows = [
                    to_row(each) if isinstance(each, Rewrite) else _problem_row(each, splitter)
                    for each in self._records(results)
                ]
                return _arrow_bytes(rows)

    @property
    def empty(self) -> bytes:
        """What an output without any record holds."""
        return self._pack(b"")

    def _lines(
        self, results: Sequence[tuple[Unit, Sequence[Rewrite]]], splitter: str
    ) -> Iterator[str]:
        for each in self._records(results):
            if isinstance(each, Rewrite):
                yield to_json(each)
            else:
                row = _problem_row(each, splitter)
                yield json.dumps(row, ensure_ascii=False, separators=(",", ":"))

    def _records(
        self, results: Sequence[tuple[Unit, Sequence[Rewrite]]]
    ) -> Iterator[Rewrite | BadRecord]:
        for unit, rewrites in results:
            if unit.problem:
                yield unit.problem
            for rewrite in rewrites:
                plain = rewrite.model_copy(update={"provenance": None})
                yield rewrite if self.provenance else plain

    def _pack(self, data: bytes) -> bytes:
        """Each batch is packed for itself: such files may be put one after the other."""
        match self.packing:
            case Packing.GZIP:
                return gzip.compress(data, mtime=0)
            case Packing.ZSTD:
                packed: bytes = arrow().Codec("zstd").compress(data, asbytes=True)
                return packed
            case Packing.NONE:
                return data


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


@cache
def parquet_schema() -> Any:
    """The columns of a Parquet file of rewrites: the fields of the record, by the same names.

    ``error`` is there where a record of the input could not be read; ``more`` holds, as JSON,
    fields that a splitter of a third party added.
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
    """The rewrite that a row holds; the row of a problem holds none and is refused."""
    fields = {name: value for name, value in row.items() if value is not None}
    more = json.loads(fields.pop("more", "{}"))
    return Rewrite.model_validate(fields | more)


def _arrow_bytes(rows: Sequence[Mapping[str, Any]]) -> bytes:
    """A batch of rows as an Arrow stream; such can be appended to a file and cut off it again."""
    if not rows:
        return b""
    pa = arrow()
    batch = pa.RecordBatch.from_pylist(list(rows), schema=parquet_schema())
    options = pa.ipc.IpcWriteOptions(compression="zstd")
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, batch.schema, options=options) as writer:
        writer.write_batch(batch)
    data: bytes = sink.getvalue().to_pybytes()
    return data


def write_parquet(streams: BinaryIO, target: Path) -> None:
    """Make a Parquet file of the rows that were encoded, in groups of :data:`ROW_GROUP`; where the
    batches ended cannot be seen in it."""
    pa = arrow()
    from pyarrow import parquet

    held: list[Any] = []
    count = 0
    with parquet.ParquetWriter(target, parquet_schema(), compression="zstd") as writer:
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
