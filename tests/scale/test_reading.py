"""Reading: every kind of file, plain and packed, from any place, with whatever is bad in it."""

import csv
import gzip
import io
import json
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from parataxis.errors import InputError
from parataxis.scale import reading
from parataxis.scale.files import DataFile, Kind, find_files, kind_of
from parataxis.scale.reading import (
    Position,
    check_columns,
    read_batches,
    read_units,
)

pa = pytest.importorskip("pyarrow")
parquet = pytest.importorskip("pyarrow.parquet")

SENTENCES = ["Ann came; Bob left.", 'She said "no", and\tleft.', "Zoë’s café, naïve — 東京."]


def table(cells: list[str | None], name: str = "text") -> bytes:
    sink = io.BytesIO()
    parquet.write_table(pa.table({name: cells, "n": range(len(cells))}), sink, row_group_size=2)
    return sink.getvalue()


def written(cells: list[str], *, delimiter: str) -> bytes:
    out = io.StringIO()
    rows = csv.writer(out, delimiter=delimiter, lineterminator="\n")
    rows.writerow(["n", "text"])
    rows.writerows([str(number), cell] for number, cell in enumerate(cells))
    return out.getvalue().encode()


def jsonl(cells: list[str]) -> bytes:
    return b"".join(json.dumps({"text": cell}).encode() + b"\n" for cell in cells)


MADE: dict[str, Callable[[list[str]], bytes]] = {
    "jsonl": jsonl,
    "csv": lambda cells: written(cells, delimiter=","),
    "tsv": lambda cells: written(
        [cell.replace("\t", " ").replace("\n", " ").replace("\r", " ") for cell in cells],
        delimiter="\t",
    ),
    "txt": lambda cells: "\n\n".join(cells).encode(),
}


def pack(data: bytes, packing: str) -> bytes:
    if packing == ".zst":  # in two frames, which is allowed
        codec = pa.Codec("zstd")
        half = len(data) // 2
        return b"".join(codec.compress(each, asbytes=True) for each in (data[:half], data[half:]))
    return gzip.compress(data) if packing else data


def make(path: Path, data: bytes, kind: Kind | None = None) -> DataFile:
    path.write_bytes(data)
    return find_files([str(path)], kind or Kind.AUTO)[0]


def sources(file: DataFile, column: str | None) -> list[str]:
    return [each.source for unit in read_units(file, column) for each in unit.sentences]


@pytest.mark.parametrize("packing", ["", ".gz", ".zst"])
@pytest.mark.parametrize("suffix", MADE)
def test_reading_every_kind_plain_and_packed(tmp_path: Path, suffix: str, packing: str) -> None:
    file = make(tmp_path / f"a.{suffix}{packing}", pack(MADE[suffix](SENTENCES), packing))
    expected = [s.replace("\t", " ") for s in SENTENCES] if suffix in ("tsv", "txt") else SENTENCES
    assert sources(file, None if suffix == "txt" else "text") == expected


@pytest.mark.parametrize(
    "kind", [pa.string(), pa.large_string(), pa.dictionary(pa.int32(), pa.string())]
)
def test_reading_parquet_of_any_text_type(tmp_path: Path, kind: object) -> None:
    path = tmp_path / "a.parquet"
    parquet.write_table(pa.table({"text": pa.array(SENTENCES).cast(kind), "id": [7, 8, 9]}), path)
    units = list(read_units(find_files([str(path)])[0], "text"))
    assert [unit.sentences[0] for unit in units] == [
        ("7", SENTENCES[0]),
        ("8", SENTENCES[1]),
        ("9", SENTENCES[2]),
    ]


BAD = {
    "not JSON": ("a.jsonl", b'{"text": "One."}\n{\n{"text": "Two."}\n', "line 2: this is not a"),
    "no object": ("a.jsonl", b'{"text": "One."}\n[]\n{"text": "Two."}\n', "line 2: a record must"),
    "no field": (
        "a.jsonl",
        b'{"text": "One."}\n{"a": 1}\n{"text": "Two."}',
        "line 2: the record ha",
    ),
    "null": (
        "a.jsonl",
        b'{"text": "One."}\n{"text": null}\n{"text": "Two."}',
        "line 2: the record",
    ),
    "number": ("a.jsonl", b'{"text": "One."}\n{"text": 5}\n{"text": "Two."}', "line 2: the source"),
    "surrogate": (
        "a.jsonl",
        b'{"text": "One."}\n{"text": "\\ud800"}\n{"text": "Two."}',
        "line 2: the record has a lone surrogate",
    ),
    "UTF-8 in JSON": (
        "a.jsonl",
        b'{"text": "One."}\n{"text": "\xff"}\n{"text": "Two."}',
        "line 2: the b",
    ),
    "UTF-8 in CSV": ("a.csv", b"text\nOne.\n\xff.\nTwo.\n", "line 3: the bytes are not UTF-8"),
    "UTF-8 in TSV": (
        "a.tsv",
        b"n\ttext\n1\tOne.\n2\t\xff.\n3\tTwo.\n",
        "line 3: the bytes are not",
    ),
    "short row": (
        "a.csv",
        b"n,text\n1,One.\n2\n3,Two.\n",
        "line 3: there is nothing in the column",
    ),
    "empty cell": (
        "a.tsv",
        b"n\ttext\n1\tOne.\n2\t\n3\tTwo.\n",
        'line 3: the column "text" is empty',
    ),
    "null cell": (
        "a.parquet",
        table(["One.", None, "Two."]),
        "row 2: there is nothing in the column",
    ),
    "blank cell": ("a.parquet", table(["One.", " ", "Two."]), 'row 2: the column "text" is empty'),
    "NUL": ("a.csv", b"text\nOne.\na\0b\nTwo.\n", "line 3: there is a NUL"),
}


