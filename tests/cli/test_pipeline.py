"""One pipeline: format of the input, format of the output, error policy and resuming are
independent, columns are kept, and a row gives a row."""

import csv
import gzip
import io
import json
import subprocess
import sys
from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

pa = pytest.importorskip("pyarrow")
parquet = pytest.importorskip("pyarrow.parquet")

Run = Callable[..., Any]

SOURCES = ["Ann came; Bob left.", "It rained; Eve sang."]
SIMPLE = [["Ann came.", "Bob left."], ["It rained.", "Eve sang."]]


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def table(delimiter: str) -> bytes:
    text = io.StringIO()
    writer = csv.writer(text, delimiter=delimiter, lineterminator="\n")
    writer.writerows([["source", "n"], *([each, "1"] for each in SOURCES)])
    return text.getvalue().encode()


def as_parquet() -> bytes:
    sink = io.BytesIO()
    parquet.write_table(pa.table({"source": SOURCES, "n": [1, 1]}), sink)
    return sink.getvalue()


def zstd(data: bytes) -> bytes:
    packed: bytes = pa.Codec("zstd").compress(data, asbytes=True)
    return packed


MADE = {
    "text": "\n\n".join(SOURCES).encode(),
    "lines": "\n".join(SOURCES).encode(),
    "tsv": table("\t"),
    "csv": table(","),
    "jsonl": b"".join(json.dumps({"source": each}).encode() + b"\n" for each in SOURCES),
    "parquet": as_parquet(),
}
PACKINGS: dict[str, Callable[[bytes], bytes]] = {"": bytes, ".gz": gzip.compress, ".zst": zstd}
INPUTS = [
    (kind, packing) for kind in MADE for packing in PACKINGS if kind != "parquet" or not packing
]
FORMATS = ["text", "json", "jsonl", "parquet", "diff", "html"]


def split(run: Run, *arguments: object, stdin: bytes = b"", code: int = 0) -> str:
    done = run("split", "-s", "semicolon", *arguments, stdin=stdin)
    assert done.code == code, done.err
    return str(done.out)


def lines(text: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in text.splitlines()]


@pytest.mark.parametrize(("kind", "packing"), INPUTS)
@pytest.mark.parametrize("place", ["file", "folder", "stdin"])
def test_pipeline_reads_every_input_from_everywhere(
    run: Run, kind: str, packing: str, place: str
) -> None:
    data = PACKINGS[packing](MADE[kind])
    suffix = {"text": "txt", "lines": "txt"}.get(kind, kind)
    Path("in").mkdir()
    path = Path(f"in/a.{suffix}{packing}")
    path.write_bytes(data)
    argument = {"file": str(path), "folder": "in", "stdin": "-"}[place]
    stdin = data if place == "stdin" else b""
    made = lines(split(run, argument, "-i", kind, "-f", "jsonl", stdin=stdin))
    assert [each["simple"] for each in made] == SIMPLE


@pytest.mark.parametrize("kind", MADE)
@pytest.mark.parametrize("form", FORMATS)
@pytest.mark.parametrize("place", ["file", "stdin"])
def test_pipeline_writes_every_format_for_every_input(
    run: Run, kind: str, form: str, place: str
) -> None:
    Path("a").write_bytes(MADE[kind])
    argument, stdin = ("a", b"") if place == "file" else ("-", MADE[kind])
    split(run, argument, "-i", kind, "-f", form, "-o", "out", stdin=stdin)
    if form == "parquet":
        assert parquet.read_table("out")["simple"].to_pylist() == SIMPLE
    else:
        text = Path("out").read_text()
        if form == "text":
            gap = "\n\n" if kind == "text" else "\n"
            assert text.strip() == gap.join(" ".join(each) for each in SIMPLE)
        elif form == "diff":
            assert "+ Ann came.\n+ Bob left.\n" in text
        elif form == "html":
            assert text.count("<article") == 2
            assert text.endswith("</html>\n")
        else:
            made = json.loads(text) if form == "json" else lines(text)
            assert [each["simple"] for each in made] == SIMPLE
    assert sorted(path.name for path in Path().iterdir()) == ["a", "out"]


