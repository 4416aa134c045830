"""``datasets.map``: batches, other processes, the cache, and texts that are missing."""

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from parataxis import Rewrite
from parataxis.errors import InputError
from parataxis.integrations.datasets import SplitColumn

datasets = pytest.importorskip("datasets")

MILL = "The mill, which was built in 1850, burned down."


@pytest.fixture
def dataset(tmp_path: Path) -> Any:
    """A dataset in a folder: only such a one has a cache."""
    texts = [f"{MILL}\nIt rained.", None, "", "Ann left."]
    datasets.disable_progress_bars()
    datasets.Dataset.from_dict({"text": texts, "n": range(4)}).save_to_disk(tmp_path / "data")
    return datasets.load_from_disk(tmp_path / "data")


def test_datasets_map_splits_a_column(dataset: Any) -> None:
    result = dataset.map(SplitColumn("text", records=True), batched=True, batch_size=3)
    assert result["n"][:] == [0, 1, 2, 3]
    assert result["text_simple"][:] == [
        "The mill burned down. It was built in 1850.\nIt rained.",
        None,
        "",
        "Ann left.",
    ]
    counts = [None if each is None else len(each) for each in result["text_sentences"]]
    assert counts == [3, None, 0, 1]
    first = [Rewrite.model_validate_json(line) for line in result["text_rewrites"][0]]
    assert [rewrite.source for rewrite in first] == [MILL, "It rained."]
    assert first[0].provenance is not None


def test_datasets_map_works_in_several_processes(dataset: Any) -> None:
    split = SplitColumn("text")
    alone = dataset.map(split, batched=True)  # the models are loaded here as well
    together = dataset.map(split, batched=True, num_proc=2, load_from_cache_file=False)
    assert together.to_dict() == alone.to_dict()


def test_datasets_cache_is_used_for_the_same_options_only(
    dataset: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = dataset.map(SplitColumn("text", splitter="source"), batched=True)

    def refuse(self: object, batch: object) -> None:
        raise AssertionError("the cache was not used")

    monkeypatch.setattr(SplitColumn, "__call__", refuse)
    again = dataset.map(SplitColumn("text", splitter="source"), batched=True)
    assert again.to_dict() == first.to_dict()
    with pytest.raises(AssertionError, match="cache"):
        dataset.map(SplitColumn("text", splitter="rules"), batched=True)


def test_datasets_fingerprint_is_that_of_options_and_version(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    from datasets.fingerprint import Hasher

    split = SplitColumn("text")
    before = Hasher.hash(split)
    split({"text": [MILL]})
    assert Hasher.hash(split) == before  # models do not count
    program = (
        "from datasets.fingerprint import Hasher\n"
        "from parataxis.integrations.datasets import SplitColumn\n"
        "print(Hasher.hash(SplitColumn('text')))"
    )
    other = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert other.stdout.strip() == before
    assert Hasher.hash(SplitColumn("text", beam=2)) != before
    monkeypatch.setattr("parataxis.integrations.datasets.__version__", "next")
    assert Hasher.hash(SplitColumn("text")) != before


def test_datasets_features_are_told_where_texts_are_missing() -> None:
    split = SplitColumn("text", splitter="source")
    dataset = datasets.Dataset.from_dict({"text": [None] * 1001 + ["Ann left."]})
    result = dataset.map(split, batched=True, features=split.features(dataset.features))
    assert result[1001]["text_sentences"] == ["Ann left."]


def test_datasets_have_a_row_for_each_sentence_on_request(dataset: Any) -> None:
    split = SplitColumn("text", rows="sentence")
    result = dataset.map(split, batched=True, features=split.features(dataset.features))
    assert result["n"][:] == [0, 0, 1, 2, 3]
    assert result["text_source"][:] == [MILL, "It rained.", None, None, "Ann left."]
    assert result["text_sentences"][0] == ["The mill burned down.", "It was built in 1850."]


def test_datasets_stream_is_split() -> None:
    stream = datasets.Dataset.from_dict({"text": ["Ann left."]}).to_iterable_dataset()
    (row,) = stream.map(SplitColumn("text", splitter="source"), batched=True)
    assert row["text_simple"] == "Ann left."


def test_datasets_says_what_is_wrong() -> None:
    with pytest.raises(InputError, match='no column "words"'):
        SplitColumn("words")({"text": ["Ann left."]})
    with pytest.raises(InputError, match="batched=True"):
        SplitColumn("text")({"text": "Ann left."})
