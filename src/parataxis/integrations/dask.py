"""Splitting a column of a Dask data frame. Each worker process loads the models once."""

from typing import TYPE_CHECKING, Any, Unpack

from parataxis.api import DEFAULT_SPLITTER
from parataxis.errors import needs
from parataxis.integrations.pandas import with_columns
from parataxis.integrations.texts import TextColumn, splitter_of_process
from parataxis.run.units import CellKind, RowKind
from parataxis.splitters.registry import load_splitter
from parataxis.splitters.settings import SettingOptions, SplitSettings

if TYPE_CHECKING:
    from dask.dataframe import DataFrame

__all__ = ["split_column"]


def split_column(
    frame: "DataFrame",
    column: str,
    *,
    splitter: str = DEFAULT_SPLITTER,
    check: bool = False,
    cell: str = CellKind.TEXT,
    rows: str = RowKind.INPUT,
    records: bool = False,
    **options: Unpack[SettingOptions],
) -> "DataFrame":
    """The frame with the columns that :func:`parataxis.integrations.pandas.split_column` adds, as
    text and lists of text; records are JSON. Partitions are split when the result is computed."""
    with needs("Splitting a column needs Dask", "dask"):
        import dask.dataframe  # noqa: F401
        import pandas
        import pyarrow
    split = TextColumn(column, cell, rows, records)
    split.check(list(frame.columns))
    SplitSettings.given(**options)  # mistakes are found here, not on the workers
    load_splitter(splitter)
    cells = frame._meta[column]
    # Partitions hold lists. Dask takes the types of a Parquet file from here, where it does not
    # know lists; pandas cannot read files that were saved from such columns of Arrow.
    lists = cells.astype(object).astype(pandas.ArrowDtype(pyarrow.list_(pyarrow.string())))
    kinds = {name: lists if many else cells for name, many in split.added.items()}
    given = {"splitter": splitter, "check": check, **options}
    return frame.map_partitions(_split_partition, split, given, meta=frame._meta.assign(**kinds))


def _split_partition(part: Any, split: TextColumn, given: dict[str, Any]) -> Any:
    return with_columns(part, split, splitter_of_process(**given))
