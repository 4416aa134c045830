"""Meta-evaluation: how far metrics agree with people (Zhang et al. 2020, table 4).

A metric gives each judged rewrite a score from its own row; the correlation is taken over
rewrites, or over systems by their means.
"""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

import numpy as np
from numpy.typing import NDArray

from parataxis.errors import InputError, ParataxisError
from parataxis.metrics.protocol import Metric
from parataxis.metrics.scoring import statistics_of
from parataxis.reports.judgements import Judged

__all__ = ["Coefficient", "Correlation", "Level", "coefficient", "correlate"]

Scores = NDArray[np.float64]

FEWEST = 5
"""With fewer pairs no correlation is given."""


class Coefficient(StrEnum):
    """Which correlation."""

    SPEARMAN = "spearman"
    KENDALL = "kendall"
    PEARSON = "pearson"


class Level(StrEnum):
    """What is correlated: single rewrites, or the means of systems."""

    REWRITE = "rewrite"
    SYSTEM = "system"


@dataclass(frozen=True, slots=True)
class Correlation:
    """A coefficient between a metric and a criterion in a group of judged rewrites.

    ``low`` and ``high`` bound its 95 % confidence interval. The value is NaN where there are too
    few pairs or one side does not vary.
    """

    metric: str
    criterion: str
    group: str
    value: float
    p_value: float
    low: float
    high: float
    pairs: int

    @property
    def is_significant(self) -> bool:
        """Whether chance gives as much less often than once in twenty."""
        return self.p_value < 0.05


def correlate(
    judged: Sequence[Judged],
    metrics: Sequence[Metric],
    *,
    kind: Coefficient = Coefficient.SPEARMAN,
    level: Level = Level.REWRITE,
    by: Sequence[str] = (),
) -> list[Correlation]:
    """Every metric with every criterion: over all rewrites, and within each group.

    ``by`` names what groups are made of: "system", "benchmark", or both for each combination.
    """
    if not judged:
        raise InputError("There are no judged rewrites.")
    scores = _scores(metrics, judged)
    criteria = list(judged[0].judgements)
    people = {
        name: np.array([each.judgements[name] for each in judged], dtype=np.float64)
        for name in criteria
    }
    found = []
    for group, rows in _groups(judged, by):
        for metric, said in scores.items():
            for criterion, opinion in people.items():
                pairs = (said[rows], opinion[rows])
                if level is Level.SYSTEM:
                    pairs = _means(pairs, [judged[row].system for row in rows])
                found.append(Correlation(metric, criterion, group, *coefficient(*pairs, kind)))
    return found


def _scores(metrics: Sequence[Metric], judged: Sequence[Judged]) -> dict[str, Scores]:
    """The score of each rewrite on its own, by every metric."""
    for metric in metrics:
        if metric.needs_references and not all(each.item.references for each in judged):
            raise InputError(f"The metric {metric.name} needs a reference for every judged source.")
    rows = statistics_of(metrics, (each.item for each in judged))
    return {
        metric.name: np.array([metric.from_statistics(row).value for row in found])
        for metric, found in zip(metrics, rows, strict=True)
    }


def _groups(judged: Sequence[Judged], by: Sequence[str]) -> Iterable[tuple[str, NDArray[np.int64]]]:
    yield "all", np.arange(len(judged))
    if not by:
        return
    names = [" ".join(str(getattr(each, part)) for part in by) for each in judged]
    for name in dict.fromkeys(names):
        yield name, np.array([row for row, other in enumerate(names) if other == name])


def _means(pairs: tuple[Scores, Scores], systems: Sequence[str]) -> tuple[Scores, Scores]:
    _, index = np.unique(systems, return_inverse=True)
    counts = np.bincount(index)
    first, second = (np.bincount(index, weights=side) / counts for side in pairs)
    return first, second


def coefficient(
    first: Scores, second: Scores, kind: Coefficient
) -> tuple[float, float, float, float, int]:
    """The value, its p-value, its interval and the number of pairs."""
    known = ~(np.isnan(first) | np.isnan(second))
    first, second = first[known], second[known]
    pairs = len(first)
    if pairs < FEWEST or np.ptp(first) == 0 or np.ptp(second) == 0:
        return math.nan, math.nan, math.nan, math.nan, pairs
    found = _functions()[kind](first, second)
    value, p_value = float(found.statistic), float(found.pvalue)
    return value, p_value, *_interval(value, pairs, kind), pairs


def _interval(value: float, pairs: int, kind: Coefficient) -> tuple[float, float]:
    """The interval on Fisher's scale; the variances for ranks are those of Bonett and Wright
    (2000) and Fieller et al. (1957)."""
    variances = {
        Coefficient.PEARSON: 1 / (pairs - 3),
        Coefficient.SPEARMAN: (1 + value**2 / 2) / (pairs - 3),
        Coefficient.KENDALL: 0.437 / (pairs - 4),
    }
    centre = math.atanh(max(-0.999999, min(0.999999, value)))
    reach = 1.959964 * math.sqrt(variances[kind])
    return math.tanh(centre - reach), math.tanh(centre + reach)


def _functions() -> Mapping[Coefficient, Callable[..., Any]]:
    try:
        from scipy import stats
    except ImportError as error:
        raise ParataxisError(
            "Correlations need scipy; install it with: pip install 'parataxis[metrics]'."
        ) from error
    return {
        Coefficient.SPEARMAN: stats.spearmanr,
        Coefficient.KENDALL: stats.kendalltau,
        Coefficient.PEARSON: stats.pearsonr,
    }
