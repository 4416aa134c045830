"""Reading lines, and writing whole files or none."""

import os
import stat
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from parataxis.errors import InputError
from parataxis.text.files import (
    ReadReport,
    from_plain_cell,
    plain_cell,
    read_lines,
    write_files,
)


def test_files_leave_out_a_byte_order_mark(tmp_path: Path) -> None:
    path = tmp_path / "a"
    path.write_bytes(b"\xef\xbb\xbfA\nB")
    assert list(read_lines(path, ReadReport())) == [(1, "A"), (2, "B")]


def test_files_refuse_utf16(tmp_path: Path) -> None:
    path = tmp_path / "a"
    path.write_text("A\n", encoding="utf-16")
    with pytest.raises(InputError, match="save it as UTF-8"):
        list(read_lines(path, ReadReport()))


def test_files_appear_whole_or_not_at_all(tmp_path: Path) -> None:
    old, new = tmp_path / "old", tmp_path / "new"
    old.write_text("as it was\n")

    def write_half() -> None:
        with write_files([old, new]) as (write, _):
            write("half")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        write_half()
    assert old.read_text() == "as it was\n"
    assert os.listdir(tmp_path) == ["old"]  # noqa: PTH208
    with write_files([old, new]) as (write, write_new):
        write("é")
        write_new("b")
        assert not new.exists()
    assert (old.read_text(encoding="utf-8"), new.read_text()) == ("é\n", "b\n")


def test_files_same_text_is_the_same_packed_file(tmp_path: Path) -> None:
    paths = [tmp_path / "a.gz", tmp_path / "b.gz"]
    with write_files(paths) as writers:
        for write in writers:
            write("A")
    assert paths[0].read_bytes() == paths[1].read_bytes()


@pytest.mark.skipif(os.name == "nt", reason="needs links and /dev/null")
def test_files_write_through_links_and_to_devices(tmp_path: Path) -> None:
    target, link = tmp_path / "target", tmp_path / "link"
    target.touch()
    link.symlink_to(target)
    with write_files([link, Path(os.devnull)]) as writers:
        for write in writers:
            write("A")
    assert link.is_symlink()
    assert target.read_text() == "A\n"
    assert stat.S_ISCHR(os.stat(os.devnull).st_mode)  # noqa: PTH116


def test_files_tell_a_folder_that_is_not_there(tmp_path: Path) -> None:
    with (
        pytest.raises(InputError, match="cannot be written: no such file"),
        write_files([tmp_path / "no" / "a"]),
    ):
        pass


@given(st.text("'=+-@\t\r\n1.%a ") | st.text())
def test_cells_are_no_formulas_and_lose_nothing(text: str) -> None:
    cell = plain_cell(text)
    assert from_plain_cell(cell) == text
    assert cell[:1] not in tuple("=@\t\r\n")
    assert cell[:1] not in tuple("+-") or not set(cell[1:]) - set("0123456789., %")
