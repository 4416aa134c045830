"""Cut sentences off a group that their triples tie together, at the price of few others.

To choose the cheapest cut of a given size is a hard problem (balanced partition of a hypergraph),
so this grows several regions greedily and takes the best.
"""

import random
from collections.abc import Callable, Iterable, Mapping

from parataxis.corpora.example import Triple

__all__ = ["cut_off"]

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
