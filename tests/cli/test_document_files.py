"""``parataxis split`` on files with formatting."""

import io
from collections.abc import Callable
from pathlib import Path
from typing import Any

import docx
import pytest

Run = Callable[..., Any]

SOURCE, SIMPLE = "Ann came; Bob left.", "Ann came. Bob left."


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def contract() -> str:
    document = docx.Document()
    document.add_paragraph(SOURCE, style="List Number")
    document.save("contract.docx")
    return "contract.docx"


def split(run: Run, *arguments: object) -> Any:
    return run("split", "--splitter", "semicolon", *arguments)


def texts(path: str) -> list[str]:
    return [paragraph.text for paragraph in docx.Document(path).paragraphs]


def test_document_files_word(run: Run, contract: str) -> None:
    before = Path(contract).read_bytes()
    assert split(run, contract, "-o", "simple.docx") == (0, "", "")
    assert texts("simple.docx") == [SIMPLE]
    assert Path(contract).read_bytes() == before


def test_document_files_word_with_tracked_changes(run: Run, contract: str) -> None:
    assert split(run, contract, "-o", "simple.docx", "--tracked") == (0, "", "")
    xml = docx.Document("simple.docx").element.xml
    assert 'w:author="Parataxis (semicolon)"' in xml
    assert texts("simple.docx") == ["Ann came Bob left."]  # python-docx shows neither side


@pytest.mark.parametrize(
    ("name", "before", "after"),
    [
        ("a.md", f"# {SOURCE}\n\n*{SOURCE}*\n", f"# {SOURCE}\n\n*{SIMPLE}*\n"),
        ("a.HTML", f"<h1>{SOURCE}</h1><p><b>Ann</b> came; Bob left.",
         f"<h1>{SOURCE}</h1><p><b>Ann</b> came. Bob left."),
    ],
)  # fmt: skip
def test_document_files_markdown_and_html(run: Run, name: str, before: str, after: str) -> None:
    Path(name).write_bytes(before.encode())
    output = f"simple{Path(name).suffix.lower()}"
    assert split(run, name, "-o", output) == (0, "", "")
    assert Path(output).read_bytes().decode() == after


def test_document_files_other_options_still_read_plain_text(run: Run) -> None:
    Path("a.md").write_text(f"# {SOURCE}\n", encoding="utf-8")
    assert split(run, "a.md").out == f"# {SIMPLE}\n"
    split(run, "a.md", "-i", "text", "-o", "b.md")
    assert Path("b.md").read_text(encoding="utf-8") == f"# {SIMPLE}\n"
    split(run, "a.md", "-f", "jsonl", "-o", "c.md")
    assert Path("c.md").read_text(encoding="utf-8").startswith("{")


def test_document_files_say_what_was_left_alone(run: Run) -> None:
    Path("a.md").write_text("Ann ![x](y) came; Bob left.", encoding="utf-8")
    done = split(run, "a.md", "-o", "b.md")
    assert (done.code, done.out) == (0, "")
    assert done.err == (
        "parataxis: 1 sentence that could be split was left alone: 1 has a picture.\n"
    )


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        (["contract.docx"], "contract.docx is a Word document; write it to one with -o FILE.docx"),
        (["contract.docx", "-o", "a.txt"], "contract.docx is a Word document; write it to one"),
        (["contract.docx", "-f", "jsonl", "-o", "a.docx"], "without --format"),
        (["contract.docx", "-o", "contract.docx"], "contract.docx is also an input"),
        (["contract.docx", "a.txt", "-o", "b.docx"], "split it alone"),
        (["contract.docx", "-o", "none/b.docx"], "b.docx cannot be written: no such file"),
        (["a.txt", "-o", "b.docx"], "Only a Word document can be written as b.docx"),
        (["a.txt", "-o", "b.txt", "--tracked"], "Only a Word document"),
        (["text.docx", "-o", "b.docx"], "text.docx is not a Word document, or is damaged"),
        (["latin.md", "-o", "b.md"], "latin.md: byte 1 is not UTF-8"),
        (["none.docx", "-o", "b.docx"], "There is no file none.docx"),
    ],
)
def test_document_files_errors(
    run: Run, contract: str, folder: Path, arguments: list[str], reason: str
) -> None:
    Path("a.txt").write_text(SOURCE, encoding="utf-8")
    Path("text.docx").write_text(SOURCE, encoding="utf-8")
    Path("latin.md").write_bytes(b"\xe9")
    before = {path: path.read_bytes() for path in folder.iterdir()}
    done = split(run, *arguments)
    assert (done.code, done.out) == (2, "")
    assert reason in done.err
    assert done.err.count("\n") == 1
    assert {path: path.read_bytes() for path in folder.iterdir()} == before


