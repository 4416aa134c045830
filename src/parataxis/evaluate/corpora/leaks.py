"""Leak check: how much of an evaluation set a system may have seen in training, by the diagnostics
of Aharoni and Goldberg (2018, tables 1 and 4), sources, triples and near-duplicates.

The evaluation sets are held in memory; the training set is streamed once.
"""

import math
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache
from itertools import chain, islice
from typing import Any

from parataxis.evaluate.corpora.example import Example, entities, relations, words
from parataxis.evaluate.corpora.sentences import on_one_line

_N = 3
"""Words of a shingle."""


@lru_cache(maxsize=1 << 13)  # enough for the texts of a batch, which several indexes look up
def shingles(text: str) -> frozenset[tuple[str, ...]]:
    """The sequences of three words in a text, without case and punctuation; of a shorter text,
    the whole.

    >>> sorted(shingles("It rained, and we left."))
    [('and', 'we', 'left'), ('it', 'rained', 'and'), ('rained', 'and', 'we')]
    """
    found = words(text)
    if len(found) < _N:
        return frozenset([tuple(found or [text])])
    return frozenset(zip(found, found[1:], found[2:], strict=False))


def jaccard(one: str, other: str) -> float:
    """The share of shingles that two texts have in common.

    >>> jaccard("It rained and we left.", "it rained and we left"), jaccard("Go.", "Stay.")
    (1.0, 0.0)
    """
    first, second = shingles(one), shingles(other)
    return len(first & second) / len(first | second)


class NearIndex:
    """Finds near-duplicates of its texts, those with a Jaccard coefficient from ``threshold`` on.

    >>> index = NearIndex(["The tower was built in 1894 by Ann Lee."], threshold=0.7)
    >>> list(index.matches(["The tower was built in 1894 by Ann."]))
    [(0, 0, 0.8571428571428571)]
    """

    def __init__(self, texts: Sequence[str], *, threshold: float = 0.8) -> None:
        self._texts = texts
        self._threshold = threshold
        known = Counter(chain.from_iterable(map(shingles, texts)))
        self._places: dict[tuple[str, ...], list[int]] = {}
        for place, text in enumerate(texts):
            # A near text can lack this many shingles and no more, so it has one of any set that is
            # larger by one; the rarest shingles give the fewest candidates.
            rarest = sorted(shingles(text), key=lambda each: (known[each], each))
            lacking = len(rarest) - math.ceil(threshold * len(rarest) - 1e-9)
            for shingle in rarest[: lacking + 1]:
                self._places.setdefault(shingle, []).append(place)

    def matches(
        self, texts: Iterable[str], *, skip: AbstractSet[int] = frozenset()
    ) -> Iterator[tuple[int, int, float]]:
        """(place in ``texts``, place in the index, Jaccard) of each pair that is near enough,
        without places of the index to ``skip``."""
        for place, text in enumerate(texts):
            shared = self._places.keys() & shingles(text)
            for own in sorted({own for each in shared for own in self._places[each]} - skip):
                near = jaccard(text, self._texts[own])
                if near >= self._threshold:
                    yield place, own, near


NEAR = 0.8
"""Texts with at least this share of their word 3-grams in common are near-duplicates."""

INSIDE = 0.5
"""An evaluation set is inside a training set if more than this share of its sources is there."""

_SHOWN = 5
_BATCH = 512


class Overlap(StrEnum):
    """What an evaluation set can have in common with a training set."""

    SOURCES = "sources, verbatim"
    NEAR_SOURCES = "sources, nearly"
    SIMPLE = "simple sentences, verbatim"
    NEAR_SIMPLE = "simple sentences, nearly"
    TRIPLES = "triples"
    VOCABULARY = "vocabulary"
    NAMES = "names"
    ENTITIES = "entities"
    RELATIONS = "relations"


_LEAKING = tuple(Overlap)[:5]
"""What must not be in common. Words, names and relations may be learnt."""
_THINGS = tuple(Overlap)[4:]
"""What is compared one by one: everything but the texts."""


@dataclass(frozen=True, slots=True)
class Sight:
    """A text of the evaluation set, and the one in training that is the same or nearly so."""

    text: str
    seen: str
    id: str
    """Of the training example."""
    jaccard: float = 1.0


@dataclass(frozen=True, slots=True)
class Leak:
    """How many of a kind were found in training, counting every occurrence, and counting each
    different one once. Verbatim texts are not counted again as near ones."""

    kind: Overlap
    found: int
    total: int
    unique_found: int
    unique_total: int
    sights: tuple[Sight, ...] = ()

    def is_leak(self, allowed: float = 0.0) -> bool:
        """Whether more than the share ``allowed`` was found of something that can leak."""
        return self.kind in _LEAKING and self.found > allowed * self.total


@dataclass(frozen=True, slots=True)
class Overlaps:
    """Everything that an evaluation set has in common with a training set."""

    leaks: tuple[Leak, ...]

    def __getitem__(self, kind: Overlap) -> Leak:
        return next(leak for leak in self.leaks if leak.kind is kind)

    def is_leak(self, allowed: float = 0.0) -> bool:
        """Whether anything leaks beyond the share ``allowed``; a set that is inside the training
        set always leaks."""
        return self.is_inside or any(leak.is_leak(allowed) for leak in self.leaks)

    @property
    def inside(self) -> float:
        """The share of different sources that are in training, verbatim or nearly."""
        kinds = (Overlap.SOURCES, Overlap.NEAR_SOURCES)
        found = sum(leak.unique_found for leak in self.leaks if leak.kind in kinds)
        total = self[Overlap.SOURCES].unique_total
        return found / total if total else 0.0

    @property
    def is_inside(self) -> bool:
        return self.inside > INSIDE


