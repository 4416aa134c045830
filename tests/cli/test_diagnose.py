"""``parataxis diagnose``: the commands as their users meet them."""

import gzip
import json
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from parataxis import api
from parataxis.lab.commands import diagnose
from parataxis.rewrite.record import Rewrite
from parataxis.splitters.registry import Attention, load_splitter
from parataxis.text.tokens import tokenize

Run = Callable[..., Any]

FACTS = {
    "Vell Tower": ["Vell Tower has 12 floors .", "Vell Tower was designed by Ada Morrow ."],
    "Ada Morrow": ["Ada Morrow was born in Lund .", "Ada Morrow won the Orla Prize ."],
}


class Parrot:
    """Tells what it knows of the first entity that it recognises, and stares at it."""

    name = "parrot"
    summary = "Recites."

    def __call__(self, sentence: str) -> Rewrite:
        facts = next((facts for name, facts in FACTS.items() if name in sentence), [sentence])
        return Rewrite(source=sentence, simple=facts, splitter=self.name)

    def pipe(self, sentences: Iterable[str]) -> Iterator[Rewrite]:
        return map(self, sentences)

    def attention(self, sentence: str) -> Attention:
        source = tuple(token.text for token in tokenize(sentence))
        output = tuple(" <split> ".join(self(sentence).simple).split())
        weights = np.zeros((len(output), len(source)), dtype=np.float32)
        weights[:, 0] = 1.0
        return Attention(source, output, weights)


@pytest.fixture(autouse=True)
def parrot(monkeypatch: pytest.MonkeyPatch) -> None:
    def load(name: str) -> Any:
        return Parrot() if name == "parrot" else load_splitter(name)

    monkeypatch.setattr(api, "load_splitter", load)
    monkeypatch.setattr(diagnose, "load_splitter", load)


def write(path: Path, records: Iterable[dict[str, object]]) -> Path:
    path.write_text("".join(json.dumps(record) + "\n" for record in records))
    return path


@pytest.fixture
def train(tmp_path: Path) -> Path:
    return write(
        tmp_path / "train.jsonl",
        (
            {
                "source": " ".join(facts),
                "simple": facts,
                "triples": [[name.replace(" ", "_"), "rel", "Lund"]],
            }
            for name, facts in FACTS.items()
        ),
    )


@pytest.fixture
def evaluation(tmp_path: Path) -> Path:
    return write(
        tmp_path / "test.jsonl",
        [
            {
                "id": "t1",
                "source": "Vell Tower , which is tall , is red .",
                "simple": ["Vell Tower is tall .", "Vell Tower is red ."],
            },
            {
                "id": "t2",
                "source": "Ada Morrow , who paints , met Bo Lee .",
                "simple": ["Ada Morrow paints .", "Ada Morrow met Bo Lee ."],
            },
        ],
    )


def test_diagnose_alone_shows_its_help(run: Run) -> None:
    result = run("diagnose")
    assert result.code == 0
    for command in ("memorisation", "probes", "attention", "errors", "table"):
        assert command in result.out


def test_diagnose_memorisation_exposes_a_parrot(
    run: Run, train: Path, evaluation: Path, tmp_path: Path
) -> None:
    folder = tmp_path / "out"
    result = run(
        *("diagnose", "memorisation", "--splitter", "parrot", "--train", train),
        *("--corpus", evaluation, "--output", folder, "--format", "json"),
    )
    assert result.code == 0
    record = json.loads(result.out)
    assert record["verdict"] == "recites"
    assert record["predictions"] == {
        "sources": 2,
        "sentences": 4,
        "in_training": 4,
        "unsupported": 4,
        "recited": 4,
    }
    assert record["references"]["in_training"] == 0
    assert record["probes"]["probes"] == 3  # names in the sources: there are no triples in the test
    names = [each["entity"] for each in record["probes"]["entities"]]
    assert names == ["Vell Tower", "Ada Morrow", "Bo Lee"]
    assert record["probes"]["with_training_sentence"] == 2
    assert {"simple sentences, verbatim", "vocabulary"} <= {
        each["kind"] for each in record["overlaps"]
    }
    assert sorted(path.name for path in folder.iterdir()) == [
        f"memorisation.{suffix}" for suffix in ("html", "json", "md", "txt")
    ]
    assert "parrot has memorised its training set" in (folder / "memorisation.txt").read_text()
    assert "| parrot | 4 | 4 | 100.0 |" in (folder / "memorisation.md").read_text()


