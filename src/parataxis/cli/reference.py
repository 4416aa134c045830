"""The command reference, made from the commands themselves: ``docs/commands.md``.

Run ``python -m parataxis.cli.reference > docs/commands.md`` after any change to a command.
"""

import inspect
import sys
from collections import defaultdict
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from enum import Enum
from types import NoneType
from typing import get_args, get_type_hints

from typer.models import ArgumentInfo, OptionInfo, ParameterInfo

from parataxis.cli.main import COMMANDS, DEBUG_VARIABLE, EXIT_CODES, command_function
from parataxis.plugins import Installed
from parataxis.splitters.llm.settings import VARIABLES
from parataxis.splitters.registry import available_splitters
from parataxis.syntax.onnx import MODELS_VARIABLE, THREADS_VARIABLE

_HEAD = """\
# Commands

<!-- Made by `python -m parataxis.cli.reference`; edit the commands, not this page. -->

Every command answers `--help` (or `-h`). `parataxis --version` tells the versions, also of the
models, and `parataxis --install-completion` sets up completion in your shell.
"""

_VARIABLES = {
    THREADS_VARIABLE: "How many sentences a process analyses at once; without it, one per core.",
    MODELS_VARIABLE: "A folder with other weights: those in its folders `analyser`, `pointer` and "
    "`verifier`, where they exist, replace the shipped ones.",
    "NO_COLOR": "Where it is set to anything, nothing is coloured.",
    "FORCE_COLOR": "Where it is set to anything, diffs and explanations are coloured anywhere.",
    DEBUG_VARIABLE: "Where it is set to anything, a bug shows its traceback.",
    **VARIABLES,
}


@dataclass(frozen=True)
class Parameter:
    """An argument or option of a command; ``names`` is empty for an argument."""

    names: tuple[str, ...]
    metavar: str
    choices: tuple[str, ...]
    help: str
    default: str
    is_required: bool = False


def commands() -> dict[str, Callable[..., object]]:
    """The functions behind the commands, by name: those outside of groups come first."""
    return {name: command_function(name) for name in sorted(COMMANDS, key=lambda name: " " in name)}


def parameters(command: Callable[..., object]) -> list[Parameter]:
    """The arguments and options of a command, in order."""
    hints = get_type_hints(command, include_extras=True)
    return [
        _parameter(name, hints[name], parameter.default)
        for name, parameter in inspect.signature(command).parameters.items()
    ]


def reference() -> str:
    """The whole page, as Markdown."""
    told: dict[Parameter, str] = {}
    parts = [_HEAD, *(_command(name, command, told) for name, command in commands().items())]
    for title, header, rows in (
        ("Splitters", "name | what it is", _own(available_splitters())),
        ("Exit codes", "code | meaning", EXIT_CODES),
        ("Environment", "variable | meaning", _VARIABLES),
    ):
        cells = [(_code(str(name)), text) for name, text in rows.items()]
        parts.append(f"## {title}\n\n" + _table(header.split(" | "), cells))
    parts.append("See also [corpora](corpora.md#formats) and [metrics](metrics.md#all-metrics).\n")
    return "\n".join(parts)


def _parameter(name: str, hint: object, default: object) -> Parameter:
    kind, *extras = get_args(hint)
    info = next(extra for extra in extras if isinstance(extra, ParameterInfo))
    types = [each for each in get_args(kind) or (kind,) if each is not NoneType]
    choices: tuple[str, ...] = ()
    if isinstance(types[0], type) and issubclass(types[0], Enum):
        choices = tuple(str(member.value) for member in types[0])
    if not isinstance(info, (ArgumentInfo, OptionInfo)):
        raise TypeError(f"{info!r} is neither an argument nor an option")
    is_required = default is inspect.Parameter.empty
    shown = default.value if isinstance(default, Enum) else default
    return Parameter(
        names=_option_names(name, info) if isinstance(info, OptionInfo) else (),
        metavar=info.metavar or "",
        choices=choices,
        help=info.help or "",
        default="" if is_required or shown is None or shown is False else str(shown),
        is_required=is_required,
    )


def _option_names(name: str, info: OptionInfo) -> tuple[str, ...]:
    # Inside Annotated, Typer keeps the first name where a default would otherwise stand.
    first = (info.default,) if isinstance(info.default, str) else ()
    return (*first, *(info.param_decls or ())) or (f"--{name.replace('_', '-')}",)


def _command(name: str, command: Callable[..., object], told: dict[Parameter, str]) -> str:
    """The section of a command. Options that an earlier command has too (``told``) are named."""
    found = parameters(command)
    arguments = [parameter for parameter in found if not parameter.names]
    places = [each.metavar if each.is_required else f"[{each.metavar}]..." for each in arguments]
    usage = " ".join(["parataxis", name, "[OPTIONS]", *places])
    lines = [f"## parataxis {name}", "", f"    {usage}", "", inspect.getdoc(command) or ""]
    for argument in arguments:
        lines += ["", f"`{argument.metavar}`: {_meaning(argument)}"]
    rows, known = [], defaultdict(list)
    for option in (each for each in found if each.names):
        names = f"{', '.join(map(_code, option.names))} {_code(option.metavar)}".rstrip()
        if (first := told.setdefault(option, name)) == name:
            rows.append((names, _meaning(option), _code(option.default)))
        else:
            known[first].append(names)
    if rows:
        lines += ["", _table(("option", "meaning", "default"), rows).rstrip()]
    for first, options in known.items():
        link = f"[`parataxis {first}`](#parataxis-{first.replace(' ', '-')})"
        lines += ["", f"As in {link}: {', '.join(options)}."]
    return "\n".join([*lines, ""])


def _meaning(parameter: Parameter) -> str:
    meaning = parameter.help
    if parameter.choices:
        meaning = f"One of {', '.join(map(_code, parameter.choices))}. {meaning}"
    return f"{meaning} Required." if parameter.is_required and parameter.names else meaning


def _code(text: str) -> str:
    return f"`{text}`" if text else ""


def _own(found: Iterable[Installed]) -> dict[str, str]:
    """Our plugins, not what else happens to be installed here."""
    return {each.name: each.summary for each in found if each.distribution == "parataxis"}


def _table(header: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    head = list(header)
    lines = [head, ["---"] * len(head), *rows]
    return "".join("| " + " | ".join(line) + " |\n" for line in lines)


if __name__ == "__main__":
    sys.stdout.write(reference())
