"""Documents that can be read but not written: PDF, OpenDocument and RTF. Their text becomes a plain
Word document, which is then rewritten."""

import io
import re
import zipfile
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import NamedTuple
from xml.sax.saxutils import escape

from parataxis.errors import InputError, needs
from parataxis.rewrite.record import Rewrite
from parataxis.run.documents import DocumentFormat
from parataxis.run.documents.docx import Archive, DocxDocument


class ImportedParagraph(NamedTuple):
    """The text of a paragraph, and whether it is a heading."""

    text: str
    is_heading: bool = False


_LOST = {
    DocumentFormat.PDF: "Only the text layer of a PDF is read, and its paragraphs are guessed",
    DocumentFormat.ODT: "Only paragraphs and headings of an OpenDocument text are read",
    DocumentFormat.RTF: "Only the text of an RTF document is read",
}


class ImportedDocument(DocxDocument):
    """A document of another format as a plain Word document. Raises InputError if the bytes are not
    of that format, are protected by a password, or hold no text."""

    def __init__(self, data: bytes, name: str, form: DocumentFormat) -> None:
        readers = {
            DocumentFormat.PDF: _read_pdf,
            DocumentFormat.ODT: _read_odt,
            DocumentFormat.RTF: _read_rtf,
        }
        found = [each for each in readers[form](data, name) if each.text.strip()]
        if not found:
            scan = ", only pictures of it: recognise it first (OCR)"
            raise InputError(f"{name} has no text{scan if form is DocumentFormat.PDF else ''}.")
        self.loss = (
            f"{_LOST[form]}: formatting, pictures, tables and notes are lost. The result is written"
            " as Word or text."
        )
        super().__init__(word_document(found), name)

    def rewritten_text(self, rewrites: Sequence[Rewrite]) -> str:
        """The text with the rewrites of all its sentences, a blank line between paragraphs."""
        left = iter(rewrites)
        parts = []
        for paragraph in self.paragraphs:
            text, end = [], 0
            for sentence in paragraph.sentences:
                simple = " ".join(next(left).simple)
                text += [paragraph.text[end : sentence.start], simple]
                end = sentence.end
            parts.append("".join([*text, paragraph.text[end:]]))
        return "\n\n".join(parts) + "\n"


# Word --------------------------------------------------------------------------------------------

