"""Reliability of the crowd: buckets, samples, posteriors and their bounds."""

import pytest

from parataxis.errors import InputError
from parataxis.studies.agreement import Bucket, Posterior, buckets, posteriors, sample
from parataxis.studies.records import Rating


def rated(item: str, *votes: bool | None, rater: str = "r") -> list[Rating]:
    return [
        Rating(item=item, rater=f"{rater}{n}", rubric="x", answers={}, outcomes={"correct": vote})
        for n, vote in enumerate(votes)
    ]


def test_buckets_count_those_who_said_something() -> None:
    crowd = [*rated("a", True, True, False), *rated("b", None, False)]
    assert buckets(crowd, "correct") == {"a": Bucket(2, 3), "b": Bucket(0, 1)}


def test_sample_takes_so_many_of_each_bucket_of_each_group() -> None:
    found = {f"{group}{n}": Bucket(n % 4, 3) for group in "pq" for n in range(40)}
    groups = {item: item[0] for item in found}
    drawn = sample(found, groups, 2)
    assert len(drawn) == len(set(drawn)) == 2 * 4 * 2
    assert sorted(drawn) != drawn
    assert drawn == sample(found, groups, 2)
    assert all(sum(found[i] == Bucket(b, 3) for i in drawn) == 4 for b in range(4))


def test_posteriors_by_bucket() -> None:
    crowd = [*rated("a", True, True), *rated("b", True, True), *rated("c", False, False)]
    expert = [*rated("a", True), *rated("b", False), *rated("c", False), *rated("d", True)]
    assert posteriors(crowd, expert, "correct") == [
        Posterior(Bucket(0, 2), 0, 1),
        Posterior(Bucket(2, 2), 1, 1),
    ]
    with pytest.raises(InputError, match="rated nothing that the crowd has rated"):
        posteriors(crowd, rated("z", True), "correct")


def test_posterior_bounds_are_those_of_the_beta_distribution() -> None:
    pytest.importorskip("scipy", reason="needs the extra [metrics]")
    # The Beta(n + 1, 1) of n agreements and no disagreement has the distribution x ** (n + 1).
    all_agree = Posterior(Bucket(3, 3), 16, 0)
    assert all_agree.at_least() == pytest.approx(0.1 ** (1 / 17))
    assert Posterior(Bucket(0, 3), 0, 16).at_most() == pytest.approx(1 - 0.1 ** (1 / 17))
    assert all_agree.mean == pytest.approx(17 / 18)
