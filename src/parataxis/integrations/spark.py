"""Splitting a column of a Spark data frame, with a pandas UDF over Arrow.

Each Python worker of an executor loads the models once, uses one core, and needs Parataxis and
pyarrow installed.
"""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Unpack

from parataxis.api import Splitter
from parataxis.errors import needs
from parataxis.integrations.texts import ColumnOptions, TextColumn, splitter_of_process

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

__all__ = ["split_column"]


def split_column(
    frame: "DataFrame",
    column: str,
    **options: Unpack[ColumnOptions],
) -> "DataFrame":
    """The frame with the columns that :func:`parataxis.integrations.pandas.split_column` adds, as
    text and arrays of text; records are JSON. The splitter is given by its name."""
    with needs("Splitting a column needs pyspark, pandas and pyarrow", "spark"):
        import pandas
        import pyarrow  # noqa: F401  # Spark needs it, and says so only on the executors
        from pyspark.sql.functions import col, inline_outer, pandas_udf
        from pyspark.sql.types import ArrayType, StringType, StructField, StructType
    split, given = TextColumn.of(column, options)
    split.check(frame.columns)
    Splitter(**given)  # mistakes are found here, not on the executors
    text, texts = StringType(), ArrayType(StringType())
    kind = StructType(
        [StructField(name, texts if many else text) for name, many in split.added.items()]
    )

    def convert(batches: Iterator[Any]) -> Iterator[Any]:
        made = splitter_of_process(**given)
        for series in batches:
            gone = series.isna()
            cells = [None if none else each for each, none in zip(series, gone, strict=True)]
            places, added = split(made, cells)
            if not split.by_sentence:
                yield pandas.DataFrame(added, dtype=object)
                continue
            found: list[list[dict[str, Any]]] = [[] for _ in cells]
            for place, *values in zip(places, *added.values(), strict=True):
                found[place].append(dict(zip(added, values, strict=True)))
            yield pandas.Series(found, dtype=object)

    # Annotations tell Spark that it is given all batches of a partition.
    convert.__annotations__ = {
        "batches": Iterator[pandas.Series],
        "return": Iterator[pandas.Series] if split.by_sentence else Iterator[pandas.DataFrame],
    }
    cells = col(f"`{column}`")
    if split.by_sentence:
        return frame.select("*", inline_outer(pandas_udf(convert, ArrayType(kind))(cells)))
    split_up = frame.select("*", pandas_udf(convert, kind)(cells).alias("_parataxis"))
    return split_up.select(*frame.columns, "_parataxis.*")
