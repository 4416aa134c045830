"""Word documents: sentences are rewritten in their runs, at once or as tracked changes."""

import io
import re
import zipfile
import zlib
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

from parataxis.errors import InputError, ParataxisError
from parataxis.rewrite.record import Rewrite
from parataxis.run.documents.plan import MOVES, DocumentReport, Sentence, Shown, plan_sentence
from parataxis.run.documents.revise import Revision, Tracking, revise
from parataxis.run.documents.wordml import Story, WordParagraph, w
from parataxis.text.segments import sentence_spans

if TYPE_CHECKING:
    from lxml.etree import _Element as Node


# The parts of a Word file, which is a zip archive; those that stay the same keep their bytes.

LARGEST = 512 << 20
"""Bytes that all parts of a file may have together, unpacked."""

_OLE = bytes.fromhex("d0cf11e0a1b11ae1")
_ENCRYPTED = "EncryptedPackage".encode("utf-16-le")
_SUSPECT_SIZE, _SUSPECT_RATIO = 32 << 20, 200
"""A part that is larger than this and packed that tightly is made to fill the memory."""
_FLAG_ENCRYPTED = 1


@dataclass(frozen=True)
class Archive:
    """The parts of a file; ``name`` is what error messages call it."""

    name: str
    data: bytes

    def names(self) -> list[str]:
        """The names of the parts."""
        with self._open() as archive:
            return archive.namelist()

    def read(self, part: str) -> bytes:
        """One part, unpacked."""
        with self._open() as archive:
            return self._content(archive, archive.getinfo(part))

    def write(self, changed: Mapping[str, bytes]) -> bytes:
        """The file with some parts changed; the others have the same bytes, names and order."""
        stream = io.BytesIO()
        with self._open() as archive, zipfile.ZipFile(stream, "w") as copy:
            copy.comment = archive.comment
            for info in archive.infolist():
                content = changed.get(info.filename)
                if content is None:
                    content = self._content(archive, info)
                copy.writestr(_like(info), content)
        return stream.getvalue()

    def _open(self) -> zipfile.ZipFile:
        try:
            return zipfile.ZipFile(io.BytesIO(self.data))
        except (zipfile.BadZipFile, ValueError, NotImplementedError) as error:
            raise InputError(f"{self.name} is not a Word document, or is damaged.") from error

    def _content(self, archive: zipfile.ZipFile, info: zipfile.ZipInfo) -> bytes:
        try:
            return archive.read(info)
        except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, OSError) as error:
            raise InputError(
                f"{self.name} is damaged: its part {info.filename} cannot be read."
            ) from error


def _like(info: zipfile.ZipInfo) -> zipfile.ZipInfo:
    """The entry of a part in the copy: its name, time and rights."""
    made = zipfile.ZipInfo(info.filename, info.date_time)
    packed = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
    made.compress_type = info.compress_type if info.compress_type in packed else packed[1]
    made.external_attr, made.create_system = info.external_attr, info.create_system
    made.comment = info.comment
    return made


def read_archive(data: bytes, name: str) -> Archive:
    """The archive in the bytes of the file ``name``; raises InputError where it is none, is
    encrypted, or would not fit into memory."""
    if data.startswith(_OLE):
        reason = (
            "is protected by a password; save it without one"
            if _ENCRYPTED in data
            else "is in the old .doc format; save it as .docx"
        )
        raise InputError(f"{name} {reason}.")
    archive = Archive(name, data)
    with archive._open() as opened:
        parts = opened.infolist()
    if any(info.flag_bits & _FLAG_ENCRYPTED for info in parts):
        raise InputError(f"{name} is protected by a password; save it without one.")
    if len({info.filename for info in parts}) != len(parts):
        raise InputError(f"{name} is damaged: two of its parts have the same name.")
    if any(map(_is_suspect, parts)) or sum(info.file_size for info in parts) > LARGEST:
        raise InputError(
            f"{name} is too large: unpacked, it would have more than {LARGEST >> 20} MB, or it is "
            "made to fill the memory."
        )
    return archive


def _is_suspect(info: zipfile.ZipInfo) -> bool:
    tight = info.file_size > _SUSPECT_RATIO * max(1, info.compress_size)
    return tight and info.file_size > _SUSPECT_SIZE


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
_HEADING = re.compile(r"(?:heading|toc|index|table of) ?|(?:sub)?title$|caption$", re.IGNORECASE)
_FINISHED = re.compile(r"[.!?][\"'”’)\]]*$")


class _Place(NamedTuple):
    """Where a sentence stands: part, and number of its paragraph there."""

    part: str
    paragraph: int
    sentence: Sentence
    text: str


