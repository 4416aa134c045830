"""``parataxis study sample``: draw rewrites for an expert, who tells how far to trust raters."""

from collections import Counter
from pathlib import Path
from typing import Annotated

import typer

from parataxis.cli.study_database import DatabaseOption, open_study
from parataxis.cli.study_files import (
    ItemsOption,
    RatingsOption,
    RubricOption,
    read_item_file,
    read_rating_file,
    rubric_of,
)
from parataxis.cli.tables import counted
from parataxis.cli.terminal import warn
from parataxis.corpora.files import write_files
from parataxis.errors import InputError
from parataxis.reports.studies.summary import group_of
from parataxis.rewrite.jsonl import to_json
from parataxis.studies.records import Purpose
from parataxis.studies.reliability import buckets
from parataxis.studies.reliability import sample as drawn_from

__all__ = ["sample"]


def sample(
    items: ItemsOption,
    ratings: RatingsOption,
    each: Annotated[
        int,
        typer.Option(min=1, help="So many of each system, benchmark and number of raters' yes."),
    ] = 2,
    outcome: Annotated[
        str | None,
        typer.Option(show_default=False, help="Else the rubric's first that is yes or no."),
    ] = None,
    rubric: RubricOption = None,
    seed: Annotated[int, typer.Option(min=0, help="Of the draw.")] = 1,
    ask: Annotated[
        Path | None,
        typer.Option(
            metavar="STUDY",
            show_default=False,
            help="Also ask the experts of this study about them: its YAML file.",
        ),
    ] = None,
    database: DatabaseOption = None,
    output: Annotated[
        Path, typer.Option("--output", "-o", metavar="FILE", help="Where they go; - is stdout.")
    ] = Path("-"),
) -> None:
    """Draw rewrites for an expert by how many raters said yes (Zhang et al. 2020, section 6).

    What the expert then says goes into `parataxis study report --expert`.
    """
    rewrites = {rewrite.id or "": rewrite for rewrite in read_item_file(items)}
    given = read_rating_file(ratings)
    verdicts = rubric_of(given, ratings, rubric).verdicts
    name = outcome or next(iter(verdicts), None)
    if name not in verdicts:
        known = f"one of {', '.join(verdicts)}" if verdicts else "there is none"
        raise InputError(f"An outcome that is yes or no is needed: {known}.")
    judged = [one for one in given if one.purpose is Purpose.ITEM and one.item in rewrites]
    found = buckets(judged, name)
    groups = {id_: " ".join(group_of(rewrites[id_])) for id_ in found}
    drawn = drawn_from(found, groups, each, seed=seed)
    if not drawn:
        raise InputError(f"{items} has no rewrite that {ratings} has a rating of.")
    if ask is not None:
        _ask(ask, database, drawn)
    with write_files([output]) as (line,):
        for id_ in drawn:
            line(to_json(rewrites[id_]))
    sizes = sorted(Counter(found[id_] for id_ in drawn).items(), key=lambda pair: pair[0])
    told = ", ".join(f"{n} where {b.yes} of {b.raters} said yes" for b, n in sizes)
    warn(f"{counted(len(drawn), 'rewrite')} for an expert: {told}.")


def _ask(study: Path, database: str | None, drawn: list[str]) -> None:
    store, _, _ = open_study(study, database)
    with store:
        new = store.ask_experts(drawn)
    warn(f"The experts of the study are asked about {counted(new, 'more rewrite')}.")
