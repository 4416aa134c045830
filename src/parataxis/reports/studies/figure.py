"""Figure 1 of Zhang et al. (2020): how often an expert agrees, by what raters said."""

import io
from collections.abc import Sequence
from itertools import cycle

import numpy as np

from parataxis.reports.figures import new_figure
from parataxis.studies.reliability import Posterior

__all__ = ["reliability_svg"]


def reliability_svg(trust: Sequence[Posterior]) -> str:
    """A curve for each bucket, as SVG."""
    figure = new_figure(7, 3.2)
    axes = figure.add_subplot()
    shares = np.linspace(0, 1, 401)
    for one, line in zip(trust, cycle(("-", "--", "-.", ":")), strict=False):
        label = f"{one.bucket.yes} of {one.bucket.raters} raters"
        axes.plot(shares, one.density(shares), line, label=label)  # curves may cover each other
    axes.set_xlabel("share of rewrites that an expert finds correct")
    axes.set_ylabel("density")
    axes.set_xlim(0, 1)
    axes.set_ylim(bottom=0)
    axes.spines[["top", "right"]].set_visible(False)
    axes.legend(fontsize=8, loc="upper left", bbox_to_anchor=(1.0, 1.0))
    out = io.StringIO()
    figure.savefig(out, format="svg", metadata={"Date": None, "Creator": None})
    svg = out.getvalue()
    return svg[svg.index("<svg") :]
