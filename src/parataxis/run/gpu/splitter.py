"""The pointer splitter with its models on a device, in this process or in one that several share,
and the arrays that travel to the device and back.

Sources are searched and analysed on the device; rewrites are composed and checked here.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, fields, replace
from itertools import groupby, islice
from typing import Any, Protocol, Self, Unpack

import numpy as np
from numpy.typing import NDArray

from parataxis.checks import Checker
from parataxis.errors import TooLongError
from parataxis.rewrite.record import Rewrite
from parataxis.splitters.pointer.actions import NO_TWIN, Features
from parataxis.splitters.pointer.search import Found, Hypothesis, most_steps
from parataxis.splitters.pointer.splitter import PointerSplitter
from parataxis.splitters.settings import SettingOptions
from parataxis.syntax.analyser import Analyser, Tokenized, forced, load_analyser, too_long
from parataxis.syntax.analysis import Analysis
from parataxis.syntax.decoding import read_labels
from parataxis.syntax.onnx import Arrays, model_folder
from parataxis.syntax.wordpieces import MAX_PIECES, Pieces, load_word_pieces, stack
from parataxis.text.tokens import tokenize

WIDTHS = (32, 64, 128, 256, 512)
"""Sources are padded to one of these numbers of words, and sentences that are analysed to one of
these numbers of word pieces, so that there are few shapes."""
_LENGTHS = 16  # sources are padded to a multiple of this many word pieces

Array = NDArray[Any]


@dataclass(frozen=True)
class _Rows:
    """Base of dataclasses whose fields, except ``width``, are arrays with one row per sentence."""

    @classmethod
    def arrays(cls) -> list[str]:
        return [each.name for each in fields(cls) if each.name != "width"]

    def __len__(self) -> int:
        return len(getattr(self, self.arrays()[0]))

    def some(self, rows: Array | slice) -> Self:
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
    """Sentences of about the same length, as the analyser takes them. ``width`` is their number of
    word pieces, including padding."""

    width: int
    pieces: Array
    shapes: Array
    first: Array
    forced: Array

    @property
    def words(self) -> int:
        return int(self.forced.shape[1])

    @classmethod
    def of(cls, sentences: Sequence[Tokenized], pieces: Sequence[Pieces], width: int) -> Self:
        """Pack sentences that have at most ``width`` word pieces."""
        words = max(len(sentence.tokens) for sentence in sentences)
        fixed = [() if each.predicates is None else forced(each)[0] for each in sentences]
        return cls(
            width,
            stack([read.ids for read in pieces], width=width, dtype=np.int32),
            stack([read.shapes for read in pieces], width=width, dtype=np.int8),
            stack([read.first for read in pieces], width=words + 1, dtype=np.int16),
            stack(fixed, width=words, dtype=np.float32),
        )


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
        length = _padded_length(max(len(source.pieces.ids) for source in sources))
        same = np.tile(np.arange(width, dtype=np.int16), (len(sources), 1))
        for row, source in enumerate(sources):
            same[row, : len(source)] = source.same
        return cls(
            width,
            pieces=stack([each.pieces.ids for each in sources], width=length, dtype=np.int32),
            shapes=stack([each.pieces.shapes for each in sources], width=length, dtype=np.int8),
            first=stack([each.pieces.first for each in sources], width=width + 1, dtype=np.int16),
            same=same,
            twins=stack([each.twins for each in sources], NO_TWIN, width=width, dtype=np.int16),
            words=np.array([len(source) for source in sources], dtype=np.int64),
        )

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
    log-probabilities, entropies, lengths and actions of its rewrites, best first. Where a source
    has fewer rewrites than others, the scores of the rest are minus infinity."""

    whole: Array
    scores: Array
    chances: Array
    entropies: Array
    lengths: Array
    actions: Array

    def found(self) -> list[Found]:
        rows = zip(*(getattr(self, name).tolist() for name in self.arrays()), strict=True)
        return [
            Found(
                whole,
                tuple(
                    Hypothesis(tuple(taken[:length]), score, chance, entropy)
                    for score, chance, entropy, length, taken in zip(*rewrites, strict=True)
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


WINDOW = 1024
"""Sentences that are handed over at a time."""
_READ_AHEAD = 8192  # sentences that the analyser reads ahead


class Models(Protocol):
    """What runs on the device."""

    def analyse(self, parts: Sequence[Sentences]) -> Sequence[Arrays]:
        """The analyser's scores; each part holds sentences of one length."""

    def search(self, parts: Sequence[Sources], beam: int) -> Sequence[PackedResults]:
        """Search rewrites; each part holds sources of one width."""


class DeviceAnalyser(Analyser):
    """Like :class:`~parataxis.syntax.analyser.Analyser`, but many sentences in one run. It finds
    tags and trees; the roles of a sentence are found on the CPU on first use."""

    def __init__(self, models: Models) -> None:
        super().__init__(
            lambda inputs: models.analyse([Sentences(inputs["pieces"].shape[1], **inputs)])[0],
            read_labels(model_folder("analyser") / "analyser.json"),
            lambda sentence: load_analyser().frames(sentence),
        )
        self._models = models

    def __call__(self, sentence: str) -> Analysis:
        (result,) = self.pipe([sentence])
        if isinstance(result, TooLongError):
            raise result
        return result

    def pipe(self, sentences: Iterable[str]) -> Iterator[Analysis | TooLongError]:
        return self.pipe_tokenized(Tokenized(text, tokenize(text)) for text in sentences)

    def pipe_tokenized(self, sentences: Iterable[Tokenized]) -> Iterator[Analysis | TooLongError]:
        stream = iter(sentences)
        while window := list(islice(stream, _READ_AHEAD)):
            yield from self._window(window)

    def _window(self, sentences: Sequence[Tokenized]) -> list[Analysis | TooLongError]:
        pieces = load_word_pieces()([[token.text for token in each.tokens] for each in sentences])
        results: dict[int, Analysis | TooLongError] = {}
        widths: dict[int, int] = {}
        for place, (sentence, read) in enumerate(zip(sentences, pieces, strict=True)):
            if not sentence.tokens:
                results[place] = Analysis(sentence.text, ())
            elif len(read.ids) > MAX_PIECES:
                results[place] = too_long(sentence, read)
            else:
                widths[place] = at_least(len(read.ids), WIDTHS)
        batches = [
            (width, list(places))
            for width, places in groupby(sorted(widths, key=widths.__getitem__), widths.__getitem__)
        ]
        parts = [
            Sentences.of([sentences[p] for p in places], [pieces[p] for p in places], width)
            for width, places in batches
        ]
        scored = self._models.analyse(parts) if parts else ()
        for (_, places), scores in zip(batches, scored, strict=True):
            analyses = self.read([sentences[place] for place in places], scores)
            results.update(zip(places, analyses, strict=True))
        return [results[place] for place in range(len(sentences))]


class DevicePointerSplitter(PointerSplitter):
    """Like :class:`PointerSplitter`, but many sentences at once on a device."""

    def __init__(
        self, models: Models, *, window: int = WINDOW, **options: Unpack[SettingOptions]
    ) -> None:
        analyser = DeviceAnalyser(models)
        checker = Checker(analyser, window=window)
        super().__init__(analyser, None, checker, **options)
        self._models = models
        self.window = window  # they are searched, analysed and checked at once

    def _in_parallel(self, sentences: Sequence[str], pool: ThreadPoolExecutor) -> list[Rewrite]:
        return self._window(sentences, pool)  # the device works on all of them at once

    def analyse(self, sentences: Sequence[Tokenized]) -> Iterable[Analysis | TooLongError]:
        return self._loaded_analyser().pipe_tokenized(sentences)

    def search(self, features: Sequence[Features]) -> list[Found]:
        return find(self._models.search, features, self.beam)
