"""Beam search over actions, for many sources at once.

Hypotheses are compared when they are finished, by their mean log-probability. Where one word can
be written in several ways (it stands at several places of the source, or is a closed word too),
the ways are added up and the likeliest stands for all, as in training.
"""

from collections import defaultdict
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from parataxis.splitters.pointer.actions import CLOSED, COPY, END, FORMS, NEXT, START, WHOLE
from parataxis.splitters.pointer.features import Features

__all__ = ["Decoder", "Found", "Hypothesis", "Memory", "Place", "search"]

_NEVER = -1e9
_LEAST_STEPS = 24
_STEPS_PER_WORD = 2.0
_COPIED_AT_MOST = 2
_COMPACT_AT = 0.7
"""When fewer of the sources than this share are still searched, the others are put aside."""
_BATCH = 32
"""Sources that one worker searches at once."""
_BY_SOURCE = ("rows", "scores", "actions", "barred", "limits", "best_finished", "found")
"""The arrays of a search that have one row per source."""


@dataclass(frozen=True, slots=True)
class Hypothesis:
    """A finished sequence of actions, the end not included, and its mean log-probability."""

    actions: tuple[int, ...]
    score: float


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


def search(
    decoder: Decoder,
    sources: Sequence[Features],
    *,
    beam: int,
    length_power: float = 1.0,
    workers: int = 1,
) -> list[Found]:
    """Search rewrites of all sources side by side; the result does not depend on which ones.

    Several workers share the sources in batches of similar length.
    """
    if not sources:
        return []
    if workers == 1 or len(sources) == 1:
        return _Search(decoder, sources, beam, length_power).run()
    order = sorted(range(len(sources)), key=lambda place: len(sources[place]))
    size = min(_BATCH, -(-len(sources) // workers))
    batches = [order[start : start + size] for start in range(0, len(order), size)]
    found: dict[int, Found] = {}
    with ThreadPoolExecutor(workers) as pool:
        searches = pool.map(
            lambda batch: _Search(decoder, [sources[i] for i in batch], beam, length_power).run(),
            batches,
        )
        for batch, results in zip(batches, searches, strict=True):
            found.update(zip(batch, results, strict=True))
    return [found[place] for place in range(len(sources))]


class _Search:
    def __init__(
        self, decoder: Decoder, sources: Sequence[Features], beam: int, length_power: float
    ) -> None:
        self.decoder, self.beam, self.power = decoder, beam, length_power
        self.memory, self.words, state = decoder.read(sources)
        count = len(sources)
        self.rows = np.arange(count)
        self.groups = _Groups.of(sources)
        self.barred = _barred(sources, COPY + self.words)
        self.limits = np.array([max(_LEAST_STEPS, int(_STEPS_PER_WORD * len(s))) for s in sources])
        self.scores = np.full((count, beam), _NEVER)
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
        self._merge(logs)
        if step == 1:
            self.whole[self.rows] = np.exp(logs[:, 0, WHOLE])
        self._forbid(logs)
        logs += self.scores[:, :, None]
        count, beam, actions = logs.shape
        flat = logs.reshape(count, beam * actions)
        best = _largest(flat, 2 * beam)
        scores = flat[np.arange(count)[:, None], best]
        parents, chosen = np.divmod(best, actions)
        ended = chosen == END
        self._finish(scores, parents, ended, step)
        scores = np.where(ended, _NEVER, scores)
        order = np.argsort(-scores, axis=1, kind="stable")[:, :beam]
        # The beams of all sources in one row, so that an index is one number.
        order += np.arange(count)[:, None] * scores.shape[1]
        self.scores = scores.ravel()[order]
        self._move(parents.ravel()[order], chosen.ravel()[order], recurrent, step)

    def _merge(self, logs: NDArray[np.float64]) -> None:
        """Let the likeliest way to write a word stand for all of them."""
        groups = self.groups
        if not groups.sources.size:
            return
        where = groups.sources[:, None, None], np.arange(self.beam)[None, :, None]
        ways = logs[(*where, groups.actions[:, None])]
        ways[np.broadcast_to(groups.padding[:, None], ways.shape)] = _NEVER
        winner = ways.argmax(-1)[..., None]
        highest = np.take_along_axis(ways, winner, -1)
        total = highest + np.log(np.exp(ways - highest).sum(-1, keepdims=True))
        logs[(*where, groups.actions[:, None])] = _NEVER
        likeliest = np.take_along_axis(
            np.broadcast_to(groups.actions[:, None], ways.shape), winner, -1
        )
        logs[(*where, likeliest)] = total

    def _forbid(self, logs: NDArray[np.float64]) -> None:
        """A sentence is not empty, and only a word just copied takes another form."""
        logs += self.barred[:, None]
        previous = self.place.previous
        row, beam = np.nonzero(self.place.place == 0)
        logs[row, beam, NEXT] = logs[row, beam, END] = _NEVER
        copied = previous >= COPY
        row, beam = np.nonzero(~copied)
        logs[row, beam, FORMS:CLOSED] = _NEVER
        row, beam = np.nonzero(copied)
        logs[row, beam, previous[row, beam]] = _NEVER  # not the same word twice in a row

    def _finish(
        self,
        scores: NDArray[np.float64],
        parents: NDArray[np.int64],
        ended: NDArray[np.bool_],
        step: int,
    ) -> None:
        for row, column in np.argwhere(ended & (scores > _NEVER / 2)).tolist():
            source = self.rows[row]
            actions = self.actions[row, parents[row, column], : step - 1]
            score = float(scores[row, column]) / step**self.power
            self.finished[source].append(Hypothesis(tuple(actions.tolist()), score))
            self.found[row] += 1
            self.best_finished[row] = max(self.best_finished[row], score)

    def _move(
        self,
        parents: NDArray[np.int64],
        chosen: NDArray[np.int64],
        recurrent: NDArray[np.float32],
        step: int,
    ) -> None:
        old = self.place
        count = len(parents)
        first = np.arange(count)[:, None]
        copied = old.copied[first, parents]
        rows, beams = np.nonzero(chosen >= COPY)
        words = chosen[rows, beams] - COPY
        copied[rows, beams, words] = np.minimum(copied[rows, beams, words] + 1, _COPIED_AT_MOST)
        ended = chosen == NEXT
        self.place = Place(
            previous=chosen,
            sentence=old.sentence[first, parents] + ended,
            place=np.where(ended, 0, old.place[first, parents] + 1),
            last=np.where(chosen >= COPY, chosen - COPY, old.last[first, parents]),
            copied=copied,
            recurrent=recurrent[first, parents],
        )
        self.actions = self.actions[first, parents]
        self.actions[:, :, step - 1] = chosen

    def _put_aside(self, step: int) -> None:
        """Leave out the sources whose best rewrites are found."""
        best = self.scores[:, 0]
        # The sum of log-probabilities only falls, but the mean of a longer rewrite may be higher.
        reachable = best / self.limits**self.power
        going = (best > _NEVER / 2) & (step < self.limits)
        going &= (self.found < self.beam) | (reachable > self.best_finished)
        if going.all():
            return
        self.scores[~going] = _NEVER
        if going.mean() > _COMPACT_AT:
            return
        keep = np.nonzero(going)[0]
        for name in _BY_SOURCE:
            setattr(self, name, getattr(self, name)[keep])
        self.groups = self.groups.select(keep)
        self.place = self.place.select(keep)
        if len(keep):
            self.memory = self.memory.select(keep)


def _largest(values: NDArray[np.float64], count: int) -> NDArray[np.int64]:
    """The places of the largest values of each row, largest first, the first of equals first."""
    some = np.sort(np.argpartition(-values, count - 1, axis=1)[:, :count], axis=1)
    order = np.argsort(-np.take_along_axis(values, some, 1), axis=1, kind="stable")
    return np.take_along_axis(some, order, 1)


@dataclass(frozen=True, slots=True)
class _Groups:
    """The groups of actions that write the same word: the row of the source of each group, and
    its actions, padded with the first of them."""

    sources: NDArray[np.int64]
    actions: NDArray[np.int64]
    padding: NDArray[np.bool_]

    @classmethod
    def of(cls, sources: Sequence[Features]) -> "_Groups":
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
        widest = max(map(len, found), default=0)
        sizes = np.array([len(group) for group in found], dtype=np.int64)
        actions = np.array([g + g[:1] * (widest - len(g)) for g in found], dtype=np.int64)
        return cls(np.array(rows, dtype=np.int64), actions, np.arange(widest) >= sizes[:, None])

    def select(self, rows: NDArray[np.int64]) -> "_Groups":
        """Only the groups of these sources, which become the first, second ... one."""
        group, row = np.nonzero(self.sources[:, None] == rows)
        return _Groups(row, self.actions[group], self.padding[group])


def _barred(sources: Sequence[Features], actions: int) -> NDArray[np.float64]:
    """What is added to the scores of actions (sources, actions) so that some are never taken."""
    barred = np.zeros((len(sources), actions))
    barred[:, [START, WHOLE]] = _NEVER
    for row, source in enumerate(sources):
        barred[row, COPY + len(source) :] = _NEVER
    return barred
