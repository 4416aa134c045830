"""Sentences to analyse or to search rewrites of, and what is found for them, as arrays that travel
to a device and back."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from parataxis.splitters.pointer.actions import NO_TWIN, Features
from parataxis.splitters.pointer.choose import search_until
from parataxis.splitters.pointer.search import Found, Hypothesis, most_steps
from parataxis.syntax.analyser import Tokenized, forced
from parataxis.syntax.wordpieces import MAX_PIECES, Pieces

WIDTHS = (32, 64, 128, 256, 512)
"""Sources are padded to one of these numbers of words, so that there are few shapes."""
_LENGTHS = 16
"""They are padded to a multiple of this many word pieces."""

Array = NDArray[Any]


@dataclass(frozen=True)
class Sentences:
    """Sentences of about one length, as the analyser takes them; ``width`` is their number of word
    pieces, padding included."""

    width: int
    pieces: Array
    shapes: Array
    first: Array
    forced: Array

    _ROWS = ("pieces", "shapes", "first", "forced")

    def __len__(self) -> int:
        return len(self.pieces)

    @property
    def words(self) -> int:
        """The words of the longest."""
        return int(self.forced.shape[1])

    @classmethod
    def of(
        cls, sentences: Sequence[Tokenized], pieces: Sequence[Pieces], width: int
    ) -> "Sentences":
        """Pack sentences that have at most ``width`` word pieces."""
        rows, words = len(sentences), max(len(sentence.tokens) for sentence in sentences)
        packed = cls(
            width,
            np.zeros((rows, width), dtype=np.int32),
            np.zeros((rows, width), dtype=np.int8),
            np.zeros((rows, words + 1), dtype=np.int16),
            np.zeros((rows, words), dtype=np.float32),
        )
        for row, (sentence, read) in enumerate(zip(sentences, pieces, strict=True)):
            packed.pieces[row, : len(read.ids)] = read.ids
            packed.shapes[row, : len(read.shapes)] = read.shapes
            packed.first[row, : len(read.first)] = read.first
            if sentence.predicates is not None:
                packed.forced[row, : len(sentence.tokens)] = forced(sentence)[0]
        return packed

    @classmethod
    def together(cls, parts: Sequence["Sentences"]) -> "Sentences":
        """Several of the same width as one."""
        words = max(part.words for part in parts)
        rows = [part.padded(words) for part in parts]
        return cls(parts[0].width, *_joined(rows, cls._ROWS))

    def some(self, rows: slice) -> "Sentences":
        """Only these."""
        return Sentences(self.width, *(getattr(self, name)[rows] for name in self._ROWS))

    def padded(self, words: int) -> "Sentences":
        """The same with room for so many words."""
        more = ((0, 0), (0, words - self.words))
        return replace(self, first=np.pad(self.first, more), forced=np.pad(self.forced, more))


def part_of_scores(scores: Mapping[str, Any], rows: slice, words: int) -> dict[str, Any]:
    """The analyser's scores of some sentences, with so many words: arrays or tensors."""
    return {
        name: array[rows, :words] if array.ndim == 2 else array[rows, :words, : words + 1]
        for name, array in scores.items()
    }


