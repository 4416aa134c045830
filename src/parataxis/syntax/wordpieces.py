"""The input of the models: word pieces, the shape of each word, and the first piece of each word.

Training and inference both use this module, so that they see the same input.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from tokenizers import Tokenizer

from parataxis.syntax.onnx import shipped_folder

MAX_PIECES = 512
"""The number of positions of the encoder, including its two special tokens."""

SHAPES = ("mark", "lower", "title", "upper", "mixed", "digits", "other")
"""Word shapes, in the order of their numbers. The encoder itself reads lower-cased text."""

_CACHED_WORDS = 1 << 16
_NUMBER = {name: number for number, name in enumerate(SHAPES)}


def shape(word: str) -> str:
    """The shape of a word.

    >>> [shape(w) for w in ("is", "Kaguya", "U.S.", "iPhone", "1894", ",", "I")]
    ['lower', 'title', 'upper', 'mixed', 'digits', 'other', 'title']
    """
    if not any(map(str.isalpha, word)):
        return "digits" if any(map(str.isdigit, word)) else "other"
    if word.islower():
        return "lower"
    if word.isupper():
        return "upper" if len(word) > 1 else "title"
    return "title" if word[0].isupper() and word[1:].islower() else "mixed"


@dataclass(frozen=True, slots=True)
class Pieces:
    """One sentence as numbers. ``first[0]`` is the opening token, which represents the root;
    ``first[i + 1]`` is the first piece of word i."""

    ids: Sequence[int]
    shapes: Sequence[int]
    first: Sequence[int]


class WordPieces:
    """The tokenizer of the encoders, for text that is already split into words."""

    def __init__(self, path: Path) -> None:
        self._tokenizer = Tokenizer.from_file(str(path))
        self._tokenizer.no_padding()
        self._tokenizer.no_truncation()
        added = self._tokenizer.get_added_tokens_decoder().values()
        self._marks = frozenset(token.content for token in added)
        self._opening, self._closing = self._tokenizer.encode("").ids
        self._word = lru_cache(_CACHED_WORDS)(self._read)

    def __call__(self, sentences: Sequence[Sequence[str]]) -> list[Pieces]:
        """Encode sentences, each a sequence of words."""
        return [self._pieces(words) for words in sentences]

    def _pieces(self, words: Sequence[str]) -> Pieces:
        ids, shapes, first = [self._opening], [_NUMBER["mark"]], [0]
        for own, number in map(self._word, words):
            first.append(len(ids))
            ids += own
            shapes += [number] * len(own)
        return Pieces([*ids, self._closing], [*shapes, _NUMBER["mark"]], first)

    def _read(self, word: str) -> tuple[list[int], int]:
        """The pieces of a word, which do not depend on its neighbours, and its shape. A word that
        the tokenizer would erase or confuse with a special token is unknown."""
        seen = word if self._survives(word) else "[UNK]"
        encoding = self._tokenizer.encode([seen], is_pretokenized=True, add_special_tokens=False)
        return encoding.ids, _NUMBER[shape(word)]

    def _survives(self, word: str) -> bool:
        if word in self._marks:
            return False
        if word.isascii() and word.isprintable():
            return True
        return bool(self._tokenizer.normalizer.normalize_str(word).strip())


@cache
def load_word_pieces() -> WordPieces:
    """The tokenizer that all shipped models share."""
    return WordPieces(shipped_folder("analyser") / "tokenizer.json")


def stack(
    rows: Sequence[Sequence[float]],
    fill: int = 0,
    *,
    width: int | None = None,
    dtype: type[np.generic] = np.int64,
) -> NDArray[Any]:
    """Rows of different lengths as one array, padded with ``fill`` on the right."""
    longest = max(map(len, rows)) if width is None else width
    array = np.full((len(rows), longest), fill, dtype=dtype)
    for row, values in zip(array, rows, strict=True):
        row[: len(values)] = values
    return array
