"""A source sentence as the pointer model reads it: word pieces, and which words are the same."""

from collections.abc import Sequence
from dataclasses import dataclass

from parataxis.rewrite.forms import key
from parataxis.splitters.pointer.actions import closed_word
from parataxis.syntax.wordpieces import Pieces, load_word_pieces

__all__ = ["NO_TWIN", "Features", "read_source"]

NO_TWIN = -1
"""In place of a closed word's action: the source word is none of the closed ones."""


@dataclass(frozen=True, slots=True)
class Features:
    """One source sentence. ``same`` gives for each word the first one spelt like it, ``twins``
    the action that writes the same word without a source."""

    pieces: Pieces
    same: Sequence[int]
    twins: Sequence[int]

    def __len__(self) -> int:
        return len(self.same)


def read_source(words: Sequence[str]) -> Features:
    """The features of a sentence, given its words.

    >>> read_source(["The", "cat", "and", "the", "dog"]).same
    [0, 1, 2, 0, 4]
    """
    keys = [key(word) for word in words]
    first: dict[str, int] = {}
    closed = map(closed_word, keys)
    return Features(
        load_word_pieces()([words])[0],
        [first.setdefault(spelling, place) for place, spelling in enumerate(keys)],
        [NO_TWIN if action is None else action for action in closed],
    )
