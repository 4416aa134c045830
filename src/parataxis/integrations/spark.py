"""Splitting a column of a Spark data frame, with a pandas UDF over Arrow.

Each Python worker of an executor loads the models once, uses one core, and needs Parataxis and
pyarrow installed.
"""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Unpack

from parataxis.api import DEFAULT_SPLITTER
from parataxis.errors import needs
from parataxis.integrations.texts import (
    added_columns,
    check_names,
    split_column_values,
    splitter_of_process,
)
from parataxis.run.units import CellKind
from parataxis.splitters.registry import load_splitter
from parataxis.splitters.settings import SettingOptions, SplitSettings

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

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
    """The frame with two more columns; the options are those of ``Splitter``.

    For a column "text" these are "text_simple" (the text with its sentences split) and
    "text_sentences" (an array of its simple sentences). With ``records`` there is also
    "text_rewrites", an array of records as JSON. All are null if the text is null.
    """
    with needs("Splitting a column needs pyspark, pandas and pyarrow", "spark"):
        import pandas
        import pyarrow  # noqa: F401  # Spark needs it, and says so only on the executors
        from pyspark.sql.functions import col, pandas_udf
        from pyspark.sql.types import ArrayType, StringType, StructField, StructType
    check_names(frame.columns, column, records=records)
    SplitSettings.given(**options)  # mistakes are found here, not on the executors
    load_splitter(splitter)
    names = added_columns(column, records=records)
    types = [StringType(), ArrayType(StringType()), ArrayType(StringType())]
    kind = StructType([StructField(*each) for each in zip(names, types, strict=False)])

    def split(batches: Iterator[Any]) -> Iterator[Any]:
        made = splitter_of_process(splitter, check=check, **options)
        for texts in batches:
            cells = [None if gone else each for each, gone in zip(texts, texts.isna(), strict=True)]
            values = split_column_values(made, cells, cell=cell, records=records)
            yield pandas.DataFrame(dict(zip(names, values, strict=True)), dtype=object)

    # Annotations tell Spark that it is given all batches of a partition.
    split.__annotations__ = {
        "batches": Iterator[pandas.Series],
        "return": Iterator[pandas.DataFrame],
    }
    made = pandas_udf(split, kind)(col(f"`{column}`"))
    split_up = frame.select("*", made.alias("_parataxis"))
    return split_up.select(*frame.columns, "_parataxis.*")
