"""``parataxis evaluate``, ``metrics`` and ``correlate``: scores, and how far to trust them."""

from collections.abc import Sequence
from dataclasses import asdict
from enum import StrEnum
from pathlib import Path

from parataxis.cli.options import (
    AnalysedOption,
    MetricOption,
    Natural,
    ReportFormatOption,
    documented,
)
from parataxis.cli.terminal import Output, Progress, warn, write_folder
from parataxis.errors import InputError
from parataxis.evaluate.compare import Comparison, System, compare
from parataxis.evaluate.compare_report import comparison_report
from parataxis.evaluate.corpora.example import Example
from parataxis.evaluate.correlate import (
    Coefficient,
    Correlation,
    CorrelationUnit,
    correlation_table,
)
from parataxis.evaluate.correlate import correlate as correlations
from parataxis.evaluate.judgements import JudgementColumns, read_judgements
from parataxis.evaluate.metrics.protocol import Metric
from parataxis.evaluate.metrics.registry import METRICS, default_metrics, load_metric
from parataxis.evaluate.outputs import read_examples, read_output, read_system
from parataxis.evaluate.resample import Resampler
from parataxis.report import Notes, Report, ReportFormat, counted, plain_table
from parataxis.text.inputs import STDIN, named_file, require_piped_input


@documented
def evaluate(
    outputs: list[str] | None = None,
    source: Path | None = None,
    references: list[str] | None = None,
    metric: MetricOption = None,
    analysed: AnalysedOption = False,
    output_format: ReportFormatOption = ReportFormat.TEXT,
    output: Path | None = None,
    trials: Natural = 1000,
    seed: Natural = 1,
) -> None:
    """Score systems side by side.

    The table always has a row SOURCE, the sources left as they are. With references it also has a
    row REFERENCE: each reference scored against the others of its source. Every number has a
    signature that makes it reproducible.

    Options:
    [NAME=]FILE... | -: The outputs of systems: rewrites as JSON lines, or text with the rewrite of
        one source a line, its sentences separated by <SEP>.
    --source, -s FILE: The sources, one a line.
    --references, -r CORPUS: References: text aligned with the sources, a corpus FORMAT:FILE,FILE
        that contains the sources (see `parataxis corpus formats`), or JSON lines; repeatable.
    --output, -o DIR: Also write the scores in every format and a page with figures into this
        folder.
    --trials: Resampled corpora for intervals and tests; 0 omits both.
    --seed: The seed of the resampling.
    """
    if not outputs:
        require_piped_input()  # complains if nothing is piped in
    named = [named_file(argument) for argument in outputs or [STDIN]]
    if [file for _, file in named].count(STDIN) > 1:
        raise InputError("Standard input (-) can be read only once.")
    read = [read_output(Path(file), name) for name, file in named]
    examples = read_examples(source, references or [], read)
    systems = [read_system(each, examples) for each in read]
    chosen = choose_metrics(metric, examples, analysed=analysed)
    comparison = compare_systems(examples, systems, chosen, trials, seed)
    if output is not None:
        write_report("Systems compared", comparison, output)
    is_page = output_format is ReportFormat.HTML
    Output().write(comparison_report(comparison, illustrated=is_page).render(output_format))


def metrics() -> None:
    """List the metrics that `evaluate` knows."""
    rows = [(each.name, each.about) for each in METRICS.available()]
    Output().write(plain_table(("metric", "what it measures"), rows))


def choose_metrics(
    names: list[str] | None, examples: Sequence[Example], *, analysed: bool
) -> list[Metric]:
    """The metrics of these names, or the default ones that the examples allow."""
    has_references = all(example.references for example in examples)
    wanted = names or default_metrics(references=has_references, analyser=analysed)
    chosen = [load_metric(name) for name in wanted]
    for each in chosen:
        if each.needs_references and not has_references:
            raise InputError(f"The metric {each.name} needs a reference for every source.")
    return chosen


def compare_systems(
    examples: Sequence[Example],
    systems: Sequence[System],
    metrics: Sequence[Metric],
    trials: int,
    seed: int,
) -> Comparison:
    """Compare systems under a progress bar, with intervals and tests unless ``trials`` is 0."""
    total = sum(1 + len(systems) + len(example.references) for example in examples)
    resampler = Resampler(trials, seed) if trials else None
    with Progress(total, Output()) as progress:
        return compare(
            examples, systems, metrics, resampler, lambda count: progress.advance(count, count)
        )


