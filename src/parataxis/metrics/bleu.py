"""BLEU (Papineni et al. 2002): of a corpus, and averaged over single rewrites."""

from collections.abc import Sequence
from functools import lru_cache

import numpy as np

from parataxis.metrics.extra import bleu_from_counts, sacrebleu_version
from parataxis.metrics.protocol import Item, Score, Signature, Statistics
from parataxis.metrics.tokens import ORDERS, check_tokenisation, ngrams, token_settings, tokens

__all__ = ["Bleu", "LowercaseBleu", "NarayanBleu", "SentenceBleu", "corpus_bleu"]

_Grams = dict[tuple[str, ...], int]
_COUNTED = 4096


class Bleu:
    """Corpus BLEU, to the last digit that of sacrebleu's ``corpus_score`` on texts in which
    brackets are plain.

    The statistics of a rewrite are its length, the length of the reference that is nearest in
    length (the shorter of two), and for each n from 1 to 4 how many of its n-grams a reference has
    and how many there are. Running text is compared: where a sentence ends does not matter. The
    number of references may differ from source to source.
    """

    name = "bleu"
    summary = "corpus BLEU of sacrebleu, capitals count"
    needs_references = True
    higher_is_better: bool | None = True

    def __init__(self, *, lowercase: bool = False, tokenize: str = "13a") -> None:
        self._lowercase = lowercase
        self._tokenize = check_tokenisation(tokenize)

    @property
    def signature(self) -> Signature:
        """Case, tokenisation, smoothing, and the version of sacrebleu."""
        return Signature(
            self.name,
            {
                "level": "corpus",
                **token_settings(self._tokenize, lowercase=self._lowercase),
                "smooth": "exp",
                "sacrebleu": sacrebleu_version(),
            },
        )

    def statistics(self, items: Sequence[Item]) -> Statistics:
        """For each item: two lengths, the right n-grams of four lengths, and all of them."""
        return np.array([self._counts(item.text, item.reference_texts) for item in items], float)

    def from_statistics(self, total: Statistics) -> Score:
        """BLEU, and the four precisions and the brevity penalty that it is made of."""
        value, precisions, penalty = bleu_from_counts(total.tolist(), smooth="exp")
        parts = {f"precision-{n}": part for n, part in zip(ORDERS, precisions, strict=True)}
        return Score(value, self.signature, {**parts, "brevity-penalty": penalty})

    def _counts(self, rewrite: str, references: tuple[str, ...]) -> tuple[int, ...]:
        return bleu_counts(rewrite, references, tokenize=self._tokenize, lowercase=self._lowercase)


class LowercaseBleu(Bleu):
    """The same on lower-cased texts."""

    name = "bleu-lc"
    summary = "corpus BLEU of sacrebleu, capitals do not count"

    def __init__(self, *, tokenize: str = "13a") -> None:
        super().__init__(lowercase=True, tokenize=tokenize)


class NarayanBleu:
    """The averaged individual multi-reference BLEU of Narayan et al. (2017) and Aharoni and
    Goldberg (2018, §2): each rewrite is scored against its own references, however many they are,
    and the scores are averaged.

    As in the evaluation that Aharoni and Goldberg released (``multi-bleu.perl`` on files of one
    line): tokens are what stands between spaces, so texts must come tokenised; capitals count; the
    reference length is the nearest one; nothing is smoothed, so a rewrite of which no four tokens
    in a row are right scores 0. Their script also rounds each score to two digits; we do not.
    """

    name = "bleu-narayan"
    summary = "mean over sources of unsmoothed BLEU against all references of the source"
    needs_references = True
    higher_is_better: bool | None = True
    _smooth = "none"
    _effective_order = False

    def __init__(self, *, lowercase: bool = False, tokenize: str = "spaces") -> None:
        self._lowercase = lowercase
        self._tokenize = check_tokenisation(tokenize)

    @property
    def signature(self) -> Signature:
        """Case, tokenisation, smoothing, and the version of sacrebleu."""
        return Signature(
            self.name,
            {
                "level": "mean of sentences",
                **token_settings(self._tokenize, lowercase=self._lowercase),
                "smooth": self._smooth,
                "order": "effective" if self._effective_order else "4",
                "sacrebleu": sacrebleu_version(),
            },
        )

    def statistics(self, items: Sequence[Item]) -> Statistics:
        """For each item its BLEU, and 1."""
        return np.array([(self._score(item), 1.0) for item in items])

    def from_statistics(self, total: Statistics) -> Score:
        """The mean."""
        return Score(float(total[0] / total[1]), self.signature)

    def _score(self, item: Item) -> float:
        counts = bleu_counts(
            item.text, item.reference_texts, tokenize=self._tokenize, lowercase=self._lowercase
        )
        value, _, _ = bleu_from_counts(
            counts, smooth=self._smooth, effective_order=self._effective_order
        )
        return value


class SentenceBleu(NarayanBleu):
    """The mean of sacrebleu's ``sentence_score``: smoothed, and without the n-gram lengths that a
    short rewrite has none of. Its rows are what to correlate with judgements of single rewrites."""

    name = "bleu-sentence"
    summary = "mean over sources of sacrebleu's smoothed sentence BLEU"
    _smooth = "exp"
    _effective_order = True

    def __init__(self, *, lowercase: bool = False, tokenize: str = "13a") -> None:
        super().__init__(lowercase=lowercase, tokenize=tokenize)


def corpus_bleu(
    rewrites: Sequence[str], references: Sequence[Sequence[str]], *, lowercase: bool = False
) -> float:
    """BLEU of the rewrites, from 0 to 100: :class:`Bleu` for texts in lists.

    A rewrite and a reference are running text: their simple sentences joined by a space.
    ``references`` holds the references of each rewrite, at least one; the numbers may differ.
    """
    if len(rewrites) != len(references) or not all(references):
        raise ValueError("each rewrite needs its references")
    if not rewrites:
        raise ValueError("there are no rewrites to score")
    rows = [
        bleu_counts(rewrite, tuple(texts), tokenize="13a", lowercase=lowercase)
        for rewrite, texts in zip(rewrites, references, strict=True)
    ]
    return bleu_from_counts(np.sum(rows, axis=0).tolist(), smooth="exp")[0]


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


def _clipped(written: _Grams, references: Sequence[_Grams], total: int) -> int:
    """How many of the n-grams are right: each as often as the reference that has it most."""
    known = written.keys() & set().union(*references)
    if len(written) == total:  # no n-gram stands there twice, as in most texts
        return len(known)
    more = (
        min(count, max(reference.get(ngram, 0) for reference in references)) - 1
        for ngram, count in written.items()
        if count > 1 and ngram in known
    )
    return len(known) + sum(more)
