"""``parataxis study create``, ``password``, ``invite``, ``serve`` and ``export``: run a study."""

import csv
import secrets as random
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated
from urllib.parse import urlsplit

import typer

from parataxis.cli.options import HostOption, PortOption, refuse_taken
from parataxis.cli.terminal import warn, write_folder
from parataxis.errors import InputError, ParataxisError
from parataxis.studies.items import Item, read_items
from parataxis.studies.rubric import Rubric, load_rubric
from parataxis.studies.study import Role, Study, load_study

if TYPE_CHECKING:
    from parataxis.studies.store import Store
    from parataxis.studies.store.types import Person

StudyArgument = Annotated[Path, typer.Argument(metavar="STUDY", help="The YAML file of the study.")]
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


def _begin(
    file: Path, database: str | None, items: Path | None = None
) -> "tuple[Store, Study, Rubric, bool]":
    """Open the database of a study; a new one is filled (and the last value is true).

    If the description has changed, the database is updated.
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
    """Open the database of a study that was created before."""
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
    """Check that known answers are possible: after a typing error every rater would fail."""
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
            "--items", "-i", help="Rewrites to be rated, instead of those that the study names."
        ),
    ] = None,
    database: DatabaseOption = None,
) -> None:
    """Create the database of a study, with its items."""
    store, found, _, is_new = _begin(study, database, items)
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
    """Set the organiser's password; only its argon2 hash is stored. It takes effect in running
    servers immediately, and existing logins end."""
    from parataxis.studies.pages.keys import keep_password

    if stdin:
        given = sys.stdin.readline().rstrip("\n")
    else:
        given = typer.prompt("Password", hide_input=True, confirmation_prompt=True, err=True)
    path = _secrets_path(study, database)
    keep_password(path, given)
    sys.stdout.write(f"The password is set; its hash is in {path}.\n")


def invite(
    study: StudyArgument,
    count: Annotated[int | None, typer.Argument(min=1, max=10_000, help="How many people.")] = None,
    name: Annotated[
        list[str] | None, typer.Option("--name", "-n", help="A name. Can be repeated.")
    ] = None,
    names: Annotated[Path | None, typer.Option(help="A file with one name per line.")] = None,
    role: Annotated[Role, typer.Option("--role", "-r", help="What they do.")] = Role.RATER,
    url: Annotated[
        str | None,
        typer.Option(
            metavar="URL",
            help="The address of the study; by default the url in its YAML file, or else "
            "http://127.0.0.1:8000.",
        ),
    ] = None,
    days: Annotated[float, typer.Option(min=0, help="How many days the links are valid.")] = 60,
    database: DatabaseOption = None,
) -> None:
    """Invite people: prints a table with the id, the name, the role and the personal link of each.

    The organiser's page can do the same."""
    from parataxis.studies.pages.keys import Signing, StudySettings, load_secrets

    listed = [*(name or []), *(_lines(names) if names else [])]
    if (count is None) == (not listed):
        raise InputError("Say how many people to invite, or their names.")
    described = load_study(study)
    store, _, _ = open_study(study, database)
    with store:
        people = store.invite(listed or count or 0, role)
        _warn_if_too_few(described, role, store.people())
    kept = load_secrets(_secrets_path(study, database))
    base = url or described.url or StudySettings.base_url
    signing = Signing(StudySettings(kept, base_url=base, link_days=days))
    table = csv.writer(sys.stdout, delimiter="\t", lineterminator="\n")
    table.writerow(["id", "name", "role", "link"])
    for person in people:
        table.writerow([person.id, person.name or "", person.role.value, signing.link(person.id)])


def _warn_if_too_few(study: Study, role: Role, people: "Iterable[Person]") -> None:
    """Warn if the people so far cannot finish the study."""
    if study.panel is not None:  # others will come from the panel
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


def serve(
    study: StudyArgument,
    database: DatabaseOption = None,
    host: HostOption = "127.0.0.1",
    port: PortOption = 8000,
    url: Annotated[
        str | None,
        typer.Option(
            metavar="URL",
            help="The public address, such as https://study.example.org; links begin with it. By "
            "default the url in the YAML file, or else the host and the port.",
        ),
    ] = None,
    link_days: Annotated[
        float, typer.Option(min=0, help="How many days a personal link is valid.")
    ] = 60,
    proxy: Annotated[
        list[str] | None,
        typer.Option(
            metavar="ADDRESS",
            help="A trusted proxy, besides those on this machine: an address or a network. The "
            "client addresses that it reports are used.",
        ),
    ] = None,
) -> None:
    """Serve the pages of a study. Its database is created if there is none; if the organiser has
    no password, a random one is set and shown once."""
    from parataxis.studies.pages.app import make_app
    from parataxis.studies.pages.keys import SecretsFile, StudySettings, keep_password

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
    path = _secrets_path(study, database)
    store, described, rubric, _ = _begin(study, database)
    kept = SecretsFile(path)
    lines = [f'The study "{described.name}" is at {base} and its organiser at {base}/organiser']
    if kept.password_hash is None:
        drawn = random.token_urlsafe(12)
        keep_password(path, drawn)
        lines.append(f"The organiser's password is {drawn} (shown only now)")
    settings = StudySettings(secrets=kept, base_url=base, link_days=link_days)
    sys.stderr.write("".join(f"{line}.\n" for line in lines))
    # A thread that writes to the database blocks others, so it should not wait for the
    # interpreter lock for the usual 5 ms each time it returns from the disk.
    sys.setswitchinterval(0.00005)
    with store:
        app = make_app(store, described, rubric, settings)
        # The URLs of requests contain personal links, so there is no access log.
        uvicorn.run(
            app,
            host=host,
            port=port,
            root_path=urlsplit(base).path,
            log_level="warning",
            access_log=False,
            forwarded_allow_ips=[*_LOCALHOST, *(proxy or [])],
        )


def export(
    study: StudyArgument,
    output: Annotated[
        Path, typer.Option("--output", "-o", metavar="DIR", help="The folder for the files.")
    ] = Path(),
    database: DatabaseOption = None,
) -> None:
    """Write items.jsonl and ratings.jsonl, which the report reads, the ratings of experts, the
    flagged sources and the history of all submissions. This works while people work."""
    from parataxis.studies.exports import FILES

    store, _, rubric = open_study(study, database)
    with store:
        found = {name: list(lines(store, rubric)) for name, lines in FILES.items()}
    write_folder(output, {name: "".join(f"{line}\n" for line in it) for name, it in found.items()})
    counts = ", ".join(f"{len(lines):,} in {name}" for name, lines in found.items())
    sys.stdout.write(f"Written to {output}: {counts}.\n")
