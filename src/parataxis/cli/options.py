"""Arguments and options that several commands share."""

from enum import StrEnum
from typing import Annotated

import typer

from parataxis.cli.units import InputFormat

__all__ = [
    "AnalysedOption",
    "InputFormatOption",
    "Inputs",
    "MetricOption",
    "ReportFormat",
    "ReportFormatOption",
]

Inputs = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="TEXT | FILES | -",
        show_default=False,
        help="A text in quotes, one or more files, or - for standard input.",
    ),
]

InputFormatOption = Annotated[
    InputFormat,
    typer.Option(
        "--input",
        "-i",
        help="text: running text. lines: a sentence on each line. tsv: the first column. "
        "jsonl: the field source or complex. auto: jsonl and tsv by the file's suffix, else text.",
    ),
]

MetricOption = Annotated[
    list[str] | None,
    typer.Option("--metric", "-m", metavar="NAME", help="Only this metric; can be repeated."),
]

AnalysedOption = Annotated[
    bool, typer.Option("--analysed", help="Also the metrics that read every sentence: slower.")
]


class ReportFormat(StrEnum):
    """How a report writes its tables."""

    TEXT = "text"
    MARKDOWN = "markdown"
    CSV = "csv"
    LATEX = "latex"
    JSON = "json"


ReportFormatOption = Annotated[
    ReportFormat, typer.Option("--format", "-f", help="How the table is written.")
]
