r"""SARI (Xu et al. 2016): does a rewrite add, keep and delete what the references do?

Three formulas go by that name, and on the same rewrites they differ by tens of points. They count
the same things. With S, H and R the n-grams of a source, of its rewrite and of its r references
together, as multisets, and rS for r times S:

- add: distinct n-grams; the rewrite adds H - S, the references R - S;
- keep: occurrences; the rewrite keeps rS & rH, the references rS & R;
- delete: occurrences; the rewrite deletes rS - rH, the references rS - R.

Each n from 1 to 4 has a precision and a recall of each operation, a part is the mean of its four
values, and the score is the mean of the three parts. The rest is where they differ:

=================  =====================  =======================  ===========================
\                  ``sari`` (EASSE)       ``sari-xu``              ``sari-hub``
=================  =====================  =======================  ===========================
counted over       the corpus             each rewrite, then mean  each rewrite, then mean
keep, precision    occurrences            mean over distinct       mean over distinct n-grams
                                          n-grams
keep, recall       occurrences            mean over distinct       occurrences
                                          n-grams
delete             F1                     precision                precision
deleted rightly    (rS-rH) & (rS-R)       (rS-rH) - R              (rS-rH) - R
nothing of         0                      0                        1
nothing
=================  =====================  =======================  ===========================

The last line matters most. A source that is copied deletes nothing and adds nothing: under
``sari-hub`` its deletion is perfect, and so is the precision of what it adds.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import ClassVar, NamedTuple

import numpy as np

from parataxis.evaluate.metrics.protocol import Score, ScoredItem, Signature, Statistics, score
from parataxis.evaluate.metrics.tokens import ORDERS, TextMetric, ngrams, text_items

_PARTS = ("add", "keep", "delete")
_KEPT_PAIRS = 1024


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
    """What a rewrite and its references do with the n-grams of one length.

    ``add``, ``keep`` and ``delete`` are what both do, what the rewrite does and what the references
    do. The others are for distinct n-grams: how many are kept by the rewrite, by the references
    and deleted by the rewrite, and how many of them rightly, each as a share of its occurrences.
    """

    add: tuple[int, int, int]
    keep: tuple[int, int, int]
    delete: tuple[int, int, int]
    kept: int
    to_keep: int
    deleted: int
    kept_rightly: float
    rightly_kept: float
    deleted_rightly: float


class CorpusSari(TextMetric):
    """SARI as corrected in EASSE (Alva-Manchego et al. 2019), its default: counts are summed over
    the corpus, and each operation and each n has an F1.

    It is no mean over rewrites: there, each source that is rightly left whole would count as 33.3.
    A precision or recall of nothing is 0, so a rewrite that equals its reference scores 100 only
    if the references add and delete n-grams of every length somewhere in the corpus; a corpus
    whose references are the sources has at most 33.3.
    """

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
        rows = [
            [[getattr(one, part) for one in self._operations(item)] for part in _PARTS]
            for item in items
        ]
        return np.array(rows, float).reshape(len(items), -1)

    def from_statistics(self, total: Statistics) -> Score:
        """SARI and its parts."""
        both, written, wanted = np.moveaxis(total.reshape(len(_PARTS), len(ORDERS), 3), 2, 0)
        # F1 is the harmonic mean of both / written and both / wanted.
        f1 = np.divide(2 * both, written + wanted, out=np.zeros_like(both), where=both > 0)
        return _score(100 * f1.mean(axis=1), self.signature)

    def _operations(self, item: ScoredItem) -> list[_Operations]:
        texts = item.source, item.text, item.reference_texts
        return [_operations(*texts, n, self.tokenize, bool(self.lowercase)) for n in ORDERS]


class XuSari(CorpusSari):
    """SARI as its authors released it (``SARI.py`` of Xu et al. 2016): the mean over rewrites of a
    score of each one.

    The released program splits lower-cased texts at spaces and so needs tokenised input. Here texts
    are tokenised as 13a, which leaves tokenised ones as they are, unless ``tokenize`` is "spaces".
    """

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
        return np.array([[*self._parts(item), 1.0] for item in items])

    def from_statistics(self, total: Statistics) -> Score:
        """SARI and its parts."""
        return _score(100 * total[:3] / total[3], self.signature)

    def _parts(self, item: ScoredItem) -> list[float]:
        found = self._operations(item)
        parts = (self._add, self._keep, self._delete)
        return [sum(part(one) for one in found) / len(ORDERS) for part in parts]

    def _add(self, found: _Operations) -> float:
        both, written, wanted = found.add
        return _f1(self._ratio(both, written), self._ratio(both, wanted))

    def _keep(self, found: _Operations) -> float:
        precision = self._ratio(found.kept_rightly, found.kept)
        return _f1(precision, self._keep_recall(found))

    def _keep_recall(self, found: _Operations) -> float:
        return self._ratio(found.rightly_kept, found.to_keep)

    def _delete(self, found: _Operations) -> float:
        return self._ratio(found.deleted_rightly, found.deleted)

    def _ratio(self, part: float, whole: float) -> float:
        return part / whole if whole else float(self.settings["0/0"])


class HubSari(XuSari):
    """SARI of the metric hub (Hugging Face ``evaluate``, ``sari``), taken from tensor2tensor: that
    of Xu et al. with two changes.

    A ratio of nothing to nothing is 1, so a rewrite that equals its only reference has 100 (or
    less, if the reference drops one of two occurrences of a word: that is never a right deletion
    here); and the recall of what is kept counts occurrences. A copy of the source scores about 65
    on WikiSplit: its deletion is perfect, since it deletes nothing.
    """

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
    """SARI of the rewrites of a corpus: :class:`CorpusSari` for texts in lists.

    A rewrite and a reference are running text: their simple sentences joined by a space.
    ``references`` holds the references of each source, at least one. All texts are lower-cased,
    unless ``lowercase`` is off, and tokenised as 13a.
    """
    items = text_items(sources, rewrites, references)
    return Sari(**score(CorpusSari(lowercase=lowercase), items).parts)


@lru_cache(maxsize=len(ORDERS) * _KEPT_PAIRS)
def _operations(
    source: str, rewrite: str, references: tuple[str, ...], n: int, tokenize: str, lowercase: bool
) -> _Operations:
    """The counts that all three formulas are made of."""
    place, times = n - 1, len(references)
    before = ngrams(source, tokenize=tokenize, lowercase=lowercase)[place]
    after = ngrams(rewrite, tokenize=tokenize, lowercase=lowercase)[place]
    targets = [ngrams(text, tokenize=tokenize, lowercase=lowercase)[place] for text in references]

    added, to_add = after.keys() - before.keys(), set().union(*targets) - before.keys()
    wanted_counts = dict.fromkeys(before, 0)
    for found in targets:
        for ngram in before.keys() & found.keys():
            wanted_counts[ngram] += found[ngram]

    keeps = keeps_wanted = keeps_both = deletes_both = size = 0
    kept = to_keep = deleted = 0
    kept_rightly = rightly_kept = deleted_rightly = 0.0
    for ngram, target in wanted_counts.items():
        count = before[ngram]
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
        (len(added & to_add), len(added), len(to_add)),
        (keeps_both, keeps, keeps_wanted),
        # What is not kept is deleted.
        (deletes_both, size - keeps, size - keeps_wanted),
        kept,
        to_keep,
        deleted,
        kept_rightly,
        rightly_kept,
        deleted_rightly,
    )


def _f1(precision: float, recall: float) -> float:
    total = precision + recall
    return 2 * precision * recall / total if total else 0.0


def _score(parts: Statistics, signature: Signature) -> Score:
    named = {name: float(part) for name, part in zip(_PARTS, parts, strict=True)}
    return Score(sum(named.values()) / len(named), signature, named)
