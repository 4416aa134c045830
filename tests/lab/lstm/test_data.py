from array import array
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

pytest.importorskip("torch", reason="needs the extra [train]")

from parataxis.errors import InputError
from parataxis.lab.lstm.data import Pairs, Texts, read_corpora
from parataxis.lab.lstm.search import END, SPLIT, UNKNOWN, Vocabulary
from parataxis.syntax.wordpieces import stack

LONG = 100


def texts() -> Texts:
    found = Texts()
    found.add("Ann sold tea .", [["Ann sold tea .", "Ann left ."], ["Zed sold tea ."]])
    found.add("Ben sold tea .", [["Ben sold tea ."]])
    return found


def test_data_counts_each_word_once_for_a_source() -> None:
    # "Ann" stands in three texts, but they belong to one source.
    assert texts().vocabulary(100, least=2).words[5:] == (".", "sold", "tea")
    assert texts().vocabulary(100, least=1).words[5:] == (
        *(".", "sold", "tea"),
        *("Ann", "Ben", "Zed", "left"),
    )
    assert texts().vocabulary(2, least=1).words[5:] == (".", "sold")


def test_data_words_of_the_source_can_be_copied_and_others_are_unknown() -> None:
    vocabulary = Vocabulary(["sold", "tea", "."])  # 5, 6, 7; 8 is the first word to be copied
    pairs = texts().pairs(vocabulary, LONG)
    assert [pairs.sources[row].tolist() for row in range(2)] == [[8, 5, 6, 7], [8, 5, 6, 7]]
    assert [pairs.targets[row].tolist() for row in range(3)] == [
        [8, 5, 6, 7, SPLIT, 8, UNKNOWN, 7, END],
        [UNKNOWN, 5, 6, 7, END],
        [8, 5, 6, 7, END],
    ]
    assert pairs.owners.tolist() == [0, 0, 1]


def test_data_leaves_out_what_is_too_long() -> None:
    pairs = texts().pairs(Vocabulary([]), longest=5)
    assert pairs.rows.tolist() == [1, 2]


def test_data_a_batch_is_padded() -> None:
    batch = texts().pairs(Vocabulary(["sold"]), LONG).batch(np.array([0, 2]))
    assert batch.lengths.tolist() == [4, 4]
    assert batch.source.shape == (2, 4)
    assert batch.targets.shape == (2, 9)
    assert batch.targets[1, 5:].tolist() == [0, 0, 0, 0]


@given(st.lists(st.lists(st.integers(1, 9), max_size=5), min_size=1, max_size=8), st.data())
def test_data_padded_rows_are_the_rows(rows: list[list[int]], data: st.DataObject) -> None:
    chosen = data.draw(st.lists(st.integers(0, len(rows) - 1), min_size=1))
    matrix = stack([array("i", rows[row]) for row in chosen])
    for row, padded in zip(chosen, matrix.tolist(), strict=True):
        assert padded[: len(rows[row])] == rows[row]
        assert not any(padded[len(rows[row]) :])


def many(counts: list[int]) -> Pairs:
    found = Texts()
    for source, count in enumerate(counts):
        references = [[f"w{number} " * (number % 3 + 1)] for number in range(count)]
        found.add(f"source {source}", references)
    return found.pairs(Vocabulary([]), LONG)


@settings(max_examples=30)
@given(st.lists(st.integers(1, 12), min_size=1, max_size=8), st.integers(0, 5), st.integers(1, 7))
def test_data_an_epoch_has_so_many_references_of_each_source(
    counts: list[int], most: int, size: int
) -> None:
    pairs = many(counts)
    batches = pairs.batches(most, size, np.random.default_rng(3))
    rows = np.concatenate(batches)
    assert len(set(rows.tolist())) == len(rows)
    found = np.bincount(pairs.owners[rows], minlength=len(counts)).tolist()
    assert found == [min(count, most) if most else count for count in counts]
    again = pairs.batches(most, size, np.random.default_rng(3))
    assert [batch.tolist() for batch in batches] == [batch.tolist() for batch in again]


def test_data_draws_other_references_in_each_epoch() -> None:
    pairs = many([50])
    drawn = [set(pairs.drawn(5, np.random.default_rng(epoch)).tolist()) for epoch in range(3)]
    assert len({frozenset(each) for each in drawn}) == 3


@pytest.mark.parametrize("text", ["", '{"source": "Ann left ."}\n'])
def test_data_a_corpus_without_references_is_told(tmp_path: Path, text: str) -> None:
    path = tmp_path / "empty.jsonl"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(InputError, match=r"empty\.jsonl holds no example with a reference"):
        list(read_corpora([str(path)]))


def test_data_says_which_lines_are_malformed(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    path = tmp_path / "some.jsonl"
    path.write_text('{"source": "A .", "simple": ["A ."]}\nnonsense\n', encoding="utf-8")
    assert len(list(read_corpora([str(path)]))) == 1
    assert "line 2" in caplog.text
