"""Files that are not Word files or would fill the memory; parts that stay the same."""

import io
import zipfile

import pytest

from parataxis.errors import InputError
from parataxis.run.documents import docx
from parataxis.run.documents.docx import Archive


def packed(parts: dict[str, bytes]) -> bytes:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as made:
        for name, content in parts.items():
            made.writestr(name, content)
    return stream.getvalue()


OLE = bytes.fromhex("d0cf11e0a1b11ae1")


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"", "is not a Word document, or is damaged"),
        (b"Ann came.", "is not a Word document, or is damaged"),
        (packed({"a": b"x"})[:-30], "is not a Word document, or is damaged"),
        (OLE + b"\0" * 600, "is in the old .doc format; save it as .docx"),
        (OLE + "EncryptedPackage".encode("utf-16-le"), "is protected by a password"),
    ],
    ids=["empty", "text", "cut off", "old format", "protected"],
)
def test_archive_other_files(data: bytes, reason: str) -> None:
    with pytest.raises(InputError, match=f"^a.docx {reason}"):
        Archive(data, "a.docx")


def test_archive_made_to_fill_the_memory() -> None:
    with pytest.raises(InputError, match="is too large"):
        Archive(packed({"a": b"\0" * (40 << 20)}), "a.docx")


def test_archive_too_large(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(docx, "LARGEST", 100)
    with pytest.raises(InputError, match="is too large"):
        Archive(packed({"a": b"ab" * 40, "b": b"cd" * 40}), "a.docx")


def test_archive_encrypted_parts_and_parts_of_one_name() -> None:
    data = bytearray(packed({"a": b"x"}))
    data[data.index(b"PK\x01\x02") + 8] |= 1
    with pytest.raises(InputError, match="protected by a password"):
        Archive(bytes(data), "a.docx")
    twice = packed({"a": b"x", "b": b"y"}).replace(b"b", b"a")
    with pytest.raises(InputError, match="two of its parts have the same name"):
        Archive(twice, "a.docx")


def test_archive_damaged_part() -> None:
    data = bytearray(packed({"part": bytes(range(256)) * 4}))
    data[60] ^= 0xFF
    opened = Archive(bytes(data), "a.docx")
    with pytest.raises(InputError, match="its part part cannot be read"):
        opened.read("part")


def test_archive_writes_the_same_parts_in_the_same_order() -> None:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as made:
        made.comment = b"a comment"
        info = zipfile.ZipInfo("b.xml", (2020, 2, 3, 4, 5, 6))
        info.compress_type = zipfile.ZIP_DEFLATED
        made.writestr(info, b"b" * 100)
        made.writestr("a.png", b"a")
    written = Archive(stream.getvalue(), "a.docx").write({"a.png": b"changed"})
    with zipfile.ZipFile(io.BytesIO(written)) as archive_:
        assert archive_.comment == b"a comment"
        assert archive_.namelist() == ["b.xml", "a.png"]
        assert archive_.getinfo("b.xml").date_time == (2020, 2, 3, 4, 5, 6)
        assert [i.compress_type for i in archive_.infolist()] == [
            zipfile.ZIP_DEFLATED,
            zipfile.ZIP_STORED,
        ]
        assert (archive_.read("b.xml"), archive_.read("a.png")) == (b"b" * 100, b"changed")
