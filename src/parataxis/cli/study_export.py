"""``parataxis study export``: the rewrites and ratings of a study as files."""

import sys
from pathlib import Path
from typing import Annotated

import typer

from parataxis.cli.study_database import DatabaseOption, StudyArgument, open_study
from parataxis.corpora.files import write_files

__all__ = ["export"]


def export(
    study: StudyArgument,
    output: Annotated[
        Path, typer.Option("--output", "-o", metavar="DIR", help="The folder for the files.")
    ] = Path(),
    database: DatabaseOption = None,
) -> None:
    """Write items.jsonl and ratings.jsonl, which the report reads, and beside them the ratings of
    experts, the flagged sources and all that was ever submitted. Also while people work."""
    from parataxis.studies.exports import FILES

    store, _, rubric = open_study(study, database)
    with store:
        found = {name: list(lines(store, rubric)) for name, lines in FILES.items()}
    output.mkdir(parents=True, exist_ok=True)
    with write_files([output / name for name in found]) as writers:
        for write, lines in zip(writers, found.values(), strict=True):
            for line in lines:
                write(line)
    counts = ", ".join(f"{len(lines):,} in {name}" for name, lines in found.items())
    sys.stdout.write(f"Written to {output}: {counts}.\n")
