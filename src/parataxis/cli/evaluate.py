"""``parataxis evaluate``: how good systems are, side by side, by every automatic metric."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Annotated

import typer

from parataxis.cli.folders import write_folder
from parataxis.cli.inputs import STDIN, named_file, resolve_inputs
from parataxis.cli.options import (
    AnalysedOption,
    MetricOption,
    ReportFormat,
    ReportFormatOption,
)
from parataxis.cli.tables import plain_table
from parataxis.cli.terminal import Progress, open_output, warn
from parataxis.corpora.example import Example
from parataxis.errors import InputError
from parataxis.metrics.protocol import Metric
from parataxis.metrics.registry import ANALYSED, available_metrics, default_metrics, load_metric
from parataxis.reports.compare import Comparison, compare
from parataxis.reports.figures import figures
from parataxis.reports.instructive import instructive
from parataxis.reports.page import comparison_page
from parataxis.reports.resample import Resampler
from parataxis.reports.systems import Output, read_examples, read_output, read_system
from parataxis.reports.tables import (
    as_csv,
    as_json,
    as_latex,
    as_markdown,
    cells,
    notes,
    part_cells,
    turned,
)

__all__ = ["as_text", "choose_metrics", "evaluate", "metrics", "write_report"]


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


def _outputs(arguments: list[str]) -> list[Output]:
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
