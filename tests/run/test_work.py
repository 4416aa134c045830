"""Work on a batch: rewrites and encodings, sentences on which a splitter fails, and rows."""

import gzip
import json
import pickle
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from parataxis.errors import ParataxisError
from parataxis.rewrite.compose import left_whole
from parataxis.rewrite.record import Finding, FindingKind, Rewrite, SourceLine
from parataxis.run import encode
from parataxis.run.encode import OutputFormat, RecordEncoder, from_row, write_parquet
from parataxis.run.files import Packing
from parataxis.run.pipeline import Encoded, SplitterTask, Work
from parataxis.run.units import Layout, Unit, line_units
from parataxis.splitters.settings import SplitSettings
from parataxis.text.documents import Document

pa = pytest.importorskip("pyarrow")
parquet = pytest.importorskip("pyarrow.parquet")

NOTHING = Layout(Document("", ()))

LINES = ["Ann came.\n", "\n", "Bad \udcff.\n", "Bob left.\n", "Eve sang.\n"]


def units() -> list[Unit]:
    return list(line_units(LINES, "a.txt"))


class Failing:
    """Fails on batches with one of these words in them."""

    def __init__(self, *words: str, error: type[Exception] = ValueError) -> None:
        self.words, self.error = words, error

    def __call__(self, sentences: Sequence[str]) -> Iterable[Rewrite]:
        for sentence in sentences:
            if any(word in sentence for word in self.words):
                raise self.error(f"no {sentence}")
        return [left_whole(sentence, splitter="mine") for sentence in sentences]


def work(rewrite: Any, form: OutputFormat = OutputFormat.JSONL, **options: Any) -> Encoded:
    return Work(rewrite, RecordEncoder(form, **options), "mine")(units())


def records(data: bytes) -> list[dict[str, Any]]:
    return [json.loads(line) for line in data.decode().splitlines()]


def test_work_encodes_records_in_order() -> None:
    done = work(Failing(), provenance=False)
    assert records(done.data) == [
        {"source": "Ann came.", "simple": ["Ann came."], "splitter": "mine", "id": "a.txt:1"},
        {
            "source": "Bad \ufffd.",
            "simple": [],
            "splitter": "mine",
            "id": "a.txt:3",
            "error": "the bytes are not UTF-8 text",
        },
        {"source": "Bob left.", "simple": ["Bob left."], "splitter": "mine", "id": "a.txt:4"},
        {"source": "Eve sang.", "simple": ["Eve sang."], "splitter": "mine", "id": "a.txt:5"},
    ]
    assert (done.records, done.sentences, len(done.problems)) == (4, 3, 1)


def test_work_gives_text_back_byte_for_byte() -> None:
    assert (
        work(Failing(), OutputFormat.TEXT).data == b"Ann came.\n\nBad \xff.\nBob left.\nEve sang.\n"
    )


def test_work_packs_each_batch() -> None:
    plain = work(Failing()).data
    twice = work(Failing(), packing=Packing.GZIP).data * 2
    assert gzip.decompress(twice) == plain * 2
    assert twice == work(Failing(), packing=Packing.GZIP).data * 2
    packed = work(Failing(), packing=Packing.ZSTD).data
    assert pa.input_stream(pa.py_buffer(packed * 2), compression="zstd").read() == plain * 2


def test_work_leaves_whole_what_a_splitter_fails_on() -> None:
    done = work(Failing("Bob"))
    note = records(done.data)[2]["note"]
    assert note == "Left whole because the splitter failed: ValueError: no Bob left.."
    assert [problem.id for problem in done.problems] == ["a.txt:3", "a.txt:4"]


def test_work_ends_where_all_sentences_fail() -> None:
    with pytest.raises(ValueError, match="no Ann came"):
        work(Failing("Ann", "Bob", "Eve"))
    with pytest.raises(ParataxisError):
        work(Failing("Bob", error=ParataxisError))


def test_work_of_others_has_no_models_for_a_gpu() -> None:
    models: Any = object()
    task = (
        Work(
            SplitterTask("pointer", SplitSettings(beam=2)),
            RecordEncoder(OutputFormat.JSONL),
            "pointer",
        )
        .on(models)
        .rewrite
    )
    assert task == SplitterTask("pointer", SplitSettings(beam=2), models=models)
    with pytest.raises(ParataxisError, match="Only the models of an installed splitter"):
        Work(list, RecordEncoder(OutputFormat.JSONL), "mine").on(models)


def test_work_travels_without_its_models() -> None:
    task = SplitterTask("source")
    here = Work(task, RecordEncoder(OutputFormat.JSONL), "source")
    expected = here(units())
    there = pickle.loads(pickle.dumps(here))
    assert there.rewrite._loaded is None
    assert there(pickle.loads(pickle.dumps(units()))) == expected


REWRITE = Rewrite(
    source="Ann came, and Bob left.",
    simple=["Ann came.", "Bob left."],
    splitter="mine",
    id="a:1",
    note="Why.",
    confidence=0.25,
    findings=[Finding(kind=FindingKind.LOST, words="and", start=10, end=13, message="It is lost.")],
    provenance=[[], left_whole("Bob left.", splitter="x").provenance[0]],  # type: ignore[index]
    score=[1, {"a": None}],
)


@pytest.mark.parametrize(
    "rewrite", [REWRITE, left_whole("Zoë’s café.", splitter="source"), Rewrite(
        source="It rained.", simple=["It rained."], splitter="x")]
)  # fmt: skip
def test_encode_a_row_holds_the_whole_record(tmp_path: Path, rewrite: Rewrite) -> None:
    encoder = RecordEncoder(OutputFormat.PARQUET)
    unit = Unit([SourceLine("a:1", rewrite.source)], NOTHING, 1)
    path = tmp_path / "rows"
    path.write_bytes(encoder([(unit, [rewrite])], "x"))
    with path.open("rb") as streams:
        write_parquet(streams, tmp_path / "a.parquet")
    (row,) = parquet.read_table(tmp_path / "a.parquet").to_pylist()
    assert from_row(row) == rewrite


@settings(max_examples=15)
@given(st.lists(st.integers(0, 9), max_size=6), st.lists(st.integers(0, 9), max_size=6))
def test_encode_parquet_does_not_depend_on_batches(
    tmp_path_factory: pytest.TempPathFactory, first: list[int], second: list[int]
) -> None:
    folder = tmp_path_factory.mktemp("x")
    total = min(sum(first), sum(second))
    made = []
    for sizes in (first, second):
        numbers, data = iter(range(total)), b""
        for size in [*sizes, total]:
            rewrites = [left_whole(f"Ann {n}.", splitter="x") for _, n in zip(range(size), numbers)]  # noqa: B905
            data += RecordEncoder(OutputFormat.PARQUET)([(Unit([], NOTHING, 1), rewrites)], "x")
        (folder / "rows").write_bytes(data)
        with pytest.MonkeyPatch.context() as patch, (folder / "rows").open("rb") as streams:
            patch.setattr(encode, "ROW_GROUP", 4)
            write_parquet(streams, folder / "a.parquet")
        made.append((folder / "a.parquet").read_bytes())
    assert made[0] == made[1]
    file = parquet.ParquetFile(folder / "a.parquet")
    assert file.metadata.num_rows == total
    assert file.num_row_groups == -(-total // 4)
