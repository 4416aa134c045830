"""Fit the learned metric, and find out how far it agrees with people on held-out systems."""

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from parataxis.metrics.analyses import shared_analyser
from parataxis.metrics.learned import CRITERIA, Regression, features
from parataxis.reports.coefficients import Coefficient, Estimate, coefficient, resampled
from parataxis.reports.judgements import Judged
from parataxis.reports.resample import Interval

__all__ = [
    "PENALTY",
    "Advantage",
    "Material",
    "advantages",
    "agreement",
    "family",
    "fit",
    "held_out",
]

PENALTY = 30.0
"""How strongly large weights are held down; anything from 10 to 100 does as well."""

Numbers = NDArray[np.float64]


@dataclass(frozen=True)
class Material:
    """Judged rewrites as numbers: features, and the judgements of each criterion."""

    judged: Sequence[Judged]
    rows: Numbers
    judgements: Numbers

    @classmethod
    def of(cls, judged: Sequence[Judged]) -> "Material":
        """Compute the features."""
        rows = features([each.item for each in judged], shared_analyser())
        said = [[each.judgements[name] for name in CRITERIA] for each in judged]
        return cls(judged, rows, np.array(said))

    @property
    def sources(self) -> list[str]:
        """The source of each rewrite: those of one source are not independent."""
        return [each.item.source for each in self.judged]


@dataclass(frozen=True, slots=True)
class Advantage:
    """How much nearer predictions are to people than the best single metric is: the difference
    of the absolute coefficients, and its interval by bootstrap over sources."""

    metric: str
    value: float
    difference: float
    interval: Interval


def family(judged: Judged) -> str:
    """The first letters of a system's name: "SENTS-h4_w2v_model" and its kin are one family."""
    found = re.match(r"SETrain|SEMoses|[A-Za-z]+", judged.system)
    name = found[0] if found else judged.system
    return "Moses" if name in ("SETrain", "SEMoses") else name


def fit(material: Material, path: Path) -> None:
    """Fit the metric to all judgements, and write it."""
    regression = Regression.fit(material.rows, material.judgements, PENALTY)
    path.write_text(json.dumps(regression.as_record(), indent=1) + "\n", encoding="utf-8")


def held_out(material: Material, part: Callable[[Judged], str]) -> Numbers:
    """What is predicted of each rewrite for each criterion, each part from the others alone.

    ``part`` says what is held out together: a system, a family of systems, or a source.
    """
    rows, judgements = material.rows, material.judgements
    parts = np.array([part(each) for each in material.judged])
    predicted = np.zeros_like(judgements)
    for name in np.unique(parts):
        out = parts == name
        regression = Regression.fit(rows[~out], judgements[~out], PENALTY)
        predicted[out] = regression(rows[out])
    return predicted


def agreement(material: Material, predicted: Numbers) -> Mapping[str, Estimate]:
    """Spearman's coefficient between predictions and judgements, for each criterion."""
    return {
        criterion: coefficient(
            predicted[:, column],
            material.judgements[:, column],
            Coefficient.SPEARMAN,
            material.sources,
        )
        for column, criterion in enumerate(CRITERIA)
    }


def advantages(
    material: Material, predicted: Numbers, scores: Mapping[str, Numbers]
) -> Mapping[str, Advantage]:
    """For each criterion, the predictions against the best of other metrics: whichever has the
    largest coefficient, of either sign, on all the material. ``scores`` are by metric."""
    found = {}
    for column, criterion in enumerate(CRITERIA):
        people = material.judgements[:, column]
        single = {
            name: coefficient(known, people, Coefficient.SPEARMAN).value
            for name, known in scores.items()
            if not np.isnan(known).any()
        }
        best = max(single, key=lambda name: abs(np.nan_to_num(single[name])))
        ours = coefficient(predicted[:, column], people, Coefficient.SPEARMAN).value
        trials = [
            np.sign(value) * resampled(side, people, Coefficient.SPEARMAN, material.sources)
            for side, value in ((predicted[:, column], ours), (scores[best], single[best]))
        ]
        found[criterion] = Advantage(
            best, single[best], abs(ours) - abs(single[best]), Interval.of(trials[0] - trials[1])
        )
    return found
