"""Who may send a request: hosts (against DNS rebinding), pages of other sites, and a token."""

import ipaddress
from collections.abc import Callable, Collection
from hashlib import sha256
from hmac import compare_digest
from pathlib import Path

from starlette.datastructures import Headers
from starlette.responses import PlainTextResponse, Response
from starlette.types import ASGIApp, Receive, Scope, Send

from parataxis.errors import InputError, system_errors

SHORTEST_TOKEN = 16
"""Characters that a token must have, so that nobody can guess it."""

_READING = ("GET", "HEAD")


def read_token(path: Path) -> str:
    """The token in a file; raises InputError if it is too short, or cannot be sent in a header."""
    with system_errors(f"{path} cannot be read"):
        data = path.read_bytes()
    try:
        token = data.decode("ascii").strip()
    except UnicodeDecodeError:
        token = "\n"
    if not token.isprintable() or " " in token:
        raise InputError(f"{path} must hold one token of letters, digits and ASCII signs.")
    if len(token) < SHORTEST_TOKEN:
        raise InputError(f"The token in {path} has fewer than {SHORTEST_TOKEN} characters.")
    return token


class Access:
    """Refuses requests for other hosts than local names, addresses and ``hosts`` ("*" means any),
    requests that pages of other sites send, and, if there is a token, requests without it, unless
    ``is_open`` returns True for the path."""

    def __init__(
        self,
        app: ASGIApp,
        *,
        hosts: Collection[str] = (),
        token: str | None = None,
        is_open: Callable[[str], bool] = lambda path: False,
        refuse: Callable[[str, int], Response] = PlainTextResponse,
    ) -> None:
        self._app = app
        self._hosts = frozenset(name for name in map(_name, hosts) if not _is_address(name))
        self._token = token and sha256(token.encode()).digest()
        self._is_open = is_open
        self._refuse = refuse

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        answer = self._refusal(scope) if scope["type"] == "http" else None
        await (answer or self._app)(scope, receive, send)

    def _refusal(self, scope: Scope) -> Response | None:
        headers = Headers(scope=scope)
        host = headers.get("host", "localhost")
        if not self._is_known(_name(host)):
            return self._refuse(f"This service is not offered at the host {host[:100]!r}.", 403)
        if self._is_foreign(scope, headers):
            return self._refuse("Pages of other sites cannot use this service.", 403)
        if self._token and not self._is_open(scope["path"]) and not self._has_token(headers):
            answer = self._refuse(
                'Send the token of this service, in the header "Authorization: Bearer ...".', 401
            )
            answer.headers["www-authenticate"] = "Bearer"
            return answer
        return None

    def _is_known(self, name: str) -> bool:
        """Whether a host may be named. A page cannot make a browser send an address instead of the
        name that it was loaded from, so addresses are always allowed."""
        if name in self._hosts or "*" in self._hosts or name == "localhost":
            return True
        return name.endswith(".localhost") or _is_address(name)

    def _is_foreign(self, scope: Scope, headers: Headers) -> bool:
        """Whether a browser says that a page of another site sends the request. Links to the page
        of the service may be anywhere, but a query asks for work. The page of another port of this
        machine is one of another site."""
        scheme, _, authority = headers.get("origin", "").partition("://")
        if scheme.endswith("-extension"):  # of the browser: no site has such an origin
            return False
        is_own = authority == headers.get("host") or _name(authority) in self._hosts
        if authority and is_own:
            return False
        site = headers.get("sec-fetch-site")
        if site is None:
            return "origin" in headers
        is_reading = scope["method"] in _READING and not scope["query_string"]
        is_link = is_reading and headers.get("sec-fetch-mode") == "navigate"
        return site not in ("same-origin", "none") and not is_link

    def _has_token(self, headers: Headers) -> bool:
        kind, _, given = headers.get("authorization", "").partition(" ")
        found = sha256(given.strip().encode()).digest()
        return kind.lower() == "bearer" and compare_digest(found, self._token or b"")


def _is_address(name: str) -> bool:
    try:
        ipaddress.ip_address(name.strip("[]"))
    except ValueError:
        return False
    return True


def _name(host: str) -> str:
    """The name in a host with or without a port.

    >>> _name("Localhost.:8000"), _name("[::1]:8000"), _name("::1")
    ('localhost', '[::1]', '::1')
    """
    name = host.lower()
    if name.count(":") == 1 or "]:" in name:
        name = name.rpartition(":")[0]
    return name.rstrip(".")