def test_document_files_too_large(run: Run) -> None:
    Path("a.html").write_bytes(b"<p>" + b"a" * (8 << 20))
    done = split(run, "a.html", "-o", "b.html")
    assert (done.code, done.err) == (
        2,
        "parataxis: a.html is too large: such a document has at most 8 MB.\n",
    )


def test_document_files_a_failure_leaves_what_was_there(
    run: Run, contract: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    Path("b.docx").write_bytes(b"old")
    monkeypatch.setattr(Path, "replace", _fail)
    assert split(run, contract, "-o", "b.docx").code == 2
    assert Path("b.docx").read_bytes() == b"old"
    assert sorted(path.name for path in Path().iterdir()) == ["b.docx", "contract.docx"]


def _fail(*_: object) -> None:
    raise OSError(28, "No space left on device")


def test_document_files_in_several_processes_give_the_same(run: Run) -> None:
    document = docx.Document()
    for number in range(40):
        document.add_paragraph(f"It rained on day {number}.")
    stream = io.BytesIO()
    document.save(stream)
    Path("a.docx").write_bytes(stream.getvalue())
    done = run("split", "--splitter", "source", "a.docx", "-o", "b.docx", "--jobs", "2")
    assert done.code == 0
    assert texts("b.docx") == texts("a.docx")


RTF = rb"{\rtf1\ansi Ann came; Bob left.\par It rained.\par}"


def test_document_files_rtf_becomes_word_or_text(run: Run) -> None:
    Path("letter.rtf").write_bytes(RTF)
    code, out, told = split(run, "letter.rtf", "-o", "letter.docx", "--tracked")
    assert (code, out) == (0, "")
    assert told.startswith("parataxis: Only the text of an RTF document is read: formatting,")
    assert split(run, "letter.rtf", "-o", "letter.txt")[0] == 0
    assert Path("letter.txt").read_text() == f"{SIMPLE}\n\nIt rained.\n"


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        (("letter.rtf", "-o", "other.rtf"), "RTF files are not written; name the output .docx or"),
        (("letter.txt", "-o", "other.pdf"), "PDF files are not written; name the output .docx or"),
        (("letter.rtf",), "letter.rtf can be written as Word or text; split it alone, with -o"),
        (("letter.rtf", "-o", "a.jsonl"), "letter.rtf can be written as Word or text; split it"),
        (("letter.rtf", "letter.txt", "-o", "a.txt"), "letter.rtf can be written as Word or text"),
        (("letter.rtf", "-o", "a.txt", "--tracked"), "Only a Word document (.docx) can have"),
    ],
)
def test_document_files_refuses_to_write_what_it_cannot(
    run: Run, arguments: tuple[str, ...], reason: str
) -> None:
    Path("letter.rtf").write_bytes(RTF)
    Path("letter.txt").write_text(SOURCE)
    code, out, told = split(run, *arguments)
    assert (code, out) == (2, "")
    assert told.startswith(f"parataxis: {reason}")
    assert sorted(each.name for each in Path().iterdir()) == ["letter.rtf", "letter.txt"]


def test_document_files_keep_phrases(run: Run) -> None:
    Path("terms.txt").write_text("# terms\n\nCame; Bob\n")
    Path("letter.txt").write_text(SOURCE)
    code, out, _ = split(run, "letter.txt", "--keep-phrases", "terms.txt")
    assert (code, out) == (0, SOURCE)
    code, _, told = split(run, "letter.txt", "--keep-phrases", "lost.txt")
    assert (code, told) == (
        2,
        "parataxis: lost.txt cannot be read: no such file or directory.\n",
    )
