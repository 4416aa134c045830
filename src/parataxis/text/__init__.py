"""Sentence segmentation, tokens with character offsets, documents, casing."""

from parataxis.text.documents import Document, read_blocks, read_document
from parataxis.text.segments import Span, sentence_spans
from parataxis.text.tokens import Token, capitalise, lower_first, tokenize

__all__ = [
    "Document",
    "Span",
    "Token",
    "capitalise",
    "lower_first",
    "read_blocks",
    "read_document",
    "sentence_spans",
    "tokenize",
]