_W = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
_OFFICE = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
_PACKAGE = "http://schemas.openxmlformats.org/package/2006"
_WORD = "application/vnd.openxmlformats-officedocument.wordprocessingml"
_NOT_XML = re.compile(r"[^\t\n\r -\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_START = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n'
_HEADING = '<w:pPr><w:pStyle w:val="Heading1"/></w:pPr>'
_STYLES = (
    f'<w:styles xmlns:w="{_W}"><w:style w:type="paragraph" w:styleId="Heading1">'
    '<w:name w:val="heading 1"/><w:rPr><w:b/></w:rPr></w:style></w:styles>'
)
_TYPES = (
    f'<Types xmlns="{_PACKAGE}/content-types"><Default Extension="rels" '
    'ContentType="application/vnd.openxmlformats-package.relationships+xml"/>'
    f'<Override PartName="/word/document.xml" ContentType="{_WORD}.document.main+xml"/>'
    f'<Override PartName="/word/styles.xml" ContentType="{_WORD}.styles+xml"/></Types>'
)


def word_document(paragraphs: Sequence[ImportedParagraph]) -> bytes:
    """A plain Word document of paragraphs (ECMA-376, part 1)."""
    body = "".join(
        f'<w:p>{_HEADING if each.is_heading else ""}<w:r><w:t xml:space="preserve">'
        f"{escape(_NOT_XML.sub('', each.text))}</w:t></w:r></w:p>"
        for each in paragraphs
    )
    parts = {
        "[Content_Types].xml": _TYPES,
        "_rels/.rels": _relations("officeDocument", "word/document.xml"),
        "word/document.xml": f'<w:document xmlns:w="{_W}"><w:body>{body}</w:body></w:document>',
        "word/styles.xml": _STYLES,
        "word/_rels/document.xml.rels": _relations("styles", "styles.xml"),
    }
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
        for part, text in parts.items():
            archive.writestr(part, _START + text)
    return stream.getvalue()


def _relations(kind: str, target: str) -> str:
    return (
        f'<Relationships xmlns="{_PACKAGE}/relationships"><Relationship Id="rId1" '
        f'Type="{_OFFICE}/{kind}" Target="{target}"/></Relationships>'
    )


# OpenDocument and RTF ----------------------------------------------------------------------------

_NO_TEXT = "descendant::text:note|descendant::office:annotation|descendant::text:ruby-text"
_RUNNING = "//text:p[not({0})]|//text:h[not({0})]".format(
    "ancestor::text:note or ancestor::office:annotation or ancestor::text:tracked-changes"
    " or ancestor::text:table-of-content or ancestor::draw:frame"
)


def _read_odt(data: bytes, name: str) -> Iterator[ImportedParagraph]:
    with needs("OpenDocument texts need odfdo", "documents"):
        import odfdo

    archive = Archive(data, name, "an OpenDocument text")
    if "content.xml" not in archive.names() or not archive.read("mimetype").startswith(
        b"application/vnd.oasis.opendocument.text"
    ):
        raise InputError(f"{name} is not an OpenDocument text.")
    if b"encryption-data" in archive.read("META-INF/manifest.xml"):
        raise InputError(f"{name} is protected by a password; save it without one.")
    try:
        found = odfdo.Document(io.BytesIO(data)).body.get_elements(_RUNNING)
    except Exception as error:  # a damaged file ends in any error of the library
        raise InputError(f"{name} is not an OpenDocument text, or is damaged.") from error
    for element in found:
        for inner in element.get_elements(_NO_TEXT):
            inner.delete(keep_tail=True)
        yield ImportedParagraph(" ".join(element.inner_text.split()), element.tag == "text:h")


def _read_rtf(data: bytes, name: str) -> Iterator[ImportedParagraph]:
    with needs("RTF documents need striprtf", "documents"):
        from striprtf.striprtf import rtf_to_text

    if not data.lstrip().startswith(b"{\\rtf"):
        raise InputError(f"{name} is not an RTF document.")
    try:
        text = rtf_to_text(data.decode("latin-1"), errors="replace")
    except Exception as error:  # a damaged file ends in any error of the library
        raise InputError(f"{name} is not an RTF document, or is damaged.") from error
    for line in text.split("\n"):
        yield ImportedParagraph(" ".join(line.split()))


# PDF ---------------------------------------------------------------------------------------------

_FULL = 0.8
"""A line that is shorter than this share of the longest ones may end a paragraph."""
_ENDED = re.compile(r"[.!?:;][\"'”’)\]]*$")
_ITEM = re.compile(r"(?:[-–•*▪●]|\(?[a-z0-9]{1,3}[.)])\s")
_NUMBER = re.compile(r"(?:page\s+)?[\divxlc]{1,5}(?:\s*(?:of|/)\s*\d{1,4})?", re.IGNORECASE)
_OFTEN = 3
"""Pages whose first or last line is the same have it as a header or footer."""


def _read_pdf(data: bytes, name: str) -> Iterator[ImportedParagraph]:
    with needs("PDF documents need pypdf", "documents"):
        import pypdf

    if b"%PDF-" not in data[:1024]:
        raise InputError(f"{name} is not a PDF document.")
    try:
        reader = pypdf.PdfReader(io.BytesIO(data))
        is_open = not reader.is_encrypted or reader.decrypt("")
        pages = [page.extract_text().splitlines() for page in reader.pages] if is_open else []
    except Exception as error:  # a damaged file ends in any error of the library
        raise InputError(f"{name} is not a PDF document, or is damaged.") from error
    if not is_open:
        raise InputError(f"{name} is protected by a password; save it without one.")
    for paragraph in pdf_paragraphs(pages):
        yield ImportedParagraph(paragraph)


def pdf_paragraphs(pages: Sequence[Sequence[str]]) -> Iterator[str]:
    """The paragraphs in the lines of pages, without page numbers, headers and footers.

    >>> list(pdf_paragraphs([["The mill, which was", "built long ago, burnt", "down.", "It rai-"],
    ...                      ["ned on that very day.", "2"]]))
    ['The mill, which was built long ago, burnt down.', 'It rained on that very day.']
    """
    kept = [[line.strip() for line in page] for page in pages]
    edges = Counter(line for page in kept for line in {*page[:1], *page[-1:]})
    for page in kept:
        for edge in (0, -1):
            if page and (edges[page[edge]] >= _OFTEN or _NUMBER.fullmatch(page[edge])):
                page.pop(edge)
    lines = [line for page in kept for line in page]
    longest = sorted(map(len, lines))[len(lines) * 9 // 10] if lines else 0
    text = before = ""
    for line in lines:
        is_end = len(before) < _FULL * longest and _ENDED.search(before)
        if text and (not line or is_end or _ITEM.match(line)):
            yield text
            text = ""
        if text.endswith("-") and line[:1].islower():
            text = text[:-1] + line
        else:
            text = f"{text} {line}".strip()
        before = line
    if text:
        yield text
