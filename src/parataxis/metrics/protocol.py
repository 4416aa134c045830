"""What a metric is: statistics of each rewrite, whose sum over a corpus gives the score.

A metric of this form can be computed in one pass without holding the corpus, and resampled for
confidence intervals and tests without computing anything twice.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from parataxis.text.brackets import plain_brackets

__all__ = ["WINDOW", "Item", "Metric", "Score", "Signature", "Statistics"]

Statistics = NDArray[np.float64]
"""One row of numbers for a rewrite, or their sum over a corpus."""


@dataclass(frozen=True, slots=True)
class Item:
    """What is scored: a source, the simple sentences of its rewrite, and its references."""

    source: str
    simple: tuple[str, ...]
    references: tuple[tuple[str, ...], ...] = ()

    @property
    def text(self) -> str:
        """The rewrite as running text."""
        return " ".join(self.simple)

    @property
    def plain(self) -> "Item":
        """The same with plain brackets where a tokeniser wrote "-LRB-": what an analyser reads."""
        return Item(
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
    """What must be known to compute a number again, written as ``bleu|case:mixed|tok:13a|...``."""

    name: str
    settings: Mapping[str, str]

    def __str__(self) -> str:
        return "|".join([self.name, *(f"{key}:{value}" for key, value in self.settings.items())])


@dataclass(frozen=True, slots=True)
class Score:
    """A number and its parts, with the signature of the metric. ``value`` is NaN where there is
    nothing to count, such as the share of a pattern that no source has."""

    value: float
    signature: Signature
    parts: Mapping[str, float] = field(default_factory=dict)


@runtime_checkable
class Metric(Protocol):
    """A metric of the group ``parataxis.metrics``."""

    name: str
    """Short, as the column of a table is headed."""
    summary: str
    needs_references: bool
    higher_is_better: bool | None
    """None where neither is better: sentences per source."""

    @property
    def signature(self) -> Signature:
        """The settings of this metric, and the versions that matter."""
        ...

    def statistics(self, items: Sequence[Item]) -> Statistics:
        """One row for each item; the rows of a corpus are summed."""
        ...

    def from_statistics(self, total: Statistics) -> Score:
        """The score of a corpus (or of one rewrite) from the sum of its rows."""
        ...


WINDOW = 256
"""How many items are held at once."""
