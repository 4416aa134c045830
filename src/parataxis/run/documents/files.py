"""Which kind of document a file is, and opening it."""

from collections.abc import Sequence
from enum import StrEnum
from pathlib import PurePath
from typing import Protocol

from parataxis.api import Splitter
from parataxis.errors import InputError
from parataxis.rewrite.record import Rewrite
from parataxis.run.documents.plan import DocumentReport, Shown


class DocumentFormat(StrEnum):
    """The kinds of documents, by the names that people know them by."""

    WORD = "Word"
    MARKDOWN = "Markdown"
    HTML = "HTML"


_KINDS = {
    ".docx": DocumentFormat.WORD,
    ".md": DocumentFormat.MARKDOWN,
    ".markdown": DocumentFormat.MARKDOWN,
    ".html": DocumentFormat.HTML,
    ".htm": DocumentFormat.HTML,
}


def document_format(path: PurePath | str) -> DocumentFormat | None:
    """The kind of a document by its suffix.

    >>> kind_of("contract.DOCX"), kind_of("contract.txt")
    (<Kind.WORD: 'Word'>, None)
    """
    return _KINDS.get(PurePath(path).suffix.lower())


class FormattedDocument(Protocol):
    """A document of any kind: its sentences, and the document with their rewrites."""

    @property
    def sentences(self) -> list[str]:
        """The sentences, in order, as a splitter gets them."""

    @property
    def paragraphs(self) -> list[Shown]:
        """The paragraphs that can be shown; their sentences are those of :attr:`sentences`."""

    def rewritten(
        self, rewrites: Sequence[Rewrite], *, tracked: bool = False
    ) -> tuple[bytes, DocumentReport]:
        """The document with the rewrites of all its sentences, and what became of them.

        Raises InputError where changes are to be tracked in a document that cannot do that.
        """


def open_document(data: bytes, name: str) -> FormattedDocument:
    """The document in the bytes of the file ``name``, of the kind that its suffix says.

    Raises InputError, with the name, for bytes that are not of that kind.
    """
    match document_format(name):
        case DocumentFormat.WORD:
            from parataxis.run.documents.docx import DocxDocument

            return DocxDocument(data, name)
        case DocumentFormat.MARKDOWN:
            from parataxis.run.documents.markdown import MarkdownDocument

            return MarkdownDocument(decode(data, name))
        case DocumentFormat.HTML:
            from parataxis.run.documents.html import HtmlDocument

            return HtmlDocument(decode(data, name))
        case None:
            raise InputError(f"{name} is no document of Word, Markdown or HTML, by its suffix.")


def split_document(
    data: bytes, name: str, *, splitter: Splitter | None = None, tracked: bool = False
) -> tuple[bytes, DocumentReport]:
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
