"""Figure 1 of Zhang et al. (2020): how often an expert agrees, by what raters said."""

from collections.abc import Sequence
from itertools import cycle
from typing import TYPE_CHECKING

import numpy as np

from parataxis.reports.figures import draw_svg
from parataxis.studies.reliability import Posterior

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["reliability_svg"]


def reliability_svg(trust: Sequence[Posterior]) -> str:
    """A curve for each bucket, as SVG."""
    return draw_svg(lambda axes: _curves(axes, trust), height=3.2)


def _curves(axes: "Axes", trust: Sequence[Posterior]) -> None:
    shares = np.linspace(0, 1, 401)
    for one, line in zip(trust, cycle(("-", "--", "-.", ":")), strict=False):
        label = f"{one.bucket.yes} of {one.bucket.raters} raters"
        axes.plot(shares, one.density(shares), line, label=label)  # curves may cover each other
    axes.set_xlabel("share of rewrites that an expert finds correct")
    axes.set_ylabel("density")
    axes.set_xlim(0, 1)
    axes.set_ylim(bottom=0)
