"""The verifier as a metric: it prefers what a careful reader prefers."""

import math

from parataxis.checks.verifier import MOST_PIECES
from parataxis.evaluate.metrics.protocol import ScoredItem, score
from parataxis.evaluate.metrics.registry import load_metric
from parataxis.evaluate.metrics.verified import Verified

SOURCE = "The mill, which had closed in May, reopened in June after a long strike."
GOOD = ("The mill reopened in June after a long strike.", "It had closed in May.")
WRONG = ("The mill reopened in May after a long strike.", "The strike had closed in June.")
WORSE = ("The mill had closed in May.", "The strike reopened the mill in June.")
FUTURE = ("The mill will reopen in June after a long strike.", "It had closed in May.")


def test_verified_prefers_a_correct_rewrite() -> None:
    metric = load_metric("verified")
    good, wrong = (score(metric, [ScoredItem(SOURCE, simple)]).value for simple in (GOOD, WRONG))
    assert good > 90
    assert wrong < 10
    for simple, most in ((WORSE, 20), (FUTURE, 10)):
        assert score(metric, [ScoredItem(SOURCE, simple)]).value < most
    both = score(metric, [ScoredItem(SOURCE, GOOD), ScoredItem(SOURCE, WRONG)]).value
    assert math.isclose(both, (good + wrong) / 2)


def test_verified_of_a_copy_is_high() -> None:
    assert score(Verified(), [ScoredItem(SOURCE, (SOURCE,))]).value > 95


def test_verified_leaves_out_what_is_too_long() -> None:
    long = "word " * MOST_PIECES
    assert math.isnan(score(Verified(), [ScoredItem(long, (long,))]).value)
