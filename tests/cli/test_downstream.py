"""``parataxis downstream`` as a user meets it."""

import csv
import io
import json
from pathlib import Path

import pytest

BLOCK = """\
# sent_id = s{number}
# text = Ann sang; Bob left.
1	Ann	Ann	PROPN	NNP	_	2	nsubj	2:nsubj	_
2	sang	sing	VERB	VBD	_	0	root	0:root	_
3	;	;	PUNCT	:	_	5	punct	5:punct	_
4	Bob	Bob	PROPN	NNP	_	5	nsubj	5:nsubj	_
5	left	leave	VERB	VBD	_	2	parataxis	2:parataxis	_
6	.	.	PUNCT	.	_	2	punct	2:punct	_

"""


@pytest.fixture
def treebank(tmp_path: Path) -> Path:
    path = tmp_path / "our.conllu"
    path.write_text("".join(BLOCK.format(number=number) for number in range(3)))
    return path


def test_downstream_compares_before_and_after(run, treebank: Path) -> None:
    result = run("downstream", treebank, "--splitter", "semicolon", "--trials", "10")
    assert result.code == 0, result.err
    lines = result.out.splitlines()
    rows = [line.split() for line in lines]
    assert ["analyser", "pairs", "split", "3", "6", "100.00", "100.00", "+0.00"] in [
        row[:8] for row in rows
    ]
    assert lines[-2:] == [
        "3 sentences, 3 of them split by semicolon",
        "0 of the 6 arcs of split sentences are torn: they cannot be attached after splitting",
    ]


def test_downstream_writes_every_form(run, treebank: Path) -> None:
    given = ["downstream", treebank, "-s", "semicolon", "--trials", "0", "--limit", "2", "-f"]
    table = list(csv.DictReader(io.StringIO(run(*given, "csv").out)))
    (pairs,) = [
        line
        for line in table
        if (line["measure"], line["words"], line["sentences"]) == ("pairs", "all", "split")
    ]
    assert (pairs["number"], pairs["after"], pairs["low"]) == ("2", "100.0", "")
    record = json.loads(run(*given, "json").out)
    assert len(record["effects"]) == len(table)
    assert record["notes"][0] == "2 sentences, 2 of them split by semicolon"
    assert "| analyser | pairs | split |" in run(*given, "markdown").out
    assert r"analyser & pairs & split" in run(*given, "latex").out


def test_downstream_takes_rewrites_of_any_system(run, treebank: Path, tmp_path: Path) -> None:
    record = {"source": "Ann sang; Bob left.", "simple": ["Ann left.", "Bob sang."]}
    (tmp_path / "theirs.jsonl").write_text(json.dumps({**record, "splitter": "theirs"}) + "\n")
    given = ["downstream", treebank, "--rewrites", tmp_path / "theirs.jsonl", "--trials", "0"]
    result = run(*given, "-f", "json")
    assert result.code == 0, result.err
    found = {
        (effect["measure"], effect["sentences"]): effect
        for effect in json.loads(result.out)["effects"]
        if effect["words"] == "all"
    }
    assert found["pairs", "split"]["before"] == 100
    assert found["pairs", "split"]["after"] == 0  # said by nobody in the source
    assert found["attachment", "split"]["gold"] == 0
    assert found["attachment", "split"]["torn"] == 100


@pytest.mark.parametrize(
    ("options", "complaint"),
    [
        (["--lengths", "10,x"], 'Lengths are numbers of words, such as "10,20,30", not "10,x".'),
        (["--parser", "stanza"], 'There is no parser "stanza"'),
        (["--rewrites", "other.jsonl"], "has a sentence of the treebank as its source"),
        (["--extractor", "textacy"], 'There is no extractor "textacy"'),
    ],
)
def test_downstream_says_what_is_wrong(
    run, treebank: Path, options: list[str], complaint: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(treebank.parent)
    Path("other.jsonl").write_text('{"source": "It rained.", "simple": ["It rained."]}\n')
    result = run("downstream", treebank, *options)
    assert result.code == 2
    assert complaint in result.err
    assert not result.out


def test_downstream_needs_a_treebank_with_sentences(run, tmp_path: Path) -> None:
    (tmp_path / "empty.conllu").write_text("\n")
    result = run("downstream", tmp_path / "empty.conllu")
    assert (result.code, result.err) == (2, "parataxis: The treebank has no sentences.\n")
