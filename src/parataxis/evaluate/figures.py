"""Figures of a comparison as SVG: lengths, splits, and scores by pattern and by source length."""

import io
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from importlib.resources import as_file, files
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from parataxis.errors import needs
from parataxis.evaluate.compare import REFERENCE, Comparison
from parataxis.evaluate.metrics.protocol import Metric
from parataxis.evaluate.metrics.tokens import tokens

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

MOST_SENTENCES = 6
"""Rewrites of this many sentences or more share one bar."""
LENGTHS = tuple(range(0, 62, 4))
"""The edges of the bins for lengths of simple sentences."""
BINS = 5
"""How many groups of equal size the sources form by length."""


def figures(comparison: Comparison, metric: Metric | None) -> dict[str, str]:
    """Captions and SVG pictures. ``metric`` is drawn by length of the source."""
    drawing: dict[str, partial[None]] = {
        "Tokens of a simple sentence": partial(_lengths, comparison),
        "Sentences made of a source": partial(_splits, comparison),
    }
    if metric is not None:
        drawing[f"{metric.name} by length of the source"] = partial(_by_length, comparison, metric)
    for each in comparison.metrics:
        if each.name == "patterns":
            shares = pattern_shares(comparison, each)
            drawing["Share of each pattern that was split, in percent"] = partial(_parts, shares)
    return {caption: draw_svg(draw) for caption, draw in drawing.items()}


def new_figure(width: float, height: float) -> "Figure":
    """An empty figure of a size in inches; an error says how to install matplotlib."""
    with needs("The figures need matplotlib", "metrics"):
        from matplotlib.figure import Figure
    return Figure(figsize=(width, height), layout="constrained")


def draw_svg(draw: "Callable[[Axes], None]", height: float = 3) -> str:
    """An SVG picture of what ``draw`` puts on axes, in the style of all figures."""
    figure = new_figure(7, height)
    from matplotlib import style

    found = files("parataxis.evaluate") / "figures.mplstyle"
    with as_file(found) as sheet, style.context(sheet):
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


def length_shares(comparison: Comparison) -> Mapping[str, Sequence[float]]:
    """The percentage of each system's simple sentences in each bin of :data:`LENGTHS`; the last bin
    takes all longer ones."""
    found = {}
    for name, rewrites in _texts(comparison).items():
        lengths = [len(tokens(sentence)) for simple in rewrites for sentence in simple]
        counts, _ = np.histogram(np.clip(lengths, 0, LENGTHS[-1] - 1), bins=LENGTHS)
        found[name] = (100 * counts / max(1, len(lengths))).tolist()
    return found


def _lengths(comparison: Comparison, axes: "Axes") -> None:
    centres = [(low + high) / 2 for low, high in pairwise(LENGTHS)]
    for name, shares in length_shares(comparison).items():
        axes.plot(centres, shares, label=plain_label(name), linewidth=1.5)
    axes.set_xlabel("tokens")
    axes.set_ylabel("% of simple sentences")


def _splits(comparison: Comparison, axes: "Axes") -> None:
    labels = [*map(str, range(1, MOST_SENTENCES)), f"{MOST_SENTENCES}+"]
    shares: dict[str, dict[str, float]] = {}
    for name, rewrites in _texts(comparison).items():
        counts = Counter(min(len(simple), MOST_SENTENCES) for simple in rewrites)
        shares[name] = {
            label: 100 * counts[number] / max(1, len(rewrites))
            for number, label in enumerate(labels, start=1)
        }
    _bars(axes, labels, shares)
    axes.set_xlabel("sentences")
    axes.set_ylabel("% of sources")


def scores_by_length(
    comparison: Comparison, metric: Metric
) -> tuple[list[str], Mapping[str, Sequence[float]]]:
    """Groups of sources by length, named by their lengths, and the scores of each system on
    them."""
    lengths = np.array([len(tokens(example.source)) for example in comparison.examples])
    groups = np.array_split(np.argsort(lengths, kind="stable"), min(BINS, len(lengths)))
    names = [f"{lengths[group].min()}–{lengths[group].max()}" for group in groups]
    return names, {
        result.name: [
            metric.from_statistics(result.rows[metric.name][group].sum(0)).value for group in groups
        ]
        for result in comparison.results
        if metric.name in result.rows
    }


def _by_length(comparison: Comparison, metric: Metric, axes: "Axes") -> None:
    groups, scores = scores_by_length(comparison, metric)
    for name, values in scores.items():
        axes.plot(range(len(groups)), values, marker="o", markersize=3, label=plain_label(name))
    axes.set_xticks(range(len(groups)), groups)
    axes.set_xlabel("tokens of the source")
    axes.set_ylabel(metric.name)


def pattern_shares(comparison: Comparison, metric: Metric) -> Mapping[str, Mapping[str, float]]:
    """The parts of the metric for each system, without those of patterns that no source has."""
    return {
        result.name: {
            part: value
            for part, value in result.scores[metric.name].parts.items()
            if not np.isnan(value)
        }
        for result in comparison.results
        if metric.name in result.scores
    }


def _parts(shares: Mapping[str, Mapping[str, float]], axes: "Axes") -> None:
    _bars(axes, list(dict.fromkeys(part for found in shares.values() for part in found)), shares)
    axes.set_ylabel("%")


def _bars(axes: "Axes", labels: Sequence[str], shares: Mapping[str, Mapping[str, float]]) -> None:
    """For each label a group of bars, one for each system that has a value."""
    width = 0.8 / max(1, len(shares))
    for place, (name, found) in enumerate(shares.items()):
        offset = (place - (len(shares) - 1) / 2) * width
        places = [number + offset for number, label in enumerate(labels) if label in found]
        heights = [found[label] for label in labels if label in found]
        axes.bar(places, heights, width, label=plain_label(name))
    axes.set_xticks(range(len(labels)), labels)


def plain_label(name: str) -> str:
    """A name escaped for matplotlib, which reads dollars as formulas and hides labels that start
    with an underscore."""
    return f" {name}".replace("$", r"\$") if name.startswith("_") else name.replace("$", r"\$")
