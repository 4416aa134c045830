"""``parataxis diagnose``: diagnostics that expose a splitter which cheats."""

import sys

import typer

from parataxis.cli.diagnose_attention import attention
from parataxis.cli.diagnose_errors import errors, table
from parataxis.cli.diagnose_memorisation import memorisation, probes

__all__ = ["diagnose"]

diagnose = typer.Typer(
    name="diagnose",
    add_completion=False,
    rich_markup_mode=None,
    invoke_without_command=True,
    context_settings={"help_option_names": ["-h", "--help"]},
    help="See whether a splitter cheats: what it recites, where it looks, what it gets wrong.",
)
for _command in (memorisation, probes, attention, errors, table):
    diagnose.command()(_command)


@diagnose.callback()
def _help(context: typer.Context) -> None:
    if context.invoked_subcommand is None:
        sys.stdout.write(f"{context.get_help()}\n")
