"""A metric learnt from human judgements: predicted ratings of a rewrite, without references.

Four ridge regressions on a few dozen features of the source and the rewrite, fitted by
``parataxis train metric`` on published judgements. docs/metrics.md says how far it
agrees with people on systems it has not seen; ``model/NOTICE`` says what it was fitted on.
"""

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from itertools import pairwise
from typing import Any, ClassVar, TypeVar

import numpy as np
from numpy.typing import NDArray

from parataxis.checks import Checker, SentenceAnalyser
from parataxis.errors import ParataxisError
from parataxis.evaluate.metrics.facts import AnalysedMetric, PatternsSplit
from parataxis.evaluate.metrics.protocol import Score, ScoredItem, Statistics
from parataxis.rewrite.record import FindingKind
from parataxis.syntax.analysis import Analysis
from parataxis.syntax.patterns import find_patterns
from parataxis.text.readability import count_syllables
from parataxis.text.tokens import tokenize

CRITERIA = {
    "grammaticality": (1.0, 5.0),
    "meaning": (1.0, 5.0),
    "simplicity": (-2.0, 2.0),
    "structural_simplicity": (-2.0, 2.0),
}
"""What it predicts, and the ends of the scales that raters used."""
_ENDS = np.array(list(CRITERIA.values())).T

FITTED_ON = "sulem2018"
"""The judgements of structural simplicity by Sulem et al. (2018), on sources of HSplit."""

T = TypeVar("T")

_FARTHEST = 4.0
"""Features are clipped at this many standard deviations from their mean."""


@dataclass(frozen=True)
class Regression:
    """Linear regressions on scaled features, one row of weights for each criterion."""

    mean: NDArray[np.float64]
    spread: NDArray[np.float64]
    weights: NDArray[np.float64]
    offsets: NDArray[np.float64]

    def __call__(self, rows: NDArray[np.float64]) -> NDArray[np.float64]:
        """The predicted judgements of rows of features."""
        scaled = np.clip((rows - self.mean) / self.spread, -_FARTHEST, _FARTHEST)
        found: NDArray[np.float64] = scaled @ self.weights.T + self.offsets
        return found

    @classmethod
    def fit(
        cls, rows: NDArray[np.float64], judgements: NDArray[np.float64], penalty: float
    ) -> "Regression":
        """The ridge regression of judgements (rewrites, criteria) on features."""
        mean, spread = rows.mean(0), rows.std(0)
        spread = np.where(spread > 0, spread, 1.0)
        scaled = np.clip((rows - mean) / spread, -_FARTHEST, _FARTHEST)
        centre = scaled.mean(0)
        offsets = judgements.mean(0)
        inner = scaled - centre
        square = inner.T @ inner + penalty * np.eye(rows.shape[1])
        weights = np.linalg.solve(square, inner.T @ (judgements - offsets)).T
        return cls(mean, spread, weights, offsets - weights @ centre)

    def as_record(self) -> dict[str, object]:
        """A record for :meth:`from_record`, rounded to eight digits."""
        return {
            "features": list(FEATURES),
            "criteria": list(CRITERIA),
            **{name: np.round(value, 8).tolist() for name, value in vars(self).items()},
        }

    @classmethod
    def from_record(cls, record: Mapping[str, Sequence[Any]]) -> "Regression":
        """Read a record of :meth:`as_record`; raises ParataxisError if it was made for other
        features or criteria."""
        for key, wanted in (("features", FEATURES), ("criteria", tuple(CRITERIA))):
            if tuple(record.get(key, ())) != wanted:
                raise ParataxisError(
                    f"The weights of the learned metric are for other {key}; fit it again with "
                    "parataxis train metric."
                )
        names = ("mean", "spread", "weights", "offsets")
        return cls(*(np.array(record[name], dtype=np.float64) for name in names))


