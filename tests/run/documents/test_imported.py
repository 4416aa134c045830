"""PDF, OpenDocument and RTF: what is read of them, and the Word document that comes out."""

import io
import zipfile
from collections.abc import Callable
from itertools import chain, repeat
from pathlib import Path

import docx
import odfdo
import pypdf
import pytest

from parataxis import InputError, Rewrite
from parataxis.run.documents import DocumentFormat, open_document
from parataxis.run.documents.imported import (
    ImportedDocument,
    ImportedParagraph,
    PdfLine,
    pdf_paragraphs,
    word_document,
)

MILL = "The mill, which was built in 1811, burnt down."
SPLIT = ("The mill burnt down.", "The mill was built in 1811.")


def make_pdf(*pages: str, first: int = 11) -> bytes:
    """A PDF whose pages have these lines as their text layer; ``first`` is the size of the first
    line of a page."""
    parts = [
        "<< /Type /Catalog /Pages 2 0 R >>",
        f"<< /Type /Pages /Kids [{' '.join(f'{4 + 2 * i} 0 R' for i in range(len(pages)))}] "
        f"/Count {len(pages)} >>",
        "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
    ]
    for number, page in enumerate(pages):
        shown = " ".join(
            f"/F1 {size} Tf ({line}) Tj T*"
            for line, size in zip(page.splitlines(), chain([first], repeat(11)), strict=False)
        )
        body = f"BT 60 780 Td 24 TL {shown} ET"
        parts.append(
            f"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Contents {5 + 2 * number} 0 R "
            "/Resources << /Font << /F1 3 0 R >> >> >>"
        )
        parts.append(f"<< /Length {len(body)} >>\nstream\n{body}\nendstream")
    out, places = b"%PDF-1.4\n", []
    for number, part in enumerate(parts, start=1):
        places.append(len(out))
        out += f"{number} 0 obj\n{part}\nendobj\n".encode()
    table = "".join(f"{place:010d} 00000 n \n" for place in places)
    end = f"xref\n0 {len(parts) + 1}\n0000000000 65535 f \n{table}"
    trailer = f"trailer << /Size {len(parts) + 1} /Root 1 0 R >>\nstartxref\n{len(out)}\n%%EOF"
    return out + (end + trailer).encode()


def make_odt() -> bytes:
    document = odfdo.Document("text")
    document.body.append(odfdo.Header(1, "The mill"))
    paragraph = odfdo.Paragraph(MILL)
    paragraph.insert_note(after="mill", note_id="n1", citation="1", body="It is a note.")
    document.body.append(paragraph)
    stream = io.BytesIO()
    document.save(stream)
    return stream.getvalue()


RTF = rb"{\rtf1\ansi{\fonttbl{\f0 Arial;}}\f0\b The mill\b0\par " + MILL.encode() + rb"\par}"


def _rewritten(document: ImportedDocument) -> list[Rewrite]:
    return [
        Rewrite(source=each, simple=SPLIT if each == MILL else (each,), splitter="mine")
        for each in document.sentences
    ]


@pytest.mark.parametrize(
    ("name", "make", "headings"),
    [
        ("a.pdf", lambda: make_pdf(f"The mill.\n{MILL}"), ["The mill."]),
        ("a.odt", make_odt, ["The mill"]),
        ("a.rtf", lambda: RTF, ["The mill"]),
    ],
)
def test_imported_becomes_word_or_text(
    name: str, make: Callable[[], bytes], headings: list[str]
) -> None:
    document = open_document(make(), name)
    assert isinstance(document, ImportedDocument)
    assert "are lost" in document.loss
    data, report = document.rewritten(_rewritten(document))
    assert report.split == 1
    made = [each.text for each in docx.Document(io.BytesIO(data)).paragraphs]
    assert made == [*headings, " ".join(SPLIT)]
    assert document.rewritten_text(_rewritten(document)) == "\n\n".join(made) + "\n"
    tracked, _ = document.rewritten(_rewritten(document), tracked=True)
    assert b"<w:ins " in zipfile.ZipFile(io.BytesIO(tracked)).read("word/document.xml")


def test_imported_headings_of_opendocument_are_no_sentences() -> None:
    assert open_document(make_odt(), "a.odt").sentences == [MILL]


