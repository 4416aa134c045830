"""``parataxis study create``, ``password``, ``invite``, ``serve`` and ``export``: run a study."""

import csv
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated
from urllib.parse import urlsplit

import typer

from parataxis.cli.options import HostOption, PortOption, documented, refuse_taken
from parataxis.cli.terminal import warn, write_folder
from parataxis.errors import InputError, needs
from parataxis.studies.items import Item, read_items
from parataxis.studies.rubric import Rubric, available_rubrics, load_rubric
from parataxis.studies.study import ItemKind, Role, Study, load_study
from parataxis.text.files import plain_cell, strict_lines

if TYPE_CHECKING:
    from parataxis.studies.store import Store
    from parataxis.studies.store.types import Person

Days = Annotated[float, typer.Option(min=0, max=36_500)]
DatabaseOption = Annotated[
    str | None,
    typer.Option(
        "--database",
        "-d",
        metavar="FILE | URL",
        help="An SQLite file or postgresql://...; by default a .db file beside the study.",
    ),
]
_LOCALHOST = ("127.0.0.1", "::1")


# --- The database and the secrets of a study


def _secrets_path(file: Path, database: str | None) -> Path:
    """The secrets file: beside the SQLite file, or else beside the YAML file."""
    location = _location(file, database)
    if "://" in location and not location.startswith("sqlite"):
        return file.with_suffix(".secrets")
    return Path(location.removeprefix("sqlite:///")).with_suffix(".secrets")


def _fill(store: "Store", study: Study, rubric: Rubric) -> None:
    items = read_items(study)
    _check_expected(items, rubric)
    _refuse_alias(study, rubric)
    store.create(study, items, rubric)


def open_study(file: Path, database: str | None) -> "tuple[Store, Study, Rubric]":
    """Open the database of a study that was created before. It must still be the same study."""
    location = _location(file, database)
    if "://" not in location and not Path(location).is_file():
        raise InputError(f"There is no database {location} yet; make it with: study create {file}")
    described = load_study(file)
    store, rubric = _open(location), load_rubric(described.rubric)
    try:
        store.update(described, rubric)
    except BaseException:
        store.close()
        raise
    return store, described, rubric


def _refuse_alias(study: Study, rubric: Rubric) -> None:
    """Ratings name their rubric, so one of your own must not be called like an installed one."""
    name = study.rubric_name
    is_installed = name in {each.name for each in available_rubrics()}
    if is_installed and load_rubric(name).asked() != rubric.asked():
        raise InputError(
            f'{study.rubric} is not the installed rubric "{name}"; give the file another name.'
        )


def _open(location: str) -> "Store":
    from parataxis.studies.store import Store

    return Store.open(location)


def _location(file: Path, database: str | None) -> str:
    return database or str(file.with_suffix(".db"))


def _check_expected(items: list[Item], rubric: Rubric) -> None:
    """Check that known answers are possible: after a typing error every rater would fail."""
    for item in (each for each in items if each.kind is ItemKind.RATE):
        for name, known in item.expected.items():
            question = rubric.expected_question(item.id, name)
            for value in known if isinstance(known, list | tuple) else [known]:
                if value is not None and not question.allows(value):
                    raise InputError(
                        f'The item "{item.id}" expects {value!r} for "{name}", which is no answer.'
                    )


@documented
def create(study: Path, items: Path | None = None, database: DatabaseOption = None) -> None:
    """Create the database of a study, with its items.

    Options:
    STUDY: The YAML file of the study.
    --items, -i: Rewrites to be rated, instead of those that the study names.
    """
    found = load_study(study)
    if items is not None:
        found = found.model_copy(update={"items": items.absolute()})
    rubric = load_rubric(found.rubric)
    with _open(_location(study, database)) as store:
        if store.exists:
            raise InputError(f"The database of {study} holds a study already.")
        _fill(store, found, rubric)
        phases = store.overview().phases
    wanted = ", ".join(f"{p.wanted:,} to {kind}" for kind, p in phases.items() if p.wanted)
    sys.stdout.write(f'The study "{found.name}" is ready: {wanted}.\n')
    if found.rate.raters is None and found.items and found.write:
        sys.stdout.write(
            f"Each rewrite of its items is rated by {found.raters_of_items} people, each one that "
            f"is written by {found.raters_of_rewrites}.\n"
        )


@documented
def password(study: Path, database: DatabaseOption = None, stdin: bool = False) -> None:
    """Set the organiser's password; only its argon2 hash is stored. It takes effect in running
    servers immediately, and existing logins end.

    Options:
    STUDY: The YAML file of the study.
    --stdin: Read the password from standard input.
    """
    from parataxis.studies.pages.keys import keep_password

    if stdin:
        given = sys.stdin.readline().rstrip("\n")
    else:
        given = typer.prompt("Password", hide_input=True, confirmation_prompt=True, err=True)
    path = _secrets_path(study, database)
    keep_password(path, given)
    sys.stdout.write(f"The password is set; its hash is in {path}.\n")


