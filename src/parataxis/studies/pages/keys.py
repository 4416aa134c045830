"""Secrets, settings and signatures of a study.

The secrets are the key that signs links and cookies, and the hash of the organiser's password.
They are in a file beside the database or in the environment, never in the database.
"""

import hashlib
import hmac
import os
import secrets
import stat
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

from argon2 import PasswordHasher
from argon2.exceptions import InvalidHashError, VerificationError
from itsdangerous import Signer
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from parataxis.errors import InputError, system_errors

KEY_VARIABLE = "PARATAXIS_STUDY_KEY"
HASH_VARIABLE = "PARATAXIS_STUDY_PASSWORD_HASH"
SHORTEST_PASSWORD = 10
SHORTEST_KEY = 32
_OTHERS = stat.S_IRWXG | stat.S_IRWXO


class Secrets(BaseModel):
    """The signing key, and the hash of the organiser's password, if one is set."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    key: str = Field(min_length=SHORTEST_KEY, repr=False)
    password_hash: str | None = Field(default=None, repr=False)


def load_secrets(path: Path) -> Secrets:
    """The secrets from the environment, or else from the file, which is created if it is missing.
    If the environment has only the key, the hash may be in the file."""
    key, hash_ = os.environ.get(KEY_VARIABLE), os.environ.get(HASH_VARIABLE)
    if key is not None:
        if len(key) < SHORTEST_KEY:
            raise InputError(f"{KEY_VARIABLE} must have {SHORTEST_KEY} characters or more.")
        if hash_ is None and (file := _read(path)) is not None:
            hash_ = file.password_hash
        return Secrets(key=key, password_hash=hash_)
    kept = _read(path) or _made(path)
    return kept if hash_ is None else kept.model_copy(update={"password_hash": hash_})


class SecretsFile:
    """The secrets in a file, read again when it changes, so that a new password takes effect in
    every process. A file that is missing or unreadable changes nothing."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._kept = load_secrets(path)
        self._seen = self._stamp()

    @property
    def key(self) -> str:
        return self._current().key

    @property
    def password_hash(self) -> str | None:
        return self._current().password_hash

    def _current(self) -> Secrets:
        stamp = self._stamp()
        if stamp is not None and stamp != self._seen:
            with suppress(InputError):
                self._kept = load_secrets(self._path)
            self._seen = stamp
        return self._kept

    def _stamp(self) -> tuple[int, ...] | None:
        try:
            found = self._path.stat()
        except OSError:
            return None
        return found.st_mtime_ns, found.st_size, found.st_ino, found.st_mode


def keep_password(path: Path, password: str) -> Secrets:
    """Set the organiser's password: its hash is written to the secrets file. Existing logins
    end."""
    changed = load_secrets(path).model_copy(update={"password_hash": hash_password(password)})
    with _written(path, changed) as temporary:
        temporary.replace(path)
    return changed


def first_password(path: Path) -> str | None:
    """Draw a password if there is none, and return it. Of several servers that start together one
    draws it, and the others wait and return None."""
    with _alone(path.parent):
        if load_secrets(path).password_hash is not None:
            return None
        drawn = secrets.token_urlsafe(12)
        keep_password(path, drawn)
        return drawn


@contextmanager
def _alone(folder: Path) -> Iterator[None]:
    """Keep other processes on this machine out, where the system can lock a folder."""
    try:
        import fcntl
    except ImportError:  # Windows
        yield
        return
    handle = os.open(folder, os.O_RDONLY)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield
    finally:
        os.close(handle)


def hash_password(password: str) -> str:
    if len(password) < SHORTEST_PASSWORD:
        raise InputError(f"A password needs {SHORTEST_PASSWORD} characters or more.")
    return PasswordHasher().hash(password)


def is_password(password: str, hash_: str | None) -> bool:
    """Whether a password matches the hash; without a hash none does."""
    if hash_ is None:
        return False
    try:
        return PasswordHasher().verify(hash_, password)
    except (VerificationError, InvalidHashError):
        return False


def _read(path: Path) -> Secrets | None:
    try:
        mode, text = path.stat().st_mode, path.read_text(encoding="utf-8")
    except FileNotFoundError:
        return None
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"{path} cannot be read: {error}.") from error
    if os.name == "posix" and mode & _OTHERS:
        raise InputError(f"{path} can be read by others; protect it with: chmod 600 {path}")
    try:
        return Secrets.model_validate_json(text)
    except ValidationError as error:
        raise InputError(f"{path} does not hold the secrets of a study.") from error


def _made(path: Path) -> Secrets:
    """New secrets, or those of another process that was faster."""
    made = Secrets(key=secrets.token_urlsafe(48))
    with _written(path, made) as temporary:
        try:
            os.link(temporary, path)  # atomic, and never replaces another file
        except FileExistsError:
            return _read(path) or made
    return made