class DocxDocument:
    """A Word document and its sentences; ``name`` is what error messages call it.

    Raises InputError where the bytes are not those of a Word document that can be read.
    """

    def __init__(self, data: bytes, name: str = "The document") -> None:
        self._archive = read_archive(data, name)
        self._name = name
        self._parts = self._find_parts()
        self._places = [place for part in self._parts for place in self._find_sentences(part)]

    @property
    def sentences(self) -> list[str]:
        """The sentences, in order, as a splitter gets them."""
        return [place.sentence.text for place in self._places]

    @property
    def paragraphs(self) -> list[Shown]:
        """The paragraphs of the main part, then those of headers, footers and notes."""
        places = defaultdict(list)
        for part, number, sentence, _ in self._places:
            places[part, number].append((sentence.start, sentence.end))
        return [
            Shown(paragraph.text, places[part, number])
            for part in self._parts
            for number, paragraph in enumerate(Story(self._tree(part)).paragraphs())
        ]

    def rewritten(
        self, rewrites: Sequence[Rewrite], *, tracked: bool = False, date: datetime | None = None
    ) -> tuple[bytes, DocumentReport]:
        """The document with the rewrites of all its sentences, and what became of them.

        With ``tracked`` each split is a tracked change of the author "Parataxis (splitter)", made
        at ``date`` (now).
        """
        report = DocumentReport(len(self._places))
        changes: dict[str, dict[int, list[Revision]]] = defaultdict(lambda: defaultdict(list))
        for place, rewrite in zip(self._places, rewrites, strict=True):
            revision = _revision(place, rewrite, report)
            if revision is not None:
                changes[place.part][place.paragraph].append(revision)
                report.split += 1
        tracking = self._tracking(date) if tracked else None
        changed = {
            part: self._revised(part, revisions, tracking) for part, revisions in changes.items()
        }
        return self._archive.write(changed), report

    def _revised(
        self, part: str, revisions: dict[int, list[Revision]], tracking: Tracking | None
    ) -> bytes:
        from lxml.etree import tostring

        root = self._tree(part)
        read = enumerate(Story(root).paragraphs())
        changed = [(paragraph, revisions[n]) for n, paragraph in read if n in revisions]
        for paragraph, own in changed:  # after all was read: a story must not change meanwhile
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
        """The styles of headings and of what else is no running text."""
        part = next((part for part, kind in self._types.items() if kind == _STYLES), None)
        if part is None:
            return frozenset()
        styles = self._tree(part).findall(w("style"))
        named = {s.get(w("styleId"), ""): _value(s, "name") for s in styles}
        based = {s.get(w("styleId"), ""): _value(s, "basedOn") for s in styles}
        found = {style for style, name in named.items() if _HEADING.match(name)}
        for _ in styles:
            more = {style for style, base in based.items() if base in found} - found
            if not more:
                break
            found |= more
        return frozenset(found)

    def _tree(self, part: str) -> "Node":
        try:
            from lxml import etree
        except ImportError as error:
            raise ParataxisError(
                "Word documents need lxml; install it with: pip install 'parataxis[docx]'."
            ) from error

        parser = etree.XMLParser(resolve_entities=False, no_network=True, load_dtd=False)
        try:
            root = etree.fromstring(self._archive.read(part), parser)
        except etree.XMLSyntaxError as error:
            raise InputError(f"{self._name} is damaged: its part {part} is no XML.") from error
        if root.getroottree().docinfo.internalDTD is not None:
            raise InputError(f"{self._name} is no sound Word document: its part {part} has a DTD.")
        return root

    def _find_sentences(self, part: str) -> Iterator[_Place]:
        for number, paragraph in enumerate(Story(self._tree(part)).paragraphs()):
            text = paragraph.text
            is_heading = self._is_heading(paragraph)
            for span in sentence_spans(text):
                # Lawyers number whole clauses as headings.
                if not is_heading or _FINISHED.search(span.text):
                    yield _Place(part, number, paragraph.sentence(span), text)

    def _is_heading(self, paragraph: WordParagraph) -> bool:
        style = paragraph.node.find(f"{w('pPr')}/{w('pStyle')}")
        return style is not None and style.get(w("val")) in self._headings


def _value(style: "Node", name: str) -> str:
    node = style.find(w(name))
    return "" if node is None else node.get(w("val"), "")


def _revision(place: _Place, rewrite: Rewrite, report: DocumentReport) -> Revision | None:
    if not rewrite.is_split:
        return None
    sentence = place.sentence
    plan = None if sentence.obstacle else plan_sentence(sentence, place.text, rewrite)
    if plan is None:
        report.left_alone[sentence.obstacle or MOVES] += 1
        return None
    return Revision(sentence, plan, f"Parataxis ({rewrite.splitter})")
