"""The secrets of a study: the key that signs links and cookies, and the hash of the organiser's
password. They live in a file beside the database, or in the environment; never in the database."""

import os
import secrets
import stat
import tempfile
from contextlib import suppress
from pathlib import Path

from argon2 import PasswordHasher
from argon2.exceptions import InvalidHashError, VerificationError
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from parataxis.errors import InputError

__all__ = [
    "Secrets",
    "SecretsFile",
    "hash_password",
    "is_password",
    "keep_password",
    "load_secrets",
]

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