@pytest.mark.parametrize("kind", ["jsonl", "csv", "parquet"])
def test_pipeline_explains_every_input(run: Run, kind: str) -> None:
    path = Path(f"a.{kind}.gz" if kind == "jsonl" else f"a.{kind}")
    path.write_bytes(gzip.compress(MADE[kind]) if kind == "jsonl" else MADE[kind])
    shown = split(run, path, "--explain")
    assert "  → Ann came.\n  → Bob left.\n" in shown
    made = lines(split(run, path, "--explain", "-f", "jsonl"))
    assert [each["patterns"] for each in made] == [[], []]


@pytest.mark.parametrize("options", [[], ["--column", "source"], ["-o", "out.jsonl"], ["-j", "2"]])
@pytest.mark.parametrize("form", FORMATS)
def test_pipeline_has_one_error_policy(run: Run, options: list[str], form: str) -> None:
    if form == "parquet" and "-o" not in options:
        options = [*options, "-o", "out.parquet"]
    Path("bad.jsonl").write_text('{"source": "It rained."}\n{\n')
    command = ["split", "bad.jsonl", "-s", "source", "-f", form, *options]
    done = run(*command)
    assert done.code == 3
    assert done.err.startswith("parataxis: bad.jsonl, line 2: this is not a line of JSON.\n")
    assert "parataxis: Passed through as they were: 1 record.\n" in done.err
    stopped = run(*command[:2], *command[2:], "--on-error", "stop", "-o", "other")
    assert (stopped.code, stopped.out) == (2, "")
    assert stopped.err == "parataxis: bad.jsonl, line 2: this is not a line of JSON.\n"
    assert not Path("other").exists()


@pytest.mark.parametrize("form", FORMATS)
@pytest.mark.parametrize("packing", ["", ".gz"])
def test_pipeline_can_be_resumed_whatever_it_writes(run: Run, form: str, packing: str) -> None:
    if form == "parquet" and packing:
        return
    rows = "".join(f"Ann ate {n} plums.,x\n" for n in range(600))
    Path("a.csv").write_text(f"source,x\n{rows},y\nIt rained.,z\n")
    command = ["split", "a.csv", "-s", "source", "-f", form, "-j", 1]
    assert run(*command, "-o", f"whole{packing}").code == 3
    assert run(*command, "-o", f"out{packing}", "--on-error", "stop").code == 2
    assert Path(f"out{packing}.unfinished").exists()
    assert run(*command, "-o", f"out{packing}", "--resume").code == 3
    assert Path(f"out{packing}").read_bytes() == Path(f"whole{packing}").read_bytes()


def test_pipeline_resumes_text_that_was_given(run: Run) -> None:
    assert split(run, "Ann came; Bob left.", "--resume", "-o", "o.jsonl") == ""
    (record,) = lines(Path("o.jsonl").read_text())
    assert record["simple"] == SIMPLE[0]


TYPES = {
    "id": pa.array([7, 8], pa.int32()),
    "text": pa.array(["Ann came; Bob left. It rained.", "Eve sang."], pa.large_string()),
    "day": pa.array([datetime(2026, 5, 1), None], pa.timestamp("ns")),
    "score": pa.array([0.5, None], pa.float32()),
    "tags": pa.array([["a"], []], pa.list_(pa.string())),
    "doc": pa.array([{"body": "It rained; Eve sang."}, {"body": "Tom left."}]),
    "raw": pa.array([b"\xff", b""], pa.binary()),
    "error": pa.array(["x", "y"]),
}
OWN = [
    "source",
    "simple",
    "splitter",
    "weights",
    "note",
    "confidence",
    "further",
    "findings",
    "error",
    "more",
]


@pytest.mark.parametrize("output", ["out.parquet", "out/"])
def test_pipeline_keeps_every_column_with_its_type(run: Run, output: str) -> None:
    given = pa.table(TYPES)
    parquet.write_table(given, "a.parquet")
    split(run, "a.parquet", "--column", "text", "-o", output)
    made = parquet.read_table("out/a.parquet" if output == "out/" else output)
    kept = [name for name in TYPES if name != "error"]
    assert made.column_names == [*kept, *OWN]
    assert made.select(kept).equals(given.select(kept))
    assert made["simple"].to_pylist() == [["Ann came.", "Bob left.", "It rained."], ["Eve sang."]]
    split(run, "a.parquet", "-c", "text", "-f", "jsonl", "-o", "o.jsonl")
    first = lines(Path("o.jsonl").read_text())[0]
    assert (first["id"], first["score"], first["tags"]) == (7, 0.5, ["a"])
    assert first["day"].startswith("2026-05-01")


