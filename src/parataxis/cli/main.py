"""The ``parataxis`` command: finds the command to run and reports errors in one sentence."""

import os
import sys
from collections.abc import Callable, Iterable, Sequence
from importlib import import_module
from pathlib import Path
from typing import Annotated, Any

import typer

from parataxis import __version__
from parataxis.cli.options import CONFIGURED, find_settings
from parataxis.cli.terminal import ReaderGoneError, is_reader_gone, warn
from parataxis.errors import ParataxisError

FOUND, BAD_INPUT, PASSED_THROUGH, BUG, INTERRUPTED = 1, 2, 3, 70, 130

EXIT_CODES = {
    0: "All went well; also when the reader of the output (`head`, say) wanted no more of it.",
    FOUND: "`lint`, or `check`, `corpus leaks` or `corpus verify` with `--fail`, found something.",
    BAD_INPUT: "Bad input or options: a sentence on standard error says what, and nothing was "
    "written; where a stream turns bad midway, what came before is written, and a run whose output "
    "is a file can be resumed.",
    PASSED_THROUGH: "`split` is done, but could not read some records, or not split some "
    "sentences: they were reported and passed through.",
    BUG: "Parataxis itself has a bug.",
    INTERRUPTED: "Interrupted (Ctrl-C; `split` also by SIGTERM or SIGHUP): what was written until "
    "then is whole.",
}
"""The exit codes of all commands, as the command reference states them."""

DEBUG_VARIABLE = "PARATAXIS_DEBUG"
"""Environment variable that makes a bug show its traceback."""

COMMANDS = {
    "split": "parataxis.run.commands",
    "claims": "parataxis.run.commands",
    "lint": "parataxis.lint.commands",
    "lsp": "parataxis.serve.commands",
    "splitters": "parataxis.run.inspect",
    "models": "parataxis.run.inspect",
    "patterns": "parataxis.evaluate.commands.corpus",
    "check": "parataxis.run.inspect",
    "analyse": "parataxis.run.inspect",
    "evaluate": "parataxis.evaluate.commands.scores",
    "correlate": "parataxis.evaluate.commands.scores",
    "downstream": "parataxis.lab.commands.downstream",
    "diagnose memorisation": "parataxis.lab.commands.diagnose",
    "diagnose probes": "parataxis.lab.commands.diagnose",
    "diagnose attention": "parataxis.lab.commands.diagnose",
    "diagnose errors": "parataxis.lab.commands.diagnose",
    "diagnose table": "parataxis.lab.commands.diagnose",
    "metrics": "parataxis.evaluate.commands.scores",
    "train": "parataxis.lab.commands.train",
    "compare-datasets": "parataxis.lab.commands.compare_datasets",
    "corpus formats": "parataxis.evaluate.commands.corpus",
    "corpus convert": "parataxis.evaluate.commands.corpus",
    "corpus describe": "parataxis.evaluate.commands.corpus",
    "corpus leaks": "parataxis.evaluate.commands.corpus",
    "corpus collect": "parataxis.evaluate.commands.corpus",
    "corpus build-websplit": "parataxis.lab.commands.websplit",
    "corpus split": "parataxis.lab.commands.websplit",
    "corpus verify": "parataxis.lab.commands.websplit",
    "study rubrics": "parataxis.studies.commands.results",
    "study budget": "parataxis.studies.commands.plan",
    "study create": "parataxis.studies.commands.setup",
    "study password": "parataxis.studies.commands.setup",
    "study serve": "parataxis.studies.commands.setup",
    "study invite": "parataxis.studies.commands.setup",
    "study export": "parataxis.studies.commands.setup",
    "study simulate": "parataxis.studies.commands.plan",
    "study to-platform": "parataxis.studies.commands.plan",
    "study from-platform": "parataxis.studies.commands.plan",
    "study sample": "parataxis.studies.commands.results",
    "study report": "parataxis.studies.commands.results",
    "serve": "parataxis.serve.commands",
    "mcp": "parataxis.integrations.mcp",
}
"""Every command, in the order of the help, and the module whose function of that name it runs."""

GROUPS = {
    "diagnose": "See whether a splitter cheats: what it has memorised, where it looks, what it "
    "gets wrong.",
    "corpus": "Read, write, describe and compare corpora of split sentences.",
    "study": "Let people write and rate rewrites, and make the tables of the papers.",
}
"""The groups of commands, with their summaries."""


def _show_version(wanted: bool) -> None:
    if wanted:
        from parataxis.syntax.onnx import HOMES, weights_named  # brings numpy, which is slow

        sys.stdout.write(f"parataxis {__version__}\n")
        sys.stdout.write("".join(f"{weights_named(name)}\n" for name in HOMES))
        raise typer.Exit


