"""Arguments and options that several commands share, those that docstrings describe, and those that
are set in a file."""

import inspect
import re
import socket
import tomllib
from collections.abc import Callable, Mapping
from copy import copy
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, TypeVar, get_args

import typer

from parataxis.errors import InputError, system_errors
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


CONFIGURED = ("lint", "split")
"""The commands whose options can be set in a file."""
_OWN_FILE, _SHARED_FILE = ".parataxis.toml", "pyproject.toml"
_FOR_ONE_RUN = frozenset(
    ["inputs", "output", "resume", "explain", "fix", "diff", "update_baseline", "no_cache"]
)
_PATHS = frozenset(["baseline", "cache", "keep_phrases"])
"""Options that name a file, which is relative to the folder of the settings."""


@dataclass(frozen=True)
class FileSettings:
    """The options of commands that a file sets, by the name of the command and of the option, with
    underscores; ``path`` is None if there is no such file."""

    path: Path | None = None
    commands: Mapping[str, Mapping[str, object]] = field(default_factory=dict)

    def of(self, name: str, command: Callable[..., object]) -> dict[str, object]:
        """The options of a command; raises InputError for one that it does not have."""
        known = set(inspect.signature(command).parameters) - _FOR_ONE_RUN
        found = {}
        for option, value in self.commands.get(name, {}).items():
            parameter = option if option in known else f"{option}_"
            if parameter not in known:
                names = ", ".join(sorted(each.strip("_").replace("_", "-") for each in known))
                shown = option.replace("_", "-")
                raise InputError(
                    f'{self.path}: "{name}" has no setting "{shown}"; it has: {names}.'
                )
            if option in _PATHS and isinstance(value, str) and self.path is not None:
                value = str(self.path.parent / value)
            found[parameter] = value
        return found


def find_settings(folder: Path) -> FileSettings:
    """The settings in ``.parataxis.toml``, or in the table ``tool.parataxis`` of
    ``pyproject.toml``: those in the folder, or else in the nearest folder above it, up to that of
    the repository."""
    for here in (folder.resolve(), *folder.resolve().parents):
        for name in (_OWN_FILE, _SHARED_FILE):
            path = here / name
            if path.is_file() and (tables := _tables(path)) is not None:
                return FileSettings(path, tables)
        if (here / ".git").exists():
            break
    return FileSettings()


def _tables(path: Path) -> dict[str, dict[str, object]] | None:
    with system_errors(f"{path} cannot be read"):
        data = path.read_bytes()
    try:
        tables = tomllib.loads(data.decode())
    except ValueError as error:  # not TOML, or not UTF-8
        if path.name == _SHARED_FILE:
            return None  # not ours to judge
        raise InputError(f"{path} is not TOML: {error}.") from error
    if path.name == _SHARED_FILE:
        tables = tables.get("tool", {}).get("parataxis")
        if tables is None:
            return None
    for name, table in tables.items():
        if name not in CONFIGURED or not isinstance(table, dict):
            known = ", ".join(CONFIGURED)
            raise InputError(f'{path}: "{name}" is no table of settings; there are: {known}.')
    return {
        name: {option.replace("-", "_"): value for option, value in table.items()}
        for name, table in tables.items()
    }


HostOption = Annotated[str, typer.Option(help="The address to listen at.")]
PortOption = Annotated[int, typer.Option(min=1, max=65535, help="The port to listen at.")]


def refuse_taken(host: str, port: int) -> None:
    """Tell that nothing can be served there before anything is made or shown."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with system_errors(f"Nothing can be served at {host}, port {port}"):
        socket.create_server((host, port), family=family).close()