@pytest.mark.parametrize(("name", "data", "message"), BAD.values(), ids=BAD)
def test_reading_passes_a_bad_record_through(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, data: bytes, message: str
) -> None:
    monkeypatch.chdir(tmp_path)
    file = make(Path(name), data)
    units = list(read_units(file, "text"))
    assert [[each.source for each in unit.sentences] for unit in units] == [["One."], [], ["Two."]]
    assert str(units[1].problem).startswith(f"{name}, {message}")
    assert [unit.problem for unit in units[::2]] == [None, None]


def test_reading_bad_bytes_in_parquet(tmp_path: Path) -> None:
    column = pa.array([b"One.", b"\xff", b"Two."]).view(pa.string())
    path = tmp_path / "a.parquet"
    parquet.write_table(pa.table({"text": column}), path)
    units = list(read_units(find_files([str(path)])[0], "text"))
    assert [len(unit.sentences) for unit in units] == [1, 0, 1]
    assert "not UTF-8" in str(units[1].problem)


@pytest.mark.parametrize("kind", [Kind.TEXT, Kind.LINES])
def test_reading_text_comes_back_byte_for_byte(tmp_path: Path, kind: Kind) -> None:
    data = b"One.\r\n\r\n  Two \xff bad.\n\nThree.\tFour.\rFive\x00.\n\nSix."
    units = list(read_units(make(tmp_path / "a.txt", data, kind)))
    text = "".join(unit.rebuild([]) if not unit.sentences else _whole(unit) for unit in units)
    assert text.encode("utf-8", "surrogateescape") == data
    assert sum(unit.problem is not None for unit in units) == 2


def _whole(unit: reading.Unit) -> str:
    from parataxis.splitters.source import left_whole

    return unit.rebuild([left_whole(each.source, splitter="x") for each in unit.sentences])


