"""Leak check: how much of an evaluation set a system may have seen in training.

The evaluation sets are held in memory; the training set is streamed once. The diagnostics are
those of Aharoni and Goldberg (2018, tables 1 and 4): simple sentences found verbatim, vocabulary,
entities and relations. Sources, triples and near-duplicates are counted too. A text is looked up
among all texts of the training set, sources and simple sentences.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from enum import StrEnum
from functools import lru_cache
from itertools import chain, islice
from zlib import crc32

import numpy as np
import numpy.typing as npt

from parataxis.evaluate.corpora.example import Example, entities, relations, words
from parataxis.evaluate.corpora.sentences import on_one_line

_N = 3
"""Words of a shingle."""

_BANDS, _ROWS = 32, 4
"""With these, a pair at Jaccard 0.7 is missed once in 6,600 times, one at 0.6 once in 85."""

_UInt64 = npt.NDArray[np.uint64]
_ODD = np.uint64(0x9E3779B97F4A7C15)


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
    """Finds near-duplicates of its texts by MinHash (Broder 1997) with banding.

    The few sentences of an evaluation set are indexed, and a corpus of any size is looked up in
    them. Every candidate is verified by its true Jaccard coefficient.

    >>> index = NearIndex(["The tower was built in 1894 by Ann Lee."], threshold=0.7)
    >>> list(index.matches(["The tower was built in 1894 by Ann."]))
    [(0, 0, 0.8571428571428571)]
    """

    def __init__(self, texts: Sequence[str], *, threshold: float = 0.8) -> None:
        self._texts = texts
        self._threshold = threshold
        keys = band_keys(texts) if texts else np.empty((_BANDS, 0), np.uint64)
        self._known = [np.unique(band) for band in keys]
        self._places: list[dict[int, list[int]]] = []
        for band in keys.tolist():
            places: dict[int, list[int]] = {}
            for place, key in enumerate(band):
                places.setdefault(key, []).append(place)
            self._places.append(places)

    def matches(
        self,
        texts: Sequence[str],
        *,
        keys: _UInt64 | None = None,
        skip: AbstractSet[int] = frozenset(),
    ) -> Iterator[tuple[int, int, float]]:
        """(place in ``texts``, place in the index, Jaccard) of each pair that is near enough,
        except those whose place in the index is in ``skip``. ``keys`` are the :func:`band_keys`
        of the texts, where they are known."""
        if not texts or not self._texts:
            return
        candidates: set[tuple[int, int]] = set()
        keys = band_keys(texts) if keys is None else keys
        for band, known, places in zip(keys, self._known, self._places, strict=True):
            found = known[np.minimum(np.searchsorted(known, band), len(known) - 1)] == band
            for place in np.flatnonzero(found).tolist():
                candidates.update((place, own) for own in places[int(band[place])])
        for place, own in sorted(candidates):
            if own in skip:
                continue
            near = jaccard(texts[place], self._texts[own])
            if near >= self._threshold:
                yield place, own, near


def _permutations() -> tuple[_UInt64, _UInt64]:
    draw = np.random.Generator(np.random.PCG64(2018))
    size = (_BANDS * _ROWS, 1)
    factors = draw.integers(0, 1 << 63, size, dtype=np.uint64) * np.uint64(2) + np.uint64(1)
    return factors, draw.integers(0, 1 << 63, size, dtype=np.uint64)


_FACTORS, _SHIFTS = _permutations()


@lru_cache(1 << 18)
def _word_hash(word: str) -> int:
    return crc32(word.encode())


def band_keys(texts: Sequence[str]) -> _UInt64:
    """One number for each band of each text; texts that share one are candidates."""
    hashed = [list(map(_word_hash, words(text))) for text in texts]
    padded = [each + [0] * (_N - len(each)) for each in hashed]
    lengths = np.fromiter(map(len, padded), np.int64, len(padded))
    flat = np.fromiter(chain.from_iterable(padded), np.uint64, int(lengths.sum()))
    hashes = np.zeros_like(flat)
    for place in range(_N):
        hashes = _mixed(hashes * _ODD + np.roll(flat, -place))
    ends = np.cumsum(lengths)
    inside = np.ones(len(flat), bool)  # no shingle goes from one text into the next
    for place in range(1, _N):
        inside[ends - place] = False
    counts = lengths - _N + 1
    starts = np.cumsum(counts) - counts
    permuted = (_FACTORS * hashes[inside] + _SHIFTS) >> np.uint64(32)
    signatures = np.minimum.reduceat(permuted, starts, axis=1)
    rows = signatures.reshape(_BANDS, _ROWS, len(texts))
    keys = np.zeros((_BANDS, len(texts)), np.uint64)
    for row in range(_ROWS):
        keys = _mixed(keys * _ODD + rows[:, row])
    return keys


def _mixed(numbers: _UInt64) -> _UInt64:
    """Spread every bit over all (the finaliser of SplitMix64)."""
    numbers = (numbers ^ (numbers >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    numbers = (numbers ^ (numbers >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return numbers ^ (numbers >> np.uint64(31))


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

    @property
    def is_leak(self) -> bool:
        """Whether having this in common is a leak. Words, names and relations may be learnt."""
        return self in tuple(Overlap)[:5]


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
        return self.kind.is_leak and self.found > allowed * self.total


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
        """Whether most of the sources are in training."""
        return self.inside > INSIDE


class _Texts:
    """Sentences of an evaluation set, and which of them were seen."""

    def __init__(self, counts: Counter[str], near: float) -> None:
        self.counts = counts
        self.texts = list(counts)
        self._index = NearIndex(self.texts, threshold=near) if near < 1 else None
        self._places = {text: place for place, text in enumerate(self.texts)}
        self._verbatim: dict[int, Sight] = {}
        self._near: dict[int, Sight] = {}

    def meet(self, batch: "_Batch") -> None:
        """Look up the texts of a training set."""
        for text, id_ in zip(batch.texts, batch.ids, strict=True):
            place = self._places.get(text)
            if place is not None and place not in self._verbatim:
                self._verbatim[place] = Sight(text, text, id_)
                self._near.pop(place, None)
        if self._index is None:
            return
        done = self._verbatim.keys() | self._near.keys()
        for at, place, near in self._index.matches(batch.texts, keys=batch.keys, skip=done):
            sight = Sight(self.texts[place], batch.texts[at], batch.ids[at], near)
            self._near.setdefault(place, sight)

    def leaks(self, verbatim: Overlap, near: Overlap) -> Iterator[Leak]:
        yield self._leak(verbatim, self._verbatim)
        if self._index is not None:
            yield self._leak(near, self._near)

    def _leak(self, kind: Overlap, seen: Mapping[int, Sight]) -> Leak:
        found = sum(self.counts[self.texts[place]] for place in seen)
        sights = tuple(seen[place] for place in sorted(seen)[:_SHOWN])
        return Leak(kind, found, self.counts.total(), len(seen), len(self.texts), sights)


@dataclass
class _Things:
    """Words, names, entities, relations or triples of an evaluation set."""

    counts: Counter[object] = field(default_factory=Counter)
    seen: set[object] = field(default_factory=set)

    def meet(self, others: Iterable[object]) -> None:
        self.seen.update(other for other in others if other in self.counts)

    def leak(self, kind: Overlap) -> Leak:
        found = sum(self.counts[each] for each in self.seen)
        return Leak(kind, found, self.counts.total(), len(self.seen), len(self.counts))


class EvaluationSet:
    """An evaluation set, held to be compared with one training set.

    Texts are near-duplicates from the Jaccard coefficient ``near`` on; 1 finds none.
    """

    def __init__(self, examples: Iterable[Example], *, near: float = NEAR) -> None:
        sources: Counter[str] = Counter()
        simple: Counter[str] = Counter()
        self._things = {kind: _Things() for kind in _THINGS}
        for example in examples:
            sources[on_one_line(example.source)] += 1
            simple.update(on_one_line(text) for each in example.references for text in each)
            for kind, found in _things(example):
                self._things[kind].counts.update(found)
        self._sources = _Texts(sources, near)
        self._simple = _Texts(simple, near)

    def meet(self, batch: "_Batch") -> None:
        """Look up these examples of a training set."""
        self._sources.meet(batch)
        self._simple.meet(batch)
        for kind, found in batch.things.items():
            self._things[kind].meet(found)

    def overlaps(self) -> Overlaps:
        """What was found until now."""
        leaks = [
            *self._sources.leaks(Overlap.SOURCES, Overlap.NEAR_SOURCES),
            *self._simple.leaks(Overlap.SIMPLE, Overlap.NEAR_SIMPLE),
            *(things.leak(kind) for kind, things in self._things.items() if things.counts),
        ]
        return Overlaps(tuple(leaks))


class _Batch:
    """Examples of a training set, prepared once for all evaluation sets."""

    def __init__(self, examples: Sequence[Example], *, near: bool) -> None:
        # A text was seen, whether as a source or as a simple sentence.
        ids: dict[str, str] = {}
        for example in examples:
            sentences = (text for reference in example.references for text in reference)
            for text in (example.source, *sentences):
                ids.setdefault(on_one_line(text), example.id)
        self.texts = list(ids)
        self.ids = list(ids.values())
        self.keys = band_keys(self.texts) if near else None
        self.things: dict[Overlap, set[object]] = {kind: set() for kind in _THINGS}
        for example in examples:
            for kind, found in _things(example):
                self.things[kind].update(found)


def find_overlaps(
    train: Iterable[Example], parts: Mapping[str, Iterable[Example]], *, near: float = NEAR
) -> dict[str, Overlaps]:
    """What each evaluation set has in common with a training set, which is read once.

    >>> seen = Example("It rained, so we left.", (("It rained.", "So we left."),), "train:1")
    >>> new = Example("It rained, so I stayed.", (("It rained.", "So I stayed."),), "test:1")
    >>> found = find_overlaps([seen], {"test": [new]})["test"]
    >>> found[Overlap.SIMPLE].found, found[Overlap.SIMPLE].total, found.is_leak()
    (1, 2, True)
    """
    held = {name: EvaluationSet(examples, near=near) for name, examples in parts.items()}
    stream = iter(train)
    while examples := list(islice(stream, _BATCH)):
        batch = _Batch(examples, near=near < 1)
        for part in held.values():
            part.meet(batch)
    return {name: part.overlaps() for name, part in held.items()}


def _things(example: Example) -> Iterator[tuple[Overlap, Iterable[object]]]:
    """The words of all sentences, the names in sources, and triples with their entities and
    relations."""
    yield Overlap.VOCABULARY, words(example.source)
    for reference in example.references:
        for sentence in reference:
            yield Overlap.VOCABULARY, words(sentence)
    yield Overlap.NAMES, _names(example.source)
    if example.triples:
        yield Overlap.TRIPLES, example.triples
        yield Overlap.ENTITIES, entities(example.triples)
        yield Overlap.RELATIONS, relations(example.triples)


_FIRST_WORD = re.compile(r"\W*\w*")
_NAME = re.compile(r"\b[A-ZÀ-ÖØ-Þ]\w+(?: [A-ZÀ-ÖØ-Þ]\w+)*")


def _names(sentence: str) -> list[str]:
    """Runs of capitalised words: a guess at the names, good enough to compare two corpora. The
    first word of a sentence is skipped, because it is always capitalised."""
    first = _FIRST_WORD.match(sentence)
    return _NAME.findall(sentence, first.end() if first else 0)
