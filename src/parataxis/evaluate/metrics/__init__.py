"""Metrics that compare rewrites with references; they need the extra ``parataxis[metrics]``."""

from parataxis.evaluate.metrics.bleu import corpus_bleu
from parataxis.evaluate.metrics.sari import Sari, corpus_sari

__all__ = ["Sari", "corpus_bleu", "corpus_sari"]
