"""Word documents: what a rewrite changes, what it leaves, and that each split can be undone."""

import io
import zipfile
from collections.abc import Sequence
from copy import deepcopy
from datetime import UTC, datetime
from functools import cache
from random import Random
from xml.sax.saxutils import escape

import docx
import pytest
from docx.opc.constants import RELATIONSHIP_TYPE
from hypothesis import event, given, settings
from hypothesis import strategies as st
from lxml import etree

from parataxis.errors import InputError
from parataxis.rewrite.record import Rewrite
from parataxis.run.documents import DocumentReport
from parataxis.run.documents.docx import DocxDocument

URI = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
W = f"{{{URI}}}"
SPACE = "{http://www.w3.org/XML/1998/namespace}space"
DATE = datetime(2026, 3, 1, 12, tzinfo=UTC)
MAIN = "word/document.xml"

SOURCE = "Ann, who sang, left the house."
SIMPLE = ["Ann left the house.", "Ann sang."]
BY_SOURCE = {
    SOURCE: SIMPLE,
    "Ann came; Bob left.": ["Ann came.", "Bob left."],
    "The Tenant, who signed Section 4, shall pay the rent.": [
        "The Tenant shall pay the rent.",
        "The Tenant signed Section 4.",
    ],
}


@cache
def template() -> bytes:
    stream = io.BytesIO()
    docx.Document().save(stream)
    return stream.getvalue()


def word(*paragraphs: str, **parts: str) -> bytes:
    """A document with these paragraphs (the XML inside w:p, or all of a w:p or another block)."""
    body = "".join(p if p.startswith(("<w:p>", "<w:tbl>", "<w:sdt>")) else f"<w:p>{p}</w:p>"
                   for p in paragraphs)  # fmt: skip
    main = (
        f'<w:document xmlns:w="{URI}" xmlns:r="http://schemas.openxmlformats.org/officeDocument/'
        f'2006/relationships"><w:body>{body}<w:sectPr/></w:body></w:document>'
    )
    return with_parts(template(), {MAIN: main, **parts})


def with_parts(data: bytes, parts: dict[str, str]) -> bytes:
    """The file with some parts put in the place of others, or added to them."""
    stream = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(data)) as old, zipfile.ZipFile(stream, "w") as new:
        for info in old.infolist():
            new.writestr(info, parts.get(info.filename) or old.read(info))
    return stream.getvalue()


def r(text: str, properties: str = "") -> str:
    """A run."""
    style = f"<w:rPr>{properties}</w:rPr>" if properties else ""
    return f'<w:r>{style}<w:t xml:space="preserve">{escape(text)}</w:t></w:r>'


def rewrites(document: DocxDocument) -> list[Rewrite]:
    return [
        Rewrite(source=text, simple=BY_SOURCE.get(text, [text]), splitter="mine")
        for text in document.sentences
    ]


def split(data: bytes, *, tracked: bool = False) -> tuple[bytes, DocumentReport]:
    document = DocxDocument(data, "a.docx")
    return document.rewritten(rewrites(document), tracked=tracked, date=DATE)


def tree(data: bytes, part: str = MAIN) -> etree._Element:
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        return etree.fromstring(archive.read(part))


def is_ours(node: etree._Element) -> bool:
    return node.get(f"{W}author", "").startswith("Parataxis")


def settle(root: etree._Element, *, accept: bool) -> etree._Element:
    """The part with our tracked changes accepted or rejected, as a word processor does it."""
    root = deepcopy(root)
    gone, kept = (W + "del", W + "ins") if accept else (W + "ins", W + "del")
    for node in [node for node in root.iter(gone, kept) if is_ours(node)]:
        parent = node.getparent()
        assert parent is not None
        for child in list(node) if node.tag == kept else []:
            for text in child.iter(W + "delText"):
                text.tag = W + "t"
            node.addprevious(child)
        parent.remove(node)
    return root


