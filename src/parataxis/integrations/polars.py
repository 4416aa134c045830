"""Splitting a column of a Polars frame, eager or lazy."""

from typing import TYPE_CHECKING, TypeVar, Unpack

from parataxis.api import DEFAULT_SPLITTER, Splitter
from parataxis.errors import needs
from parataxis.integrations.texts import TextColumn
from parataxis.run.units import CellKind, RowKind
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
    rows: str = RowKind.INPUT,
    records: bool = False,
    **options: Unpack[SettingOptions],
) -> "Frame":
    """The frame with two more columns; the options are those of ``Splitter``.

    For a column "text" these are "text_simple" (the text with its sentences split) and
    "text_sentences" (a list of its simple sentences). With ``records`` there is also
    "text_rewrites", a list of records as JSON. All are null if the text is null. With
    ``rows="sentence"`` there is a row for each sentence, which is in the column "text_source".
    """
    with needs("Splitting a column needs Polars", "polars"):
        import polars
    made = Splitter(splitter, check=check, **options)
    split = TextColumn(column, cell, rows, records)
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
