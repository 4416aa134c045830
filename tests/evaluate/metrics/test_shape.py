"""Counts of sentences, tokens and copies, by hand."""

import math

import pytest

from parataxis.errors import ParataxisError
from parataxis.evaluate.metrics import shape
from parataxis.evaluate.metrics.protocol import Metric, ScoredItem, score

pytest.importorskip("sacrebleu", reason="needs the extra [metrics]")

SPLIT = ScoredItem(
    "Ann , who sang , left .",
    ("Ann left .", "Ann really sang ."),
    (("Ann left .", "She sang ."), ("Ann left . Ann really sang .",)),
)
WHOLE = ScoredItem("It rained hard all day .", ("It rained hard all day .",), (("It rained .",),))


@pytest.mark.parametrize(
    ("metric", "expected"),
    [
        (shape.SentencesPerSource(), 3 / 2),
        (shape.Unsplit(), 50),
        # 3 + 4 tokens, and 6.
        (shape.TokensPerSentence(), 13 / 3),
        (shape.TokensPerSentenceMacro(), (7 / 2 + 6) / 2),
        (shape.TokensPerSource(), 13 / 2),
        (shape.Compression(), 13 / (7 + 6)),
        # Of Ann left . Ann really sang . only "really" is not in the source.
        (shape.Copied(), 100 * 12 / 13),
        # A second Ann, a second full stop, "really".
        (shape.Additions(), 100 * 3 / 13),
        # Two commas and "who".
        (shape.Deletions(), 100 * 3 / 13),
        (shape.Unchanged(), 50),
        # The first rewrite is the second reference, however its sentences are cut.
        (shape.ExactMatch(), 50),
    ],
    ids=lambda value: getattr(value, "name", None),
)
def test_shape_has_the_value_worked_out_by_hand(metric: Metric, expected: float) -> None:
    found = score(metric, [SPLIT, WHOLE])
    assert found.value == pytest.approx(expected)
    again = metric.from_statistics(metric.statistics([WHOLE, SPLIT]).sum(axis=0))
    assert again.value == pytest.approx(expected)


def test_shape_micro_and_macro_average_differ() -> None:
    # As in table 6 of the 2019 report: one long sentence weighs more in the macro average.
    items = [ScoredItem("s", ("a b c d e f g h",)), ScoredItem("s", ("a b", "a b", "a b"))]
    assert score(shape.TokensPerSentence(), items).value == pytest.approx(14 / 4)
    assert score(shape.TokensPerSentenceMacro(), items).value == pytest.approx((8 + 2) / 2)


def test_shape_counts_tokens_whether_or_not_a_text_was_tokenised() -> None:
    plain, cut = (
        ScoredItem("s", ("It rained, and rained.",)),
        ScoredItem("s", ("It rained , and rained .",)),
    )
    assert score(shape.TokensPerSentence(), [plain]).value == 6
    assert score(shape.TokensPerSentence(), [cut]).value == 6
    assert score(shape.TokensPerSentence2019(), [plain]).value == 4
    assert score(shape.TokensPerSentence2019(), [cut]).value == 6
    assert (
        str(shape.TokensPerSentence().signature)
        == "tokens-per-sentence|average:micro|tok:13a|brackets:plain"
    )
    assert str(shape.TokensPerSentence2019().signature) == (
        "tokens-per-sentence-2019|average:macro|tok:spaces|brackets:plain"
    )
    with pytest.raises(ParataxisError, match='no tokenisation "moses"'):
        shape.Compression(tokenize="moses")


def test_shape_unchanged_reads_capitals_and_copied_does_not() -> None:
    item = ScoredItem("Ann left.", ("ann left.",))
    assert score(shape.Unchanged(), [item]).value == 0
    assert score(shape.Copied(), [item]).value == 100


def test_shape_of_nothing_is_not_a_number() -> None:
    assert math.isnan(score(shape.Copied(), [ScoredItem("a", ("",))]).value)
