"""``parataxis study create`` and ``password``: begin a study, and let its organiser log in."""

import sys
from pathlib import Path
from typing import Annotated

import typer

from parataxis.cli.study_database import DatabaseOption, StudyArgument, begin, secrets_path
from parataxis.errors import InputError

__all__ = ["create", "password"]


def create(
    study: StudyArgument,
    items: Annotated[
        Path | None,
        typer.Option(
            "--items", "-i", show_default=False, help="Rewrites to be rated, instead of its own."
        ),
    ] = None,
    database: DatabaseOption = None,
) -> None:
    """Make the database of a study, with its items."""
    store, found, _, is_new = begin(study, database, items)
    with store:
        if not is_new:
            raise InputError(f"The database of {study} holds a study already.")
        phases = store.overview().phases
    wanted = ", ".join(f"{phase.wanted:,} to {kind}" for kind, phase in phases.items())
    sys.stdout.write(f'The study "{found.name}" is ready: {wanted}.\n')
    if found.rate.raters is None and found.items and found.write:
        sys.stdout.write(
            f"Each rewrite of its items is rated by {found.raters_of_items} people, each one that "
            f"is written by {found.raters_of_rewrites}.\n"
        )


def password(
    study: StudyArgument,
    database: DatabaseOption = None,
    stdin: Annotated[
        bool, typer.Option("--stdin", help="Read the password from standard input.")
    ] = False,
) -> None:
    """Set the organiser's password; only its argon2 hash is kept. Servers that run take it at
    once, and whoever is logged in must log in again."""
    from parataxis.web.studies import keep_password

    if stdin:
        given = sys.stdin.readline().rstrip("\n")
    else:
        given = typer.prompt("Password", hide_input=True, confirmation_prompt=True, err=True)
    path = secrets_path(study, database)
    keep_password(path, given)
    sys.stdout.write(f"The password is set; its hash is in {path}.\n")
