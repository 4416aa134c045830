"""Documents come back as they were, but for the sentences whose rewrites are sent."""

import io
import json
import zipfile
from typing import Any

import pytest
from fastapi.testclient import TestClient

from .conftest import Ask

LETTER = "# News\n\nAnn, who *sings*,\nleft. Bob stayed.\n\n- `x = 1` is code.\n"
LEFT = "Ann, who sings, left."


def read(client: TestClient, name: str, data: bytes) -> Any:
    return client.post("/v1/documents", files={"file": (name, data)})


def write(client: TestClient, name: str, data: bytes, rewrites: Any, **fields: str) -> Any:
    listed = rewrites if isinstance(rewrites, str) else json.dumps(rewrites)
    return client.post(
        "/v1/documents/rewritten",
        files={"file": (name, data)},
        data={"rewrites": listed, **fields},
    )


def rewrite(source: str, *simple: str) -> dict[str, Any]:
    return {"source": source, "simple": simple, "splitter": "mine"}


OUTSIDE = {"text": "Ann", "start": 0, "end": 3, "origin": "copied", "source": [7, 99]}
ANN = rewrite(LEFT, "Ann left.", "Ann sings.")


@pytest.mark.parametrize(
    ("name", "kind", "content", "text", "expected"),
    [
        (
            "letter.md",
            "Markdown",
            LETTER,
            "Ann, who sings,\nleft. Bob stayed.\n\nXa is code.",
            "# News\n\nAnn left. Ann *sings*. Bob stayed.\n\n- `x = 1` is code.\n",
        ),
        (
            "letter.HTML",
            "HTML",
            "<h1>News</h1><p>Ann, who <b>sings</b>, left.\n Bob stayed.<p>So what?",
            "Ann, who sings, left.  Bob stayed.\n\nSo what?",
            "<h1>News</h1><p>Ann left. Ann <b>sings</b>.\n Bob stayed.<p>So what?",
        ),
        (
            "letter.txt",
            "Text",
            "\ufeff  Ann, who sings,\r\n  left.  Bob stayed.\r\n\r\nSo?",
            "  Ann, who sings,\r\n  left.  Bob stayed.\r\n\r\nSo?",
            "\ufeff  Ann left. Ann\r\n  sings.  Bob stayed.\r\n\r\nSo?",
        ),
    ],
)
def test_documents_are_read_and_written_again(
    plain: TestClient, name: str, kind: str, content: str, text: str, expected: str
) -> None:
    answer = read(plain, name, content.encode())
    assert answer.status_code == 200
    told = answer.json()
    assert (told["name"], told["kind"]) == (name, kind)
    assert told["text"] == text
    first, second, third = told["sentences"]
    assert (first["text"], second["text"]) == (LEFT, "Bob stayed.")
    for each in told["sentences"]:
        assert " ".join(text[each["start"] : each["end"]].split()) == each["text"]
    answer = write(plain, name, content.encode(), [ANN, None, None])
    assert answer.status_code == 200
    assert answer.content.decode() == expected
    assert answer.headers["content-disposition"] == f"attachment; filename*=UTF-8''{name}"
    untouched = write(
        plain, name, content.encode(), [None, rewrite("Bob stayed.", "Bob stayed."), None]
    )
    assert untouched.content == content.encode()
    assert third["end"] <= len(text)


def test_documents_of_word_with_tracked_changes(plain: TestClient) -> None:
    docx = pytest.importorskip("docx", reason="needs python-docx, which [dev] has")
    made = docx.Document()
    made.add_heading("The news", 1)
    made.add_paragraph(LEFT + " Bob stayed.")
    made.add_paragraph("")
    made.add_table(1, 1).cell(0, 0).text = "Cy sings."
    stream = io.BytesIO()
    made.save(stream)
    told = read(plain, "a.docx", stream.getvalue()).json()
    assert told["kind"] == "Word"
    assert told["text"] == f"The news\n\n{LEFT} Bob stayed.\n\nCy sings."
    assert [each["text"] for each in told["sentences"]] == [LEFT, "Bob stayed.", "Cy sings."]
    assert [each["start"] for each in told["sentences"]] == [10, 32, 45]
    answer = write(plain, "a.docx", stream.getvalue(), [ANN, None, None], tracked="true")
    assert answer.headers["content-type"].endswith("wordprocessingml.document")
    xml = zipfile.ZipFile(io.BytesIO(answer.content)).read("word/document.xml").decode()
    assert "<w:ins " in xml
    assert 'w:author="Parataxis (mine)"' in xml
    plainly = write(plain, "a.docx", stream.getvalue(), [ANN, None, None])
    after = docx.Document(io.BytesIO(plainly.content))
    assert after.paragraphs[1].text == "Ann left. Ann sings. Bob stayed."


def test_documents_what_had_to_be_left_alone_is_told(plain: TestClient) -> None:
    content = b"Ann, who [sings](a), left and [came](b)."
    source = "Ann, who sings, left and came."
    moved = rewrite(source, "Ann left and came.", "Ann sings.")
    answer = write(plain, "a.md", content, [moved])
    assert answer.content == content
    assert answer.headers["x-parataxis-note"].startswith("1 sentence that could be split was left")


