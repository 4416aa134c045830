"""Intervals and tests, against cases whose answer is known."""

from collections.abc import Sequence

import numpy as np
import pytest

from parataxis.evaluate.metrics.protocol import Score, ScoredItem, Signature, Statistics
from parataxis.evaluate.resample import Interval, Resampler


class MeanWords:
    """Words of a rewrite on average: a metric that needs nothing."""

    name = "words"
    summary = "words of a rewrite"
    needs_references = False
    higher_is_better = True
    signature = Signature("words", {"average": "micro"})

    def statistics(self, items: Sequence[ScoredItem]) -> Statistics:
        return np.array([[len(item.text.split()), 1.0] for item in items])

    def from_statistics(self, total: Statistics) -> Score:
        return Score(float(total[0] / total[1]) if total[1] else float("nan"), self.signature)


def rows(*values: float) -> Statistics:
    return np.array([[value, 1.0] for value in values])


def test_interval_of_a_constant_has_no_width() -> None:
    found = Interval.of(Resampler(trials=50).scores(MeanWords(), rows(*[7.0] * 30)))
    assert (found.low, found.high) == (7.0, 7.0)


def test_interval_is_that_of_the_normal_approximation() -> None:
    sample = np.random.default_rng(0).normal(10, 2, 400)
    found = Interval.of(Resampler(trials=2000).scores(MeanWords(), rows(*sample)))
    error = 1.96 * sample.std() / np.sqrt(len(sample))
    assert found.low == pytest.approx(sample.mean() - error, abs=0.05)
    assert found.high == pytest.approx(sample.mean() + error, abs=0.05)


def test_interval_leaves_out_a_fortieth_on_either_side() -> None:
    found = Interval.of(np.arange(1001.0))
    assert (found.low, found.high) == (25.0, 975.0)


def test_difference_is_paired() -> None:
    base = np.random.default_rng(2).normal(50, 20, 80)  # sources differ much more than systems
    better = base + np.random.default_rng(3).normal(0.5, 0.5, 80)
    found = Resampler(trials=500).difference(MeanWords(), rows(*better), rows(*base))
    error = 1.96 * (better - base).std() / np.sqrt(80)
    assert found.low == pytest.approx((better - base).mean() - error, abs=0.03)
    assert found.high == pytest.approx((better - base).mean() + error, abs=0.03)


def test_interval_of_nothing_is_nan() -> None:
    found = Interval.of(Resampler(trials=10).scores(MeanWords(), np.zeros((4, 2))))
    assert np.isnan([found.low, found.high]).all()


def test_interval_depends_on_the_seed_alone() -> None:
    sample = rows(*range(40))
    found = [Interval.of(Resampler(100, seed).scores(MeanWords(), sample)) for seed in (3, 3, 4)]
    assert found[0] == found[1] != found[2]


def test_p_value_of_a_system_and_itself_is_one() -> None:
    sample = rows(*np.random.default_rng(1).normal(size=60))
    assert Resampler(trials=300).p_value(MeanWords(), sample, sample) == 1.0


def test_p_value_of_a_clear_difference_is_as_small_as_the_trials_allow() -> None:
    first = rows(*[5.0] * 40)
    assert (
        Resampler(trials=999).p_value(MeanWords(), first, first + np.array([1.0, 0.0])) == 1 / 1000
    )


def test_p_value_counts_a_swap_that_leaves_nothing_to_count() -> None:
    # Swapped, one of the systems has nothing: its score is NaN.
    first, second = np.array([[4.0, 2.0], [0.0, 0.0]]), np.array([[0.0, 0.0], [1.0, 1.0]])
    assert Resampler(trials=100).p_value(MeanWords(), first, second) == 1.0


def test_p_value_of_chance_is_spread_evenly() -> None:
    chance = np.random.default_rng(5)
    found = [
        Resampler(trials=200).p_value(
            MeanWords(), rows(*chance.normal(size=50)), rows(*chance.normal(size=50))
        )
        for _ in range(80)
    ]
    assert 0.35 < np.mean(found) < 0.65
    assert np.mean(np.array(found) < 0.05) < 0.15


def test_p_value_pairs_the_rewrites_of_one_source() -> None:
    base = np.random.default_rng(2).normal(50, 20, 80)  # sources differ much more than systems
    better = base + np.random.default_rng(3).normal(0.5, 0.5, 80)
    assert Resampler(trials=500).p_value(MeanWords(), rows(*base), rows(*better)) < 0.01
