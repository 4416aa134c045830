"""The cache: findings of files that have not changed, and verdicts on sentences that were judged
before. It is only a cache: what is lost or damaged is made again."""

import hashlib
import json
import sqlite3
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict
from importlib.resources import files
from pathlib import Path

from pydantic import TypeAdapter

from parataxis import __version__
from parataxis.lint import LintFinding
from parataxis.lint.rules import LintSettings, LintVerdict

FOLDER = ".parataxis_cache"
_LARGEST = 256 << 20
"""Bytes from which the cache is begun anew."""
_FINDINGS = TypeAdapter(list[LintFinding])
_VERDICT: TypeAdapter[LintVerdict | None] = TypeAdapter(LintVerdict | None)
_SCHEMA = """
CREATE TABLE IF NOT EXISTS sentences (key BLOB PRIMARY KEY, verdict TEXT) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS files (path TEXT PRIMARY KEY, key BLOB, findings TEXT) WITHOUT ROWID;
"""


class LintCache:
    """A cache in a folder for findings with these settings; None: nothing is kept."""

    def __init__(self, folder: Path | None, settings: LintSettings) -> None:
        self._about = json.dumps([_program(), asdict(settings)]).encode()
        self._database: sqlite3.Connection | None = None
        if folder is None:
            return
        with suppress(OSError, sqlite3.Error):
            folder.mkdir(parents=True, exist_ok=True)
            ignore = folder / ".gitignore"
            if not ignore.exists():
                ignore.write_text("*\n", encoding="utf-8")
            path = folder / "lint.sqlite"
            if path.exists() and path.stat().st_size > _LARGEST:
                path.unlink()
            self._database = _opened(path)

    def known_file(self, path: Path) -> list[LintFinding] | None:
        """The findings in a file that has not changed since they were found. It is not read."""
        with suppress(OSError, sqlite3.Error, ValueError):
            query = "SELECT findings FROM files WHERE path = ? AND key = ?"
            for (found,) in self._rows(query, (str(path.resolve()), self._file_key(path))):
                return _FINDINGS.validate_json(found)
        return None

    def add_file(self, path: Path, findings: Sequence[LintFinding]) -> None:
        with suppress(OSError, sqlite3.Error):
            made = _FINDINGS.dump_json(list(findings), exclude={"__all__": {"rewrite"}}).decode()
            row = str(path.resolve()), self._file_key(path), made
            self._write("INSERT OR REPLACE INTO files VALUES (?, ?, ?)", [row])

    def known_sentences(self, sentences: Iterable[str]) -> dict[str, LintVerdict | None]:
        """The verdicts on those sentences that were judged before."""
        known = {}
        with suppress(sqlite3.Error, ValueError):
            for each in sentences:
                query = "SELECT verdict FROM sentences WHERE key = ?"
                for (found,) in self._rows(query, (self._key(each.encode()),)):
                    known[each] = _VERDICT.validate_json(found)
        return known

    def add_sentences(self, verdicts: Mapping[str, LintVerdict | None]) -> None:
        rows = [
            (self._key(text.encode()), _VERDICT.dump_json(verdict).decode())
            for text, verdict in verdicts.items()
        ]
        with suppress(sqlite3.Error):
            self._write("INSERT OR REPLACE INTO sentences VALUES (?, ?)", rows)

    def close(self) -> None:
        if self._database is not None:
            self._database.close()

    def _rows(self, query: str, values: tuple[object, ...]) -> Iterable[tuple[str]]:
        return self._database.execute(query, values) if self._database else ()

    def _write(self, statement: str, rows: Sequence[tuple[object, ...]]) -> None:
        if self._database is not None:
            with self._database:
                self._database.executemany(statement, rows)

    def _key(self, about: bytes) -> bytes:
        return hashlib.blake2b(self._about + b"\0" + about, digest_size=16).digest()

    def _file_key(self, path: Path) -> bytes:
        state = path.stat()
        return self._key(f"{state.st_mtime_ns} {state.st_ctime_ns} {state.st_size}".encode())


def _opened(path: Path) -> sqlite3.Connection:
    """The database; a damaged one is begun anew."""
    for _ in range(2):
        database = sqlite3.connect(path, timeout=10)
        try:
            database.executescript("PRAGMA synchronous = OFF;" + _SCHEMA)
        except sqlite3.DatabaseError:
            database.close()
            path.unlink(missing_ok=True)
        else:
            return database
    raise sqlite3.DatabaseError


def _program() -> str:
    """The version, and when its files were changed last: a checkout has one version for long."""
    package = Path(str(files("parataxis")))
    parts = ("lint", "text", "syntax", "rewrite", "checks", "splitters", "run/documents")
    times = (
        each.stat().st_mtime_ns
        for part in parts
        for each in (package / part).rglob("*")
        if each.suffix in (".py", ".onnx", ".npz", ".json")
    )
    return f"{__version__} {max(times, default=0)}"
