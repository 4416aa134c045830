"""Inputs cut into units: sentences that are split together and written together.

A unit of a document is a block (a paragraph, say), so that results appear as soon as a block has
been read; where each line is a sentence, it is the line.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

from parataxis.api import BATCH, DocumentRewrite
from parataxis.cli.inputs import Input, Lines
from parataxis.corpora.files import unquoted
from parataxis.errors import InputError
from parataxis.rewrite.jsonl import SourceLine, read_sources
from parataxis.rewrite.record import Rewrite
from parataxis.text.documents import Document, read_blocks

__all__ = ["InputFormat", "Unit", "batches", "check_records", "input_format", "read_units"]

BATCH_UNITS = 8 * BATCH
"""Units of a batch, with sentences or without: blank lines must not hold results back."""

_LINE_BREAKS = re.compile(r"[\n\r]+")
_HEADERS = frozenset(["source", "complex", "sentence"])


class InputFormat(StrEnum):
    """How the sentences stand in the input."""

    AUTO = "auto"
    """By the name of the file: .jsonl, .tsv, everything else is text."""
    TEXT = "text"
    LINES = "lines"
    TSV = "tsv"
    JSONL = "jsonl"


@dataclass(frozen=True)
class Unit:
    """Sentences with their ids; ``rebuild`` makes the text that their rewrites result in."""

    sentences: Sequence[SourceLine]
    rebuild: Callable[[Sequence[Rewrite]], str]
    size: int


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
                for _ in _READERS[input_format(source, chosen)](lines, source.name):
                    pass


def read_units(source: Input, chosen: InputFormat) -> Iterator[list[Unit]]:
    """The units of an input, in batches of about :data:`BATCH` sentences, fewer where no more
    has arrived yet."""
    kind = input_format(source, chosen)
    with source.lines() as lines:
        if kind is InputFormat.TEXT:
            # A block of a stream is answered at once: the next one may be long in coming.
            units, is_ready = _document_units(lines, source.name), lambda: not source.is_stream
        else:
            units, is_ready = _READERS[kind](lines, source.name), lambda: lines.is_ready
        yield from batches(units, is_ready)


def batches(units: Iterable[Unit], is_ready: Callable[[], bool]) -> Iterator[list[Unit]]:
    """Put units together as long as the next one is there without waiting."""
    batch: list[Unit] = []
    sentences = 0
    for unit in units:
        batch.append(unit)
        sentences += len(unit.sentences)
        if sentences >= BATCH or len(batch) >= BATCH_UNITS or not is_ready():
            yield batch
            batch, sentences = [], 0
    if batch:
        yield batch


def _document_units(lines: Lines, name: str) -> Iterator[Unit]:
    line, column = 1, 1
    for block in read_blocks(lines):
        unit = _block_unit(block, name, line, column)
        yield _marked(unit, lines.byte_order_mark) if (line, column) == (1, 1) else unit
        line, column = _after(block.text, line, column)


def _marked(unit: Unit, mark: str) -> Unit:
    """The first unit of a document, with the byte order mark that the document began with."""
    return replace(unit, rebuild=lambda rewrites: mark + unit.rebuild(rewrites))


def _block_unit(block: Document, name: str, line: int, column: int) -> Unit:
    sentences, end = [], 0
    for span in block.sentences:
        line, column = _after(block.text[end : span.start], line, column)
        end = span.start
        sentences.append(SourceLine(f"{name}:{line}:{column}", span.text))

    def rebuild(rewrites: Sequence[Rewrite]) -> str:
        return DocumentRewrite(block, rewrites).text

    return Unit(sentences, rebuild, len(block.text.encode()))


def _after(text: str, line: int, column: int) -> tuple[int, int]:
    """Line and column after a text that starts at ``line`` and ``column``."""
    breaks = text.count("\n")
    if not breaks:
        return line, column + len(text)
    return line + breaks, len(text) - text.rfind("\n")


def _line_units(lines: Lines, name: str) -> Iterator[Unit]:
    for number, line in enumerate(lines, start=1):
        sentence = line.strip()
        if sentence:
            yield _sentence_unit(SourceLine(f"{name}:{number}", sentence), line)
        else:
            yield Unit((), _constant(line), len(line.encode()))


def _tsv_units(lines: Lines, name: str) -> Iterator[Unit]:
    """The first column; a header, and rows that repeat the source above them, are passed over."""
    last = None
    for number, line in enumerate(lines, start=1):
        sentence = unquoted(line.rstrip("\r\n").split("\t")[0]).strip()
        if number == 1 and sentence.lower() in _HEADERS:
            continue
        if not sentence:
            if not line.strip():
                continue
            raise InputError(f"{name}, line {number}: the first column is empty.")
        if sentence != last:
            yield _sentence_unit(SourceLine(f"{name}:{number}", sentence), f"{sentence}\n")
        last = sentence


def _json_units(lines: Lines, name: str) -> Iterator[Unit]:
    for record in read_sources(lines, name):
        yield _sentence_unit(record, f"{_one_line(record.source)}\n")


def _sentence_unit(sentence: SourceLine, line: str) -> Unit:
    whole = line.strip()
    before, _, after = line.partition(whole)

    def rebuild(rewrites: Sequence[Rewrite]) -> str:
        simple = _one_line(" ".join(rewrites[0].simple)) if rewrites[0].is_split else whole
        return f"{before}{simple}{after}"

    return Unit([sentence], rebuild, len(line.encode()))


def _one_line(text: str) -> str:
    """The text with spaces for its line breaks, so that a record stays a line."""
    parts = (part.strip() for part in _LINE_BREAKS.split(text))
    return " ".join(part for part in parts if part)


def _constant(text: str) -> Callable[[Sequence[Rewrite]], str]:
    return lambda _: text


_READERS = {
    InputFormat.LINES: _line_units,
    InputFormat.TSV: _tsv_units,
    InputFormat.JSONL: _json_units,
}
