"""The ranker: reading rewrites as a tree, and what the shipped model prefers."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from parataxis.checks.ranker import (
    END_MARK,
    NEXT_MARK,
    SHIPPED,
    load_ranker,
    prefix_tree,
    read,
    rewrite_pieces,
)
from parataxis.errors import InputError
from parataxis.syntax.wordpieces import SHAPES

MILL = "The mill, which was built in 1800, burned down."
GOOD = ["The mill burned down.", "It was built in 1800."]
WRONG = ["The mill burned down.", "They were built in 1800."]
_SEQUENCES = st.lists(st.lists(st.integers(0, 3), min_size=1, max_size=6), min_size=1, max_size=6)


@given(_SEQUENCES)
def test_prefix_tree_gives_every_sequence_back(sequences: list[list[int]]) -> None:
    tree = prefix_tree(sequences)
    sees = tree.sees()
    assert len(tree) == len({tuple(s[:n]) for s in sequences for n in range(1, len(s) + 1)})
    for sequence, path in zip(sequences, tree.paths, strict=True):
        assert tree.tokens[path].tolist() == sequence
        assert tree.depth[path].tolist() == list(range(len(sequence)))
        for place, node in enumerate(path):
            assert np.flatnonzero(sees[node]).tolist() == path[: place + 1].tolist()


def test_rewrite_pieces_mark_the_ends() -> None:
    codes, ends = rewrite_pieces(["Kaguya left.", "..."])
    pieces = [code // len(SHAPES) for code in codes]
    assert pieces[ends[0][-1]] == NEXT_MARK
    assert pieces[-1] == END_MARK
    assert ends == [[2, 3, 4, 5], [8, 9]]  # "Kaguya" has three pieces, "..." has three


def test_read_hides_the_rewrites_from_the_source() -> None:
    reading = read(MILL, [GOOD, WRONG])
    unseen = reading.unseen()
    assert (unseen[: reading.source, : reading.source] == 0).all()
    assert (unseen[: reading.source, reading.source :] < 0).all()
    assert (unseen[reading.source :, : reading.source] == 0).all()


def test_ranker_file_is_small() -> None:
    assert SHIPPED.stat().st_size < 25_000_000


def test_ranker_scores_do_not_depend_on_other_rewrites() -> None:
    ranker = load_ranker()
    together = ranker(MILL, [GOOD, WRONG, [MILL]])
    alone = [ranker(MILL, [each])[0] for each in (GOOD, WRONG, [MILL])]
    assert together == pytest.approx(alone, abs=0.05)
    assert together.tobytes() == ranker(MILL, [GOOD, WRONG, [MILL]]).tobytes()


@pytest.mark.parametrize(
    ("source", "better", "worse"),
    [
        (MILL, GOOD, WRONG),
        (MILL, GOOD, ["The mill was built in 1800."]),
        (
            "The Buyer shall pay the price, and the Seller may keep the deposit.",
            ["The Buyer shall pay the price.", "The Seller may keep the deposit."],
            ["The Buyer may pay the price.", "The Seller shall keep the deposit."],
        ),
        (
            "The fund pays all losses unless they are caused by fraud, and the bank repays it.",
            ["The fund pays all losses unless they are caused by fraud.", "The bank repays it."],
            [
                "The fund pays all losses unless the fund is caused by fraud.",
                "The bank repays it.",
            ],
        ),
        ("He lives in York.", ["He lives in York."], ["He lives.", "It is in York."]),
    ],
)
def test_ranker_prefers(source: str, better: list[str], worse: list[str]) -> None:
    first, second = load_ranker()(source, [better, worse])
    assert first > second + 1


def test_ranker_refuses_a_rewrite_without_sentences() -> None:
    assert load_ranker()(MILL, []).shape == (0,)
    with pytest.raises(InputError, match="at least one"):
        load_ranker()(MILL, [GOOD, []])
    assert np.isfinite(load_ranker()("", [["", "..."], ["word " * 600]])).all()
