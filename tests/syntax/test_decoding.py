"""Trees and tags from scores, compared with brute force and with what must always hold."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from parataxis.syntax.analysis import ROOT, Argument
from parataxis.syntax.decoding import best_tags, best_trees, bio_spans


def is_tree(heads: tuple[int, ...] | list[int]) -> bool:
    if list(heads).count(ROOT) != 1:
        return False
    for start in range(len(heads)):
        seen, node = set(), start
        while node != ROOT:
            if node in seen:
                return False
            seen.add(node)
            node = heads[node]
    return True


def scores(length: int, seed: int) -> NDArray[np.float32]:
    return np.random.default_rng(seed).normal(size=(length, length + 1)).astype(np.float32)


def best_tree(table: NDArray[np.float32]) -> list[int]:
    return best_trees(table[None], [len(table)])[0]


@pytest.mark.parametrize(("length", "seed"), [*itertools.product(range(1, 6), range(8))])
def test_decoding_finds_the_best_tree(length: int, seed: int) -> None:
    table = scores(length, seed)
    trees = (t for t in itertools.product(range(-1, length), repeat=length) if is_tree(t))
    best = max(trees, key=lambda tree: sum(table[i, head + 1] for i, head in enumerate(tree)))
    assert tuple(best_tree(table)) == best


@settings(max_examples=40, deadline=None)
@given(st.integers(1, 80), st.integers(0, 10_000), st.floats(0, 50))
def test_decoding_always_gives_a_tree(length: int, seed: int, scale: float) -> None:
    assert is_tree(best_tree(scores(length, seed) * np.float32(scale)))


def test_decoding_gives_a_tree_when_all_scores_are_equal() -> None:
    assert is_tree(best_tree(np.zeros((30, 31), dtype=np.float32)))


def test_a_sentence_in_a_batch_has_the_tree_that_it_has_alone() -> None:
    tables = [scores(length, length) for length in (1, 2, 3, 5, 8, 13)]
    for table in tables[::2]:  # of these the greedy choice is a tree: each word governs the next
        table[np.arange(len(table)), np.arange(len(table))] += 50
    longest = len(tables[-1])
    batch = np.full((len(tables), longest, longest + 1), 99, dtype=np.float32)
    for row, table in zip(batch, tables, strict=True):
        row[: len(table), : len(table) + 1] = table
    trees = best_trees(batch, [len(table) for table in tables])
    assert trees == [best_tree(table) for table in tables]
    assert trees[4] == list(range(-1, 7))


def follows(tags: tuple[int, ...]) -> bool:
    """Whether each I tag (even, not zero) follows its B (the odd tag before it) or itself."""
    return all(
        tag == 0 or tag % 2 or (place > 0 and tags[place - 1] in (tag, tag - 1))
        for place, tag in enumerate(tags)
    )


@pytest.mark.parametrize(("length", "seed"), [*itertools.product(range(1, 5), range(6))])
def test_decoding_finds_the_best_allowed_tags(length: int, seed: int) -> None:
    table = np.random.default_rng(seed).normal(size=(1, length, 5)).astype(np.float32)
    allowed = filter(follows, itertools.product(range(5), repeat=length))
    best = max(allowed, key=lambda tags: sum(table[0, i, tag] for i, tag in enumerate(tags)))
    assert best_tags(table) == [list(best)]


def test_decoding_of_no_predicates_is_empty() -> None:
    assert best_tags(np.zeros((0, 4, 7), dtype=np.float32)) == []


@settings(max_examples=50, deadline=None)
@given(st.integers(1, 30), st.integers(0, 10_000))
def test_decoding_never_lets_roles_overlap(length: int, seed: int) -> None:
    table = np.random.default_rng(seed).normal(size=(1, length, 9)).astype(np.float32)
    spans = bio_spans(best_tags(table)[0], ("A", "B", "C", "D"))
    assert all(one.last < two.first for one, two in itertools.pairwise(spans))


def test_decoding_splits_neighbouring_spans_of_one_label() -> None:
    assert bio_spans([1, 1, 2], ("ARG0",)) == (Argument(0, 0, "ARG0"), Argument(1, 2, "ARG0"))
