"""The analyser: tags, dependency tree and semantic roles for English sentences, on the CPU."""

import threading
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import cache, cached_property, lru_cache
from itertools import islice
from typing import TypeVar, overload

import numpy as np
from numpy.typing import NDArray

from parataxis.errors import TooLongError
from parataxis.syntax.analysis import Analysis, Frame, Word
from parataxis.syntax.decoding import (
    Labels,
    best_tags,
    best_trees,
    bio_spans,
    read_labels,
    reconcile,
)
from parataxis.syntax.onnx import Arrays, Model, OnnxModel, model_folder, threads
from parataxis.syntax.wordpieces import MAX_PIECES, Pieces, load_word_pieces
from parataxis.text.tokens import Token, has_word, tokenize

T = TypeVar("T")
R = TypeVar("R")

WHOLE, TREES = "analyser.onnx", "trees.onnx"
"""The complete graph, and the part of it that gives tags and trees."""

WINDOW = 256
"""The number of sentences that are read ahead and analysed together."""

SHORT = 80
"""Words of a sentence whose roles are always found at once."""
ROLES = 1_000
"""Pairs of a verb and a word of a longer one whose roles are found at once; each takes 50 kB."""
MOST_ROLES = 15_000
"""Pairs of a sentence; prose has about one verb for eight words, so 350 words have as many."""
_IN_PARTS = threading.Lock()
"""Held while one part of the roles of a long sentence is found, whose memory others add to."""
_OF_PREDICATES = ("role_words", "roles", "predicates")
LONG_TEXT = 1_000
"""Characters of a sentence; the analysis of a longer one takes more than 100 kB."""
CACHED_ANALYSES, CACHED_LONG = 1024, 64
"""The sizes of the caches: splitters, patterns and checks analyse the same sentences."""

FORCED = 1e4
"""Added to or subtracted from the predicate score of a word whose status is known."""


@dataclass(frozen=True, slots=True)
class Tokenized:
    """A sentence with its tokens, and its predicates if they are known."""

    text: str
    tokens: Sequence[Token]
    predicates: Collection[int] | None = None


