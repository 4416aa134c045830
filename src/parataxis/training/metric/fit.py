"""Fit the learned metric, and find out how far it agrees with people on held-out systems."""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from parataxis.metrics.analyses import shared_analyser
from parataxis.metrics.learned import CRITERIA, Regression, features
from parataxis.reports.coefficients import Coefficient, coefficient
from parataxis.reports.judgements import Judged

__all__ = ["PENALTY", "Material", "fit", "held_out"]

PENALTY = 30.0
"""How strongly large weights are held down; anything from 10 to 100 does as well."""


@dataclass(frozen=True)
class Material:
    """Judged rewrites as numbers: features, and the judgements of each criterion."""

    judged: Sequence[Judged]
    rows: NDArray[np.float64]
    judgements: NDArray[np.float64]

    @classmethod
    def of(cls, judged: Sequence[Judged]) -> "Material":
        """Compute the features."""
        rows = features([each.item for each in judged], shared_analyser())
        said = [[each.judgements[name] for name in CRITERIA] for each in judged]
        return cls(judged, rows, np.array(said))


def fit(material: Material, path: Path) -> None:
    """Fit the metric to all judgements, and write it."""
    regression = Regression.fit(material.rows, material.judgements, PENALTY)
    path.write_text(json.dumps(regression.as_record(), indent=1) + "\n", encoding="utf-8")


def held_out(material: Material, part: Callable[[Judged], str]) -> Mapping[str, float]:
    """Spearman's coefficient for each criterion, where each part was predicted from the others.

    ``part`` says what is held out together: a system, a family of systems, or a source.
    """
    rows, judgements = material.rows, material.judgements
    parts = np.array([part(each) for each in material.judged])
    predicted = np.zeros_like(judgements)
    for name in np.unique(parts):
        out = parts == name
        regression = Regression.fit(rows[~out], judgements[~out], PENALTY)
        predicted[out] = regression(rows[out])
    return {
        criterion: coefficient(predicted[:, column], judgements[:, column], Coefficient.SPEARMAN)[0]
        for column, criterion in enumerate(CRITERIA)
    }
