"""A group of commands under one name, such as ``parataxis corpus``."""

import sys
from collections.abc import Callable, Sequence

import typer

__all__ = ["make_group"]


def make_group(
    name: str, commands: Sequence[Callable[..., object]], *, summary: str
) -> typer.Typer:
    """The group; asked for nothing, it shows its help."""
    group = typer.Typer(
        name=name,
        add_completion=False,
        rich_markup_mode=None,
        invoke_without_command=True,
        context_settings={"help_option_names": ["-h", "--help"]},
        help=summary,
    )
    for command in commands:
        group.command()(command)
    group.callback()(_show_help)
    return group


def _show_help(context: typer.Context) -> None:
    if context.invoked_subcommand is None:
        sys.stdout.write(f"{context.get_help()}\n")
