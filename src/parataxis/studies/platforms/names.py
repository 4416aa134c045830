"""What workers are called in the records: not what their platform calls them."""

import hashlib
import hmac
import os
import secrets
from pathlib import Path

from parataxis.errors import InputError

__all__ = ["Pseudonyms", "key_file"]


class Pseudonyms:
    """The same name for the same worker of a study; without the key nobody can tell whose.

    >>> Pseudonyms(b"secret")("A1B2C3") == Pseudonyms(b"secret")("A1B2C3")
    True
    """

    def __init__(self, key: bytes) -> None:
        self._key = key

    def __call__(self, worker: str) -> str:
        digest = hmac.new(self._key, worker.encode(), hashlib.sha256).hexdigest()
        return f"w{digest[:10]}"


def key_file(path: Path) -> bytes:
    """The key in a file, which is made, for its owner alone, where it is not there yet."""
    try:
        try:
            number = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        except FileExistsError:
            return path.read_bytes()
        key = secrets.token_hex(32).encode()
        with os.fdopen(number, "wb") as stream:
            stream.write(key)
        return key
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        raise InputError(f"The key {path} cannot be used: {reason}.") from error
