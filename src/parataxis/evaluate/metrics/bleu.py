"""BLEU (Papineni et al. 2002): of a corpus, and averaged over single rewrites."""

from collections.abc import Mapping, Sequence
from functools import cache, lru_cache
from importlib.metadata import PackageNotFoundError, version
from typing import ClassVar

import numpy as np

from parataxis.evaluate.metrics.protocol import Score, ScoredItem, Statistics, score
from parataxis.evaluate.metrics.tokens import (
    ORDERS,
    TextMetric,
    ngrams,
    sacrebleu,
    text_items,
    tokens,
)

_SCALE = 10**6
_COUNTED = 4096


class Bleu(TextMetric):
    """Corpus BLEU, to the last digit that of sacrebleu's ``corpus_score`` on texts in which
    brackets are plain.

    The statistics of a rewrite are its length, the length of the reference that is nearest in
    length (the shorter of two), and for each n from 1 to 4 how many of its n-grams a reference has
    and how many there are. Running text is compared: where a sentence ends does not matter. The
    number of references may differ from source to source.
    """

    name = "bleu"
    summary = "corpus BLEU of sacrebleu, capitals count"
    settings: ClassVar[Mapping[str, str]] = {"level": "corpus"}
    smooth = "exp"

    @property
    def versions(self) -> Mapping[str, str]:
        """Smoothing, and the version of sacrebleu."""
        return {"smooth": self.smooth, "sacrebleu": _sacrebleu_version()}

    def statistics(self, items: Sequence[ScoredItem]) -> Statistics:
        """For each item: two lengths, the right n-grams of four lengths, and all of them."""
        return np.array([self._counts(item) for item in items], float)

    def from_statistics(self, total: Statistics) -> Score:
        """BLEU, and the four precisions and the brevity penalty that it is made of."""
        value, precisions, penalty = bleu_from_counts(total.tolist(), smooth=self.smooth)
        parts = {f"precision-{n}": part for n, part in zip(ORDERS, precisions, strict=True)}
        return Score(value, self.signature, {**parts, "brevity-penalty": penalty})

    def _counts(self, item: ScoredItem) -> tuple[int, ...]:
        return bleu_counts(
            item.text,
            item.reference_texts,
            tokenize=self.tokenize,
            lowercase=bool(self.lowercase),
        )


class LowercaseBleu(Bleu):
    """Corpus BLEU of lower-cased texts."""

    name = "bleu-lc"
    summary = "corpus BLEU of sacrebleu, capitals do not count"
    lowercase = True


class NarayanBleu(Bleu):
    """The averaged individual multi-reference BLEU of Narayan et al. (2017) and Aharoni and
    Goldberg (2018, §2): each rewrite is scored against its own references, however many they are,
    and the scores are averaged.

    As in the evaluation that Aharoni and Goldberg released (``multi-bleu.perl`` on files of one
    line), texts must be tokenised, because they are split at spaces; capitals count; the reference
    length is the nearest one; nothing is smoothed, so a rewrite without four right tokens in a row
    scores 0. Their script also rounds each score to two digits; we do not.
    """

    name = "bleu-narayan"
    summary = "mean over sources of unsmoothed BLEU against all references of the source"
    settings: ClassVar[Mapping[str, str]] = {"level": "mean of sentences"}
    tokenize = "spaces"
    smooth = "none"
    effective_order = False

    @property
    def versions(self) -> Mapping[str, str]:
        """Smoothing, the n-gram lengths that count, and the version of sacrebleu."""
        order = {"order": "effective" if self.effective_order else "4"}
        return {"smooth": self.smooth, **order, "sacrebleu": _sacrebleu_version()}

    def statistics(self, items: Sequence[ScoredItem]) -> Statistics:
        """For each item its BLEU, and 1."""
        return np.array([(self._score(item), 1.0) for item in items])

    def from_statistics(self, total: Statistics) -> Score:
        """The mean."""
        return Score(float(total[0] / total[1]), self.signature)

    def _score(self, item: ScoredItem) -> float:
        value, _, _ = bleu_from_counts(
            self._counts(item), smooth=self.smooth, effective_order=self.effective_order
        )
        return value


class SentenceBleu(NarayanBleu):
    """The mean of sacrebleu's ``sentence_score``: smoothed, and without the n-gram lengths that a
    short rewrite has none of. Use it to correlate with judgements of single rewrites."""

    name = "bleu-sentence"
    summary = "mean over sources of sacrebleu's smoothed sentence BLEU"
    tokenize = "13a"
    smooth = "exp"
    effective_order = True


def corpus_bleu(
    rewrites: Sequence[str], references: Sequence[Sequence[str]], *, lowercase: bool = False
) -> float:
    """BLEU of the rewrites, from 0 to 100: :class:`Bleu` for texts in lists.

    A rewrite and a reference are running text: their simple sentences joined by a space.
    ``references`` holds the references of each rewrite, at least one; the numbers may differ.
    """
    return score(Bleu(lowercase=lowercase), text_items(rewrites, rewrites, references)).value


def bleu_from_counts(
    counts: Sequence[float], *, smooth: str, effective_order: bool = False
) -> tuple[float, list[float], float]:
    """BLEU, its four precisions and its brevity penalty, by sacrebleu.

    ``counts`` are those of :func:`bleu_counts`, summed. They need not be whole: of several
    references their mean is taken.
    """
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


@lru_cache(maxsize=_COUNTED)
def bleu_counts(
    rewrite: str, references: tuple[str, ...], *, tokenize: str, lowercase: bool
) -> tuple[int, ...]:
    """What BLEU is computed from: two lengths, right n-grams, all n-grams."""
    written = ngrams(rewrite, tokenize=tokenize, lowercase=lowercase)
    wanted = [ngrams(text, tokenize=tokenize, lowercase=lowercase) for text in references]
    length = len(tokens(rewrite, tokenize=tokenize, lowercase=lowercase))
    lengths = [len(tokens(text, tokenize=tokenize, lowercase=lowercase)) for text in references]
    nearest = min(lengths, key=lambda other: (abs(other - length), other))
    totals = [max(0, length - order + 1) for order in ORDERS]
    right = [
        _clipped(found, [reference[place] for reference in wanted], totals[place])
        for place, found in enumerate(written)
    ]
    return (length, nearest, *right, *totals)


def _clipped(
    written: Mapping[tuple[str, ...], int],
    references: Sequence[Mapping[tuple[str, ...], int]],
    total: int,
) -> int:
    """How many of the n-grams are right: each as often as the reference that has it most."""
    known = written.keys() & set().union(*references)
    if len(written) == total:  # no n-gram occurs twice, as in most texts
        return len(known)
    more = (
        min(count, max(reference.get(ngram, 0) for reference in references)) - 1
        for ngram, count in written.items()
        if count > 1 and ngram in known
    )
    return len(known) + sum(more)


@cache
def _sacrebleu_version() -> str:
    """The installed version, or "none": signatures are shown without sacrebleu too."""
    try:
        return version("sacrebleu")
    except PackageNotFoundError:
        return "none"