class Analyser:
    """Analyses one sentence (call it) or many (:meth:`pipe`).

    >>> analysis = load_analyser()("The dog that barked slept.")
    >>> analysis.root.text, [w.text for w in analysis.children(analysis.root.index, "nsubj")]
    ('slept', ['dog'])

    If the model gives no roles, ``frames`` finds those of a sentence when they are first read.
    """

    def __init__(
        self,
        model: Model,
        labels: Labels,
        frames: Callable[[Tokenized], Sequence[Frame]] | None = None,
    ) -> None:
        self._model = model
        self._labels = labels
        self._find_frames = frames
        self._word_pieces = load_word_pieces()
        self._feats = [
            dict(pair.split("=", 1) for pair in bundle.split("|") if pair != "_")
            for bundle in labels.feats
        ]
        self._short, self._long = (
            lru_cache(size)(lambda text: self._analyse(Tokenized(text, tokenize(text))))
            for size in (CACHED_ANALYSES, CACHED_LONG)
        )

    def __call__(self, sentence: str) -> Analysis:
        """Analyse one sentence; raises :class:`TooLongError` if it is too long for the model."""
        result = self._analyse_text(sentence)
        if isinstance(result, TooLongError):
            raise TooLongError(*result.args)  # the cached one must not collect tracebacks
        return result

    def _analyse_text(self, text: str) -> Analysis | TooLongError:
        return self._long(text) if len(text) > LONG_TEXT else self._short(text)

    def pipe(self, sentences: Iterable[str]) -> Iterator[Analysis | TooLongError]:
        """Analyse many sentences in parallel, in order.

        A sentence that is too long yields the error instead of raising it, so that one bad
        sentence does not end a long run.
        """
        return _in_order(self._analyse_text, sentences)

    def pipe_tokenized(self, sentences: Iterable[Tokenized]) -> Iterator[Analysis | TooLongError]:
        """Like :meth:`pipe`, for tokenized sentences."""
        return _in_order(self._analyse, sentences)

    def frames(self, sentence: Tokenized) -> Sequence[Frame]:
        """Only the semantic roles of a sentence, or none if it is too long."""
        result = self._analyse(sentence)
        return result.frames if isinstance(result, Analysis) else ()

    def _analyse(self, sentence: Tokenized) -> Analysis | TooLongError:
        # One sentence at a time: int8 models scale their numbers by the range of the whole input,
        # so in a batch the analysis of a sentence would depend on the other sentences.
        if not sentence.tokens:
            return Analysis(sentence.text, ())
        (pieces,) = self._word_pieces([[token.text for token in sentence.tokens]])
        if len(pieces.ids) > MAX_PIECES:
            return too_long(sentence, pieces)
        scores = self._scores(sentence, pieces)
        return scores if isinstance(scores, TooLongError) else self.read([sentence], scores)[0]

    def _scores(self, sentence: Tokenized, pieces: Pieces) -> Arrays | TooLongError:
        """The scores of a sentence. If it is long and has many verbs, their roles are found in
        parts, which need less memory; each part takes the time of the whole sentence."""
        inputs = {
            "pieces": np.array([pieces.ids]),
            "shapes": np.array([pieces.shapes]),
            "first": np.array([pieces.first]),
        }
        words = len(sentence.tokens)
        if words <= SHORT or sentence.predicates is not None or self._find_frames is not None:
            return self._model({**inputs, "forced": forced(sentence)})
        bare = self._model({**inputs, "forced": forced(replace(sentence, predicates=()))})
        tags = [self._labels.upos[tag] for tag in bare["upos"][0].tolist()]
        verbs = [place for place, tag in enumerate(tags) if tag in ("VERB", "AUX")]
        if len(verbs) * words > MOST_ROLES:
            return TooLongError(
                f"The sentence that begins with {sentence.text[:40].strip()!r} has {words} words, "
                f"of which {len(verbs)} are verbs; split it at a semicolon or a full stop first."
            )
        size = max(1, ROLES // words)
        if len(verbs) <= size:
            return self._model({**inputs, "forced": forced(sentence)})
        found = []
        for start in range(0, len(verbs), size):
            allowed = forced(replace(sentence, predicates=()))
            allowed[0, verbs[start : start + size]] = 0
            with _IN_PARTS:
                scores = self._model({**inputs, "forced": allowed})
            found.append([scores[name] for name in _OF_PREDICATES])
        words_of, roles, predicates = zip(*found, strict=True)
        merged = (np.concatenate(words_of), np.concatenate(roles), np.max(predicates, axis=0))
        return {**bare, **dict(zip(_OF_PREDICATES, merged, strict=True))}

    def read(self, sentences: Sequence[Tokenized], scores: Arrays) -> list[Analysis]:
        """The analyses for the model's scores of a batch; a model with roles takes one sentence."""
        lengths = [len(sentence.tokens) for sentence in sentences]
        heads = best_trees(scores["arcs"], lengths)
        above = np.zeros((len(lengths), max(lengths), 1), dtype=np.int64)
        for row, own in enumerate(heads):
            above[row, : len(own), 0] = own
        deprels = np.take_along_axis(scores["deprels"], above + 1, 2)[:, :, 0].tolist()
        tags = (scores[name].tolist() for name in ("upos", "xpos", "feats"))
        analyses = [
            Analysis(sentence.text, self._words(sentence.tokens, *labels))
            for sentence, *labels in zip(sentences, *tags, heads, deprels, strict=True)
        ]
        if self._find_frames is None:
            return [replace(bare, frames=self._frames(bare, scores)) for bare in analyses]
        return [
            replace(bare, frames=_Awaited(self._find_frames, sentence))
            for sentence, bare in zip(sentences, analyses, strict=True)
        ]

    def _words(
        self,
        tokens: Sequence[Token],
        upos: Sequence[int],
        xpos: Sequence[int],
        feats: Sequence[int],
        heads: Sequence[int],
        deprels: Sequence[int],
    ) -> list[Word]:
        """The words of a sentence; only its heads are not padded."""
        labels = self._labels
        return [
            Word(
                index,
                token.text,
                token.start,
                token.end,
                labels.upos[upos[index]],
                labels.xpos[xpos[index]],
                self._feats[feats[index]],
                heads[index],
                labels.deprels[deprels[index]],
            )
            for index, token in enumerate(tokens)
        ]

    def _frames(self, analysis: Analysis, scores: Arrays) -> list[Frame]:
        arguments = {
            predicate: reconcile(analysis, bio_spans(tags, self._labels.roles))
            for predicate, tags in zip(
                scores["role_words"].tolist(), best_tags(scores["roles"]), strict=True
            )
        }
        return [
            Frame(predicate, arguments.get(predicate, ()))
            for predicate in np.flatnonzero(scores["predicates"][0]).tolist()
        ]


class _Awaited(Sequence[Frame]):
    """Frames that are computed when they are first read."""

    def __init__(self, find: Callable[[Tokenized], Sequence[Frame]], sentence: Tokenized) -> None:
        self._find, self._sentence = find, sentence

    @cached_property
    def _frames(self) -> tuple[Frame, ...]:
        return tuple(self._find(self._sentence))

    @overload
    def __getitem__(self, index: int) -> Frame: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[Frame, ...]: ...
    def __getitem__(self, index: int | slice) -> Frame | tuple[Frame, ...]:
        return self._frames[index]

    def __len__(self) -> int:
        return len(self._frames)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Sequence) and self._frames == tuple(other)

    __hash__ = None  # type: ignore[assignment]  # it compares like a list

    def __repr__(self) -> str:
        return repr(self._frames)

    def __reduce__(self) -> tuple[type, tuple[tuple[Frame, ...]]]:
        return tuple, (self._frames,)


