"""What the pointer model points at when it writes each word of a rewrite."""

from collections.abc import Sequence

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
    Features,
)
from parataxis.splitters.pointer.search import Decoder
from parataxis.splitters.pointer.surprise import follow
from parataxis.splitters.registry import SPLIT_MARK, Attention


def pointing(
    decoder: Decoder, features: Features, words: Sequence[str], actions: Sequence[int]
) -> Attention:
    """The distribution over the source words at each output word of a rewrite.

    The decoder is run once more along the given actions. An inflected word has the row of the word
    that it was made from.
    """
    (chances,) = follow(decoder, features, [(*actions, END)])
    spelled: list[str] = []
    rows: list[NDArray[np.float64]] = []
    for action, row in zip(actions, chances[:, COPY : COPY + len(words)], strict=False):
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
