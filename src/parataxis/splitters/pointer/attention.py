"""What the pointer model points at, word by word: the rewrite is walked through once more, and the
distribution over the source is taken down at each step. The search itself knows nothing of it."""

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from parataxis.rewrite.forms import form_of, key
from parataxis.splitters.attention import SPLIT_MARK, Attention
from parataxis.splitters.pointer.actions import (
    CLOSED,
    CLOSED_WORDS,
    COPY,
    END,
    FORM_NAMES,
    FORMS,
    NEXT,
    WHOLE,
)
from parataxis.splitters.pointer.features import Features
from parataxis.splitters.pointer.search import Decoder, Place, search

__all__ = ["pointing"]

_NEVER = -1e9


def pointing(
    decoder: Decoder, features: Features, words: Sequence[str], actions: Sequence[int]
) -> Attention:
    """How likely each word of the source was to be pointed at when each output word was written.

    A word in another form has the row of the word that it was made of.
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
    """A decoder that goes one way only, whatever it finds likely, and remembers what it pointed
    at. So the search moves it exactly as it did when it found that way."""

    def __init__(self, decoder: Decoder, actions: Sequence[int], words: int) -> None:
        self._decoder, self._words = decoder, words
        self._actions: Iterator[int] = iter(actions)
        self.rows: list[NDArray[np.float32]] = []

    def read(self, sources: Sequence[Features]) -> tuple[Any, int, tuple[int, int]]:
        """Read the source."""
        return self._decoder.read(sources)

    def step(self, memory: Any, place: Place) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
        """Allow for the next action of the way, and no other."""
        logs, recurrent = self._decoder.step(memory, place)
        self.rows.append(_chances(logs[0, 0])[COPY : COPY + self._words])
        only = np.full_like(logs, _NEVER)
        only[:, :, next(self._actions)] = 0.0
        return only, recurrent


def _chances(logs: NDArray[np.float32]) -> NDArray[np.float32]:
    """How likely the actions are, given that the source does not stay whole."""
    others = logs.astype(np.float64)
    others[WHOLE] = -np.inf
    found = np.exp(others - others.max())
    shares: NDArray[np.float32] = (found / found.sum()).astype(np.float32)
    return shares
