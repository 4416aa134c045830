"""The secrets of a study: the key that signs links and cookies, and the hash of the organiser's
password. They live in a file beside the database, or in the environment; never in the database."""

import hashlib
import hmac
import os
import secrets
import stat
import tempfile
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from argon2 import PasswordHasher
from argon2.exceptions import InvalidHashError, VerificationError
from itsdangerous import Signer
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from parataxis.errors import InputError

KEY_VARIABLE = "PARATAXIS_STUDY_KEY"
HASH_VARIABLE = "PARATAXIS_STUDY_PASSWORD_HASH"
SHORTEST_PASSWORD = 10
SHORTEST_KEY = 32
_OTHERS = stat.S_IRWXG | stat.S_IRWXO


class Secrets(BaseModel):
    """What nobody else may know. ``password_hash`` is None while the organiser has no password."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    key: str = Field(min_length=SHORTEST_KEY, repr=False)
    password_hash: str | None = Field(default=None, repr=False)


def load_secrets(path: Path) -> Secrets:
    """The secrets of the environment, or else of the file, which is made where it is missing. With
    a key of the environment the file may still hold the hash."""
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
    """The secrets of a file, read anew when it has changed: a new password holds at once in every
    process. A file that is gone, or cannot be read, changes nothing."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._kept = load_secrets(path)
        self._seen = self._stamp()

    @property
    def key(self) -> str:
        """What signs."""
        return self._current().key

    @property
    def password_hash(self) -> str | None:
        """The hash of the organiser's password."""
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
    """Make this the organiser's password: its hash is written to the file of the secrets. Whoever
    is logged in must log in again."""
    changed = load_secrets(path).model_copy(update={"password_hash": hash_password(password)})
    try:
        temporary = _written(path, changed)
        temporary.replace(path)
    except OSError as error:
        raise _unwritable(path, error) from error
    return changed


def hash_password(password: str) -> str:
    """The argon2 hash of a password."""
    if len(password) < SHORTEST_PASSWORD:
        raise InputError(f"A password needs {SHORTEST_PASSWORD} characters or more.")
    return PasswordHasher().hash(password)


def is_password(password: str, hash_: str | None) -> bool:
    """Whether the hash is of this password; without a hash no password is right."""
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
    """New secrets; where another process was quicker, those that it made."""
    made = Secrets(key=secrets.token_urlsafe(48))
    try:
        temporary = _written(path, made)
        try:
            os.link(temporary, path)  # whole or not at all, and never over another
        except FileExistsError:
            return _read(path) or made
        finally:
            temporary.unlink()
    except OSError as error:
        raise _unwritable(path, error) from error
    return made


def _written(path: Path, content: Secrets) -> Path:
    """A file beside ``path``, readable by nobody else (as mkstemp makes it)."""
    handle, name = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
    with os.fdopen(handle, "w", encoding="utf-8") as stream:
        stream.write(content.model_dump_json(indent=1) + "\n")
    return Path(name)


def _unwritable(path: Path, error: OSError) -> InputError:
    return InputError(f"{path} cannot be written: {(error.strerror or str(error)).lower()}.")


# How the application of a study is run.


@dataclass(frozen=True)
class StudySettings:
    """Where the application is found, what it trusts, and where its limits are."""

    secrets: Secrets | SecretsFile = field(repr=False)
    base_url: str = "http://127.0.0.1:8000"
    """What people type; the links that are sent out begin with it."""
    link_days: float = 60
    """How long a personal link can be used to come in."""
    session_days: float = 30
    """How long a person who came in need not use the link again on the same device."""
    organiser_hours: float = 12
    """How long an organiser stays logged in."""
    largest_body: int = 256 * 1024
    """Bytes that one request may send."""
    longest_text: int = 10_000
    """Characters of one answer."""
    arrivals_per_minute: int = 600
    """People that a panel may send from one address."""
    requests_per_minute: int = 300
    """What one person may ask for; the page of a writer who types asks for 200 at most."""

    @property
    def is_secure(self) -> bool:
        """Whether people come by https, so that cookies must not travel otherwise."""
        return self.base_url.startswith("https://")


# What is signed: personal links that expire, sessions in cookies, and tokens against forged
# requests.

_DAY, _HOUR = 86_400, 3_600


@dataclass(frozen=True)
class Session:
    """Somebody at a device. ``who`` is the id of a person, or a role of the organiser's side;
    ``nonce`` is drawn anew for each session."""

    who: str
    nonce: str


class Signing:
    """Signs and checks. Each use has a salt of its own, so that one cannot pass for another."""

    def __init__(self, settings: StudySettings, clock: Callable[[], float] = time.time) -> None:
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
