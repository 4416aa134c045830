"""Splitting a column of a Polars frame, eager or lazy."""

from typing import TYPE_CHECKING, TypeVar, Unpack

from parataxis.api import Splitter
from parataxis.errors import needs
from parataxis.integrations.texts import ColumnOptions, TextColumn

if TYPE_CHECKING:
    from polars import DataFrame, LazyFrame

    Frame = TypeVar("Frame", DataFrame, LazyFrame)

__all__ = ["split_column"]


def split_column(
    frame: "Frame",
    column: str,
    **options: Unpack[ColumnOptions],
) -> "Frame":
    """The frame with the columns that :func:`parataxis.integrations.pandas.split_column` adds, as
    text and lists of text; records are JSON."""
    with needs("Splitting a column needs Polars", "polars"):
        import polars
    split, given = TextColumn.of(column, options)
    made = Splitter(**given)
    text = polars.String()
    kinds = {name: polars.List(text) if many else text for name, many in split.added.items()}

    def with_columns(part: "DataFrame") -> "DataFrame":
        places, added = split(made, part[column].to_list())
        chosen = part[places] if split.by_sentence else part
        return chosen.with_columns(
            polars.Series(name, values, kinds[name]) for name, values in added.items()
        )

    schema = frame.collect_schema()
    split.check(schema.names())
    if isinstance(frame, polars.LazyFrame):
        return frame.map_batches(with_columns, schema={**schema, **kinds})
    return with_columns(frame)