def _in_order(analyse: Callable[[T], R], items: Iterable[T]) -> Iterator[R]:
    """The results for many items, computed in parallel, in order."""
    stream = iter(items)
    with ThreadPoolExecutor(threads()) as pool:
        while window := list(islice(stream, WINDOW)):
            yield from pool.map(analyse, window)


def forced(sentence: Tokenized) -> NDArray[np.float32]:
    """What to add to the predicate scores of a sentence whose predicates are known."""
    forced = np.zeros((1, len(sentence.tokens)), dtype=np.float32)
    if sentence.predicates is not None:
        forced[:] = -FORCED
        forced[0, list(sentence.predicates)] = FORCED
    return forced


def too_long(sentence: Tokenized, pieces: Pieces) -> TooLongError:
    """The error for a sentence that is too long for the model."""
    words = sum(has_word(token.text) for token in sentence.tokens)
    return TooLongError(
        f"The sentence that begins with {sentence.text[:40].strip()!r} has {words} "
        f"words ({len(pieces.ids)} word pieces), but the analyser reads at most {MAX_PIECES} word "
        "pieces; split it at a semicolon or a full stop first."
    )


@cache
def load_analyser() -> Analyser:
    """The analyser, loaded once per process."""
    folder = model_folder("analyser")
    return Analyser(OnnxModel(folder / WHOLE), read_labels(folder / "analyser.json"))


@cache
def load_trees() -> Analyser:
    """The same analyser with lazy semantic roles: they take longer than all the rest, so they are
    computed only when they are read.

    >>> sentence = "Ann, who left, slept."
    >>> load_trees()(sentence).frames == load_analyser()(sentence).frames
    True
    """
    folder = model_folder("analyser")
    return Analyser(
        OnnxModel(folder / TREES),
        read_labels(folder / "analyser.json"),
        lambda sentence: load_analyser().frames(sentence),
    )