class _Texts:
    """Sentences of an evaluation set, and which of them were seen."""

    def __init__(self, counts: Counter[str], near: float) -> None:
        self._counts = counts
        self._texts = list(counts)
        self._index = NearIndex(self._texts, threshold=near) if near < 1 else None
        self._places = {text: place for place, text in enumerate(self._texts)}
        self._verbatim: dict[int, Sight] = {}
        self._near: dict[int, Sight] = {}

    def meet(self, texts: Mapping[str, str]) -> None:
        """Look up texts of a training set, each with the id of its example."""
        for text in texts.keys() & self._places.keys():
            place = self._places[text]
            self._verbatim.setdefault(place, Sight(text, text, texts[text]))
            self._near.pop(place, None)
        if self._index is None:
            return
        others, ids = list(texts), list(texts.values())
        done = self._verbatim.keys() | self._near.keys()
        for at, place, near in self._index.matches(others, skip=done):
            sight = Sight(self._texts[place], others[at], ids[at], near)
            self._near.setdefault(place, sight)

    def leaks(self, verbatim: Overlap, near: Overlap) -> Iterator[Leak]:
        """The two leaks of these texts; one if near-duplicates are not looked for."""
        for kind, seen in ((verbatim, self._verbatim), (near, self._near)):
            if kind is verbatim or self._index is not None:
                sights = tuple(seen[place] for place in sorted(seen)[:_SHOWN])
                yield _leak(kind, self._counts, {self._texts[place] for place in seen}, sights)


def _leak(
    kind: Overlap, counts: Counter[Any], seen: AbstractSet[object], sights: tuple[Sight, ...] = ()
) -> Leak:
    found = sum(counts[each] for each in seen)
    return Leak(kind, found, counts.total(), len(seen), len(counts), sights)


class _EvaluationSet:
    """An evaluation set, held to be compared with one training set."""

    def __init__(self, examples: Sequence[Example], near: float) -> None:
        sources = Counter(on_one_line(example.source) for example in examples)
        simple = Counter(on_one_line(text) for each in examples for text in _simple(each))
        self._sources, self._simple = _Texts(sources, near), _Texts(simple, near)
        self._things = _things(examples)
        self._seen: dict[Overlap, set[object]] = {kind: set() for kind in _THINGS}

    def meet(self, texts: Mapping[str, str], things: Mapping[Overlap, Counter[Any]]) -> None:
        """Look up what some examples of a training set have."""
        self._sources.meet(texts)
        self._simple.meet(texts)
        for kind, seen in self._seen.items():
            seen |= things[kind].keys() & self._things[kind].keys()

    def overlaps(self) -> Overlaps:
        leaks = [
            *self._sources.leaks(Overlap.SOURCES, Overlap.NEAR_SOURCES),
            *self._simple.leaks(Overlap.SIMPLE, Overlap.NEAR_SIMPLE),
            *(_leak(kind, self._things[kind], self._seen[kind]) for kind in _THINGS),
        ]
        return Overlaps(tuple(leak for leak in leaks if leak.total or leak.kind not in _THINGS))


def find_overlaps(
    train: Iterable[Example], parts: Mapping[str, Iterable[Example]], *, near: float = NEAR
) -> dict[str, Overlaps]:
    """What each evaluation set has in common with a training set, which is read once. Texts are
    near-duplicates from the Jaccard coefficient ``near`` on; 1 finds none.

    >>> seen = Example("It rained, so we left.", (("It rained.", "So we left."),), "train:1")
    >>> new = Example("It rained, so I stayed.", (("It rained.", "So I stayed."),), "test:1")
    >>> found = find_overlaps([seen], {"test": [new]})["test"]
    >>> found[Overlap.SIMPLE].found, found[Overlap.SIMPLE].total, found.is_leak()
    (1, 2, True)
    """
    held = {name: _EvaluationSet(list(examples), near) for name, examples in parts.items()}
    stream = iter(train)
    while batch := list(islice(stream, _BATCH)):
        # A text was seen, whether as a source or as a simple sentence.
        texts: dict[str, str] = {}
        for example in batch:
            for text in (example.source, *_simple(example)):
                texts.setdefault(on_one_line(text), example.id)
        things = _things(batch)
        for part in held.values():
            part.meet(texts, things)
    return {name: part.overlaps() for name, part in held.items()}


def _simple(example: Example) -> Iterator[str]:
    return chain.from_iterable(example.references)


def _things(examples: Iterable[Example]) -> dict[Overlap, Counter[Any]]:
    """The words of all sentences, the names in sources, and triples with their entities and
    relations."""
    found: dict[Overlap, Counter[Any]] = {kind: Counter() for kind in _THINGS}
    for example in examples:
        for text in (example.source, *_simple(example)):
            found[Overlap.VOCABULARY].update(words(text))
        found[Overlap.NAMES].update(_names(example.source))
        found[Overlap.TRIPLES].update(example.triples)
        found[Overlap.ENTITIES].update(entities(example.triples))
        found[Overlap.RELATIONS].update(relations(example.triples))
    return found


_FIRST_WORD = re.compile(r"\W*\w*")
_NAME = re.compile(r"\b[A-ZÀ-ÖØ-Þ]\w+(?: [A-ZÀ-ÖØ-Þ]\w+)*")


def _names(sentence: str) -> list[str]:
    """Runs of capitalised words: a guess at the names, good enough to compare two corpora. The
    first word of a sentence is skipped, because it is always capitalised."""
    first = _FIRST_WORD.match(sentence)
    return _NAME.findall(sentence, first.end() if first else 0)
