"""``parataxis serve``: the page for writers and the API for programs."""

import sys
from contextlib import suppress
from socket import socket
from typing import Annotated

import typer

from parataxis.api import DEFAULT_SPLITTER
from parataxis.cli.options import HostOption, PortOption, refuse_taken
from parataxis.errors import ParataxisError

_MEGABYTE = 1_000_000
_SHUTDOWN = 5
"""Seconds that running answers get to finish when the service is stopped."""


def serve(
    host: HostOption = "127.0.0.1",
    port: PortOption = 8000,
    splitter: Annotated[
        list[str] | None,
        typer.Option(
            "--splitter",
            "-s",
            metavar="NAME",
            show_default=f"{DEFAULT_SPLITTER}, rules, source",
            help="A splitter to offer, or NAME:DIR for one with your own model; can be repeated. "
            "The first is the default.",
        ),
    ] = None,
    page: Annotated[
        bool, typer.Option("--page/--no-page", help="Serve the page, or only the API.")
    ] = True,
    characters: Annotated[
        int, typer.Option(min=1, help="Maximum characters of a request.")
    ] = 1_000_000,
    sentences: Annotated[int, typer.Option(min=1, help="Maximum sentences of a request.")] = 10_000,
    upload: Annotated[
        float, typer.Option(min=0.001, metavar="MB", help="Maximum megabytes of a document.")
    ] = 8,
    per_minute: Annotated[
        int, typer.Option(min=1, help="Rate limit: requests per minute from one address.")
    ] = 600,
    concurrent: Annotated[
        int, typer.Option(min=1, help="Maximum requests that are answered at the same time.")
    ] = 128,
    queue: Annotated[
        int, typer.Option(min=1, help="Maximum sentences that wait; further requests are refused.")
    ] = 20_000,
) -> None:
    """Serve the page for writers and the API for programs. Nothing that is sent is stored."""
    from parataxis.serve.app import make_app
    from parataxis.serve.service import ServiceSettings

    try:
        import uvicorn
    except ImportError as error:
        raise ParataxisError(
            "Serving needs uvicorn; install it with: pip install 'parataxis[serve]'."
        ) from error
    settings = ServiceSettings(
        splitters=tuple(splitter or ServiceSettings.splitters),
        page=page,
        characters=characters,
        sentences=sentences,
        upload=round(upload * _MEGABYTE),
        per_minute=per_minute,
        concurrent=concurrent,
        queue=queue,
    )
    app = make_app(settings)
    for offer in app.state.service.offers.values():
        if splitter and offer.problem:
            raise ParataxisError(offer.problem)
    refuse_taken(host, port)
    base = f"http://{f'[{host}]' if ':' in host else host}:{port}"
    what = f"The page is at {base} and the API" if page else "The API is"
    sys.stderr.write(f"{what} at {base}/v1 (Ctrl-C ends it).\n")
    config = uvicorn.Config(
        app,
        host=host,
        port=port,
        log_level="warning",
        access_log=False,
        timeout_graceful_shutdown=_SHUTDOWN,
    )

    class Server(uvicorn.Server):
        """Refuses waiting requests on shutdown instead of waiting for them."""

        async def shutdown(self, sockets: list[socket] | None = None) -> None:
            app.state.service.close()
            await super().shutdown(sockets)

    with suppress(KeyboardInterrupt):
        Server(config).run()
