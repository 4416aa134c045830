"""``parataxis evaluate``: how good systems are, side by side, by every automatic metric."""

import csv
import io
import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict
from enum import StrEnum
from itertools import chain
from pathlib import Path
from typing import Annotated

import typer

from parataxis.cli.options import (
    AnalysedOption,
    Inputs,
    MetricOption,
    ReportFormat,
    ReportFormatOption,
)
from parataxis.cli.terminal import Progress, open_output, warn, write_folder
from parataxis.errors import InputError
from parataxis.evaluate.compare import (
    Comparison,
    SystemOutput,
    compare,
    read_examples,
    read_output,
    read_system,
)
from parataxis.evaluate.corpora.example import Example
from parataxis.evaluate.correlate import Coefficient, Correlation, CorrelationLevel
from parataxis.evaluate.correlate import correlate as correlations
from parataxis.evaluate.figures import figures
from parataxis.evaluate.judgements import Columns, read_judgements
from parataxis.evaluate.metrics.protocol import Metric
from parataxis.evaluate.metrics.registry import (
    ANALYSED,
    available_metrics,
    default_metrics,
    load_metric,
)
from parataxis.evaluate.page import comparison_page, instructive
from parataxis.evaluate.resample import Resampler
from parataxis.evaluate.tables import (
    as_csv,
    as_json,
    as_latex,
    as_markdown,
    cells,
    notes,
    part_cells,
    turned,
    without_nans,
)
from parataxis.report import counted, latex_table, markdown_table, plain_table, tex
from parataxis.run.inspect import analyse_batches, read_sentences, total_size
from parataxis.run.streams import InputFormat, InputFormatOption, check_records
from parataxis.syntax.analysis import Analysis
from parataxis.syntax.patterns import Pattern, PatternTable, draw_sample, pattern_table
from parataxis.text.inputs import STDIN, named_file, resolve_inputs


def evaluate(
    outputs: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[NAME=]FILE... | -",
            show_default=False,
            help="The outputs of systems: rewrites as JSON lines, or text with the rewrite of one "
            "source a line, its sentences parted by <SEP>.",
        ),
    ] = None,
    source: Annotated[
        Path | None,
        typer.Option("--source", "-s", metavar="FILE", help="The sources, one a line."),
    ] = None,
    references: Annotated[
        list[str] | None,
        typer.Option(
            "--references",
            "-r",
            metavar="CORPUS",
            help="References: text aligned with the sources, or a corpus FORMAT:FILE,FILE that "
            "brings its sources (see `parataxis corpus formats`), or JSON lines; several times.",
        ),
    ] = None,
    metric: MetricOption = None,
    analysed: AnalysedOption = False,
    output_format: ReportFormatOption = ReportFormat.TEXT,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output",
            "-o",
            metavar="DIR",
            help="Also write every form of the table and a report with figures into this folder.",
        ),
    ] = None,
    trials: Annotated[
        int,
        typer.Option(min=0, help="Resampled corpora for intervals and tests; 0 leaves both out."),
    ] = 1000,
    seed: Annotated[int, typer.Option(min=0, help="Of the resampling.")] = 1,
) -> None:
    """Score systems side by side.

    The table always has a row SOURCE, the sources as they are, and a row REFERENCE where
    references allow: each reference scored against the others of its source. Every number has a
    signature, which says how to compute it again.
    """
    read = _outputs(outputs or [])
    examples = read_examples(source, references or [], read)
    systems = [read_system(each, examples) for each in read]
    chosen = choose_metrics(metric, examples, analysed=analysed)
    resampler = Resampler(trials, seed) if trials else None
    total = sum(1 + len(systems) + len(example.references) for example in examples)
    with open_output(None) as out:
        with Progress(total, out) as progress:
            comparison = compare(
                examples, systems, chosen, resampler, lambda count: progress.advance(count, count)
            )
        if output is not None:
            write_report("Systems compared", comparison, output)
        out.write(_WRITERS[output_format](comparison))


