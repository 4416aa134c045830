"""Arrays that travel to a device and back: sentences to analyse, sources to search, results."""

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from parataxis.splitters.pointer.actions import NO_TWIN, Features
from parataxis.splitters.pointer.search import Found, Hypothesis, most_steps
from parataxis.syntax.analyser import Tokenized, forced
from parataxis.syntax.wordpieces import MAX_PIECES, Pieces

WIDTHS = (32, 64, 128, 256, 512)
"""Sources are padded to one of these numbers of words, so that there are few shapes."""
_LENGTHS = 16
"""Sources are padded to a multiple of this many word pieces."""

Array = NDArray[Any]


@dataclass(frozen=True)
class _Rows:
    """Base of dataclasses whose fields, except ``width``, are arrays with one row per sentence."""

    @classmethod
    def arrays(cls) -> list[str]:
        """The names of the arrays."""
        return [each.name for each in fields(cls) if each.name != "width"]

    def __len__(self) -> int:
        return len(getattr(self, self.arrays()[0]))

    def some(self, rows: Array | slice) -> Self:
        """Select some of the rows."""
        chosen = {name: getattr(self, name)[rows] for name in self.arrays()}
        return replace(self, **chosen)

    @classmethod
    def together(cls, parts: Sequence[Self]) -> Self:
        """Concatenate parts of one width, padded with zeros to the same shape."""
        joined = {name: _concatenate([getattr(p, name) for p in parts]) for name in cls.arrays()}
        return replace(parts[0], **joined)


def _concatenate(arrays: Sequence[Array]) -> Array:
    shape = np.max([array.shape[1:] for array in arrays], axis=0)
    return np.concatenate(
        [
            np.pad(array, [(0, 0), *((0, more) for more in shape - array.shape[1:])])
            for array in arrays
        ]
    )


@dataclass(frozen=True)
class Sentences(_Rows):
    """Sentences of about the same length, as the analyser takes them.

    ``width`` is their number of word pieces, including padding.
    """

    width: int
    pieces: Array
    shapes: Array
    first: Array
    forced: Array

    @property
    def words(self) -> int:
        """The number of words of the longest sentence."""
        return int(self.forced.shape[1])

    @classmethod
    def of(cls, sentences: Sequence[Tokenized], pieces: Sequence[Pieces], width: int) -> Self:
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


def part_of_scores(scores: Mapping[str, Any], rows: slice, words: int) -> dict[str, Any]:
    """The analyser's scores (arrays or tensors) for some rows, cut to a number of words."""
    return {
        name: array[rows, :words] if array.ndim == 2 else array[rows, :words, : words + 1]
        for name, array in scores.items()
    }


@dataclass(frozen=True)
class Sources(_Rows):
    """Sources padded to ``width`` words: word pieces, which words are the same (see
    :class:`Features`), and the number of words."""

    width: int
    pieces: Array
    shapes: Array
    first: Array
    same: Array
    twins: Array
    words: Array

    @classmethod
    def of(cls, sources: Sequence[Features], width: int) -> Self:
        """Pack sources that have at most ``width`` words."""
        rows = len(sources)
        length = _padded_length(max(len(source.pieces.ids) for source in sources))
        packed = cls(
            width,
            pieces=np.zeros((rows, length), dtype=np.int32),
            shapes=np.zeros((rows, length), dtype=np.int8),
            first=np.zeros((rows, width + 1), dtype=np.int16),
            same=np.tile(np.arange(width, dtype=np.int16), (rows, 1)),
            twins=np.full((rows, width), NO_TWIN, dtype=np.int16),
            words=np.array([len(source) for source in sources], dtype=np.int64),
        )
        for row, source in enumerate(sources):
            count, own = len(source.pieces.ids), len(source)
            packed.pieces[row, :count] = source.pieces.ids
            packed.shapes[row, :count] = source.pieces.shapes
            packed.first[row, : own + 1] = source.pieces.first
            packed.same[row, :own] = source.same
            packed.twins[row, :own] = source.twins
        return packed

    def some(self, rows: Array | slice) -> Self:
        """Select some of the rows, without the padding that none of them needs."""
        chosen = super().some(rows)
        length = _padded_length(int((chosen.pieces > 0).sum(1).max(initial=1)))
        return replace(chosen, pieces=chosen.pieces[:, :length], shapes=chosen.shapes[:, :length])

    @property
    def steps(self) -> Array:
        """How many actions a rewrite of each source may have."""
        return np.array([most_steps(count) for count in self.words.tolist()], dtype=np.int64)


@dataclass(frozen=True)
class PackedResults(_Rows):
    """What was found for sources: the probability that each should stay whole, and the scores,
    log-probabilities, lengths and actions of its rewrites, best first.

    Where a source has fewer rewrites than others, the scores of the rest are minus infinity.
    """

    whole: Array
    scores: Array
    chances: Array
    lengths: Array
    actions: Array

    def found(self) -> list[Found]:
        """The results as the splitter takes them."""
        rows = zip(*(getattr(self, name).tolist() for name in self.arrays()), strict=True)
        return [
            Found(
                whole,
                tuple(
                    Hypothesis(tuple(taken[:length]), score, chance)
                    for score, chance, length, taken in zip(*rewrites, strict=True)
                    if score > -np.inf
                ),
            )
            for whole, *rewrites in rows
        ]


Search = Callable[[Sequence[Sources], int], Sequence[PackedResults]]
"""A beam search over sources of several widths, on any device."""


def find(search: Search, sources: Sequence[Features], beam: int) -> list[Found]:
    """Search rewrites of sources; the results are in the same order."""
    by_width: dict[int, list[int]] = defaultdict(list)
    for place, source in enumerate(sources):
        by_width[at_least(len(source), WIDTHS)].append(place)
    parts = [
        Sources.of([sources[place] for place in places], width)
        for width, places in by_width.items()
    ]
    results: dict[int, Found] = {}
    for places, found in zip(by_width.values(), search(parts, beam), strict=True):
        results.update(zip(places, found.found(), strict=True))
    return [results[place] for place in range(len(sources))]


def at_least(count: int, sizes: Sequence[int]) -> int:
    """The first of several increasing sizes that is not smaller than ``count``."""
    return next(size for size in sizes if size >= count)


def _padded_length(longest: int) -> int:
    return min(MAX_PIECES, -(-longest // _LENGTHS) * _LENGTHS)
