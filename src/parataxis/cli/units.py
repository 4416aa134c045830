"""Inputs cut into units: sentences that are split together and written together.

A unit of a document is a block (a paragraph, say), so that results appear as soon as a block has
been read; where each line is a sentence, it is the line.
"""

from collections.abc import Callable, Iterable, Iterator
from enum import StrEnum

from parataxis.api import BATCH
from parataxis.cli.inputs import Input, Lines
from parataxis.errors import InputError
from parataxis.scale.units import (
    Unit,
    block_units,
    gathered,
    json_units,
    line_units,
    marked,
    tsv_units,
)

__all__ = ["InputFormat", "Unit", "batches", "check_records", "input_format", "read_units"]

BATCH_UNITS = 8 * BATCH
"""Units of a batch, with sentences or without: blank lines must not hold results back."""


class InputFormat(StrEnum):
    """How the sentences stand in the input."""

    AUTO = "auto"
    """By the name of the file: .jsonl, .tsv, everything else is text."""
    TEXT = "text"
    LINES = "lines"
    TSV = "tsv"
    JSONL = "jsonl"


def input_format(source: Input, chosen: InputFormat) -> InputFormat:
    """The format of an input, from its suffix where none was chosen."""
    if chosen is not InputFormat.AUTO:
        return chosen
    return {".jsonl": InputFormat.JSONL, ".tsv": InputFormat.TSV}.get(
        source.suffix, InputFormat.TEXT
    )


def check_records(sources: Iterable[Input], chosen: InputFormat) -> None:
    """Read through files of records, so that a malformed line is found before any work."""
    for source in sources:
        if not source.is_stream and input_format(source, chosen) in _READERS:
            with source.lines() as lines:
                for _ in _strict(_READERS[input_format(source, chosen)](lines, source.name)):
                    pass


def read_units(source: Input, chosen: InputFormat) -> Iterator[list[Unit]]:
    """The units of an input, in batches of about :data:`BATCH` sentences, fewer where no more
    has arrived yet."""
    kind = input_format(source, chosen)
    with source.lines() as lines:
        if kind is InputFormat.TEXT:
            # A block of a stream is answered at once: the next one may be long in coming.
            blocks = marked(block_units(lines, source.name), lambda: lines.byte_order_mark)
            yield from batches(_strict(blocks), lambda: not source.is_stream)
        else:
            units = _READERS[kind](lines, source.name)
            if kind is InputFormat.LINES:
                units = marked(units, lambda: lines.byte_order_mark)
            yield from batches(_strict(units), lambda: lines.is_ready)


def batches(units: Iterable[Unit], is_ready: Callable[[], bool]) -> Iterator[list[Unit]]:
    """Put units together as long as the next one is there without waiting."""
    return gathered(units, BATCH, BATCH_UNITS, is_ready)


def _strict(units: Iterable[Unit]) -> Iterator[Unit]:
    """The units, if all of them can be read."""
    for unit in units:
        if unit.problem:
            raise InputError(str(unit.problem))
        yield unit


_READERS: dict[InputFormat, Callable[[Lines, str], Iterator[Unit]]] = {
    InputFormat.LINES: line_units,
    InputFormat.TSV: tsv_units,
    InputFormat.JSONL: json_units,
}
