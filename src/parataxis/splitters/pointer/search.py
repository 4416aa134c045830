"""Beam search over actions, for many sources at once.

Hypotheses are compared when they are finished, by their mean log-probability. Where one word can
be written in several ways (it stands at several places of the source, or is a closed word too),
the ways are added up and the likeliest stands for all, as in training.
"""

from collections import defaultdict
from collections.abc import Callable, Sequence
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
"""Added to the score of what must not be chosen."""
_LEAST_STEPS = 24
_STEPS_PER_WORD = 2.0
COPIED_AT_MOST = 2
"""The model tells apart whether a word was copied never, once or more often."""
_COMPACT_AT = 0.7
"""When fewer of the sources than this share are still searched, the others are put aside."""
_BY_SOURCE = ("rows", "scores", "actions", "barred", "limits", "best_finished", "found")
"""The arrays of a search that have one row per source."""


@dataclass(frozen=True, slots=True)
class Hypothesis:
    """A finished sequence of actions, the end not included, and its mean log-probability less
    what its sentences cost; ``log_chance`` is the plain log-probability of the whole."""

    actions: tuple[int, ...]
    score: float
    log_chance: float = 0.0


@dataclass(frozen=True, slots=True)
class Found:
    """What the search found for one source: how likely it is that the source should stay whole,
    and the finished rewrites, best first."""

    whole: float
    hypotheses: tuple[Hypothesis, ...]


class Memory(Protocol):
    """Sources as a decoder has read them."""

    def select(self, rows: NDArray[np.int64]) -> "Memory":
        """Only these sources."""


@dataclass
class Place:
    """Where hypotheses stand: arrays of (sources, beams), ``copied`` with one entry per word."""

    previous: NDArray[np.int64]
    sentence: NDArray[np.int64]
    place: NDArray[np.int64]
    last: NDArray[np.int64]
    copied: NDArray[np.int64]
    recurrent: NDArray[np.float32]

    def select(self, rows: NDArray[np.int64]) -> "Place":
        """Only the hypotheses of these sources."""
        return Place(
            self.previous[rows],
            self.sentence[rows],
            self.place[rows],
            self.last[rows],
            self.copied[rows],
            self.recurrent[rows],
        )


class Decoder(Protocol):
    """The two halves of the model: it reads sources once, and scores the next actions."""

    def read(self, sources: Sequence[Features]) -> tuple[Any, int, tuple[int, int]]:
        """The memory, how many words wide it is, and the shape of one recurrent state."""

    def step(self, memory: Any, place: Place) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
        """Log-probabilities (sources, beams, actions and words) and the new recurrent states."""


def most_steps(words: int) -> int:
    """How many actions a rewrite of so many words may have."""
    return max(_LEAST_STEPS, int(_STEPS_PER_WORD * words))