@pytest.mark.parametrize(
    ("name", "data", "detail"),
    [
        ("", b"A.", '"" is no file of a kind that can be read'),
        ("a.xls", b"A.", '"a.xls" is no file of a kind that can be read'),
        ("../../etc/a.ods", b"A.", '"a.ods" is no file of a kind that can be read'),
        ("C:\\letters\\a.wps", b"A.", '"a.wps" is no file of a kind that can be read'),
        ("a.pdf", b"A.", "a.pdf is not a PDF document."),
        ("a.docx", b"A.", "a.docx is not a Word document, or is damaged."),
        ("a.docx", b"PK\x03\x04", "a.docx is not a Word document, or is damaged."),
        ("a.txt", b"\xff\xfe", "a.txt: byte 1 is not UTF-8"),
    ],
)
def test_documents_that_cannot_be_read(
    plain: TestClient, name: str, data: bytes, detail: str
) -> None:
    answer = read(plain, name or " ", data)
    assert answer.status_code == 422
    assert answer.json()["detail"].startswith(detail.replace('""', '" "'))


@pytest.mark.parametrize(
    ("rewrites", "fields", "detail"),
    [
        ("", {}, 'The field "rewrites" is missing; give a rewrite or null for each sentence.'),
        ("[", {}, 'The field "rewrites" is no JSON.'),
        ("{}", {}, 'The field "rewrites": input should be a valid array.'),
        ([], {}, "a.md has 1 sentences, but there are 0 rewrites; give one, or null, for each."),
        ([{}], {}, 'The field "rewrites.0.source" is missing.'),
        (
            [rewrite("Bob left.", "Bob.")],
            {},
            "Rewrite 1 is of another sentence than that of the document.",
        ),
        ([rewrite("Ann left.", " ")], {}, 'The field "rewrites.0": a simple sentence is empty.'),
        ([None], {"tracked": "perhaps"}, 'The field "tracked" must be true or false.'),
        ([None], {"tracked": "true"}, "Only a Word document (.docx) can have tracked changes."),
        (
            [
                rewrite("Ann left.", "Ann left.", "Ann.")
                | {
                    "provenance": [
                        [],
                        [
                            {
                                "text": "Ann",
                                "start": 0,
                                "end": 3,
                                "origin": "copied",
                                "source": [7, 99],
                            }
                        ],
                    ]
                }
            ],
            {},
            "Rewrite 1 has a word from outside of its source.",
        ),
    ],
)
def test_documents_rewrites_that_do_not_fit(
    plain: TestClient, rewrites: Any, fields: dict[str, str], detail: str
) -> None:
    answer = write(plain, "a.md", b"Ann left.", rewrites, **fields)
    assert (answer.status_code, answer.json()) == (422, {"detail": detail})


def test_documents_rewrites_can_be_larger_than_a_usual_form_field(plain: TestClient) -> None:
    padded = {**rewrite("Ann left.", "Ann left."), "padding": "x" * 3_000_000}
    assert write(plain, "a.md", b"Ann left.", [padded]).content == b"Ann left."
    listed = {"rewrites": ("rewrites.json", json.dumps([padded]))}
    files = {"file": ("a.md", b"Ann left."), **listed}
    assert plain.post("/v1/documents/rewritten", files=files).content == b"Ann left."


@pytest.mark.parametrize(
    ("content", "kind"),
    [
        (b"", "multipart/form-data; boundary=x"),
        (b"--x\r\nbroken", "multipart/form-data; boundary=x"),
        (b"--x\r\n", "multipart/form-data"),
        (b"file=a", "application/x-www-form-urlencoded"),
        (b"{}", "application/json"),
    ],
)
def test_documents_without_a_file(plain: TestClient, content: bytes, kind: str) -> None:
    answer = plain.post("/v1/documents", content=content, headers={"content-type": kind})
    assert answer.status_code in (400, 422)
    assert answer.json()["detail"] in (
        "The body cannot be read.",
        'The field "file" is missing; send a file in it.',
    )


def test_documents_that_are_too_large(ask: Ask) -> None:
    small = ask("source", upload=100_000, characters=1000)
    answer = read(small, "a.txt", b"x" * 100_001)
    assert (answer.status_code, answer.json()) == (
        413,
        {"detail": "The file has 100001 bytes; at most 100000 are taken."},
    )
    answer = read(small, "a.txt", b"x" * 200_000)
    assert (answer.status_code, answer.json()) == (413, {"detail": "This is too large."})
    answer = read(small, "a.html", b"<p>" + b" " * 4000)
    assert answer.json() == {"detail": "a.html has 4003 bytes of text; at most 4000 are taken."}
    answer = read(small, "a.txt", b"Ann sings. " * 120)
    assert answer.status_code == 413
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as bomb:
        bomb.writestr("word/document.xml", "<a>" * 1_000_000)
    answer = read(small, "a.docx", stream.getvalue())
    assert answer.json() == {"detail": "a.docx has 3000000 bytes of text; at most 20000 are taken."}


def test_documents_of_a_name_from_elsewhere(plain: TestClient) -> None:
    answer = write(plain, 'Brief "ä"\r\nx: y.md', b"Ann left.", [None])
    disposition = answer.headers["content-disposition"]
    assert disposition.startswith("attachment; filename*=UTF-8''Brief%20")
    assert disposition.isascii()
    assert "x" not in answer.headers