@contextmanager
def _written(path: Path, content: Secrets) -> Iterator[Path]:
    """A temporary file beside ``path`` with the secrets, readable by its owner only."""
    with system_errors(f"{path} cannot be written"):
        handle, name = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
        with os.fdopen(handle, "w", encoding="utf-8") as stream:
            stream.write(content.model_dump_json(indent=1) + "\n")
        try:
            yield Path(name)
        finally:
            Path(name).unlink(missing_ok=True)


@dataclass(frozen=True)
class StudySettings:
    """The address, the secrets and the limits of the application."""

    secrets: Secrets | SecretsFile = field(repr=False)
    base_url: str = "http://127.0.0.1:8000"
    """The public address; personal links begin with it."""
    link_days: float = 60
    session_days: float = 30
    organiser_hours: float = 12
    largest_body: int = 256 * 1024
    longest_text: int = 10_000
    arrivals_per_minute: int = 600
    """The most arrivals from a panel by one address."""
    requests_per_minute: int = 300
    """The most requests of one person; the writing page sends at most 200."""

    @property
    def is_secure(self) -> bool:
        """Whether the address is https, so that cookies are sent only over https."""
        return self.base_url.startswith("https://")


_DAY, _HOUR = 86_400, 3_600


@dataclass(frozen=True)
class Session:
    """A session in a browser. ``who`` is the id of a person, or ORGANISER or VISITOR on the
    organiser's pages; ``nonce`` is random."""

    who: str
    nonce: str


class Signing:
    """Signs and verifies links, sessions and CSRF tokens. Each use has its own salt, so that a
    signature for one cannot be used for another."""

    def __init__(self, settings: StudySettings, clock: Callable[[], float] = time.time) -> None:
        self._settings = settings
        self._clock = clock

    def link(self, person: str) -> str:
        token = self._sign("link", person, self._settings.link_days * _DAY)
        return f"{self._settings.base_url.rstrip('/')}/join/{token}"

    def person_of_link(self, token: str) -> str | None:
        """The person of a link; None if it is forged or expired."""
        return self._check("link", token)

    def new_session(self, kind: str, who: str) -> tuple[str, Session]:
        """A new session and its cookie. ``kind`` is "person" or "organiser"."""
        session = Session(who, secrets.token_urlsafe(12))
        return self._sign(kind, f"{who} {session.nonce}", self.seconds_of(kind)), session

    def session(self, kind: str, cookie: str | None) -> Session | None:
        """The session in a cookie; None if it is forged or expired."""
        found = self._check(kind, cookie) if cookie else None
        who, _, nonce = (found or "").partition(" ")
        return Session(who, nonce) if who and nonce else None

    def seconds_of(self, kind: str) -> int:
        settings = self._settings
        long = kind == "person"
        return int(settings.session_days * _DAY if long else settings.organiser_hours * _HOUR)

    def browser(self, cookie: str | None = None) -> str | None:
        """A new cookie for a browser in which the organiser has logged in; or the id of the
        browser with this cookie, None if it is forged or expired."""
        if cookie is None:
            return self._sign("browser", secrets.token_urlsafe(12), 90 * _DAY)
        return self._check("browser", cookie)

    def csrf(self, session: Session) -> str:
        signed = self._signer("csrf").get_signature(f"{session.who} {session.nonce}")
        return signed.decode()

    def is_csrf(self, session: Session, token: str | None) -> bool:
        """Whether a token is the CSRF token of this session, in constant time."""
        given = (token or "").encode("utf-8", "replace")
        return hmac.compare_digest(self.csrf(session).encode(), given)

    def _sign(self, use: str, what: str, seconds: float) -> str:
        until = int(self._clock() + seconds)
        return self._signer(use).sign(f"{what}.{until}").decode()

    def _check(self, use: str, signed: str) -> str | None:
        """The signed value; None if the signature is wrong or expired. The signatures are compared
        as text, since several base64 texts decode to the same bytes."""
        value, _, given = signed.rpartition(".")
        right = self._signer(use).get_signature(value.encode("utf-8", "replace"))
        if not hmac.compare_digest(right, given.encode("utf-8", "replace")):
            return None
        what, _, until = value.rpartition(".")
        return what if int(until) > self._clock() else None

    def _signer(self, use: str) -> Signer:
        secrets = self._settings.secrets
        if use == "organiser":  # a new password ends all organiser sessions
            password = hashlib.sha256((secrets.password_hash or "").encode()).hexdigest()
            use = f"organiser:{password}"
        salt = f"parataxis.study.{use}"
        return Signer(secrets.key, salt=salt, digest_method=hashlib.sha256)
