"""``parataxis study serve``: the pages of writers, raters and the organiser."""

import secrets as random
import sys
from typing import Annotated
from urllib.parse import urlsplit

import typer

from parataxis.cli.listening import HostOption, PortOption, refuse_taken
from parataxis.cli.study_database import DatabaseOption, StudyArgument, begin, secrets_path
from parataxis.errors import InputError, ParataxisError
from parataxis.studies.study import load_study

__all__ = ["serve"]

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
    from parataxis.web.studies import SecretsFile, Settings, keep_password, make_app

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
    settings = Settings(secrets=kept, base_url=base, link_days=link_days)
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
