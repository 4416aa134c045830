"""The teacher's prompt, and its tokenizer with a reduced vocabulary."""

from collections.abc import Iterable, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from tokenizers import Tokenizer

PROMPT = "Complex{}: {}\nSimple:\n"
"""The prompt: the level in brackets unless it is plain, and the source; one simple sentence per
line follows, then the end mark."""
TOKENIZER, KEPT = "tokenizer.json", "kept.npy"
_END = "<|im_end|>"
_NEWLINE = "Ċ"
"""The character of a newline in the names of tokens."""
_BYTES = 256
"""The first tokens are single bytes, which can spell everything."""
_OFTEN = 2
"""Tokens that are rarer than this in the texts are spelt byte by byte."""


class TeacherTokens:
    """The teacher's tokenizer with a reduced vocabulary.

    Both files are in the teacher's folder: ``tokenizer.json`` and ``kept.npy``.
    """

    def __init__(self, folder: Path) -> None:
        self._tokenizer = Tokenizer.from_file(str(folder / TOKENIZER))
        self._old: NDArray[np.int64] = np.load(folder / KEPT)
        self._new = {token: place for place, token in enumerate(self._old.tolist())}
        self._table = np.full(self._tokenizer.get_vocab_size(), -1)
        self._table[self._old] = np.arange(len(self._old))
        self.end = self._new[self._tokenizer.token_to_id(_END)]
        names = map(self._tokenizer.id_to_token, self._old.tolist())
        self._breaks = {place for place, name in enumerate(names) if _NEWLINE in (name or "")}

    def batch(self, texts: Sequence[str]) -> list[list[int]]:
        """The tokens of many texts, on all cores."""
        encodings = self._tokenizer.encode_batch(list(texts), add_special_tokens=False)
        found: list[list[int]] = []
        for encoding in encodings:
            known = self._table[encoding.ids]
            if (known >= 0).all():
                found.append(known.tolist())
                continue
            pairs = zip(encoding.ids, encoding.tokens, strict=True)
            found.append([new for token, name in pairs for new in self._known(token, name)])
        return found

    def _known(self, token: int, name: str) -> list[int]:
        """A token in the reduced vocabulary, spelt in bytes if it is not there. Its name has one
        character for each of its bytes, which is itself a token."""
        if token in self._new:
            return [self._new[token]]
        return [self._new[self._tokenizer.token_to_id(byte)] for byte in name]

    def prompts(self, sources: Iterable[tuple[str, str | None]]) -> list[list[int]]:
        """The tokens of the prompts for sources and the levels of their rewrites."""
        return self.batch(
            [PROMPT.format(f" ({level})" if level else "", source) for source, level in sources]
        )

    def sentence_ends(self, rewrite: Sequence[int]) -> list[int]:
        """The places of the tokens that end the simple sentences of a rewrite."""
        return [
            place
            for place, token in enumerate(rewrite)
            if token in self._breaks or token == self.end
        ]

    def decode(self, rows: Sequence[Sequence[int]]) -> list[str]:
        """The texts of rows of tokens."""
        known = [self._old[list(row)].tolist() for row in rows]
        texts: list[str] = self._tokenizer.decode_batch(known, skip_special_tokens=False)
        return texts


def choose_vocabulary(folder: Path, texts: Sequence[str]) -> NDArray[np.int64]:
    """Choose the tokens that are kept, and write them into the teacher's folder."""
    reader = Tokenizer.from_file(str(folder / TOKENIZER))
    counts = np.zeros(reader.get_vocab_size(), dtype=np.int64)
    for start in range(0, len(texts), 1000):
        for encoding in reader.encode_batch(texts[start : start + 1000], add_special_tokens=False):
            np.add.at(counts, encoding.ids, 1)
    counts[:_BYTES] = counts[reader.token_to_id(_END)] = _OFTEN
    kept = np.flatnonzero(counts >= _OFTEN)
    np.save(folder / KEPT, kept)
    return kept
