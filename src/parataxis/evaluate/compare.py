"""Comparison of systems: every metric of every system, with intervals and tests."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations, product

import numpy as np

from parataxis.errors import InputError
from parataxis.evaluate.corpora.example import Example
from parataxis.evaluate.metrics.protocol import Metric, Score, ScoredItem, Statistics, statistics_of
from parataxis.evaluate.resample import Interval, Resampler, Scores

SOURCE, REFERENCE = "SOURCE", "REFERENCE"
"""Two rows of every comparison: the sources left as they are, and the references."""


@dataclass(frozen=True, slots=True)
class System:
    """A system and its rewrites, in the order of the examples. ``sentences`` says where their
    sentences come from: they were "given", or cut at "marks" or by the "segmenter"."""

    name: str
    rewrites: tuple[tuple[str, ...], ...]
    sentences: str = "given"


@dataclass(frozen=True, slots=True)
class SystemScores:
    """The scores of one system; metrics that have nothing to compare with are left out. ``rows``
    holds the statistics of each rewrite, in the order of the examples."""

    name: str
    scores: Mapping[str, Score]
    intervals: Mapping[str, Interval] = field(default_factory=dict)
    rows: Mapping[str, Statistics] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Difference:
    """The difference of two scores, with its paired bootstrap interval and its p-value."""

    value: float
    interval: Interval
    p_value: float


@dataclass(frozen=True, slots=True)
class Comparison:
    """Systems and their scores. The keys of ``differences`` are a metric and two systems."""

    examples: Sequence[Example]
    metrics: Sequence[Metric]
    systems: Sequence[System]
    results: Sequence[SystemScores]
    differences: Mapping[tuple[str, str, str], Difference] = field(default_factory=dict)

    @property
    def competitors(self) -> Sequence[SystemScores]:
        """The scores of the systems, without those of the sources and the references."""
        return self.results[1 : len(self.systems)]

    def result(self, name: str) -> SystemScores:
        return next(result for result in self.results if result.name == name)


def compare(
    examples: Sequence[Example],
    systems: Sequence[System],
    metrics: Sequence[Metric],
    resampler: Resampler | None = None,
    progress: Callable[[int], None] = lambda _: None,
) -> Comparison:
    """Score the systems, with the sources and the references as rows of their own. A resampler adds
    intervals, and differences between all pairs of systems. ``progress`` is called with the number
    of rewrites read since the last call."""
    _check(examples, systems)
    sources = System(SOURCE, tuple((example.source,) for example in examples))
    everyone = [sources, *systems]
    usable = _usable(examples, metrics, 1)
    every_row = {}
    for system in everyone:
        items = [
            ScoredItem(example.source, simple, example.references)
            for example, simple in zip(examples, system.rewrites, strict=True)
        ]
        every_row[system.name] = _rows(usable, items, progress)
    if rows := _reference_rows(examples, metrics, progress):
        every_row[REFERENCE] = rows
    results: list[SystemScores] = []
    drawn: dict[tuple[str, str], Scores] = {}
    for name, rows in every_row.items():
        known = [metric for metric in metrics if metric.name in rows]
        scores = {metric.name: metric.from_statistics(rows[metric.name].sum(0)) for metric in known}
        if resampler:
            drawn |= {(name, each.name): resampler.scores(each, rows[each.name]) for each in known}
        intervals = {each.name: Interval.of(drawn[name, each.name]) for each in known if resampler}
        results.append(SystemScores(name, scores, intervals, rows))
    found = Comparison(examples, metrics, everyone, results)
    if not resampler:
        return found
    differences = {
        (metric.name, first.name, second.name): Difference(
            first.scores[metric.name].value - second.scores[metric.name].value,
            Interval.of(drawn[first.name, metric.name] - drawn[second.name, metric.name]),
            resampler.p_value(metric, first.rows[metric.name], second.rows[metric.name]),
        )
        for metric, (first, second) in product(metrics, combinations(found.competitors, 2))
        if metric.name in first.rows
    }
    return replace(found, differences=differences)


def _check(examples: Sequence[Example], systems: Sequence[System]) -> None:
    if not examples:
        raise InputError("There are no sources to compare systems on.")
    names = [system.name for system in systems]
    for name in names:
        if names.count(name) > 1:
            raise InputError(f'Two outputs are called "{name}"; name them as NAME=FILE.')
        if name in (SOURCE, REFERENCE):
            raise InputError(f'No system can be called "{name}": every table has that row.')


def _rows(
    metrics: Sequence[Metric], items: Iterable[ScoredItem], progress: Callable[[int], None]
) -> dict[str, Statistics]:
    def counted() -> Iterator[ScoredItem]:
        for item in items:
            progress(1)
            yield item

    names = [metric.name for metric in metrics]
    return dict(zip(names, statistics_of(metrics, counted()), strict=True))


def _usable(examples: Sequence[Example], metrics: Sequence[Metric], least: int) -> list[Metric]:
    """All metrics if every source has at least so many references, else those that need none."""
    enough = all(len(example.references) >= least for example in examples)
    return [metric for metric in metrics if enough or not metric.needs_references]


def _reference_rows(
    examples: Sequence[Example], metrics: Sequence[Metric], progress: Callable[[int], None]
) -> dict[str, Statistics]:
    """The statistics of the references themselves, averaged over those of one source. A metric that
    needs references compares each one with the others of its source, so there must be two."""
    usable = _usable(examples, metrics, 2)
    if not usable or not all(example.references for example in examples):
        return {}
    counts = np.array([len(example.references) for example in examples])
    starts = np.cumsum(counts) - counts
    return {
        name: np.add.reduceat(rows, starts, axis=0) / counts[:, None]
        for name, rows in _rows(usable, _reference_items(examples), progress).items()
    }


def _reference_items(examples: Sequence[Example]) -> Iterator[ScoredItem]:
    """Each reference as a rewrite, beside the others of its source."""
    for example in examples:
        pool = tuple(" ".join(reference) for reference in example.references)
        for k, reference in enumerate(example.references):
            others = example.references[:k] + example.references[k + 1 :]
            yield ScoredItem(example.source, reference, others, pool)
