"""SARI (Xu et al. 2016): does a rewrite add, keep and delete what the references do?

Three formulas go by that name, and on the same rewrites they differ by tens of points. They are
made of the same counts; the table in docs/metrics.md says where they differ.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np

from parataxis.evaluate.metrics.protocol import WINDOW, Score, ScoredItem, Statistics, score
from parataxis.evaluate.metrics.tokens import (
    ORDERS,
    Ngram,
    References,
    TextMetric,
    ngrams,
    text_items,
)

_PARTS = ("add", "keep", "delete")


@dataclass(frozen=True, slots=True)
class Sari:
    """The score and its three parts, each from 0 to 100."""

    add: float
    keep: float
    delete: float

    @property
    def score(self) -> float:
        """The mean of the three parts: what is called SARI."""
        return (self.add + self.keep + self.delete) / 3


class _Operations(NamedTuple):
    """What a rewrite and its references do with the n-grams of one length."""

    add: tuple[int, int, int]
    """Distinct n-grams: what both do, what the rewrite does, what the references do."""
    keep: tuple[int, int, int]
    """The same for occurrences, as in ``delete``."""
    delete: tuple[int, int, int]
    kept: tuple[float, int]
    """Distinct n-grams that the rewrite keeps: the sum of the shares of their occurrences that are
    kept rightly, and their number; so too what the references keep, and the rewrite deletes."""
    to_keep: tuple[float, int]
    deleted: tuple[float, int]


_KEPT: dict[tuple[ScoredItem, str, bool | None], list[_Operations]] = {}


class CorpusSari(TextMetric):
    """SARI as corrected in EASSE (Alva-Manchego et al. 2019), its default: counts are summed over
    the corpus, each operation and each n has an F1, and a precision or recall of nothing is 0. So
    a corpus whose references are the sources has at most 33.3."""

    name = "sari"
    summary = "corpus SARI as corrected in EASSE"
    lowercase = True
    settings: ClassVar[Mapping[str, str]] = {
        "variant": "easse",
        "level": "corpus",
        "delete": "f1",
        "0/0": "0",
    }

    def statistics(self, items: Sequence[ScoredItem]) -> Statistics:
        """For each item, operation and n: what agrees, what the rewrite does, what the references
        do."""
        rows = [[one[:3] for one in self._operations(item)] for item in items]
        return np.array(rows, float).swapaxes(1, 2).reshape(len(items), -1)

    def from_statistics(self, total: Statistics) -> Score:
        both, written, wanted = np.moveaxis(total.reshape(len(_PARTS), len(ORDERS), 3), 2, 0)
        # F1 is the harmonic mean of both / written and both / wanted.
        f1 = np.divide(2 * both, written + wanted, out=np.zeros_like(both), where=both > 0)
        return self._score(100 * f1.mean(axis=1))

    def _operations(self, item: ScoredItem) -> list[_Operations]:
        """The counts that all three formulas are made of, for each length of n-grams. They are
        kept for the other two, which score the same items next."""
        key = item, self.tokenize, self.lowercase
        found = _KEPT.get(key)
        if found is None:
            references, lowercase = self.references(item), bool(self.lowercase)
            before = ngrams(item.source, tokenize=self.tokenize, lowercase=lowercase)
            after = ngrams(item.text, tokenize=self.tokenize, lowercase=lowercase)
            found = [_operations(n, before[n - 1], after[n - 1], references) for n in ORDERS]
            if len(_KEPT) >= 2 * WINDOW:
                _KEPT.clear()
            _KEPT[key] = found
        return found

    def _score(self, parts: Statistics) -> Score:
        named = dict(zip(_PARTS, parts.tolist(), strict=True))
        return Score(sum(named.values()) / len(named), self.signature, named)


class XuSari(CorpusSari):
    """SARI as its authors released it (``SARI.py`` of Xu et al. 2016): the mean over rewrites of a
    score of each one. The released program splits lower-cased texts at spaces, so it needs
    tokenised input; that is ``tokenize="spaces"``."""

    name = "sari-xu"
    summary = "SARI as Xu et al. (2016) released it: the mean of sentences"
    settings: ClassVar[Mapping[str, str]] = {
        "variant": "xu2016",
        "level": "mean of sentences",
        "delete": "precision",
        "0/0": "0",
    }

    def statistics(self, items: Sequence[ScoredItem]) -> Statistics:
        """For each item its three parts, and 1."""
        rows = [[self._parts(found) for found in self._operations(item)] for item in items]
        means = [[sum(part) / len(ORDERS) for part in zip(*row, strict=True)] for row in rows]
        return np.array([[*parts, 1.0] for parts in means])

    def from_statistics(self, total: Statistics) -> Score:
        return self._score(100 * total[:3] / total[3])

    def _parts(self, found: _Operations) -> tuple[float, float, float]:
        both, written, wanted = found.add
        return (
            _f1(self._ratio(both, written), self._ratio(both, wanted)),
            _f1(self._ratio(*found.kept), self._keep_recall(found)),
            self._ratio(*found.deleted),
        )

    def _keep_recall(self, found: _Operations) -> float:
        return self._ratio(*found.to_keep)

    def _ratio(self, part: float, whole: float) -> float:
        return part / whole if whole else float(self.settings["0/0"])


class HubSari(XuSari):
    """SARI of the metric hub (Hugging Face ``evaluate``, ``sari``), taken from tensor2tensor: that
    of Xu et al., but a ratio of nothing to nothing is 1, and the recall of what is kept counts
    occurrences. A copy of the source scores about 65: it deletes nothing."""

    name = "sari-hub"
    summary = "SARI of Hugging Face evaluate: the mean of sentences, 0/0 = 1"
    settings: ClassVar[Mapping[str, str]] = {**XuSari.settings, "variant": "hub", "0/0": "1"}

    def _keep_recall(self, found: _Operations) -> float:
        both, _, wanted = found.keep
        return self._ratio(both, wanted)


def corpus_sari(
    sources: Sequence[str],
    rewrites: Sequence[str],
    references: Sequence[Sequence[str]],
    *,
    lowercase: bool = True,
) -> Sari:
    """SARI of the rewrites of a corpus: :class:`CorpusSari` for running texts in lists.
    ``references`` holds the references of each source, at least one."""
    items = text_items(sources, rewrites, references)
    return Sari(**score(CorpusSari(lowercase=lowercase), items).parts)


def _operations(
    n: int, before: Mapping[Ngram, int], after: Mapping[Ngram, int], references: References
) -> _Operations:
    added, times = after.keys() - before.keys(), references.number
    keeps = keeps_wanted = keeps_both = deletes_both = size = 0
    kept = to_keep = deleted = 0
    kept_rightly = rightly_kept = deleted_rightly = 0.0
    targets = references.occurrences(n, before)
    for (ngram, count), target in zip(before.items(), targets, strict=True):
        source_count = times * count
        written = times * min(count, after.get(ngram, 0))
        wanted = min(source_count, target)
        agreed = min(written, wanted)
        left = source_count - written
        size += source_count
        keeps += written
        keeps_wanted += wanted
        keeps_both += agreed
        if written:
            kept += 1
            kept_rightly += agreed / written
        if wanted:
            to_keep += 1
            rightly_kept += agreed / wanted
        if left:
            deleted += 1
            deleted_rightly += max(0, left - target) / left
            deletes_both += min(left, source_count - wanted)
    return _Operations(
        (
            sum(count > 0 for count in references.occurrences(n, added)),
            len(added),
            references.number_outside(n, before),
        ),
        (keeps_both, keeps, keeps_wanted),
        (deletes_both, size - keeps, size - keeps_wanted),  # what is not kept is deleted
        (kept_rightly, kept),
        (rightly_kept, to_keep),
        (deleted_rightly, deleted),
    )


def _f1(precision: float, recall: float) -> float:
    total = precision + recall
    return 2 * precision * recall / total if total else 0.0
