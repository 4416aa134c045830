"""What is signed: personal links that expire, sessions in cookies, and tokens against forged
requests."""

import hashlib
import hmac
import secrets
import time
from collections.abc import Callable
from dataclasses import dataclass

from itsdangerous import Signer

from parataxis.web.studies.settings import Settings

__all__ = ["Session", "Signing"]

_DAY, _HOUR = 86_400, 3_600


@dataclass(frozen=True)
class Session:
    """Somebody at a device. ``who`` is the id of a person, or a role of the organiser's side;
    ``nonce`` is drawn anew for each session."""

    who: str
    nonce: str


class Signing:
    """Signs and checks. Each use has a salt of its own, so that one cannot pass for another."""

    def __init__(self, settings: Settings, clock: Callable[[], float] = time.time) -> None:
        self._settings = settings
        self._clock = clock

    def link(self, person: str, days: float | None = None) -> str:
        """The personal link of somebody."""
        kept = self._settings.link_days if days is None else days
        token = self._sign("link", person, kept * _DAY)
        return f"{self._settings.base_url.rstrip('/')}/join/{token}"

    def person_of_link(self, token: str) -> str | None:
        """Whose link it is; None where it is forged, or where its time is over."""
        return self._check("link", token)

    def new_session(self, kind: str, who: str) -> tuple[str, Session]:
        """A session, and the cookie that carries it. ``kind`` is "person" or "organiser"."""
        session = Session(who, secrets.token_urlsafe(12))
        return self._sign(kind, f"{who} {session.nonce}", self.seconds_of(kind)), session

    def session(self, kind: str, cookie: str | None) -> Session | None:
        """The session that a cookie carries, if it does."""
        found = self._check(kind, cookie) if cookie else None
        who, _, nonce = (found or "").partition(" ")
        return Session(who, nonce) if who and nonce else None

    def seconds_of(self, kind: str) -> int:
        """How long a session lasts."""
        settings = self._settings
        long = kind == "person"
        return int(settings.session_days * _DAY if long else settings.organiser_hours * _HOUR)

    def csrf(self, session: Session) -> str:
        """What a form must send back, so that no other site can have sent it."""
        signed = self._signer("csrf").get_signature(f"{session.who} {session.nonce}")
        return signed.decode()

    def is_csrf(self, session: Session, token: str | None) -> bool:
        """Whether a form was made in this session."""
        given = (token or "").encode("utf-8", "replace")
        return hmac.compare_digest(self.csrf(session).encode(), given)

    def _sign(self, use: str, what: str, seconds: float) -> str:
        until = int(self._clock() + seconds)
        return self._signer(use).sign(f"{what}.{until}").decode()

    def _check(self, use: str, signed: str) -> str | None:
        """What was signed; None where one letter is another, or where its time is over. The texts
        of signatures are compared: several texts are the same bytes in base64."""
        value, _, given = signed.rpartition(".")
        right = self._signer(use).get_signature(value.encode("utf-8", "replace"))
        if not hmac.compare_digest(right, given.encode("utf-8", "replace")):
            return None
        what, _, until = value.rpartition(".")
        return what if int(until) > self._clock() else None

    def _signer(self, use: str) -> Signer:
        secrets = self._settings.secrets
        if use == "organiser":  # a new password ends all sessions of the organiser
            password = hashlib.sha256((secrets.password_hash or "").encode()).hexdigest()
            use = f"organiser:{password}"
        salt = f"parataxis.study.{use}"
        return Signer(secrets.key, salt=salt, digest_method=hashlib.sha256)
