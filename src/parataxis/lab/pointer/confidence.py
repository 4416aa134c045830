"""Fits the confidence in a rewrite, and the chance that a source stays whole, to judgements.

The evidence is what the present models say of the rewrites that their search finds, so the numbers
in :mod:`parataxis.splitters.pointer.choose` must be fitted again whenever a model changes.
"""

from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from parataxis.checks.verifier import load_verifier
from parataxis.errors import InputError
from parataxis.lab.verifier.examples import SPLIT_FURTHER, Aim, Judgements, read_training
from parataxis.lab.verifier.train import auc
from parataxis.rewrite.record import Level
from parataxis.splitters.pointer.actions import read_source
from parataxis.splitters.pointer.choose import (
    CLOSE,
    SURELY_WHOLE,
    Evidence,
    WholeEvidence,
    compose_found,
    evidence_of,
    whole_evidence,
)
from parataxis.splitters.pointer.splitter import PointerSplitter, untouched
from parataxis.syntax.analyser import Tokenized
from parataxis.syntax.analysis import Analysis
from parataxis.text.tokens import tokenize

Floats = NDArray[np.float64]

FOLDS = 10
"""The parts of the sources that take turns in being left out."""
BINS = 10
"""The groups, from unsure to sure, whose confidence is compared with the judgements."""
RIDGE = 1.0
"""The weight of the penalty for large weights, on evidence of unit variance."""
LINES = (0.9, 0.93, 0.95, 0.97)
"""Shares without fault for which the report says how many rewrites are that sure."""
FEWEST = 50
"""Fewer judgements are not fitted to."""


def fit_confidence(data: Sequence[Path], limit: int | None = None) -> str:
    """Fit both functions at each level to judgements, JSONL files with ``source``, ``simple``,
    ``faults`` and perhaps a ``level``; the report has the weights. The source itself may be judged,
    too: it is at fault if it should be split."""
    _, judged = read_training(data)
    lines: list[str] = []
    for level in Level:
        aims = [aim for aim in judged if aim[1] is level][:limit]
        splits, wholes = _evidence([source for source, _ in aims], level, judged)
        for name, found, fields in (
            ("confidence", splits, Evidence._fields),
            ("whole", wholes, WholeEvidence._fields),
        ):
            if len(found) >= FEWEST:
                lines += [f"{level}, {name}", *_report(found, fields), ""]
    if not lines:
        raise InputError(f"There are fewer than {FEWEST} judgements of what the splitter finds.")
    return "\n".join(lines)


Case = tuple[int, Sequence[float], bool]
"""The number of a source, the evidence, and whether there is no fault."""


def _evidence(
    sources: Sequence[str], level: Level, judged: Mapping[Aim, Judgements]
) -> tuple[list[Case], list[Case]]:
    """The evidence for the judged rewrites that are found, and for the judged sources."""
    splitter, verifier = PointerSplitter(level=level), load_verifier()
    tokens = [tokenize(source) for source in sources]
    words = [[token.text for token in each] for each in tokens]
    features = [read_source(each, level) for each in words]
    rows = zip(sources, words, features, strict=True)
    readable = [row for row, each in enumerate(rows) if untouched(*each) is None]
    founds = splitter.search([features[row] for row in readable])
    analyses = splitter.analyse([Tokenized(sources[row], tokens[row]) for row in readable])
    splits: list[Case] = []
    wholes: list[Case] = []
    for row, found, analysis in zip(readable, founds, analyses, strict=True):
        known = judged[sources[row], level]
        options = () if found.whole >= SURELY_WHOLE else found.hypotheses
        if not (options and isinstance(analysis, Analysis)):
            continue
        composed = [each for each in compose_found(analysis, found, CLOSE) if len(each.simple) > 1]
        rewrites = [(sources[row],), *(each.simple for each in composed)]
        whole, *verdicts = verifier(sources[row], rewrites, level)
        if (faults := known.get((sources[row],))) is not None:
            wholes.append((row, whole_evidence(found, whole), not faults))
        for option, verdict in zip(composed, verdicts, strict=True):
            if (faults := known.get(option.simple)) is not None:
                is_right = all(kind == SPLIT_FURTHER for _, kind in faults)
                splits.append((row, evidence_of(option, verdict), is_right))
    return splits, wholes


def _report(cases: Sequence[Case], fields: Iterable[str]) -> list[str]:
    rows, evidence, right = (np.array(each, np.float64) for each in zip(*cases, strict=True))
    estimated = np.zeros(len(right))
    folds = np.random.default_rng(0).permutation(int(rows.max()) + 1)[rows.astype(int)] % FOLDS
    for fold in range(FOLDS):
        own = folds == fold
        weights, added = logistic_fit(evidence[~own], right[~own])
        estimated[own] = 1 / (1 + np.exp(-evidence[own] @ weights - added))
    weights, added = logistic_fit(evidence, right)
    shown = ", ".join(f"{name}={each:.4f}" for name, each in zip(fields, weights, strict=True))
    gap = calibration_error(estimated, right)
    area = auc(estimated.astype(np.float32), right > 0) or 0.0
    order = np.argsort(-estimated, kind="stable")
    shares = right[order].cumsum() / np.arange(1, len(right) + 1)
    taken = [np.flatnonzero(shares >= line) for line in LINES]
    return [
        f"  {len(right)} judgements, {right.mean():.1%} without fault",
        f"  {shown}; added {added:.4f}",
        f"  by cross-validation: area {area:.3f}, calibration error {gap:.1%}",
        *(
            f"  {line:.0%} without fault: the surest {(at[-1] + 1) / len(right):.1%}, from a"
            f" confidence of {estimated[order[at[-1]]]:.2f}"
            for line, at in zip(LINES, taken, strict=True)
            if len(at)
        ),
    ]


def logistic_fit(evidence: Floats, right: Floats) -> tuple[Floats, float]:
    """The weights of a logistic regression, and what is added, by Newton's method.

    >>> weights, added = logistic_fit(np.array([[-1.0], [1.0]] * 50), np.array([0.0, 1.0] * 50))
    >>> bool(weights[0] > 1), abs(round(added, 6))
    (True, 0.0)
    """
    mean, spread = evidence.mean(0), evidence.std(0) + 1e-9
    columns = np.c_[(evidence - mean) / spread, np.ones(len(evidence))]
    penalty = np.diag([RIDGE] * evidence.shape[1] + [1e-9])
    found = np.zeros(columns.shape[1])
    for _ in range(50):
        chances = 1 / (1 + np.exp(-columns @ found))
        curvature = columns.T @ (columns * (chances * (1 - chances))[:, None]) + penalty
        found += np.linalg.solve(curvature, columns.T @ (right - chances) - penalty @ found)
    weights = found[:-1] / spread
    return weights, float(found[-1] - weights @ mean)


def calibration_error(estimated: Floats, right: Floats) -> float:
    """The mean difference of estimate and truth over groups of equal size, from unsure to sure."""
    order = np.argsort(estimated, kind="stable")
    edges = np.linspace(0, len(order), BINS + 1).astype(int)
    groups = [order[start:end] for start, end in pairwise(edges.tolist()) if end > start]
    gaps = [abs(estimated[each].mean() - right[each].mean()) * len(each) for each in groups]
    return float(sum(gaps) / len(order))
