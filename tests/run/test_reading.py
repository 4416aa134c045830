"""Reading: every kind of file, plain and packed, from any place, with whatever is bad in it."""

import csv
import gzip
import io
import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from parataxis.cli.main import main
from parataxis.errors import InputError
from parataxis.run import reading
from parataxis.run.files import DataFile, DataFormat, data_format, find_inputs
from parataxis.run.reading import (
    Position,
    check_columns,
    read_batches,
    read_units,
)
from parataxis.run.units import CellKind, Columns

pa = pytest.importorskip("pyarrow")
parquet = pytest.importorskip("pyarrow.parquet")

TEXT = Columns("text", CellKind.SENTENCE)

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


def make(path: Path, data: bytes, kind: DataFormat | None = None) -> DataFile:
    path.write_bytes(data)
    return find_inputs([str(path)], kind or DataFormat.AUTO)[0]


def sources(file: DataFile, column: str | None) -> list[str]:
    units = read_units(file, Columns(column, CellKind.SENTENCE))
    return [each.source for unit in units for each in unit.sentences]


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
    units = list(read_units(find_inputs([str(path)])[0], TEXT))
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
    units = list(read_units(file, TEXT))
    assert [[each.source for each in unit.sentences] for unit in units] == [["One."], [], ["Two."]]
    assert str(units[1].problem).startswith(f"{name}, {message}")
    assert [unit.problem for unit in units[::2]] == [None, None]


def test_reading_bad_bytes_in_parquet(tmp_path: Path) -> None:
    column = pa.array([b"One.", b"\xff", b"Two."]).view(pa.string())
    path = tmp_path / "a.parquet"
    parquet.write_table(pa.table({"text": column}), path)
    units = list(read_units(find_inputs([str(path)])[0], TEXT))
    assert [len(unit.sentences) for unit in units] == [1, 0, 1]
    assert "not UTF-8" in str(units[1].problem)


@pytest.mark.parametrize("kind", [DataFormat.TEXT, DataFormat.LINES])
def test_reading_text_comes_back_byte_for_byte(tmp_path: Path, kind: DataFormat) -> None:
    data = b"One.\r\n\r\n  Two \xff bad.\n\nThree.\tFour.\rFive\x00.\n\nSix."
    units = list(read_units(make(tmp_path / "a.txt", data, kind)))
    text = "".join(unit.rebuild([]) if not unit.sentences else _whole(unit) for unit in units)
    assert text.encode("utf-8", "surrogateescape") == data
    assert sum(unit.problem is not None for unit in units) == 2


def _whole(unit: reading.Unit) -> str:
    from parataxis.rewrite.compose import left_whole

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
    kind = DataFormat.LINES if name == "lines" else None
    units = list(read_units(make(tmp_path / name, data, kind), Columns(None if kind else "text")))
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
    units = list(read_units(file, TEXT))
    assert 0 < len(units) < 20_000
    assert str(units[-1].problem).startswith(f"{file.name}: the file is damaged, so the rest")
    assert list(read_units(file, TEXT, skip=len(units) - 1)) == units[-1:]
    assert list(read_units(file, TEXT, skip=len(units))) == []


@pytest.mark.parametrize("packing", [".gz", ".zst"])
def test_reading_a_table_that_was_cut_off_in_its_header(tmp_path: Path, packing: str) -> None:
    data = pack(b"number,and,text,and,more\n1,,One.,,\n", packing)
    file = make(tmp_path / f"a.csv{packing}", data[:24])
    check_columns([file], TEXT)
    (unit,) = read_units(file, TEXT)
    assert "the file is damaged" in str(unit.problem)


@pytest.mark.parametrize("packing", [".gz", ".zst"])
def test_reading_all_that_can_be_had_of_a_broken_file(tmp_path: Path, packing: str) -> None:
    text = "".join(f"Ann ate {n} plums.\n" for n in range(5000)).encode()
    file = make(tmp_path / f"a.txt{packing}", pack(text, packing) + b"garbage")
    for kind in (DataFormat.LINES, DataFormat.TEXT):
        units = list(read_units(replace(file, kind=kind)))
        assert "".join(map(_whole, units)).encode() == text
        assert [unit.problem.id for unit in units if unit.problem] == [f"{file.name}:rest"]