def normal(root: etree._Element) -> list[str]:
    """The part as a list of what follows what: neighbouring text of the same format is one."""
    found: list[tuple[str, str]] = []

    def add(kind: str, text: str = "") -> None:
        if found and text and found[-1][0] == kind:
            found[-1] = kind, found[-1][1] + text
        else:
            found.append((kind, text))

    def walk(node: etree._Element) -> None:
        if node.tag == W + "r":
            properties = node.find(W + "rPr")
            style = "" if properties is None else etree.tostring(properties, method="c14n").decode()
            for child in node.iterchildren("*"):
                if child.tag == W + "t":
                    text = child.text or ""
                    add(f"text {style}", text if child.get(SPACE) else text.strip())
                elif next(child.iter(W + "p"), None) is not None:
                    walk(child)
                elif child.tag != W + "rPr":
                    add(f"object {etree.tostring(child, method='c14n').decode()}")
            return
        add(f"<{node.tag} {sorted(node.attrib.items())}")
        for child in node.iterchildren("*"):
            walk(child)
        add(f">{node.tag}")

    walk(root)
    return [f"{kind}: {text}" if text else kind for kind, text in found]


def text(root: etree._Element) -> str:
    """The visible text, a line a paragraph."""
    return "\n".join(
        "".join(node.text or "" for node in p.iter(W + "t")) for p in root.iter(W + "p")
    )


def formats(root: etree._Element) -> list[tuple[str, str]]:
    """The texts of the same format, with the names of its properties."""
    found: list[tuple[str, str]] = []
    for run in root.iter(W + "r"):
        shown = "".join(t.text or "" for t in run.iter(W + "t"))
        style = " ".join(p.tag.removeprefix(W) for p in run.findall(f"{W}rPr/*"))
        if found and found[-1][1] == style:
            shown = found.pop()[0] + shown
        found.append((shown, style))
    return found


def check_round_trip(data: bytes, part: str = MAIN) -> etree._Element:
    """Rejecting gives the original, accepting gives what is made at once: it is returned."""
    tracked, plain = (tree(split(data, tracked=t)[0], part) for t in (True, False))
    assert normal(settle(tracked, accept=False)) == normal(tree(data, part))
    assert normal(settle(tracked, accept=True)) == normal(plain)
    return plain


def changes(root: etree._Element) -> list[str]:
    """Our tracked changes: "-deleted", "+inserted"."""
    return [
        ("+" if node.tag == W + "ins" else "-")
        + "".join(t.text or "" for t in node.iter(W + "t", W + "delText"))
        for node in root.iter(W + "ins", W + "del")
        if is_ours(node)
    ]


def test_docx_plain_sentence() -> None:
    data = word(r(f"It rained. {SOURCE} It rained."))
    assert DocxDocument(data).sentences == ["It rained.", SOURCE, "It rained."]
    plain = check_round_trip(data)
    assert text(plain) == "It rained. Ann left the house. Ann sang. It rained."


def test_docx_tracked_changes_are_small_signed_and_numbered() -> None:
    ours = r("Ann came; Bob left.")
    data = word(f'<w:bookmarkStart w:id="7" w:name="x"/><w:bookmarkEnd w:id="7"/>{ours}')
    root = tree(split(data, tracked=True)[0])
    assert changes(root) == ["-;", "+."]
    made = [node.attrib for node in root.iter(W + "ins", W + "del")]
    assert {node[f"{W}author"] for node in made} == {"Parataxis (mine)"}
    assert {node[f"{W}date"] for node in made} == {"2026-03-01T12:00:00Z"}
    assert sorted(int(node[f"{W}id"]) for node in made) == [8, 9]


def test_docx_words_keep_their_formatting() -> None:
    bold, italic, underlined = "<w:b/>", "<w:i/>", '<w:u w:val="single"/>'
    data = word(
        r("Ann", bold) + r(", who ") + r("sang", italic) + r(", ") + r("left", underlined)
        + r(" the house.")
    )  # fmt: skip
    plain = check_round_trip(data)
    assert formats(plain) == [
        ("Ann", "b"), (" ", ""), ("left", "u"), (" the house. ", ""), ("Ann", "b"), (" ", ""),
        ("sang", "i"), (".", ""),
    ]  # fmt: skip


def test_docx_formatting_inside_a_word() -> None:
    data = word(r("An") + r("n", "<w:b/>") + r(", who sang, left the house."))
    plain = check_round_trip(data)
    assert text(plain) == "Ann left the house. Ann sang."
    assert formats(plain)[:2] == [("An", ""), ("n", "b")]


def test_docx_properties_of_paragraphs_tables_and_sections_stay() -> None:
    item = (
        '<w:pPr><w:pStyle w:val="ListNumber"/><w:numPr><w:ilvl w:val="1"/><w:numId w:val="3"/>'
        f"</w:numPr></w:pPr>{r(SOURCE)}"
    )
    cell = f"<w:tbl><w:tr><w:tc><w:tcPr/><w:p>{r(SOURCE)}</w:p></w:tc></w:tr></w:tbl>"
    plain = check_round_trip(word(item, cell, r("(a) Ann came; Bob left.")))
    assert text(plain).split("\n") == [
        "Ann left the house. Ann sang.",
        "Ann left the house. Ann sang.",
        "(a) Ann came. Bob left.",
    ]
    assert len(plain.findall(f".//{W}numId")) == 1


