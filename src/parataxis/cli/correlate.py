"""``parataxis correlate``: how far metrics agree with what people say."""

import csv
import io
import json
from collections.abc import Sequence
from dataclasses import asdict
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from parataxis.cli.options import MetricOption, ReportFormat, ReportFormatOption
from parataxis.cli.tables import counted, plain_table
from parataxis.cli.terminal import open_output
from parataxis.errors import InputError
from parataxis.metrics.protocol import Metric
from parataxis.metrics.registry import load_metric
from parataxis.reports.coefficients import Coefficient
from parataxis.reports.correlate import Correlation, Level
from parataxis.reports.correlate import correlate as correlations
from parataxis.reports.judgements import Columns, read_judgements
from parataxis.reports.systems import read_examples
from parataxis.reports.tables import latex_table, markdown_table, tex, without_nans

__all__ = ["correlate"]

SCORED = "rewrite"
"""Whatever the level that a signature names, here a metric scores one rewrite at a time."""

WITH_REFERENCES = ("bleu-sentence", "sari")
WITHOUT_REFERENCES = ("fkgl", "sentences-per-source", "tokens-per-sentence-macro", "compression")


class Part(StrEnum):
    """What groups are made of."""

    SYSTEM = "system"
    BENCHMARK = "benchmark"


def correlate(
    ratings: Annotated[
        Path,
        typer.Argument(
            metavar="RATINGS",
            help="A CSV file with the columns source, rewrite, perhaps system and benchmark, and "
            "one column of numbers for each criterion, or (in long form) the columns criterion "
            "and rating.",
        ),
    ],
    criterion: Annotated[
        list[str] | None,
        typer.Option("--criterion", metavar="NAME", help="Only this column; can be repeated."),
    ] = None,
    metric: MetricOption = None,
    references: Annotated[
        list[str] | None,
        typer.Option(
            "--references",
            "-r",
            metavar="CORPUS",
            help="References of the sources: a corpus FORMAT:FILE,FILE, or JSON lines; "
            "several times.",
        ),
    ] = None,
    columns: Annotated[
        str | None,
        typer.Option(
            metavar="SOURCE,REWRITE,SYSTEM[,BENCHMARK]",
            help="What these columns are called, where they have other names.",
        ),
    ] = None,
    by: Annotated[
        list[Part] | None,
        typer.Option("--by", help="Also within each system, benchmark, or (both) combination."),
    ] = None,
    level: Annotated[
        Level, typer.Option(help="Correlate single rewrites, or the means of systems.")
    ] = Level.REWRITE,
    coefficient: Annotated[
        Coefficient, typer.Option(help="Which coefficient.")
    ] = Coefficient.SPEARMAN,
    output_format: ReportFormatOption = ReportFormat.TEXT,
) -> None:
    """Correlate metrics with human judgements.

    A dagger marks a coefficient that is not significant at .05. JSON and CSV have p-values and
    95 % confidence intervals too. Where sources were rewritten by several systems, all three come
    from 1,000 bootstrap samples of sources.
    """
    if not ratings.is_file():
        raise InputError(f"There is no file {ratings}.")
    examples = read_examples(None, references) if references else []
    names = metric or [*(WITH_REFERENCES if references else ()), *WITHOUT_REFERENCES]
    metrics = [load_metric(name) for name in names]
    judged = read_judgements(ratings, criterion or [], _columns(columns), examples)
    found = correlations(
        judged,
        metrics,
        kind=coefficient,
        level=level,
        by=[part.value for part in by or []],
    )
    with open_output(None) as out:
        out.write(_written(found, metrics, coefficient, level, output_format))


def _columns(names: str | None) -> Columns | None:
    if names is None:
        return None
    parts = names.split(",")
    if len(parts) not in (3, 4):
        raise InputError("--columns wants three or four names: SOURCE,REWRITE,SYSTEM[,BENCHMARK].")
    return Columns(*parts[:2], *(part or None for part in parts[2:]))


def _written(
    found: Sequence[Correlation],
    metrics: Sequence[Metric],
    coefficient: Coefficient,
    level: Level,
    output_format: ReportFormat,
) -> str:
    signatures = {metric.name: str(metric.signature) for metric in metrics}
    if output_format is ReportFormat.JSON:
        record = {
            "coefficient": coefficient.value,
            "scored": SCORED,
            "level": level.value,
            "signatures": signatures,
            "correlations": [without_nans(asdict(each)) for each in found],
        }
        return json.dumps(record, indent=1, ensure_ascii=False) + "\n"
    if output_format is ReportFormat.CSV:
        out = io.StringIO()
        writer = csv.DictWriter(out, [*asdict(found[0]), "signature"], lineterminator="\n")
        writer.writeheader()
        for each in found:
            fields = without_nans(asdict(each))
            writer.writerow({**fields, "signature": signatures[each.metric]})
        return out.getvalue()
    total = counted(max(each.pairs for each in found), "pair")
    basis = "" if level is Level.REWRITE else ", averaged by system"
    note = f"{coefficient.value}, {total}; scored:{SCORED}{basis}; †: not significant at .05"
    return _tables(found, [note, *signatures.values()], output_format)


def _tables(found: Sequence[Correlation], notes: Sequence[str], output_format: ReportFormat) -> str:
    """One row for each group and metric, one column for each criterion."""
    criteria = list(dict.fromkeys(each.criterion for each in found))
    rows: dict[tuple[str, str], dict[str, str]] = {}
    for each in found:
        rows.setdefault((each.group, each.metric), {})[each.criterion] = str(each)
    header = ["group", "metric", *criteria]
    table = [[*key, *(row[name] for name in criteria)] for key, row in rows.items()]
    if output_format is ReportFormat.MARKDOWN:
        return markdown_table(header, table, names=2, notes=notes)
    if output_format is ReportFormat.LATEX:
        return latex_table(header, [list(map(tex, row)) for row in table], names=2, notes=notes)
    return plain_table(header, table, right=range(2, len(header))) + "\n" + "\n".join(notes) + "\n"
