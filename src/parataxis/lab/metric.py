"""Fitting the learned metric to human judgements, and measuring it on systems it has not seen."""

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from parataxis.evaluate.correlate import (
    Coefficient,
    Estimate,
    coefficient,
    resampled,
    single_scores,
)
from parataxis.evaluate.judgements import Judged, read_judgements
from parataxis.evaluate.metrics.facts import shared_analyser
from parataxis.evaluate.metrics.learned import CRITERIA, Regression, features
from parataxis.evaluate.metrics.registry import METRICS, load_metric
from parataxis.evaluate.outputs import read_examples
from parataxis.evaluate.resample import Interval

PENALTY = 30.0
"""How strongly large weights are held down; anything from 10 to 100 does as well."""

Numbers = NDArray[np.float64]


@dataclass(frozen=True)
class FittingData:
    """Judged rewrites as numbers: features, and the judgements of each criterion."""

    judged: Sequence[Judged]
    rows: Numbers
    judgements: Numbers

    @classmethod
    def of(cls, judged: Sequence[Judged]) -> "FittingData":
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


def fit(material: FittingData, path: Path) -> None:
    """Fit the metric to all judgements, and write it."""
    regression = Regression.fit(material.rows, material.judgements, PENALTY)
    path.write_text(json.dumps(regression.as_record(), indent=1) + "\n", encoding="utf-8")


def held_out(material: FittingData, part: Callable[[Judged], str]) -> Numbers:
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


def agreement(material: FittingData, predicted: Numbers) -> Mapping[str, Estimate]:
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
    material: FittingData, predicted: Numbers, scores: Mapping[str, Numbers]
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


def fit_and_report(file: Path, references: Sequence[str] = (), output: Path | None = None) -> str:
    """Fit the metric to the ratings in a file, write it to ``output``, and report how good it is
    on systems, families of systems and sources that it has not seen, and against other metrics."""
    examples = read_examples(None, references) if references else []
    judged = read_judgements(file, list(CRITERIA), examples=examples)
    material = FittingData.of(judged)
    parts = {
        "system": lambda each: each.system,
        "family": family,
        "source": lambda each: each.item.source,
    }
    lines = []
    for name, part in parts.items():
        found = agreement(material, held_out(material, part))
        shown = "  ".join(f"{criterion} {each.value:.3f}" for criterion, each in found.items())
        lines.append(f"held out by {name}: {shown}\n")
    others = [load_metric(name) for name in METRICS.names() if name != "learned"]
    known = [each for each in others if examples or not each.needs_references]
    predicted = held_out(material, parts["system"])
    compared = advantages(material, predicted, single_scores(known, judged))
    for criterion, each in compared.items():
        lines.append(
            f"{criterion}: {each.difference:+.3f} ({each.interval.low:+.3f} to "
            f"{each.interval.high:+.3f}) against {each.metric} ({each.value:.3f})\n"
        )
    if output:
        fit(material, output)
    return "".join(lines)