def test_diagnose_memorisation_leaves_a_copier_alone(
    run: Run, train: Path, evaluation: Path
) -> None:
    options = ["--splitter", "source", "--train", train, "--corpus", evaluation]
    result = run("diagnose", "memorisation", *options)
    assert result.code == 0
    assert "There is no sign that source reproduces its training set." in result.out
    assert "never said anything that was not in the input" in " ".join(result.out.split())


def test_diagnose_memorisation_of_stored_rewrites(run: Run, train: Path, tmp_path: Path) -> None:
    """Neither a splitter nor an evaluation set is needed; files may be packed."""
    made = {"source": "Vell Tower is red .", "simple": FACTS["Vell Tower"], "splitter": "COPY512"}
    stored = tmp_path / "copy.jsonl.gz"
    stored.write_bytes(gzip.compress(json.dumps(made).encode()))
    probes = write(
        tmp_path / "probes.jsonl",
        [{"source": "Lund Lund Lund", "simple": ["Lund Lund Lund"], "splitter": "COPY512"}],
    )
    options = ["--train", train, "--probes", probes, "--format", "json"]
    record = json.loads(run("diagnose", "memorisation", stored, *options).out)
    assert (record["system"], record["verdict"]) == ("COPY512", "recites")
    assert (record["probes"]["probes"], record["probes"]["with_unsupported"]) == (1, 0)
    assert record["overlaps"] is None


def test_diagnose_probes_go_through_split(run: Run, train: Path, tmp_path: Path) -> None:
    made = run("diagnose", "probes", train)
    assert [json.loads(line) for line in made.out.splitlines()] == [
        {"id": name, "source": " ".join([name] * 3)}
        for name in ("Lund", "Vell Tower", "Ada Morrow")
    ]
    written = run("split", "--splitter", "parrot", "--input", "jsonl", "-", stdin=made.out)
    assert written.code == 0
    names = tmp_path / "names.txt"
    names.write_text("Bo Lee\n\nBo_Lee\n")
    one = run("diagnose", "probes", train, "--entities", names)
    assert [json.loads(line)["id"] for line in one.out.splitlines()] == ["Bo Lee"]


def test_diagnose_attention_measures_a_stare(run: Run, evaluation: Path, tmp_path: Path) -> None:
    pytest.importorskip("matplotlib", reason="needs the extra [metrics]")
    folder = tmp_path / "out"
    options = [
        "--splitter",
        "parrot",
        "--corpus",
        evaluation,
        "--format",
        "json",
        "--output",
        folder,
    ]
    result = run("diagnose", "attention", *options, "--pictures", 1)
    assert result.code == 0
    found = json.loads(result.out)
    assert (found["sources"], found["with_entity"]) == (2, 2)
    assert (found["model"], found["elsewhere"]) == (1.0, 1.0)
    assert found["uniform"] == pytest.approx(2 / 10)
    assert 0.3 < found["reference"] < 0.6
    assert sorted(path.name for path in folder.iterdir()) == [
        "attention-1.png",
        "attention.html",
        "attention.json",
    ]
    assert (folder / "attention.html").read_text().count("<article>") == 1


def test_diagnose_attention_of_a_sentence(run: Run) -> None:
    result = run("diagnose", "attention", "--splitter", "parrot", "Vell Tower is red .")
    assert result.code == 0
    assert "Means over 1 of 1 source in which" in result.out


def test_diagnose_attention_leaves_out_what_is_too_long(run: Run, tmp_path: Path) -> None:
    records = [{"id": "t1", "source": "word " * 300}, {"id": "t2", "source": "Ann Lee left."}]
    corpus = write(tmp_path / "long.jsonl", records)
    result = run("diagnose", "attention", "--corpus", corpus)
    assert result.code == 0
    assert result.err == (
        "parataxis: t1 is left out: A sentence must have 1 to 200 words, not 300.\n"
    )
    assert "Means over 1 of 2 sources" in result.out


def test_diagnose_errors_and_table(run: Run, evaluation: Path, tmp_path: Path) -> None:
    folder = tmp_path / "out"
    options = ["--splitter", "parrot", "--corpus", evaluation, "--output", folder]
    result = run("diagnose", "errors", *options)
    assert result.code == 0
    header, row = result.out.splitlines()
    assert header.split() == ["system", "sources", "unsupported", "repeated", "correct", "missing"]
    assert row.split()[:5] == ["parrot", "2", "4", "0", "0/4"]
    sheet = folder / "errors.csv"
    # A person finds the first sentence right after all.
    text = sheet.read_text(encoding="utf-8-sig")
    assert "parrot,t1," in text
    corrected = tmp_path / "corrected.csv"
    corrected.write_text(text.replace("unsupported,unsupported", "unsupported,correct", 1))
    (record,) = json.loads(run("diagnose", "table", corrected, "--format", "json").out)
    assert (record["correct"], record["unsupported"]) == (1, 3)
    assert record["as_the_checks"] == record["lines"] - 1
    both = run("diagnose", "table", sheet, corrected, "--format", "markdown").out
    assert "| parrot (errors) | 2 | 4 |" in both
    assert "| parrot (corrected) | 2 | 3 |" in both
    assert r"\toprule" in run("diagnose", "table", sheet, "--format", "latex").out


