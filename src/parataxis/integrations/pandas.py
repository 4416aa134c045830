"""Splitting a column of a pandas data frame.

It is a function rather than an accessor (``frame["text"].parataxis``): editors and type checkers
know its options, and it chains as ``frame.pipe(split_column, "text")``.
"""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Unpack

from parataxis.api import Splitter
from parataxis.errors import needs
from parataxis.integrations.texts import ColumnOptions, TextColumn
from parataxis.rewrite.jsonl import to_json
from parataxis.rewrite.record import Rewrite

if TYPE_CHECKING:
    from pandas import DataFrame

__all__ = ["split_column"]


def split_column(
    frame: "DataFrame",
    column: str,
    **options: Unpack[ColumnOptions],
) -> "DataFrame":
    """A copy of the frame with two more columns; the options are those of ``Splitter``, and
    ``cell``, ``rows`` and ``records``.

    For a column "text" these are "text_simple" (the text with its sentences split) and
    "text_sentences" (a list of its simple sentences). With ``records`` there is also
    "text_rewrites", a list of ``Rewrite`` objects, which no file format can hold. All are missing
    if the text is missing. With ``rows="sentence"`` there is a row for each sentence, which is in
    the column "text_source".
    """
    with needs("Splitting a column needs pandas", "pandas"):
        import pandas  # noqa: F401
    split, given = TextColumn.of(column, options)
    split.check(list(frame.columns))
    return with_columns(frame, split, Splitter(**given), record=lambda each: each)


def with_columns(
    frame: "DataFrame",
    split: TextColumn,
    splitter: Splitter,
    record: Callable[[Rewrite], Any] = to_json,
) -> "DataFrame":
    """The frame with the added columns; ``record`` converts each rewrite."""
    import pandas

    cells = frame[split.name]
    texts = [None if gone else text for text, gone in zip(cells, cells.isna(), strict=True)]
    # Another type of column, such as categories, cannot hold new texts.
    text_type = cells.dtype if pandas.api.types.is_string_dtype(cells.dtype) else None
    places, added = split(splitter, texts, record)
    chosen = frame.iloc[places] if split.by_sentence else frame
    return chosen.assign(
        **{
            name: pandas.Series(
                values, index=chosen.index, dtype=object if split.added[name] else text_type
            )
            for name, values in added.items()
        }
    )
