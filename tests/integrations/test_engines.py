"""Columns of Polars, DuckDB, Spark and Dask: the real packages, each on this machine."""

from collections.abc import Iterator
from pathlib import Path
from shutil import which
from typing import Any

import pytest

from parataxis.errors import InputError
from parataxis.integrations.texts import splitter_of_process

MILL = "The mill, which was built in 1850, burned down."
TEXTS = [f"{MILL} It rained.", None, " ", "Ann left."]
SIMPLE = ["The mill burned down. It was built in 1850. It rained.", None, " ", "Ann left."]
SENTENCES = [
    ["The mill burned down.", "It was built in 1850.", "It rained."],
    None,
    [],
    ["Ann left."],
]

BY_SENTENCE = [
    (1, MILL, ["The mill burned down.", "It was built in 1850."]),
    (1, "It rained.", ["It rained."]),
    (2, None, None),
    (3, None, []),
    (4, "Ann left.", ["Ann left."]),
]
"""The rows of TEXTS with rows="sentence": number, source and simple sentences."""

SPLITTER = """
import os
from parataxis import Rewrite


class NotedSplitter:
    name = "noted"
    summary = "Changes nothing, and notes where it is loaded."

    def __init__(self):
        with open(os.environ["NOTES"], "a") as notes:
            notes.write(f"{os.getpid()}\\n")

    def __call__(self, sentence):
        return Rewrite(source=sentence, simple=[sentence], splitter=self.name)

    def pipe(self, sentences):
        return map(self, sentences)
"""


@pytest.fixture(scope="module")
def plugin(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """An installed splitter that notes the process in which it is loaded, and its notes."""
    folder = tmp_path_factory.mktemp("plugin")
    (folder / "noted.py").write_text(SPLITTER)
    about = folder / "noted-1.0.dist-info"
    about.mkdir()
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: noted\nVersion: 1.0\n")
    (about / "entry_points.txt").write_text("[parataxis.splitters]\nnoted = noted:NotedSplitter\n")
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(folder))
        patch.setenv("PYTHONPATH", str(folder), prepend=":")
        patch.setenv("NOTES", str(folder / "notes"))
        yield folder / "notes"


def test_polars_splits_frames_that_can_be_saved(tmp_path: Path) -> None:
    polars = pytest.importorskip("polars")
    from parataxis.integrations.polars import split_column

    frame = polars.DataFrame({"n": [1, 2, 3, 4], "text": TEXTS})
    eager = split_column(frame, "text")
    assert eager.columns == ["n", "text", "text_simple", "text_sentences"]
    assert eager["text_simple"].to_list() == SIMPLE
    assert eager["text_sentences"].to_list() == SENTENCES
    assert split_column(frame.lazy(), "text").collect().equals(eager)
    eager.write_parquet(tmp_path / "out.parquet")
    assert polars.read_parquet(tmp_path / "out.parquet").equals(eager)
    records = split_column(frame, "text", records=True, splitter="source")["text_rewrites"]
    assert '"splitter":"source"' in records[0][0]
    assert split_column(frame[:0], "text").schema == eager.schema
    with pytest.raises(InputError, match='no column "words"'):
        split_column(frame, "words")
    rows = split_column(frame.lazy(), "text", rows="sentence")
    assert rows.select("n", "text_source", "text_sentences").collect().rows() == BY_SENTENCE
    assert rows.head(2).collect()["n"].to_list() == [1, 1]


def test_duckdb_has_a_function(tmp_path: Path) -> None:
    duckdb = pytest.importorskip("duckdb")
    from parataxis.integrations.duckdb import add_function

    with duckdb.connect() as connection:
        add_function(connection)
        add_function(connection, "rewrites", splitter="source", records=True)
        connection.execute("CREATE TABLE news (n INTEGER, body VARCHAR)")
        connection.executemany("INSERT INTO news VALUES (?, ?)", list(enumerate(TEXTS)))
        out = tmp_path / "out.parquet"
        query = "SELECT n, simple_sentences(body) AS simple FROM news"
        connection.execute(f"COPY ({query}) TO '{out}'")
        saved = connection.execute(f"SELECT simple FROM '{out}' ORDER BY n").fetchall()
        assert [each for (each,) in saved] == SENTENCES
        (record,) = connection.execute("SELECT rewrites('Ann left.')[1]").fetchone()
        assert '"splitter":"source"' in record


@pytest.fixture(scope="module")
def spark(plugin: Path) -> Iterator[Any]:
    pyspark = pytest.importorskip("pyspark.sql", reason="needs the extra [spark]")
    if which("java") is None:
        pytest.skip("needs a Java runtime (Debian's package default-jre-headless)")
    session = (
        pyspark.SparkSession.builder.master("local[2]")
        .config("spark.ui.enabled", "false")
        .config("spark.driver.host", "127.0.0.1")
        .config("spark.driver.bindAddress", "127.0.0.1")
        .config("spark.driver.memory", "512m")
        .config("spark.sql.shuffle.partitions", "2")
        .config("spark.sql.execution.arrow.maxRecordsPerBatch", "2")
        .getOrCreate()
    )
    session.sparkContext.setLogLevel("ERROR")
    yield session
    session.stop()