def metrics() -> None:
    """List the metrics that `evaluate` knows."""
    rows = [
        (each.name, each.summary if each.problem is None else f"(unusable) {each.problem}")
        for each in available_metrics()
    ]
    with open_output(None) as out:
        out.write(plain_table(("metric", "what it says"), rows))


def choose_metrics(
    names: list[str] | None, examples: Sequence[Example], *, analysed: bool
) -> list[Metric]:
    """The metrics of these names, or those for which the examples have what they need."""
    has_references = all(example.references for example in examples)
    chosen = [
        load_metric(name)
        for name in names or default_metrics(references=has_references, analyser=analysed)
    ]
    for each in chosen:
        if each.needs_references and not has_references:
            raise InputError(f"The metric {each.name} needs a reference for every source.")
    return chosen


def _outputs(arguments: list[str]) -> list[SystemOutput]:
    """What the systems wrote, each under its name."""
    if not arguments:
        resolve_inputs([])  # says so where nothing is piped in
    named = [named_file(argument) for argument in arguments or [STDIN]]
    if [file for _, file in named].count(STDIN) > 1:
        raise InputError("Standard input (-) can be read only once.")
    return [read_output(Path(file), name) for name, file in named]


def as_text(comparison: Comparison) -> str:
    """The table, the parts of the metrics by the analyser, and all signatures."""
    header, rows = turned(*cells(comparison))
    parts = [plain_table(header, rows, right=range(1, len(header)))]
    for metric in comparison.metrics:
        names, values = part_cells(comparison, metric)
        if metric.name in ANALYSED and len(names) > 1:
            names[0] = metric.name
            parts.append(plain_table(names, values, right=range(1, len(names))))
    return "\n".join([*parts, "\n".join(notes(comparison))]) + "\n"


def write_report(title: str, comparison: Comparison, folder: Path) -> None:
    """All forms of the table and the page; the folder gets them when all are made."""
    drawn = _sentence_metric(comparison)
    page = comparison_page(
        title,
        comparison,
        figures(comparison, drawn),
        instructive(comparison, drawn) if drawn else [],
    )
    made = {
        "scores.txt": as_text(comparison),
        "scores.md": as_markdown(comparison),
        "scores.csv": as_csv(comparison),
        "scores.tex": as_latex(comparison),
        "scores.json": as_json(comparison),
        "report.html": page,
    }
    write_folder(folder, made)
    warn(f"The report is in {folder / 'report.html'}.")


def _sentence_metric(comparison: Comparison) -> Metric | None:
    """What the systems are ranked by on single sources: SARI, or else the first metric."""
    known = [each for each in comparison.metrics if each.higher_is_better is not None]
    preferred = [each for each in known if each.name.startswith("sari")]
    return next(iter(preferred or known), None)


_WRITERS: dict[ReportFormat, Callable[[Comparison], str]] = {
    ReportFormat.TEXT: as_text,
    ReportFormat.MARKDOWN: as_markdown,
    ReportFormat.CSV: as_csv,
    ReportFormat.LATEX: as_latex,
    ReportFormat.JSON: as_json,
}


# ``parataxis correlate``: how far metrics agree with what people say.

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
        CorrelationLevel, typer.Option(help="Correlate single rewrites, or the means of systems.")
    ] = CorrelationLevel.REWRITE,
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
    level: CorrelationLevel,
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
    basis = "" if level is CorrelationLevel.REWRITE else ", averaged by system"
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


# ``parataxis patterns``: table 1 of Zhang et al. (2020) for any text.


class PatternsFormat(StrEnum):
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
        PatternsFormat, typer.Option("--format", "-f", help="How to write the table.")
    ] = PatternsFormat.TEXT,
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
        out.write(_WRITERS_PATTERNS[output_format](table))
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


_WRITERS_PATTERNS = {
    PatternsFormat.TEXT: _as_text,
    PatternsFormat.TSV: _as_tsv,
    PatternsFormat.JSON: _as_json,
}
