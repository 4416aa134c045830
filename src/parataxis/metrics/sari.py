"""Corpus SARI (Xu et al. 2016): does a rewrite add, keep and delete what the references do?"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean

from parataxis.metrics.extra import tokenizer_13a

__all__ = ["Sari", "corpus_sari"]

ORDERS = (1, 2, 3, 4)
"""Lengths of the n-grams."""

Ngrams = Counter[tuple[str, ...]]


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


def corpus_sari(
    sources: Sequence[str],
    rewrites: Sequence[str],
    references: Sequence[Sequence[str]],
    *,
    lowercase: bool = True,
) -> Sari:
    """SARI of the rewrites of a corpus.

    A rewrite and a reference are running text: their simple sentences joined by a space.
    ``references`` holds the references of each source, at least one. All texts are lower-cased,
    unless ``lowercase`` is off, and tokenised as 13a.

    The formula is the default of EASSE (Alva-Manchego et al. 2019). With S, H and R the n-grams of
    a source, its rewrite and its r references together, as multisets, and rS for r times S:

    - add: distinct n-grams; the rewrite adds H - S, the references R - S;
    - keep: occurrences; the rewrite keeps rS & rH, the references rS & R;
    - delete: occurrences; the rewrite deletes rS - rH, the references rS - R.

    For each operation and each n from 1 to 4, the counts of the n-grams on which the rewrite and
    the references agree, those of the rewrite and those of the references are summed over the
    whole corpus, and give precision, recall and F1. A part of the score is the mean of its four
    F1. A precision or recall of nothing is 0, so a rewrite that equals its reference scores 100
    only where the references add and delete n-grams of every length somewhere in the corpus;
    a corpus whose references are the sources has at most 33.3.

    This differs from Xu et al. (2016) in that deletion is an F1 and not a precision, and that F1
    is taken for each n and not once for the averages over n. It is no mean over sentences: there,
    each source that is rightly left whole would count as 33.3.
    """
    if not len(sources) == len(rewrites) == len(references) or not all(references):
        raise ValueError("each source needs its rewrite and its references")
    if not sources:
        raise ValueError("there are no rewrites to score")
    tokenize = tokenizer_13a()

    def tokens(text: str) -> list[str]:
        return tokenize(text.lower() if lowercase else text).split()

    add, keep, delete = ([_Agreement() for _ in ORDERS] for _ in range(3))
    for source, rewrite, texts in zip(sources, rewrites, references, strict=True):
        before, after, targets = tokens(source), tokens(rewrite), [tokens(text) for text in texts]
        for place, order in enumerate(ORDERS):
            s, h, r = _ngrams([before], order), _ngrams([after], order), _ngrams(targets, order)
            add[place].count(Counter(h.keys() - s.keys()), Counter(r.keys() - s.keys()))
            s, h = _times(len(targets), s), _times(len(targets), h)
            keep[place].count(s & h, s & r)
            delete[place].count(s - h, s - r)
    return Sari(*(100 * fmean(part.f1 for part in parts) for parts in (add, keep, delete)))


@dataclass(slots=True)
class _Agreement:
    """How many n-grams the rewrites and the references add, keep or delete: both, and each."""

    both: int = 0
    rewrites: int = 0
    references: int = 0

    def count(self, rewrite: Ngrams, references: Ngrams) -> None:
        self.both += (rewrite & references).total()
        self.rewrites += rewrite.total()
        self.references += references.total()

    @property
    def f1(self) -> float:
        """The harmonic mean of both / rewrites and both / references."""
        total = self.rewrites + self.references
        return 2 * self.both / total if total else 0.0


def _ngrams(texts: Sequence[Sequence[str]], order: int) -> Ngrams:
    return Counter(
        tuple(tokens[start : start + order])
        for tokens in texts
        for start in range(len(tokens) - order + 1)
    )


def _times(factor: int, ngrams: Ngrams) -> Ngrams:
    return Counter({ngram: factor * count for ngram, count in ngrams.items()})