def _options(
    version: Annotated[
        bool,
        typer.Option(
            "--version",
            help="Show the versions of Parataxis and of its models, and exit.",
            callback=_show_version,
            is_eager=True,
        ),
    ] = False,
) -> None:
    pass


def make_app(names: Iterable[str]) -> typer.Typer:
    """The command line with these commands."""
    made = _typer(
        help="Split long, complex English sentences into simple ones with the same meaning."
    )
    made.callback()(_options)
    groups: dict[str, typer.Typer] = {}
    for name in names:
        group = name.rpartition(" ")[0]
        if group and group not in groups:
            groups[group] = _typer(name=group, help=GROUPS[group], invoke_without_command=True)
            groups[group].callback()(_show_help)
            made.add_typer(groups[group])
        groups.get(group, made).command()(command_function(name))
    return made


def command_function(name: str) -> Callable[..., Any]:
    """The function that a command runs."""
    function: Callable[..., Any] = getattr(
        import_module(COMMANDS[name]), name.rpartition(" ")[2].replace("-", "_")
    )
    return function


def _typer(**options: Any) -> typer.Typer:
    return typer.Typer(
        rich_markup_mode=None,
        pretty_exceptions_enable=False,
        context_settings={"help_option_names": ["-h", "--help"]},
        **options,
    )


def _show_help(context: typer.Context) -> None:
    if context.invoked_subcommand is None:
        sys.stdout.write(f"{context.get_help()}\n")


def app(args: Sequence[str], **options: Any) -> Any:
    """Run the command line, importing only the command or group that was asked for, so that it
    starts quickly. Help and unknown commands need them all."""
    wanted = [name for name in COMMANDS if name.split()[0] == args[0]]
    if args[0] in CONFIGURED:
        found = find_settings(Path.cwd())
        options["default_map"] = {args[0]: found.of(args[0], command_function(args[0]))}
    return make_app(wanted or COMMANDS)(args=args, **options)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit code; errors never end in a traceback."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    try:
        code = app(args=given or ["--help"], prog_name="parataxis", standalone_mode=False)
    except ParataxisError as error:
        return _fail(str(error))
    except ReaderGoneError:
        return _leave_quietly()
    except SystemExit as exit_:
        return _exit(exit_)
    except KeyboardInterrupt:
        return INTERRUPTED
    except Exception as error:
        if _comes_from_interrupt(error):
            return INTERRUPTED
        if os.environ.get(DEBUG_VARIABLE):
            raise
        if hasattr(error, "format_message"):
            return _fail(_usage(error))
        if isinstance(error, OSError):
            what = f"{error.filename} cannot be used" if error.filename else "The system gave up"
            return _fail(f"{what}: {(error.strerror or str(error)).lower()}.")
        kind = f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
        reason = " ".join(kind.split())
        return _fail(
            f"This is a bug ({reason}); please report it with what {DEBUG_VARIABLE}=1 shows.", BUG
        )
    return code if isinstance(code, int) else 0


def _comes_from_interrupt(error: BaseException | None) -> bool:
    """Whether an error was raised while an interrupt was being handled, and so is no bug."""
    while error is not None:
        if isinstance(error, KeyboardInterrupt):
            return True
        error = error.__cause__ or error.__context__
    return False


def _fail(sentence: str, code: int = BAD_INPUT) -> int:
    warn(sentence)
    return code


def _usage(error: Exception) -> str:
    """Typer's message about a wrong option. Some versions of Typer vendor click and others import
    it, so its errors are recognised by their method, not by their class."""
    message = " ".join(str(error.format_message()).split())  # type: ignore[attr-defined]
    message = message.replace("Value error, ", "")  # pydantic's words, through Typer
    context, parameter = getattr(error, "ctx", None), getattr(error, "param", None)
    source = context.get_parameter_source(parameter.name) if context and parameter else None
    if source is not None and source.name == "DEFAULT_MAP":
        message = f"{find_settings(Path.cwd()).path}: {message}"
    return message if message.endswith((".", "?", "!")) else f"{message}."


def _exit(exit_: SystemExit) -> int:
    """The exit code that a splitter or its runtime asked for."""
    cause = exit_.__context__
    if isinstance(cause, OSError) and is_reader_gone(cause):  # Typer's, when none reads its help
        return _leave_quietly()
    if isinstance(exit_.code, str):
        return _fail(" ".join(exit_.code.split()), 1)  # as Python would
    return exit_.code or 0


def _leave_quietly() -> int:
    """Exit silently when the reader of a pipe has closed it."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return 0
