"""A column of texts: what pandas and datasets have in common."""

from collections.abc import Sequence
from typing import NamedTuple

from parataxis.api import DocumentRewrite, Splitter
from parataxis.errors import InputError
from parataxis.text.documents import read_document


class Names(NamedTuple):
    """The columns that splitting adds."""

    simple: str
    rewrites: str
    sentences: str

    @classmethod
    def of(cls, column: str) -> "Names":
        """Their names, after that of the column with the texts.

        >>> Names.of("text").simple
        'text_simple'
        """
        return cls(*(f"{column}_{field}" for field in cls._fields))


def split_texts(splitter: Splitter, texts: Sequence[str | None]) -> list[DocumentRewrite | None]:
    """Split the sentences of many texts, in batches across them; None, a missing text, stays.

    >>> found = split_texts(Splitter("source"), ["It rained. Ann left.", None, ""])
    >>> [each and each.simple for each in found]
    [['It rained.', 'Ann left.'], None, []]
    """
    documents = []
    for place, text in enumerate(texts):
        if text is not None and not isinstance(text, str):
            raise InputError(
                f"Row {place + 1} holds {text!r}, which is no text; convert the column to text."
            )
        documents.append(None if text is None else read_document(text))
    rewrites = splitter.pipe(
        sentence.text for document in documents if document for sentence in document.sentences
    )
    return [
        None
        if document is None
        else DocumentRewrite(document, tuple(next(rewrites) for _ in document.sentences))
        for document in documents
    ]