def write_report(title: str, comparison: Comparison, folder: Path) -> None:
    """Write the report in every format into a folder, which appears when all are made."""
    report = comparison_report(comparison, title, illustrated=True)
    forms = set(ReportFormat) - {ReportFormat.HTML, ReportFormat.TSV}
    made = {f"scores{form.suffix}": report.render(form) for form in forms}
    write_folder(folder, made | {"report.html": report.render(ReportFormat.HTML)})
    warn(f"The report is in {folder / 'report.html'}.")


SCORED = "rewrite"
"""Here every metric scores one rewrite at a time, whatever level its signature names."""

WITH_REFERENCES = ("bleu-sentence", "sari")
WITHOUT_REFERENCES = ("fkgl", "sentences-per-source", "tokens-per-sentence-macro", "compression")


GroupPart = StrEnum("GroupPart", "SYSTEM BENCHMARK")
"""What rewrites are grouped by."""


@documented
def correlate(
    ratings: Path,
    criterion: list[str] | None = None,
    metric: MetricOption = None,
    references: list[str] | None = None,
    columns: str | None = None,
    by: list[GroupPart] | None = None,
    unit: CorrelationUnit = CorrelationUnit.REWRITE,
    coefficient: Coefficient = Coefficient.SPEARMAN,
    output_format: ReportFormatOption = ReportFormat.TEXT,
) -> None:
    """Correlate metrics with human judgements.

    A dagger marks a coefficient that is not significant at .05. JSON and CSV have p-values and
    95 % confidence intervals too. If sources were rewritten by several systems, all three come from
    1,000 bootstrap samples of sources.

    Options:
    RATINGS: A CSV file with the columns source, rewrite, perhaps system and benchmark, and one
        column of numbers for each criterion, or (in long form) the columns criterion and rating.
    --criterion NAME: Only this column; repeatable.
    --references, -r CORPUS: References of the sources: a corpus FORMAT:FILE,FILE, or JSON lines;
        repeatable.
    --columns SOURCE,REWRITE,SYSTEM[,BENCHMARK]: The names of these columns, if they differ.
    --by: Also within each system, benchmark, or combination of both.
    --unit: Correlate single rewrites, or the means of systems.
    --coefficient: The correlation coefficient.
    """
    if not ratings.is_file():
        raise InputError(f"There is no file {ratings}.")
    examples = read_examples(None, references) if references else []
    names = metric or [*(WITH_REFERENCES if references else ()), *WITHOUT_REFERENCES]
    metrics = [load_metric(name) for name in names]
    named = columns.split(",") if columns is not None else ()
    if named and len(named) not in (3, 4):
        raise InputError("--columns needs three or four names: SOURCE,REWRITE,SYSTEM[,BENCHMARK].")
    given = JudgementColumns(*named[:2], *(each or None for each in named[2:])) if named else None
    judged = read_judgements(ratings, criterion or [], given, examples)
    grouped = [part.value for part in by or []]
    found = correlations(judged, metrics, kind=coefficient, unit=unit, by=grouped)
    Output().write(_report(found, metrics, coefficient, unit).render(output_format))


def _report(
    found: Sequence[Correlation],
    metrics: Sequence[Metric],
    coefficient: Coefficient,
    unit: CorrelationUnit,
) -> Report:
    signatures = {metric.name: str(metric.signature) for metric in metrics}
    total = counted(max(each.pairs for each in found), "pair")
    basis = "" if unit is CorrelationUnit.REWRITE else ", averaged by system"
    note = f"{coefficient.value}, {total}; scored:{SCORED}{basis}; †: not significant at .05"
    means = [
        f"{each.name} is the mean of {', '.join(parts[:-1])} and {parts[-1]}; "
        f"-m {each.name}:{parts[0]} correlates one of them"
        for each in metrics
        if (parts := getattr(each, "averages", ()))
    ]
    return Report(
        "Metrics and people",
        [correlation_table(found), Notes([note, *means, *signatures.values()])],
        record={
            "coefficient": coefficient.value,
            "scored": SCORED,
            "unit": unit.value,
            "signatures": signatures,
            "correlations": [asdict(each) for each in found],
        },
        lines=[asdict(each) | {"signature": signatures[each.metric]} for each in found],
        bare=True,
    )
