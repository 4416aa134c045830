"""Meta-evaluation: how far metrics agree with human judgements (Zhang et al. 2020, table 4).

A metric scores each judged rewrite on its own. The correlation is taken over rewrites, or over the
means of systems. Rewrites of one source are not independent, because a hard source is hard for all
systems: there the cluster bootstrap resamples sources, each with all its pairs.
"""

import math
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from parataxis.errors import InputError, needs
from parataxis.evaluate.judgements import Judged
from parataxis.evaluate.metrics.protocol import Metric, statistics_of
from parataxis.report import NONE, Table

Numbers = NDArray[np.float64]

FEWEST = 5
"""The fewest pairs for a correlation, and the fewest clusters for an interval."""
FEW = 20
"""With fewer pairs the p-value comes from permutations: the analytic one holds for many only."""
TRIALS = 1000
SEED = 1
_CHUNK = 100


Coefficient = StrEnum("Coefficient", "SPEARMAN KENDALL PEARSON")
"""Which correlation."""


class Estimate(NamedTuple):
    """A coefficient, its two-sided p-value, its 95 % interval and the number of pairs."""

    value: float
    p_value: float
    low: float
    high: float
    pairs: int


def coefficient(
    first: Numbers, second: Numbers, kind: Coefficient, clusters: Sequence[str] | None = None
) -> Estimate:
    """The correlation of two variables; NaN if there are too few pairs or one does not vary.

    ``clusters`` says which pairs belong together, such as those of one source. If some do, interval
    and p come from 1,000 bootstrap samples of clusters; fewer than five clusters have neither.
    Otherwise both are analytic, but with fewer than 20 pairs p comes from 1,000 permutations.
    """
    known = ~(np.isnan(first) | np.isnan(second))
    first, second = first[known], second[known]
    pairs = len(first)
    if pairs < FEWEST or np.ptp(first) == 0 or np.ptp(second) == 0:
        return Estimate(math.nan, math.nan, math.nan, math.nan, pairs)
    value, p_value = _exact(first, second, kind)
    together = np.array(clusters)[known] if clusters is not None else np.arange(pairs)
    number = len(np.unique(together))
    if number < FEWEST:
        return Estimate(value, math.nan, math.nan, math.nan, pairs)
    if number < pairs:
        return Estimate(value, *_from_trials(resampled(first, second, kind, together)), pairs)
    if pairs < FEW:
        p_value = _permuted(first, second, kind)
    return Estimate(value, p_value, *_interval(value, pairs, kind), pairs)


