"""``parataxis corpus``: read, write, describe and compare corpora of split sentences.

The commands that build and split WebSplit register themselves on :data:`corpus`, too.
"""

import sys

import typer

from parataxis.cli.corpus_collect import collect
from parataxis.cli.corpus_convert import convert, formats
from parataxis.cli.corpus_describe import describe
from parataxis.cli.corpus_inputs import TableFormat, TableFormatOption
from parataxis.cli.corpus_leaks import leaks
from parataxis.cli.corpus_websplit import build_websplit, split, verify

__all__ = ["TableFormat", "TableFormatOption", "corpus"]

corpus = typer.Typer(
    name="corpus",
    add_completion=False,
    rich_markup_mode=None,
    invoke_without_command=True,
    context_settings={"help_option_names": ["-h", "--help"]},
    help="Read, write, describe and compare corpora of split sentences.",
)
for _command in (formats, convert, describe, leaks, collect, build_websplit, split, verify):
    corpus.command()(_command)


@corpus.callback()
def _help(context: typer.Context) -> None:
    if context.invoked_subcommand is None:
        sys.stdout.write(f"{context.get_help()}\n")
