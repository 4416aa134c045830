"""Repeated sentences are split once: a bounded cache in each process of a run, and one on disk that
runs share.

Splitters give a sentence the same rewrite in every batch, so what is written does not depend on
what a cache holds.
"""

import os
import sqlite3
import zlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from functools import cache
from hashlib import blake2b
from pathlib import Path

from parataxis import __version__
from parataxis.errors import InputError
from parataxis.rewrite.record import Rewrite
from parataxis.syntax.onnx import HOMES, THREADS_VARIABLE, checksums, model_folder

ROOM = 16 << 20
"""Bytes of compressed rewrites in the memory of a process: about 16,000 of them."""

_KEY = 16  # bytes
_MOST = 500  # keys in a query
_PATIENCE = 60.0  # seconds to wait for other processes that write
BUILT_IN = ("pointer", "rules")
"""The splitters whose weights are known, so that their rewrites can be kept."""


@cache
def weights() -> str:
    """A hash of the files of all models that the built-in splitters use."""
    digest = blake2b(digest_size=_KEY)
    for model in HOMES:
        for name, checksum in checksums(model_folder(model)).items():
            digest.update(f"{name}{checksum}".encode())
    return digest.hexdigest()


@dataclass
class RewriteCache:
    """Rewrites of sentences by their text. ``made_by`` names everything else on which they depend:
    the splitter and its settings. With a ``path``, they are also kept in that SQLite file, under
    the version of Parataxis and its weights. ``hits`` counts the sentences that were not split."""

    made_by: str
    path: Path | None = None
    room: int = ROOM
    hits: int = field(default=0, init=False)
    _held: dict[bytes, bytes] = field(default_factory=dict, init=False, repr=False)
    _size: int = field(default=0, init=False, repr=False)

    def __getstate__(self) -> dict[str, object]:
        return {**self.__dict__, "_held": {}, "_size": 0, "hits": 0}

    def __call__(
        self, sentences: Sequence[str], rewrite: Callable[[Sequence[str]], Sequence[Rewrite]]
    ) -> list[Rewrite]:
        """The rewrites of the sentences; ``rewrite`` is called for those not known, each once."""
        keys = {sentence: self._key(sentence) for sentence in sentences}
        found = {text: self._held[key] for text, key in keys.items() if key in self._held}
        if self.path is not None and (missing := [each for each in keys if each not in found]):
            with self._opened() as file:
                stored = dict(_read(file, [keys[each] for each in missing]))
            found |= {each: stored[keys[each]] for each in missing if keys[each] in stored}
        known = {text: Rewrite.model_validate_json(zlib.decompress(found[text])) for text in found}
        new = [each for each in keys if each not in known]
        if new:
            made = dict(zip(new, rewrite(new), strict=True))
            known |= made
            found |= {
                text: zlib.compress(each.model_dump_json().encode(), 1)
                for text, each in made.items()
            }
            if self.path is not None:
                with self._opened() as file:
                    rows = [(keys[each], found[each]) for each in new]
                    file.executemany("INSERT OR IGNORE INTO rewrites VALUES (?, ?)", rows)
        self.hits += len(sentences) - len(new)
        self._hold({keys[each]: found[each] for each in keys})
        return [known[sentence] for sentence in sentences]

    def _hold(self, used: dict[bytes, bytes]) -> None:
        """Keep these as the last used ones, and drop those that were not used for longest."""
        for key, value in used.items():
            self._size += len(value) - len(self._held.pop(key, b""))
            self._held[key] = value
        while self._size > self.room:
            self._size -= len(self._held.pop(next(iter(self._held))))

    def _key(self, sentence: str) -> bytes:
        digest = blake2b(sentence.encode(), digest_size=_KEY)
        if self.path is not None:
            threads = os.environ.get(THREADS_VARIABLE, "")
            digest.update("\0".join(["", __version__, weights(), self.made_by, threads]).encode())
        return digest.digest()

    @contextmanager
    def _opened(self) -> Iterator[sqlite3.Connection]:
        """The file, for one transaction: a connection must not outlive a fork."""
        try:
            with closing(sqlite3.connect(str(self.path), timeout=_PATIENCE)) as file, file:
                file.execute("PRAGMA journal_mode=WAL")
                file.execute("PRAGMA synchronous=NORMAL")
                file.execute(
                    "CREATE TABLE IF NOT EXISTS rewrites (key BLOB PRIMARY KEY, rewrite BLOB)"
                    " WITHOUT ROWID"
                )
                yield file
        except sqlite3.Error as error:
            raise InputError(
                f"{self.path} cannot be used as a cache of rewrites: {error}; remove it or name "
                "another file."
            ) from error


def _read(file: sqlite3.Connection, keys: Sequence[bytes]) -> Iterator[tuple[bytes, bytes]]:
    for start in range(0, len(keys), _MOST):
        some = keys[start : start + _MOST]
        marks = ",".join("?" * len(some))
        yield from file.execute(f"SELECT * FROM rewrites WHERE key IN ({marks})", some)