def resampled(
    first: Numbers, second: Numbers, kind: Coefficient, clusters: Sequence[str] | NDArray[Any]
) -> Numbers:
    """The coefficient in each bootstrap sample of clusters; the samples are always the same."""
    names, members = np.unique(clusters, return_inverse=True)
    chance = np.random.default_rng(SEED)
    share = np.full(len(names), 1 / len(names))
    signs = _agreement(first, second, members) if kind is Coefficient.KENDALL else None
    found = []
    for _ in range(TRIALS // _CHUNK):
        # How often each cluster is drawn: a pair that is drawn twice counts twice, so nothing is
        # sorted again.
        drawn = chance.multinomial(len(names), share, _CHUNK).astype(np.float64)
        if signs is not None:
            top, one, other = ((drawn @ part * drawn).sum(1) for part in signs)
        else:
            weights = drawn[:, members]
            total = weights.sum(1, keepdims=True)
            sides = [first[None, :], second[None, :]]
            if kind is Coefficient.SPEARMAN:
                sides = [_ranks(side, weights) for side in (first, second)]
            left, right = (side - (weights * side).sum(1, keepdims=True) / total for side in sides)
            top = (weights * left * right).sum(1)
            one, other = ((weights * side**2).sum(1) for side in (left, right))
        bottom = np.sqrt(one * other)
        found.append(np.divide(top, bottom, out=np.full_like(top, np.nan), where=bottom > 0))
    return np.concatenate(found)


def _from_trials(values: Numbers) -> tuple[float, float, float]:
    """A p-value and the percentile interval."""
    values = values[~np.isnan(values)]
    if not len(values):
        return math.nan, math.nan, math.nan
    beyond = min((values <= 0).sum(), (values >= 0).sum())
    low, high = np.percentile(values, (2.5, 97.5))
    return min(1.0, float(2 * (beyond + 1) / (len(values) + 1))), float(low), float(high)


def _ranks(side: Numbers, weights: Numbers) -> Numbers:
    """The rank of each value in each sample, equal values at their mean rank."""
    order = np.argsort(side, kind="stable")
    _, place = np.unique(side, return_inverse=True)
    _, starts = np.unique(side[order], return_index=True)
    counts = np.add.reduceat(weights[:, order], starts, axis=1)
    ranks: Numbers = (np.cumsum(counts, axis=1) - counts / 2)[:, place]
    return ranks


def _agreement(
    first: Numbers, second: Numbers, members: NDArray[np.intp]
) -> tuple[Numbers, Numbers, Numbers]:
    """For each two clusters, over all pairs between them, the signs of Kendall's tau-b: those of
    both sides multiplied, and how many are not zero on the one and on the other."""
    size = int(members.max()) + 1
    both, left, right = np.zeros((3, size, size))
    for row, member in enumerate(members):
        one, other = np.sign(first[row] - first), np.sign(second[row] - second)
        for table, values in ((both, one * other), (left, one**2), (right, other**2)):
            table[member] += np.bincount(members, weights=values, minlength=size)
    return both, left, right


def _permuted(first: Numbers, second: Numbers, kind: Coefficient) -> float:
    """How often a random order of one side gives as large a coefficient, to either side."""
    chance = np.random.default_rng(SEED)
    tables = [_centred(side, kind) for side in (first, second)]

    def agreement(order: NDArray[np.intp]) -> float:
        moved = tables[1][order] if tables[1].ndim == 1 else tables[1][np.ix_(order, order)]
        return abs(float((tables[0] * moved).sum()))

    observed = agreement(np.arange(len(first))) - 1e-9
    reached = sum(agreement(chance.permutation(len(first))) >= observed for _ in range(TRIALS))
    return (reached + 1) / (TRIALS + 1)


def _centred(side: Numbers, kind: Coefficient) -> Numbers:
    """What is multiplied and summed for a coefficient, but for a factor that no order changes."""
    if kind is Coefficient.KENDALL:
        signs: Numbers = np.sign(side[:, None] - side[None, :])
        return signs
    if kind is Coefficient.SPEARMAN:
        side = _ranks(side, np.ones((1, len(side))))[0]
    centred: Numbers = side - side.mean()
    return centred


def _interval(value: float, pairs: int, kind: Coefficient) -> tuple[float, float]:
    """The interval on Fisher's scale; the variances for ranks are those of Bonett and Wright
    (2000) and Fieller et al. (1957)."""
    variances = {
        Coefficient.PEARSON: 1 / (pairs - 3),
        Coefficient.SPEARMAN: (1 + value**2 / 2) / (pairs - 3),
        Coefficient.KENDALL: 0.437 / (pairs - 4),
    }
    centre = math.atanh(max(-0.999999, min(0.999999, value)))
    reach = 1.959964 * math.sqrt(variances[kind])
    return math.tanh(centre - reach), math.tanh(centre + reach)


def _exact(first: Numbers, second: Numbers, kind: Coefficient) -> tuple[float, float]:
    with needs("Correlations need scipy", "metrics"):
        from scipy import stats
    functions = {
        "spearman": stats.spearmanr,
        "kendall": stats.kendalltau,
        "pearson": stats.pearsonr,
    }
    found = functions[kind](first, second)
    return float(found.statistic), float(found.pvalue)


CorrelationUnit = StrEnum("CorrelationUnit", "REWRITE SYSTEM")
"""What is correlated: single rewrites, or the means of systems."""


@dataclass(frozen=True, slots=True)
class Correlation:
    """A coefficient between a metric and a criterion in a group of judged rewrites, as in
    :class:`Estimate`."""

    metric: str
    criterion: str
    group: str
    value: float
    p_value: float
    low: float
    high: float
    pairs: int

    @property
    def is_significant(self) -> bool:
        return self.p_value < 0.05

    def __str__(self) -> str:
        """The coefficient, with a dagger where it is not significant."""
        if math.isnan(self.value):
            return NONE
        return f"{self.value:.3f}{'' if self.is_significant else '†'}"


def correlation_table(
    found: Sequence[Correlation], names: tuple[str, str] = ("group", "metric"), whole: str = "all"
) -> Table:
    """A row for each group and metric, a column for each criterion; ``whole`` is the name of the
    group of all rewrites."""
    criteria = list(dict.fromkeys(each.criterion for each in found))
    rows: dict[tuple[str, str], dict[str, str]] = defaultdict(dict)
    for each in found:
        rows[each.group, each.metric][each.criterion] = str(each)
    cells = [
        [whole if group == "all" else group, metric, *(row[name] for name in criteria)]
        for (group, metric), row in rows.items()
    ]
    return Table([*names, *criteria], cells, names=2)


def correlate(
    judged: Sequence[Judged],
    metrics: Sequence[Metric],
    *,
    kind: Coefficient = Coefficient.SPEARMAN,
    unit: CorrelationUnit = CorrelationUnit.REWRITE,
    by: Sequence[str] = (),
) -> list[Correlation]:
    """Correlate every metric with every criterion, over all rewrites and within each group. ``by``
    lists what rewrites are grouped by: "system", "benchmark", or both."""
    if not judged:
        raise InputError("There are no judged rewrites.")
    scores = single_scores(metrics, judged)
    criteria = dict.fromkeys(name for each in judged for name in each.judgements)
    people = {
        name: np.array([each.judgements.get(name, np.nan) for each in judged]) for name in criteria
    }
    return [
        Correlation(metric, criterion, group, *_estimate(said, opinion, judged, rows, kind, unit))
        for group, rows in _groups(judged, by)
        for metric, said in scores.items()
        for criterion, opinion in people.items()
    ]


def single_scores(metrics: Sequence[Metric], judged: Sequence[Judged]) -> dict[str, Numbers]:
    """The score of each rewrite on its own, by every metric."""
    for metric in metrics:
        if metric.needs_references and not all(each.item.references for each in judged):
            raise InputError(f"The metric {metric.name} needs a reference for every judged source.")
    rows = statistics_of(metrics, (each.item for each in judged))
    return {
        metric.name: np.array([metric.from_statistics(row).value for row in found])
        for metric, found in zip(metrics, rows, strict=True)
    }


def _estimate(
    said: Numbers,
    opinion: Numbers,
    judged: Sequence[Judged],
    rows: NDArray[np.int64],
    kind: Coefficient,
    unit: CorrelationUnit,
) -> Estimate:
    rows = rows[~(np.isnan(said[rows]) | np.isnan(opinion[rows]))]
    if unit is CorrelationUnit.REWRITE:
        sources = [judged[row].item.source for row in rows]
        return coefficient(said[rows], opinion[rows], kind, sources)
    _, index = np.unique([judged[row].system for row in rows], return_inverse=True)
    sums = (np.bincount(index, weights=side[rows]) for side in (said, opinion))
    first, second = (total / np.bincount(index) for total in sums)
    return coefficient(first, second, kind)


def _groups(judged: Sequence[Judged], by: Sequence[str]) -> Iterable[tuple[str, NDArray[np.int64]]]:
    yield "all", np.arange(len(judged))
    names = [" ".join(str(getattr(each, part)) for part in by) for each in judged] if by else []
    for name in dict.fromkeys(names):
        yield name, np.array([row for row, other in enumerate(names) if other == name])
