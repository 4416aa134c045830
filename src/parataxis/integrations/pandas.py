"""Splitting a column of a pandas data frame.

It is a function rather than an accessor (``frame["text"].parataxis``): editors and type checkers
know its options, and it chains as ``frame.pipe(split_column, "text")``.
"""

from collections.abc import Iterable
from typing import TYPE_CHECKING

from parataxis.api import DEFAULT_SPLITTER, Splitter
from parataxis.errors import InputError, ParataxisError
from parataxis.integrations.texts import added_columns, split_column_values
from parataxis.run.rows import CellKind
from parataxis.splitters.registry import SentenceSplitter

if TYPE_CHECKING:
    from pandas import DataFrame

__all__ = ["split_column"]


def split_column(
    frame: "DataFrame",
    column: str,
    *,
    splitter: str | SentenceSplitter = DEFAULT_SPLITTER,
    strict: bool = False,
    beam: int | None = None,
    check: bool = False,
    cell: str = CellKind.TEXT,
) -> "DataFrame":
    """A copy of the frame with three more columns.

    For a column "text" these are "text_simple" (the text with its sentences split),
    "text_rewrites" (the rewrite of each sentence) and "text_sentences" (the number of simple
    sentences). All three are missing if the text is missing. The options are those of
    :class:`parataxis.Splitter`.
    """
    try:
        import pandas
    except ImportError as error:
        raise ParataxisError(
            "Splitting a column needs pandas; install it with: pip install 'parataxis[pandas]'."
        ) from error
    names = added_columns(column)
    _require_columns(frame, column, names)
    made = Splitter(splitter, check=check, strict=strict, beam=beam)
    cells = frame[column]
    texts = [None if gone else text for text, gone in zip(cells, cells.isna(), strict=True)]
    # Another type of column, such as categories, cannot hold new texts.
    text_type = cells.dtype if pandas.api.types.is_string_dtype(cells.dtype) else None
    values = split_column_values(made, texts, lambda rewrite: rewrite, cell=cell)
    return frame.assign(
        **{
            name: pandas.Series(each, index=frame.index, dtype=dtype)
            for name, each, dtype in zip(names, values, (text_type, object, "Int64"), strict=True)
        }
    )


def _require_columns(frame: "DataFrame", column: str, names: Iterable[str]) -> None:
    found = list(frame.columns).count(column)
    if found != 1:
        problem = "no column" if found == 0 else f"{found} columns"
        raise InputError(f'The frame has {problem} "{column}"; name one that it has once.')
    for name in names:
        if name in frame.columns:
            raise InputError(f'The frame has a column "{name}" already; drop or rename it.')
