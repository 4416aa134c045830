"""Inputs cut into units: sentences that are split together and written together.

A unit of a document is a block (a paragraph, say), so that results appear as soon as a block has
been read; where each line is a sentence, it is the line.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Annotated, NamedTuple, Protocol

import typer

from parataxis.api import BATCH, Splitter
from parataxis.cli.terminal import warn
from parataxis.errors import InputError
from parataxis.rewrite.jsonl import SourceLine
from parataxis.rewrite.record import Rewrite
from parataxis.run.pool import in_order
from parataxis.run.units import (
    Unit,
    block_units,
    gathered,
    json_units,
    line_units,
    marked,
    tsv_units,
)
from parataxis.syntax.analysis import Analysis
from parataxis.syntax.patterns import Occurrence, find_patterns
from parataxis.text.inputs import Input, Lines

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


InputFormatOption = Annotated[
    InputFormat,
    typer.Option(
        "--input",
        "-i",
        help="text: running text. lines: a sentence on each line. tsv: the first column. "
        "jsonl: the field source or complex. auto: jsonl and tsv by the file's suffix, else text.",
    ),
]


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


# The work behind ``split``: batches of units in, their rewrites out, in one process or several.


class ExplainedSentence(NamedTuple):
    """A rewrite with the patterns of its source, where they were asked for."""

    rewrite: Rewrite
    patterns: Sequence[Occurrence] | None


@dataclass
class SentenceTask:
    """What to do with sentences; it travels to other processes, its splitter does not."""

    splitter: str
    strict: bool = False
    beam: int | None = None
    explain: bool = False
    provenance: bool = True
    _loaded: Splitter | None = field(default=None, init=False, repr=False)

    def __getstate__(self) -> dict[str, object]:
        return {**self.__dict__, "_loaded": None}

    def load(self) -> Splitter:
        """The splitter, made on first use."""
        if self._loaded is None:
            self._loaded = Splitter(
                self.splitter, strict=self.strict, beam=self.beam, check=self.explain
            )
        return self._loaded

    def __call__(self, sentences: Sequence[SourceLine]) -> list[ExplainedSentence]:
        """Rewrite sentences, in order."""
        rewrites = self.load().pipe(sentence.source for sentence in sentences)
        patterns = self._patterns([sentence.source for sentence in sentences])
        left_out = {} if self.provenance else {"provenance": None}
        return [
            ExplainedSentence(rewrite.model_copy(update={"id": sentence.id, **left_out}), found)
            for sentence, rewrite, found in zip(sentences, rewrites, patterns, strict=True)
        ]

    def _patterns(self, sources: Sequence[str]) -> Iterator[Sequence[Occurrence] | None]:
        if not self.explain:
            yield from [None] * len(sources)
            return
        from parataxis.syntax.analyser import load_trees

        for analysis in load_trees().pipe(sources):
            yield find_patterns(analysis) if isinstance(analysis, Analysis) else ()


class _Loading(Protocol):
    def load(self) -> Splitter: ...


@contextmanager
def reported(task: _Loading, jobs: int | None) -> Iterator[int | None]:
    """How many processes to use, which is one for a splitter that keeps books; when the work is
    over, however it ends, its report is shown."""
    splitter = task.load()
    if splitter.keeps_books and (jobs or 1) > 1:
        raise InputError(
            f'The splitter "{splitter.name}" keeps its books in one process; leave --jobs out.'
        )
    try:
        yield 1 if splitter.keeps_books else jobs
    finally:
        if sentence := splitter.report():
            warn(sentence)


def run(
    batches: Iterable[Sequence[Unit]], task: SentenceTask, *, jobs: int = 1
) -> Iterator[tuple[Unit, list[ExplainedSentence]]]:
    """Each unit with its rewrites, in order, as they are made."""
    for batch, results in in_order(batches, task, sent=_sentences, jobs=jobs):
        yield from _deal(batch, results)


def _sentences(batch: Sequence[Unit]) -> list[SourceLine]:
    return [sentence for unit in batch for sentence in unit.sentences]


def _deal(
    batch: Sequence[Unit], results: Sequence[ExplainedSentence]
) -> Iterator[tuple[Unit, list[ExplainedSentence]]]:
    start = 0
    for unit in batch:
        end = start + len(unit.sentences)
        yield unit, list(results[start:end])
        start = end
