"""BLEU against numbers worked out by hand."""

import math
import sys

import pytest

from parataxis.errors import ParataxisError
from parataxis.evaluate.metrics import corpus_bleu

SPLIT = "Ann sang in the hall. Bob left the house."
WHOLE = "Ann sang in the hall, and Bob left the house."


@pytest.fixture
def _sacrebleu() -> None:
    pytest.importorskip("sacrebleu", reason="needs the extra [metrics]")


@pytest.mark.usefixtures("_sacrebleu")
@pytest.mark.parametrize(
    ("rewrites", "references", "expected"),
    [
        ([SPLIT], [[SPLIT]], 100.0),
        ([SPLIT, WHOLE], [[WHOLE, SPLIT], [WHOLE]], 100.0),
        # Of 5, 4, 3 and 2 n-grams 4, 3, 2 and 1 are right; as long as the reference.
        (
            ["Ann sang in the hall"],
            [["Ann sang in the house"]],
            (4 * 3 * 2 / 5 / 4 / 3 / 2) ** 0.25,
        ),
        # All n-grams are right, and 5 tokens stand for 6.
        (["Ann sang in the hall"], [["Ann sang in the hall."]], math.exp(1 - 6 / 5)),
        # Counts are added up over the corpus: 9 of 10, 7 of 8, 5 of 6 and 3 of 4.
        (
            ["Ann sang in the hall.", "Bob left the house"],
            [["Ann sang in the hall."], ["Ann left the house"]],
            (9 * 7 * 5 * 3 / 10 / 8 / 6 / 4) ** 0.25,
        ),
    ],
)
def test_bleu_has_the_value_worked_out_by_hand(
    rewrites: list[str], references: list[list[str]], expected: float
) -> None:
    expected = expected if expected == 100 else 100 * expected
    assert corpus_bleu(rewrites, references) == pytest.approx(expected)


@pytest.mark.usefixtures("_sacrebleu")
def test_bleu_counts_capitals_unless_told_otherwise() -> None:
    assert corpus_bleu([SPLIT.lower()], [[SPLIT]]) < 70
    assert corpus_bleu([SPLIT.lower()], [[SPLIT]], lowercase=True) == pytest.approx(100)


@pytest.mark.parametrize(
    ("rewrites", "references"), [([], []), ([SPLIT], []), ([SPLIT], [[]]), ([], [[SPLIT]])]
)
def test_bleu_refuses_rewrites_without_references(
    rewrites: list[str], references: list[list[str]]
) -> None:
    with pytest.raises(ValueError, match="rewrite"):
        corpus_bleu(rewrites, references)


def test_bleu_names_the_extra_that_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "sacrebleu.metrics.bleu", None)
    with pytest.raises(ParataxisError, match=r"pip install 'parataxis\[metrics\]'"):
        corpus_bleu([SPLIT], [[SPLIT]])
