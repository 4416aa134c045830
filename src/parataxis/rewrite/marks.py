"""A rewrite cut into pieces of text, each marked with what became of it: what renderings show."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from operator import itemgetter

from parataxis.rewrite.align import align
from parataxis.rewrite.record import Origin, OutputToken, Rewrite
from parataxis.text.tokens import tokenize

__all__ = ["Mark", "MarkedRewrite", "Piece", "mark"]


class Mark(StrEnum):
    """What became of a piece of the source, or where a piece of a simple sentence came from."""

    KEPT = "kept"
    LEFT_OUT = "left-out"
    INFLECTED = "inflected"
    INSERTED = "inserted"


@dataclass(frozen=True, slots=True)
class Piece:
    """A word or the space between two; the texts of all pieces give back the sentence.

    ``source`` is the place in the source of the word that it is, or was copied or inflected from.
    """

    text: str
    mark: Mark = Mark.KEPT
    source: tuple[int, int] | None = None


@dataclass(frozen=True, slots=True)
class MarkedRewrite:
    """The pieces of the source and of each simple sentence."""

    source: Sequence[Piece]
    simple: Sequence[Sequence[Piece]]


_MARKS = {
    Origin.COPIED: Mark.KEPT,
    Origin.INFLECTED: Mark.INFLECTED,
    Origin.INSERTED: Mark.INSERTED,
}


def mark(rewrite: Rewrite) -> MarkedRewrite:
    """Mark every word of a rewrite; a rewrite without provenance gets it by alignment."""
    provenance = rewrite.provenance
    if provenance is None:
        provenance = align(rewrite.source, rewrite.simple)
    used = {token.source for tokens in provenance for token in tokens if token.source}
    return MarkedRewrite(
        source=_with_spaces(rewrite.source, _source_pieces(rewrite.source, used)),
        simple=[
            _with_spaces(sentence, _simple_pieces(tokens))
            for sentence, tokens in zip(rewrite.simple, provenance, strict=True)
        ],
    )


def _source_pieces(source: str, used: Iterable[tuple[int, int]]) -> list[tuple[int, Piece]]:
    spans = sorted(used)
    pieces = []
    for token in tokenize(source):
        # A span may cover several of our tokens: other splitters cut words in other places.
        kept = any(start < token.end and token.start < end for start, end in spans)
        place = (token.start, token.end)
        pieces.append((token.start, Piece(token.text, Mark.KEPT if kept else Mark.LEFT_OUT, place)))
    return pieces


def _simple_pieces(tokens: Iterable[OutputToken]) -> list[tuple[int, Piece]]:
    return [(t.start, Piece(t.text, _MARKS[t.origin], t.source)) for t in tokens]


def _with_spaces(text: str, placed: Iterable[tuple[int, Piece]]) -> list[Piece]:
    pieces, end = [], 0
    for start, piece in sorted(placed, key=itemgetter(0)):
        if start < end:
            continue  # tokens that overlap can only come from outside; show their text once
        if start > end:
            pieces.append(Piece(text[end:start]))
        pieces.append(piece)
        end = start + len(piece.text)
    if end < len(text):
        pieces.append(Piece(text[end:]))
    return pieces
