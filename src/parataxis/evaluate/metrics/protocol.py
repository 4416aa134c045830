"""What a metric is: statistics of each rewrite, whose sum over a corpus gives the score.

A metric of this form can be computed in one pass without holding the corpus, and resampled for
confidence intervals and tests without computing anything twice.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from parataxis.errors import ParataxisError
from parataxis.text.tokens import plain_brackets

Statistics = NDArray[np.float64]
"""One row of numbers for a rewrite, or their sum over a corpus."""


@dataclass(frozen=True, slots=True)
class ScoredItem:
    """What is scored: a source, the simple sentences of its rewrite, and its references."""

    source: str
    simple: tuple[str, ...]
    references: tuple[tuple[str, ...], ...] = ()

    @property
    def text(self) -> str:
        """The rewrite as running text."""
        return " ".join(self.simple)

    @property
    def plain(self) -> "ScoredItem":
        """The same with the escapes of a tokeniser ("-LRB-") undone, for an analyser."""
        return ScoredItem(
            plain_brackets(self.source),
            tuple(map(plain_brackets, self.simple)),
            tuple(tuple(map(plain_brackets, reference)) for reference in self.references),
        )

    @property
    def reference_texts(self) -> tuple[str, ...]:
        """Each reference as running text."""
        return tuple(" ".join(reference) for reference in self.references)


@dataclass(frozen=True, slots=True)
class Signature:
    """What makes a number reproducible, written as ``bleu|case:mixed|tok:13a|...``."""

    name: str
    settings: Mapping[str, str]

    def __str__(self) -> str:
        return "|".join([self.name, *(f"{key}:{value}" for key, value in self.settings.items())])


@dataclass(frozen=True, slots=True)
class Score:
    """A number and its parts, with the signature of the metric. ``value`` is NaN if there is
    nothing to count, such as the share of a pattern that no source has."""

    value: float
    signature: Signature
    parts: Mapping[str, float] = field(default_factory=dict)


@runtime_checkable
class Metric(Protocol):
    """A metric of the group ``parataxis.metrics``."""

    name: str
    """Short: it heads a column of a table."""
    summary: str
    needs_references: bool
    higher_is_better: bool | None
    """None if neither is better, as for sentences per source."""

    @property
    def signature(self) -> Signature:
        """The settings of this metric, and the versions that matter."""
        ...

    def statistics(self, items: Sequence[ScoredItem]) -> Statistics:
        """One row for each item; the rows of a corpus are summed."""
        ...

    def from_statistics(self, total: Statistics) -> Score:
        """The score of a corpus (or of one rewrite) from the sum of its rows."""
        ...


WINDOW = 256
"""How many items are held at once."""


def score_all(metrics: Sequence[Metric], items: Iterable[ScoredItem]) -> list[Score]:
    """The score of each metric, in their order, from one pass that counts each text once."""
    totals: list[Statistics] | None = None
    for rows in _windows(metrics, items):
        sums = [part.sum(axis=0) for part in rows]
        totals = sums if totals is None else [a + b for a, b in zip(totals, sums, strict=True)]
    return [
        metric.from_statistics(total) for metric, total in zip(metrics, _some(totals), strict=True)
    ]


def score(metric: Metric, items: Iterable[ScoredItem]) -> Score:
    """The score of one metric."""
    return score_all([metric], items)[0]


def statistics_of(metrics: Sequence[Metric], items: Iterable[ScoredItem]) -> list[Statistics]:
    """For each metric the rows of all items: what resampling and correlations need."""
    windows = list(_windows(metrics, items))
    _some(windows)
    return [np.concatenate(parts) for parts in zip(*windows, strict=True)]


def _windows(metrics: Sequence[Metric], items: Iterable[ScoredItem]) -> Iterator[list[Statistics]]:
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
