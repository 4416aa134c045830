"""Which kind of document a file is, and opening it."""

from collections.abc import Sequence
from enum import StrEnum
from pathlib import PurePath
from typing import Protocol

from parataxis.api import Splitter
from parataxis.documents.sentences import Report, Shown
from parataxis.errors import InputError
from parataxis.rewrite.record import Rewrite

__all__ = ["Document", "Kind", "decode", "kind_of", "open_document", "split_document"]


class Kind(StrEnum):
    """The kinds of documents, by the names that people know them by."""

    WORD = "Word"
    MARKDOWN = "Markdown"
    HTML = "HTML"


_KINDS = {
    ".docx": Kind.WORD,
    ".md": Kind.MARKDOWN,
    ".markdown": Kind.MARKDOWN,
    ".html": Kind.HTML,
    ".htm": Kind.HTML,
}


def kind_of(path: PurePath | str) -> Kind | None:
    """The kind of a document by its suffix.

    >>> kind_of("contract.DOCX"), kind_of("contract.txt")
    (<Kind.WORD: 'Word'>, None)
    """
    return _KINDS.get(PurePath(path).suffix.lower())


class Document(Protocol):
    """A document of any kind: its sentences, and the document with their rewrites."""

    @property
    def sentences(self) -> list[str]:
        """The sentences, in order, as a splitter gets them."""

    @property
    def paragraphs(self) -> list[Shown]:
        """The paragraphs that can be shown; their sentences are those of :attr:`sentences`."""

    def rewritten(
        self, rewrites: Sequence[Rewrite], *, tracked: bool = False
    ) -> tuple[bytes, Report]:
        """The document with the rewrites of all its sentences, and what became of them.

        Raises InputError where changes are to be tracked in a document that cannot do that.
        """


def open_document(data: bytes, name: str) -> Document:
    """The document in the bytes of the file ``name``, of the kind that its suffix says.

    Raises InputError, with the name, for bytes that are not of that kind.
    """
    match kind_of(name):
        case Kind.WORD:
            from parataxis.documents.docx import DocxDocument

            return DocxDocument(data, name)
        case Kind.MARKDOWN:
            from parataxis.documents.markdown import MarkdownDocument

            return MarkdownDocument(decode(data, name))
        case Kind.HTML:
            from parataxis.documents.html import HtmlDocument

            return HtmlDocument(decode(data, name))
        case None:
            raise InputError(f"{name} is no document of Word, Markdown or HTML, by its suffix.")


def split_document(
    data: bytes, name: str, *, splitter: Splitter | None = None, tracked: bool = False
) -> tuple[bytes, Report]:
    """Split the sentences of the file ``name`` with these bytes; a Word document can have the
    splits as tracked changes.

    >>> split_document(b"*Ann* came.", "letter.md", splitter=Splitter("source"))[0]
    b'*Ann* came.'
    """
    document = open_document(data, name)
    rewrites = list((splitter or Splitter()).pipe(document.sentences))
    return document.rewritten(rewrites, tracked=tracked)


def decode(data: bytes, name: str) -> str:
    """The text in the bytes of the file ``name``; InputError where they are not UTF-8."""
    try:
        return data.decode()
    except UnicodeDecodeError as error:
        raise InputError(
            f"{name}: byte {error.start + 1} is not UTF-8, so this is not text or has to be saved "
            "as UTF-8 first."
        ) from error
