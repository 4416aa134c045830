"""Documents that can be read but not written: PDF, OpenDocument and RTF. Their text becomes a plain
Word document, which is then rewritten."""

import io
import re
import zipfile
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple
from xml.sax.saxutils import escape

from parataxis.errors import InputError, needs
from parataxis.rewrite.record import Rewrite
from parataxis.run.documents import DocumentFormat
from parataxis.run.documents.docx import Archive, DocxDocument

if TYPE_CHECKING:
    from pypdf import PageObject


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
_LARGER = 1.1
"""How many times as large as most of the text a heading is at least."""
_APART = 1.4
"""How many times as far apart as most lines two paragraphs are at least."""
_ENDED = re.compile(r"[.!?:;][\"'”’)\]]*$")
_ITEM = re.compile(r"(?:[-–•*▪●]|\(?[a-z0-9]{1,3}[.)])\s")
_NUMBER = re.compile(r"(?:page\s+)?[\divxlc]{1,5}(?:\s*(?:of|/)\s*\d{1,4})?", re.IGNORECASE)
_OFTEN = 3
"""Pages whose first or last line is the same have it as a header or footer."""
_LIGATURES = str.maketrans({"ﬀ": "ff", "ﬁ": "fi", "ﬂ": "fl", "ﬃ": "ffi", "ﬄ": "ffl"})


class PdfLine(NamedTuple):
    """A line of a page, the size of its letters, and how high on the page it stands."""

    text: str
    size: float = 0
    height: float = 0


def _read_pdf(data: bytes, name: str) -> Iterator[ImportedParagraph]:
    with needs("PDF documents need pypdf", "documents"):
        import pypdf

    if b"%PDF-" not in data[:1024]:
        raise InputError(f"{name} is not a PDF document.")
    try:
        reader = pypdf.PdfReader(io.BytesIO(data))
        is_open = not reader.is_encrypted or reader.decrypt("")
        pages = [_pdf_lines(page) for page in reader.pages] if is_open else []
    except Exception as error:  # a damaged file ends in any error of the library
        raise InputError(f"{name} is not a PDF document, or is damaged.") from error
    if not is_open:
        raise InputError(f"{name} is protected by a password; save it without one.")
    yield from pdf_paragraphs(pages)


def _pdf_lines(page: "PageObject") -> list[PdfLine]:
    """The lines of a page; the size and the height of a line are those of most of its letters."""
    pieces: list[tuple[str, float, float]] = []

    def visit(
        text: str, outer: Sequence[float], own: Sequence[float], _: object, size: float
    ) -> None:
        height = own[5] * outer[3] + outer[5]
        pieces.append((text, abs(size * (own[3] or own[1]) * (outer[3] or outer[1])), height))

    page.extract_text(visitor_text=visit)
    lines: list[list[tuple[str, float, float]]] = [[]]
    for text, size, height in pieces:
        first, *rest = text.translate(_LIGATURES).split("\n")
        lines[-1].append((first, size, height))
        lines += [[(each, size, height)] for each in rest]
    made = []
    for line in lines:
        _, size, height = max(line, key=lambda piece: len(piece[0].strip()), default=("", 0, 0))
        made.append(PdfLine("".join(text for text, *_ in line), size, height))
    return made


def pdf_paragraphs(pages: Sequence[Sequence[PdfLine]]) -> Iterator[ImportedParagraph]:
    """The paragraphs in the lines of pages, without page numbers, headers and footers.

    >>> first = [PdfLine("The mill", 18), PdfLine("It had stood", 12), PdfLine("emp-", 12)]
    >>> [each.text for each in pdf_paragraphs([first, [PdfLine("ty.", 12), PdfLine("2", 12)]])]
    ['The mill', 'It had stood empty.']
    """
    kept = [[line._replace(text=line.text.strip()) for line in page] for page in pages]
    edges = Counter(each for page in kept for each in {*map(_edge, page[:1] + page[-1:])})
    for page in kept:
        for at in (0, -1):
            if page and (edges[_edge(page[at])] >= _OFTEN or _NUMBER.fullmatch(page[at].text)):
                page.pop(at)
    lines = [line for page in kept for line in page]
    longest = sorted(len(line.text) for line in lines)[len(lines) * 9 // 10] if lines else 0
    usual = _most((line.size, len(line.text)) for line in lines)
    step = _most((a.height - b.height, 1) for a, b in pairwise(lines) if a.height > b.height)
    text, before = "", PdfLine("")
    for line in lines:
        is_ended = bool(_ENDED.search(before.text))
        is_short = len(before.text) < _FULL * longest
        is_apart = before.height - line.height > _APART * step > 0
        is_other = abs(line.size - before.size) > (_LARGER - 1) * usual
        starts = is_other or (is_apart and (is_ended or not line.text[:1].islower()))
        if text and (not line.text or (is_short and is_ended) or starts or _ITEM.match(line.text)):
            yield ImportedParagraph(text, before.size > _LARGER * usual)
            text = ""
        if text.endswith("-") and line.text[:1].islower():
            text = text[:-1] + line.text
        else:
            text = f"{text} {line.text}".strip()
        before = line
    if text:
        yield ImportedParagraph(text, before.size > _LARGER * usual)


def _edge(line: PdfLine) -> str:
    """What a header or footer is recognised by: it may have the number of the page."""
    return re.sub(r"\d+", "", line.text)


def _most(numbers: Iterable[tuple[float, int]]) -> float:
    """The number that most of the text has, or 0; each comes with what it counts for."""
    counts: Counter[float] = Counter()
    for number, weight in numbers:
        counts[round(number, 1)] += weight
    return max(counts, key=counts.__getitem__, default=0)