@pytest.mark.parametrize("name", ["a.jsonl", "a.csv", "a.tsv", "lines"])
def test_reading_a_line_that_is_too_long_in_pieces(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.setattr(reading, "LONGEST", 1000)
    first = {"a.csv": b"text\nOne.\n", "a.tsv": b"text\tn\nOne.\t1\n", "lines": b"One.\n"}
    last = {"a.csv": b"Two.\n", "a.tsv": b"Two.\t1\n", "lines": b"Two.\n"}
    long = b"x" * 3500 + b"\n"
    data = first.get(name, b'{"text": "One."}\n') + long + last.get(name, b'{"text": "Two."}\n')
    kind = Kind.LINES if name == "lines" else None
    units = list(read_units(make(tmp_path / name, data, kind), None if kind else "text"))
    assert [each.source for unit in units for each in unit.sentences] == ["One.", "Two."]
    problems = [str(unit.problem) for unit in units if unit.problem]
    assert "the line is too long" in problems[0]
    text = "".join(unit.rebuild([]) for unit in units if not unit.sentences)
    assert text.encode() == long


@pytest.mark.parametrize("packing", [".gz", ".zst"])
def test_reading_a_file_that_was_cut_off(tmp_path: Path, packing: str) -> None:
    lines = [f"Ann ate {n * 7919 % 1000003} plums." for n in range(20_000)]
    data = pack(jsonl(lines), packing)
    file = make(tmp_path / f"a.jsonl{packing}", data[: len(data) * 2 // 3])
    units = list(read_units(file, "text"))
    assert 0 < len(units) < 20_000
    assert "the file is broken after this" in str(units[-1].problem)
    assert list(read_units(file, "text", skip=len(units) - 1)) == units[-1:]
    assert list(read_units(file, "text", skip=len(units))) == []


def test_reading_a_broken_parquet_file(tmp_path: Path) -> None:
    data = bytearray(table([f"Ann ate {n} plums." for n in range(100)]))
    path = tmp_path / "a.parquet"
    data[600:1400] = bytes(800)
    path.write_bytes(data)
    file = find_files([str(path)])[0]
    units = list(read_units(file, "text"))
    assert "the file is broken" in str(units[-1].problem)
    assert list(read_units(file, "text", skip=len(units) - 1)) == units[-1:]
    assert list(read_units(file, "text", skip=len(units))) == []


@settings(max_examples=30)
@given(
    st.lists(
        st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=6),
        max_size=8,
    ),
    st.sampled_from([*MADE, "parquet"]),
    st.integers(1, 5),
    st.data(),
)
def test_reading_goes_on_from_any_place(
    tmp_path_factory: pytest.TempPathFactory,
    cells: list[str],
    suffix: str,
    size: int,
    data: st.DataObject,
) -> None:
    folder = tmp_path_factory.mktemp("x")
    content = table(list(cells)) if suffix == "parquet" else MADE[suffix](cells)
    if not cells:
        content = table(["One."]) if suffix == "parquet" else MADE[suffix](["One."])
    files = [make(folder / f"{n}.{suffix}", content) for n in range(2)]
    column = None if suffix == "txt" else "text"
    by_file = data.draw(st.booleans())
    batches = list(read_batches(files, column, sentences=size, by_file=by_file))
    assert sum(batch.size for batch in batches) <= sum(file.size for file in files)
    place = data.draw(st.integers(0, len(batches)))
    start = batches[place - 1].end if place else Position()
    again = list(read_batches(files, column, start, sentences=size, by_file=by_file))
    assert [batch[:2] for batch in again] == [batch[:2] for batch in batches[place:]]
    for unit in (unit for batch in batches for unit in batch.units):
        assert unit.problem or all(each.source.strip() for each in unit.sentences)


def test_reading_batches_are_bounded(tmp_path: Path) -> None:
    file = make(tmp_path / "a.txt", b"\n" * 100 + b"One.\n" * 5, Kind.LINES)
    sizes = [len(batch.units) for batch in read_batches([file], sentences=3)]
    assert sizes == [24, 24, 24, 24, 7, 2]


def test_reading_batches_of_long_lines_are_small(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reading, "_BYTES", 1000)
    file = make(tmp_path / "a.txt", (b"x" * 399 + b"\n") * 5, Kind.LINES)
    assert [len(batch.units) for batch in read_batches([file], sentences=100)] == [3, 2]


@pytest.mark.parametrize(
    ("name", "data", "column", "message"),
    [
        ("a.parquet", table(["One."]), "body", 'has no column "body"; its columns are: text, n.'),
        ("a.parquet", table(["One."]), None, "has the columns text, n; name one with --column."),
        ("a.parquet", table(["One."]), "n", "is int64, not text."),
        ("a.parquet", b"PAR1 no more", "n", "is not a Parquet file, or a broken one."),
        ("a.csv", b"n,text\n1,One.\n", "body", 'has no column "body"; its columns are: n, text.'),
        ("a.txt", b"One.\n", "text", "is text, which has no columns."),
    ],
)
def test_reading_refuses_a_wrong_column(
    tmp_path: Path, name: str, data: bytes, column: str | None, message: str
) -> None:
    with pytest.raises(InputError) as caught:
        check_columns([make(tmp_path / name, data)], column)
    assert str(caught.value).endswith(message)


def test_reading_a_byte_order_mark(tmp_path: Path) -> None:
    file = make(tmp_path / "a.csv", "\ufefftext\nOne.\n".encode())
    assert sources(file, "text") == ["One."]


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("a.jsonl", Kind.JSONL),
        ("a.b.jsonl.zst", Kind.JSONL),
        ("A.CSV.GZ", Kind.CSV),
        ("a.parquet", Kind.PARQUET),
        ("a.gz", None),
        ("README", None),
    ],
)
def test_files_kind_by_name(name: str, kind: Kind | None) -> None:
    assert kind_of(name) is kind


def test_files_in_folders_and_patterns_come_sorted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("d/b.txt", "d/a/c.jsonl.gz", "d/.hidden.txt", "d/picture.png", "x.csv"):
        Path(name).parent.mkdir(parents=True, exist_ok=True)
        Path(name).write_bytes(b"One.\n")
    assert [str(file.path) for file in find_files(["x.csv", "d"])] == [
        "x.csv",
        "d/a/c.jsonl.gz",
        "d/b.txt",
    ]
    assert [str(file.place) for file in find_files(["d"])] == ["a/c.jsonl.gz", "b.txt"]
    assert [file.name for file in find_files(["d/**/*.gz"])] == ["d/a/c.jsonl.gz"]
    with pytest.raises(InputError, match=r"No file matches d/\*\.csv\."):
        find_files(["d/*.csv"])
    with pytest.raises(InputError, match=r"There is no file y\.csv\."):
        find_files(["y.csv"])
