"""Corpus BLEU (Papineni et al. 2002), as sacrebleu computes it."""

from collections.abc import Sequence
from itertools import zip_longest

from parataxis.metrics.extra import bleu_metric

__all__ = ["corpus_bleu"]


def corpus_bleu(
    rewrites: Sequence[str], references: Sequence[Sequence[str]], *, lowercase: bool = False
) -> float:
    """BLEU of the rewrites, from 0 to 100.

    A rewrite and a reference are running text: their simple sentences joined by a space.
    ``references`` holds the references of each rewrite, at least one; the numbers may differ.
    The settings are sacrebleu's own: n-grams of one to four tokens, 13a tokenisation, exponential
    smoothing, and capitals count unless ``lowercase`` is set.
    """
    if len(rewrites) != len(references) or not all(references):
        raise ValueError("each rewrite needs its references")
    if not rewrites:
        raise ValueError("there are no rewrites to score")
    # sacrebleu wants all first references, then all second ones, with None for a gap.
    streams = [list(stream) for stream in zip_longest(*references)]
    return float(bleu_metric(lowercase=lowercase).corpus_score(list(rewrites), streams).score)
