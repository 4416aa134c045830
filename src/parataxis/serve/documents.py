"""Uploaded documents: their text and sentences, and the same documents with rewrites."""

import re
from collections.abc import Sequence
from pathlib import PurePosixPath, PureWindowsPath
from typing import Annotated

from pydantic import FailFast, TypeAdapter, ValidationError

from parataxis.errors import InputError
from parataxis.rewrite.compose import left_whole
from parataxis.rewrite.record import Rewrite
from parataxis.run.documents import (
    DocumentFormat,
    DocumentReport,
    FormattedDocument,
    Paragraph,
    Sentence,
    decode,
    document_format,
    open_document,
)
from parataxis.run.documents.docx import Archive
from parataxis.run.documents.imported import ImportedDocument
from parataxis.serve.models import DocumentRead, DocumentSentence
from parataxis.serve.problems import LINES, TooMuchError, complaint, measure, require_short
from parataxis.text.documents import read_document
from parataxis.text.english import looks_english

_GAP = "\n\n"
_MARK = "\ufeff"
MEDIA_TYPES = {
    None: "text/plain; charset=utf-8",
    DocumentFormat.WORD: "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
    DocumentFormat.MARKDOWN: "text/markdown; charset=utf-8",
    DocumentFormat.HTML: "text/html; charset=utf-8",
}
_MARKUP, _WORD_MARKUP = 4, 20
"""Bytes that are allowed per character of a text with its markup."""
_TAG = re.compile(rb"<[^<>]*>")
_PARTS = {
    DocumentFormat.WORD: (re.compile(rb"<w:[rp][ >]"), "runs and paragraphs"),
    DocumentFormat.HTML: (re.compile(rb"<"), "tags"),
    None: (re.compile(rb"\n"), "lines"),
}
"""What makes a document slow to read even if it has little text."""
_HEADINGS = 1.25
"""The characters of a document for each in its sentences."""


def _open(data: bytes, name: str, characters: int, sentences: int) -> tuple[str, FormattedDocument]:
    """A document and its file name without folders; raises InputError if it cannot be read or is
    certainly longer than ``characters`` and ``sentences``."""
    plain = PureWindowsPath(PurePosixPath(name).name).name
    kind = document_format(plain)
    if kind is None or kind.is_written:
        _require_small(data, plain, kind, characters, sentences)
    if plain.lower().endswith(".txt"):
        return plain, _PlainText(decode(data, plain))
    if kind is None:
        raise InputError(
            f'"{plain}" is no file of a kind that can be read: its name must end in .txt, .md, '
            ".docx, .html, .odt, .rtf or .pdf."
        )
    return plain, open_document(data, plain)


def _require_small(
    data: bytes, name: str, kind: DocumentFormat | None, characters: int, sentences: int
) -> None:
    """Refuse a document that would take long to read, before it is parsed."""
    is_word = kind is DocumentFormat.WORD
    size = _unpacked(data, name) if is_word else len(data)
    largest = (_WORD_MARKUP if is_word else _MARKUP) * characters
    if size > largest:
        raise TooMuchError(f"{name} has {size} bytes of text; at most {largest} are taken.")
    sign, what = _PARTS.get(kind, _PARTS[None])
    written = _xml(data, name) if is_word else data
    shown = _TAG.sub(b"", written) if kind in _PARTS else written
    for number, most, noun in (
        (sum(1 for _ in sign.finditer(written)), LINES * sentences, what),
        (len(shown.decode(errors="replace")), round(_HEADINGS * characters), "characters"),
    ):
        if number > most:
            raise TooMuchError(f"{name} has {number} {noun}; at most {most} are taken.")


def _unpacked(data: bytes, name: str) -> int:
    """The uncompressed size of the XML in a Word document: a small file can hold a lot."""
    sizes = Archive(data, name).sizes()
    return sum(size for part, size in sizes.items() if part.endswith(".xml"))


def _xml(data: bytes, name: str) -> bytes:
    """The XML of a Word document in one piece."""
    archive = Archive(data, name)
    return b"".join(archive.read(part) for part in archive.names() if part.endswith(".xml"))


