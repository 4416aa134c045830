"""The files of a study as commands read them: its rewrites, and the rubric of its ratings."""

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from parataxis.corpora.files import read_lines
from parataxis.corpora.protocol import Report
from parataxis.errors import InputError
from parataxis.rewrite.jsonl import read_rewrites
from parataxis.rewrite.record import Rewrite
from parataxis.studies.records import Rating, read_ratings
from parataxis.studies.rubric import Rubric, load_rubric

__all__ = [
    "ItemsOption",
    "RatingsOption",
    "RubricOption",
    "read_item_file",
    "read_rating_file",
    "rubric_of",
]

ItemsOption = Annotated[
    Path, typer.Option("--items", "-i", help="The rewrites that were rated, as JSON lines.")
]

RatingsOption = Annotated[
    Path, typer.Option("--ratings", "-r", help="The ratings of them, as JSON lines.")
]

RubricOption = Annotated[
    str | None,
    typer.Option(
        metavar="NAME | FILE",
        show_default=False,
        help="The rubric; else the one that the ratings name.",
    ),
]


def read_item_file(path: Path) -> list[Rewrite]:
    """The rewrites in a file of JSON lines."""
    lines = (line for _, line in read_lines(path, Report(strict=True)))
    return list(read_rewrites(lines, str(path)))


def read_rating_file(path: Path) -> list[Rating]:
    """The ratings in a file of JSON lines, which must have some."""
    found = list(read_ratings(path))
    if not found:
        raise InputError(f"{path} has no ratings.")
    return found


def rubric_of(ratings: Sequence[Rating], path: Path, name: str | None) -> Rubric:
    """The rubric of that name, or the one that all ratings of a file name."""
    names = sorted({rating.rubric for rating in ratings})
    if name is None and len(names) > 1:
        raise InputError(f"{path} has ratings by {', '.join(names)}; name one with --rubric.")
    return load_rubric(name or names[0])
