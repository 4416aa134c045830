"""A part of a metric as a metric of its own: what SARI says of additions, say."""

from collections.abc import Sequence

from parataxis.errors import ParataxisError
from parataxis.metrics.protocol import Item, Metric, Score, Signature, Statistics

__all__ = ["PartOf"]


class PartOf:
    """The part of that name; the statistics are those of the whole metric."""

    def __init__(self, metric: Metric, part: str) -> None:
        self._metric, self._part = metric, part
        self.name = f"{metric.name}:{part}"
        self.summary = f"{part}, a part of: {metric.summary}"
        self.needs_references = metric.needs_references
        self.higher_is_better = metric.higher_is_better

    @property
    def signature(self) -> Signature:
        """That of the whole, with the part named."""
        whole = self._metric.signature
        return Signature(whole.name, {"part": self._part, **whole.settings})

    def statistics(self, items: Sequence[Item]) -> Statistics:
        """Those of the whole."""
        return self._metric.statistics(items)

    def from_statistics(self, total: Statistics) -> Score:
        """The part of the score."""
        parts = self._metric.from_statistics(total).parts
        if self._part not in parts:
            known = ", ".join(parts) or "none"
            raise ParataxisError(
                f'The metric {self._metric.name} has no part "{self._part}"; it has {known}.'
            )
        return Score(parts[self._part], self.signature)