def read(data: bytes, name: str, characters: int, sentences: int) -> bytes:
    """The text of a document, with a blank line between paragraphs, and its sentences, as the JSON
    of a DocumentRead."""
    name, document = _open(data, name, characters, sentences)
    measure(document.sentences, sentences, characters)
    parts: list[str] = []
    places: list[tuple[int, int]] = []
    start = 0
    for paragraph in document.paragraphs:
        if paragraph.text.strip():
            places += [(start + each.start, start + each.end) for each in paragraph.sentences]
            parts.append(paragraph.text)
            start += len(paragraph.text) + len(_GAP)
    text = _GAP.join(parts)
    found = DocumentRead(
        name=name,
        kind=str(document_format(name) or "Text"),
        text=text,
        note=document.loss if isinstance(document, ImportedDocument) else "",
        english=looks_english(text),
        sentences=[
            DocumentSentence(text=sentence, start=begin, end=end)
            for sentence, (begin, end) in zip(document.sentences, places, strict=True)
        ],
    )
    return found.model_dump_json().encode()


def write(
    data: bytes, name: str, characters: int, most: int, given: bytes, tracked: bool
) -> tuple[str, bytes, str]:
    """Apply rewrites, given as JSON: the name of the document, the new document, and a sentence
    about the rewrites that could not be applied, or ""."""
    name, document = _open(data, name, characters, most)
    made, report = document.rewritten(_fitted(name, document, given), tracked=tracked)
    if isinstance(document, ImportedDocument):
        name = str(PurePosixPath(name).with_suffix(".docx"))
    return name, made, report.note()


def blocked(
    data: bytes, name: str, characters: int, most: int, given: bytes
) -> list[tuple[int, str]]:
    """The indices of the sentences whose rewrites, given as JSON, cannot be written into the
    document, each with what it has that prevents it."""
    name, document = _open(data, name, characters, most)
    planned = document.planned(_fitted(name, document, given))
    return [(index, each) for index, each in enumerate(planned) if isinstance(each, str)]


def _fitted(name: str, document: FormattedDocument, given: bytes) -> list[Rewrite]:
    """The rewrites of all sentences of a document; one that is null leaves its sentence alone."""
    rewrites, sentences = _rewrites(given), document.sentences
    if len(rewrites) != len(sentences):
        raise InputError(
            f"{name} has {len(sentences)} sentences, but there are {len(rewrites)} rewrites; "
            "give one, or null, for each."
        )
    return [
        _fitting(number, sentence, rewrite)
        for number, (sentence, rewrite) in enumerate(zip(sentences, rewrites, strict=True), start=1)
    ]


_REWRITES = TypeAdapter(Annotated[list[Rewrite | None], FailFast()])


def _rewrites(text: bytes) -> list[Rewrite | None]:
    try:
        return _REWRITES.validate_json(text)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        if first["type"] == "json_invalid":
            raise InputError('The field "rewrites" is no JSON.') from error
        raise InputError(complaint({**first, "loc": ("rewrites", *first["loc"])})) from error


def _fitting(number: int, sentence: str, rewrite: Rewrite | None) -> Rewrite:
    if rewrite is None:
        return left_whole(sentence, splitter="source")
    if rewrite.is_split:
        require_short(rewrite.source, rewrite.simple)
    if rewrite.source != sentence:
        raise InputError(f"Rewrite {number} is of another sentence than that of the document.")
    for tokens in rewrite.provenance or ():
        for token in tokens:
            if token.source and not 0 <= token.source[0] <= token.source[1] <= len(sentence):
                raise InputError(f"Rewrite {number} has a word from outside of its source.")
    return rewrite


class _PlainText(FormattedDocument):
    """A text file; it is shown as it is, except for a byte order mark at its beginning."""

    def __init__(self, text: str) -> None:
        self._mark = _MARK if text.startswith(_MARK) else ""
        self._document = read_document(text.removeprefix(_MARK))
        spans = self._document.sentences
        sentences = [Sentence(span.text, span.start, span.end) for span in spans]
        super().__init__([Paragraph(self._document.text, sentences)])

    def rewritten(
        self, rewrites: Sequence[Rewrite], *, tracked: bool = False
    ) -> tuple[bytes, DocumentReport]:
        """The text with the rewrites of all its sentences."""
        if tracked:
            raise InputError("Only a Word document (.docx) can have tracked changes.")
        split = {i: list(each.simple) for i, each in enumerate(rewrites) if each.is_split}
        text = self._mark + self._document.rebuild(split)
        return text.encode(), DocumentReport(len(rewrites), len(split))
