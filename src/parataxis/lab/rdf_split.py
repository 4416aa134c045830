"""Split a corpus by its triples (Aharoni and Goldberg 2018, §3).

Two conditions hold for every split made here: each relation occurs in training, and each triple
occurs in one part only. Sentences that share a triple belong together, so the parts are made of
whole groups of tied sentences. Where the groups are too large for that, a group is cut and the
sentences on the cut are dropped.
"""

import random
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from parataxis.evaluate.corpora.example import Triple

# Choosing the cheapest cut of a given size is a hard problem (balanced partition of a hypergraph),
# so several regions are grown greedily and the best is taken.

_STARTS = 64
"""Regions that are grown: more find better cuts, and take longer."""


def cut_off(
    sentences: Mapping[int, frozenset[Triple]],
    size: int,
    can_go: Callable[[Iterable[int]], bool],
    price: float,
    seed: int,
) -> tuple[list[int], list[int]]:
    """Up to ``size`` sentences whose triples no others have, once some are dropped: both lists.

    ``can_go`` says whether these sentences may leave training, and ``price`` is the most that may
    be dropped for each one that is cut off. Empty lists where no cut is worth it.
    """
    users: dict[Triple, list[int]] = {}
    for index, triples in sentences.items():
        for triple in triples:
            users.setdefault(triple, []).append(index)
    starts = sorted(users)
    random.Random(seed).shuffle(starts)
    best: tuple[float, list[int], list[int]] = (0.0, [], [])
    for start in starts[:_STARTS]:
        best = max(
            best, _grow(start, sentences, users, size, can_go, price), key=lambda found: found[0]
        )
    return best[1], best[2]


def _grow(
    start: Triple,
    sentences: Mapping[int, frozenset[Triple]],
    users: Mapping[Triple, list[int]],
    size: int,
    can_go: Callable[[Iterable[int]], bool],
    price: float,
) -> tuple[float, list[int], list[int]]:
    """Add one triple after the other to a region; the best state that it passes through."""
    region: set[Triple] = set()
    missing: dict[int, int] = {}  # triples that a touched sentence has outside the region
    inside = 0
    border = {start}
    best: tuple[float, list[int], list[int]] = (0.0, [], [])
    while border and inside <= size:
        triple = min(border, key=lambda each: (_cost(each, users, missing), each))
        border.remove(triple)
        region.add(triple)
        for index in users[triple]:
            missing[index] = missing.get(index, len(sentences[index])) - 1
            inside += missing[index] == 0
            border |= sentences[index] - region
        crossing = len(missing) - inside
        worth = inside - crossing / price
        if inside <= size and worth > best[0] and can_go(missing):
            whole = sorted(index for index, left in missing.items() if left == 0)
            best = worth, whole, sorted(index for index, left in missing.items() if left)
    return best


def _cost(triple: Triple, users: Mapping[Triple, list[int]], missing: Mapping[int, int]) -> int:
    """How many more sentences cross the edge of the region once it has this triple too."""
    return sum((index not in missing) - (missing.get(index) == 1) for index in users[triple])


TripleSet = frozenset[Triple]

TOLERANCE = 0.1
"""A part may lack this share of its sentences; groups are cut where it would lack more."""

_DIVERSITY = 5
"""A part is filled with groups of at most a fifth of it first, so that no subject rules it."""

_PRICE, _HIGH_PRICE = 0.5, 2.0
"""The most sentences that may be dropped for each one that a cut gains; the high price is paid for
a part that would otherwise have less than half of its sentences."""


@dataclass(frozen=True)
class DataSplit:
    """The indices of the sentences of each part, in order, and of those that were dropped.

    ``wanted`` are the sizes that validation and test should have. ``groups`` is the number of
    groups of tied sentences, ``largest`` the size of the largest.
    """

    train: tuple[int, ...]
    validation: tuple[int, ...]
    test: tuple[int, ...]
    dropped: tuple[int, ...]
    wanted: tuple[int, int]
    groups: int
    largest: int


