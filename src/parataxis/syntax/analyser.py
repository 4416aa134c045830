"""The analyser: tags, dependency tree and semantic roles for English sentences, on the CPU."""

from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from importlib.resources import files
from itertools import islice
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from parataxis.errors import TooLongError
from parataxis.syntax.analysis import Analysis, Frame, Word
from parataxis.syntax.decoding import best_tags, best_tree, bio_spans
from parataxis.syntax.labels import Labels, read_labels
from parataxis.syntax.onnx import Arrays, Model, OnnxModel
from parataxis.syntax.wordpieces import MAX_PIECES, Pieces, WordPieces, stack
from parataxis.text.tokens import Token, tokenize

__all__ = ["Analyser", "Tokenized", "load_analyser"]

WINDOW = 256
"""Sentences that are sorted by length together, so that batches carry little padding."""

BATCH_PIECES = 1024
"""Word pieces in one batch, padding included: large enough for speed, small enough for a cache."""

FORCED = 1e4
"""Added to (or taken from) the predicate score of a word to decide it from outside."""


class Tokenized:
    """A sentence with its tokens, and its predicates where they are known beforehand."""

    __slots__ = ("predicates", "text", "tokens")

    def __init__(
        self, text: str, tokens: Sequence[Token], predicates: Iterable[int] | None = None
    ) -> None:
        self.text = text
        self.tokens = tokens
        self.predicates = None if predicates is None else frozenset(predicates)


class Analyser:
    """Analyses one sentence (call it) or many (:meth:`pipe`).

    >>> analysis = load_analyser()("The dog that barked slept.")
    >>> analysis.root.text, [w.text for w in analysis.children(analysis.root.index, "nsubj")]
    ('slept', ['dog'])
    """

    def __init__(self, model: Model, labels: Labels, word_pieces: WordPieces) -> None:
        self._model = model
        self._labels = labels
        self._word_pieces = word_pieces
        self._feats = [_parse_feats(bundle) for bundle in labels.feats]

    def __call__(self, sentence: str) -> Analysis:
        """Analyse one sentence; :class:`TooLongError` where it exceeds the model's reach."""
        result = next(self.pipe([sentence]))
        if isinstance(result, TooLongError):
            raise result
        return result

    def pipe(self, sentences: Iterable[str]) -> Iterator[Analysis | TooLongError]:
        """Analyse many sentences, in order, in batches.

        A sentence that is too long yields the error in its place instead of raising it, so that
        one bad sentence does not end a long run.
        """
        return self.pipe_tokenized(Tokenized(text, tokenize(text)) for text in sentences)

    def pipe_tokenized(self, sentences: Iterable[Tokenized]) -> Iterator[Analysis | TooLongError]:
        """Like :meth:`pipe`, for sentences whose tokens are given."""
        stream = iter(sentences)
        while window := list(islice(stream, WINDOW)):
            yield from self._window(window)

    def _window(self, window: Sequence[Tokenized]) -> list[Analysis | TooLongError]:
        pieces = self._word_pieces([[token.text for token in s.tokens] for s in window])
        results: list[Analysis | TooLongError] = [Analysis(s.text, ()) for s in window]
        readable = []
        for place, (sentence, encoded) in enumerate(zip(window, pieces, strict=True)):
            if len(encoded.ids) > MAX_PIECES:
                results[place] = _too_long(sentence, encoded)
            elif sentence.tokens:
                readable.append(place)
        readable.sort(key=lambda place: len(pieces[place].ids))
        for batch in _batches(readable, pieces):
            chosen = [window[place] for place in batch]
            analyses = self._batch(chosen, [pieces[place] for place in batch])
            for place, analysis in zip(batch, analyses, strict=True):
                results[place] = analysis
        return results

    def _batch(self, sentences: Sequence[Tokenized], pieces: Sequence[Pieces]) -> list[Analysis]:
        first = stack([p.first for p in pieces])
        forced = np.zeros((len(sentences), first.shape[1] - 1), dtype=np.float32)
        for row, sentence in enumerate(sentences):
            if sentence.predicates is not None:
                forced[row] = -FORCED
                forced[row, list(sentence.predicates)] = FORCED
        scores = self._model(
            {
                "pieces": stack([p.ids for p in pieces]),
                "shapes": stack([p.shapes for p in pieces]),
                "first": first,
                "forced": forced,
            }
        )
        lengths = np.array([len(s.tokens) for s in sentences])
        frames = self._frames(scores, lengths)
        return [
            Analysis(s.text, self._words(s.tokens, scores, row), frames[row])
            for row, s in enumerate(sentences)
        ]

    def _words(self, tokens: Sequence[Token], scores: Arrays, row: int) -> list[Word]:
        length = len(tokens)
        heads = best_tree(scores["arcs"][row, :length, : length + 1])
        deprels = scores["deprels"][row, np.arange(length), np.array(heads) + 1].tolist()
        tags = (scores[name][row, :length].tolist() for name in ("upos", "xpos", "feats"))
        labels = self._labels
        return [
            Word(
                index,
                token.text,
                token.start,
                token.end,
                labels.upos[upos],
                labels.xpos[xpos],
                self._feats[feats],
                head,
                labels.deprels[deprel],
            )
            for index, (token, upos, xpos, feats, head, deprel) in enumerate(
                zip(tokens, *tags, heads, deprels, strict=True)
            )
        ]

    def _frames(self, scores: Arrays, lengths: NDArray[np.int64]) -> list[list[Frame]]:
        frames: list[list[Frame]] = [[] for _ in lengths]
        rows = scores["predicate_rows"]
        tags = best_tags(scores["roles"], lengths[rows])
        for row, at, sequence in zip(rows, scores["predicates"], tags, strict=True):
            frames[row].append(Frame(int(at), bio_spans(sequence, self._labels.roles)))
        return frames


def _batches(order: Sequence[int], pieces: Sequence[Pieces]) -> Iterator[list[int]]:
    """Cut a list that is sorted by length into batches of at most :data:`BATCH_PIECES`."""
    batch: list[int] = []
    for place in order:
        if batch and (len(batch) + 1) * len(pieces[place].ids) > BATCH_PIECES:
            yield batch
            batch = []
        batch.append(place)
    if batch:
        yield batch


def _parse_feats(bundle: str) -> dict[str, str]:
    return dict(pair.split("=", 1) for pair in bundle.split("|")) if bundle != "_" else {}


def _too_long(sentence: Tokenized, pieces: Pieces) -> TooLongError:
    return TooLongError(
        f"The sentence that begins with {sentence.text[:40].strip()!r} has {len(sentence.tokens)} "
        f"words ({len(pieces.ids)} word pieces), but the analyser reads at most {MAX_PIECES} word "
        "pieces; split it at a semicolon or a full stop first."
    )


@cache
def load_analyser() -> Analyser:
    """The analyser that ships with Parataxis, loaded once per process."""
    folder = Path(str(files("parataxis.syntax"))) / "model"
    return Analyser(
        OnnxModel(folder / "analyser.onnx"),
        read_labels(folder / "analyser.json"),
        WordPieces(folder / "tokenizer.json"),
    )
