"""Sentence segmentation, tokens with character offsets, documents, casing."""

from parataxis.text.tokens import Token, join, spaces_between, tokenize

__all__ = ["Token", "join", "spaces_between", "tokenize"]
