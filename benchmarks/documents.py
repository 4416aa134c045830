"""How many sentences of a contract can be split in its Word file, the time it takes, and the result
as LibreOffice renders it.

    python benchmarks/documents.py --output FOLDER

The program writes to FOLDER a generated contract (headings, numbered clauses, a table, footnotes,
fields, links, comments, existing tracked changes), the contract with its sentences split, and the
contract with the splits as tracked changes. If LibreOffice and pdftoppm are installed, it also
writes all three as PDF and PNG, and compares the text that LibreOffice reads with the rewrites.
"""

import argparse
import io
import shutil
import subprocess
import time
import zipfile
from collections.abc import Sequence
from copy import deepcopy
from pathlib import Path

import docx
from docx.enum.text import WD_ALIGN_PARAGRAPH
from docx.opc.constants import RELATIONSHIP_TYPE
from docx.oxml import OxmlElement, parse_xml
from docx.oxml.ns import nsdecls, qn
from docx.text.paragraph import Paragraph

from parataxis.api import Splitter
from parataxis.run.documents.docx import DocxDocument

PARTIES = (
    "This Agreement is made on 3 May 2024 between **Harrow Lane Estates Limited**, a company "
    "registered in England, which owns the building described in Schedule 1 (the **Landlord**), "
    "and **Mira Okafor**, who lives at 14 Quay Street in Bristol and works as a potter (the "
    "**Tenant**)."
)
CLAUSES = {
    "The premises": [
        "The Landlord lets the workshop on the ground floor, which has two windows to the yard, to "
        "the Tenant, and the Tenant accepts it in the condition described in {ref:Schedule 1}.",
        "The Tenant may use the yard, which is shared with the other tenants, for deliveries, but "
        "she may not park there overnight unless the Landlord agrees in writing.",
        "The kiln, which was installed by the previous tenant in 2019, remains the property of the "
        "Landlord{note:The kiln was inspected on 2 April 2024; the report, which runs to six "
        "pages, is kept at the Landlord's office.}, and the Tenant shall keep it in good repair.",
    ],
    "Rent and costs": [
        "The Tenant shall pay a monthly *rent* of £1,150, which includes water but excludes "
        "electricity, on the first working day of each month, and the Landlord shall send a "
        "receipt within ten days.",
        "If the Tenant fails to pay the rent within fourteen days after it is due, the Landlord, "
        "having given written notice, may charge interest at the rate set out in "
        "{ref:Schedule 2}, which is reviewed every January.",
        "The Landlord shall insure the building, and the Tenant, who must insure her own tools and "
        "materials, shall give the Landlord a copy of her policy before she moves in.",
        "Details of the insurer are published at {link:the register of the regulator}, and the "
        "Tenant should consult them before she makes a claim.",
    ],
    "Repairs": [
        "The Landlord, acting through its surveyor, Ms Ilse Brandt, may enter the workshop at any "
        "reasonable time to inspect it, provided that the Tenant has received two days' notice.",
        "The Tenant shall repair any damage caused by her visitors, who include customers and "
        "pupils, and {comment:she shall tell the Landlord} about it without delay.",
        "The Landlord repaired the roof in 2022, so the Tenant {ins:does not }have to pay for it.",
        "Gas appliances must be checked every year by an engineer, who must be registered, and the "
        "certificate must be displayed beside the kiln.",
    ],
    "End of the lease": [
        "This lease ends on 2 May 2027, but the Tenant may end it earlier by giving three months' "
        "notice in writing, which takes effect on the last day of a month.",
        "When the lease ends, the Tenant shall remove her tools, clean the workshop and return all "
        "keys, and the Landlord, having inspected the workshop, shall repay the deposit within "
        "thirty days.",
        "Having received the keys, the Landlord may let the workshop to somebody else.",
        "The Landlord may end the lease at once if the Tenant, after a written warning, continues "
        "to fire the kiln at night, which is forbidden by {ref:Schedule 2}.",
    ],
}
TABLE = [
    ("Item", "Who pays, and when"),
    ("Electricity", "The Tenant pays for electricity, which is metered, at the end of each "
     "quarter, and the Landlord sends her the bill."),
    ("Cleaning", "The Landlord."),
]  # fmt: skip
PLAIN = [
    "The deposit is £2,000.",
    "Notices must be in writing.",
    "The law of England applies to this Agreement.",
]
WORDS_OF_A_PAGE = 500


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--output", type=Path, required=True, help="where the files are written")
    parser.add_argument("--copies", type=int, default=1, help="how often the clauses are repeated")
    options = parser.parse_args()
    folder: Path = options.output
    folder.mkdir(parents=True, exist_ok=True)
    data = contract(options.copies)
    (folder / "contract.docx").write_bytes(data)

    splitter = Splitter()
    next(splitter.pipe(["It rained."]))  # the models are loaded
    start, cpu = time.perf_counter(), time.process_time()
    document = DocxDocument(data, "contract.docx")
    reading = time.perf_counter() - start
    rewrites = list(splitter.pipe(document.sentences))
    splitting = time.perf_counter() - start - reading
    simple, report = document.rewritten(rewrites)
    tracked, _ = document.rewritten(rewrites, tracked=True)
    writing = time.perf_counter() - start - reading - splitting
    cpu = time.process_time() - cpu
    (folder / "simple.docx").write_bytes(simple)
    (folder / "tracked.docx").write_bytes(tracked)

    wanted = sum(rewrite.is_split for rewrite in rewrites)
    pages = sum(len(s.split()) for s in document.sentences) / WORDS_OF_A_PAGE
    print(f"{report.sentences} sentences, {wanted} that the splitter splits: {report.split} split")
    print(report.note() or "none left alone")
    print(
        f"{pages:.1f} pages of {WORDS_OF_A_PAGE} words: reading {reading:.2f} s, splitting "
        f"{splitting:.2f} s, writing twice {writing:.2f} s; "
        f"{(reading + splitting + writing) / pages:.2f} s a page, {cpu / pages:.2f} s of CPU"
    )
    if shutil.which("soffice"):
        check_with_libreoffice(folder, DocxDocument(simple).sentences)


