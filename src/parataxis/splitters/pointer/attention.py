"""What the pointer model points at when it writes each word of a rewrite."""

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from parataxis.rewrite.forms import form_of, key
from parataxis.splitters.pointer.actions import (
    CLOSED,
    CLOSED_WORDS,
    COPY,
    END,
    FORM_NAMES,
    FORMS,
    NEXT,
    WHOLE,
    Features,
)
from parataxis.splitters.pointer.search import NEVER, Decoder, Place, search
from parataxis.splitters.registry import SPLIT_MARK, Attention


def pointing(
    decoder: Decoder, features: Features, words: Sequence[str], actions: Sequence[int]
) -> Attention:
    """The distribution over the source words at each output word of a rewrite.

    The decoder is run once more along the given actions. An inflected word has the row of the word
    that it was made from.
    """
    guided = _Guided(decoder, (*actions, END), len(words))
    search(guided, [features], beam=1)
    spelled: list[str] = []
    rows: list[NDArray[np.float32]] = []
    for action, row in zip(actions, guided.rows, strict=False):
        if FORMS <= action < CLOSED:
            spelled[-1] = form_of(key(spelled[-1]), FORM_NAMES[action - FORMS]) or spelled[-1]
            continue
        spelled.append(_spelling(action, words))
        rows.append(row)
    weights = np.array(rows, dtype=np.float32).reshape(len(rows), len(words))
    return Attention(tuple(words), tuple(spelled), weights)


def _spelling(action: int, words: Sequence[str]) -> str:
    if action == NEXT:
        return SPLIT_MARK
    return words[action - COPY] if action >= COPY else CLOSED_WORDS[action - CLOSED]


class _Guided:
    """A decoder that follows the given actions and records the distributions, so that the search
    repeats exactly the steps that found these actions."""

    def __init__(self, decoder: Decoder, actions: Sequence[int], words: int) -> None:
        self._decoder, self._words = decoder, words
        self._actions: Iterator[int] = iter(actions)
        self.rows: list[NDArray[np.float32]] = []

    def read(self, sources: Sequence[Features]) -> tuple[Any, int, tuple[int, int]]:
        return self._decoder.read(sources)

    def step(self, memory: Any, place: Place) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
        """Allow only the next of the given actions."""
        logs, recurrent = self._decoder.step(memory, place)
        self.rows.append(_chances(logs[0, 0])[COPY : COPY + self._words])
        only = np.full_like(logs, NEVER)
        only[:, :, next(self._actions)] = 0.0
        return only, recurrent


def _chances(logs: NDArray[np.float32]) -> NDArray[np.float32]:
    """The probabilities of the actions, given that the source is split."""
    others = logs.astype(np.float64)
    others[WHOLE] = -np.inf
    found = np.exp(others - others.max())
    shares: NDArray[np.float32] = (found / found.sum()).astype(np.float32)
    return shares