def test_docx_unchanged_parts_are_the_same_bytes() -> None:
    data = word(r(SOURCE))
    out = split(data, tracked=True)[0]
    with zipfile.ZipFile(io.BytesIO(data)) as old, zipfile.ZipFile(io.BytesIO(out)) as new:
        assert old.namelist() == new.namelist()
        assert [n for n in old.namelist() if old.read(n) != new.read(n)] == [MAIN]
        assert new.testzip() is None


def test_docx_without_a_split_is_the_same_in_every_part() -> None:
    data = word(r("It rained."))
    out = split(data)[0]
    with zipfile.ZipFile(io.BytesIO(data)) as old, zipfile.ZipFile(io.BytesIO(out)) as new:
        assert all(old.read(name) == new.read(name) for name in old.namelist())


def test_docx_headers_footers_and_what_python_docx_makes() -> None:
    document = docx.Document()
    document.add_heading("Ann came; Bob left", 1)
    document.add_paragraph(SOURCE, style="List Bullet")
    document.sections[0].header.paragraphs[0].text = "Ann came; Bob left."
    document.sections[0].footer.paragraphs[0].text = SOURCE
    stream = io.BytesIO()
    document.save(stream)
    out, report = split(stream.getvalue())
    made = docx.Document(io.BytesIO(out))
    assert (report.sentences, report.split) == (3, 3)
    assert [p.text for p in made.paragraphs] == [
        "Ann came; Bob left", "Ann left the house. Ann sang.",
    ]  # fmt: skip
    assert made.paragraphs[1].style.name == "List Bullet"
    assert made.sections[0].header.paragraphs[0].text == "Ann came. Bob left."
    assert made.sections[0].footer.paragraphs[0].text == "Ann left the house. Ann sang."
    assert RELATIONSHIP_TYPE.STYLES in [rel.reltype for rel in made.part.rels.values()]


def test_docx_clauses_that_are_headings_are_split_and_titles_are_not() -> None:
    style = '<w:pPr><w:pStyle w:val="Heading2"/></w:pPr>'
    data = word(style + r("Ann came; Bob left"), style + r("Ann came; Bob left."))
    assert DocxDocument(data).sentences == ["Ann came; Bob left."]


NOTES = (
    f'<w:footnotes xmlns:w="{URI}"><w:footnote w:id="2"><w:p><w:r><w:footnoteRef/></w:r>'
    f"{r(' Ann came; Bob left.')}</w:p></w:footnote></w:footnotes>"
)
NOTE_TYPE = (
    '<Override PartName="/word/footnotes.xml" ContentType="application/vnd.openxmlformats-'
    'officedocument.wordprocessingml.footnotes+xml"/></Types>'
)


def test_docx_footnotes_are_split_and_stay_at_their_words() -> None:
    reference = '<w:r><w:footnoteReference w:id="2"/></w:r>'
    data = word(r("Ann, who sang") + reference + r(", left the house.") + reference)
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        all_parts = {name: archive.read(name) for name in archive.namelist()}
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as new:
        for name, content in {**all_parts, "word/footnotes.xml": NOTES.encode()}.items():
            if name == "[Content_Types].xml":
                content = content.replace(b"</Types>", NOTE_TYPE.encode())
            new.writestr(name, content)
    data = stream.getvalue()
    plain = check_round_trip(data)
    shown = "".join(
        "[2]" if node.tag == W + "footnoteReference" else node.text or ""
        for node in plain.iter(W + "t", W + "footnoteReference")
    )
    assert shown == "Ann left the house. Ann sang[2].[2]"
    notes = check_round_trip(data, "word/footnotes.xml")
    assert text(notes) == " Ann came. Bob left."


