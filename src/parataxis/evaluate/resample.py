"""Bootstrap intervals of scores, and randomisation tests between systems.

A metric is a function of summed rows (:mod:`parataxis.evaluate.metrics.protocol`), so a resampled
corpus is a weighted sum of rows that exist already, and all systems are resampled alike.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from parataxis.evaluate.metrics.protocol import Score, Statistics

Scores = NDArray[np.float64]
"""A score for each resampled corpus."""

_CHUNK = 100
"""Trials that are held at once."""


class Scorer(Protocol):
    """A metric, or any other score of summed rows, that can be resampled."""

    def from_statistics(self, total: Statistics) -> Score: ...


@dataclass(frozen=True, slots=True)
class Interval:
    """The range of a score, or of a difference, in 95 % of the resampled corpora."""

    low: float
    high: float

    @classmethod
    def of(cls, scores: Scores) -> "Interval":
        """The percentile interval; NaN where no resampled corpus has a score."""
        if np.isnan(scores).all():
            return cls(float("nan"), float("nan"))
        low, high = np.nanpercentile(scores, (2.5, 97.5))
        return cls(float(low), float(high))


@dataclass(frozen=True, slots=True)
class Resampler:
    """Draws the same resampled corpora, and the same swaps, for every metric and system: as many as
    ``trials``, so no p-value is below 1 / (trials + 1)."""

    trials: int = 1000
    seed: int = 1

    def difference(self, metric: Scorer, first: Statistics, second: Statistics) -> Interval:
        """The 95 % interval of the first score minus the second, both on the same resampled
        corpora (the paired bootstrap of Koehn 2004)."""
        return Interval.of(self.scores(metric, first) - self.scores(metric, second))

    def scores(self, metric: Scorer, rows: Statistics) -> Scores:
        """The score of every resampled corpus; they are the same corpora for all systems."""

        def draws(chance: np.random.Generator, count: int) -> Statistics:
            share = np.full(len(rows), 1 / len(rows))
            return chance.multinomial(len(rows), share, size=count).astype(np.float64)

        return self._values(metric, rows, draws, np.zeros(rows.shape[1]))

    def p_value(self, metric: Scorer, first: Statistics, second: Statistics) -> float:
        """The p-value of the difference between two systems by approximate randomisation (Riezler
        and Maxwell 2005), two-sided: the rewrites of a source are swapped between the systems with
        probability one half."""
        one, other = (metric.from_statistics(rows.sum(0)).value for rows in (first, second))
        observed = abs(one - other)
        if np.isnan(observed):
            return float("nan")

        def swaps(chance: np.random.Generator, count: int) -> Statistics:
            return chance.integers(0, 2, (count, len(first))).astype(np.float64)

        change = second - first
        ours = self._values(metric, change, swaps, first.sum(0))
        theirs = self._values(metric, -change, swaps, second.sum(0))
        # Sums in another order differ in the last digits, and equal systems must not. A swap that
        # leaves nothing to count is no evidence against chance.
        reached = ~(np.abs(ours - theirs) < observed - 1e-9)
        return float((reached.sum() + 1) / (self.trials + 1))

    def _values(
        self,
        metric: Scorer,
        rows: Statistics,
        draw: Callable[[np.random.Generator, int], Statistics],
        start: Statistics,
    ) -> Scores:
        chance = np.random.default_rng(self.seed)
        values: list[float] = []
        for begin in range(0, self.trials, _CHUNK):
            weights = draw(chance, min(_CHUNK, self.trials - begin))
            values += [metric.from_statistics(start + total).value for total in weights @ rows]
        return np.array(values)
