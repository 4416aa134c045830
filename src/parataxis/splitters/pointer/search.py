"""Beam search over actions, for many sources at once.

Hypotheses are compared when they are finished, by their mean log-probability. Where one word can
be written in several ways (it stands at several places of the source, or is a closed word too),
the ways are added up and the likeliest stands for all, as in training.
"""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from parataxis.splitters.pointer.actions import CLOSED, COPY, END, FORMS, NEXT, START, WHOLE
from parataxis.splitters.pointer.features import Features

__all__ = ["Decoder", "Found", "Hypothesis", "Memory", "Place", "search"]

_NEVER = -1e9
_SMALLEST = 1e-30
_LEAST_STEPS = 24
_STEPS_PER_WORD = 2.0
_COPIED_AT_MOST = 2
_COMPACT_AT = 0.7
"""When fewer of the sources than this share are still searched, the others are put aside."""


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


class Decoder(Protocol):
    """The two halves of the model: it reads sources once, and scores the next actions."""

    def read(self, sources: Sequence[Features]) -> tuple[Any, int, tuple[int, int]]:
        """The memory, how many words wide it is, and the shape of one recurrent state."""

    def step(self, memory: Any, place: Place) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
        """Log-probabilities (sources, beams, actions and words) and the new recurrent states."""


def search(
    decoder: Decoder, sources: Sequence[Features], *, beam: int, length_power: float = 1.0
) -> list[Found]:
    """Search rewrites of all sources side by side; the result does not depend on which ones."""
    if not sources:
        return []
    return _Search(decoder, sources, beam, length_power).run()