@dataclass(frozen=True)
class Sources:
    """Sources of one width, a row each: word pieces (pieces, shapes and the first one of each
    word), which words are the same (see ``Features``), and the number of words."""

    width: int
    pieces: Array
    shapes: Array
    first: Array
    same: Array
    twins: Array
    words: Array

    _ROWS = ("pieces", "shapes", "first", "same", "twins", "words")

    def __len__(self) -> int:
        return len(self.words)

    @classmethod
    def of(cls, sources: Sequence[Features], width: int) -> "Sources":
        """Pack sources that have at most ``width`` words."""
        rows = len(sources)
        length = _padded_length(max(len(source.pieces.ids) for source in sources))
        pieces = np.zeros((rows, length), dtype=np.int32)
        shapes = np.zeros((rows, length), dtype=np.int8)
        first = np.zeros((rows, width + 1), dtype=np.int16)
        same = np.tile(np.arange(width, dtype=np.int16), (rows, 1))
        twins = np.full((rows, width), NO_TWIN, dtype=np.int16)
        for row, source in enumerate(sources):
            count, own = len(source.pieces.ids), len(source)
            pieces[row, :count] = source.pieces.ids
            shapes[row, :count] = source.pieces.shapes
            first[row, : own + 1] = source.pieces.first
            same[row, :own] = source.same
            twins[row, :own] = source.twins
        words = np.array([len(source) for source in sources], dtype=np.int64)
        return cls(width, pieces, shapes, first, same, twins, words)

    @classmethod
    def together(cls, parts: Sequence["Sources"]) -> "Sources":
        """Several of the same width as one."""
        length = max(part.pieces.shape[1] for part in parts)
        rows = [part.padded(length) for part in parts]
        return cls(parts[0].width, *_joined(rows, cls._ROWS))

    def padded(self, length: int) -> "Sources":
        """The same with so many word pieces."""
        more = ((0, 0), (0, length - self.pieces.shape[1]))
        return replace(self, pieces=np.pad(self.pieces, more), shapes=np.pad(self.shapes, more))

    def some(self, rows: Array | slice) -> "Sources":
        """Only these, without the padding that none of them needs."""
        chosen = Sources(self.width, *(getattr(self, name)[rows] for name in self._ROWS))
        length = _padded_length(int((chosen.pieces > 0).sum(1).max(initial=1)))
        return replace(chosen, pieces=chosen.pieces[:, :length], shapes=chosen.shapes[:, :length])

    @property
    def steps(self) -> Array:
        """How many actions a rewrite of each may have."""
        return np.array([most_steps(count) for count in self.words.tolist()], dtype=np.int64)

    @property
    def whole_from(self) -> Array:
        """How likely it must be that each should stay whole, not to search rewrites of it."""
        return np.array([search_until(count) for count in self.words.tolist()])


@dataclass(frozen=True)
class PackedResults:
    """What was found for sources: how likely it is that each should stay whole; the scores and
    log-probabilities of its rewrites, best first (minus infinity where there are no more), and
    their actions."""

    whole: Array
    scores: Array
    chances: Array
    lengths: Array
    actions: Array

    _ROWS = ("whole", "scores", "chances", "lengths", "actions")

    def some(self, rows: Array | slice) -> "PackedResults":
        """Those of some sources."""
        return PackedResults(*(getattr(self, name)[rows] for name in self._ROWS))

    @classmethod
    def together(cls, parts: Sequence["PackedResults"]) -> "PackedResults":
        """Several as one."""
        return cls(*_joined(parts, cls._ROWS))

    def found(self) -> list[Found]:
        """As the splitter takes it."""
        rows = zip(*(getattr(self, name).tolist() for name in self._ROWS), strict=True)
        return [
            Found(
                whole,
                tuple(
                    Hypothesis(tuple(taken[:length]), score, chance)
                    for score, chance, length, taken in zip(
                        scores, chances, lengths, actions, strict=True
                    )
                    if score > -np.inf
                ),
            )
            for whole, scores, chances, lengths, actions in rows
        ]


Search = Callable[[Sequence[Sources], int], Sequence[PackedResults]]
"""A search with a beam, wherever it is done, of sources of several widths."""


def find(search: Search, sources: Sequence[Features], beam: int) -> list[Found]:
    """What a search finds for each source, in order."""
    by_width: dict[int, list[int]] = {}
    for place, source in enumerate(sources):
        by_width.setdefault(at_least(len(source), WIDTHS), []).append(place)
    parts = [
        Sources.of([sources[place] for place in places], width)
        for width, places in by_width.items()
    ]
    results: dict[int, Found] = {}
    for places, found in zip(by_width.values(), search(parts, beam), strict=True):
        results.update(zip(places, found.found(), strict=True))
    return [results[place] for place in range(len(sources))]


def at_least(count: int, sizes: Sequence[int]) -> int:
    """The first of some growing sizes that has room for so many."""
    return next(size for size in sizes if size >= count)


def _joined(parts: Sequence[object], names: Sequence[str]) -> Iterator[Array]:
    """The arrays of these names, each with the rows of all parts."""
    return (np.concatenate([getattr(part, name) for part in parts]) for name in names)


def _padded_length(longest: int) -> int:
    return min(MAX_PIECES, -(-longest // _LENGTHS) * _LENGTHS)
