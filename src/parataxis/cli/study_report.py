"""``parataxis study report``: the tables and figures of a study, from its rewrites and ratings."""

import csv
import io
import sys
from dataclasses import asdict
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from parataxis.cli.documents import document_text
from parataxis.cli.study_files import (
    ItemsOption,
    RatingsOption,
    RubricOption,
    read_item_file,
    read_rating_file,
    rubric_of,
)
from parataxis.corpora.files import write_files
from parataxis.corpora.formats.benchmarks import WikiBM
from parataxis.corpora.formats.jsonl import Jsonl
from parataxis.metrics.registry import load_metric
from parataxis.reports.document import Document, Heading, Table
from parataxis.reports.studies.figure import reliability_svg
from parataxis.reports.studies.report import StudyReport, study_report
from parataxis.reports.systems import read_examples
from parataxis.reports.tables import latex_table, tex, without_nans
from parataxis.studies.gold import benchmark

__all__ = ["report"]

_BY_SYSTEM, _BY_SENTENCE = "bleu", "bleu-sentence"
"""What the paper puts beside ratings: BLEU of a system (table 3) and of a rewrite (table 4)."""


class Form(StrEnum):
    """How the report is written."""

    TEXT = "text"
    MARKDOWN = "markdown"
    CSV = "csv"
    LATEX = "latex"
    HTML = "html"


def report(
    items: ItemsOption,
    ratings: RatingsOption,
    rubric: RubricOption = None,
    expert: Annotated[
        Path | None,
        typer.Option(
            show_default=False,
            help="An expert's ratings of some of the rewrites: how far can raters be trusted?",
        ),
    ] = None,
    references: Annotated[
        list[str] | None,
        typer.Option(
            "--references",
            metavar="CORPUS",
            show_default=False,
            help="References of the sources, for BLEU and other metrics: a corpus "
            "FORMAT:FILE,FILE, or JSON lines; several times.",
        ),
    ] = None,
    metric: Annotated[
        list[str] | None,
        typer.Option(
            "--metric",
            "-m",
            metavar="NAME",
            show_default=False,
            help="How far does this metric agree with raters? Can be repeated; with references "
            "it is bleu-sentence where none is named.",
        ),
    ] = None,
    raters: Annotated[
        int, typer.Option(min=1, help="A rewrite is perfect if so many raters found it correct.")
    ] = 2,
    language: Annotated[str, typer.Option("--language", "-l", help="en or es.")] = "en",
    title: Annotated[str, typer.Option(help="The title of the report.")] = "What raters said",
    form: Annotated[
        Form, typer.Option("--format", "-f", help="How the report is written.")
    ] = Form.TEXT,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output",
            "-o",
            metavar="DIR",
            show_default=False,
            help="Write every form, the figure, and the perfect rewrites into this folder.",
        ),
    ] = None,
) -> None:
    """Make the tables of a study: what raters said about each system, how far they agree, how far
    to trust them, how far metrics agree with them, and which rewrites are perfect."""
    rewrites = read_item_file(items)
    given = read_rating_file(ratings)
    names = metric or ([_BY_SENTENCE] if references else [])
    found = study_report(
        rewrites,
        given,
        rubric_of(given, ratings, rubric),
        expert=read_rating_file(expert) if expert else (),
        raters=raters,
        language=language,
        examples=read_examples(None, references) if references else (),
        metrics=[load_metric(name) for name in names],
        column=load_metric(_BY_SYSTEM) if references else None,
    )
    if output is not None:
        _write_all(found, title, output)
    else:
        sys.stdout.write(_written(found, title, form))


def _written(found: StudyReport, title: str, form: Form) -> str:
    document = found.document(title)
    match form:
        case Form.MARKDOWN:
            return document.as_markdown()
        case Form.HTML:
            figure = reliability_svg(found.trust) if found.trust else ""
            return found.document(title, figure).as_html()
        case Form.CSV:
            return _as_csv(found)
        case Form.LATEX:
            return _as_latex(document)
    return document_text(document)


def _as_latex(document: Document) -> str:
    """All tables, each under a comment that names it."""
    tables, title = [], document.title
    for block in document.blocks:
        if isinstance(block, Heading):
            title = block.text
        elif isinstance(block, Table):
            rows = [list(map(tex, row)) for row in block.rows]
            tables.append(latex_table(block.header, rows, names=block.names, notes=[title]))
    return "\n".join(tables)


def _correlations_as_csv(found: StudyReport) -> str:
    out = io.StringIO()
    writer = csv.DictWriter(out, list(asdict(found.correlations[0])), lineterminator="\n")
    writer.writeheader()
    writer.writerows(without_nans(asdict(each)) for each in found.correlations)
    return out.getvalue()


def _as_csv(found: StudyReport) -> str:
    """A line for each system and column, with plain numbers."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(["benchmark", "system", "column", "answers", "share", "mean"])
    for row in found.summary.rows:
        for column in found.summary.columns:
            cell = row.cells[column.id]
            writer.writerow(
                [row.benchmark, row.system, column.title, cell.count, cell.share, cell.mean]
            )
        for name in found.summary.metrics:
            writer.writerow([row.benchmark, row.system, name, "", "", row.scores[name]])
    return out.getvalue()


_NAMES = {
    Form.TEXT: "report.txt",
    Form.MARKDOWN: "report.md",
    Form.CSV: "report.csv",
    Form.LATEX: "report.tex",
    Form.HTML: "report.html",
}


def _write_all(found: StudyReport, title: str, folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    texts = {folder / name: _written(found, title, form) for form, name in _NAMES.items()}
    if found.trust:
        texts[folder / "reliability.svg"] = reliability_svg(found.trust)
    if found.correlations:
        texts[folder / "correlations.csv"] = _correlations_as_csv(found)
    with write_files(list(texts)) as writers:
        for write, text in zip(writers, texts.values(), strict=True):
            write(text.removesuffix("\n"))
    if found.gold:
        examples = benchmark(found.gold)
        WikiBM().write(examples, (folder / "perfect.tsv",))
        Jsonl().write(examples, (folder / "perfect.jsonl",))
        texts |= {folder / "perfect.tsv": "", folder / "perfect.jsonl": ""}
    names = sorted(path.name for path in texts)
    sys.stdout.write(f"Written to {folder}: {', '.join(names)}.\n")