def squeezed(text: str) -> str:
    """Text without white space and digits, because some digits are references to notes."""
    return "".join(char for char in text if not char.isspace() and not char.isdigit())


def check_with_libreoffice(folder: Path, wanted: Sequence[str]) -> None:
    """Have LibreOffice read the results, and render them if pdftoppm is installed."""
    for name in ("contract", "simple", "tracked"):
        convert(folder, f"{name}.docx", "pdf")
        if shutil.which("pdftoppm"):
            command = ["pdftoppm", "-r", "70", "-png", f"{name}.pdf", name]
            subprocess.run(command, cwd=folder, check=True)
    # Headers and notes are in the PDF alone, and sentences over two pages in the text alone.
    convert(folder, "simple.docx", "txt:Text (encoded):UTF8")
    if shutil.which("pdftotext"):
        subprocess.run(["pdftotext", "simple.pdf", "simple.pdf.txt"], cwd=folder, check=True)
    texts = [path.read_text(encoding="utf-8-sig") for path in folder.glob("simple*.txt")]
    shown = squeezed(" ".join(texts))
    lost = [sentence for sentence in wanted if squeezed(sentence) not in shown]
    print(f"LibreOffice reads {len(wanted) - len(lost)} of {len(wanted)} sentences as written")
    for sentence in lost:
        print(f"  not: {sentence}")


def convert(folder: Path, name: str, form: str) -> None:
    command = ["soffice", "--headless", "--convert-to", form, name]
    subprocess.run(command, cwd=folder, check=True, capture_output=True)


def contract(copies: int) -> bytes:
    """The contract as a Word file."""
    document = docx.Document()
    document.core_properties.title = "Lease of a workshop"
    document.sections[0].header.paragraphs[0].text = "Lease of the workshop at Harrow Lane"
    document.sections[0].footer.paragraphs[0].text = "Signed in two copies; each party keeps one."
    document.add_heading("Lease of a workshop", 0)
    add(document.add_paragraph(), PARTIES, [])
    notes: list[str] = []
    for number in range(copies):
        for title, clauses in CLAUSES.items():
            document.add_heading(title, 1)
            for clause in clauses:
                add(document.add_paragraph(style="List Number"), clause, notes)
        if number == 0:
            add_table(document)
    for text in PLAIN:
        document.add_paragraph(text, style="List Bullet")
    for number, text in enumerate(["the workshop", "interest and hours"], start=1):
        bookmark(document.add_paragraph(f"Schedule {number}"), f"_Ref{number}").add_run(f": {text}")
    last = document.add_paragraph("Bristol, 3 May 2024")
    last.alignment = WD_ALIGN_PARAGRAPH.RIGHT
    stream = io.BytesIO()
    document.save(stream)
    return with_notes(stream.getvalue(), notes)


def bookmark(paragraph: Paragraph, name: str) -> Paragraph:
    """The paragraph with a bookmark around its content."""
    for kind, place in (("bookmarkStart", 0), ("bookmarkEnd", len(paragraph._p))):
        node = OxmlElement(f"w:{kind}")
        node.set(qn("w:id"), name.removeprefix("_Ref"))
        node.set(qn("w:name"), name)
        paragraph._p.insert(place + (kind == "bookmarkEnd"), node)
    return paragraph


