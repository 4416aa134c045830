"""The sources from which a reader of a comparison learns most."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from parataxis.corpora.example import Example
from parataxis.metrics.protocol import Metric
from parataxis.reports.compare import REFERENCE, SOURCE, Comparison

__all__ = ["Instructive", "instructive"]


@dataclass(frozen=True, slots=True)
class Instructive:
    """A source, why it was chosen, and what every system made of it, with its score."""

    example: Example
    reason: str
    rewrites: Sequence[tuple[str, tuple[str, ...], float]]


def instructive(comparison: Comparison, metric: Metric, count: int = 12) -> list[Instructive]:
    """Sources on which the systems differ most by the metric, and those that all find hard.

    Of the first there are two in three. For each source one score per system is taken from its
    row, so the metric must mean something for a single rewrite.
    """
    places = {system.name: system for system in comparison.systems if system.name != SOURCE}
    ranked = [
        result
        for result in comparison.results
        if result.name not in (SOURCE, REFERENCE) and metric.name in result.rows
    ]
    if not ranked:
        return []
    single = np.array(
        [
            [metric.from_statistics(row).value for row in result.rows[metric.name]]
            for result in ranked
        ]
    )
    single = np.nan_to_num(single, nan=0.0)
    sign = -1.0 if metric.higher_is_better is False else 1.0
    spread = single.max(0) - single.min(0)
    hard = sign * single.mean(0)
    chosen: dict[int, str] = {}
    for place in np.argsort(-spread, kind="stable")[: -(-2 * count // 3)]:
        if len(ranked) > 1 and spread[place] > 0:
            chosen[int(place)] = "the systems differ most"
    for place in np.argsort(hard, kind="stable"):
        if len(chosen) >= min(count, len(hard)):
            break
        chosen.setdefault(int(place), "hard for all")
    return [
        Instructive(
            comparison.examples[place],
            reason,
            [
                (result.name, places[result.name].rewrites[place], float(single[row, place]))
                for row, result in enumerate(ranked)
            ],
        )
        for place, reason in chosen.items()
    ]
