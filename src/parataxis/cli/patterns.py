"""``parataxis patterns``: table 1 of Zhang et al. (2020) for any text."""

import json
from collections.abc import Iterator
from enum import StrEnum
from itertools import chain
from typing import Annotated

import typer

from parataxis.cli.inputs import resolve_inputs
from parataxis.cli.options import InputFormatOption, Inputs
from parataxis.cli.sentences import analyse_batches, read_sentences, total_size
from parataxis.cli.tables import counted, plain_table
from parataxis.cli.terminal import Progress, open_output, warn
from parataxis.cli.units import InputFormat, check_records
from parataxis.syntax.analysis import Analysis
from parataxis.syntax.patterns import Pattern, PatternTable, draw_sample, pattern_table

__all__ = ["patterns"]


class TableFormat(StrEnum):
    """How a table is written."""

    TEXT = "text"
    TSV = "tsv"
    JSON = "json"


def patterns(
    inputs: Inputs = None,
    sample: Annotated[
        int | None,
        typer.Option(
            "--sample",
            "-n",
            min=1,
            metavar="N",
            help="Count in a random sample of N sentences, not in all.",
            show_default=False,
        ),
    ] = None,
    seed: Annotated[
        int, typer.Option("--seed", metavar="S", help="The same seed draws the same sample.")
    ] = 0,
    output_format: Annotated[
        TableFormat, typer.Option("--format", "-f", help="How to write the table.")
    ] = TableFormat.TEXT,
    input_format: InputFormatOption = InputFormat.AUTO,
) -> None:
    """Count the patterns at which sentences could be split.

    For each of the seven patterns: how many sentences show it, how many in a hundred, and how
    often it occurs in all.
    """
    sources = resolve_inputs(inputs or [])
    check_records(sources, input_format)
    too_long = 0

    def readable() -> Iterator[Analysis]:
        nonlocal too_long
        for _, result in analyse_batches(batches):
            if isinstance(result, Analysis):
                yield result
            else:
                too_long += 1

    with open_output(None) as out:
        with Progress(total_size(sources), out) as progress:
            batches = read_sentences(sources, input_format, progress)
            if sample is not None:  # sampled before the analysis, which is what takes the time
                batches = iter([draw_sample(chain.from_iterable(batches), sample, seed=seed)])
            table = pattern_table(readable())
        out.write(_WRITERS[output_format](table))
    if too_long:
        warn(f"Not counted, because too long to be analysed: {counted(too_long, 'sentence')}.")


_HEADER = ("pattern", "name", "sentences", "in 100", "occurrences")


def _rows(table: PatternTable) -> list[tuple[str, ...]]:
    return [
        (
            pattern.value,
            pattern.plain_name,
            str(table.counts[pattern]),
            f"{table.per_hundred(pattern):.0f}",
            str(table.occurrences[pattern]),
        )
        for pattern in Pattern
    ]


def _as_text(table: PatternTable) -> str:
    rows = plain_table(_HEADER, _rows(table), right=(2, 3, 4))
    per_sentence = f"{table.patterns_per_sentence:.2f} patterns per sentence"
    return f"{rows}\n{counted(table.sentences, 'sentence')}, {per_sentence}\n"


def _as_tsv(table: PatternTable) -> str:
    return "".join("\t".join(row) + "\n" for row in (_HEADER, *_rows(table)))


def _as_json(table: PatternTable) -> str:
    record = {
        "sentences": table.sentences,
        "patterns_per_sentence": round(table.patterns_per_sentence, 4),
        "counts": {pattern.value: table.counts[pattern] for pattern in Pattern},
        "occurrences": {pattern.value: table.occurrences[pattern] for pattern in Pattern},
    }
    return json.dumps(record, indent=1) + "\n"


_WRITERS = {TableFormat.TEXT: _as_text, TableFormat.TSV: _as_tsv, TableFormat.JSON: _as_json}
