"""Meta-evaluation: how far metrics agree with people (Zhang et al. 2020, table 4).

A metric gives each judged rewrite a score from its own row; the correlation is taken over
rewrites, or over systems by their means.
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum

import numpy as np
from numpy.typing import NDArray

from parataxis.errors import InputError
from parataxis.metrics.protocol import Metric
from parataxis.metrics.scoring import statistics_of
from parataxis.reports.coefficients import Coefficient, Estimate, coefficient
from parataxis.reports.judgements import Judged
from parataxis.reports.tables import NONE

__all__ = ["Correlation", "Level", "correlate", "single_scores"]

Scores = NDArray[np.float64]


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

    def __str__(self) -> str:
        """The coefficient, with a dagger where it is not significant."""
        if math.isnan(self.value):
            return NONE
        return f"{self.value:.3f}{'' if self.is_significant else '†'}"


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
    Rewrites of one source belong together (see :mod:`parataxis.reports.coefficients`).
    """
    if not judged:
        raise InputError("There are no judged rewrites.")
    scores = single_scores(metrics, judged)
    criteria = dict.fromkeys(name for each in judged for name in each.judgements)
    people = {
        name: np.array([each.judgements.get(name, np.nan) for each in judged]) for name in criteria
    }
    return [
        Correlation(metric, criterion, group, *_estimate(said, opinion, judged, rows, kind, level))
        for group, rows in _groups(judged, by)
        for metric, said in scores.items()
        for criterion, opinion in people.items()
    ]


def single_scores(metrics: Sequence[Metric], judged: Sequence[Judged]) -> dict[str, Scores]:
    """The score of each rewrite on its own, by every metric."""
    for metric in metrics:
        if metric.needs_references and not all(each.item.references for each in judged):
            raise InputError(f"The metric {metric.name} needs a reference for every judged source.")
    rows = statistics_of(metrics, (each.item for each in judged))
    return {
        metric.name: np.array([metric.from_statistics(row).value for row in found])
        for metric, found in zip(metrics, rows, strict=True)
    }


def _estimate(
    said: Scores,
    opinion: Scores,
    judged: Sequence[Judged],
    rows: NDArray[np.int64],
    kind: Coefficient,
    level: Level,
) -> Estimate:
    rows = rows[~(np.isnan(said[rows]) | np.isnan(opinion[rows]))]
    if level is Level.SYSTEM:
        systems = [judged[row].system for row in rows]
        return coefficient(*_means(said[rows], opinion[rows], systems), kind)
    return coefficient(said[rows], opinion[rows], kind, [judged[row].item.source for row in rows])


def _groups(judged: Sequence[Judged], by: Sequence[str]) -> Iterable[tuple[str, NDArray[np.int64]]]:
    yield "all", np.arange(len(judged))
    if not by:
        return
    names = [" ".join(str(getattr(each, part)) for part in by) for each in judged]
    for name in dict.fromkeys(names):
        yield name, np.array([row for row, other in enumerate(names) if other == name])


def _means(first: Scores, second: Scores, systems: Sequence[str]) -> tuple[Scores, Scores]:
    _, index = np.unique(systems, return_inverse=True)
    counts = np.bincount(index)
    one, other = (np.bincount(index, weights=side) / counts for side in (first, second))
    return one, other
