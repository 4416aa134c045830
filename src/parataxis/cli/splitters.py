"""``parataxis splitters``: which splitters are installed."""

import json
from dataclasses import asdict
from enum import StrEnum
from typing import Annotated

import typer

from parataxis.api import DEFAULT_SPLITTER
from parataxis.cli.tables import plain_table
from parataxis.cli.terminal import open_output
from parataxis.plugins import Installed
from parataxis.splitters.registry import available_splitters

__all__ = ["splitters"]


class ListFormat(StrEnum):
    """How a list is written."""

    TEXT = "text"
    JSON = "json"


def splitters(
    output_format: Annotated[
        ListFormat, typer.Option("--format", "-f", help="A table, or JSON for programs.")
    ] = ListFormat.TEXT,
) -> None:
    """List the installed splitters.

    The one with a star is used where none is named.
    """
    found = available_splitters()
    with open_output(None) as out:
        if output_format is ListFormat.JSON:
            records = [{**asdict(each), "default": _is_default(each)} for each in found]
            out.write(json.dumps(records, ensure_ascii=False, indent=1) + "\n")
            return
        rows = [
            (each.name + (" *" if _is_default(each) else ""), _what(each), each.distribution)
            for each in found
        ]
        out.write(plain_table(("splitter", "what it does", "comes with"), rows))


def _is_default(splitter: Installed) -> bool:
    return splitter.name == DEFAULT_SPLITTER


def _what(splitter: Installed) -> str:
    return splitter.summary if splitter.problem is None else f"(unusable) {splitter.problem}"