def search(
    decoder: Decoder,
    sources: Sequence[Features],
    *,
    beam: int,
    length_power: float = 1.0,
    whole_from: Callable[[int], float] | None = None,
    caution: float = 0.0,
) -> list[Found]:
    """Search rewrites of all sources side by side; the result does not depend on which ones.

    No rewrites are searched of sources that are at least as likely to stay whole as ``whole_from``
    says of their number of words.
    ``caution`` is what each new sentence costs, in log-probability: with it, what the model is not
    sure how to say by itself stays where it is.
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
        whole_from: Callable[[int], float] | None,
        caution: float,
    ) -> None:
        self.decoder, self.beam, self.power = decoder, beam, length_power
        self.caution = caution
        limits = [np.inf if whole_from is None else whole_from(len(source)) for source in sources]
        self.whole_from = np.array(limits)
        self.memory, self.words, state = decoder.read(sources)
        count = len(sources)
        self.rows = np.arange(count)
        self.groups = _Groups.of(sources, (beam, COPY + self.words))
        self.barred = _barred(sources, COPY + self.words)
        self.limits = np.array([most_steps(len(source)) for source in sources])
        self.scores = np.full((count, beam), NEVER)
        self.scores[:, 0] = 0.0
        self.actions = np.zeros((count, beam, int(self.limits.max())), dtype=np.int64)
        self.place = Place(
            previous=np.full((count, beam), START),
            sentence=np.zeros((count, beam), dtype=np.int64),
            place=np.zeros((count, beam), dtype=np.int64),
            last=np.full((count, beam), -1),
            copied=np.zeros((count, beam, self.words), dtype=np.int64),
            recurrent=np.zeros((count, beam, *state), dtype=np.float32),
        )
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
        """A sentence is not empty, and only a word just copied takes another form."""
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
            self.finished[source].append(Hypothesis(tuple(actions.tolist()), score, log_chance))
            self.found[row] += 1
            self.best_finished[row] = max(self.best_finished[row], score)

    def _move(
        self,
        parents: NDArray[np.int64],
        chosen: NDArray[np.int64],
        recurrent: NDArray[np.float32],
        step: int,
    ) -> None:
        # The beams of all sources in one row, so that an index is one number.
        index = parents + np.arange(0, parents.size, self.beam)[:, None]
        old = self.place
        copying, ended = chosen >= COPY, chosen == NEXT
        copied = _of_beams(old.copied, index)
        rows, beams = np.nonzero(copying)
        words = chosen[rows, beams] - COPY
        copied[rows, beams, words] = np.minimum(copied[rows, beams, words] + 1, COPIED_AT_MOST)
        self.place = Place(
            previous=chosen,
            sentence=_of_beams(old.sentence, index) + ended,
            place=np.where(ended, 0, _of_beams(old.place, index) + 1),
            last=np.where(copying, chosen - COPY, _of_beams(old.last, index)),
            copied=copied,
            recurrent=_of_beams(recurrent, index),
        )
        self.actions = _of_beams(self.actions, index)
        self.actions[:, :, step - 1] = chosen

    def _put_aside(self, step: int) -> None:
        """Leave out the sources whose best rewrites are found."""
        best = self.scores[:, 0]
        # The sum of log-probabilities only falls, but the mean of a longer rewrite may be higher.
        reachable = best / self.limits**self.power
        going = (best > NEVER / 2) & (step < self.limits)
        going &= (self.found < self.beam) | (reachable > self.best_finished)
        going &= self.whole[self.rows] < self.whole_from[self.rows]
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


def _of_beams(array: NDArray[T], index: NDArray[np.int64]) -> NDArray[T]:
    """The rows of an array (sources, beams, ...) that the index names."""
    return array.reshape(-1, *array.shape[2:]).take(index, axis=0)


def _largest(
    values: NDArray[np.float64], count: int
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """The places of the largest values of each row, largest first, the first of equals first; and
    the values."""
    rows = np.arange(len(values))[:, None]
    some = np.sort(np.argpartition(values, -count, axis=1)[:, -count:], axis=1)
    found = values[rows, some]
    order = np.argsort(-found, axis=1, kind="stable")
    return some[rows, order], found[rows, order]


class _Groups:
    """The groups of actions that write the same word, for the scores of all hypotheses."""

    def __init__(
        self, rows: NDArray[np.int64], actions: NDArray[np.int64], shape: tuple[int, int]
    ) -> None:
        """Groups of the sources in these rows; ``actions`` are padded with -1, ``shape`` are
        numbers of beams and of actions."""
        self._rows, self._actions, self._shape = rows, actions, shape
        padding = actions < 0
        within = np.where(padding, actions[:, :1], actions)[:, None]
        hypothesis = rows[:, None] * shape[0] + np.arange(shape[0])
        self._index = (hypothesis[:, :, None] * shape[1] + within).reshape(-1, actions.shape[1])
        self._penalty = NEVER * np.repeat(padding, shape[0], axis=0)
        self._each = np.arange(len(self._index))

    @classmethod
    def of(cls, sources: Sequence[Features], shape: tuple[int, int]) -> "_Groups":
        """The groups of these sources."""
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
        """Only the groups of these sources, which become the first, second ... one."""
        group, row = np.nonzero(self._rows[:, None] == rows)
        return _Groups(row, self._actions[group], self._shape)

    def merge(self, logs: NDArray[np.float64]) -> None:
        """Let the likeliest way to write a word stand for all of them."""
        if not len(self._each):
            return
        flat = logs.reshape(-1)
        ways = flat[self._index] + self._penalty
        winner = ways.argmax(axis=1)
        highest = ways[self._each, winner]
        # One after the other: the order in which numpy sums depends on the width of the table.
        chances = np.exp(ways - highest[:, None]).cumsum(axis=1)[:, -1]
        flat[self._index] = NEVER
        flat[self._index[self._each, winner]] = highest + np.log(chances)


def _barred(sources: Sequence[Features], actions: int) -> NDArray[np.float64]:
    """What is added to the scores of actions (sources, actions) so that some are never taken."""
    barred = np.zeros((len(sources), actions))
    barred[:, [START, WHOLE]] = NEVER
    for row, source in enumerate(sources):
        barred[row, COPY + len(source) :] = NEVER
    return barred
