"""Splitting a column of a Dask data frame. Each worker process loads the models once."""

from typing import TYPE_CHECKING, Any, Unpack

from parataxis.api import Splitter
from parataxis.errors import needs
from parataxis.integrations.pandas import with_columns
from parataxis.integrations.texts import ColumnOptions, TextColumn, splitter_of_process

if TYPE_CHECKING:
    from dask.dataframe import DataFrame

__all__ = ["split_column"]


def split_column(
    frame: "DataFrame",
    column: str,
    **options: Unpack[ColumnOptions],
) -> "DataFrame":
    """The frame with the columns that :func:`parataxis.integrations.pandas.split_column` adds, as
    text and lists of text; records are JSON. The splitter is given by its name. Partitions are
    split when the result is computed."""
    with needs("Splitting a column needs Dask", "dask"):
        import dask.dataframe  # noqa: F401
        import pandas
        import pyarrow
    split, given = TextColumn.of(column, options)
    split.check(list(frame.columns))
    Splitter(**given)  # mistakes are found here, not on the workers
    cells = frame._meta[column]
    # Partitions hold lists. Dask takes the types of a Parquet file from here, where it does not
    # know lists; pandas cannot read files that were saved from such columns of Arrow.
    lists = cells.astype(object).astype(pandas.ArrowDtype(pyarrow.list_(pyarrow.string())))
    kinds = {name: lists if many else cells for name, many in split.added.items()}
    return frame.map_partitions(_split_partition, split, given, meta=frame._meta.assign(**kinds))


def _split_partition(part: Any, split: TextColumn, given: dict[str, Any]) -> Any:
    return with_columns(part, split, splitter_of_process(**given))
