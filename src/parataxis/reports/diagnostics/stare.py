"""How much a model stares at the first entity of its source: one number for figures 1 and 2 of
Aharoni and Goldberg (2018).

It is the share of all attention that falls on the words of the entity that the source names first
(its first mention). Rows that sum to 1 make it the mean over the output words. Three numbers stand
beside it. *Uniform*: the share that even attention would give, the entity's part of the source.
*Reference*: the share that copying a reference would give, its words that are aligned with the
entity out of all that are aligned with the source. And *elsewhere*: the share while words are
written that are none of the entity's; whoever copies looks away then.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from parataxis.reports.diagnostics.entities import Span
from parataxis.rewrite.align import align
from parataxis.splitters.attention import SPLIT_MARK, Attention
from parataxis.text.tokens import tokenize

__all__ = ["Stare", "mean_stare", "reference_stare", "stare"]

_NOWHERE = float("nan")


@dataclass(frozen=True, slots=True)
class Stare:
    """The numbers of one source, or their means; NaN where there is nothing to count."""

    model: float
    elsewhere: float
    uniform: float
    reference: float = _NOWHERE


def stare(attention: Attention, entity: Span, reference: float = _NOWHERE) -> Stare:
    """The numbers of a source; ``entity`` are the places of its words.

    >>> looked = np.array([[0.5, 0.5], [1.0, 0.0]], dtype=np.float32)
    >>> stare(Attention(("Ann", "left"), ("Ann", "left"), looked), (0, 1))
    Stare(model=0.75, elsewhere=1.0, uniform=0.5, reference=nan)
    """
    first, end = entity
    own = {word.lower() for word in attention.source[first:end]}
    is_word = np.array([word != SPLIT_MARK for word in attention.output], dtype=bool)
    is_other = np.array([word.lower() not in own for word in attention.output], dtype=bool)
    return Stare(
        _share(attention.weights[is_word], first, end),
        _share(attention.weights[is_word & is_other], first, end),
        (end - first) / len(attention.source),
        reference,
    )


def _share(weights: NDArray[np.float32], first: int, end: int) -> float:
    total = float(weights.sum())
    return float(weights[:, first:end].sum()) / total if total > 0 else _NOWHERE


def reference_stare(source: str, entity: Span, references: Iterable[Sequence[str]]) -> float:
    """The share that copying the references would give, their mean; NaN without references."""
    tokens = tokenize(source)
    start, end = tokens[entity[0]].start, tokens[entity[1] - 1].end
    shares = []
    for simple in references:
        places = [
            token.source
            for sentence in align(source, simple)
            for token in sentence
            if token.source is not None
        ]
        if places:
            shares.append(sum(start <= place[0] < end for place in places) / len(places))
    return float(np.mean(shares)) if shares else _NOWHERE


def mean_stare(stares: Sequence[Stare]) -> Stare:
    """The mean of each number over the sources that have it."""
    return Stare(
        *(
            _mean([getattr(each, name) for each in stares])
            for name in ("model", "elsewhere", "uniform", "reference")
        )
    )


def _mean(values: Sequence[float]) -> float:
    known = [value for value in values if value == value]
    return float(np.mean(known)) if known else _NOWHERE
