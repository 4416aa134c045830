"""Arguments and options that several commands share."""

import socket
from typing import Annotated

import typer

from parataxis.errors import InputError
from parataxis.report import ReportFormat

Inputs = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="TEXT | FILES | -",
        show_default=False,
        help="A text in quotes, one or more files, or - for standard input.",
    ),
]

MetricOption = Annotated[
    list[str] | None,
    typer.Option("--metric", "-m", metavar="NAME", help="Only this metric; can be repeated."),
]

AnalysedOption = Annotated[
    bool, typer.Option("--analysed", help="Also the metrics that read every sentence: slower.")
]


ReportFormatOption = Annotated[
    ReportFormat, typer.Option("--format", "-f", help="How the report is written.")
]

HostOption = Annotated[str, typer.Option(help="The address to listen at.")]
PortOption = Annotated[int, typer.Option(min=1, max=65535, help="The port to listen at.")]


def refuse_taken(host: str, port: int) -> None:
    """Tell that nothing can be served there before anything is made or shown."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        socket.create_server((host, port), family=family).close()
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        raise InputError(f"Nothing can be served at {host}, port {port}: {reason}.") from error