FIELD = (
    '<w:r><w:fldChar w:fldCharType="begin"/></w:r><w:r><w:instrText> REF x </w:instrText></w:r>'
    '<w:r><w:fldChar w:fldCharType="separate"/></w:r>{}'
    '<w:r><w:fldChar w:fldCharType="end"/></w:r>'
)
LINK = '<w:hyperlink r:id="rId9">{}</w:hyperlink>'
CONTROL = "<w:sdt><w:sdtPr/><w:sdtContent>{}</w:sdtContent></w:sdt>"
HOLDERS = [
    FIELD,
    LINK,
    CONTROL,
    '<w:fldSimple w:instr="REF x">{}</w:fldSimple>',
    '<w:smartTag w:element="x">{}</w:smartTag>',
    '<w:bookmarkStart w:id="1" w:name="x"/>{}<w:bookmarkEnd w:id="1"/>',
]
TENANT = "The Tenant, who signed {}, shall pay the rent."


def tenant(holder: str) -> str:
    before, after = TENANT.split("{}")
    return r(before) + holder + r(after)


@pytest.mark.parametrize("holder", HOLDERS)
def test_docx_what_is_around_words_stays_in_its_place(holder: str) -> None:
    inside = r("Section ", "<w:color w:val='0000FF'/>") + r("4", "<w:color w:val='0000FF'/>")
    data = word(tenant(holder.format(inside)))
    plain = check_round_trip(data)
    assert text(plain) == "The Tenant shall pay the rent. The Tenant signed Section 4."
    assert "".join(t for t, f in formats(plain) if f == "color") == "Section 4"
    out, report = split(data, tracked=True)
    assert report.split == 1
    assert not any("Section" in change for change in changes(tree(out)))


@pytest.mark.parametrize("holder", HOLDERS[:-1])
def test_docx_what_would_have_to_be_taken_apart_is_left_alone(holder: str) -> None:
    data = word(r("Ann, ") + holder.format(r("who sang, left")) + r(" the house."))
    out, report = split(data, tracked=True)
    assert report.split == 0
    assert report.left_alone.total() == 1
    assert normal(tree(out)) == normal(tree(data))


@pytest.mark.parametrize(
    ("holder", "name"), [(LINK, "hyperlink"), (CONTROL, "sdt"), (HOLDERS[4], "smartTag")]
)
def test_docx_a_sentence_inside_something_is_split_inside(holder: str, name: str) -> None:
    plain = check_round_trip(word(r("It rained. ") + holder.format(r(SOURCE))))
    assert text(plain) == "It rained. Ann left the house. Ann sang."
    home = plain.find(f".//{W}p")
    assert home is not None
    assert [etree.QName(child).localname for child in home] == ["r", name]


LEFT_ALONE = {
    "tracked changes already": [
        r("Ann, who sang, ") + '<w:ins w:id="1" w:author="Eve">' + r("left") + "</w:ins>"
        + r(" the house."),
        r("Ann, who sang,") + '<w:del w:id="1" w:author="Eve"><w:r><w:delText> not</w:delText>'
        "</w:r></w:del>" + r(" left the house."),
    ],
    "a tab or a line break": [
        r("Ann, who sang,") + "<w:r><w:br/></w:r>" + r("left the house."),
        r("Ann, who sang,") + "<w:r><w:tab/></w:r>" + r("left the house."),
    ],
    "a field around it": [FIELD.format(r(SOURCE)), HOLDERS[3].format(r(SOURCE))],
    "hidden text": [r("Ann, who ") + r("sang", "<w:vanish/>") + r(", left the house.")],
    "a content control that is filled or locked": [
        f'<w:sdt><w:sdtPr><w:lock w:val="contentLocked"/></w:sdtPr><w:sdtContent>{r(SOURCE)}'
        "</w:sdtContent></w:sdt>"
    ],
}  # fmt: skip


@pytest.mark.parametrize(
    ("reason", "xml"), [(reason, xml) for reason, cases in LEFT_ALONE.items() for xml in cases]
)
def test_docx_left_alone_and_counted(reason: str, xml: str) -> None:
    data = word(f"<w:p>{xml}</w:p>", r("Ann came; Bob left."))
    check_round_trip(data)
    out, report = split(data, tracked=True)
    assert (report.split, dict(report.left_alone)) == (1, {reason: 1})
    assert changes(tree(out)) == ["-;", "+."]


def test_docx_objects_and_other_scripts() -> None:
    formula = r("Ann, who sang ") + '<w:r><w:sym w:char="F0E0"/></w:r>' + r(", left the house.")
    hebrew = r("Ann, who sang ") + r("שלום", "<w:rtl/>") + r(", left the house.")
    document = DocxDocument(word(formula, hebrew))
    assert document.sentences[0] == "Ann, who sang \ufffc, left the house."
    made = [
        Rewrite(source=s, simple=["Ann left the house.", "Ann sang."], splitter="mine")
        for s in document.sentences
    ]
    report = document.rewritten(made)[1]
    assert dict(report.left_alone) == {
        "a picture, a formula or another object": 1,
        "text from right to left": 1,
    }