class Learned(AnalysedMetric):
    """Predicted ratings: the mean of four predicted judgements, each scaled to 0 to 100. The parts
    are the predictions on the scales that raters used (:data:`CRITERIA`)."""

    name = "learned"
    summary = "human ratings, predicted without references"
    settings: ClassVar[Mapping[str, str]] = {
        "model": "ridge-1",
        "fitted-on": FITTED_ON,
        "level": "mean of rewrites",
    }

    averages = tuple(CRITERIA)

    def __init__(
        self, analyser: SentenceAnalyser | None = None, regression: Regression | None = None
    ) -> None:
        super().__init__(analyser)
        self._regression = regression

    def statistics(self, items: Sequence[ScoredItem]) -> Statistics:
        """For each item the four predictions, and one."""
        regression = self._regression or _shipped()
        predicted = np.clip(regression(features(items, self.analyser)), *_ENDS)
        return np.column_stack([predicted, np.ones(len(items))])

    def from_statistics(self, total: Statistics) -> Score:
        if not total[-1]:
            return Score(float("nan"), self.signature)
        means = total[:-1] / total[-1]
        low, high = _ENDS
        value = float((100 * (means - low) / (high - low)).mean())
        return Score(value, self.signature, dict(zip(CRITERIA, means.tolist(), strict=True)))


def features(items: Sequence[ScoredItem], analyser: SentenceAnalyser) -> NDArray[np.float64]:
    """One row of :data:`FEATURES` for each item."""
    items = [item.plain for item in items]
    findings = Checker(analyser).pipe((item.source, item.simple) for item in items)
    counts = _pattern_counts(items, analyser)
    split = PatternsSplit(analyser)
    shares = [split.from_statistics(row).value for row in split.statistics(items)]
    rows = []
    for item, each, patterns, share in zip(items, findings, counts, shares, strict=True):
        kinds = Counter(finding.kind for finding in each)
        found = [kinds[kind] / max(1, len(item.simple)) for kind in FindingKind]
        rows.append([*_shape(item).values(), *patterns, np.nan_to_num(share), *found])
    return np.array(rows, dtype=np.float64)


def _shape(item: ScoredItem) -> dict[str, float]:
    before = _words(item.source)
    known = set(before)
    sentences = [_words(sentence) for sentence in item.simple]
    after = [word for sentence in sentences for word in sentence]
    lengths = [len(sentence) for sentence in sentences] or [0]
    pairs_before, pairs_after = Counter(pairwise(before)), Counter(pairwise(after))
    syllables = _syllables(after)
    return {
        "words kept": _share(Counter(before) & Counter(after), Counter(before)),
        "words new": _share(Counter(after) - Counter(before), Counter(after)),
        "words known": _share(Counter(word for word in after if word in known), Counter(after)),
        "pairs kept": _share(pairs_before & pairs_after, pairs_before),
        "pairs new": _share(pairs_after - pairs_before, pairs_after),
        "length": len(after) / max(1, len(before)),
        "sentences": float(len(sentences)),
        "tokens of a sentence": float(np.mean(lengths)),
        "longest sentence": float(max(lengths)),
        "share of the longest": max(lengths) / max(1, len(before)),
        "source length": float(len(before)),
        "syllables of a word": syllables,
        "syllables gained": syllables - _syllables(before),
        "unchanged": float(before == after),
    }


def _pattern_counts(
    items: Sequence[ScoredItem], analyser: SentenceAnalyser
) -> list[tuple[float, float]]:
    """How many patterns the source of each item has, and how many its simple sentences have."""
    analyses = analyser.pipe(text for item in items for text in (item.source, *item.simple))
    found = (len(find_patterns(each)) if isinstance(each, Analysis) else 0 for each in analyses)
    return [(float(next(found)), float(sum(next(found) for _ in item.simple))) for item in items]


def _words(text: str) -> list[str]:
    return [token.text.lower() for token in tokenize(text)]


def _share(part: Counter[T], whole: Counter[T]) -> float:
    return part.total() / max(1, whole.total())


def _syllables(words: Sequence[str]) -> float:
    spoken = [word for word in words if any(map(str.isalpha, word))]
    return sum(map(count_syllables, spoken)) / max(1, len(spoken))


FEATURES = (
    *_shape(ScoredItem("", ())),
    *("patterns of the source", "patterns left", "patterns split"),
    *(f"{kind.value} findings" for kind in FindingKind),
)
"""The names of the features, in order."""


@cache
def _shipped() -> Regression:
    shipped = files("parataxis.evaluate.metrics") / "model" / "learned.json"
    if not shipped.is_file():
        raise ParataxisError(
            'The numbers of the metric "learned" were removed from this installation; leave the '
            "metric out, or fit it again with: parataxis train metric."
        )
    return Regression.from_record(json.loads(shipped.read_text(encoding="utf-8")))