def split(
    sentences: Sequence[TripleSet],
    *,
    shares: tuple[float, float] = (0.1, 0.1),
    seed: int = 0,
) -> DataSplit:
    """Give about ``shares`` of the sentences to validation and test, and the rest to training.

    ``sentences`` are the triples of each. A part that whole groups cannot fill is filled by
    cutting a group, if that is possible.
    """
    groups = tied_groups(sentences)
    random.Random(seed).shuffle(groups)
    training = _Training(sentences, groups)
    wanted = round(shares[0] * len(sentences)), round(shares[1] * len(sentences))
    parts = _Parts(([], []), wanted)
    for limit in (max(wanted) // _DIVERSITY, len(sentences)):
        parts.fill(training, limit)
    dropped = parts.fill_by_cuts(training, _PRICE, seed, tolerance=TOLERANCE)
    dropped += parts.fill_by_cuts(training, _HIGH_PRICE, seed, tolerance=0.5)
    return DataSplit(
        train=tuple(sorted(training.left())),
        validation=tuple(sorted(parts.indices[0])),
        test=tuple(sorted(parts.indices[1])),
        dropped=tuple(sorted(dropped)),
        wanted=wanted,
        groups=len(groups),
        largest=max(map(len, groups), default=0),
    )


def tied_groups(sentences: Sequence[TripleSet]) -> list[list[int]]:
    """The sentences in groups, such that those that share a triple are in one group.

    >>> a, b, c = Triple("A", "r", "B"), Triple("A", "s", "C"), Triple("B", "t", "D")
    >>> tied_groups([frozenset({a, b}), frozenset({c}), frozenset({b})])
    [[0, 2], [1]]
    """
    leader = list(range(len(sentences)))

    def find(index: int) -> int:
        while leader[index] != index:
            leader[index] = leader[leader[index]]
            index = leader[index]
        return index

    first: dict[Triple, int] = {}
    for index, triples in enumerate(sentences):
        for triple in triples:
            one, other = find(first.setdefault(triple, index)), find(index)
            leader[max(one, other)] = min(one, other)
    groups: dict[int, list[int]] = {}
    for index in range(len(sentences)):
        groups.setdefault(find(index), []).append(index)
    return list(groups.values())


class _Training:
    """The groups that are still in training, and how many sentences there have each relation."""

    def __init__(self, sentences: Sequence[TripleSet], groups: list[list[int]]) -> None:
        self._sentences = sentences
        self.groups = groups
        self._relations = self._count(range(len(sentences)))

    def _count(self, indices: Iterable[int]) -> Counter[str]:
        found: Counter[str] = Counter()
        for index in indices:
            found.update({triple.relation for triple in self._sentences[index]})
        return found

    def _can_go(self, indices: Iterable[int]) -> bool:
        going = self._count(indices)
        return all(self._relations[relation] > number for relation, number in going.items())

    def take(self, group: list[int]) -> bool:
        """Take a group out of training, unless a relation would be gone with it."""
        if not self._can_go(group):
            return False
        self._relations -= self._count(group)
        return True

    def cut(self, size: int, price: float, seed: int) -> tuple[list[int], list[int]]:
        """Cut up to ``size`` sentences off a group: those, and the ones that must be dropped.

        The largest group that allows a cut is cut; its rest, perhaps in pieces, stays in training.
        """
        for group in sorted(self.groups, key=len, reverse=True):
            sentences = {index: self._sentences[index] for index in group}
            inside, crossing = cut_off(sentences, size, self._can_go, price, seed)
            if inside:
                gone = {*inside, *crossing}
                self._relations -= self._count(gone)
                self.groups.remove(group)
                rest = [index for index in group if index not in gone]
                tied = tied_groups([self._sentences[index] for index in rest])
                self.groups += [[rest[place] for place in part] for part in tied]
                return inside, crossing
        return [], []

    def left(self) -> list[int]:
        return [index for group in self.groups for index in group]


@dataclass(frozen=True)
class _Parts:
    """Validation and test while they are filled."""

    indices: tuple[list[int], list[int]]
    wanted: tuple[int, int]

    def _emptiest_first(self) -> list[tuple[float, int, list[int]]]:
        """The parts with the share and the number of sentences that they lack."""
        rooms = [size - len(part) for part, size in zip(self.indices, self.wanted, strict=True)]
        lacks = [room / max(size, 1) for room, size in zip(rooms, self.wanted, strict=True)]
        found = zip(lacks, rooms, self.indices, strict=True)
        return sorted(found, key=lambda each: each[0], reverse=True)

    def fill(self, training: _Training, limit: int) -> None:
        """Move groups of up to ``limit`` sentences out of training, into the emptier part first."""
        stay = []
        for group in training.groups:
            fitting = (part for _, room, part in self._emptiest_first() if len(group) <= room)
            part = next(fitting, None)
            if part is not None and len(group) <= limit and training.take(group):
                part += group
            else:
                stay.append(group)
        training.groups = stay

    def fill_by_cuts(
        self, training: _Training, price: float, seed: int, *, tolerance: float
    ) -> list[int]:
        """Cut groups for the emptier part in turn, until both lack no more than the share
        ``tolerance`` or there is nothing to cut; the sentences that had to be dropped."""
        dropped: list[int] = []
        while True:
            for lack, room, part in self._emptiest_first():
                inside, crossing = training.cut(room, price, seed) if lack > tolerance else ([], [])
                if inside:
                    part += inside
                    dropped += crossing
                    break
            else:
                return dropped
