"""Agreement of raters: Krippendorff's alpha, pairwise agreement, each rater against the rest, and
reliability compared with an expert.

Krippendorff (2011), *Computing Krippendorff's alpha-reliability*. Ratings may be missing; items
with a single rating are left out.
"""

import random
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import combinations
from statistics import fmean
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from parataxis.errors import InputError, needs
from parataxis.studies.records import Rating

Table = Mapping[str, Mapping[str, float]]
"""Values by item and rater; yes and no are 1 and 0."""

Numbers = NDArray[np.float64]


class MeasurementLevel(StrEnum):
    """The level of measurement, which defines the distance of two values."""

    NOMINAL = "nominal"
    """Equal or not."""
    ORDINAL = "ordinal"
    """The number of ratings between them."""
    INTERVAL = "interval"
    """The square of their difference."""


@dataclass(frozen=True)
class Alpha:
    """Krippendorff's alpha: 1 is perfect agreement, 0 is chance level.

    If it is undefined, ``value`` is None and ``reason`` says why. ``low`` and ``high`` are its
    95 % bootstrap interval over items, if requested.
    """

    value: float | None
    items: int
    """Items with at least two ratings."""
    ratings: int
    reason: str | None = None
    low: float | None = None
    high: float | None = None


def alpha(table: Table, level: MeasurementLevel, *, trials: int = 0, seed: int = 1) -> Alpha:
    """Krippendorff's alpha of ratings, with an interval from so many bootstrap trials.

    >>> votes = {"a": {"ann": 1, "bob": 1}, "b": {"ann": 0, "bob": 0}, "c": {"ann": 1}}
    >>> alpha(votes, MeasurementLevel.NOMINAL)
    Alpha(value=1.0, items=2, ratings=4, reason=None, low=None, high=None)
    """
    units = [list(row.values()) for row in table.values() if len(row) > 1]
    ratings = sum(map(len, units))
    if not units:
        return Alpha(None, 0, 0, "no item was rated by two people")
    values = sorted({value for unit in units for value in unit})
    if len(values) == 1:
        reason = f"all {ratings} ratings are the same, so that chance would agree as well"
        return Alpha(None, len(units), ratings, reason)
    counts = np.array([[unit.count(value) for value in values] for unit in units], np.float64)
    numbers, low, high = np.array(values, np.float64), None, None
    if trials:
        chance = np.random.default_rng(seed)
        draws = (chance.integers(0, len(counts), len(counts)) for _ in range(trials))
        sampled = np.array([_alpha(counts[draw], numbers, level) for draw in draws])
        if np.isfinite(sampled).any():
            low, high = map(float, np.percentile(sampled[np.isfinite(sampled)], [2.5, 97.5]))
    return Alpha(_alpha(counts, numbers, level), len(units), ratings, None, low, high)


def _alpha(counts: Numbers, values: Numbers, level: MeasurementLevel) -> float:
    """One minus the ratio of the disagreement within items to that among all ratings."""
    sizes = counts.sum(1)
    within = (counts.T / (sizes - 1)) @ counts - np.diag((counts.T / (sizes - 1)).sum(1))
    totals = within.sum(1)
    apart = 1.0 - np.eye(len(values))
    if level is not MeasurementLevel.NOMINAL:
        is_ordinal = level is MeasurementLevel.ORDINAL
        points = totals.cumsum() - totals / 2 if is_ordinal else values
        apart = (points[:, None] - points) ** 2
    among = (np.outer(totals, totals) - np.diag(totals)) / (totals.sum() - 1)
    expected = float((among * apart).sum())
    return 1.0 - float((within * apart).sum()) / expected if expected else float("nan")


def pairwise(table: Table) -> tuple[float | None, int]:
    """The share of pairs of ratings of one item that are equal, and the number of pairs."""
    equal = pairs = 0
    for row in table.values():
        for one, other in combinations(row.values(), 2):
            pairs += 1
            equal += one == other
    return (equal / pairs if pairs else None), pairs


@dataclass(frozen=True)
class RaterAgreement:
    """One rater compared with all others who rated the same items."""

    rater: str
    items: int
    """Items that somebody else rated, too."""
    agreement: float | None
    """The share of pairs with another rater's rating that are equal; None without pairs."""
    difference: float | None
    """The mean difference from the others' mean rating."""


def raters_against_rest(table: Table) -> list[RaterAgreement]:
    """Each rater against the rest; those who agree least come first."""
    shares: dict[str, list[bool]] = defaultdict(list)
    gaps: dict[str, list[float]] = defaultdict(list)
    for row in table.values():
        for rater, value in row.items():
            others = [other for name, other in row.items() if name != rater]
            shares[rater] += [value == other for other in others]
            gaps[rater] += [value - fmean(others)] if others else []
    found = [
        RaterAgreement(
            rater,
            len(gaps[rater]),
            fmean(equal) if equal else None,
            fmean(gaps[rater]) if equal else None,
        )
        for rater, equal in shares.items()
    ]
    return sorted(found, key=lambda one: (one.agreement is None, one.agreement or 0.0, one.rater))


class Bucket(NamedTuple):
    """How many of how many raters said yes.

    Reliability is estimated as in Zhang et al. (2020), §6: rewrites fall into buckets by how many
    of their raters said *correct*. An expert rates a few of each bucket, and a Beta posterior with
    Laplace's prior estimates how often the expert agrees.
    """

    yes: int
    raters: int


@dataclass(frozen=True)
class Posterior:
    """The Beta distribution of how often the expert says yes in a bucket."""

    bucket: Bucket
    yes: int
    no: int

    @property
    def mean(self) -> float:
        return (self.yes + 1) / (self.yes + self.no + 2)

    def at_least(self, confidence: float = 0.9) -> float:
        """The lower bound of the share with this confidence."""
        return float(_beta(self).ppf(1 - confidence))

    def at_most(self, confidence: float = 0.9) -> float:
        """The upper bound of the share with this confidence."""
        return float(_beta(self).ppf(confidence))

    def density(self, shares: NDArray[np.float64]) -> NDArray[np.float64]:
        """The density, as in figure 1."""
        return np.asarray(_beta(self).pdf(shares), np.float64)


def _beta(posterior: Posterior) -> Any:
    with needs("Reliability needs scipy", "metrics"):
        from scipy.stats import beta
    return beta(posterior.yes + 1, posterior.no + 1)


def buckets(ratings: Iterable[Rating], outcome: str) -> dict[str, Bucket]:
    """The bucket of each item: how many of its raters gave the outcome."""
    votes: dict[str, list[bool]] = defaultdict(list)
    for rating in ratings:
        value = rating.outcomes.get(outcome)
        if isinstance(value, bool):
            votes[rating.item].append(value)
    return {item: Bucket(sum(given), len(given)) for item, given in votes.items()}


def sample(
    found: Mapping[str, Bucket], groups: Mapping[str, str], each: int, *, seed: int = 1
) -> list[str]:
    """Draw so many items from each bucket in each group (a system on a benchmark), or all if there
    are fewer, in random order."""
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
    """The posterior of each bucket from which the expert rated something.

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
