"""``parataxis corpus build-websplit``, ``split`` and ``verify``."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from parataxis.evaluate.corpora.websplit import TEXT_FILE, WebSplit10

Run = Callable[..., Any]
PARTS_FILE = WebSplit10.parts_file


@pytest.fixture
def webnlg(tmp_path: Path) -> Path:
    """Sixty invented places: one triple sets for their hills and rivers, and both together."""
    folder = tmp_path / "webnlg"
    folder.mkdir()
    entries = []
    for n in range(60):
        hill, river = f"P{n} | hill | H{n}", f"P{n} | river | R{n}"
        texts = {
            (hill,): [f"P{n} has the hill H{n}."],
            (river,): [f"P{n} is on the R{n}.", f"The R{n} flows through P{n}."],
            (hill, river): [f"P{n}, on the R{n}, has the hill H{n}."],
        }
        for triples, lex in texts.items():
            rows = "".join(f"<mtriple>{each}</mtriple>" for each in triples)
            said = "".join(f'<lex comment="good">{each}</lex>' for each in lex)
            name = f'category="Place" eid="Id{n}" size="{len(triples)}"'
            entries.append(f"<entry {name}>{rows}{said}</entry>")
    (folder / "all.xml").write_text(f"<benchmark>{''.join(entries)}</benchmark>", encoding="utf-8")
    return folder


@pytest.fixture
def benchmark(run: Run, webnlg: Path, tmp_path: Path) -> Path:
    folder = tmp_path / "websplit"
    result = run("corpus", "build-websplit", webnlg, "--to", f"websplit-v1.0:{folder}")
    assert result.code == 0
    return folder


def test_build_websplit_prints_counts_beside_the_papers(
    run: Run, webnlg: Path, tmp_path: Path
) -> None:
    result = run("corpus", "build-websplit", webnlg, "--to", f"websplit-v1.0:{tmp_path / 'out'}")
    assert result.code == 0
    lines = [line.split() for line in result.out.splitlines()]
    assert lines[0] == ["here", "unique", "v0.1", "unique", "v1.0", "unique"]
    complex_, simple = ("120 60 1,066,115 5,544 1,452,110 18,830", "240 180 5,320,716 9,552 31,159")
    assert ["complex", "sentences", *complex_.split()] in lines
    assert ["simple", "sentences", *simple.split()] in lines
    assert "60 complex sentences written" in result.err
    assert (tmp_path / "out" / TEXT_FILE).is_file()


def test_build_websplit_as_json_and_in_another_format(
    run: Run, webnlg: Path, tmp_path: Path
) -> None:
    path = tmp_path / "websplit.jsonl"
    result = run(
        *("corpus", "build-websplit", webnlg, "--to", f"jsonl:{path}"),
        *("--max-references", 1, "--seed", 4, "--format", "json"),
    )
    counts = json.loads(result.out)
    assert counts["webnlg"]["texts"] == 240
    assert counts["websplit"]["complex"] == counts["websplit"]["complex_unique"] == 60
    record = json.loads(path.read_text(encoding="utf-8").splitlines()[0])
    assert record["source"] == "P0, on the R0, has the hill H0."
    assert record["triples"] == [["P0", "hill", "H0"], ["P0", "river", "R0"]]
    assert record["simple"][0] == "P0 has the hill H0."


@pytest.mark.parametrize("xml", ["<benchmark></benchmark>", "<benchmark>", None])
def test_build_websplit_of_nothing_is_told_in_a_sentence(
    run: Run, tmp_path: Path, xml: str | None
) -> None:
    path = tmp_path / "some.xml"
    if xml is not None:
        path.write_text(xml, encoding="utf-8")
    result = run("corpus", "build-websplit", path, "--to", f"websplit-v1.0:{tmp_path / 'out'}")
    assert (result.code, result.out) == (2, "")
    assert result.err.count("\n") == 1
    assert not (tmp_path / "out").exists()


def test_build_websplit_of_some_categories(run: Run, webnlg: Path, tmp_path: Path) -> None:
    words = ("corpus", "build-websplit", webnlg, "--to", f"jsonl:{tmp_path / 'a.jsonl'}")
    assert run(*words, "--category", "Place").code == 0
    result = run(*words, "--category", "Plaice")
    assert result.code == 2
    assert 'no category "Plaice" in WebNLG\'s files; they have Place.' in result.err


def test_split_then_verify(run: Run, benchmark: Path) -> None:
    result = run("corpus", "split", f"websplit-v1.0:{benchmark}", "--seed", 3)
    assert result.code == 0
    assert "60 groups of sentences tied by triples, the largest of 1; 0 sentences" in result.out
    parts = json.loads((benchmark / PARTS_FILE).read_text(encoding="utf-8"))
    assert {name: len(ids) for name, ids in parts.items()} == {
        "TRAIN": 48,
        "VALIDATION": 6,
        "TEST": 6,
    }
    verified = run("corpus", "verify", f"websplit-v1.0:{benchmark}", "--fail")
    assert verified.code == 0
    assert "60 sources, 120 triples and 2 relations looked at" in verified.out
    assert verified.out.splitlines()[1:4] == [
        "train            48",
        "validation        6",
        "test              6",
    ]
    by_parts = run(
        *("corpus", "verify", f"websplit-v1.0:{benchmark}/test", "--fail"),
        *("--train", f"websplit-v1.0:{benchmark}/train"),
    )
    assert by_parts.code == 0
    assert "54 sources" in by_parts.out


def test_split_shares_and_json(run: Run, benchmark: Path, tmp_path: Path) -> None:
    path = tmp_path / "parts.json"
    result = run(
        *("corpus", "split", f"websplit-v1.0:{benchmark}", "--shares", "50/30/20"),
        *("--output", path, "--format", "json"),
    )
    record = json.loads(result.out)
    assert [record[part]["complex_unique"] for part in ("train", "validation", "test")] == [
        30,
        18,
        12,
    ]
    seen = {each["kind"]: each for each in record["test"]["in_training"]}
    assert (seen["relations"]["unique_found"], seen["relations"]["unique_total"]) == (2, 2)
    simple = seen["simple sentences, verbatim"]
    assert (simple["found"], simple["total"]) == (0, 48)
    assert (record["dropped"], record["groups"]) == (0, 60)
    assert not (benchmark / PARTS_FILE).exists()


def test_split_by_chance(run: Run, benchmark: Path, tmp_path: Path) -> None:
    parts = tmp_path / "parts.json"
    result = run("corpus", "split", f"websplit-v1.0:{benchmark}", "--by", "chance", "-o", parts)
    assert result.code == 0
    assert "886,857" in result.out  # table 1 of the paper, and not table 4
    assert {name: len(ids) for name, ids in json.loads(parts.read_text()).items()} == {
        "TRAIN": 48,
        "VALIDATION": 6,
        "TEST": 6,
    }


def test_split_and_leaks_count_alike(run: Run, benchmark: Path) -> None:
    corpus = f"websplit-v1.0:{benchmark}"
    split = json.loads(run("corpus", "split", corpus, "--format", "json").out)
    parts = run(
        *("corpus", "leaks", f"{corpus}/validation", f"{corpus}/test", "--train"),
        *(f"{corpus}/train", "--near", 1, "--format", "json"),
    )
    leaks = json.loads(parts.out)
    assert [each["overlaps"] for each in leaks] == [
        split["validation"]["in_training"],
        split["test"]["in_training"],
    ]


def test_verify_lists_violations_and_fails_on_demand(
    run: Run, benchmark: Path, tmp_path: Path
) -> None:
    corpus = tmp_path / "leaky.jsonl"
    rows = [
        {"id": "a", "source": "A.", "triples": [["A", "r", "1"]]},
        {"id": "b", "source": "B.", "triples": [["A", "r", "1"], ["B", "s", "2"]]},
        {"id": "c", "source": "C.", "triples": [["C", "t", "3"]]},
    ]
    corpus.write_text("".join(f"{json.dumps(row)}\n" for row in rows), encoding="utf-8")
    parts = tmp_path / "parts.json"
    record = {"TRAIN": ["a"], "VALIDATION": [], "TEST": ["b"], "DROPPED": ["c"]}
    parts.write_text(json.dumps(record), encoding="utf-8")
    words = ("corpus", "verify", corpus, "--parts", parts)
    result = run(*words)
    assert result.code == 0
    assert result.out.splitlines()[:3] == [
        'The relation "s" is in test (b), but not in training.',
        'The triple "A | r | 1" is in train (a), test (b).',
        "The part validation is empty.",
    ]
    assert f"1 example of {tmp_path.name}/leaky dropped, as {parts} says." in result.err
    assert "in no part" not in result.err
    assert run(*words, "--fail").code == 1
    found = json.loads(run(*words, "--format", "json").out)
    assert [each["condition"] for each in found["violations"]] == [
        "relation",
        "triple",
        "empty part",
    ]
    assert found["sizes"] == {"train": 1, "validation": 0, "test": 1}


def test_verify_finds_an_example_that_two_parts_list(run: Run, benchmark: Path) -> None:
    path = benchmark / PARTS_FILE
    record = {"TRAIN": list(range(1, 51)), "VALIDATION": [51], "TEST": [50, 52]}
    path.write_text(json.dumps(record), encoding="utf-8")
    result = run("corpus", "verify", f"websplit-v1.0:{benchmark}", "--fail", "--format", "json")
    assert result.code == 1
    found = [each["condition"] for each in json.loads(result.out)["violations"]]
    assert found == ["triple", "triple", "source"]
    assert "8 examples" in result.err


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        (("split", "{corpus}"), "Name the file of the parts with --output"),
        (("split", "{corpus}", "-o", "{out}"), "has no triples"),
        (("split", "{corpus}", "-o", "{out}", "--shares", "80/30/10"), "three numbers such as"),
        (("split", "{corpus}", "-o", "{out}", "--shares", "most"), "three numbers such as"),
        (("verify", "{corpus}"), "Name the file of the parts with --parts"),
        (("verify", "{corpus}", "{corpus}"), "Name the training part with --train"),
        (("verify", "{corpus}", "--train", "{corpus}"), "has no triples"),
        (("verify", "{corpus}", "--train", "{corpus}", "--parts", "{out}"), "exclude each other"),
        (("verify", "{corpus}", "--parts", "{out}"), "There is no file"),
    ],
)
def test_split_and_verify_errors_are_one_sentence(
    run: Run, tmp_path: Path, words: tuple[str, ...], complaint: str
) -> None:
    corpus = tmp_path / "plain.jsonl"
    corpus.write_text('{"source": "A and B.", "simple": ["A.", "B."]}\n', encoding="utf-8")
    filled = [word.format(corpus=corpus, out=tmp_path / "parts.json") for word in words]
    result = run("corpus", *filled)
    assert (result.code, result.out) == (2, "")
    assert complaint in result.err
    assert result.err.count("\n") == 1


def test_split_warns_of_a_part_that_it_cannot_fill(run: Run, tmp_path: Path) -> None:
    corpus = tmp_path / "tied.jsonl"
    rows = [
        {"id": str(n), "source": f"S{n}.", "triples": [["hub", "r", "o"], [f"E{n}", "r", "o"]]}
        for n in range(50)
    ]
    corpus.write_text("".join(f"{json.dumps(row)}\n" for row in rows), encoding="utf-8")
    parts = tmp_path / "parts.json"
    result = run("corpus", "split", corpus, "--output", parts, "--shares", "90/10/0")
    assert result.code == 0
    assert "The part validation has 0 of 5 complex sentences that it should have" in result.err
    assert "The part test" not in result.err
    assert run("corpus", "verify", corpus, "--parts", parts, "--fail").code == 1


def test_split_same_source_twice_stays_in_one_part(run: Run, tmp_path: Path) -> None:
    corpus = tmp_path / "twice.jsonl"
    rows = [
        {"id": str(n), "source": f"S{n % 20}.", "triples": [[f"E{n}", "r", "o"]]} for n in range(40)
    ]
    corpus.write_text("".join(f"{json.dumps(row)}\n" for row in rows), encoding="utf-8")
    parts = tmp_path / "parts.json"
    assert run("corpus", "split", corpus, "--output", parts).code == 0
    assert run("corpus", "verify", corpus, "--parts", parts, "--fail").code == 0
    sizes = {name: len(ids) for name, ids in json.loads(parts.read_text()).items()}
    assert sizes == {"TRAIN": 32, "VALIDATION": 4, "TEST": 4}
