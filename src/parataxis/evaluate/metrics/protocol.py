"""What a metric is: statistics of each rewrite, whose sum over a corpus gives the score.

A metric of this form can be computed in one pass without holding the corpus, and resampled for
confidence intervals and tests without computing anything twice.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import reduce
from itertools import islice
from typing import ClassVar, Protocol, runtime_checkable

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
    pool: tuple[str, ...] = field(default=(), compare=False, repr=False)
    """The texts of all references of the source, if the rewrite is one of them and ``references``
    are the others: metrics can then count the references once for all of these items."""

    @property
    def text(self) -> str:
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


class BaseMetric:
    """What the built-in metrics share: ``settings`` are the settings in the signature."""

    name: str
    summary: str
    needs_references = False
    higher_is_better: bool | None = True
    settings: ClassVar[Mapping[str, str]] = {}
    averages: ClassVar[tuple[str, ...]] = ()
    """The parts whose mean it is, where each could be asked for alone."""

    @property
    def signature(self) -> Signature:
        return Signature(self.name, self.settings)


class RatioMetric(BaseMetric):
    """A metric that is one sum divided by another, in percent if it is a share. It is a mean over
    rewrites if the other is their number."""

    percent = False

    def statistics(self, items: Sequence[ScoredItem]) -> Statistics:
        return np.array([self.counts(item) for item in items], float)

    def from_statistics(self, total: Statistics) -> Score:
        part, whole = total.tolist()
        value = part / whole if whole else float("nan")
        return Score(100 * value if self.percent else value, self.signature)

    def counts(self, item: ScoredItem) -> tuple[float, float]:
        """What is counted in an item, and out of what."""
        raise NotImplementedError


WINDOW = 256
"""How many items are held at once."""


def score_all(metrics: Sequence[Metric], items: Iterable[ScoredItem]) -> list[Score]:
    """The score of each metric, in their order, from one pass that counts each text once."""
    sums = [[rows.sum(axis=0) for rows in window] for window in _windows(metrics, items)]
    totals = [reduce(np.add, parts) for parts in zip(*sums, strict=True)]
    return [metric.from_statistics(total) for metric, total in zip(metrics, totals, strict=True)]


def score(metric: Metric, items: Iterable[ScoredItem]) -> Score:
    """The score of one metric."""
    return score_all([metric], items)[0]


def statistics_of(metrics: Sequence[Metric], items: Iterable[ScoredItem]) -> list[Statistics]:
    """For each metric the rows of all items: what resampling and correlations need."""
    return [np.concatenate(parts) for parts in zip(*_windows(metrics, items), strict=True)]


def _windows(metrics: Sequence[Metric], items: Iterable[ScoredItem]) -> Iterator[list[Statistics]]:
    """The rows of each metric, window by window: the caches hold what a window needs."""
    stream = iter(items)
    window = list(islice(stream, WINDOW))
    if not window:
        raise ParataxisError("There are no rewrites to score.")
    while window:
        bare = next((item for item in window if not item.references), None)
        for metric in metrics:
            if metric.needs_references and bare is not None:
                raise ParataxisError(f'{metric.name} needs a reference for "{bare.source}".')
        yield [metric.statistics(window) for metric in metrics]
        window = list(islice(stream, WINDOW))