@pytest.mark.parametrize(
    "paragraph",
    [
        f'<w:p><w:pPr><w:rPr><w:ins w:id="1" w:author="Eve"/></w:rPr></w:pPr>{r(SOURCE)}</w:p>',
        '<w:sdt><w:sdtPr><w:dataBinding w:xpath="x"/></w:sdtPr><w:sdtContent>'
        f"<w:p>{r(SOURCE)}</w:p></w:sdtContent></w:sdt>",
        '<w:p><w:r><w:fldChar w:fldCharType="begin"/></w:r><w:r><w:instrText>TOC</w:instrText>'
        '</w:r><w:r><w:fldChar w:fldCharType="separate"/></w:r></w:p>'
        f'<w:p>{r(SOURCE)}</w:p><w:p><w:r><w:fldChar w:fldCharType="end"/></w:r></w:p>',
    ],
)
def test_docx_paragraphs_that_are_not_their_own(paragraph: str) -> None:
    data = word(paragraph, r("Ann came; Bob left."))
    assert changes(tree(split(data, tracked=True)[0])) == ["-;", "+."]


def test_docx_comments_bookmarks_and_page_breaks_stay() -> None:
    xml = (
        r("Ann, ") + '<w:commentRangeStart w:id="4"/>' + r("who sang, ")
        + '<w:r><w:lastRenderedPageBreak/><w:t>left</w:t></w:r><w:commentRangeEnd w:id="4"/>'
        '<w:r><w:commentReference w:id="4"/></w:r><w:proofErr w:type="gramStart"/>'
        '<w:bookmarkStart w:id="5" w:name="_GoBack"/><w:bookmarkEnd w:id="5"/>'
        + r(" the house.")
    )  # fmt: skip
    data = word(xml)
    document = DocxDocument(data)
    made = [
        Rewrite(
            source=SOURCE, simple=["Ann, who sang, left.", "She left the house."], splitter="mine"
        )
    ]
    out = document.rewritten(made, tracked=True)[0]
    assert changes(tree(out)) == ["+. She left"]
    assert normal(settle(tree(out), accept=False)) == normal(tree(data))


def test_docx_signs_and_spaces_of_runs() -> None:
    xml = (
        "<w:r><w:t>Ann, who </w:t></w:r>"  # without xml:space the space does not count
        '<w:r><w:t xml:space="preserve"> co</w:t><w:noBreakHyphen/><w:t>sang, left the house.'
        "</w:t></w:r>"
    )
    document = DocxDocument(word(xml))
    assert document.sentences == ["Ann, who co-sang, left the house."]
    made = [
        Rewrite(
            source=document.sentences[0],
            simple=["Ann left the house.", "Ann co-sang."],
            splitter="mine",
        )
    ]
    out = tree(document.rewritten(made)[0])
    shown = [node.text or "-" for node in out.iter(W + "t", W + "noBreakHyphen")]
    assert "".join(shown).replace("\u2011", "-") == "Ann left the house. Ann co-sang."


def test_docx_text_boxes() -> None:
    box = (
        f'<w:p><w:r><w:pict xmlns:v="urn:schemas-microsoft-com:vml"><v:shape><v:textbox>'
        f"<w:txbxContent><w:p>{r(SOURCE)}</w:p></w:txbxContent></v:textbox></v:shape></w:pict>"
        f"</w:r></w:p>"
    )
    assert "Ann left the house. Ann sang." in text(check_round_trip(word(box)))


# All that a paragraph can be made of, at random.

OBJECTS = [
    '<w:r><w:footnoteReference w:id="2"/></w:r>',
    "<w:r><w:lastRenderedPageBreak/></w:r>",
    '<w:bookmarkStart w:id="30" w:name="y"/><w:bookmarkEnd w:id="30"/>',
    '<w:commentRangeStart w:id="31"/>',
    '<w:commentRangeEnd w:id="31"/>',
    '<w:proofErr w:type="spellStart"/>',
]
WORDS = ["Ann", "the", "old", "house", "who", "sang", "and", "left", "Rome", "in", "May"]
STYLES = ["", "<w:b/>", "<w:i/>", '<w:b/><w:u w:val="single"/>']


