"""How many requests come in, and how quickly; what is refused here is not even read."""

import asyncio
import ipaddress
import math

from starlette.exceptions import HTTPException
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from parataxis.web.security import Throttle
from parataxis.web.service.problems import refusal
from parataxis.web.service.settings import Settings

__all__ = ["PATIENCE", "Gate"]

PATIENCE = 60.0
"""Seconds in which the body of a request must have come."""


class Gate:
    """Lets in so many requests a minute from one address, and so many at the same time."""

    def __init__(self, app: ASGIApp, settings: Settings) -> None:
        self._app = app
        self._settings = settings
        self._throttle = Throttle(settings.per_minute, 60)
        self._inside = 0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or scope["method"] != "POST":
            await self._app(scope, receive, send)
            return
        address = _network(scope)
        wait = self._throttle.wait(address)
        if wait > 0:
            seconds = max(1, math.ceil(wait))
            detail = (
                f"More than {self._settings.per_minute} requests came from your address within a "
                f"minute; try again in {seconds} s."
            )
            await refusal(detail, 429, retry=wait)(scope, receive, send)
            return
        if self._inside >= self._settings.concurrent:
            detail = "The service is busy; try again in 1 s."
            await refusal(detail, 503, retry=1)(scope, receive, send)
            return
        self._throttle.count(address)
        self._inside += 1
        try:
            await self._app(scope, _hurried(receive), send)
        finally:
            self._inside -= 1


def _network(scope: Scope) -> str:
    """The address, or for IPv6 the network that one subscriber has to draw addresses from."""
    host = (scope.get("client") or ("unknown",))[0]
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        return str(host)
    if address.version == 4:
        return str(address)
    return str(ipaddress.ip_network(f"{address}/64", strict=False))


def _hurried(receive: Receive) -> Receive:
    """The same with an end to the patience for a body that does not come."""
    end = asyncio.get_running_loop().time() + PATIENCE
    is_read = False

    async def received() -> Message:
        nonlocal is_read
        if is_read:
            return await receive()
        try:
            async with asyncio.timeout_at(end):
                message = await receive()
        except TimeoutError:
            raise HTTPException(408, "The body came too slowly.") from None
        is_read = not message.get("more_body", False)
        return message

    return received