@documented
def invite(
    study: Path,
    count: Annotated[int | None, typer.Argument(min=1, max=10_000)] = None,
    name: list[str] | None = None,
    names: Path | None = None,
    role: Role = Role.RATER,
    url: str | None = None,
    days: Days = 60,
    database: DatabaseOption = None,
) -> None:
    """Invite people: prints a table with the id, the name, the role and the personal link of each.

    The organiser's page can do the same.

    Options:
    STUDY: The YAML file of the study.
    COUNT: How many people.
    --name, -n: A name. Can be repeated.
    --names: A file with one name per line.
    --role, -r: What they do.
    --url URL: The address of the study; by default the url in its YAML file, or else
        http://127.0.0.1:8000.
    --days: How many days the links are valid.
    """
    from parataxis.studies.pages.keys import Signing, StudySettings, load_secrets

    listed = [*(name or []), *filter(str.strip, strict_lines(names) if names else [])]
    if (count is None) == (not listed):
        raise InputError("Say how many people to invite, or their names.")
    store, described, _ = open_study(study, database)
    with store:
        people = store.invite(listed or count or 0, role)
        _warn_if_too_few(described, role, store.people())
    kept = load_secrets(_secrets_path(study, database))
    base = url or described.url or StudySettings.base_url
    signing = Signing(StudySettings(kept, base_url=base, link_days=days))
    table = csv.writer(sys.stdout, delimiter="\t", lineterminator="\n")
    table.writerow(["id", "name", "role", "link"])
    for person in people:
        name_cell = plain_cell(person.name or "")
        table.writerow([person.id, name_cell, person.role.value, signing.link(person.id)])


def _warn_if_too_few(study: Study, role: Role, people: "Iterable[Person]") -> None:
    if study.panel is not None:  # others will come from the panel
        return
    roles = [person.role for person in people]
    raters = study.raters_of_items if study.items else study.raters_of_rewrites
    writers = study.write.writers if study.write else 0
    # Who writes a rewrite of a source does not rate others of it.
    busy = max(0, writers - roles.count(Role.WRITER)) if study.keeps_apart else 0
    both = roles.count(Role.BOTH)
    able = {
        Role.WRITER: roles.count(Role.WRITER) + both,
        Role.RATER: roles.count(Role.RATER) + max(0, both - busy),
    }
    for one, of, wanted in ((Role.WRITER, "source", writers), (Role.RATER, "rewrite", raters)):
        if role in (one, Role.BOTH) and able[one] < wanted:
            warn(f"Each {of} needs {wanted} {one}s; {able[one]} can do it so far.")


@documented
def serve(
    study: Path,
    database: DatabaseOption = None,
    host: HostOption = "127.0.0.1",
    port: PortOption = 8000,
    url: str | None = None,
    link_days: Days = 60,
    proxy: list[str] | None = None,
) -> None:
    """Serve the pages of a study. Its database is created if there is none; if the organiser has
    no password, a random one is set and shown once.

    Options:
    STUDY: The YAML file of the study.
    --url URL: The public address, such as https://study.example.org; links begin with it. By
        default the url in the YAML file, or else the host and the port.
    --link-days: How many days a personal link is valid.
    --proxy ADDRESS: A trusted proxy, besides those on this machine: an address or a network. The
        client addresses that it reports are used.
    """
    from parataxis.studies.pages.app import make_app
    from parataxis.studies.pages.keys import SecretsFile, StudySettings, first_password

    with needs("Serving a study needs uvicorn", "study"):
        import uvicorn

        from parataxis.web.connections import limited_connections
    described = load_study(study)
    base = (url or described.url or f"http://{host}:{port}").rstrip("/")
    if not base.startswith(("http://", "https://")):
        raise InputError(f'"{base}" is not the URL of a site: it begins with http:// or https://.')
    refuse_taken(host, port)
    rubric, path = load_rubric(described.rubric), _secrets_path(study, database)
    with _open(_location(study, database)) as store:
        if not store.exists:
            _fill(store, described, rubric)
        store.update(described, rubric)
        drawn = first_password(path)
        kept = SecretsFile(path)
        lines = [f'The study "{described.name}" is at {base} and its organiser at {base}/organiser']
        if drawn is not None:
            lines.append(f"The organiser's password is {drawn} (shown only now)")
        sys.stderr.write("".join(f"{line}.\n" for line in lines))
        # A thread that writes to the database blocks others, so it should not wait for the
        # interpreter lock for the usual 5 ms each time it returns from the disk.
        sys.setswitchinterval(0.00005)
        settings = StudySettings(secrets=kept, base_url=base, link_days=link_days)
        # The URLs of requests contain personal links, so there is no access log.
        uvicorn.run(
            make_app(store, described, rubric, settings),
            host=host,
            port=port,
            root_path=urlsplit(base).path,
            log_level="warning",
            access_log=False,
            http=limited_connections(),
            ws="none",
            forwarded_allow_ips=[*_LOCALHOST, *(proxy or [])],
        )


@documented
def export(study: Path, output: Path = Path(), database: DatabaseOption = None) -> None:
    """Write items.jsonl and ratings.jsonl, which the report reads, the ratings of experts, the
    flagged sources and the history of all submissions. This works while people work.

    Options:
    STUDY: The YAML file of the study.
    --output, -o DIR: The folder for the files.
    """
    from parataxis.studies.store import FILES

    store, _, rubric = open_study(study, database)
    with store:
        found = {name: list(lines(store, rubric)) for name, lines in FILES.items()}
    write_folder(output, {name: "".join(f"{line}\n" for line in it) for name, it in found.items()})
    counts = ", ".join(f"{len(lines):,} in {name}" for name, lines in found.items())
    sys.stdout.write(f"Written to {output}: {counts}.\n")
