"""Score a corpus by many metrics in one pass, which reads and counts each text once."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import islice

import numpy as np

from parataxis.errors import ParataxisError
from parataxis.metrics.protocol import WINDOW, Item, Metric, Score, Statistics

__all__ = ["score", "score_all", "statistics_of"]


def score_all(metrics: Sequence[Metric], items: Iterable[Item]) -> list[Score]:
    """The score of each metric, in their order. A few hundred items are held at a time."""
    totals: list[Statistics] | None = None
    for rows in _windows(metrics, items):
        sums = [part.sum(axis=0) for part in rows]
        totals = sums if totals is None else [a + b for a, b in zip(totals, sums, strict=True)]
    return [
        metric.from_statistics(total) for metric, total in zip(metrics, _some(totals), strict=True)
    ]


def score(metric: Metric, items: Iterable[Item]) -> Score:
    """The score of one metric."""
    return score_all([metric], items)[0]


def statistics_of(metrics: Sequence[Metric], items: Iterable[Item]) -> list[Statistics]:
    """For each metric the rows of all items: what resampling and correlations need."""
    windows = list(_windows(metrics, items))
    _some(windows)
    return [np.concatenate(parts) for parts in zip(*windows, strict=True)]


def _windows(metrics: Sequence[Metric], items: Iterable[Item]) -> Iterator[list[Statistics]]:
    """The rows of each metric, window by window: the caches hold what a window needs."""
    stream = iter(items)
    while window := list(islice(stream, WINDOW)):
        for metric in metrics:
            bare = next((item for item in window if not item.references), None)
            if metric.needs_references and bare is not None:
                raise ParataxisError(f'{metric.name} needs a reference for "{bare.source}".')
        yield [metric.statistics(window) for metric in metrics]


def _some(found: list[Statistics] | list[list[Statistics]] | None) -> list[Statistics]:
    if not found:
        raise ParataxisError("There are no rewrites to score.")
    return found  # type: ignore[return-value]
