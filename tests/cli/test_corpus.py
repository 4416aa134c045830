"""``parataxis corpus``: the commands as their users meet them."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Run = Callable[..., Any]

PAIRS = "It rained , so we left .\tIt rained . <::::> So we left .\nBo sang .\tBo sang .\n"


@pytest.fixture
def tsv(tmp_path: Path) -> Path:
    path = tmp_path / "wikisplit" / "a.tsv"
    path.parent.mkdir()
    path.write_text(PAIRS)
    return path


def test_corpus_alone_shows_its_help(run: Run) -> None:
    result = run("corpus")
    assert result.code == 0
    assert "describe" in result.out


def test_corpus_formats(run: Run) -> None:
    result = run("corpus", "formats")
    assert result.code == 0
    rows = {line.split(maxsplit=1)[0]: line for line in result.out.splitlines()}
    assert "one TSV file: complex TAB simple <::::> simple" in rows["wikisplit"]
    records = json.loads(run("corpus", "formats", "--format", "json").out)
    assert {"jsonl", "hsplit", "wiki-bm"} <= {record["name"] for record in records}


def test_corpus_convert_to_standard_output(run: Run, tsv: Path) -> None:
    result = run("corpus", "convert", tsv)
    assert result.code == 0
    assert [json.loads(line) for line in result.out.splitlines()] == [
        {
            "id": f"{tsv}:1",
            "source": "It rained , so we left .",
            "simple": ["It rained .", "So we left ."],
            "splitter": "reference",
        },
        {
            "id": f"{tsv}:2",
            "source": "Bo sang .",
            "simple": ["Bo sang ."],
            "splitter": "reference",
        },
    ]


def test_corpus_convert_from_standard_input_to_files(run: Run, tmp_path: Path) -> None:
    to = tmp_path / "a.src", tmp_path / "a.dst"
    options = ["--to", f"bisect:{to[0]},{to[1]}", "--join-tokens"]
    result = run("corpus", "convert", "wikisplit:-", *options, stdin=PAIRS)
    assert result.code == 0
    assert to[0].read_text() == "It rained, so we left.\nBo sang.\n"
    assert to[1].read_text() == "It rained. <SEP> So we left.\nBo sang.\n"
    assert "2 sources written" in result.err


def test_corpus_convert_gathers_references(run: Run) -> None:
    lines = "A b .\tA .\nC d .\tC .\nA b .\tB .\n"
    result = run("corpus", "convert", "wikisplit:-", "--gather", stdin=lines)
    assert [json.loads(line)["source"][0] for line in result.out.splitlines()] == ["A", "A", "C"]


def test_corpus_convert_tells_malformed_lines(run: Run) -> None:
    result = run("corpus", "convert", "wikisplit:-", stdin=b"A .\tA .\nbad\n\xff\n")
    assert result.code == 0
    assert len(result.out.splitlines()) == 1
    assert result.err.splitlines() == [
        "parataxis: stdin, line 2: there is no tab.",
        "parataxis: stdin, line 3: the line is not UTF-8.",
        "parataxis: 2 malformed lines of 3: there is no tab (1), the line is not UTF-8 (1).",
    ]


def test_corpus_convert_tells_the_first_of_many_malformed_lines(run: Run) -> None:
    result = run("corpus", "convert", "wikisplit:-", stdin="A .\tA .\n" + "bad\n" * 500)
    assert len(result.err.splitlines()) == 11
    assert "500 malformed lines of 501" in result.err


def test_corpus_strict_stops_and_writes_nothing(run: Run, tmp_path: Path) -> None:
    to = tmp_path / "b.jsonl"
    result = run(
        "corpus", "convert", "wikisplit:-", "--to", to, "--strict", stdin="A .\tA .\nbad\n"
    )
    assert (result.code, result.err) == (2, "parataxis: stdin, line 2: there is no tab.\n")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (["describe", "no.tsv"], "do not tell the format"),
        (["describe", "wikisplit:no.tsv"], "no.tsv cannot be read: no such file or directory."),
        (["describe", "wikisplt:no.tsv"], 'did you mean "wikisplit"?'),
        (["describe", "jsonl:-", "jsonl:-"], "can be read only once"),
        (["describe", "jsonl:-"], "stdin holds no example that can be used."),
        (["collect", "jsonl:-", "--tokens", "long"], "is not a range of tokens"),
        (["collect", "jsonl:-", "--pattern", "("], "is not a regular expression"),
        (["convert", "jsonl:-", "--to", "bisect:a,a"], "needs a name of its own"),
    ],
)
def test_corpus_answers_bad_input_in_one_sentence(
    run: Run, arguments: list[str], complaint: str
) -> None:
    result = run("corpus", *arguments)
    assert result.code == 2
    assert complaint in result.err
    assert len(result.err.splitlines()) == 1
    assert result.out == ""


def test_corpus_convert_does_not_write_over_its_input(run: Run, tsv: Path) -> None:
    result = run("corpus", "convert", tsv, "--to", tsv)
    assert result.code == 2
    assert "is also an input" in result.err
    assert tsv.read_text() == PAIRS


def test_corpus_describe(run: Run, tsv: Path) -> None:
    result = run("corpus", "describe", tsv, f"parallel:{tsv}")
    assert result.code == 0
    table = [line.split("  ") for line in result.out.splitlines()]
    rows = {row[0]: [cell.strip() for cell in row[1:] if cell.strip()] for row in table if row[0]}
    assert rows["complex sentences"] == ["2", "2"]
    assert rows["simple sentences"] == ["3", "0"]
    assert rows["sentences per simple side"] == ["1.50", "0.00"]


def test_corpus_describe_as_json(run: Run, tsv: Path) -> None:
    (record,) = json.loads(run("corpus", "describe", tsv, "--format", "json").out)
    assert record["corpus"] == "wikisplit/a"
    assert record["complex"] == {"total": 2, "unique": 2}
    assert record["references"] == {"minimum": 1, "median": 1.0, "maximum": 1, "mean": 1.0}


def test_corpus_leaks_is_loud_and_can_fail(run: Run, tsv: Path, tmp_path: Path) -> None:
    test = tmp_path / "test.jsonl"
    test.write_text('{"source": "It rained, so we left.", "simple": ["It rained .", "We went."]}\n')
    result = run("corpus", "leaks", test, "--train", tsv, "--fail", "--show", 1)
    assert result.code == 1
    name = f"{tmp_path.name}/test"
    assert f"LEAK: 1 of 2 different simple sentences of {name} are in wikisplit/a." in result.out
    assert f"LEAK: {name} is inside wikisplit/a: All of its sources are there." in result.out
    assert f"    {tsv}:1\n" in result.out
    assert run("corpus", "leaks", test, "--train", tsv).code == 0
    allowed = run("corpus", "leaks", test, "--train", tsv, "--fail", "--allow", 100)
    assert allowed.code == 1  # most of its sources are there
    assert "No leak" not in allowed.out


def test_corpus_leaks_can_be_allowed(run: Run, tsv: Path) -> None:
    lines = "It rained .\tIt rained .\nBo slept .\tBo slept .\nAnn slept .\tAnn slept .\n"
    words = ("corpus", "leaks", "wikisplit:-", "--train", tsv, "--fail")
    assert run(*words, stdin=lines).code == 1
    allowed = run(*words, "--allow", 40, stdin=lines)
    assert allowed.code == 0
    assert allowed.out.endswith("No leak.\n")


def test_corpus_leaks_without_any(run: Run, tsv: Path) -> None:
    line = '{"source": "Ann slept.", "simple": ["Ann slept."]}\n'
    result = run("corpus", "leaks", "jsonl:-", "--train", tsv, "--fail", stdin=line)
    assert result.code == 0
    assert result.out.endswith("No leak.\n")
    assert "LEAK" not in result.out


def test_corpus_leaks_as_json_names_each_pair(run: Run, tsv: Path) -> None:
    result = run("corpus", "leaks", tsv, tsv, "--train", tsv, "--format", "json")
    records = json.loads(result.out)
    assert [(each["evaluation"], each["train"], each["inside"]) for each in records] == [
        ("wikisplit/a", "wikisplit/a", 1.0)
    ] * 2
    assert records[0]["leak"]
    assert records[0]["overlaps"][0]["kind"] == "sources, verbatim"


def test_corpus_collect(run: Run, tmp_path: Path) -> None:
    lines = "".join(f"Number {n} came, and we left.\nIt's {n}.\n" for n in range(50))
    result = run("corpus", "collect", "parallel:-", "-n", 5, "--seed", 3, stdin=lines)
    assert result.code == 0
    assert len(result.out.splitlines()) == 5
    assert "Drew 5 sentences of 50 that pass the filter, out of 100 different sources" in result.err
    again = run("corpus", "collect", "parallel:-", "-n", 5, "--seed", 3, stdin=lines)
    assert again.out == result.out
    to = tmp_path / "drawn.jsonl"
    run("corpus", "collect", "parallel:-", "-n", 5, "-f", "jsonl", "-o", to, stdin=lines)
    assert len({json.loads(line)["id"] for line in to.read_text().splitlines()}) == 5


def test_corpus_collect_says_when_there_are_too_few(run: Run) -> None:
    result = run("corpus", "collect", "parallel:-", "--tokens", "3-4", stdin="It rained.\nGo.\n")
    assert result.out == "It rained.\n"
    assert "fewer than the 500 asked for" in result.err
