"""Beam search over actions, for many sources at once.

Finished hypotheses are ranked by their mean log-probability. If a word can be written by several
actions (it occurs more than once in the source, or is also a closed word), their probabilities are
added and the likeliest action represents them all, as in training.
"""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from parataxis.splitters.pointer.actions import (
    CLOSED,
    COPY,
    END,
    FORMS,
    NEXT,
    START,
    WHOLE,
    Features,
)

T = TypeVar("T", bound=np.generic)

NEVER = -1e9
"""Added to the score of a forbidden action."""
_LEAST_STEPS = 24
_STEPS_PER_WORD = 2.0
COPIED_AT_MOST = 2
"""The model distinguishes whether a word was copied never, once, or more often."""
_COMPACT_AT = 0.7
"""Finished sources are removed from the arrays when at most this share is still searched."""
_BY_SOURCE = (
    *("rows", "scores", "entropies", "actions", "barred", "limits", "best_finished", "found"),
)
"""The arrays of a search that have one row per source."""


@dataclass(frozen=True, slots=True)
class Hypothesis:
    """A finished sequence of actions without the end. ``score`` is the mean log-probability less
    the penalties for sentences; ``log_chance`` is the plain log-probability; ``entropy`` is the sum
    of the entropies of its steps: how unsure the model was on the way, whatever it took."""

    actions: tuple[int, ...]
    score: float
    log_chance: float = 0.0
    entropy: float = 0.0


@dataclass(frozen=True, slots=True)
class Found:
    """The result for one source: the probability that it should stay whole, and the finished
    hypotheses, best first."""

    whole: float
    hypotheses: tuple[Hypothesis, ...]


class Memory(Protocol):
    """Encoded sources."""

    def select(self, rows: NDArray[np.int64]) -> "Memory":
        """Only these sources."""


@dataclass
class Place:
    """The state of the hypotheses: arrays of (sources, beams), ``copied`` with one entry per
    word."""

    previous: NDArray[np.int64]
    sentence: NDArray[np.int64]
    place: NDArray[np.int64]
    last: NDArray[np.int64]
    copied: NDArray[np.int64]
    recurrent: NDArray[np.float32]

    @classmethod
    def opening(cls, sources: int, beam: int, words: int, state: tuple[int, int]) -> "Place":
        """The state before the first action."""
        nothing = np.zeros((sources, beam), dtype=np.int64)
        return cls(
            previous=nothing + START,
            sentence=nothing,
            place=nothing,
            last=nothing - 1,
            copied=np.zeros((sources, beam, words), dtype=np.int64),
            recurrent=np.zeros((sources, beam, *state), dtype=np.float32),
        )

    def select(self, rows: NDArray[np.int64]) -> "Place":
        return Place(**{name: array[rows] for name, array in vars(self).items()})

    def after(
        self, chosen: NDArray[np.int64], recurrent: NDArray[np.float32], index: NDArray[np.int64]
    ) -> "Place":
        """The state after the chosen actions of the hypotheses at ``index``, which counts through
        the beams of all sources."""
        copying, ended = chosen >= COPY, chosen == NEXT
        copied = _of_beams(self.copied, index)
        rows, beams = np.nonzero(copying)
        words = chosen[rows, beams] - COPY
        copied[rows, beams, words] = np.minimum(copied[rows, beams, words] + 1, COPIED_AT_MOST)
        return Place(
            previous=chosen,
            sentence=_of_beams(self.sentence, index) + ended,
            place=np.where(ended, 0, _of_beams(self.place, index) + 1),
            last=np.where(copying, chosen - COPY, _of_beams(self.last, index)),
            copied=copied,
            recurrent=_of_beams(recurrent, index),
        )


class Decoder(Protocol):
    """The model: it encodes sources once and scores the next actions."""

    def read(self, sources: Sequence[Features]) -> tuple[Any, int, tuple[int, int]]:
        """The memory, its width in words, and the shape of one recurrent state."""

    def step(self, memory: Any, place: Place) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
        """Log-probabilities (sources, beams, actions and words) and the new recurrent states."""


def most_steps(words: int) -> int:
    """The maximum number of actions in a rewrite of a source with so many words."""
    return max(_LEAST_STEPS, int(_STEPS_PER_WORD * words))


def search(
    decoder: Decoder,
    sources: Sequence[Features],
    *,
    beam: int,
    length_power: float = 1.0,
    whole_from: float = np.inf,
    caution: float = 0.0,
) -> list[Found]:
    """Search for rewrites of many sources; the result for a source does not depend on the others.

    A source is not searched if its probability to stay whole is at least ``whole_from``.
    ``caution`` is the penalty for each new sentence, in log-probability: it keeps clauses in place
    that the model is not sure how to express as sentences.
    """
    if not sources:
        return []
    return _Search(decoder, sources, beam, length_power, whole_from, caution).run()


