"""Arguments and options that several commands share, and those that docstrings describe."""

import inspect
import re
import socket
from collections.abc import Callable
from copy import copy
from typing import Annotated, TypeVar, get_args

import typer

from parataxis.errors import system_errors
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

Command = TypeVar("Command", bound=Callable[..., object])
OptionalCount = Annotated[int | None, typer.Option(min=1)]
Count = Annotated[int, typer.Option(min=1)]
Natural = Annotated[int, typer.Option(min=0)]

_OPTIONS = "\n\nOptions:\n"
_ENTRY = re.compile(r"(?P<names>(?:--?[\w-]+(?:, )?)*) ?(?P<metavar>.*?): (?P<help>.*)")


def documented(command: Command) -> Command:
    """Describe the arguments and options of a command by the end of its docstring::

        @documented
        def build(folder: Path, max_references: OptionalCount = None) -> None:
            \"""Build WebSplit from WebNLG.

            Options:
            WEBNLG: WebNLG's XML files: their folder, or
                a tar archive of it.
            --max-references, -m N: Write at most N references of each source.
            \"""

    An option is the parameter of its first name, with or without a final underscore; the others
    are the arguments, in their order. Long entries go on in indented lines. Parameters that share
    an alias of this module need no entry.
    """
    text, _, entries = (inspect.getdoc(command) or "").partition(_OPTIONS)
    command.__doc__ = text
    hints = command.__annotations__
    arguments = iter(inspect.signature(command).parameters)
    for entry in re.sub(r"\n +", " ", entries).splitlines():
        found = _ENTRY.fullmatch(entry)
        if found is None:
            raise ValueError(f"{command.__name__}: {entry!r} does not describe an option")
        names = tuple(filter(None, found["names"].split(", ")))
        name = names[0].strip("-").replace("-", "_") if names else next(arguments)
        name = name if name in hints else f"{name}_"
        is_shared = hasattr(hints[name], "__metadata__")
        kind, *shared = get_args(hints[name]) if is_shared else (hints[name],)
        new = typer.Option() if names else typer.Argument()
        info = copy(shared[0]) if shared else new
        info.help, info.metavar = found["help"], found["metavar"] or None
        info.default, info.param_decls = ..., names or None
        hints[name] = Annotated[kind, info]
    return command


HostOption = Annotated[str, typer.Option(help="The address to listen at.")]
PortOption = Annotated[int, typer.Option(min=1, max=65535, help="The port to listen at.")]


def refuse_taken(host: str, port: int) -> None:
    """Tell that nothing can be served there before anything is made or shown."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with system_errors(f"Nothing can be served at {host}, port {port}"):
        socket.create_server((host, port), family=family).close()
