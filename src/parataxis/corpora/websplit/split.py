"""Split a corpus by its triples (Aharoni and Goldberg 2018, §3).

Two conditions hold for every split made here: each relation occurs in training, and each triple
occurs in one part only. Sentences that share a triple belong together, so the parts are made of
whole groups of tied sentences. Where the groups are too large for that, a group is cut and the
sentences on the cut are dropped.
"""

import random
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from parataxis.corpora.example import Triple
from parataxis.corpora.websplit.cut import cut_off

__all__ = ["Split", "split", "tied_groups"]

TripleSet = frozenset[Triple]

_DIVERSITY = 5
"""A part is filled with groups of at most a fifth of it first, so that no subject rules it."""


@dataclass(frozen=True)
class Split:
    """The indices of the sentences of each part, in order, and of those that were dropped.

    ``groups`` is the number of groups of tied sentences, ``largest`` the size of the largest.
    """

    train: tuple[int, ...]
    validation: tuple[int, ...]
    test: tuple[int, ...]
    dropped: tuple[int, ...]
    groups: int
    largest: int


def split(
    sentences: Sequence[TripleSet],
    *,
    shares: tuple[float, float] = (0.1, 0.1),
    tolerance: float = 0.01,
    seed: int = 0,
) -> Split:
    """Give about ``shares`` of the sentences to validation and test, and the rest to training.

    ``sentences`` are the triples of each. A part that whole groups cannot fill up to ``tolerance``
    (a share of all sentences) below its share is filled by cutting a group.
    """
    groups = tied_groups(sentences)
    random.Random(seed).shuffle(groups)
    training = _Training(sentences, groups)
    wanted = [round(share * len(sentences)) for share in shares]
    parts: list[list[int]] = [[], []]
    for limit in (max(wanted, default=0) // _DIVERSITY, len(sentences)):
        _fill(parts, wanted, training, limit)
    dropped: list[int] = []
    for part, size in zip(parts, wanted, strict=True):
        while size - len(part) > tolerance * len(sentences):
            inside, crossing = training.cut(size - len(part), seed)
            if not inside:
                break
            part += inside
            dropped += crossing
    return Split(
        train=tuple(sorted(training.left())),
        validation=tuple(sorted(parts[0])),
        test=tuple(sorted(parts[1])),
        dropped=tuple(sorted(dropped)),
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

    def cut(self, size: int, seed: int) -> tuple[list[int], list[int]]:
        """Cut up to ``size`` sentences off a group: those, and the ones that must be dropped.

        The largest group that allows a cut is cut; its rest, perhaps in pieces, stays in training.
        """
        for group in sorted(self.groups, key=len, reverse=True):
            sentences = {index: self._sentences[index] for index in group}
            inside, crossing = cut_off(sentences, size, self._can_go, seed)
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


def _fill(parts: list[list[int]], wanted: list[int], training: _Training, limit: int) -> None:
    """Move groups of up to ``limit`` sentences from training into the part with the most room."""
    stay = []
    for group in training.groups:
        rooms = [size - len(part) for part, size in zip(parts, wanted, strict=True)]
        roomiest = rooms.index(max(rooms))
        if len(group) <= min(rooms[roomiest], limit) and training.take(group):
            parts[roomiest] += group
        else:
            stay.append(group)
    training.groups = stay
