"""Documents with formatting: Word, Markdown and HTML, rewritten with their formatting kept."""

from enum import StrEnum
from pathlib import PurePath

from parataxis.api import Splitter
from parataxis.errors import InputError
from parataxis.run.documents.document import (
    DocumentReport,
    FormattedDocument,
    Paragraph,
    Sentence,
)

__all__ = [
    "DocumentFormat",
    "DocumentReport",
    "FormattedDocument",
    "Paragraph",
    "Sentence",
    "decode",
    "document_format",
    "open_document",
    "split_document",
]


class DocumentFormat(StrEnum):
    """The formats of documents."""

    WORD = "Word"
    MARKDOWN = "Markdown"
    HTML = "HTML"


_SUFFIXES = {
    ".docx": DocumentFormat.WORD,
    ".md": DocumentFormat.MARKDOWN,
    ".markdown": DocumentFormat.MARKDOWN,
    ".html": DocumentFormat.HTML,
    ".htm": DocumentFormat.HTML,
}


def document_format(path: PurePath | str) -> DocumentFormat | None:
    """The format of a document by its suffix.

    >>> document_format("contract.DOCX"), document_format("contract.txt")
    (<DocumentFormat.WORD: 'Word'>, None)
    """
    return _SUFFIXES.get(PurePath(path).suffix.lower())


def open_document(data: bytes, name: str) -> FormattedDocument:
    """Read the document in the bytes of the file ``name``, whose suffix gives the format.

    Raises InputError, with the name, for bytes that are not in that format.
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
    """Split the sentences of the file ``name`` with these bytes; ``tracked`` makes each split a
    tracked change of a Word document.

    >>> split_document(b"*Ann* came.", "letter.md", splitter=Splitter("source"))[0]
    b'*Ann* came.'
    """
    document = open_document(data, name)
    rewrites = list((splitter or Splitter()).pipe(document.sentences))
    return document.rewritten(rewrites, tracked=tracked)


def decode(data: bytes, name: str) -> str:
    """Decode the bytes of the file ``name``; raises InputError if they are not UTF-8."""
    try:
        return data.decode()
    except UnicodeDecodeError as error:
        raise InputError(
            f"{name}: byte {error.start + 1} is not UTF-8, so this is not text or has to be saved "
            "as UTF-8 first."
        ) from error
