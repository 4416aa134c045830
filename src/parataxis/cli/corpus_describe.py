"""``parataxis corpus describe``: corpora in numbers, side by side."""

import json
from collections.abc import Callable, Sequence
from dataclasses import asdict
from typing import Annotated

import typer

from parataxis.cli.corpus_inputs import (
    CORPUS_HELP,
    StrictOption,
    TableFormat,
    TableFormatOption,
    counting,
    parse_corpora,
    read_corpus,
)
from parataxis.cli.tables import plain_table
from parataxis.cli.terminal import Progress, open_output
from parataxis.corpora import describe as corpora
from parataxis.corpora.describe import Description
from parataxis.syntax.patterns import Pattern, PatternTable

__all__ = ["describe"]


def describe(
    corpus: Annotated[
        list[str],
        typer.Argument(metavar="CORPUS...", show_default=False, help=CORPUS_HELP),
    ],
    patterns: Annotated[
        int,
        typer.Option(
            "--patterns",
            "-p",
            min=0,
            metavar="N",
            help="Count the seven patterns in a random sample of N complex sentences.",
        ),
    ] = 0,
    seed: Annotated[
        int, typer.Option("--seed", metavar="S", help="The same seed draws the same sample.")
    ] = 0,
    output_format: TableFormatOption = TableFormat.TEXT,
    strict: StrictOption = False,
) -> None:
    """Describe corpora: counts, lengths, references, patterns.

    A complex sentence counts once for each of its references, a different one once. Averages over
    complex sentences take each different one once; those over the simple side take all.
    """
    chosen = parse_corpora(corpus)
    found = []
    with open_output(None) as out:
        with Progress(None, out) as progress:
            for each in chosen:
                examples = counting(read_corpus(each, strict=strict), progress)
                found.append(corpora.describe(examples, patterns=patterns, seed=seed))
        labels = [each.label for each in chosen]
        if output_format is TableFormat.JSON:
            records = [
                {"corpus": label, **_record(each)}
                for label, each in zip(labels, found, strict=True)
            ]
            out.write(json.dumps(records, ensure_ascii=False, indent=1) + "\n")
        else:
            out.write(_table(labels, found))


def _record(description: Description) -> dict[str, object]:
    record = {key: value for key, value in asdict(description).items() if key != "patterns"}
    if description.patterns is not None:
        record["patterns"] = {
            "sentences": description.patterns.sentences,
            "per_sentence": round(description.patterns.patterns_per_sentence, 4),
            "counts": {each.value: description.patterns.counts[each] for each in Pattern},
        }
    return record


_ROWS: tuple[tuple[str, Callable[[Description], str]], ...] = (
    ("complex sentences", lambda found: f"{found.complex.total:,}"),
    ("  different", lambda found: f"{found.complex.unique:,}"),
    ("pairs", lambda found: f"{found.pairs.total:,}"),
    ("  different", lambda found: f"{found.pairs.unique:,}"),
    ("simple sentences", lambda found: f"{found.simple.total:,}"),
    ("  different", lambda found: f"{found.simple.unique:,}"),
    ("tokens per complex sentence", lambda found: f"{found.tokens_per_complex:.1f}"),
    ("sentences per simple side", lambda found: f"{found.sentences_per_pair:.2f}"),
    ("tokens per simple sentence", lambda found: f"{found.tokens_per_simple:.1f}"),
    ("unsplit, %", lambda found: _percent(found.unsplit, found.pairs.total)),
    ("references per source, least", lambda found: f"{found.references.minimum:,}"),
    ("  median", lambda found: f"{found.references.median:g}"),
    ("  most", lambda found: f"{found.references.maximum:,}"),
    ("  mean", lambda found: f"{found.references.mean:.2f}"),
    ("vocabulary", lambda found: f"{found.vocabulary:,}"),
)
_TRIPLE_ROWS: tuple[tuple[str, Callable[[Description], str]], ...] = (
    ("triples", lambda found: f"{found.triples.total:,}"),
    ("  different", lambda found: f"{found.triples.unique:,}"),
    ("relations", lambda found: f"{found.relations:,}"),
    ("entities", lambda found: f"{found.entities:,}"),
)


def _percent(part: int, whole: int) -> str:
    return f"{100 * part / whole:.1f}" if whole else ""


def _table(labels: Sequence[str], found: Sequence[Description]) -> str:
    rows = [(name, *map(cell, found)) for name, cell in _ROWS]
    if any(each.triples.total for each in found):
        rows += [(name, *map(cell, found)) for name, cell in _TRIPLE_ROWS]
    tables = [each.patterns for each in found]
    if any(tables):
        rows += _pattern_rows(tables)
    return plain_table(("", *labels), rows, right=range(1, len(labels) + 1))


def _pattern_rows(tables: Sequence[PatternTable | None]) -> list[tuple[str, ...]]:
    def row(name: str, cell: Callable[[PatternTable], str]) -> tuple[str, ...]:
        return (name, *("" if table is None else cell(table) for table in tables))

    def in_hundred(pattern: Pattern) -> tuple[str, ...]:
        return row(f"  {pattern.value}, in 100", lambda table: f"{table.per_hundred(pattern):.0f}")

    return [
        row("sentences looked at for patterns", lambda table: f"{table.sentences:,}"),
        *map(in_hundred, Pattern),
        row("  patterns per sentence", lambda table: f"{table.patterns_per_sentence:.2f}"),
    ]
