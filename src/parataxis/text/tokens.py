"""Tokens with character offsets, close to the tokens of the English UD treebanks."""

from dataclasses import dataclass

__all__ = ["Token", "tokenize"]


@dataclass(frozen=True, slots=True)
class Token:
    """A word or punctuation mark and where it stands: ``sentence[start:end] == text``."""

    text: str
    start: int
    end: int