class _Search:
    def __init__(
        self,
        decoder: Decoder,
        sources: Sequence[Features],
        beam: int,
        length_power: float,
        whole_from: float,
        caution: float,
    ) -> None:
        self.decoder, self.beam, self.power = decoder, beam, length_power
        self.caution = caution
        self.whole_from = whole_from
        self.memory, self.words, state = decoder.read(sources)
        count = len(sources)
        self.rows = np.arange(count)
        self.groups = _Groups.of(sources, (beam, COPY + self.words))
        self.barred = _barred(sources, COPY + self.words)
        self.limits = np.array([most_steps(len(source)) for source in sources])
        self.scores = np.full((count, beam), NEVER)
        self.scores[:, 0] = 0.0
        self.entropies = np.zeros((count, beam))
        self.actions = np.zeros((count, beam, int(self.limits.max())), dtype=np.int64)
        self.place = Place.opening(count, beam, self.words, state)
        self.whole = np.zeros(count)
        self.finished: list[list[Hypothesis]] = [[] for _ in sources]
        self.best_finished = np.full(count, -np.inf)
        self.found = np.zeros(count, dtype=np.int64)

    def run(self) -> list[Found]:
        step = 0
        while len(self.rows):
            step += 1
            self._step(step)
            self._put_aside(step)
        return [
            Found(float(whole), tuple(sorted(finished, key=lambda h: -h.score)[: self.beam]))
            for whole, finished in zip(self.whole, self.finished, strict=True)
        ]

    def _step(self, step: int) -> None:
        scored, recurrent = self.decoder.step(self.memory, self.place)
        logs = scored.astype(np.float64)
        self.groups.merge(logs)
        if step == 1:
            self.whole[self.rows] = np.exp(logs[:, 0, WHOLE])
        self.entropies += _entropies(logs)
        self._forbid(logs)
        logs += self.scores[:, :, None]
        count, beam, actions = logs.shape
        best, scores = _largest(logs.reshape(count, beam * actions), 2 * beam)
        parents, chosen = np.divmod(best, actions)
        ended = chosen == END
        if ended.any():
            self._finish(scores, parents, ended, step)
            scores[ended] = NEVER
        order = np.argsort(-scores, axis=1, kind="stable")[:, :beam]
        order += np.arange(0, scores.size, scores.shape[1])[:, None]
        self.scores = scores.take(order)
        self._move(parents.take(order), chosen.take(order), recurrent, step)

    def _forbid(self, logs: NDArray[np.float64]) -> None:
        """Forbid empty sentences, and inflections of anything but the word just copied."""
        logs += self.barred[:, None]
        previous = self.place.previous
        opening = NEVER * (self.place.place == 0)
        logs[:, :, NEXT] += opening - self.caution
        logs[:, :, END] += opening
        copied = previous >= COPY
        logs[:, :, FORMS:CLOSED] += NEVER * ~copied[:, :, None]
        # Not the same word twice in a row.
        logs.reshape(previous.size, -1)[np.arange(previous.size), previous.ravel()] += (
            NEVER * copied.ravel()
        )

    def _finish(
        self,
        scores: NDArray[np.float64],
        parents: NDArray[np.int64],
        ended: NDArray[np.bool_],
        step: int,
    ) -> None:
        for row, column in np.argwhere(ended & (scores > NEVER / 2)).tolist():
            source = self.rows[row]
            parent = parents[row, column]
            actions = self.actions[row, parent, : step - 1]
            total = float(scores[row, column])
            score = total / step**self.power
            log_chance = total + self.caution * float(self.place.sentence[row, parent])
            entropy = float(self.entropies[row, parent])
            found = Hypothesis(tuple(actions.tolist()), score, log_chance, entropy)
            self.finished[source].append(found)
            self.found[row] += 1
            self.best_finished[row] = max(self.best_finished[row], score)

    def _move(
        self,
        parents: NDArray[np.int64],
        chosen: NDArray[np.int64],
        recurrent: NDArray[np.float32],
        step: int,
    ) -> None:
        # The beams of all sources are one axis here, so that a single index selects a beam.
        index = parents + np.arange(0, parents.size, self.beam)[:, None]
        self.place = self.place.after(chosen, recurrent, index)
        self.entropies = _of_beams(self.entropies, index)
        self.actions = _of_beams(self.actions, index)
        self.actions[:, :, step - 1] = chosen

    def _put_aside(self, step: int) -> None:
        """Stop searching the sources whose best rewrites are found."""
        best = self.scores[:, 0]
        # A sum of log-probabilities only falls, but the mean of a longer rewrite may be higher.
        reachable = best / self.limits**self.power
        going = (best > NEVER / 2) & (step < self.limits)
        going &= (self.found < self.beam) | (reachable > self.best_finished)
        going &= self.whole[self.rows] < self.whole_from
        if going.all():
            return
        self.scores[~going] = NEVER
        if going.mean() > _COMPACT_AT:
            return
        keep = np.nonzero(going)[0]
        for name in _BY_SOURCE:
            setattr(self, name, getattr(self, name)[keep])
        self.groups = self.groups.select(keep)
        self.place = self.place.select(keep)
        if len(keep):
            self.memory = self.memory.select(keep)


