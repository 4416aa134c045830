"""Word documents: sentences are rewritten in their runs, directly or as tracked changes."""

import io
import re
import zipfile
import zlib
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from functools import cached_property
from typing import TYPE_CHECKING

from parataxis.errors import InputError, needs
from parataxis.rewrite.record import Rewrite
from parataxis.run.documents import (
    Change,
    DocumentReport,
    FormattedDocument,
    Paragraph,
    Sentence,
    Surrounding,
)
from parataxis.run.documents.wordml import Tracking, WordParagraph, read_paragraphs, revise, w
from parataxis.text.segments import sentence_spans

if TYPE_CHECKING:
    from lxml.etree import _Element as Node

LARGEST = 512 << 20
"""The most bytes that all parts of a file may have together, unpacked."""
_OLE = bytes.fromhex("d0cf11e0a1b11ae1")
_ENCRYPTED = "EncryptedPackage".encode("utf-16-le")
_SUSPECT_SIZE, _SUSPECT_RATIO = 32 << 20, 200
"""A part that is larger and compressed more tightly than this is taken for a zip bomb."""
_FLAG_ENCRYPTED = 1
_NO_XML = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")


class Archive:
    """The parts of a Word file, which is a zip archive, or of another such ``kind``; ``name`` is
    used in error messages. Raises InputError if the bytes are no archive, are encrypted, or would
    not fit into memory."""

    def __init__(self, data: bytes, name: str, kind: str = "a Word document") -> None:
        self._name = name
        if data.startswith(_OLE):
            reason = (
                "is protected by a password; save it without one"
                if _ENCRYPTED in data
                else "is in the old .doc format; save it as .docx"
            )
            raise InputError(f"{name} {reason}.")
        try:
            self._archive = zipfile.ZipFile(io.BytesIO(data))
        except (zipfile.BadZipFile, ValueError, NotImplementedError) as error:
            raise InputError(f"{name} is not {kind}, or is damaged.") from error
        parts = self._archive.infolist()
        if any(info.flag_bits & _FLAG_ENCRYPTED for info in parts):
            raise InputError(f"{name} is protected by a password; save it without one.")
        if len(set(self.names())) != len(parts):
            raise InputError(f"{name} is damaged: two of its parts have the same name.")
        is_bomb = any(
            info.file_size > max(_SUSPECT_SIZE, _SUSPECT_RATIO * max(1, info.compress_size))
            for info in parts
        )
        if is_bomb or sum(info.file_size for info in parts) > LARGEST:
            raise InputError(
                f"{name} is too large: unpacked, it would have more than {LARGEST >> 20} MB, or it "
                "is made to fill the memory."
            )

    def names(self) -> list[str]:
        return self._archive.namelist()

    def sizes(self) -> dict[str, int]:
        """The unpacked size of each part in bytes."""
        return {info.filename: info.file_size for info in self._archive.infolist()}

    def read(self, part: str) -> bytes:
        try:
            return self._archive.read(part)
        except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, OSError) as error:
            raise InputError(f"{self._name} is damaged: its part {part} cannot be read.") from error

    def write(self, changed: Mapping[str, bytes]) -> bytes:
        """The file with some parts changed; the others keep their bytes, names and order."""
        stream = io.BytesIO()
        with zipfile.ZipFile(stream, "w") as copy:
            copy.comment = self._archive.comment
            for info in self._archive.infolist():
                content = changed.get(info.filename)
                copy.writestr(_like(info), self.read(info.filename) if content is None else content)
        return stream.getvalue()


def _like(info: zipfile.ZipInfo) -> zipfile.ZipInfo:
    """The entry of a part in the copy: with the same name, time and permissions."""
    made = zipfile.ZipInfo(info.filename, info.date_time)
    packed = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
    made.compress_type = info.compress_type if info.compress_type in packed else packed[1]
    made.external_attr, made.create_system = info.external_attr, info.create_system
    made.comment = info.comment
    return made


