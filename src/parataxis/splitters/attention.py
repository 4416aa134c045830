"""What a splitter looked at in its source when it wrote each word, for those that can tell."""

from dataclasses import dataclass
from typing import Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from parataxis.splitters.protocol import SentenceSplitter

__all__ = ["SPLIT_MARK", "Attention", "AttentiveSplitter"]

SPLIT_MARK = "<split>"
"""Stands between two simple sentences of an output."""


@dataclass(frozen=True)
class Attention:
    """How much each word of an output (a row of the weights) attended to each of its source.
    "<split>" stands between two simple sentences.

    The rows of a model with attention sum to 1. Those of a model that points sum to how likely it
    was to point at the source at all: where it wrote a word of its own, to little.
    """

    source: tuple[str, ...]
    output: tuple[str, ...]
    weights: NDArray[np.float32]


@runtime_checkable
class AttentiveSplitter(SentenceSplitter, Protocol):
    """A splitter that tells what it looked at."""

    def attention(self, sentence: str) -> Attention:
        """What the likeliest rewrite of a sentence attended to, word by word."""
