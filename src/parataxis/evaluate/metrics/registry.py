"""The installed metrics, found through entry points of the group ``parataxis.metrics``."""

from parataxis.errors import ParataxisError
from parataxis.evaluate.metrics.protocol import Metric, Score, Signature, Statistics
from parataxis.plugins import Registry


class PartOf:
    """A part of a metric as a metric of its own, such as the additions of SARI."""

    def __init__(self, metric: Metric, part: str) -> None:
        self._metric, self._part = metric, part
        self.statistics = metric.statistics
        self.name = f"{metric.name}:{part}"
        self.summary = f"{part}, a part of: {metric.summary}"
        self.needs_references = metric.needs_references
        self.higher_is_better = metric.higher_is_better

    @property
    def signature(self) -> Signature:
        whole = self._metric.signature
        return Signature(whole.name, {"part": self._part, **whole.settings})

    def from_statistics(self, total: Statistics) -> Score:
        parts = self._metric.from_statistics(total).parts
        if self._part not in parts:
            known = ", ".join(parts) or "none"
            raise ParataxisError(
                f'The metric {self._metric.name} has no part "{self._part}"; it has {known}.'
            )
        return Score(parts[self._part], self.signature)


METRICS: Registry[Metric] = Registry(
    "parataxis.metrics",
    "metric",
    Metric,  # type: ignore[type-abstract]
    "name, summary, needs_references, higher_is_better, signature, statistics, from_statistics",
)

_WITH_REFERENCES = ("bleu", "sari", "exact-match")
_WITHOUT_REFERENCES = (
    "fkgl",
    "sentences-per-source",
    "tokens-per-sentence",
    "tokens-per-sentence-macro",
    "compression",
    "copied",
    "unsplit",
)
ANALYSED = ("facts", "patterns", "learned", "verified")
"""The metrics that read every sentence with a model."""


def load_metric(name: str) -> Metric:
    """The metric of that name, with its default settings; "sari:add" is a part of one.

    >>> load_metric("fkgl:words-per-sentence").name
    'fkgl:words-per-sentence'
    """
    whole, colon, part = name.partition(":")
    metric = METRICS.load(whole)
    return PartOf(metric, part) if colon else metric


def default_metrics(*, references: bool = True, analyser: bool = False) -> tuple[str, ...]:
    """The names of the default metrics: with ``references`` also those that need them, and with
    ``analyser`` also those that read every sentence with a model, which is slow."""
    chosen = _WITH_REFERENCES if references else ()
    return chosen + _WITHOUT_REFERENCES + (ANALYSED if analyser else ())