def test_diagnose_errors_of_several_systems(run: Run, tmp_path: Path) -> None:
    """The same sources of each system, and only the first."""
    for name, order in (("a", [1, 2, 3]), ("b", [3, 2, 1])):
        records = [{"source": f"Ann saw {n} cats .", "simple": [f"Ann saw {n} ."]} for n in order]
        write(tmp_path / f"{name}.jsonl", records)
    files = [f"ONE={tmp_path / 'a.jsonl'}", tmp_path / "b.jsonl"]
    result = run("diagnose", "errors", *files, "--first", 2, "--format", "json")
    one, other = json.loads(result.out)
    assert (one["system"], other["system"]) == ("ONE", "b")
    assert one["sources"] == other["sources"] == 2
    assert one["missing"] == other["missing"] == 2


def test_diagnose_errors_counts_a_source_once(run: Run, tmp_path: Path) -> None:
    """Also where its rewrite is stored once for each of its references."""
    once = {"source": "Ann saw 3 cats and left .", "simple": ["Ann saw 3 cats .", "Ann left ."]}
    path = write(tmp_path / "a.jsonl", [once] * 4)
    result = run("diagnose", "errors", path, "--format", "json")
    (found,) = json.loads(result.out)
    assert (found["sources"], found["sentences"], found["correct"]) == (1, 2, 2)
    assert "several ways" not in result.err
    path = write(tmp_path / "a.jsonl", [once, once | {"simple": ["Ann left ."]}])
    assert "A rewrites a source in several ways" in run("diagnose", "errors", f"A={path}").err


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (["memorisation", "--train", "TRAIN"], "name files of rewrites, or a --splitter."),
        (["memorisation", "--train", "TRAIN", "--splitter", "source"], "name an evaluation set"),
        (["memorisation", "--train", "TRAIN", "no.jsonl"], "There is no file no.jsonl."),
        (["memorisation", "--train", "no.jsonl", "TRAIN"], "no.jsonl cannot be read"),
        (["memorisation", "TRAIN", "--train", "TRAIN", "--entities", "NAMES"], "Name a --splitter"),
        (["probes", "TRAIN", "--entities", "EMPTY"], "There is no entity in"),
        (["attention", "--splitter", "rules", "A b."], "has no attention to show."),
        (["attention"], "give a sentence or a --corpus."),
        (["attention", "--splitter", "seq2seq:no", "A b."], "no is not a folder"),
        (["errors"], "name files of rewrites, or a --splitter."),
        (["errors", "EMPTY"], "There is no rewrite in"),
        (["table", "TRAIN"], "it is no sheet of `parataxis diagnose errors`."),
        (["table", "no.csv"], "no.csv cannot be read"),
    ],
)
def test_diagnose_answers_bad_input_in_one_sentence(
    run: Run, train: Path, tmp_path: Path, arguments: list[str], complaint: str
) -> None:
    (tmp_path / "empty.jsonl").write_text("\n")
    (tmp_path / "names.txt").write_text("Bo Lee\n")
    paths = {
        "TRAIN": str(train),
        "EMPTY": str(tmp_path / "empty.jsonl"),
        "NAMES": str(tmp_path / "names.txt"),
    }
    result = run("diagnose", *(paths.get(word, word) for word in arguments))
    assert (result.code, result.out) == (2, "")
    assert complaint in result.err
    assert len(result.err.splitlines()) == 1


def test_diagnose_writes_nothing_where_the_training_set_turns_bad(
    run: Run, train: Path, evaluation: Path, tmp_path: Path
) -> None:
    with train.open("a") as lines:
        lines.write("no JSON\n")
    folder = tmp_path / "out"
    options = ["--train", train, "--corpus", evaluation, "--splitter", "source", "--strict"]
    result = run("diagnose", "memorisation", *options, "--output", folder)
    assert (result.code, result.out) == (2, "")
    assert "line 3" in result.err
    assert not folder.exists()
