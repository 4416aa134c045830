"""Reading WebNLG's XML files."""

import tarfile
from pathlib import Path

import pytest

from parataxis.errors import InputError
from parataxis.evaluate.corpora.example import Triple
from parataxis.evaluate.corpora.webnlg import read_webnlg

BORN = Triple("Ada_Vell", "birthPlace", "Morrow")
BUILT = Triple("Vell_Tower", "architect", "Ada_Vell")


def test_webnlg_entries_of_a_folder(webnlg: Path) -> None:
    entries = list(read_webnlg(webnlg))
    assert len(entries) == 9
    assert str(entries[5].name) == "category=Building eid=Id1 size=2"
    assert entries[5].triples == (BUILT, BORN)
    assert entries[5].texts == (
        "Ada Vell, born in Morrow, designed Vell Tower.",
        "Ada Vell was born in Morrow. She designed Vell Tower.",
    )
    assert entries[5].left_out == 1  # the text marked as toFix


@pytest.mark.parametrize("mode", ["w", "w:xz", "w:gz"])
def test_webnlg_archive_reads_like_its_folder(webnlg: Path, tmp_path: Path, mode: str) -> None:
    archive = tmp_path / "webnlg.tar"
    with tarfile.open(archive, mode) as tar:  # type: ignore[call-overload]
        for file in sorted(webnlg.rglob("*.xml"), reverse=True):
            tar.add(file, file.relative_to(tmp_path).as_posix())
    assert list(read_webnlg(archive)) == list(read_webnlg(webnlg))


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("<entries><entry", "is not an XML file of WebNLG"),
        ('<e><entry category="A" eid="1"><mtriple>a | b</mtriple></entry></e>', "entry 1: it need"),
        ('<e><entry category="A"><mtriple>a | b | c</mtriple></entry></e>', "entry 1: it needs"),
    ],
)
def test_webnlg_broken_file_is_named(tmp_path: Path, text: str, complaint: str) -> None:
    path = tmp_path / "broken.xml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(InputError, match=complaint) as raised:
        list(read_webnlg(path))
    assert "broken.xml" in str(raised.value)


def test_webnlg_missing_or_empty(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="neither a file nor a folder"):
        list(read_webnlg(tmp_path / "nowhere"))
    with pytest.raises(InputError, match="no XML files"):
        list(read_webnlg(tmp_path))
