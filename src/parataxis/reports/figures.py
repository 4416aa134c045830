"""The figures of a comparison, as SVG: lengths, splits, scores by pattern and by source length."""

import io
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from parataxis.errors import ParataxisError
from parataxis.metrics.protocol import Metric
from parataxis.reports.compare import REFERENCE, Comparison

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["figures"]

MOST_SENTENCES = 6
"""Rewrites of more sentences are drawn together."""
BINS = 5
"""Into how many groups of equal size the sources go by length."""

_STYLE: Any = {
    "svg.fonttype": "none",
    "svg.hashsalt": "parataxis",
    "font.family": "sans-serif",
    "font.size": 9,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "axes.grid.axis": "y",
    "grid.alpha": 0.3,
    "legend.frameon": False,
}


def figures(comparison: Comparison, metric: Metric | None) -> dict[str, str]:
    """Titles and pictures. ``metric`` is the one that is drawn by length of the source."""
    drawn: dict[str, str] = {
        "Tokens of a simple sentence": _draw(lambda axes: _lengths(axes, comparison)),
        "Sentences made of a source": _draw(lambda axes: _splits(axes, comparison)),
    }
    if metric is not None:
        drawn[f"{metric.name} by length of the source"] = _draw(
            lambda axes: _by_length(axes, comparison, metric)
        )
    for each in comparison.metrics:
        if each.name == "patterns":
            drawn["Share of each pattern that was split, in percent"] = _draw(
                lambda axes, each=each: _parts(axes, comparison, each)  # type: ignore[misc]
            )
    return drawn


def _draw(draw: "Callable[[Axes], None]") -> str:
    try:
        import matplotlib as mpl
        from matplotlib.figure import Figure
    except ImportError as error:
        raise ParataxisError(
            "The figures need matplotlib; install it with: pip install 'parataxis[metrics]'."
        ) from error
    with mpl.rc_context(_STYLE):
        figure = Figure(figsize=(7, 3), layout="constrained")
        axes = figure.add_subplot()
        draw(axes)
        if axes.get_legend_handles_labels()[0]:
            axes.legend(fontsize=8, loc="upper left", bbox_to_anchor=(1.0, 1.0))
        out = io.StringIO()
        figure.savefig(out, format="svg", metadata={"Date": None, "Creator": None})
    svg = out.getvalue()
    return svg[svg.index("<svg") :]


def _texts(comparison: Comparison) -> Mapping[str, Sequence[tuple[str, ...]]]:
    """The rewrites of every system, and of the references all together."""
    texts: dict[str, Sequence[tuple[str, ...]]] = {
        system.name: system.rewrites for system in comparison.systems
    }
    references = [each for example in comparison.examples for each in example.references]
    return texts | ({REFERENCE: references} if references else {})


def _lengths(axes: "Axes", comparison: Comparison) -> None:
    edges = np.arange(0, 62, 4)
    for name, rewrites in _texts(comparison).items():
        lengths = [len(sentence.split()) for simple in rewrites for sentence in simple]
        shares, _ = np.histogram(np.clip(lengths, 0, 59), bins=edges)
        centres = (edges[:-1] + edges[1:]) / 2
        axes.plot(centres, 100 * shares / max(1, len(lengths)), label=name, linewidth=1.5)
    axes.set_xlabel("tokens")
    axes.set_ylabel("% of simple sentences")


def _splits(axes: "Axes", comparison: Comparison) -> None:
    texts = _texts(comparison)
    width = 0.8 / len(texts)
    for place, (name, rewrites) in enumerate(texts.items()):
        counts = Counter(min(len(simple), MOST_SENTENCES) for simple in rewrites)
        numbers = np.arange(1, MOST_SENTENCES + 1)
        shares = [100 * counts[int(number)] / max(1, len(rewrites)) for number in numbers]
        axes.bar(numbers + (place - (len(texts) - 1) / 2) * width, shares, width, label=name)
    labels = [*map(str, range(1, MOST_SENTENCES)), f"{MOST_SENTENCES}+"]
    axes.set_xticks(range(1, MOST_SENTENCES + 1), labels)
    axes.set_xlabel("sentences")
    axes.set_ylabel("% of sources")


def _by_length(axes: "Axes", comparison: Comparison, metric: Metric) -> None:
    lengths = np.array([len(example.source.split()) for example in comparison.examples])
    groups = np.array_split(np.argsort(lengths, kind="stable"), min(BINS, len(lengths)))
    for result in comparison.results:
        if metric.name in result.rows:
            rows = result.rows[metric.name]
            values = [metric.from_statistics(rows[group].sum(0)).value for group in groups]
            axes.plot(range(len(groups)), values, marker="o", markersize=3, label=result.name)
    names = [f"{lengths[group].min()}–{lengths[group].max()}" for group in groups]
    axes.set_xticks(range(len(groups)), names)
    axes.set_xlabel("tokens of the source")
    axes.set_ylabel(metric.name)


def _parts(axes: "Axes", comparison: Comparison, metric: Metric) -> None:
    known = [result for result in comparison.results if metric.name in result.scores]
    width = 0.8 / max(1, len(known))
    parts = list(known[0].scores[metric.name].parts)
    for place, result in enumerate(known):
        values = [np.nan_to_num(result.scores[metric.name].parts[part]) for part in parts]
        axes.bar(
            np.arange(len(parts)) + (place - (len(known) - 1) / 2) * width,
            values,
            width,
            label=result.name,
        )
    axes.set_xticks(range(len(parts)), parts)
    axes.set_ylabel("%")
