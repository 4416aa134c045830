"""Requests that wait for the GPU, and the order in which they are run."""

from collections.abc import Sequence
from threading import Thread
from typing import Any

import numpy as np
import pytest

from parataxis.run.gpu import server
from parataxis.run.gpu.models import DeviceTrees, _Run
from parataxis.run.gpu.server import _Batcher
from parataxis.run.gpu.splitter import Sentences, Sources, part_of_scores
from parataxis.syntax.analyser import Tokenized
from parataxis.syntax.wordpieces import load_word_pieces
from parataxis.text.tokens import tokenize


def part(width: int, count: int) -> Sources:
    row = np.zeros((count, 1), dtype=np.int64)
    return Sources(width, row, row, row, row, row, row[:, 0])


class Worked:
    """Remembers what was worked on together: the beam, and width and size of each part."""

    def __init__(self) -> None:
        self.batches: list[tuple[int, list[tuple[int, int]]]] = []

    def __call__(self, kind: int, parts: Sequence[Any]) -> list[str]:
        self.batches.append((kind, [(each.width, len(each)) for each in parts]))
        if any(each.width == 512 for each in parts):
            raise ValueError("too wide")
        return [f"{each.width}:{len(each)}" for each in parts]


def answers(batcher: _Batcher, *requests: tuple[int, list[Sources]]) -> list[list[Any]]:
    """Put requests (kind and parts) together, then work until all are answered."""
    results = [batcher.put(*request) for request in requests]
    Thread(target=batcher.run, daemon=True).start()
    return [
        [f"error: {part.exception()}" if part.exception() else part.result() for part in parts]
        for parts in results
    ]


def test_server_runs_parts_of_one_width_together() -> None:
    worked = Worked()
    first = 1, [part(32, 3), part(64, 1)]
    second = 1, [part(32, 2)]
    other_beam = 4, [part(32, 9)]
    found = answers(_Batcher(worked, enough=100, patience=0.0), first, second, other_beam, (1, []))
    assert found == [["32:3", "64:1"], ["32:2"], ["32:9"], []]
    # The width with most sentences comes first.
    assert worked.batches == [(4, [(32, 9)]), (1, [(32, 3), (32, 2)]), (1, [(64, 1)])]


def test_server_limits_the_size_of_a_batch() -> None:
    worked = Worked()
    found = answers(
        _Batcher(worked, enough=5, patience=9.0), *((1, [part(32, 2)]) for _ in range(4))
    )
    assert found == [["32:2"]] * 4
    assert [len(parts) for _, parts in worked.batches] == [2, 2]


def test_server_runs_parts_that_have_waited_too_long_first(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(server, "_LONGEST_WAIT", -1.0)
    worked = Worked()
    answers(_Batcher(worked, enough=2, patience=0.0), (1, [part(64, 1)]), (1, [part(32, 2)]))
    assert [parts for _, parts in worked.batches] == [[(64, 1)], [(32, 2)]]


def test_server_reports_an_error_to_the_parts_it_concerns() -> None:
    batcher = _Batcher(Worked(), enough=100, patience=0.0)
    wrong, right = (1, [part(32, 1), part(512, 3)]), (1, [part(32, 1)])
    assert answers(batcher, wrong, right) == [["32:1", "error: too wide"], ["32:1"]]


def packed(*texts: str) -> Sentences:
    sentences = [Tokenized(text, tokenize(text)) for text in texts]
    pieces = load_word_pieces()([[token.text for token in each.tokens] for each in sentences])
    return Sentences.of(sentences, pieces, 32)


def test_server_packed_sentences_can_be_selected_again() -> None:
    short, long = packed("It rained."), packed("Ann, who was born in Leeds, paints.", "He left.")
    together = Sentences.together([short, long])
    assert (len(together), together.words, short.words) == (3, 10, 3)
    assert np.array_equal(together.some(slice(1, 3)).pieces, long.pieces)
    assert np.array_equal(together.first[0], [*short.first[0], *[0] * 7])
    scores = {"upos": np.arange(30).reshape(3, 10), "arcs": np.arange(330).reshape(3, 10, 11)}
    own = part_of_scores(scores, slice(0, 1), short.words)
    assert own["upos"].tolist() == [[0, 1, 2]]
    assert own["arcs"].tolist() == [[[0, 1, 2, 3], [11, 12, 13, 14], [22, 23, 24, 25]]]


def test_server_trees_of_a_recorded_run_have_no_more_words_than_there_are(
    models: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    trees: DeviceTrees = models.trees
    sentences = packed("It rained.", "Ann left early.")
    wanted = trees(sentences)
    recorded = _Run(trees.graph, 4, 32, words=32)
    recorded(packed("Bob, a poet, slept.", "He left.", "She stayed, though."))  # what stood there
    recorded.record(None)
    monkeypatch.setattr(trees, "_runner", lambda sentences: recorded)
    found = trees(sentences)
    for name, array in wanted.items():
        assert found[name].shape == array.shape
        assert np.allclose(found[name], array, atol=1e-3), name


def test_server_trees_of_many_sentences_are_found_in_several_runs(
    models: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    trees: DeviceTrees = models.trees
    sentences = packed("It rained.", "Ann left early.", "Bob, a poet, slept.")
    at_once = trees(sentences)
    monkeypatch.setattr("parataxis.run.gpu.models.PIECES", 64)  # two sentences
    cut = trees(sentences)
    assert cut.keys() == at_once.keys()
    for name, array in at_once.items():
        assert np.allclose(array, cut[name], atol=1e-4), name