class _Search:
    def __init__(
        self, decoder: Decoder, sources: Sequence[Features], beam: int, length_power: float
    ) -> None:
        self.decoder, self.beam, self.power = decoder, beam, length_power
        self.memory, self.words, state = decoder.read(sources)
        count = len(sources)
        self.rows = np.arange(count)
        self.groups = _groups(sources, COPY + self.words)
        self.limits = np.array([max(_LEAST_STEPS, int(_STEPS_PER_WORD * len(s))) for s in sources])
        self.scores = np.full((count, beam), _NEVER)
        self.scores[:, 0] = 0.0
        self.actions = np.zeros((count, beam, 0), dtype=np.int64)
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
        logs = self._merged(scored)
        if step == 1:
            self.whole[self.rows] = np.exp(logs[:, 0, WHOLE])
        logs[:, :, [START, WHOLE]] = _NEVER
        self._forbid(logs)
        totals = self.scores[:, :, None] + logs
        count, beam, actions = totals.shape
        flat = totals.reshape(count, beam * actions)
        best = _largest(flat, 2 * beam)
        scores = np.take_along_axis(flat, best, 1)
        parents, chosen = best // actions, best % actions
        self._finish(scores, parents, chosen, step)
        scores = np.where(chosen == END, _NEVER, scores)
        order = np.argsort(-scores, axis=1, kind="stable")[:, :beam]
        self.scores = np.take_along_axis(scores, order, 1)
        self._move(
            np.take_along_axis(parents, order, 1), np.take_along_axis(chosen, order, 1), recurrent
        )

    def _forbid(self, logs: NDArray[np.float64]) -> None:
        """A sentence is not empty, and only a word just copied takes another form."""
        place = self.place
        opening = place.place == 0
        logs[:, :, [NEXT, END]] = np.where(opening[..., None], _NEVER, logs[:, :, [NEXT, END]])
        formless = place.previous < COPY
        forms = slice(FORMS, CLOSED)
        logs[:, :, forms] = np.where(formless[..., None], _NEVER, logs[:, :, forms])
        row, beam = np.nonzero(~formless)
        logs[row, beam, place.previous[row, beam]] = _NEVER  # not the same word twice in a row

    def _merged(self, logs: NDArray[np.float32]) -> NDArray[np.float64]:
        """Log-probabilities in which the likeliest way to write a word stands for all of them."""
        chances = np.exp(logs.astype(np.float64))
        groups = self.groups
        if groups.shape[1]:
            padded = np.concatenate([chances, np.zeros((*chances.shape[:2], 1))], axis=2)
            index = np.broadcast_to(
                groups.reshape(len(groups), 1, -1), (*chances.shape[:2], groups[0].size)
            )
            ways = np.take_along_axis(padded, index, 2).reshape(
                *chances.shape[:2], *groups.shape[1:]
            )
            winner = ways.argmax(-1)[..., None]
            merged = np.zeros_like(ways)
            np.put_along_axis(merged, winner, ways.sum(-1, keepdims=True), -1)
            np.put_along_axis(padded, index, merged.reshape(index.shape), 2)
            chances = padded[:, :, :-1]
        return np.log(np.maximum(chances, _SMALLEST))

    def _finish(
        self,
        scores: NDArray[np.float64],
        parents: NDArray[np.int64],
        chosen: NDArray[np.int64],
        step: int,
    ) -> None:
        for row, column in zip(*np.nonzero((chosen == END) & (scores > _NEVER / 2)), strict=True):
            actions = self.actions[row, parents[row, column]]
            score = float(scores[row, column]) / step**self.power
            self.finished[self.rows[row]].append(Hypothesis(tuple(actions.tolist()), score))

    def _move(
        self,
        parents: NDArray[np.int64],
        chosen: NDArray[np.int64],
        recurrent: NDArray[np.float32],
    ) -> None:
        old = self.place

        def of_parent(array: NDArray[Any]) -> NDArray[Any]:
            return np.take_along_axis(
                array, parents.reshape(*parents.shape, *[1] * (array.ndim - 2)), 1
            )

        copied = of_parent(old.copied)
        rows, beams = np.nonzero(chosen >= COPY)
        words = chosen[rows, beams] - COPY
        copied[rows, beams, words] = np.minimum(copied[rows, beams, words] + 1, _COPIED_AT_MOST)
        ended = chosen == NEXT
        self.place = Place(
            previous=chosen,
            sentence=of_parent(old.sentence) + ended,
            place=np.where(ended, 0, of_parent(old.place) + 1),
            last=np.where(chosen >= COPY, chosen - COPY, of_parent(old.last)),
            copied=copied,
            recurrent=of_parent(recurrent),
        )
        self.actions = np.concatenate([of_parent(self.actions), chosen[:, :, None]], axis=2)

    def _put_aside(self, step: int) -> None:
        """Leave out the sources whose best rewrites are found."""
        going = np.array(
            [self._goes_on(row, source, step) for row, source in enumerate(self.rows.tolist())],
            dtype=np.bool_,
        )
        self.scores[~going] = _NEVER
        if going.any() and going.mean() > _COMPACT_AT:
            return
        keep = np.nonzero(going)[0]
        self.rows, self.scores, self.actions = (
            self.rows[keep],
            self.scores[keep],
            self.actions[keep],
        )
        self.groups, self.limits = self.groups[keep], self.limits[keep]
        if len(keep):
            self.memory = self.memory.select(keep)
        place = self.place
        self.place = Place(
            place.previous[keep],
            place.sentence[keep],
            place.place[keep],
            place.last[keep],
            place.copied[keep],
            place.recurrent[keep],
        )

    def _goes_on(self, row: int, source: int, step: int) -> bool:
        best = self.scores[row, 0]
        if best <= _NEVER / 2 or step >= self.limits[row]:
            return False
        finished = [hypothesis.score for hypothesis in self.finished[source]]
        # The sum of log-probabilities only falls, but the mean of a longer rewrite may be higher.
        reachable = best / self.limits[row] ** self.power
        return len(finished) < self.beam or bool(reachable > max(finished))


def _largest(values: NDArray[np.float64], count: int) -> NDArray[np.int64]:
    """The places of the largest values of each row, largest first, the first of equals first."""
    some = np.sort(np.argpartition(-values, count - 1, axis=1)[:, :count], axis=1)
    order = np.argsort(-np.take_along_axis(values, some, 1), axis=1, kind="stable")
    return np.take_along_axis(some, order, 1)


def _groups(sources: Sequence[Features], nothing: int) -> NDArray[np.int64]:
    """For each source the groups of actions that write the same word, padded with ``nothing``."""
    found: list[list[list[int]]] = []
    for source in sources:
        groups: dict[int, list[int]] = defaultdict(list)
        for word, first in enumerate(source.same):
            if not groups[first] and source.twins[word] >= 0:
                groups[first].append(source.twins[word])
            groups[first].append(COPY + word)
        found.append([group for group in groups.values() if len(group) > 1])
    most = max(map(len, found))
    widest = max((len(group) for groups in found for group in groups), default=0)
    table = np.full((len(sources), most, widest), nothing)
    for row, groups_ in enumerate(found):
        for place, group in enumerate(groups_):
            table[row, place, : len(group)] = group
    return table
