"""Splitting a column of texts: what pandas and datasets have in common."""

from collections.abc import Callable, Sequence
from typing import Any

from parataxis.api import DocumentRewrite, Splitter
from parataxis.errors import InputError
from parataxis.rewrite.record import Rewrite
from parataxis.run.units import CellKind, cell_spans
from parataxis.text.documents import Document, read_document


def added_columns(column: str) -> tuple[str, str, str]:
    """The names of the columns that splitting adds: texts, rewrites, numbers of sentences.

    >>> added_columns("text")
    ('text_simple', 'text_rewrites', 'text_sentences')
    """
    return f"{column}_simple", f"{column}_rewrites", f"{column}_sentences"


def split_column_values(
    splitter: Splitter,
    texts: Sequence[str | None],
    record: Callable[[Rewrite], Any],
    *,
    cell: str = CellKind.TEXT,
) -> tuple[list[Any], list[Any], list[Any]]:
    """The values of the added columns; ``record`` converts each rewrite. A missing text gives None.
    ``cell`` says whether each text is cut into sentences or is one sentence.

    >>> split_column_values(Splitter("source"), ["It rained. Ann left.", None, ""], str)[0]
    ['It rained. Ann left.', None, '']
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
    return (
        [each and each.text for each in found],
        [each and list(map(record, each.rewrites)) for each in found],
        [each and len(each.simple) for each in found],
    )
