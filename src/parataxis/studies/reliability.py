"""How far the crowd can be trusted: an expert rates a sample of what the crowd rated.

The method of Zhang et al. (2020), §6: rewrites fall into buckets by how many of their raters said
*correct*; an expert rates a few of each; a Beta posterior with Laplace's prior says how often the
expert would agree.
"""

import random
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from parataxis.errors import InputError, ParataxisError
from parataxis.studies.records import Rating

__all__ = ["Bucket", "Posterior", "buckets", "posteriors", "sample"]


class Bucket(NamedTuple):
    """So many of so many raters said yes."""

    yes: int
    raters: int


@dataclass(frozen=True)
class Posterior:
    """What is known about how often the expert says yes in a bucket: a Beta distribution."""

    bucket: Bucket
    yes: int
    no: int

    @property
    def mean(self) -> float:
        """The expected share."""
        return (self.yes + 1) / (self.yes + self.no + 2)

    def at_least(self, confidence: float = 0.9) -> float:
        """The share that is exceeded with this confidence."""
        return float(_beta(self).ppf(1 - confidence))

    def at_most(self, confidence: float = 0.9) -> float:
        """The share that is not reached with this confidence."""
        return float(_beta(self).ppf(confidence))

    def density(self, shares: NDArray[np.float64]) -> NDArray[np.float64]:
        """The curve of figure 1."""
        return np.asarray(_beta(self).pdf(shares), np.float64)


def _beta(posterior: Posterior) -> Any:
    try:
        from scipy.stats import beta
    except ImportError as error:
        raise ParataxisError(
            "Reliability needs scipy; install it with: pip install 'parataxis[metrics]'."
        ) from error
    return beta(posterior.yes + 1, posterior.no + 1)


def buckets(ratings: Iterable[Rating], outcome: str) -> dict[str, Bucket]:
    """The bucket of each item: how many of those who rated it gave the outcome."""
    votes: dict[str, list[bool]] = defaultdict(list)
    for rating in ratings:
        value = rating.outcomes.get(outcome)
        if isinstance(value, bool):
            votes[rating.item].append(value)
    return {item: Bucket(sum(given), len(given)) for item, given in votes.items()}


def sample(
    found: Mapping[str, Bucket], groups: Mapping[str, str], each: int, *, seed: int = 1
) -> list[str]:
    """So many items of each bucket in each group (a system on a benchmark), drawn by chance and
    shuffled; all of a bucket that has no more."""
    cells: dict[tuple[str, Bucket], list[str]] = defaultdict(list)
    for item in sorted(found):
        cells[groups[item], found[item]].append(item)
    chance = random.Random(seed)
    drawn = [
        item
        for cell in sorted(cells)
        for item in chance.sample(cells[cell], min(each, len(cells[cell])))
    ]
    chance.shuffle(drawn)
    return drawn


def posteriors(crowd: Iterable[Rating], expert: Sequence[Rating], outcome: str) -> list[Posterior]:
    """The posterior of each bucket that the expert rated something of, from few to many.

    >>> def rating(item, rater, yes):
    ...     return Rating(item=item, rater=rater, rubric="r", answers={}, outcomes={"correct": yes})
    >>> crowd = [rating("a", "ann", True), rating("a", "bob", True), rating("b", "ann", False)]
    >>> [(p.bucket, p.yes, p.no) for p in posteriors(crowd, [rating("a", "eve", True)], "correct")]
    [(Bucket(yes=2, raters=2), 1, 0)]
    """
    found = buckets(crowd, outcome)
    votes: dict[Bucket, list[bool]] = defaultdict(list)
    for rating in expert:
        value = rating.outcomes.get(outcome)
        if rating.item in found and isinstance(value, bool):
            votes[found[rating.item]].append(value)
    if not votes:
        raise InputError("The expert has rated nothing that the crowd has rated.")
    return [
        Posterior(bucket, sum(given), len(given) - sum(given))
        for bucket, given in sorted(votes.items(), key=lambda pair: (pair[0].raters, pair[0].yes))
    ]
