"""Documents with formatting: Word, Markdown and HTML in, the same with simple sentences out."""

from parataxis.run.documents.files import (
    DocumentFormat,
    FormattedDocument,
    document_format,
    open_document,
    split_document,
)
from parataxis.run.documents.plan import DocumentReport

__all__ = [
    "DocumentFormat",
    "DocumentReport",
    "FormattedDocument",
    "document_format",
    "open_document",
    "split_document",
]
