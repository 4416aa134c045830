"""What crowd platforms share: the page of a task, the table of items, and answers to read back."""

import csv
import hashlib
import hmac
import io
import json
import os
import random
import secrets
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from html import escape
from importlib.resources import files
from pathlib import Path
from typing import Any, Protocol

from parataxis.errors import InputError, needs, system_errors
from parataxis.studies.items import Item
from parataxis.studies.records import Text, in_language, is_identical
from parataxis.studies.rubric import Question, QuestionKind, Rubric
from parataxis.studies.study import ItemKind
from parataxis.studies.yaml_files import texts_of
from parataxis.text.files import csv_rows, plain_cell

ITEM, SOURCE, REWRITE, IDENTICAL = "item", "source", "rewrite", "identical"
"""The columns of the table of items, and the placeholders in the page of the task."""
_PLACEHOLDERS = str.maketrans({"$": "&#36;", "{": "&#123;", "}": "&#125;"})
"""Characters with which a placeholder of a platform begins or ends."""


@dataclass(frozen=True)
class Answered:
    """The work of one worker on one item."""

    where: str
    """File and line, for messages."""
    worker: str
    item: str
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
    """A crowd platform, a module of this package."""

    def files(self, design: Design, items: Sequence[Item]) -> dict[str, str]:
        """The files of a task by name: its page and the table of items."""
        ...

    def read(self, path: Path) -> Iterator[Answered]:
        """Read the results in a file of the platform."""
        ...


# --- The page of a task


def asset(name: str) -> str:
    """Read one of the files in ``assets``."""
    return (files("parataxis.studies.platforms") / "assets" / name).read_text(encoding="utf-8")


def render(name: str, design: Design, **values: object) -> str:
    """Fill in a template. Platforms use braces for placeholders of their own, so templates use
    brackets, and every text is written in the language of the task without such characters."""
    with needs("The files of a platform need Jinja2", "study"):
        from jinja2 import Environment, FunctionLoader
        from markupsafe import Markup

    language = design.language

    def shown(value: Any) -> Markup:
        if isinstance(value, Markup):
            return value
        text = "" if value is None else in_language(value, language)
        return Markup(escape(text).translate(_PLACEHOLDERS))

    def plain(known: Any) -> Any:
        if isinstance(known, tuple):
            return list(map(written, known))
        return None if known is None else written(known)

    def as_json(answers: Mapping[str, Any]) -> Markup:
        given = {name: plain(known) for name, known in answers.items()}
        return Markup(escape(json.dumps(given, separators=(",", ":"))))

    made = Environment(
        block_start_string="[%",
        block_end_string="%]",
        variable_start_string="[[",
        variable_end_string="]]",
        comment_start_string="[#",
        comment_end_string="#]",
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        autoescape=True,
        finalize=shown,
        loader=FunctionLoader(asset),
    )
    own = (design.instructions or "", design.rubric.instructions)
    paragraphs = [part for text in own for part in in_language(text, language).split("\n\n")]
    return made.get_template(name).render(
        rubric=design.rubric,
        language=language,
        rates=design.kind is ItemKind.RATE,
        paragraphs=[part.strip() for part in paragraphs if part.strip()],
        text=texts_of("parataxis.studies.platforms", "assets/texts.yaml"),
        options=partial(options, language=language),
        field_of=field_of,
        json=as_json,
        **values,
    )


def written(value: object) -> str:
    """An answer as the value of a form field."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    return str(value)


def options(question: Question, language: str) -> list[tuple[str, str]]:
    """The values that can be chosen, each with its label as plain text."""
    if question.kind is QuestionKind.YES_NO:
        texts = texts_of("parataxis.studies.platforms", "assets/texts.yaml")
        return [(answer, in_language(texts[answer], language)) for answer in ("yes", "no")]
    if question.kind is QuestionKind.CHOICE:
        return [(key, in_language(text, language)) for key, text in question.choices.items()]
    labels = {key: f": {in_language(text, language)}" for key, text in question.labels.items()}
    return [(str(number), f"{number}{labels.get(number, '')}") for number in question.numbers]


# --- Tables of items and of answers


def opaque(id_: str, key: bytes) -> str:
    """The id of an item on a platform. Its own id may reveal the system or a control item, and is
    easily guessed; nobody can check a guess without the key."""
    return hmac.new(key, id_.encode(), hashlib.sha256).hexdigest()[:16]


def shuffled(items: Iterable[Item], seed: int) -> list[Item]:
    """The items in random order, independent of the order in the file."""
    found = sorted(items, key=lambda item: item.id)
    random.Random(seed).shuffle(found)
    return found


def field_of(question: Question) -> str:
    """The field name of a question: with a prefix, since the results also have the columns of the
    items, and without characters that a platform might change."""
    return f"q_{question.id.replace('-', '_')}"


def cells_of(item: Item) -> dict[str, str]:
    """The row of an item in the table of items, as plain text."""
    cells = {ITEM: item.id, SOURCE: " ".join(item.source.split())}
    if item.rewrite is not None:
        cells[REWRITE] = " ".join(" ".join(item.rewrite.simple).split())
        cells[IDENTICAL] = "yes" if is_identical(item.rewrite) else "no"
    return cells


def html_cell(text: str) -> str:
    """A cell that the platform inserts into its page as HTML, and that a spreadsheet does not treat
    as a formula.

    >>> html_cell("=1 < 2")
    '&#61;1 &lt; 2'
    """
    escaped = escape(text, quote=False)
    is_plain = plain_cell(escaped) == escaped
    return escaped if is_plain else f"&#{ord(escaped[0])};{escaped[1:]}"


def read_table(path: Path, needed: Sequence[str]) -> Iterator[tuple[str, dict[str, str]]]:
    """The rows of a CSV file that must have certain columns, each with its file and line."""
    rows = csv_rows(path)
    _, header = next(rows, (1, []))
    missing = [name for name in needed if name not in header]
    if missing:
        raise InputError(f'{path} has no column "{missing[0]}"; is it the right file?')
    for number, cells in rows:
        where = f"{path}, line {number}"
        if not any(cells):
            continue
        if len(cells) > len(header):
            raise InputError(
                f"{where}: there are {len(cells)} cells, but the header has {len(header)}."
            )
        cells += [""] * (len(header) - len(cells))  # some tools drop trailing empty cells
        yield where, dict(zip(header, cells, strict=True))


def write_table(rows: Sequence[Mapping[str, str]]) -> str:
    """A table of items as CSV, with the columns of all rows."""
    columns = dict.fromkeys(name for row in rows for name in row) or (ITEM, SOURCE)
    out = io.StringIO()
    writer = csv.DictWriter(out, list(columns), restval="", lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return out.getvalue()


def pseudonym(worker: str, key: bytes) -> str:
    """The name of a worker, always the same in a study, that cannot be traced back without the
    key."""
    digest = hmac.new(key, worker.encode(), hashlib.sha256).hexdigest()
    return f"w{digest[:10]}"


def key_file(path: Path) -> bytes:
    """Read the key in a file, which is created, readable by its owner only, if it is missing."""
    with system_errors(f"The key {path} cannot be used"):
        try:
            number = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        except FileExistsError:
            return path.read_bytes()
        key = secrets.token_hex(32).encode()
        with os.fdopen(number, "wb") as stream:
            stream.write(key)
        return key
