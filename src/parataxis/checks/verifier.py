"""The verifier: estimates where a careful reader finds a fault in rewrites of a source.

It is a small encoder with two heads. One imitates the log-probabilities of a language model, word
by word, which ranks rewrites of one source. The other gives, at the end of each simple sentence,
the probability of each kind of fault, and that it should be split further. The rewrites of one
source share most of their prefixes, so they are read as a prefix tree of word pieces: each piece
attends to the source and to what precedes it in its own rewrite. Each source is one run of the
model, so results do not depend on other sources.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, lru_cache

import numpy as np
from numpy.typing import NDArray

from parataxis.errors import InputError, ParataxisError
from parataxis.rewrite.record import Level
from parataxis.syntax.onnx import Model, OnnxModel, model_folder
from parataxis.syntax.wordpieces import MAX_PIECES, SHAPES, load_word_pieces
from parataxis.text.tokens import tokenize

MODEL = "verifier.onnx"

FAULTS = (
    *("lost", "new", "referent", "scope", "modality"),
    *("order", "grammar", "fragment", "cut"),
)
"""The kinds of faults that the verifier tells apart."""
MORE = len(FAULTS)
"""The output after them: the sentence should be split further. The last one is for any fault."""
OUTPUTS = MORE + 2
"""The number of outputs for a sentence."""

OPENING = {Level.LIGHT: 1, Level.ATOMIC: 2}
"""The word piece that opens a source which is rewritten at another level than plain."""

NEXT_MARK, END_MARK = 102, 101
"""The word pieces that mark the end of a simple sentence and the end of the rewrite."""

CACHED_SENTENCES = 256
"""The size of the cache: the rewrites of a source share most of their sentences."""

MOST_PIECES = 1200
"""Pieces of a source and its rewrites that are read at once: the memory that this takes grows with
their square, to 150 MB for so many. A source and one rewrite that are longer get no estimate."""

UNSEEN = -1e4
"""Added to the attention scores of pieces that are masked."""


@dataclass(frozen=True, slots=True)
class PrefixTree:
    """Sequences with shared prefixes, as nodes in depth-first order.

    The descendants of node ``i`` are ``i + 1`` up to ``end[i]``; ``paths`` has the nodes of each
    sequence.
    """

    tokens: NDArray[np.int64]
    depth: NDArray[np.int64]
    end: NDArray[np.int64]
    paths: tuple[NDArray[np.int64], ...]

    def __len__(self) -> int:
        return len(self.tokens)

    def sees(self) -> NDArray[np.bool_]:
        """Which node (row) has which ancestors (columns), itself included."""
        place = np.arange(len(self))
        return (place <= place[:, None]) & (place[:, None] < self.end)


def prefix_tree(sequences: Sequence[Sequence[int]]) -> PrefixTree:
    """Build the prefix tree of sequences.

    >>> tree = prefix_tree([[5, 6, 7], [5, 6, 8], [5]])
    >>> tree.tokens.tolist(), tree.depth.tolist(), tree.end.tolist()
    ([5, 6, 7, 8], [0, 1, 2, 2], [4, 4, 3, 4])
    >>> [path.tolist() for path in tree.paths]
    [[0, 1, 2], [0, 1, 3], [0]]
    """
    tokens: list[int] = []
    depth: list[int] = []
    parents: list[int] = []
    paths: dict[int, list[int]] = {}
    before: Sequence[int] = ()
    path: list[int] = []
    for place in sorted(range(len(sequences)), key=lambda place: list(sequences[place])):
        sequence = sequences[place]
        shared = _shared(before, sequence)
        path = path[:shared]
        for token in sequence[shared:]:
            parents.append(path[-1] if path else -1)
            depth.append(len(path))
            path.append(len(tokens))
            tokens.append(token)
        paths[place] = path
        before = sequence
    end = list(range(1, len(tokens) + 1))
    for node in range(len(tokens) - 1, 0, -1):
        if parents[node] >= 0:
            end[parents[node]] = max(end[parents[node]], end[node])
    return PrefixTree(
        np.array(tokens, dtype=np.int64),
        np.array(depth, dtype=np.int64),
        np.array(end, dtype=np.int64),
        tuple(np.array(paths[place], dtype=np.int64) for place in range(len(sequences))),
    )


def _shared(first: Sequence[int], second: Sequence[int]) -> int:
    """The length of the common prefix of two sequences."""
    for place, (one, other) in enumerate(zip(first, second, strict=False)):
        if one != other:
            return place
    return min(len(first), len(second))


@dataclass(frozen=True, slots=True)
class Reading:
    """The input of the verifier: the word pieces of the source, then the tree of its rewrites."""

    pieces: NDArray[np.int64]
    shapes: NDArray[np.int64]
    places: NDArray[np.int64]
    source: int
    """The number of pieces that belong to the source."""
    tree: PrefixTree

    def unseen(self) -> NDArray[np.float32]:
        """The attention mask, which is added to the scores of each piece (row): the source attends
        to itself, a rewrite to the source and to its own pieces so far."""
        hidden = np.full((len(self.pieces), len(self.pieces)), UNSEEN, dtype=np.float32)
        hidden[:, : self.source] = 0.0
        hidden[self.source :, self.source :][self.tree.sees()] = 0.0
        return hidden


def read(source: str, rewrites: Sequence[Sequence[str]], level: Level = Level.PLAIN) -> Reading:
    """Convert a source and rewrites of it at a level into the input of the verifier."""
    own = load_word_pieces()([[token.text for token in tokenize(source)]])[0]
    opening = OPENING.get(level, own.ids[0])
    tree = prefix_tree([rewrite_pieces(rewrite)[0] for rewrite in rewrites])
    pieces, shapes = np.divmod(tree.tokens, len(SHAPES))
    return Reading(
        np.concatenate([[opening], own.ids[1:], pieces]),
        np.concatenate([own.shapes, shapes]),
        np.minimum(np.concatenate([np.arange(len(own.ids)), tree.depth]), MAX_PIECES - 1),
        len(own.ids),
        tree,
    )


def rewrite_pieces(simple: Sequence[str]) -> tuple[list[int], list[list[int]]]:
    """The pieces of a rewrite, with a mark after each simple sentence; and for each simple sentence
    the places of the last piece of each word and of its mark.

    One number encodes a piece and the shape of its word.
    """
    codes: list[int] = []
    ends: list[list[int]] = []
    for number, sentence in enumerate(simple, start=1):
        before = len(codes)
        own, after = _sentence_pieces(sentence)
        codes += own
        codes.append((END_MARK if number == len(simple) else NEXT_MARK) * len(SHAPES))
        ends.append([before + place for place in after] + [len(codes) - 1])
    return codes, ends


@lru_cache(CACHED_SENTENCES)
def _sentence_pieces(sentence: str) -> tuple[Sequence[int], Sequence[int]]:
    """The pieces of a simple sentence, and the place of the last piece of each word."""
    own = load_word_pieces()([[token.text for token in tokenize(sentence)]])[0]
    codes = [
        piece * len(SHAPES) + shape
        for piece, shape in zip(own.ids[1:-1], own.shapes[1:-1], strict=True)
    ]
    after = [*own.first[2:], len(own.ids) - 1][: len(own.first) - 1]
    return codes, [place - 2 for place in after]


@dataclass(frozen=True, slots=True)
class RewriteVerdict:
    """What the verifier says of a rewrite.

    ``score`` is in nats and can be compared with those of other rewrites of the same source only.
    ``faults`` has a row for each simple sentence: the probability of each of :data:`FAULTS`, that
    it should be split further, and that of a fault of any kind.
    """

    score: float
    faults: NDArray[np.float32]
    pieces: NDArray[np.float32] | None = None
    """The scores of the word pieces, whose sum is ``score``."""

    @property
    def risk(self) -> float:
        """The probability of a fault in the sentence that is worst."""
        return float(self.faults[:, -1].max())

    @property
    def unsplit(self) -> float:
        """The probability that some sentence should be split further."""
        return float(self.faults[:, MORE].max())

    def kind(self, place: int) -> str:
        """The likeliest kind of fault in a sentence."""
        return FAULTS[int(self.faults[place, :MORE].argmax())]

    def worst(self) -> tuple[int, str]:
        """The sentence that is worst, and the likeliest kind of fault in it."""
        place = int(self.faults[:, -1].argmax())
        return place, self.kind(place)


class Verifier:
    """Judges the rewrites of a source."""

    def __init__(self, model: Model) -> None:
        self._model = model

    def __call__(
        self, source: str, rewrites: Sequence[Sequence[str]], level: Level = Level.PLAIN
    ) -> list[RewriteVerdict]:
        """Judge rewrites of one source at a level."""
        if not rewrites:
            return []
        if not all(map(len, rewrites)):
            raise InputError("A rewrite must have at least one simple sentence.")
        reading = read(source, rewrites, level)
        if len(reading.pieces) > MOST_PIECES and len(rewrites) > 1:
            half = len(rewrites) // 2
            return [*self(source, rewrites[:half], level), *self(source, rewrites[half:], level)]
        found = self._model(
            {
                "pieces": reading.pieces[None],
                "shapes": reading.shapes[None],
                "places": reading.places[None],
                "source": np.array([reading.source]),
                "unseen": reading.unseen()[None],
            }
        )
        if found["faults"].shape[-1] != OUTPUTS:
            raise InputError(
                "The verifier is of a version that does not say what should be split further; use "
                "the one in this package, or train it again."
            )
        scores = found["scores"][0, reading.source :]
        faults = (1 / (1 + np.exp(-found["faults"][0, reading.source :]))).astype(np.float32)
        verdicts = []
        for rewrite, path in zip(rewrites, reading.tree.paths, strict=True):
            ends = [places[-1] for places in rewrite_pieces(rewrite)[1]]
            pieces = scores[path]
            verdicts.append(RewriteVerdict(float(pieces.sum()), faults[path[ends]], pieces))
        return verdicts


def is_verifiable(source: str, simple: Sequence[str]) -> bool:
    """Whether a source and its rewrite are short enough for an estimate."""
    characters = len(source) + sum(map(len, simple))
    if not MOST_PIECES // 2 < characters <= 5 * MOST_PIECES:
        return characters <= MOST_PIECES
    return len(rewrite_pieces([source, *simple])[0]) <= MOST_PIECES


@cache
def load_verifier() -> Verifier:
    """The verifier, loaded once per process."""
    path = model_folder("verifier") / MODEL
    if not path.exists():
        raise ParataxisError(f"The verifier is missing: there is no {path}.")
    return Verifier(OnnxModel(path))
