"""Files elsewhere are read as those of this machine are; here, elsewhere is a folder behind an
address, and a filesystem whose connection breaks."""

import gzip
import json
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from parataxis.cli.main import main
from parataxis.errors import InputError
from parataxis.run.files import DataFormat, find_inputs
from parataxis.run.reading import read_batches, read_units
from parataxis.run.remote import ObjectStore, open_remote

pyarrow = pytest.importorskip("pyarrow", reason="needs the extra [scale]")
parquet = pytest.importorskip("pyarrow.parquet")

SENTENCES = [f"Ann ate {n} plums, and Bob left." for n in range(3000)]


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    folder = tmp_path / "corpus"
    (folder / "deep").mkdir(parents=True)
    (folder / "a.txt").write_text("\n".join(SENTENCES))
    (folder / "b.jsonl.gz").write_bytes(
        gzip.compress("\n".join(json.dumps({"source": each}) for each in SENTENCES).encode())
    )
    parquet.write_table(pyarrow.table({"source": SENTENCES}), folder / "deep" / "c.parquet")
    (folder / "notes").write_text("Ann sang. Bob left.")
    return folder


def test_remote_folder_reads_as_one_of_this_machine(corpus: Path) -> None:
    there = find_inputs([corpus.as_uri()])
    here = find_inputs([str(corpus)])
    assert [file.name for file in there] == [file.path.as_uri() for file in here]  # type: ignore[union-attr]
    assert [(file.place, file.kind) for file in there] == [(file.place, file.kind) for file in here]
    for one, other in zip(there, here, strict=True):
        assert one.identity()[1:] == other.identity()[1:]
    found, expected = (
        [
            ([sentence.source for unit in batch.units for sentence in unit.sentences], batch.end)
            for batch in read_batches(files, sentences=100)
        ]
        for files in (there, here)
    )
    assert found == expected


def test_remote_file_is_text_where_its_name_says_nothing(corpus: Path) -> None:
    (file,) = find_inputs([(corpus / "notes").as_uri()])
    assert (file.kind, file.place) == (DataFormat.TEXT, Path("notes"))
    (unit,) = read_units(file)
    assert [sentence.id for sentence in unit.sentences] == [f"{file.name}:1:1", f"{file.name}:1:11"]


@pytest.mark.parametrize(
    ("address", "complaint"),
    [
        ("file:///nowhere/at/all.txt", "There is no file or folder file:///nowhere/at/all.txt."),
        ("gopher://a/b.txt", "gopher://a/b.txt cannot be used: Unrecognized filesystem type"),
    ],
)
def test_remote_address_that_leads_nowhere_is_told(address: str, complaint: str) -> None:
    with pytest.raises(InputError) as error:
        find_inputs([address])
    assert str(error.value).startswith(complaint)


class Breaking:
    """A filesystem whose connection breaks after so many bytes."""

    def __init__(self, filesystem: Any, bytes_: int) -> None:
        self._filesystem, self._bytes = filesystem, bytes_

    def open_input_file(self, path: str) -> Any:
        self._stream = self._filesystem.open_input_file(path)
        return self

    def readinto(self, buffer: Any) -> int:
        if self._stream.tell() >= self._bytes:
            raise OSError("When reading: connection reset.")
        return int(self._stream.readinto(memoryview(buffer)[: self._bytes]))

    def __getattr__(self, name: str) -> Any:
        return getattr(self._filesystem if name == "get_file_info" else self._stream, name)


@pytest.mark.parametrize("name", ["a.txt", "b.jsonl.gz", "deep/c.parquet"])
def test_remote_connection_that_breaks_ends_the_run_and_is_no_bad_record(
    corpus: Path, name: str
) -> None:
    (file,) = find_inputs([(corpus / name).as_uri()])
    filesystem = Breaking(pyarrow.fs.LocalFileSystem(), 4096)
    breaking = partial(open_remote, ObjectStore(filesystem, "", "file"), str(corpus / name))
    with pytest.raises(InputError, match=r"cannot be read: .*connection reset"):
        list(read_units(replace(file, open=breaking)))


def test_remote_files_go_through_the_command(
    corpus: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    address = (corpus / "notes").as_uri()
    assert main(["split", address, "-s", "source", "-f", "jsonl", "--jobs", "1"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [json.loads(line)["id"] for line in lines] == [f"{address}:1:1", f"{address}:1:11"]
    out = tmp_path / "out.txt"
    assert main(["split", address, "-s", "source", "-o", str(out), "--jobs", "1"]) == 0
    assert out.read_bytes() == (corpus / "notes").read_bytes()
    capsys.readouterr()
    assert main(["split", address, "-s", "source", "-o", out.as_uri()]) == 2
    assert "is a folder of part files" in capsys.readouterr().err
    folder = tmp_path / "out"
    assert main(["split", address, "-s", "source", "-o", f"{folder.as_uri()}/"]) == 0
    assert (folder / "part-00000.txt").read_bytes() == out.read_bytes()
