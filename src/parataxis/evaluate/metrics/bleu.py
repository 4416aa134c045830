"""BLEU (Papineni et al. 2002): of a corpus, and averaged over single rewrites."""

from collections.abc import Mapping, Sequence
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from typing import ClassVar

import numpy as np

from parataxis.evaluate.metrics.protocol import RatioMetric, Score, ScoredItem, Statistics, score
from parataxis.evaluate.metrics.tokens import ORDERS, TextMetric, ngrams, sacrebleu, text_items

_SCALE = 10**6


class Bleu(TextMetric):
    """Corpus BLEU, to the last digit that of sacrebleu's ``corpus_score`` on texts in which
    brackets are plain. The number of references may differ from source to source."""

    name = "bleu"
    summary = "corpus BLEU of sacrebleu, capitals count"
    settings: ClassVar[Mapping[str, str]] = {"level": "corpus"}
    smooth = "exp"
    order = ""
    """Which lengths of n-grams count, where that can differ: "4" or "effective"."""

    @property
    def versions(self) -> Mapping[str, str]:
        """Smoothing, the lengths of n-grams, and the version of sacrebleu."""
        order = {"order": self.order} if self.order else {}
        return {"smooth": self.smooth, **order, "sacrebleu": _sacrebleu_version()}

    def statistics(self, items: Sequence[ScoredItem]) -> Statistics:
        """For each item its length, that of the reference nearest in length (the shorter of two),
        the right n-grams of four lengths, and all of them."""
        return np.array([self._ngrams(item) for item in items], float)

    def from_statistics(self, total: Statistics) -> Score:
        """BLEU, and the four precisions and the brevity penalty that it is made of."""
        value, precisions, penalty = bleu_from_counts(total.tolist(), smooth=self.smooth)
        parts = {f"precision-{n}": part for n, part in zip(ORDERS, precisions, strict=True)}
        return Score(value, self.signature, {**parts, "brevity-penalty": penalty})

    def _ngrams(self, item: ScoredItem) -> tuple[int, ...]:
        written = ngrams(item.text, tokenize=self.tokenize, lowercase=bool(self.lowercase))
        length, references = len(self.tokens(item.text)), self.references(item)
        nearest = min(references.lengths(), key=lambda other: (abs(other - length), other))
        right = map(references.right, ORDERS, written)
        return (length, nearest, *right, *(max(0, length - order + 1) for order in ORDERS))


class LowercaseBleu(Bleu):
    """Corpus BLEU of lower-cased texts."""

    name = "bleu-lc"
    summary = "corpus BLEU of sacrebleu, capitals do not count"
    lowercase = True


class NarayanBleu(RatioMetric, Bleu):
    """The averaged individual multi-reference BLEU of Narayan et al. (2017) and Aharoni and
    Goldberg (2018, §2), unsmoothed and for tokenised texts, as in the evaluation that the latter
    released; but their script rounds each score to two digits."""

    name = "bleu-narayan"
    summary = "mean over sources of unsmoothed BLEU against all references of the source"
    settings: ClassVar[Mapping[str, str]] = {"level": "mean of sentences"}
    tokenize = "spaces"
    smooth = "none"
    order = "4"

    def counts(self, item: ScoredItem) -> tuple[float, float]:
        effective = self.order == "effective"
        found = bleu_from_counts(self._ngrams(item), smooth=self.smooth, effective_order=effective)
        return found[0], 1


class SentenceBleu(NarayanBleu):
    """The mean of sacrebleu's ``sentence_score``: smoothed, and without the n-gram lengths that a
    short rewrite has none of. Use it to correlate with judgements of single rewrites."""

    name = "bleu-sentence"
    summary = "mean over sources of sacrebleu's smoothed sentence BLEU"
    tokenize = "13a"
    smooth = "exp"
    order = "effective"


def corpus_bleu(
    rewrites: Sequence[str], references: Sequence[Sequence[str]], *, lowercase: bool = False
) -> float:
    """BLEU of the rewrites, from 0 to 100: :class:`Bleu` for running texts in lists.
    ``references`` holds the references of each rewrite, at least one."""
    return score(Bleu(lowercase=lowercase), text_items(rewrites, rewrites, references)).value


def bleu_from_counts(
    counts: Sequence[float], *, smooth: str, effective_order: bool = False
) -> tuple[float, list[float], float]:
    """BLEU, its four precisions and its brevity penalty, by sacrebleu, from sums of the rows of
    :class:`Bleu`. They need not be whole: of several references their mean is taken."""
    length, nearest, *grams = counts
    found = sacrebleu().compute_bleu(
        correct=grams[: len(ORDERS)],  # type: ignore[arg-type]  # works on any number
        total=grams[len(ORDERS) :],  # type: ignore[arg-type]
        # These must be whole, but only their ratio counts.
        sys_len=round(_SCALE * length),
        ref_len=round(_SCALE * nearest),
        smooth_method=smooth,
        effective_order=effective_order,
    )
    return float(found.score), [float(part) for part in found.precisions], float(found.bp)


@cache
def _sacrebleu_version() -> str:
    """The installed version, or "none": signatures are shown without sacrebleu too."""
    try:
        return version("sacrebleu")
    except PackageNotFoundError:
        return "none"
