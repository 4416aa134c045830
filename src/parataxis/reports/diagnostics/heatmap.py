"""Attention as a picture: the source from left to right, the output from top to bottom, as in
figures 1 and 2 of Aharoni and Goldberg (2018)."""

import io

from parataxis.reports.diagnostics.entities import Span
from parataxis.reports.figures import new_figure, plain_label
from parataxis.splitters.attention import Attention

__all__ = ["heatmap_png"]

_INCH = 0.2
"""Of a word, in inches."""


def heatmap_png(attention: Attention, entity: Span | None = None, *, title: str = "") -> bytes:
    """The picture as PNG; the words of the first entity are underlined in colour."""
    rows, columns = len(attention.output), len(attention.source)
    figure = new_figure(2.2 + _INCH * columns, 1.7 + _INCH * rows)
    axes = figure.add_subplot()
    shown = axes.imshow(attention.weights, cmap="Greys", vmin=0.0, vmax=1.0, aspect="equal")
    axes.set_xticks(range(columns), map(plain_label, attention.source), rotation=90, fontsize=8)
    axes.set_yticks(range(rows), map(plain_label, attention.output), fontsize=8)
    axes.xaxis.tick_top()
    axes.tick_params(length=0)
    if entity is not None:
        axes.plot(
            [entity[0] - 0.5, entity[1] - 0.5], [rows - 0.5] * 2, color="#c4320a", linewidth=4
        )
        for label in axes.get_xticklabels()[slice(*entity)]:
            label.set_color("#c4320a")
    if title:
        axes.set_title(plain_label(title), fontsize=9)
    figure.colorbar(shown, ax=axes, shrink=0.5, fraction=0.03, pad=0.02).ax.tick_params(labelsize=7)
    out = io.BytesIO()
    figure.savefig(out, format="png", dpi=150, metadata={"Software": None})
    return out.getvalue()
