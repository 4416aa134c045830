"""Splitting a column of a Dask data frame. Each worker process loads the models once."""

from typing import TYPE_CHECKING, Any, Unpack

from parataxis.api import DEFAULT_SPLITTER
from parataxis.errors import needs
from parataxis.integrations import pandas
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
    """The frame with the columns that :func:`parataxis.integrations.pandas.split_column` adds; its
    partitions are split when the result is computed."""
    with needs("Splitting a column needs Dask", "dask"):
        import dask.dataframe  # noqa: F401
    split = TextColumn(column, cell, rows, records)
    split.check(list(frame.columns))
    SplitSettings.given(**options)  # mistakes are found here, not on the workers
    load_splitter(splitter)
    cells = frame._meta[column]
    kinds = {name: cells.astype(object) if many else cells for name, many in split.added.items()}
    given = {"splitter": splitter, "check": check, **options}
    return frame.map_partitions(_split_partition, split, given, meta=frame._meta.assign(**kinds))


def _split_partition(part: Any, split: TextColumn, given: dict[str, Any]) -> Any:
    made = splitter_of_process(**given)
    return pandas.split_column(
        part,
        split.name,
        splitter=made,
        cell=split.cell,
        rows=split.rows,
        records=split.records,
    )
