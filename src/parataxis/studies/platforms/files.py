"""What goes to a crowd platform and what comes back: a table of items, and rows of answers."""

import csv
import hashlib
import hmac
import os
import random
import secrets
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Protocol

from parataxis.errors import InputError
from parataxis.studies.items import Item, ItemKind
from parataxis.studies.records import Text, is_identical
from parataxis.studies.rubric import Question, Rubric

ITEM, SOURCE, REWRITE, IDENTICAL = "item", "source", "rewrite", "identical"
"""The columns of the table of items, which are the placeholders of the task."""


@dataclass(frozen=True)
class Answered:
    """One piece of work of one worker."""

    where: str
    """File and line, for messages."""
    worker: str
    item: str
    """The opaque id of the item."""
    values: Mapping[str, str]
    """What was answered, by the names of fields."""
    seconds: float | None = None
    when: datetime | None = None


@dataclass(frozen=True)
class PlatformResults:
    """All that counts in a file of results, and how much of it does not."""

    answered: tuple[Answered, ...]
    rejected: int = 0
    """Pieces of work that the organiser or the platform refused."""


@dataclass(frozen=True)
class Design:
    """What is asked, and how the page says it."""

    rubric: Rubric
    kind: ItemKind
    language: str = "en"
    instructions: Text | None = None
    """What the study says besides what the rubric does."""
    tolerance: float = field(default=0)
    """How far a number may lie from a known answer."""


class Platform(Protocol):
    """A platform: its name, its files, and how its results are read."""

    name: str

    def files(self, design: Design, items: Sequence[Item]) -> dict[str, str]:
        """The files of a task by their names: its page and the table of items."""
        ...

    def read(self, path: Path) -> PlatformResults:
        """The results in a file of the platform."""
        ...


def opaque(id_: str) -> str:
    """What an item is called on a platform: its own id may tell whose rewrite it is."""
    return hashlib.sha256(id_.encode()).hexdigest()[:16]


def shuffled(items: Iterable[Item], seed: int) -> list[Item]:
    """The items in an order drawn by chance, which tells nothing either."""
    found = sorted(items, key=lambda item: opaque(item.id))
    random.Random(seed).shuffle(found)
    return found


def field_of(question: Question) -> str:
    """The name of the field that a question has in a form: with a prefix, since the columns of
    the items are in the same table of results, and with characters that every platform keeps."""
    return f"q_{question.id.replace('-', '_')}"


def cells_of(item: Item) -> dict[str, str]:
    """The row of an item in the table, as plain text."""
    cells = {ITEM: opaque(item.id), SOURCE: " ".join(item.source.split())}
    if item.rewrite is not None:
        cells[REWRITE] = " ".join(" ".join(item.rewrite.simple).split())
        cells[IDENTICAL] = "yes" if is_identical(item.rewrite) else "no"
    return cells


def read_table(path: Path, needed: Sequence[str]) -> Iterator[tuple[str, dict[str, str]]]:
    """The rows of a CSV file with a header that has certain columns, each with its place."""
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
                cells += [""] * (len(header) - len(cells))  # some tools cut empty cells off
                yield where, dict(zip(header, cells, strict=True))
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        raise InputError(f"{path} cannot be read: {reason}.") from error
    except (csv.Error, UnicodeDecodeError) as error:
        raise InputError(f"{path} is no CSV file in UTF-8 ({error}).") from error


# What workers are called in the records: not what their platform calls them.


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
