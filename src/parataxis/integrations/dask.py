"""Splitting a column of a Dask data frame. Each worker process loads the models once."""

from typing import TYPE_CHECKING, Any, Unpack

from parataxis.api import DEFAULT_SPLITTER
from parataxis.errors import needs
from parataxis.integrations import pandas
from parataxis.integrations.texts import added_columns, check_names, splitter_of_process
from parataxis.run.units import CellKind
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
    records: bool = False,
    **options: Unpack[SettingOptions],
) -> "DataFrame":
    """The frame with the columns that :func:`parataxis.integrations.pandas.split_column` adds; its
    partitions are split when the result is computed."""
    with needs("Splitting a column needs Dask", "dask"):
        import dask.dataframe  # noqa: F401
    check_names(list(frame.columns), column, records=records)
    SplitSettings.given(**options)  # mistakes are found here, not on the workers
    load_splitter(splitter)
    text, *others = added_columns(column, records=records)
    cells = frame._meta[column]
    kinds = {text: cells, **{name: cells.astype(object) for name in others}}
    given = {"splitter": splitter, "check": check, **options}
    return frame.map_partitions(
        _split_partition,
        column,
        cell,
        records,
        given,
        meta=frame._meta.assign(**kinds),
    )


def _split_partition(
    part: Any, column: str, cell: str, records: bool, given: dict[str, Any]
) -> Any:
    made = splitter_of_process(**given)
    return pandas.split_column(part, column, splitter=made, cell=cell, records=records)
