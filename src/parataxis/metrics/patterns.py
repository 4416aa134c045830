"""Which of the seven syntactic patterns of the sources were split."""

from collections.abc import Sequence

import numpy as np

from parataxis.checks import SentenceAnalyser
from parataxis.metrics.analyses import shared_analyser
from parataxis.metrics.protocol import Item, Score, Signature, Statistics
from parataxis.rewrite.align import align
from parataxis.rewrite.patterns import Sides, said_apart, sides
from parataxis.syntax.analysis import Analysis
from parataxis.syntax.patterns import Pattern

__all__ = ["PatternsSplit"]


class PatternsSplit:
    """The share of the patterns of the sources that were split: of all, and of each one.

    A pattern (see docs/patterns.md) was split if the rewrite says its phrase and its clause apart
    (:func:`parataxis.rewrite.patterns.said_apart`). Which word came from where is what
    :func:`parataxis.rewrite.align.align` says, so another form of the word is enough. A phrase
    that is left out was not split, nor is anything in a rewrite of one sentence.
    """

    name = "patterns"
    summary = "percent of the seven patterns of the sources that were split"
    needs_references = False
    higher_is_better: bool | None = None

    def __init__(self, analyser: SentenceAnalyser | None = None) -> None:
        self._given = analyser

    @property
    def signature(self) -> Signature:
        """How it is counted."""
        return Signature(self.name, {"average": "micro", "split": "sides-apart-1"})

    def statistics(self, items: Sequence[Item]) -> Statistics:
        """For each item and pattern: how many were split, and how many there are."""
        analyser = self._given or shared_analyser()
        items = [item.plain for item in items]
        rows = np.zeros((len(items), len(Pattern), 2))
        for row, item, analysis in zip(
            rows, items, analyser.pipe(item.source for item in items), strict=True
        ):
            if isinstance(analysis, Analysis):
                _count(row, item, sides(analysis))
        return rows.reshape(len(items), -1)

    def from_statistics(self, total: Statistics) -> Score:
        """The share of all, and of each pattern."""
        counts = total.reshape(len(Pattern), 2)
        parts = {pattern.value: _share(*row) for pattern, row in zip(Pattern, counts, strict=True)}
        return Score(_share(*counts.sum(axis=0)), self.signature, parts)


def _count(row: Statistics, item: Item, found: Sequence[Sides]) -> None:
    """Add the patterns of one source to its row."""
    if not found:
        return
    provenance = align(item.source, item.simple) if len(item.simple) > 1 else ()
    order = list(Pattern)
    for one in found:
        is_split = bool(said_apart(one, provenance))
        row[order.index(one.occurrence.pattern)] += (is_split, 1)


def _share(split: float, found: float) -> float:
    return float(100 * split / found) if found else float("nan")
