"""Splitting a column of a Polars frame, eager or lazy."""

from typing import TYPE_CHECKING, TypeVar, Unpack

from parataxis.api import DEFAULT_SPLITTER, Splitter
from parataxis.errors import needs
from parataxis.integrations.texts import added_columns, check_names, split_column_values
from parataxis.run.units import CellKind
from parataxis.splitters.registry import SentenceSplitter
from parataxis.splitters.settings import SettingOptions

if TYPE_CHECKING:
    from polars import DataFrame, LazyFrame

    Frame = TypeVar("Frame", DataFrame, LazyFrame)

__all__ = ["split_column"]


def split_column(
    frame: "Frame",
    column: str,
    *,
    splitter: str | SentenceSplitter = DEFAULT_SPLITTER,
    check: bool = False,
    cell: str = CellKind.TEXT,
    records: bool = False,
    **options: Unpack[SettingOptions],
) -> "Frame":
    """The frame with two more columns; the options are those of ``Splitter``.

    For a column "text" these are "text_simple" (the text with its sentences split) and
    "text_sentences" (a list of its simple sentences). With ``records`` there is also
    "text_rewrites", a list of records as JSON. All are null if the text is null.
    """
    with needs("Splitting a column needs Polars", "polars"):
        import polars
    made = Splitter(splitter, check=check, **options)
    types = [polars.String(), polars.List(polars.String()), polars.List(polars.String())]
    added = dict(zip(added_columns(column, records=records), types, strict=False))

    def with_columns(part: "DataFrame") -> "DataFrame":
        texts = part[column].to_list()
        values = split_column_values(made, texts, cell=cell, records=records)
        return part.with_columns(
            polars.Series(name, each, kind)
            for (name, kind), each in zip(added.items(), values, strict=True)
        )

    schema = frame.collect_schema()
    check_names(schema.names(), column, records=records)
    if isinstance(frame, polars.LazyFrame):
        return frame.map_batches(with_columns, schema={**schema, **added})
    return with_columns(frame)
