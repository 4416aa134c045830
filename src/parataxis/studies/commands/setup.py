"""``parataxis study create`` and ``password``: begin a study, and let its organiser log in."""

import csv
import secrets as random
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated
from urllib.parse import urlsplit

import typer

from parataxis.cli.options import HostOption, PortOption, refuse_taken
from parataxis.cli.terminal import warn
from parataxis.errors import InputError, ParataxisError
from parataxis.studies.items import Item, read_items
from parataxis.studies.rubric import Rubric, load_rubric
from parataxis.studies.study import Role, Study, load_study
from parataxis.text.files import write_files

if TYPE_CHECKING:
    from parataxis.studies.store import Store
if TYPE_CHECKING:
    from parataxis.studies.store import Person


# What the commands of a running study share: its file, its database and its secrets.

StudyArgument = Annotated[
    Path, typer.Argument(metavar="STUDY", show_default=False, help="The YAML file of the study.")
]
DatabaseOption = Annotated[
    str | None,
    typer.Option(
        "--database",
        "-d",
        metavar="FILE | URL",
        show_default=False,
        help="An SQLite file or postgresql://...; else a .db file beside the study.",
    ),
]


def secrets_path(file: Path, database: str | None) -> Path:
    """Where the secrets of a study are: beside its SQLite file, or else beside its YAML file."""
    location = _location(file, database)
    if "://" in location and not location.startswith("sqlite"):
        return file.with_suffix(".secrets")
    return Path(location.removeprefix("sqlite:///")).with_suffix(".secrets")


def begin(
    file: Path, database: str | None, items: Path | None = None
) -> "tuple[Store, Study, Rubric, bool]":
    """The study in its database, which is filled where that is new (and the last value true).

    A description that was changed since is taken over.
    """
    study = load_study(file)
    if items is not None:
        study = study.model_copy(update={"items": items.absolute()})
    rubric = load_rubric(study.rubric)
    store = _open(_location(file, database))
    try:
        if not store.exists:
            found = read_items(study)
            _check_expected(found, rubric)
            store.create(study, found)
            return store, study, rubric, True
        if study.items is None:
            study = study.model_copy(update={"items": store.study.items})
        if study != store.study:
            store.update(study)
    except BaseException:
        store.close()
        raise
    return store, study, rubric, False


def open_study(file: Path, database: str | None) -> "tuple[Store, Study, Rubric]":
    """A study that was created before."""
    location = _location(file, database)
    if "://" not in location and not Path(location).is_file():
        raise InputError(f"There is no database {location} yet; make it with: study create {file}")
    store = _open(location)
    study = store.study
    return store, study, load_rubric(study.rubric)


def _open(location: str) -> "Store":
    from parataxis.studies.store import Store

    return Store.open(location)


def _location(file: Path, database: str | None) -> str:
    return database or str(file.with_suffix(".db"))


def _check_expected(items: list[Item], rubric: Rubric) -> None:
    """Known answers must be answers of the rubric: a typing error would fail every rater."""
    questions = {question.id: question for question in rubric.questions}
    for item in items:
        for name, known in item.expected.items():
            if name not in questions:
                raise InputError(
                    f'The item "{item.id}" expects an answer to "{name}", '
                    f"which the rubric {rubric.name} does not ask."
                )
            for value in known if isinstance(known, list | tuple) else [known]:
                if value is not None and not questions[name].allows(value):
                    raise InputError(
                        f'The item "{item.id}" expects {value!r} for "{name}", which is no answer.'
                    )


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
    from parataxis.studies.pages import keep_password

    if stdin:
        given = sys.stdin.readline().rstrip("\n")
    else:
        given = typer.prompt("Password", hide_input=True, confirmation_prompt=True, err=True)
    path = secrets_path(study, database)
    keep_password(path, given)
    sys.stdout.write(f"The password is set; its hash is in {path}.\n")


# ``parataxis study invite``: personal links for new people.


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
    from parataxis.studies.pages import Signing, StudySettings, load_secrets

    listed = [*name, *(_lines(names) if names else [])]
    if (count is None) == (not listed):
        raise InputError("Say how many people to invite, or their names.")
    described = load_study(study)
    store, _, _ = open_study(study, database)
    with store:
        people = store.invite(listed or count or 0, role)
        _tell_missing(described, role, store.people())
    kept = load_secrets(secrets_path(study, database))
    base = url or described.url or StudySettings.base_url
    signing = Signing(StudySettings(kept, base_url=base, link_days=days))
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


# ``parataxis study serve``: the pages of writers, raters and the organiser.

_HERE = ("127.0.0.1", "::1")


def serve(
    study: StudyArgument,
    database: DatabaseOption = None,
    host: HostOption = "127.0.0.1",
    port: PortOption = 8000,
    url: Annotated[
        str | None,
        typer.Option(
            metavar="URL",
            show_default=False,
            help="What people type, such as https://study.example.org; links begin with it. Else "
            "the url of the study, else the address that is listened at.",
        ),
    ] = None,
    link_days: Annotated[
        float, typer.Option(min=0, help="How many days a personal link can be used.")
    ] = 60,
    proxy: Annotated[
        list[str] | None,
        typer.Option(
            metavar="ADDRESS",
            show_default=False,
            help="A proxy in front, besides those on this machine: an address or a network. What "
            "it says about where people come from is believed.",
        ),
    ] = None,
) -> None:
    """Serve the pages of a study. Where it has no database yet, that is made; where the organiser
    has no password yet, one is drawn and shown once."""
    from parataxis.studies.pages import SecretsFile, StudySettings, keep_password, make_app

    try:
        import uvicorn
    except ImportError as error:
        raise ParataxisError(
            "Serving a study needs uvicorn; install it with: pip install 'parataxis[study]'."
        ) from error
    base = (url or load_study(study).url or f"http://{host}:{port}").rstrip("/")
    if not base.startswith(("http://", "https://")):
        raise InputError(f'"{base}" is not the URL of a site: it begins with http:// or https://.')
    refuse_taken(host, port)
    path = secrets_path(study, database)
    store, described, rubric, _ = begin(study, database)
    kept = SecretsFile(path)
    drawn = None
    if kept.password_hash is None:
        drawn = random.token_urlsafe(12)
        keep_password(path, drawn)
    settings = StudySettings(secrets=kept, base_url=base, link_days=link_days)
    lines = [f'The study "{described.name}" is at {base} and its organiser at {base}/organiser']
    if drawn:
        lines.append(f"The organiser's password is {drawn} (shown only now)")
    sys.stderr.write("".join(f"{line}.\n" for line in lines))
    # A thread that writes to the database keeps others waiting; it should not itself wait for the
    # interpreter for the usual 5 ms whenever it comes back from the disk.
    sys.setswitchinterval(0.00005)
    with store:
        app = make_app(store, described, rubric, settings)
        # Addresses of requests hold personal links, so they are not logged.
        uvicorn.run(
            app,
            host=host,
            port=port,
            root_path=urlsplit(base).path,
            log_level="warning",
            access_log=False,
            forwarded_allow_ips=[*_HERE, *(proxy or [])],
        )


# ``parataxis study export``: the rewrites and ratings of a study as files.


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