_CONTENT_TYPES = "[Content_Types].xml"
_TYPES = "{http://schemas.openxmlformats.org/package/2006/content-types}"
_MAIN = re.compile(
    r"application/vnd\.(?:openxmlformats-officedocument\.wordprocessingml|ms-word)"
    r"\.(?:document|template)(?:\.macroEnabled(?:Template)?)?\.main\+xml"
)
_STORY = re.compile(
    r"application/vnd\.openxmlformats-officedocument\.wordprocessingml"
    r"\.(?:header|footer|footnotes|endnotes)\+xml"
)
_STYLES = "application/vnd.openxmlformats-officedocument.wordprocessingml.styles+xml"
_COMMENTS = "application/vnd.openxmlformats-officedocument.wordprocessingml.comments+xml"
_HEADING = re.compile(r"(?:heading|toc|index|table of) ?|(?:sub)?title$|caption$", re.IGNORECASE)
_QUOTATION = re.compile(r"(?:intense )?quote$|block text$", re.IGNORECASE)
_FINISHED = re.compile(r"[.!?][\"'”’)\]]*$")


class DocxDocument(FormattedDocument):
    """A Word document: the paragraphs of its main part, then those of headers, footers and notes.
    ``name`` is used in error messages. Raises InputError if the bytes are not a Word document that
    can be read."""

    def __init__(self, data: bytes, name: str = "The document") -> None:
        self._archive = Archive(data, name)
        self._name = name
        self._parts = self._find_parts()
        self._places: list[tuple[str, int]] = []
        """For each paragraph its part, and its number there."""
        paragraphs = []
        for part in self._parts:
            for number, paragraph in enumerate(read_paragraphs(self._tree(part))):
                self._places.append((part, number))
                around = self._around(paragraph)
                paragraphs.append(Paragraph(paragraph.text, self._sentences(paragraph), around))
        super().__init__(paragraphs)

    def rewritten(
        self, rewrites: Sequence[Rewrite], *, tracked: bool = False, date: datetime | None = None
    ) -> tuple[bytes, DocumentReport]:
        """The document with the rewrites of all its sentences, and the report on them. With
        ``tracked`` each split is a tracked change of the author "Parataxis (splitter)", made at
        ``date`` (default: now)."""
        for number, rewrite in enumerate(rewrites, start=1):
            if _NO_XML.search("".join((*rewrite.simple, rewrite.splitter))):
                raise InputError(
                    f"Rewrite {number} has a control character, which Word cannot hold; remove it."
                )
        report = DocumentReport()
        changes = self.changes(rewrites, report)
        report.split = len(changes)
        by_part: dict[str, dict[int, list[Change]]] = defaultdict(lambda: defaultdict(list))
        for change in changes:
            part, number = self._places[change.paragraph]
            by_part[part][number].append(change)
        tracking = self._tracking(date) if tracked else None
        revised = {part: self._revised(part, own, tracking) for part, own in by_part.items()}
        return self._archive.write(revised), report

    def comments(self) -> Iterator[tuple[int, str]]:
        """The text of each comment in the margin, with the number of the paragraph where it begins,
        in the order of the paragraphs."""
        part = next((part for part, kind in self._types.items() if kind == _COMMENTS), None)
        if part is None:
            return
        texts = {
            node.get(w("id")): "".join(text.text or "" for text in node.iter(w("t")))
            for node in self._tree(part).iter(w("comment"))
        }
        paragraphs = (each for part in self._parts for each in read_paragraphs(self._tree(part)))
        for number, paragraph in enumerate(paragraphs):
            for node in paragraph.node.iter(w("commentRangeStart")):
                yield number, texts.get(node.get(w("id")), "")

    def _revised(
        self, part: str, changes: dict[int, list[Change]], tracking: Tracking | None
    ) -> bytes:
        from lxml.etree import tostring

        root = self._tree(part)
        read = enumerate(read_paragraphs(root))
        to_change = [(paragraph, changes[n]) for n, paragraph in read if n in changes]
        for paragraph, own in to_change:  # only after all paragraphs were read
            revise(paragraph, own, tracking)
        return tostring(root.getroottree(), xml_declaration=True, encoding="UTF-8", standalone=True)

    def _tracking(self, date: datetime | None) -> Tracking:
        when = (date or datetime.now(UTC)).astimezone(UTC)
        ids = [0]
        for part in self._parts:
            for node in self._tree(part).iter("*"):
                number = node.get(w("id"), "")
                if number.lstrip("-").isdecimal():
                    ids.append(int(number))
        return Tracking(when.strftime("%Y-%m-%dT%H:%M:%SZ"), max(ids) + 1)

    def _find_parts(self) -> list[str]:
        """The main part, then headers, footers and notes."""
        types = self._types
        main = [part for part, kind in types.items() if _MAIN.fullmatch(kind)]
        if not main:
            raise InputError(f"{self._name} is not a Word document.")
        return main + [part for part, kind in types.items() if _STORY.fullmatch(kind)]

    @cached_property
    def _types(self) -> dict[str, str]:
        names = set(self._archive.names())
        if _CONTENT_TYPES not in names:
            raise InputError(f"{self._name} is not a Word document.")
        found = {}
        for node in self._tree(_CONTENT_TYPES).iter(_TYPES + "Override"):
            part = node.get("PartName", "").lstrip("/")
            if part in names:
                found[part] = node.get("ContentType", "")
        return found

    @cached_property
    def _headings(self) -> frozenset[str]:
        """The styles of headings and of other paragraphs that are not running text."""
        return self._named(_HEADING)

    @cached_property
    def _quotations(self) -> frozenset[str]:
        return self._named(_QUOTATION)

    def _named(self, pattern: re.Pattern[str]) -> frozenset[str]:
        """The styles with such a name, and those based on them."""
        part = next((part for part, kind in self._types.items() if kind == _STYLES), None)
        if part is None:
            return frozenset()
        styles = self._tree(part).findall(w("style"))
        named = {s.get(w("styleId"), ""): _value(s, "name") for s in styles}
        based = {s.get(w("styleId"), ""): _value(s, "basedOn") for s in styles}
        found = {style for style, name in named.items() if pattern.match(name)}
        while more := {style for style, base in based.items() if base in found} - found:
            found |= more
        return frozenset(found)

    def _tree(self, part: str) -> "Node":
        with needs("Word documents need lxml", "docx"):
            from lxml import etree

        parser = etree.XMLParser(resolve_entities=False, no_network=True, load_dtd=False)
        try:
            root = etree.fromstring(self._archive.read(part), parser)
        except etree.XMLSyntaxError as error:
            raise InputError(f"{self._name} is damaged: its part {part} is not XML.") from error
        if root.getroottree().docinfo.internalDTD is not None:
            raise InputError(
                f"{self._name} is not a valid Word document: its part {part} has a DTD."
            )
        return root

    def _around(self, paragraph: WordParagraph) -> frozenset[Surrounding]:
        found = {Surrounding.TABLE for _ in paragraph.node.iterancestors(w("tbl"))}
        style = paragraph.node.find(f"{w('pPr')}/{w('pStyle')}")
        if style is not None and style.get(w("val")) in self._quotations:
            found.add(Surrounding.QUOTATION)
        return frozenset(found)

    def _sentences(self, paragraph: WordParagraph) -> list[Sentence]:
        style = paragraph.node.find(f"{w('pPr')}/{w('pStyle')}")
        is_heading = style is not None and style.get(w("val")) in self._headings
        return [
            paragraph.sentence(span)
            for span in sentence_spans(paragraph.text)
            # Contracts number whole clauses as headings.
            if not is_heading or _FINISHED.search(span.text)
        ]


def _value(style: "Node", name: str) -> str:
    node = style.find(w(name))
    return "" if node is None else node.get(w("val"), "")
