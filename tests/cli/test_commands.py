"""The commands beside ``split``: splitters, patterns, check, analyse."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from parataxis.syntax.patterns import draw_sample

Run = Callable[..., Any]

STORY = """\
The mill, which was built in 1850, burned down.

It rained. Ann came to the village to sell her paintings, and Bob, a miller, left.
"""
GOOD = {"id": "good", "source": "Ann sang, and Bob left.", "simple": ["Ann sang.", "Bob left."]}
BAD = {"id": "bad", "source": "Ann did not sing on 5 May.", "simple": ["Ann did sing on May."]}


@pytest.fixture
def story(tmp_path: Path) -> Path:
    path = tmp_path / "story.txt"
    path.write_text(STORY, encoding="utf-8")
    return path


@pytest.fixture
def rewrites(tmp_path: Path) -> Path:
    path = tmp_path / "rewrites.jsonl"
    path.write_text("".join(json.dumps(record) + "\n" for record in (GOOD, BAD)), encoding="utf-8")
    return path


def output(run: Run, *arguments: object, stdin: str = "") -> str:
    done = run(*arguments, stdin=stdin)
    assert (done.code, done.err) == (0, "")
    return str(done.out)


def test_splitters_lists_what_is_installed(run: Run) -> None:
    lines = output(run, "splitters").splitlines()
    assert lines[0].split("  ")[0] == "splitter"
    names = [line.split()[0] for line in lines[1:]]
    assert {"pointer", "rules", "source"} <= set(names)
    assert [line for line in lines if line.startswith("pointer *")]


def test_splitters_as_json(run: Run) -> None:
    records = {
        record["name"]: record for record in json.loads(output(run, "splitters", "-f", "json"))
    }
    assert [name for name, record in records.items() if record["default"]] == ["pointer"]
    assert records["source"]["distribution"] == "parataxis"
    assert records["source"]["summary"]


def test_patterns_prints_the_table(run: Run, story: Path) -> None:
    lines = output(run, "patterns", story).splitlines()
    assert lines[0].split() == ["pattern", "name", "sentences", "in", "100", "occurrences"]
    table = {line.split()[0]: line.split()[-3:] for line in lines[1:8]}
    assert list(table) == ["rc", "conj", "part", "prep", "adv", "appos", "inf"]
    assert table["rc"] == ["1", "33", "1"]
    assert table["part"] == ["0", "0", "0"]
    assert lines[-1].startswith("3 sentences, ")


def test_patterns_as_json_and_tsv(run: Run, story: Path) -> None:
    record = json.loads(output(run, "patterns", story, "-f", "json"))
    assert record["sentences"] == 3
    assert record["counts"]["appos"] == 1
    rows = [line.split("\t") for line in output(run, "patterns", story, "-f", "tsv").splitlines()]
    assert {row[0]: int(row[2]) for row in rows[1:]} == record["counts"]


def test_patterns_draws_the_same_sample_for_a_seed(run: Run, story: Path) -> None:
    def sample(seed: int, size: int = 1) -> str:
        return output(run, "patterns", story, "-n", size, "--seed", seed, "-f", "json")

    assert sample(1) == sample(1)
    assert len({sample(seed) for seed in range(10)}) > 1
    assert json.loads(sample(1, size=99))["sentences"] == 3


def test_patterns_sample_is_that_of_the_library(run: Run, tmp_path: Path) -> None:
    lines = ["It rained.", "Ann, a miller, left.", "Ann sang, and Bob left."] * 3
    (tmp_path / "lines.txt").write_text("\n".join(lines), encoding="utf-8")
    for seed in range(4):
        arguments = ("-n", 2, "--seed", seed, "-f", "json")
        record = json.loads(output(run, "patterns", tmp_path / "lines.txt", *arguments))
        drawn = draw_sample(lines, 2, seed=seed)
        assert record["counts"]["appos"] == drawn.count(lines[1])
        assert record["counts"]["conj"] == drawn.count(lines[2])


def test_check_reports_findings_and_shares(run: Run, rewrites: Path) -> None:
    lines = output(run, "check", rewrites).splitlines()
    assert "bad: lost: The negation 'not' is missing" in lines
    assert not [line for line in lines if line.startswith("good")]
    table = {line.split()[0]: line.split()[1:] for line in lines if line and ":" not in line}
    assert table["lost"] == ["1", "50.0"]
    assert table["any"] == ["1", "50.0"]
    assert lines[-1] == "2 rewrites checked"


def test_check_reads_standard_input_and_counts_in_json(run: Run, rewrites: Path) -> None:
    text = rewrites.read_text(encoding="utf-8")
    summary = json.loads(output(run, "check", "-", "-f", "json", stdin=text))
    assert (summary["rewrites"], summary["with_finding"]) == (2, 1)


def test_check_passes_rewrites_on_with_findings(run: Run, rewrites: Path) -> None:
    good, bad = map(json.loads, output(run, "check", rewrites, "-f", "jsonl").splitlines())
    assert good["findings"] == []
    assert {finding["kind"] for finding in bad["findings"]} == {"lost"}


def test_check_passes_on_what_it_does_not_know(run: Run) -> None:
    sentence = "The mill, which was built in 1850, burned down."
    explained = json.loads(
        output(run, "split", sentence, "-s", "rules", "--explain", "-f", "jsonl")
    )
    line = json.dumps({**explained, "domain": "mills"})
    assert explained["patterns"]
    checked = json.loads(output(run, "check", "-", "-f", "jsonl", stdin=line))
    assert checked == {**explained, "domain": "mills"}


def test_check_fails_only_when_asked(run: Run, rewrites: Path) -> None:
    assert run("check", rewrites).code == 0
    assert run("check", rewrites, "--fail").code == 1
    rewrites.write_text(json.dumps(GOOD), encoding="utf-8")
    assert run("check", rewrites, "--fail").code == 0


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("It rained.\n", "line 1: this is not a line of JSON."),
        (json.dumps(GOOD) + '\n{"source": "A."}\n', 'line 2: "simple": Field required.'),
    ],
)
def test_check_refuses_what_is_not_a_rewrite(
    run: Run, rewrites: Path, text: str, complaint: str
) -> None:
    rewrites.write_text(text, encoding="utf-8")
    assert run("check", rewrites) == (2, "", f"parataxis: {rewrites}, {complaint}\n")


def test_check_takes_no_text(run: Run) -> None:
    done = run("check", "It rained.")
    assert done.code == 2
    assert done.err == 'parataxis: There is no file "It rained."; check reads files of rewrites.\n'


def test_analyse_shows_words_and_roles(run: Run) -> None:
    shown = output(run, "analyse", "The dog that barked slept.")
    assert shown.startswith("# text:1:1\n")
    (roles,) = [line for line in shown.splitlines() if line.startswith("barked:  ")]
    assert "[The dog]  R-ARG" in roles


def test_analyse_as_conllu(run: Run) -> None:
    lines = output(run, "analyse", "The dog slept.", "-f", "conllu").splitlines()
    assert lines[:2] == ["# sent_id = text:1:1", "# text = The dog slept."]
    rows = [line.split("\t") for line in lines[2:6]]
    assert {len(row) for row in rows} == {10}
    assert [(row[0], row[1], row[3], row[6], row[7]) for row in rows] == [
        ("1", "The", "DET", "2", "det"),
        ("2", "dog", "NOUN", "3", "nsubj"),
        ("3", "slept", "VERB", "0", "root"),
        ("4", ".", "PUNCT", "3", "punct"),
    ]
    assert rows[2][9] == "SpaceAfter=No"
    assert lines[-1] == ""


def test_analyse_as_json(run: Run, story: Path) -> None:
    records = [
        json.loads(line) for line in output(run, "analyse", story, "-f", "json").splitlines()
    ]
    assert [record["id"].rpartition("story.txt")[2] for record in records] == [
        ":1:1",
        ":3:1",
        ":3:12",
    ]
    for record in records:
        assert [record["text"][w["start"] : w["end"]] for w in record["words"]] == [
            w["text"] for w in record["words"]
        ]
        assert sum(word["head"] is None for word in record["words"]) == 1


def test_analyse_says_which_sentence_is_too_long(run: Run) -> None:
    done = run("analyse", "It rained. He " + "went on and " * 600 + "left.", "-f", "conllu")
    assert done.code == 0
    assert done.out.count("# sent_id") == 1
    assert done.err.startswith("parataxis: text:1:12 is left out: ")