def test_spark_splits_a_column_and_saves_it(spark: Any, tmp_path: Path) -> None:
    from parataxis.integrations.spark import split_column

    frame = spark.createDataFrame(list(enumerate(TEXTS)), "n int, text string")
    result = split_column(frame, "text", records=True)
    assert result.columns == ["n", "text", "text_simple", "text_sentences", "text_rewrites"]
    result.write.parquet(str(tmp_path / "out"))
    rows = spark.read.parquet(str(tmp_path / "out")).orderBy("n").collect()
    assert [row.text_simple for row in rows] == SIMPLE
    assert [row.text_sentences for row in rows] == SENTENCES
    assert '"provenance"' in rows[0].text_rewrites[0]
    with pytest.raises(InputError, match="There is no level"):
        split_column(frame, "text", level="deep")


def test_spark_gives_a_row_for_each_sentence_on_request(spark: Any) -> None:
    from parataxis.integrations.spark import split_column

    frame = spark.createDataFrame(list(enumerate(TEXTS, start=1)), "n int, text string")
    result = split_column(frame, "text", rows="sentence")
    assert result.columns == ["n", "text", "text_source", "text_simple", "text_sentences"]
    rows = result.orderBy("n").collect()
    found = [(row.n, row.text_source, row.text_sentences) for row in rows]
    assert sorted(found, key=str) == sorted(BY_SENTENCE, key=str)


def test_spark_loads_the_splitter_once_in_each_worker(spark: Any, plugin: Path) -> None:
    from parataxis.integrations.spark import split_column

    plugin.unlink(missing_ok=True)
    frame = spark.range(40).selectExpr("concat('Ann ate ', id, ' plums.') AS text").repartition(8)
    result = split_column(frame, "text", splitter="noted")
    here = plugin.read_text().split()  # where the name was checked
    plugin.unlink()
    assert sum(len(row.text_sentences) for row in result.collect()) == 40
    assert sum(len(row.text_sentences) for row in result.collect()) == 40
    loaded = plugin.read_text().split()
    assert len(loaded) == len(set(loaded))  # sixteen tasks, and no process loaded it twice
    assert not set(loaded) & set(here)


@pytest.mark.parametrize("scheduler", ["synchronous", "processes"])
def test_dask_splits_partitions(plugin: Path, scheduler: str, tmp_path: Path) -> None:
    dataframe = pytest.importorskip("dask.dataframe")
    pandas = pytest.importorskip("pandas")
    from parataxis.integrations.dask import split_column

    frame = dataframe.from_pandas(
        pandas.DataFrame({"n": range(8), "text": TEXTS * 2}), npartitions=3
    )
    result = split_column(frame, "text")
    made = result.compute(scheduler=scheduler, num_workers=2)
    assert list(made.columns) == list(result.columns)
    assert made["text_simple"].fillna("none").tolist() == [each or "none" for each in SIMPLE] * 2
    assert lists(made["text_sentences"]) == SENTENCES * 2
    result.to_parquet(tmp_path / "out", compute_kwargs={"scheduler": scheduler})
    saved = pandas.read_parquet(tmp_path / "out").sort_values("n")
    assert lists(saved["text_sentences"]) == SENTENCES * 2
    rows = split_column(frame, "text", rows="sentence", records=True)
    rows = rows.compute(scheduler="synchronous")
    assert rows["n"].tolist() == [0, 0, 1, 2, 3, 4, 4, 5, 6, 7]
    assert lists(rows["text_sentences"]) == [each for _, _, each in BY_SENTENCE] * 2
    assert '"splitter":"pointer"' in rows["text_rewrites"].iloc[0][0]


def lists(column: Any) -> list[list[str] | None]:
    """The lists in a column, and None for what is missing."""
    return [None if gone else list(each) for each, gone in zip(column, column.isna(), strict=True)]


def test_dask_loads_the_splitter_once_in_a_process(plugin: Path) -> None:
    dataframe = pytest.importorskip("dask.dataframe")
    pandas = pytest.importorskip("pandas")
    from parataxis.integrations.dask import split_column

    frame = dataframe.from_pandas(pandas.DataFrame({"text": ["Ann left."] * 9}), npartitions=9)
    result = split_column(frame, "text", splitter="noted")
    plugin.unlink()
    splitter_of_process.cache_clear()
    assert len(result.compute(scheduler="synchronous")) == 9
    assert len(plugin.read_text().split()) == 1
    with pytest.raises(InputError, match="already; drop or rename it"):
        split_column(result, "text")
