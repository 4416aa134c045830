"""Split a corpus by its triples (Aharoni and Goldberg 2018, §3).

Two conditions hold for every split made here: each relation occurs in training, and each triple
occurs in one part only. Sentences that share a triple belong together, so the parts are made of
whole groups of tied sentences. Where the groups are too large for that, a group is cut and the
sentences on the cut are dropped.
"""

import random
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from parataxis.evaluate.corpora.example import Triple

TripleSet = frozenset[Triple]

TOLERANCE = 0.1
"""A part may lack this share of its sentences; groups are cut where it would lack more."""

_DIVERSITY = 5
"""A part is filled with groups of at most a fifth of it first, so that no subject rules it."""

_PRICE, _HIGH_PRICE = 0.5, 2.0
"""The most sentences that may be dropped for each one that a cut gains; the high price is paid for
a part that would otherwise have less than half of its sentences."""

_STARTS = 64
"""Regions that are grown to find a cut: more find better cuts, and take longer."""


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
    by_chance: bool = False,
) -> DataSplit:
    """Give about ``shares`` of the sentences to validation and test, and the rest to training.

    ``sentences`` are the triples of each. A part that whole groups cannot fill is filled by
    cutting a group, if that is possible. ``by_chance`` sets no condition, as the first WebSplit
    was split: triples are in all parts.
    """
    groups = tied_groups(sentences)
    wanted = round(shares[0] * len(sentences)), round(shares[1] * len(sentences))
    if by_chance:
        order = random.Random(seed).sample(range(len(sentences)), len(sentences))
        held = order[: wanted[0]], order[wanted[0] : sum(wanted)]
        train, dropped = order[sum(wanted) :], []
    else:
        random.Random(seed).shuffle(groups)
        making = _Making(sentences, groups, wanted, seed)
        for limit in (max(wanted) // _DIVERSITY, len(sentences)):
            making.fill(limit)
        making.fill_by_cuts(_PRICE, tolerance=TOLERANCE)
        making.fill_by_cuts(_HIGH_PRICE, tolerance=0.5)
        held = making.parts
        train, dropped = [index for group in making.groups for index in group], making.dropped
    train, validation, test, dropped = map(sorted, (train, *held, dropped))
    return DataSplit(
        train=tuple(train),
        validation=tuple(validation),
        test=tuple(test),
        dropped=tuple(dropped),
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


class _Making:
    """Validation and test while they are filled from the groups that are still in training."""

    def __init__(
        self,
        sentences: Sequence[TripleSet],
        groups: list[list[int]],
        wanted: tuple[int, int],
        seed: int,
    ) -> None:
        self.sentences, self.groups, self.wanted, self.seed = sentences, groups, wanted, seed
        self.relations = self._count(range(len(sentences)))
        """How many sentences in training have each relation."""
        self.parts: tuple[list[int], list[int]] = ([], [])
        self.dropped: list[int] = []

    def _count(self, indices: Iterable[int]) -> Counter[str]:
        found: Counter[str] = Counter()
        for index in indices:
            found.update({triple.relation for triple in self.sentences[index]})
        return found

    def can_go(self, indices: Iterable[int]) -> bool:
        """Whether every relation would remain in training without these sentences."""
        going = self._count(indices)
        return all(self.relations[relation] > number for relation, number in going.items())

    def _emptiest_first(self) -> list[tuple[float, int, list[int]]]:
        """The parts with the share and the number of sentences that they lack."""
        rooms = [size - len(part) for part, size in zip(self.parts, self.wanted, strict=True)]
        lacks = [room / max(size, 1) for room, size in zip(rooms, self.wanted, strict=True)]
        found = zip(lacks, rooms, self.parts, strict=True)
        return sorted(found, key=lambda each: each[0], reverse=True)

    def fill(self, limit: int) -> None:
        """Move groups of up to ``limit`` sentences out of training, into the emptier part first."""
        stay = []
        for group in self.groups:
            fitting = (part for _, room, part in self._emptiest_first() if len(group) <= room)
            part = next(fitting, None)
            if part is not None and len(group) <= limit and self.can_go(group):
                self.relations -= self._count(group)
                part += group
            else:
                stay.append(group)
        self.groups = stay

    def fill_by_cuts(self, price: float, *, tolerance: float) -> None:
        """Cut groups for the emptier part in turn, until both lack no more than the share
        ``tolerance`` or there is nothing to cut."""
        while any(
            lack > tolerance and self._cut(room, part, price)
            for lack, room, part in self._emptiest_first()
        ):
            pass

    def _cut(self, size: int, part: list[int], price: float) -> bool:
        """Cut up to ``size`` sentences off the largest group that allows it, and drop those on the
        cut; the rest of the group, perhaps in pieces, stays in training."""
        for group in sorted(self.groups, key=len, reverse=True):
            inside, crossing = _Region(self, group, size, price).best()
            if inside:
                part += inside
                self.dropped += crossing
                gone = {*inside, *crossing}
                self.relations -= self._count(gone)
                self.groups.remove(group)
                rest = [index for index in group if index not in gone]
                tied = tied_groups([self.sentences[index] for index in rest])
                self.groups += [[rest[place] for place in piece] for piece in tied]
                return True
        return False


_Cut = tuple[float, list[int], list[int]]
"""What a cut is worth, the sentences inside, and those that must be dropped."""


class _Region:
    """The search for a cut: up to ``size`` sentences of a group whose triples no others have, once
    some are dropped, at most ``price`` for each one that is cut off.

    Choosing the cheapest cut of a given size is a hard problem (balanced partition of a
    hypergraph), so several regions are grown greedily and the best is taken.
    """

    def __init__(self, making: _Making, group: list[int], size: int, price: float) -> None:
        self.making, self.size, self.price = making, size, price
        self.sentences = {index: making.sentences[index] for index in group}
        self.users: dict[Triple, list[int]] = {}
        for index, triples in self.sentences.items():
            for triple in triples:
                self.users.setdefault(triple, []).append(index)

    def best(self) -> tuple[list[int], list[int]]:
        """The sentences inside and those to drop; empty where no cut is worth it."""
        starts = sorted(self.users)
        random.Random(self.making.seed).shuffle(starts)
        best: _Cut = (0.0, [], [])
        for start in starts[:_STARTS]:
            best = max(best, self._grow(start), key=lambda found: found[0])
        return best[1], best[2]

    def _grow(self, start: Triple) -> _Cut:
        """Add one triple after the other to a region; the best state that it passes through."""
        region: set[Triple] = set()
        missing: dict[int, int] = {}  # triples that a touched sentence has outside the region
        inside = 0
        border = {start}
        best: _Cut = (0.0, [], [])
        while border and inside <= self.size:
            triple = min(border, key=lambda each: (self._cost(each, missing), each))
            border.remove(triple)
            region.add(triple)
            for index in self.users[triple]:
                missing[index] = missing.get(index, len(self.sentences[index])) - 1
                inside += missing[index] == 0
                border |= self.sentences[index] - region
            worth = inside - (len(missing) - inside) / self.price
            if inside <= self.size and worth > best[0] and self.making.can_go(missing):
                whole = sorted(index for index, left in missing.items() if left == 0)
                best = worth, whole, sorted(index for index, left in missing.items() if left)
        return best

    def _cost(self, triple: Triple, missing: Mapping[int, int]) -> int:
        """How many more sentences cross the edge of the region once it has this triple too."""
        users = self.users[triple]
        return sum((index not in missing) - (missing.get(index) == 1) for index in users)