FIVE_NANOSECONDS = "1970-01-01 00:00:00.000000005"


@pytest.mark.parametrize(
    ("values", "kind", "shown"),
    [
        ([1, None], pa.timestamp("ns", tz="UTC"), "1970-01-01 00:00:00.000000001Z"),
        ([-(10**17), None], pa.timestamp("us"), "-1199-02-15 14:13:20.000000"),
        ([5, None], pa.time64("ns"), "00:00:00.000000005"),
        (
            [[{"at": 5}], []],
            pa.list_(pa.struct([("at", pa.timestamp("ns"))])),
            [{"at": FIVE_NANOSECONDS}],
        ),
        ([[("a", 1)], None], pa.map_(pa.string(), pa.int32()), [["a", 1]]),
    ],
)
def test_pipeline_keeps_values_that_python_cannot_hold(
    run: Run, values: list[Any], kind: Any, shown: object
) -> None:
    column = pa.array(values, kind)
    table = pa.table({"text": ["It rained.", "Ann left."], "value": column})
    parquet.write_table(table, "a.parquet")
    split(run, "a.parquet", "--column", "text", "-o", "o.parquet")
    assert parquet.read_table("o.parquet")["value"].combine_chunks().equals(column)
    split(run, "a.parquet", "--column", "text", "-o", "o.jsonl")
    assert lines(Path("o.jsonl").read_text())[0]["value"] == shown


@pytest.mark.parametrize(
    ("keep", "kept"), [("id,score", ["id", "score"]), ("none", []), ("tags", ["tags"])]
)
def test_pipeline_keeps_the_columns_that_are_asked_for(
    run: Run, keep: str, kept: list[str]
) -> None:
    parquet.write_table(pa.table(TYPES), "a.parquet")
    split(run, "a.parquet", "-c", "text", "--keep", keep, "-o", "out.parquet")
    own = OWN if "id" in kept else ["id", *OWN]
    assert parquet.read_table("out.parquet").column_names == [*kept, *own]
    done = run("split", "a.parquet", "-s", "source", "-c", "text", "--keep", "x", "-o", "p.parquet")
    assert done.code == 2
    assert 'a.parquet has no column "x" to keep; it has: id, text' in done.err


def test_pipeline_keeps_the_fields_of_records(run: Run) -> None:
    records = [
        {"id": 7, "text": "Ann came; Bob left.", "n": 1, "deep": {"x": [1]}, "odd": 1},
        {"id": 8, "text": "It rained.", "n": 2, "deep": {}, "odd": "two", "late": True},
    ]
    Path("a.jsonl").write_text("".join(f"{json.dumps(each)}\n" for each in records))
    made = lines(split(run, "a.jsonl", "-c", "text", "-f", "jsonl"))
    for each, before in zip(made, records, strict=True):
        assert {key: each[key] for key in before} == before
    split(run, "a.jsonl", "-c", "text", "-o", "o.parquet")
    rows = parquet.read_table("o.parquet")
    assert rows.select(["id", "text", "n", "late"]).to_pylist() == [
        {"id": 7, "text": "Ann came; Bob left.", "n": 1, "late": None},
        {"id": 8, "text": "It rained.", "n": 2, "late": True},
    ]
    assert rows.schema.field("id").type == pa.int64()
    assert [json.loads(more) for more in rows["more"].to_pylist()] == [
        {"deep": {"x": [1]}, "odd": 1},
        {"deep": {}, "odd": "two"},
    ]


def test_pipeline_reports_a_row_with_more_cells_than_the_header(run: Run) -> None:
    Path("a.csv").write_text("id,text\n1,Hello there, Ann.\n2,Bob left.,\n")
    code, made, errors = run("split", "a.csv", "-c", "text", "-s", "source")
    assert code == 3
    assert made == "1,Hello there, Ann.\nBob left.\n"
    assert errors.startswith("parataxis: a.csv, line 2: it has 3 cells, and the header 2.\n")