def test_imported_paragraphs_of_pages() -> None:
    pages = [
        ["The Annual Report", "The mill, which was built in the year 1811 by", "Ann, burnt down."],
        ["The Annual Report", "It rained on that day, and the water of the ri-", "ver rose fast"],
        ["The Annual Report", "and high.", "1. Ann came.", "2. Bo left.", "3"],
    ]
    found = list(pdf_paragraphs([[PdfLine(line) for line in page] for page in pages]))
    assert [each.text for each in found] == [
        "The mill, which was built in the year 1811 by Ann, burnt down.",
        "It rained on that day, and the water of the river rose fast and high.",
        "1. Ann came.",
        "2. Bo left.",
    ]


def test_imported_headings_of_a_pdf_are_larger() -> None:
    lines = [
        PdfLine("The ﬁrst mill", 18, 700),
        PdfLine("The mill, which was built in the year 1811 by Ann Reed,", 12, 660),
        PdfLine("who lived in the town, burnt down on that Monday in May.", 12, 646),
        PdfLine("In bold", 12, 610),
        PdfLine("It rained, and the water of the river rose fast and as high", 12, 588),
        PdfLine("as the bridge.", 12, 574),
        PdfLine("7 A note at the end.", 8, 100),
    ]
    assert list(pdf_paragraphs([lines])) == [
        ("The ﬁrst mill", True),
        (f"{lines[1].text} {lines[2].text}", False),
        ("In bold", False),
        (f"{lines[4].text} as the bridge.", False),
        ("7 A note at the end.", False),
    ]


def test_imported_pdf_tells_headings_by_their_size() -> None:
    data = make_pdf(f"The \\257ood\n{MILL}", first=18)  # Adobe's standard encoding of the ligature
    document = open_document(data, "a.pdf")
    assert document.sentences == [MILL]
    assert document.paragraphs[0].text == "The flood"


def _encrypted() -> bytes:
    writer = pypdf.PdfWriter(clone_from=io.BytesIO(make_pdf(MILL)))
    writer.encrypt("secret", algorithm="RC4-128")
    stream = io.BytesIO()
    writer.write(stream)
    return stream.getvalue()


def _locked_odt() -> bytes:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        archive.writestr("mimetype", "application/vnd.oasis.opendocument.text")
        archive.writestr("content.xml", "secret")
        archive.writestr("META-INF/manifest.xml", "<manifest:encryption-data/>")
    return stream.getvalue()


@pytest.mark.parametrize(
    ("name", "make", "reason"),
    [
        ("a.pdf", _encrypted, "a.pdf is protected by a password; save it without one."),
        ("a.odt", _locked_odt, "a.odt is protected by a password; save it without one."),
        (
            "a.pdf",
            lambda: make_pdf(""),
            "a.pdf has no text, only pictures of it: recognise it first (OCR).",
        ),
        ("a.pdf", lambda: b"no PDF", "a.pdf is not a PDF document."),
        ("a.pdf", lambda: b"%PDF-1.4 cut off", "a.pdf is not a PDF document, or is damaged."),
        ("a.rtf", lambda: b"no RTF", "a.rtf is not an RTF document."),
        ("a.rtf", lambda: rb"{\rtf1}", "a.rtf has no text."),
        ("a.odt", lambda: b"no zip", "a.odt is not an OpenDocument text, or is damaged."),
        (
            "a.odt",
            lambda: word_document([ImportedParagraph("Ann came.")]),
            "a.odt is not an OpenDocument text.",
        ),
    ],
)
def test_imported_refuses(name: str, make: Callable[[], bytes], reason: str) -> None:
    with pytest.raises(InputError) as caught:
        open_document(make(), name)
    assert str(caught.value) == reason


def test_imported_text_is_safe_in_xml(tmp_path: Path) -> None:
    data = word_document([ImportedParagraph("a\x00b & <w:t> \U0001f600", is_heading=True)])
    paragraph = docx.Document(io.BytesIO(data)).paragraphs[0]
    assert paragraph.text == "ab & <w:t> \U0001f600"
    assert paragraph.style.name == "Heading 1"
    assert DocumentFormat.WORD.is_written
    assert not DocumentFormat.PDF.is_written
