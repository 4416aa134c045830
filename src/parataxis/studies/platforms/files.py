"""The interface of a crowd platform: a table of items to upload, and answers to read back."""

import csv
import hashlib
import hmac
import io
import os
import random
import secrets
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Protocol

from parataxis.errors import InputError
from parataxis.studies.items import Item, ItemKind
from parataxis.studies.records import Text, is_identical
from parataxis.studies.rubric import Question, Rubric

ITEM, SOURCE, REWRITE, IDENTICAL = "item", "source", "rewrite", "identical"
"""The columns of the table of items, and the placeholders in the page of the task."""


@dataclass(frozen=True)
class Answered:
    """The work of one worker on one item."""

    where: str
    """File and line, for messages."""
    worker: str
    item: str
    """The opaque id of the item."""
    values: Mapping[str, str]
    """The answers by the names of the fields."""
    seconds: float | None = None
    when: datetime | None = None
    rejected: bool = False
    """Whether the organiser or the platform rejected the work."""


@dataclass(frozen=True)
class Design:
    """What the page of a task asks, and in which language."""

    rubric: Rubric
    kind: ItemKind
    language: str = "en"
    instructions: Text | None = None
    """The study's own instructions, shown before those of the rubric."""
    tolerance: float = 0
    """How far a number may be from a known answer."""


class Platform(Protocol):
    """A crowd platform."""

    def files(self, design: Design, items: Sequence[Item]) -> dict[str, str]:
        """The files of a task by name: its page and the table of items."""
        ...

    def read(self, path: Path) -> Iterator[Answered]:
        """Read the results in a file of the platform."""
        ...


def opaque(id_: str) -> str:
    """The id of an item on a platform; its own id may reveal the system."""
    return hashlib.sha256(id_.encode()).hexdigest()[:16]


def shuffled(items: Iterable[Item], seed: int) -> list[Item]:
    """The items in random order, independent of the order in the file."""
    found = sorted(items, key=lambda item: opaque(item.id))
    random.Random(seed).shuffle(found)
    return found


def field_of(question: Question) -> str:
    """The field name of a question: with a prefix, since the results also have the columns of the
    items, and without characters that a platform might change."""
    return f"q_{question.id.replace('-', '_')}"


def cells_of(item: Item) -> dict[str, str]:
    """The row of an item in the table of items, as plain text."""
    cells = {ITEM: opaque(item.id), SOURCE: " ".join(item.source.split())}
    if item.rewrite is not None:
        cells[REWRITE] = " ".join(" ".join(item.rewrite.simple).split())
        cells[IDENTICAL] = "yes" if is_identical(item.rewrite) else "no"
    return cells


def read_table(path: Path, needed: Sequence[str]) -> Iterator[tuple[str, dict[str, str]]]:
    """The rows of a CSV file that must have certain columns, each with its file and line."""
    try:
        with path.open(encoding="utf-8-sig", newline="") as stream:
            reader = csv.reader(stream, strict=True)
            header = next(reader, [])
            missing = [name for name in needed if name not in header]
            if missing:
                raise InputError(f'{path} has no column "{missing[0]}"; is it the right file?')
            start = reader.line_num + 1
            for cells in reader:
                where, start = f"{path}, line {start}", reader.line_num + 1
                if not any(cells):
                    continue
                if len(cells) > len(header):
                    raise InputError(
                        f"{where}: there are {len(cells)} cells, but the header has {len(header)}."
                    )
                cells += [""] * (len(header) - len(cells))  # some tools drop trailing empty cells
                yield where, dict(zip(header, cells, strict=True))
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        raise InputError(f"{path} cannot be read: {reason}.") from error
    except (csv.Error, UnicodeDecodeError) as error:
        raise InputError(f"{path} is not a CSV file in UTF-8 ({error}).") from error


def write_table(rows: Sequence[Mapping[str, str]]) -> str:
    """A table of items as CSV, with the columns of all rows."""
    columns = dict.fromkeys(name for row in rows for name in row) or (ITEM, SOURCE)
    out = io.StringIO()
    writer = csv.DictWriter(out, list(columns), restval="", lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return out.getvalue()


class Pseudonyms:
    """Replaces the ids of workers. A worker of a study always gets the same pseudonym, which
    cannot be traced back without the key.

    >>> Pseudonyms(b"secret")("A1B2C3") == Pseudonyms(b"secret")("A1B2C3")
    True
    """

    def __init__(self, key: bytes) -> None:
        self._key = key

    def __call__(self, worker: str) -> str:
        digest = hmac.new(self._key, worker.encode(), hashlib.sha256).hexdigest()
        return f"w{digest[:10]}"


def key_file(path: Path) -> bytes:
    """Read the key in a file, which is created, readable by its owner only, if it is missing."""
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