def _entropies(logs: NDArray[np.float64]) -> NDArray[np.float64]:
    """The entropies of the next actions (sources, beams), in nats."""
    # cumsum adds from left to right; the order of sum() depends on the width of the array.
    return -(np.exp(logs) * logs).cumsum(axis=2)[:, :, -1]


def _of_beams(array: NDArray[T], index: NDArray[np.int64]) -> NDArray[T]:
    """The entries of an array (sources, beams, ...) at the given beams."""
    return array.reshape(-1, *array.shape[2:]).take(index, axis=0)


def _largest(
    values: NDArray[np.float64], count: int
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """The columns of the largest values of each row, and the values: largest first, and of equal
    ones the first first."""
    rows = np.arange(len(values))[:, None]
    some = np.sort(np.argpartition(values, -count, axis=1)[:, -count:], axis=1)
    found = values[rows, some]
    order = np.argsort(-found, axis=1, kind="stable")
    return some[rows, order], found[rows, order]


class _Groups:
    """Groups of actions that write the same word."""

    def __init__(
        self, rows: NDArray[np.int64], actions: NDArray[np.int64], shape: tuple[int, int]
    ) -> None:
        """``rows`` are the sources of the groups, ``actions`` is padded with -1, and ``shape`` is
        the number of beams and of actions."""
        self._rows, self._actions, self._shape = rows, actions, shape
        padding = actions < 0
        within = np.where(padding, actions[:, :1], actions)[:, None]
        hypothesis = rows[:, None] * shape[0] + np.arange(shape[0])
        self._index = (hypothesis[:, :, None] * shape[1] + within).reshape(-1, actions.shape[1])
        self._penalty = NEVER * np.repeat(padding, shape[0], axis=0)
        self._each = np.arange(len(self._index))

    @classmethod
    def of(cls, sources: Sequence[Features], shape: tuple[int, int]) -> "_Groups":
        rows: list[int] = []
        found: list[list[int]] = []
        for row, source in enumerate(sources):
            groups: dict[int, list[int]] = defaultdict(list)
            for word, first in enumerate(source.same):
                if not groups[first] and source.twins[word] >= 0:
                    groups[first].append(source.twins[word])
                groups[first].append(COPY + word)
            several = [group for group in groups.values() if len(group) > 1]
            rows += [row] * len(several)
            found += several
        widest = max(map(len, found), default=1)
        actions = np.full((len(found), widest), -1)
        for padded, group in zip(actions, found, strict=True):
            padded[: len(group)] = group
        return cls(np.array(rows, dtype=np.int64), actions, shape)

    def select(self, rows: NDArray[np.int64]) -> "_Groups":
        """Only the groups of these sources, with the sources renumbered in this order."""
        group, row = np.nonzero(self._rows[:, None] == rows)
        return _Groups(row, self._actions[group], self._shape)

    def merge(self, logs: NDArray[np.float64]) -> None:
        """Add up the probabilities of each group on its likeliest action."""
        if not len(self._each):
            return
        flat = logs.reshape(-1)
        ways = flat[self._index] + self._penalty
        winner = ways.argmax(axis=1)
        highest = ways[self._each, winner]
        # cumsum adds from left to right; the order of sum() depends on the width of the array.
        chances = np.exp(ways - highest[:, None]).cumsum(axis=1)[:, -1]
        flat[self._index] = NEVER
        flat[self._index[self._each, winner]] = highest + np.log(chances)


def _barred(sources: Sequence[Features], actions: int) -> NDArray[np.float64]:
    """The penalties (sources, actions) that forbid some actions throughout a search."""
    barred = np.zeros((len(sources), actions))
    barred[:, [START, WHOLE]] = NEVER
    for row, source in enumerate(sources):
        barred[row, COPY + len(source) :] = NEVER
    return barred