def test_pipeline_keeps_the_columns_of_a_bad_row(run: Run) -> None:
    parquet.write_table(pa.table({"id": [7, 8], "text": ["It rained.", None]}), "a.parquet")
    split(run, "a.parquet", "-c", "text", "-o", "o.parquet", code=3)
    rows = parquet.read_table("o.parquet").to_pylist()
    assert [(row["id"], row["simple"]) for row in rows] == [(7, ["It rained."]), (8, [])]
    assert rows[1]["error"] == 'there is nothing in the column "text"'


@pytest.mark.parametrize("name", ["a.parquet", "a.jsonl"])
def test_pipeline_reads_nested_fields(run: Run, name: str) -> None:
    rows = [{"doc": {"body": {"text": each}}} for each in SOURCES]
    if name == "a.parquet":
        parquet.write_table(pa.Table.from_pylist(rows), name)
    else:
        Path(name).write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    made = lines(split(run, name, "--column", "doc.body.text", "-f", "jsonl"))
    assert [each["simple"] for each in made] == SIMPLE
    assert [each["doc"] for each in made] == [row["doc"] for row in rows]
    for missing in ("doc.body.x", "body", "x.y"):
        done = run("split", name, "-s", "source", "--column", missing, "-f", "jsonl")
        assert (done.code, done.out, done.err.count("\n")) == (2, "", 1)
        assert f'{name} has no column "{missing}"' in done.err
    piped = run("split", "-i", "jsonl", "-c", "x", stdin='{"text": "It rained."}\n')
    assert (piped.code, piped.out) == (2, "")
    assert 'stdin has no column "x"; its columns are: text.' in piped.err


TWO = "Ann came; Bob left.\n\nIt  rained; Eve sang."


@pytest.mark.parametrize("kind", ["csv", "jsonl", "parquet", "tsv"])
def test_pipeline_gives_a_row_for_a_row(run: Run, kind: str) -> None:
    name, cell = f"a.{kind}", TWO if kind != "tsv" else " ".join(TWO.split())
    match kind:
        case "parquet":
            parquet.write_table(pa.table({"id": [7], "text": [cell]}), name)
        case "jsonl":
            Path(name).write_text(json.dumps({"id": 7, "text": cell}))
        case _:
            with Path(name).open("w", newline="") as stream:
                delimiter = "\t" if kind == "tsv" else ","
                csv.writer(stream, delimiter=delimiter).writerows([["id", "text"], ["7", cell]])
    command = [name, "-c", "text", "-f", "jsonl"]
    (row,) = lines(split(run, *command))
    assert (str(row["id"]), row["source"], row["text"]) == ("7", cell, cell)
    assert row["simple"] == [*SIMPLE[0], *SIMPLE[1]]
    (whole,) = lines(split(run, *command, "--cell", "sentence"))
    assert whole["source"] == cell
    assert len(whole["simple"]) == 3  # it is cut at the semicolons alone
    rows = lines(split(run, *command, "--rows", "sentence"))
    assert [each["source"] for each in rows] == SOURCES
    assert [each["simple"] for each in rows] == SIMPLE
    assert [str(each["id"]) for each in rows] in (["7", "7"], ["7:1", "7:2"])
    assert split(run, name, "-c", "text") == "Ann came. Bob left. It  rained. Eve sang.\n".replace(
        "  ", "  " if kind != "tsv" else " "
    ).replace("It  rained", "It rained")


def test_pipeline_joins_provenance_and_findings_of_a_row(run: Run) -> None:
    cell = "Ann came, and Bob left.\nThe mill, which was  built in 1850, burned down."
    Path("a.jsonl").write_text(json.dumps({"text": cell}))
    done = run("split", "a.jsonl", "-c", "text", "-s", "rules", "--explain", "-f", "jsonl")
    (row,) = lines(done.out)
    assert row["simple"][-1] == "The mill was built in 1850."
    for tokens in row["provenance"]:
        for token in tokens:
            if token["origin"] == "copied":
                start, end = token["source"]
                assert cell[start:end].lower() == token["text"].lower()
    words = [(cell[each["start"] : each["end"]], each["words"]) for each in row["patterns"]]
    assert words
    assert all(" ".join(found.split()) == given for found, given in words)


