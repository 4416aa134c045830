"""The verifier: reading rewrites as a tree, and what the shipped model prefers."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from parataxis.checks.verifier import (
    END_MARK,
    MODEL,
    NEXT_MARK,
    OUTPUTS,
    Verifier,
    load_verifier,
    prefix_tree,
    read,
    rewrite_pieces,
)
from parataxis.errors import InputError
from parataxis.rewrite.record import Level
from parataxis.syntax.onnx import Arrays, shipped_folder
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


def test_read_opens_the_source_with_its_level() -> None:
    plain, atomic = (
        read("It rained.", [["It rained."]], level) for level in (Level.PLAIN, Level.ATOMIC)
    )
    assert (plain.pieces != atomic.pieces).tolist() == [True] + [False] * (len(plain.pieces) - 1)


def test_verifier_file_is_small() -> None:
    assert (shipped_folder("verifier") / MODEL).stat().st_size < 25_000_000


def test_verifier_scores_do_not_depend_on_other_rewrites() -> None:
    verifier = load_verifier()
    together = verifier(MILL, [GOOD, WRONG, [MILL]])
    alone = [verifier(MILL, [each])[0] for each in (GOOD, WRONG, [MILL])]
    for one, other in zip(together, alone, strict=True):
        assert one.score == pytest.approx(other.score, abs=0.05)
        assert one.faults == pytest.approx(other.faults, abs=0.01)
    again = verifier(MILL, [GOOD, WRONG, [MILL]])
    assert [each.score for each in together] == [each.score for each in again]


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
def test_verifier_prefers(source: str, better: list[str], worse: list[str]) -> None:
    first, second = load_verifier()(source, [better, worse])
    assert first.score > second.score + 1


@pytest.mark.parametrize(
    ("source", "good", "bad", "place"),
    [
        (
            "The Buyer shall pay the price, and the Seller may keep the deposit.",
            ["The Buyer shall pay the price.", "The Seller may keep the deposit."],
            ["The Buyer shall pay the price.", "The Seller shall keep the deposit."],
            1,
        ),
        (
            "If it rains, the match will be cancelled, and the tickets will be refunded.",
            ["If it rains, the match will be cancelled.", "The tickets will then be refunded."],
            ["The match will be cancelled.", "The tickets will then be refunded."],
            0,
        ),
        (
            "The mayor said that the bridge, which cost 5 million, was safe.",
            ["The mayor said that the bridge was safe.", "The bridge cost 5 million."],
            ["The bridge was safe.", "The bridge cost 5 million."],
            0,
        ),
    ],
)
def test_verifier_finds_the_faulty_sentence(
    source: str, good: list[str], bad: list[str], place: int
) -> None:
    right, wrong = load_verifier()(source, [good, bad])
    assert wrong.risk > right.risk + 0.2
    assert wrong.worst()[0] == place


def test_verifier_refuses_a_rewrite_without_sentences() -> None:
    assert load_verifier()(MILL, []) == []
    with pytest.raises(InputError, match="at least one"):
        load_verifier()(MILL, [GOOD, []])
    odd = load_verifier()("", [["", "..."], ["word " * 600]])
    assert all(np.isfinite(each.score) and np.isfinite(each.faults).all() for each in odd)


def test_verifier_refuses_weights_of_an_older_version() -> None:
    def older(inputs: Arrays) -> dict[str, NDArray[np.float64]]:
        shape = inputs["pieces"].shape
        return {"scores": np.zeros(shape), "faults": np.zeros((*shape, OUTPUTS - 1))}

    with pytest.raises(InputError, match="use the one in this package"):
        Verifier(older)(MILL, [GOOD])