def test_reading_a_bad_line_leaves_its_block_readable(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    data = b"One.\nTwo.\n\xff\nA\0\nThree.\n```\nx = 1\n\xff\ny = 2\n```\nFour.\n"
    units = list(read_units(make(Path("a.txt"), data)))
    assert [[each.source for each in unit.sentences] for unit in units] == [
        ["One.", "Two."],
        [],
        [],
        ["Three."],
        [],
        ["Four."],
    ]
    assert [str(unit.problem) for unit in units if unit.problem] == [
        "a.txt, line 3: the bytes are not UTF-8 text.",
        "a.txt, line 4: there is a NUL character in it, so it is not text.",
        "a.txt, line 8: the bytes are not UTF-8 text.",
    ]
    assert units[-1].sentences[0].id == "a.txt:11:1"
    for skip in range(len(units) + 1):
        assert list(read_units(find_inputs(["a.txt"])[0], skip=skip)) == units[skip:]


def test_reading_a_quote_that_is_not_closed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    rows = b'1,"One,\ntwo."\n2,"Three.\n3,Four.\n4,"Fi\xffve,\nsix."\n5,"Seven.\n6,Eight."\n'
    file = make(Path("a.csv"), b"n,text\n" + rows + b'7,"Nine."x,"')
    units = list(read_units(file, TEXT))
    assert [each.source for unit in units for each in unit.sentences] == [
        "One,\ntwo.",
        "Four.",
        "Seven.\n6,Eight.",
    ]
    assert [str(unit.problem) for unit in units if unit.problem] == [
        "a.csv, line 4: a quote is opened in this line, and not closed again.",
        "a.csv, line 6: the bytes are not UTF-8 text.",
        "a.csv, line 10: a quote is opened in this line, and not closed again.",
    ]


def test_reading_a_quote_that_is_closed_too_late(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reading, "LONGEST", 100)
    rows = "".join(f"{n},Plum {n}.\n" for n in range(40))
    file = make(tmp_path / "a.csv", f'n,text\n0,"Plum.\n{rows}{rows}9,"\n'.encode())
    units = list(read_units(file, TEXT))
    assert len(units) == 82
    assert [n for n, unit in enumerate(units) if unit.problem] == [0, 81]


@pytest.mark.parametrize("name", ["a.jsonl", "a.csv", "a.tsv", "a.parquet", "lines"])
def test_reading_what_is_too_long_for_a_sentence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.setattr(reading, "LONGEST_SENTENCE", 20)
    cells = ["One.", "A" * 30, "Two."]
    is_lines = name == "lines"
    made = {"a.parquet": table(cells), "lines": "\n".join(cells).encode()}
    data = made.get(name) or MADE[name.removeprefix("a.")](cells)
    file = make(tmp_path / name, data, DataFormat.LINES if is_lines else None)
    units = list(read_units(file, Columns(None if is_lines else "text")))
    assert [len(unit.sentences) for unit in units] == [1, 0, 1]
    problem = units[1].problem
    assert problem is not None
    assert problem.source == cells[1]
    assert problem.complaint == "it has 30 characters, and no sentence has over 20"
    assert units[1].rebuild([]) == f"{cells[1]}\n"


def test_reading_whole_documents_in_small_batches(tmp_path: Path) -> None:
    file = make(tmp_path / "a.jsonl", jsonl(["word " * 20_000] * 20))
    batches = list(read_batches([file], TEXT, sentences=256))
    assert [len(batch.units) for batch in batches] == [3] * 6 + [2]


def test_reading_the_last_line_has_an_end_where_another_file_follows(tmp_path: Path) -> None:
    data = {"a": b"One.", "b": b"\xff", "c": b"Two.\nThree.", "d": b"Four."}
    files = [make(tmp_path / name, text, DataFormat.LINES) for name, text in data.items()]
    for by_file in (False, True):
        batches = read_batches(files, sentences=2, by_file=by_file)
        text = "".join(_whole(unit) for batch in batches for unit in batch.units)
        expected = (b"" if by_file else b"\n").join(data.values())
        assert text.encode("utf-8", "surrogateescape") == expected


def test_reading_again_counts_only_what_is_left(tmp_path: Path) -> None:
    file = make(tmp_path / "a.jsonl", jsonl([f"Ann ate {n} plums." for n in range(20_000)]))
    batches = list(read_batches([file], TEXT, sentences=1000))
    again = list(read_batches([file], TEXT, batches[14].end, sentences=1000))
    assert sum(batch.size for batch in batches) == file.size
    left = sum(batch.size for batch in again)
    assert abs(left - file.size / 4) < file.size / 20


def test_reading_keeps_the_id_of_a_bad_record(tmp_path: Path) -> None:
    data = b'{"id": "r1", "text": 5}\n{"id": 2, "text": "A\\u0000."}\n{"id": {}}\n'
    units = list(read_units(make(tmp_path / "a.jsonl", data), TEXT))
    assert [unit.problem and unit.problem.id for unit in units] == ["r1", "2", "{}"]


def test_reading_files_that_are_no_parquet(tmp_path: Path) -> None:
    for name, data in (("a.parquet", b"PAR1 no more"), ("b.parquet", b"")):
        file = make(tmp_path / name, data)
        check_columns([file], TEXT)
        (unit,) = read_units(file, TEXT)
        assert str(unit.problem).startswith(f"{file.name}: the file is damaged")
        assert list(read_units(file, TEXT, skip=1)) == []


def test_reading_a_parquet_column_of_nulls(tmp_path: Path) -> None:
    path = tmp_path / "a.parquet"
    parquet.write_table(pa.table({"text": pa.nulls(2)}), path)
    problems = [unit.problem for unit in read_units(find_inputs([str(path)])[0], TEXT)]
    assert [problem and problem.complaint for problem in problems] == [
        'there is nothing in the column "text"'
    ] * 2


def test_reading_goes_on_after_a_broken_group_of_one_row(tmp_path: Path) -> None:
    path = tmp_path / "a.parquet"
    cells = [f"{n} plums and {n * n} pears were eaten." for n in range(4)]
    parquet.write_table(pa.table({"text": cells}), path, row_group_size=1, use_dictionary=False)
    about = parquet.ParquetFile(path).metadata.row_group(1).column(0)
    data = bytearray(path.read_bytes())
    data[about.data_page_offset : about.data_page_offset + about.total_compressed_size] = bytes(
        about.total_compressed_size
    )
    path.write_bytes(data)
    file = find_inputs([str(path)])[0]
    units = list(read_units(file, TEXT))
    assert [len(unit.sentences) for unit in units] == [1, 0]
    assert list(read_units(file, TEXT, skip=2)) == []


def test_reading_a_broken_parquet_file(tmp_path: Path) -> None:
    data = bytearray(table([f"Ann ate {n} plums." for n in range(100)]))
    path = tmp_path / "a.parquet"
    data[600:1400] = bytes(800)
    path.write_bytes(data)
    file = find_inputs([str(path)])[0]
    units = list(read_units(file, TEXT))
    assert "the file is damaged" in str(units[-1].problem)
    assert list(read_units(file, TEXT, skip=len(units) - 1)) == units[-1:]
    assert list(read_units(file, TEXT, skip=len(units))) == []


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
    if not "".join(cells).strip():  # an empty file is refused
        content = table(["One."]) if suffix == "parquet" else MADE[suffix](["One."])
    files = [make(folder / f"{n}.{suffix}", content) for n in range(2)]
    column = Columns(None if suffix == "txt" else "text")
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
    file = make(tmp_path / "a.txt", b"\n" * 100 + b"One.\n" * 5, DataFormat.LINES)
    sizes = [len(batch.units) for batch in read_batches([file], sentences=3)]
    assert sizes == [24, 24, 24, 24, 7, 2]


def test_reading_batches_of_long_lines_are_small(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reading, "_LENGTH", 10)
    file = make(tmp_path / "a.txt", (b"x" * 399 + b"\n") * 5, DataFormat.LINES)
    assert [len(batch.units) for batch in read_batches([file], sentences=100)] == [3, 2]


@pytest.mark.parametrize(
    ("name", "data", "column", "message"),
    [
        ("a.parquet", table(["One."]), "body", 'has no column "body"; its columns are: text, n.'),
        ("a.parquet", table(["One."]), None, "has the columns text, n; name one with --column."),
        ("a.parquet", table(["One."]), "n", "is int64, not text."),
        ("a.csv", b"n,text\n1,One.\n", "body", 'has no column "body"; its columns are: n, text.'),
        ("a.txt", b"One.\n", "text", "is text, which has no columns."),
    ],
)
def test_reading_refuses_a_wrong_column(
    tmp_path: Path, name: str, data: bytes, column: str | None, message: str
) -> None:
    with pytest.raises(InputError) as caught:
        check_columns([make(tmp_path / name, data)], Columns(column))
    assert str(caught.value).endswith(message)


def test_reading_refuses_two_columns_of_a_name(tmp_path: Path) -> None:
    path = tmp_path / "a.parquet"
    parquet.write_table(pa.table([["One."], ["Two."]], names=["text", "text"]), path)
    with pytest.raises(InputError, match='has more than one column "text"'):
        check_columns(find_inputs([str(path)]), TEXT)


@pytest.mark.parametrize("kind", [DataFormat.TEXT, DataFormat.LINES])
@pytest.mark.parametrize("text", ["\ufeff", "\ufeffOne.\n", "\ufeff\n", "\ufeff\0"])
def test_reading_text_keeps_its_byte_order_mark(
    tmp_path: Path, text: str, kind: DataFormat
) -> None:
    units = list(read_units(make(tmp_path / "a.txt", text.encode(), kind)))
    assert "".join(map(_whole, units)) == text


def test_reading_a_byte_order_mark(tmp_path: Path) -> None:
    file = make(tmp_path / "a.csv", "\ufefftext\nOne.\n".encode())
    assert sources(file, "text") == ["One."]


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("a.jsonl", DataFormat.JSONL),
        ("a.b.jsonl.zst", DataFormat.JSONL),
        ("A.CSV.GZ", DataFormat.CSV),
        ("a.parquet", DataFormat.PARQUET),
        ("a.gz", None),
        ("README", None),
    ],
)
def test_files_kind_by_name(name: str, kind: DataFormat | None) -> None:
    assert data_format(name) is kind