def add_table(document: "docx.document.Document") -> None:
    table = document.add_table(rows=0, cols=2, style="Table Grid")
    for row in TABLE:
        for cell, text in zip(table.add_row().cells, row, strict=True):
            cell.text = text


def add(paragraph: Paragraph, text: str, notes: list[str]) -> None:
    """Add text with **bold** and *italic* words and {kind:content} for other elements."""
    for index, part in enumerate(text.replace("}", "{").split("{")):
        kind, _, content = part.partition(":") if index % 2 else ("", "", part)
        match kind:
            case "":
                add_words(paragraph, content)
            case "ref":
                add_field(paragraph, content)
            case "note":
                notes.append(content)
                run = paragraph.add_run()
                run.font.superscript = True
                reference = OxmlElement("w:footnoteReference")
                reference.set(qn("w:id"), str(len(notes) + 1))
                run._r.append(reference)
            case "link":
                relation = paragraph.part.relate_to(
                    "https://example.org", RELATIONSHIP_TYPE.HYPERLINK, is_external=True
                )
                link = OxmlElement("w:hyperlink")
                link.set(qn("r:id"), relation)
                run = paragraph.add_run(content)
                run.font.underline = True
                link.append(run._r)
                paragraph._p.append(link)
            case "comment":
                run = paragraph.add_run(content)
                run.part.document.add_comment(
                    run, text="Within a week?", author="Eve", initials="E"
                )
            case "ins":
                inserted = OxmlElement("w:ins")
                inserted.set(qn("w:id"), "900")
                inserted.set(qn("w:author"), "Eve")
                inserted.append(paragraph.add_run(content)._r)
                paragraph._p.append(inserted)


def add_words(paragraph: Paragraph, text: str) -> None:
    for index, part in enumerate(text.split("**")):
        for number, piece in enumerate(part.split("*")):
            run = paragraph.add_run(piece)
            run.bold, run.italic = bool(index % 2) or None, bool(number % 2) or None


def add_field(paragraph: Paragraph, text: str) -> None:
    for kind in ("begin", "", "separate", "text", "end"):
        run = paragraph.add_run(text if kind == "text" else "")
        if kind == "":
            code = OxmlElement("w:instrText")
            code.text = f" REF _Ref{text[-1]} "
            run._r.append(code)
        elif kind != "text":
            char = OxmlElement("w:fldChar")
            char.set(qn("w:fldCharType"), kind)
            run._r.append(char)


def with_notes(data: bytes, notes: Sequence[str]) -> bytes:
    """The file with footnotes, which python-docx cannot create."""
    root = parse_xml(f"<w:footnotes {nsdecls('w')}/>")
    for number, kind in ((0, "separator"), (1, "continuationSeparator")):
        root.append(parse_xml(
            f'<w:footnote {nsdecls("w")} w:id="{number}" w:type="{kind}"><w:p><w:r><w:{kind}/>'
            "</w:r></w:p></w:footnote>"
        ))  # fmt: skip
    pattern = parse_xml(
        f'<w:footnote {nsdecls("w")} w:id="0"><w:p><w:r><w:rPr><w:vertAlign w:val="superscript"/>'
        "</w:rPr><w:footnoteRef/></w:r><w:r><w:t/></w:r></w:p></w:footnote>"
    )
    for number, text in enumerate(notes, start=2):
        note = deepcopy(pattern)
        note.set(qn("w:id"), str(number))
        shown = next(note.iter(qn("w:t")))
        shown.text = f" {text}"
        shown.set(qn("xml:space"), "preserve")
        root.append(note)
    kind = "officedocument.wordprocessingml.footnotes+xml"
    relation = "http://schemas.openxmlformats.org/officeDocument/2006/relationships/footnotes"
    added = {
        "[Content_Types].xml": (
            "</Types>", f'<Override PartName="/word/footnotes.xml" ContentType="application/vnd.'
            f'openxmlformats-{kind}"/></Types>'
        ),
        "word/_rels/document.xml.rels": (
            "</Relationships>", f'<Relationship Id="rIdNotes" Type="{relation}" '
            'Target="footnotes.xml"/></Relationships>'
        ),
    }  # fmt: skip
    stream = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(data)) as old, zipfile.ZipFile(stream, "w") as new:
        for info in old.infolist():
            content = old.read(info).decode() if info.filename in added else ""
            if content:
                new.writestr(info, content.replace(*added[info.filename]))
            else:
                new.writestr(info, old.read(info))
        from lxml.etree import tostring

        new.writestr("word/footnotes.xml", tostring(root, xml_declaration=True, encoding="UTF-8"))
    return stream.getvalue()


if __name__ == "__main__":
    main()
