"""Documents with formatting: Word, Markdown and HTML in, the same with simple sentences out."""

from parataxis.documents.files import Document, Kind, kind_of, open_document, split_document
from parataxis.documents.sentences import Report

__all__ = ["Document", "Kind", "Report", "kind_of", "open_document", "split_document"]