@pytest.mark.parametrize(
    ("options", "expected"), [([], False), (["--provenance"], True), (["--no-provenance"], False)]
)
def test_pipeline_has_provenance_in_tables_on_request(
    run: Run, options: list[str], expected: bool
) -> None:
    split(run, "Ann came; Bob left.", "-o", "o.parquet", *options, "-s", "rules")
    assert ("provenance" in parquet.read_table("o.parquet").column_names) is expected
    (record,) = lines(split(run, "Ann came; Bob left.", "-f", "jsonl", *options, "-s", "rules"))
    assert ("provenance" in record) is (options != ["--no-provenance"])


def test_pipeline_walks_through_few_files() -> None:
    """One sentence must not load what only tables, files, clusters or documents need."""

    program = (
        "import sys; from parataxis.cli.main import main; main(['split', 'It rained.']);"
        "print(*[name for name in sys.modules if name.startswith('parataxis.run.')])"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    loaded = {name.removeprefix("parataxis.run.") for name in done.stdout.splitlines()[-1].split()}
    rare = {"checkpoint", "cluster", "documents", "gpu", "output", "pool", "ray", "tables"}
    assert not loaded & rare
    assert len(loaded) <= 10


def test_pipeline_keeps_a_column_provenance_unless_it_writes_its_own(run: Run) -> None:
    Path("a.jsonl").write_text('{"source": "It rained.", "provenance": "the archive"}\n')
    (record,) = lines(split(run, "a.jsonl", "-f", "jsonl", "--no-provenance"))
    assert record["provenance"] == "the archive"
    (record,) = lines(split(run, "a.jsonl", "-f", "jsonl", "--provenance"))
    assert record.get("provenance") != "the archive"
    split(run, "a.jsonl", "-o", "o.parquet")
    assert parquet.read_table("o.parquet")["provenance"].to_pylist() == ["the archive"]


def test_pipeline_keeps_dictionary_columns(run: Run) -> None:
    langs = pa.array(["en", None, "en"]).dictionary_encode()
    table = pa.table({"source": [*SOURCES, "Tom sang."], "lang": langs})
    parquet.write_table(table, "a.parquet")
    split(run, "a.parquet", "-o", "o.parquet")
    made = parquet.read_table("o.parquet")["lang"]
    assert (made.type, made.to_pylist()) == (langs.type, ["en", None, "en"])
    parquet.write_table(pa.table({"source": SOURCES, "lang": ["de", "fr"]}), "b.parquet")
    split(run, "a.parquet", "b.parquet", "-o", "both.parquet")
    made = parquet.read_table("both.parquet")["lang"]
    assert (made.type, made.to_pylist()) == (pa.string(), ["en", None, "en", "de", "fr"])


@pytest.mark.parametrize("name", ["a.txt", "a.txt.gz", "a.txt.zst"])
def test_pipeline_refuses_an_empty_file_compressed_or_not(run: Run, name: str) -> None:
    Path(name).write_bytes(PACKINGS[Path(name).suffix.replace(".txt", "")](b"\n"))
    done = run("split", "-s", "semicolon", name)
    assert (done.code, done.err) == (2, f"parataxis: {name} is empty.\n")


@pytest.mark.parametrize(
    ("name", "data", "options", "message"),
    [
        ("a.txt", b"It rained.", ["--keep", "a"], "a.txt is text, which has no columns."),
        ("a.tsv", b"source\ta\nIt rained.\t1\n", ["--keep", "a"], "a.tsv is read without its"),
        ("-", b"PK\x03\x04\0\0", [], "stdin is a Word document or another zip archive, not text"),
    ],
)
def test_pipeline_says_what_cannot_be_read_as_asked(
    run: Run, name: str, data: bytes, options: list[str], message: str
) -> None:
    if name != "-":
        Path(name).write_bytes(data)
    done = run("split", "-s", "semicolon", name, *options, stdin=data)
    assert (done.code, done.out, done.err.count("\n")) == (2, "", 1)
    assert done.err.startswith(f"parataxis: {message}")


def test_pipeline_keeps_a_column_level(run: Run) -> None:
    Path("a.jsonl").write_text('{"source": "It rained.", "level": 3}\n')
    (record,) = lines(split(run, "a.jsonl", "-f", "jsonl"))
    assert record["level"] == 3
    split(run, "a.jsonl", "-o", "o.parquet")
    assert parquet.read_table("o.parquet")["level"].to_pylist() == [3]
