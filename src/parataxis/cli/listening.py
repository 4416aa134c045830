"""Where a command that serves something listens."""

import socket
from typing import Annotated

import typer

from parataxis.errors import InputError

__all__ = ["HostOption", "PortOption", "refuse_taken"]

HostOption = Annotated[str, typer.Option(help="The address to listen at.")]
PortOption = Annotated[int, typer.Option(min=1, max=65535, help="The port to listen at.")]


def refuse_taken(host: str, port: int) -> None:
    """Tell that nothing can be served there before anything is made or shown."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        socket.create_server((host, port), family=family).close()
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        raise InputError(f"Nothing can be served at {host}, port {port}: {reason}.") from error
