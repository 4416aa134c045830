"""Splitting in DuckDB: a function for SQL."""

from typing import TYPE_CHECKING, Any, Unpack

from parataxis.api import DEFAULT_SPLITTER, Splitter
from parataxis.errors import needs
from parataxis.integrations.texts import TextColumn
from parataxis.run.units import CellKind
from parataxis.splitters.registry import SentenceSplitter
from parataxis.splitters.settings import SettingOptions

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

__all__ = ["add_function"]


def add_function(
    connection: "DuckDBPyConnection",
    name: str = "simple_sentences",
    *,
    splitter: str | SentenceSplitter = DEFAULT_SPLITTER,
    check: bool = False,
    cell: str = CellKind.TEXT,
    records: bool = False,
    **options: Unpack[SettingOptions],
) -> None:
    """Add a function to a connection: ``SELECT simple_sentences(body) FROM news`` gives a list of
    the simple sentences of each body; with ``records``, a list of records as JSON. Null gives null.
    The other options are those of ``Splitter``."""
    with needs("A function for DuckDB needs duckdb and pyarrow", "duckdb"):
        import duckdb
        import pyarrow
    column = TextColumn("text", cell, records=records)
    made = Splitter(splitter, check=check, **options)

    def split(texts: Any) -> Any:
        _, added = column(made, texts.to_pylist())
        return pyarrow.array([*added.values()][-1], pyarrow.list_(pyarrow.string()))

    connection.create_function(name, split, ["VARCHAR"], duckdb.list_type("VARCHAR"), type="arrow")