def test_files_in_folders_and_patterns_come_sorted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("d/b.txt", "d/a/c.jsonl.gz", "d/.hidden.txt", "d/picture.png", "x.csv"):
        Path(name).parent.mkdir(parents=True, exist_ok=True)
        Path(name).write_bytes(b"One.\n")
    assert [str(file.path) for file in find_inputs(["x.csv", "d"])] == [
        "x.csv",
        "d/a/c.jsonl.gz",
        "d/b.txt",
    ]
    assert [str(file.place) for file in find_inputs(["d"])] == ["a/c.jsonl.gz", "b.txt"]
    assert [str(file.place) for file in find_inputs(["d/**/*.gz"])] == ["a/c.jsonl.gz"]
    assert [file.name for file in find_inputs(["d"], column="text")] == ["d/a/c.jsonl.gz"]
    with pytest.raises(InputError, match=r"No file matches d/\*\.csv\."):
        find_inputs(["d/*.csv"])
    with pytest.raises(InputError, match=r"There is no file y\.csv\."):
        find_inputs(["y.csv"])


def test_reading_opens_many_small_files_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("in").mkdir()
    for n in range(5):
        Path("in", f"{n}.csv").write_text(f"text\nAnn ate {n} plums.\n")
    real, opened = Path.open, []

    def noted(path: Path, *arguments: Any, **options: Any) -> Any:
        if path.suffix == ".csv":
            opened.append(path.name)
        return real(path, *arguments, **options)

    monkeypatch.setattr(Path, "open", noted)
    arguments = ["split", "in", "-c", "text", "-s", "source", "-o", "out.parquet", "-j", "1"]
    assert main(arguments) == 0
    assert opened == [f"{n}.csv" for n in range(5)]
    Path("in", "3.csv").write_text("text\nBob left.\n")
    opened.clear()
    assert main([*arguments[:-4], "-o", "-", "-f", "text"]) == 0
    assert opened == [f"{n}.csv" for n in range(5)]
