"""``parataxis study invite``: personal links for new people."""

import csv
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from parataxis.cli.study_database import DatabaseOption, StudyArgument, open_study, secrets_path
from parataxis.cli.terminal import warn
from parataxis.errors import InputError
from parataxis.studies.study import Role, Study, load_study

if TYPE_CHECKING:
    from parataxis.studies.store import Person

__all__ = ["invite"]


def invite(
    study: StudyArgument,
    count: Annotated[
        int | None,
        typer.Argument(min=1, max=10_000, show_default=False, help="How many people."),
    ] = None,
    name: Annotated[
        list[str],
        typer.Option("--name", "-n", show_default=False, help="A name; several times."),
    ] = [],  # noqa: B006  # Typer wants a list
    names: Annotated[
        Path | None,
        typer.Option(show_default=False, help="A file with a name in each line."),
    ] = None,
    role: Annotated[Role, typer.Option("--role", "-r", help="What they do.")] = Role.RATER,
    url: Annotated[
        str | None,
        typer.Option(
            metavar="URL",
            show_default=False,
            help="Where the study is served; else the url of the study, else "
            "http://127.0.0.1:8000.",
        ),
    ] = None,
    days: Annotated[float, typer.Option(min=0, help="How many days the links can be used.")] = 60,
    database: DatabaseOption = None,
) -> None:
    """Invite people: prints a table with the id, the name, the role and the personal link of each.

    The organiser's page does the same."""
    from parataxis.web.studies import Settings, Signing, load_secrets

    listed = [*name, *(_lines(names) if names else [])]
    if (count is None) == (not listed):
        raise InputError("Say how many people to invite, or their names.")
    described = load_study(study)
    store, _, _ = open_study(study, database)
    with store:
        people = store.invite(listed or count or 0, role)
        _tell_missing(described, role, store.people())
    kept = load_secrets(secrets_path(study, database))
    base = url or described.url or Settings.base_url
    signing = Signing(Settings(kept, base_url=base, link_days=days))
    table = csv.writer(sys.stdout, delimiter="\t", lineterminator="\n")
    table.writerow(["id", "name", "role", "link"])
    for person in people:
        table.writerow([person.id, person.name or "", person.role.value, signing.link(person.id)])


def _tell_missing(study: Study, role: Role, people: "Iterable[Person]") -> None:
    """Say so where the people that a study has so far cannot finish it."""
    if study.panel is not None:  # others come by themselves
        return
    roles = [person.role for person in people]
    raters = study.raters_of_items if study.items else study.raters_of_rewrites
    for one, of, wanted in (
        (Role.WRITER, "source", study.write.writers if study.write else 0),
        (Role.RATER, "rewrite", raters),
    ):
        there = sum(each in (one, Role.BOTH) for each in roles)
        if role in (one, Role.BOTH) and there < wanted:
            warn(f"Each {of} needs {wanted} {one}s; {there} can do it so far.")


def _lines(path: Path) -> list[str]:
    try:
        text = path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"{path} cannot be read: {error}.") from error
    return [line.strip() for line in text.splitlines() if line.strip()]
