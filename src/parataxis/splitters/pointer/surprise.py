"""How much a rewrite surprises the pointer model: a second opinion on rewrites of any origin.

The model is led through a rewrite that somebody else has written. Where a word is much less likely
than the model expected any word to be there, it is often the wrong one: another noun, another
pronoun, another link. The verifier reads the rewrite as a whole; together they find more than
either alone.
"""

from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from parataxis.checks.checker import Verifying
from parataxis.checks.verifier import RewriteVerdict, load_verifier
from parataxis.rewrite.record import Level
from parataxis.splitters.pointer.actions import (
    CLOSED,
    CLOSED_WORDS,
    COPY,
    END,
    FORMS,
    NEXT,
    NO_TWIN,
    START,
    WHOLE,
    Features,
    read_source,
)
from parataxis.splitters.pointer.model import load_decoder
from parataxis.splitters.pointer.search import Decoder, Place
from parataxis.splitters.pointer.targets import target_actions
from parataxis.syntax.wordpieces import MAX_PIECES
from parataxis.text.tokens import has_word, tokenize

Floats = NDArray[np.float64]

RISK_SHARE, EXCESS_SHARE, ENTROPY_SHARE, ADDED = 0.454, 0.244, 0.101, -3.500
"""The log-odds of a fault are this share of the verifier's, these shares of the two numbers of
:class:`Surprise`, and a constant: fitted to references and to rewrites with one fault each."""
SAFEST, RISKIEST = -2.0, 14.0
"""The verifier's log-odds count within these bounds, so that it cannot outweigh any surprise."""


def follow(
    decoder: Decoder, features: Features, sequences: Sequence[Sequence[int]]
) -> list[Floats]:
    """The probabilities of all actions at each step of each of the sequences of actions, given
    that the source is split."""
    memory, words, state = decoder.read([features])
    count = len(sequences)
    place = Place.opening(1, count, words, state)
    found: list[list[Floats]] = [[] for _ in sequences]
    for step in range(max(map(len, sequences))):
        logs, recurrent = decoder.step(memory, place)
        chances = np.exp(logs[0].astype(np.float64))
        chances[:, [START, WHOLE]] = 0.0
        chances[:, COPY + len(features) :] = 0.0
        chosen = np.full((1, count), END)
        for number, actions in enumerate(sequences):
            if step < len(actions):
                chosen[0, number] = actions[step]
                found[number].append(chances[number] / chances[number].sum())
        place = place.after(chosen, recurrent, np.arange(count)[None])
    return [np.array(rows) for rows in found]


class Surprise(NamedTuple):
    """How a sentence of a rewrite surprises the model, in nats."""

    excess: float
    """How much more surprising its most surprising word is than was to be expected there."""
    entropy: float
    """How much surprise was to be expected of all its words."""


def surprises(
    decoder: Decoder, features: Features, sequences: Sequence[Sequence[int]]
) -> list[list[Surprise]]:
    """The surprise at each sentence that each of the sequences writes. Marks and the ends of
    sentences are never the most surprising: where to cut is a matter of taste."""
    same = _same_words(features)
    counts = np.array([_is_word(features, action) for action in range(COPY + len(features))])
    tiny = np.finfo(float).tiny
    found = []
    for actions, chances in zip(sequences, follow(decoder, features, sequences), strict=True):
        merged = np.array([np.bincount(same, row[: len(same)], len(same)) for row in chances])
        logs = np.log(np.maximum(merged, tiny))
        entropies = -(merged * logs).sum(axis=1)
        excess = -logs[np.arange(len(actions)), same[list(actions)]] - entropies
        excess[~counts[list(actions)]] = 0.0
        ends = np.flatnonzero(np.isin(actions, (NEXT, END)))[:-1] + 1
        parts = zip(np.split(excess, ends), np.split(entropies, ends), strict=True)
        found.append([Surprise(float(most.max()), float(all_.sum())) for most, all_ in parts])
    return found


def _same_words(features: Features) -> NDArray[np.int64]:
    """For each action one that writes the same word, the same for all that do."""
    same = np.arange(COPY + len(features))
    for word, first in enumerate(features.same):
        twin = features.twins[word]
        same[COPY + word] = COPY + first if twin == NO_TWIN else twin
    return same


def _is_word(features: Features, action: int) -> bool:
    if action >= COPY:
        twin = features.twins[action - COPY]
        return twin == NO_TWIN or has_word(CLOSED_WORDS[twin - CLOSED])
    if action >= CLOSED:
        return has_word(CLOSED_WORDS[action - CLOSED])
    return action >= FORMS


class SecondOpinion:
    """A verifier that also asks the pointer model. It judges rewrites of any origin, but not those
    that the pointer model has found itself: their log-probability is known already."""

    def __init__(self, verifying: Verifying, decoder: Decoder) -> None:
        self._verifying, self._decoder = verifying, decoder

    def __call__(
        self, source: str, rewrites: Sequence[Sequence[str]], level: Level = Level.PLAIN
    ) -> list[RewriteVerdict]:
        """Judge rewrites at a level."""
        verdicts = self._verifying(source, rewrites, level)
        words = [token.text for token in tokenize(source)]
        features = read_source(words, level)
        if not (words and rewrites) or len(features.pieces.ids) > MAX_PIECES:
            return list(verdicts)
        written = [target_actions(words, simple, skip=True) or [END] for simple in rewrites]
        found = surprises(self._decoder, features, written)
        return [
            replace(verdict, faults=_raised(verdict.faults, each))
            for verdict, each in zip(verdicts, found, strict=True)
        ]


def _raised(faults: NDArray[np.float32], surprise: Sequence[Surprise]) -> NDArray[np.float32]:
    """The probabilities of faults with that of any fault in the light of the surprise."""
    risks = faults[:, -1].astype(np.float64)
    excess, entropy = np.array(surprise, dtype=np.float64).T
    with np.errstate(divide="ignore"):
        odds = np.clip(np.log(risks) - np.log1p(-risks), SAFEST, RISKIEST)
    odds = RISK_SHARE * odds + EXCESS_SHARE * excess + ENTROPY_SHARE * entropy + ADDED
    raised = faults.copy()
    raised[:, -1] = 1 / (1 + np.exp(-odds))
    return raised


@cache
def load_second_opinion() -> SecondOpinion:
    """The shipped models, loaded once per process."""
    return SecondOpinion(load_verifier(), load_decoder())