@st.composite
def random_paragraphs(draw: st.DrawFn) -> tuple[str, str, list[str]]:
    """A paragraph of one sentence in pieces, its text, and a rewrite of it."""
    words = draw(st.lists(st.sampled_from(WORDS), min_size=3, max_size=12))
    random = Random(draw(st.integers(0, 10**6)))
    sentence = " ".join(words) + "."
    cuts = sorted(
        random.sample(range(1, len(sentence)), min(len(sentence) - 1, random.randint(0, 6)))
    )
    pieces = [sentence[a:b] for a, b in zip([0, *cuts], [*cuts, len(sentence)], strict=True)]
    xml = []
    for piece in pieces:
        run = r(piece, random.choice(STYLES))
        xml.append(random.choice(HOLDERS).format(run) if random.random() < 0.2 else run)
        if random.random() < 0.2:
            xml.append(random.choice(OBJECTS))
    simple = []
    for _ in range(random.randint(1, 3)):
        chosen = [w for w in words if random.random() < 0.7] or words[:1]
        if random.random() < 0.3:
            random.shuffle(chosen)
        chosen.insert(random.randint(0, len(chosen)), random.choice(["It", "is", "was"]))
        simple.append(" ".join(chosen) + ".")
    return "".join(xml), sentence, simple


def objects(root: etree._Element) -> list[str]:
    """All that is no text, in order."""
    names = (
        "footnoteReference lastRenderedPageBreak bookmarkStart bookmarkEnd commentRangeStart "
        "commentRangeEnd fldChar instrText hyperlink sdt smartTag"
    )
    return [node.tag for node in root.iter(*(W + name for name in names.split()))]


@settings(max_examples=60)
@given(random_paragraphs())
def test_docx_any_rewrite_of_any_paragraph_can_be_undone(made: tuple[str, str, list[str]]) -> None:
    xml, sentence, simple = made
    data = word(xml)
    document = DocxDocument(data)
    if document.sentences != [sentence]:
        return  # a small letter after a stop, say
    rewrite = [Rewrite(source=sentence, simple=simple, splitter="mine")]
    tracked, report = document.rewritten(rewrite, tracked=True, date=DATE)
    plain = tree(document.rewritten(rewrite)[0])
    assert normal(settle(tree(tracked), accept=False)) == normal(tree(data))
    assert normal(settle(tree(tracked), accept=True)) == normal(plain)
    assert text(plain) == (" ".join(simple) if report.split else sentence)
    assert report.split + report.left_alone.total() == 1
    assert objects(plain) == objects(tree(data))
    event("split" if report.split else "left alone")


def test_docx_damaged_and_foreign_files() -> None:
    def broken(parts: dict[str, str]) -> bytes:
        return with_parts(template(), parts)

    cases = {
        b"no zip at all": "is not a Word document, or is damaged",
        broken({MAIN: "<w:document"}): "its part word/document.xml is not XML",
        broken({"[Content_Types].xml": "<Types/>"}): "is not a Word document",
        broken({MAIN: "<!DOCTYPE x [<!ENTITY a 'b'>]><x>&a;</x>"}): "has a DTD",
    }
    for data, reason in cases.items():
        with pytest.raises(InputError, match=reason):
            DocxDocument(data, "a.docx")


def test_docx_many_paragraphs_in_order() -> None:
    lines: Sequence[str] = [SOURCE if i % 3 else f"It rained {i} times." for i in range(40)]
    out, report = split(word(*map(r, lines)))
    assert report == DocumentReport(40, 26)
    assert text(tree(out)).split("\n") == [" ".join(BY_SOURCE.get(line, [line])) for line in lines]


def test_docx_a_paragraph_of_bookmarks_is_left_alone() -> None:
    marks = "".join(
        f'<w:bookmarkStart w:id="{n}"/>{r("a")}<w:bookmarkEnd w:id="{n}"/>' for n in range(1001)
    )
    document = DocxDocument(word(f"<w:p>{marks}{r('.')}</w:p>", f"<w:p>{r('Ann came.')}</w:p>"))
    assert document.sentences == ["Ann came."]


def test_docx_fields_in_each_other_without_end_are_refused() -> None:
    begin = '<w:r><w:fldChar w:fldCharType="begin"/></w:r>'
    with pytest.raises(InputError, match="more than 100 fields"):
        DocxDocument(word(f"<w:p>{begin * 101}{r('Ann came.')}</w:p>"))
