"""Splitting a column of texts: what all kinds of tables have in common.

The added columns are plain (text and lists of text), so every table can be saved.
"""

import os
from collections.abc import Callable, Sequence
from functools import cache
from typing import Any, Unpack

from parataxis.api import DEFAULT_SPLITTER, DocumentRewrite, Splitter
from parataxis.errors import InputError
from parataxis.rewrite.jsonl import to_json
from parataxis.rewrite.record import Rewrite
from parataxis.run.units import CellKind, cell_spans
from parataxis.splitters.settings import SettingOptions
from parataxis.syntax.onnx import THREADS_VARIABLE
from parataxis.text.documents import Document, read_document


def added_columns(column: str, *, records: bool = False) -> list[str]:
    """The names of the columns that splitting adds: the text with its sentences split, its simple
    sentences and, on request, its rewrites.

    >>> added_columns("text", records=True)
    ['text_simple', 'text_sentences', 'text_rewrites']
    """
    return [f"{column}_{name}" for name in ("simple", "sentences", "rewrites")[: 2 + records]]


def check_names(names: Sequence[str], column: str, *, records: bool, what: str = "frame") -> None:
    """Raise InputError unless a table has the column once, and none of those that are added."""
    found = list(names).count(column)
    if found != 1:
        problem = "no column" if found == 0 else f"{found} columns"
        raise InputError(f'The {what} has {problem} "{column}"; name one that it has once.')
    for name in added_columns(column, records=records):
        if name in names:
            raise InputError(f'The {what} has a column "{name}" already; drop or rename it.')


@cache
def splitter_of_process(
    splitter: str = DEFAULT_SPLITTER, *, check: bool = False, **options: Unpack[SettingOptions]
) -> Splitter:
    """The splitter of a worker process, which serves all its tasks and uses one core."""
    os.environ.setdefault(THREADS_VARIABLE, "1")
    return Splitter(splitter, check=check, **options)


def split_column_values(
    splitter: Splitter,
    texts: Sequence[str | None],
    *,
    cell: str = CellKind.TEXT,
    records: bool = False,
    record: Callable[[Rewrite], Any] = to_json,
) -> list[list[Any]]:
    """The values of the added columns; ``record`` converts each rewrite. A missing text gives None.
    ``cell`` says whether each text is cut into sentences or is one sentence.

    >>> split_column_values(Splitter("source"), ["It rained. Ann left.", None, ""])
    [['It rained. Ann left.', None, ''], [['It rained.', 'Ann left.'], None, []]]
    """
    cell = CellKind(cell)
    documents: list[Document | None] = []
    for place, text in enumerate(texts):
        if text is not None and not isinstance(text, str):
            raise InputError(
                f"Row {place + 1} holds {text!r}, which is no text; convert the column to text."
            )
        if text is None:
            documents.append(None)
        elif cell is CellKind.TEXT or not text.strip():  # blank text has no sentences
            documents.append(read_document(text))
        else:
            documents.append(Document(text, cell_spans(text, cell)))
    rewrites = splitter.pipe(
        sentence.text for document in documents if document for sentence in document.sentences
    )
    found = [
        None
        if document is None
        else DocumentRewrite(document, tuple(next(rewrites) for _ in document.sentences))
        for document in documents
    ]
    columns: list[list[Any]] = [
        [None if each is None else each.text for each in found],
        [None if each is None else each.simple for each in found],
    ]
    if records:
        columns.append(
            [None if each is None else list(map(record, each.rewrites)) for each in found]
        )
    return columns
