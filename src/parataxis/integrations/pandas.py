"""Splitting a column of a pandas data frame.

It is a function rather than an accessor (``frame["text"].parataxis``): editors and type checkers
know its options, and it chains as ``frame.pipe(split_column, "text")``.
"""

from typing import TYPE_CHECKING, Unpack

from parataxis.api import DEFAULT_SPLITTER, Splitter
from parataxis.errors import InputError, needs
from parataxis.integrations.texts import added_columns, split_column_values
from parataxis.run.units import CellKind
from parataxis.splitters.registry import SentenceSplitter
from parataxis.splitters.settings import SettingOptions

if TYPE_CHECKING:
    from pandas import DataFrame

__all__ = ["split_column"]


def split_column(
    frame: "DataFrame",
    column: str,
    *,
    splitter: str | SentenceSplitter = DEFAULT_SPLITTER,
    check: bool = False,
    cell: str = CellKind.TEXT,
    **options: Unpack[SettingOptions],
) -> "DataFrame":
    """A copy of the frame with three more columns; the options are those of ``Splitter``.

    For a column "text" these are "text_simple" (the text with its sentences split),
    "text_rewrites" (the rewrite of each sentence) and "text_sentences" (the number of simple
    sentences). All three are missing if the text is missing.
    """
    with needs("Splitting a column needs pandas", "pandas"):
        import pandas
    names = added_columns(column)
    found = list(frame.columns).count(column)
    if found != 1:
        problem = "no column" if found == 0 else f"{found} columns"
        raise InputError(f'The frame has {problem} "{column}"; name one that it has once.')
    for name in names:
        if name in frame.columns:
            raise InputError(f'The frame has a column "{name}" already; drop or rename it.')
    made = Splitter(splitter, check=check, **options)
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
