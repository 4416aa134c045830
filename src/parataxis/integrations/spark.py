"""Splitting a column of a Spark data frame, with a pandas UDF over Arrow.

Each Python worker of an executor loads the models once, uses one core, and needs Parataxis and
pyarrow installed.
"""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Unpack

from parataxis.api import DEFAULT_SPLITTER
from parataxis.errors import needs
from parataxis.integrations.texts import TextColumn, splitter_of_process
from parataxis.run.units import CellKind, RowKind
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
    rows: str = RowKind.INPUT,
    records: bool = False,
    **options: Unpack[SettingOptions],
) -> "DataFrame":
    """The frame with two more columns; the options are those of ``Splitter``.

    For a column "text" these are "text_simple" (the text with its sentences split) and
    "text_sentences" (an array of its simple sentences). With ``records`` there is also
    "text_rewrites", an array of records as JSON. All are null if the text is null. With
    ``rows="sentence"`` there is a row for each sentence, which is in the column "text_source".
    """
    with needs("Splitting a column needs pyspark, pandas and pyarrow", "spark"):
        import pandas
        import pyarrow  # noqa: F401  # Spark needs it, and says so only on the executors
        from pyspark.sql.functions import col, inline_outer, pandas_udf
        from pyspark.sql.types import ArrayType, StringType, StructField, StructType
    split = TextColumn(column, cell, rows, records)
    split.check(frame.columns)
    SplitSettings.given(**options)  # mistakes are found here, not on the executors
    load_splitter(splitter)
    text, texts = StringType(), ArrayType(StringType())
    kind = StructType(
        [StructField(name, texts if many else text) for name, many in split.added.items()]
    )

    def convert(batches: Iterator[Any]) -> Iterator[Any]:
        made = splitter_of_process(splitter, check=check, **options)
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
