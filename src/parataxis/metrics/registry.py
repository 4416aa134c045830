"""The installed metrics, found through entry points of the group ``parataxis.metrics``."""

from parataxis.metrics.parts import PartOf
from parataxis.metrics.protocol import Metric
from parataxis.plugins import Installed, Registry

__all__ = [
    "ANALYSED",
    "GROUP",
    "available_metrics",
    "default_metrics",
    "load_metric",
    "metric_names",
]

GROUP = "parataxis.metrics"

_METRICS: Registry[Metric] = Registry(
    GROUP,
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
ANALYSED = ("facts", "patterns", "learned")
"""The metrics that read every sentence with the analyser."""


def metric_names() -> list[str]:
    """The names of all installed metrics, sorted; nothing is imported.

    >>> {"bleu", "sari", "fkgl"} <= set(metric_names())
    True
    """
    return _METRICS.names()


def load_metric(name: str) -> Metric:
    """The metric of that name, with its default settings; "sari:add" is a part of one.

    >>> load_metric("fkgl:words-per-sentence").name
    'fkgl:words-per-sentence'
    """
    whole, colon, part = name.partition(":")
    metric = _METRICS.load(whole)
    return PartOf(metric, part) if colon else metric


def available_metrics() -> list[Installed]:
    """Every installed metric with its one-line summary, sorted by name."""
    return _METRICS.available(lambda metric: metric.summary)


def default_metrics(*, references: bool = True, analyser: bool = False) -> tuple[str, ...]:
    """The names of the metrics for a table: those that need references only where there are some,
    and those that read every sentence with the analyser (slow) only where asked for."""
    chosen = _WITH_REFERENCES if references else ()
    return chosen + _WITHOUT_REFERENCES + (ANALYSED if analyser else ())
