"""``parataxis serve``: the page for writers and the API for programs; and ``parataxis lsp``."""

import re
import sys
from contextlib import suppress
from pathlib import Path
from socket import socket
from typing import Annotated

import typer

from parataxis.api import DEFAULT_SPLITTER
from parataxis.cli.options import Count, HostOption, PortOption, documented, refuse_taken
from parataxis.errors import InputError, ParataxisError, needs

_MEGABYTE = 1_000_000
_SHUTDOWN = 5
"""Seconds that running answers get to finish when the service is stopped."""


_Splitters = Annotated[
    list[str] | None, typer.Option(show_default=f"{DEFAULT_SPLITTER}, rules, source")
]


@documented
def serve(
    host: HostOption = "127.0.0.1",
    port: PortOption = 8000,
    splitter: _Splitters = None,
    page: Annotated[
        bool, typer.Option("--page/--no-page", help="Serve the page, or only the API.")
    ] = True,
    characters: Count = 1_000_000,
    sentences: Count = 10_000,
    upload: Annotated[float, typer.Option(min=0.001)] = 8,
    per_minute: Count = 600,
    per_address: Count = 64,
    concurrent: Count = 128,
    queue: Count = 20_000,
    allowed_host: Annotated[list[str] | None, typer.Option()] = None,
    token_file: Path | None = None,
    languagetool: str | None = None,
) -> None:
    """Serve the page for writers and the API for programs. Nothing that is sent is stored.

    Options:
    --splitter, -s NAME: A splitter to offer, or NAME:DIR for one with your own model; can be
        repeated. The first is the default.
    --characters: Maximum characters of a request.
    --sentences: Maximum sentences of a request.
    --upload MB: Maximum megabytes of a document.
    --per-minute: Rate limit: requests per minute from one address.
    --per-address: Maximum requests of one address at the same time.
    --concurrent: Maximum requests that are answered at the same time.
    --queue: Maximum sentences that wait; further requests are refused.
    --allowed-host NAME: A name under which the service is reached, besides localhost and
        addresses; can be repeated. * allows any name.
    --token-file FILE: Answer only clients that send the token in this file.
    --languagetool URL: A LanguageTool server, such as http://127.0.0.1:8081. Its answers are merged
        into those at /v2, and it gets the texts that are sent there.
    """
    from parataxis.serve.app import make_app
    from parataxis.serve.service import ServiceSettings
    from parataxis.web.access import read_token

    with needs("Serving needs uvicorn", "serve"):
        import uvicorn

        from parataxis.web.connections import limited_connections
    settings = ServiceSettings(
        splitters=tuple(splitter or ServiceSettings.splitters),
        page=page,
        characters=characters,
        sentences=sentences,
        upload=round(upload * _MEGABYTE),
        per_minute=per_minute,
        per_address=per_address,
        concurrent=concurrent,
        queue=queue,
        hosts=(host, *(allowed_host or ())),
        token=read_token(token_file) if token_file else None,
        languagetool=_address(languagetool),
    )
    app = make_app(settings)
    for offer in app.state.service.offers.values():
        if splitter and isinstance(offer, ParataxisError):
            raise offer
    refuse_taken(host, port)
    base = f"http://{f'[{host}]' if ':' in host else host}:{port}"
    what = f"The page is at {base} and the API" if page else "The API is"
    sys.stderr.write(f"{what} at {base}/v1 (Ctrl-C ends it).\n")
    # Threads that work should give way soon to the one that answers.
    sys.setswitchinterval(0.0005)
    config = uvicorn.Config(
        app,
        host=host,
        port=port,
        log_level="warning",
        access_log=False,
        http=limited_connections(),
        ws="none",
        timeout_graceful_shutdown=_SHUTDOWN,
    )

    class Server(uvicorn.Server):
        """Refuses waiting requests on shutdown instead of waiting for them."""

        async def shutdown(self, sockets: list[socket] | None = None) -> None:
            app.state.service.close()
            await super().shutdown(sockets)

    with suppress(KeyboardInterrupt):
        Server(config).run()


def _address(url: str | None) -> str | None:
    """The address of a LanguageTool server without "/v2" at its end."""
    if url is None:
        return None
    if not re.fullmatch(r"https?://[^\s/]+(/\S*)?", url):
        raise InputError(f"{url} is no address of a server; write http://HOST:PORT.")
    return url.rstrip("/").removesuffix("/v2")


@documented
def lsp(
    stdio: Annotated[bool, typer.Option("--stdio", help="For editors that pass it.")] = True,
) -> None:
    """Run a language server for editors on standard input and output.

    It shows what `lint` finds while you type, offers to split a sentence in several ways, and tells
    where the words of a rewrite come from.
    """
    from parataxis.serve.lsp import make_server

    make_server().start_io()
