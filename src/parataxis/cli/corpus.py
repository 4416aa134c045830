"""``parataxis corpus``: read, write, describe and compare corpora of split sentences.

The commands that build and split WebSplit register themselves on :data:`corpus`, too.
"""

import json
import sys
from dataclasses import asdict
from enum import StrEnum
from typing import Annotated

import typer

from parataxis.cli.tables import plain_table
from parataxis.cli.terminal import open_output
from parataxis.corpora.registry import corpus_formats

__all__ = ["TableFormat", "TableFormatOption", "corpus"]

corpus = typer.Typer(
    name="corpus",
    add_completion=False,
    rich_markup_mode=None,
    invoke_without_command=True,
    context_settings={"help_option_names": ["-h", "--help"]},
    help="Read, write, describe and compare corpora of split sentences.",
)


@corpus.callback()
def _help(context: typer.Context) -> None:
    if context.invoked_subcommand is None:
        sys.stdout.write(f"{context.get_help()}\n")


class TableFormat(StrEnum):
    """How a table is written."""

    TEXT = "text"
    JSON = "json"


TableFormatOption = Annotated[
    TableFormat, typer.Option("--format", "-f", help="A table, or JSON for programs.")
]


@corpus.command()
def formats(output_format: TableFormatOption = TableFormat.TEXT) -> None:
    """List the corpus formats that can be read and written."""
    found = corpus_formats()
    with open_output(None) as out:
        if output_format is TableFormat.JSON:
            records = [asdict(each) for each in found]
            out.write(json.dumps(records, ensure_ascii=False, indent=1) + "\n")
            return
        rows = [
            (
                each.name,
                each.summary if each.problem is None else f"(unusable) {each.problem}",
                each.distribution,
            )
            for each in found
        ]
        out.write(plain_table(("format", "its files", "comes with"), rows))
