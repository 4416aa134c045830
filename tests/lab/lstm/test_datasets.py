"""Which training set is better, on tiny corpora of our own."""

import csv
import json
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

torch = pytest.importorskip("torch", reason="needs the extra [train]")
pytest.importorskip("onnx", reason="needs the extra [train]")
pytest.importorskip("sacrebleu", reason="needs the extra [metrics]")
pytest.importorskip("matplotlib", reason="needs the extra [metrics]")

from parataxis.cli.main import main  # noqa: E402
from parataxis.lab.lstm import datasets  # noqa: E402

Command = Callable[..., list[str]]
SMALL = {"batch": "16", "sizes.width": "8", "beam": "2"}


def lines(path: Path) -> list[dict[str, object]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def write(path: Path, records: list[dict[str, object]]) -> str:
    path.write_text("".join(json.dumps(each) + "\n" for each in records), encoding="utf-8")
    return f"jsonl:{path}"


@pytest.fixture(scope="module")
def sets(corpora: dict[str, str], tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """A corpus to learn copying from, and the same with its references among the wrong sources."""
    good = lines(Path(corpora["train"].removeprefix("jsonl:")))
    simple = [record["simple"] for record in good]
    random.Random(5).shuffle(simple)
    useless = [{**record, "simple": other} for record, other in zip(good, simple, strict=True)]
    return {
        "good": corpora["train"],
        "useless": write(tmp_path_factory.mktemp("sets") / "useless.jsonl", useless),
    }


@pytest.fixture(scope="module")
def test_set(unseen: list[dict[str, object]], tmp_path_factory: pytest.TempPathFactory) -> str:
    named = [{"id": f"t{number}", **record} for number, record in enumerate(unseen)]
    return write(tmp_path_factory.mktemp("test") / "test.jsonl", named)


@pytest.fixture
def command(corpora: dict[str, str], test_set: str, tmp_path: Path) -> Command:
    """The arguments of a tiny comparison."""

    def made(*words: str, changes: dict[str, str] = SMALL, steps: int = 3) -> list[str]:
        settings = [
            word for name, value in changes.items() for word in ("--set", f"{name}={value}")
        ]
        common = ["--test", test_set, "--validation", corpora["few"], "--config", "copy-128"]
        common += ["--steps", str(steps), "--trials", "100", "-o", str(tmp_path / "out")]
        return ["compare-datasets", *common, *settings, *words]

    return made


def test_datasets_the_better_training_set_wins_with_an_interval(
    command: Command,
    sets: dict[str, str],
    quick: dict[str, str],
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    words = [f"Good={sets['good']}", f"Useless={sets['useless']}"]
    assert main(command(*words, changes=quick, steps=350)) == 0
    said = capsys.readouterr().out
    assert "training set" in said
    assert "minus" in said
    out = tmp_path / "out"
    with (out / "scores.csv").open(newline="", encoding="utf-8") as stream:
        rows = list(csv.DictReader(stream))
    [difference] = [row for row in rows if row["minus"] and row["metric"] == "bleu"]
    assert (difference["system"], difference["minus"]) == ("Good", "Useless")
    assert float(difference["low"]) > 30
    assert float(difference["p"]) < 0.05
    scores = {
        row["system"]: row
        for row in rows
        if row["metric"] == "bleu" and not row["minus"] and not row["part"]
    }
    assert float(scores["Good"]["low"]) > float(scores["Useless"]["high"])
    assert {path.name for path in out.iterdir()} == {
        *("runs", "rewrites", "study", "study-key.csv", "comparison.json", "training.md"),
        *(f"scores.{kind}" for kind in ("txt", "md", "csv", "tex", "json")),
        "report.html",
    }
    steps = [
        (out / "runs" / name / "log.csv").read_text().count("\n") - 1
        for name in scores
        if name in ("Good", "Useless")
    ]
    assert steps == [350, 350]
    _check_study(out, 20)


def _check_study(out: Path, sources: int) -> None:
    """The study is blind, and its key opens it."""
    items = lines(out / "study" / "items.jsonl")
    text = (out / "study" / "study.yaml").read_text(encoding="utf-8")
    assert "rubric: gms\nitems: items.jsonl\n" in text
    for file in (out / "study").iterdir():
        assert "Good" not in file.read_text(encoding="utf-8")
        assert "Useless" not in file.read_text(encoding="utf-8")
    with (out / "study-key.csv").open(newline="", encoding="utf-8") as stream:
        key = {row["id"]: row for row in csv.DictReader(stream)}
    assert len(items) == len(key) == 2 * sources
    rewrites = {
        (name, record["id"]): record
        for name in ("Good", "Useless")
        for record in lines(out / "rewrites" / f"{name}.jsonl")
    }
    for item in items:
        assert set(item) == {"id", "source", "simple", "splitter"}
        row = key[str(item["id"])]
        written = rewrites[row["system"], row["example"]]["simple"]
        assert isinstance(written, list)
        assert item["simple"] == [text.replace(" .", ".") for text in written]
        assert item["splitter"] == row["splitter"]
    firsts = {item["splitter"] for item in items[::2]}
    assert len(firsts) == 2  # now one system comes first, now the other


def test_datasets_an_interrupted_comparison_goes_on(
    command: Command,
    sets: dict[str, str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    arguments = command(f"A={sets['good']}", f"B={sets['useless']}+{sets['good']}")
    train, trained = datasets.train_lstm, []

    def stopping(*recipe: Any, **options: bool) -> Path:
        trained.append(recipe[2].name)
        if trained == ["A", "B"]:
            raise KeyboardInterrupt
        return train(*recipe, **options)

    monkeypatch.setattr(datasets, "train_lstm", stopping)
    assert main(arguments) == 130
    out = tmp_path / "out"
    before = (out / "rewrites" / "A.jsonl").stat().st_mtime_ns
    capsys.readouterr()
    assert main(arguments) == 2
    assert "holds a comparison already; resume it" in capsys.readouterr().err
    assert main([*arguments, "--resume"]) == 0
    assert trained == ["A", "B", "B"]
    assert (out / "rewrites" / "A.jsonl").stat().st_mtime_ns == before
    # Once more nothing is trained, and one more training set is.
    first = (out / "study" / "items.jsonl").read_bytes()
    assert main([*arguments, "--resume"]) == 0
    assert (out / "study" / "items.jsonl").read_bytes() == first
    assert main([*arguments, "--resume", f"C={sets['useless']}"]) == 0
    assert trained == ["A", "B", "B", "C"]
    record = json.loads((out / "comparison.json").read_text(encoding="utf-8"))
    assert list(record["sets"]) == ["A", "B", "C"]
    capsys.readouterr()
    for other, complaint in (
        (["--set", "batch=8"], "other settings; resume it"),
        (["--limit", "9"], "other limit; resume it"),
        (["--test", sets["good"]], "other test sources; resume it"),
        (["--validation", f"A={sets['good']}"], "other corpora for A; resume it"),
    ):
        assert main([*arguments, "--resume", *other]) == 2
        assert complaint in capsys.readouterr().err


def test_datasets_warns_of_test_sources_in_training(
    command: Command,
    sets: dict[str, str],
    test_set: str,
    caplog: pytest.LogCaptureFixture,
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main(command(f"Fair={sets['good']}", f"Leaky={sets['good']}+{test_set}")) == 0
    told = [record.getMessage() for record in caplog.records if record.levelname == "WARNING"]
    assert told == [
        "Leaky holds 20 of the 20 test sources, word for word or nearly: its model may have "
        "memorised them"
    ]


def test_datasets_rewrites_made_elsewhere_can_be_compared(
    test_set: str,
    unseen: list[dict[str, object]],
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    mine = tmp_path / "mine.txt"
    mine.write_text("".join(f"{record['source']}\n" for record in unseen), encoding="utf-8")
    perfect = test_set.removeprefix("jsonl:")
    out = tmp_path / "new" / "out"
    arguments = ["--rewrites", f"copied={mine}", "--rewrites", f"perfect={perfect}"]
    arguments += ["--test", test_set, "-o", str(out), "--trials", "50", "--sources", "3"]
    assert main(["compare-datasets", *arguments, "-m", "bleu"]) == 0
    assert "perfect" in capsys.readouterr().out
    assert len(lines(out / "study" / "items.jsonl")) == 6
    # Without references there is less to say.
    sources = tmp_path / "sources.txt"
    sources.write_text(mine.read_text(encoding="utf-8"), encoding="utf-8")
    arguments[arguments.index(test_set)] = str(sources)
    assert main(["compare-datasets", *arguments]) == 0
    said = capsys.readouterr().out
    assert "no references" in said
    assert "bleu" not in said
    assert main(["compare-datasets", *arguments, "-m", "bleu"]) == 2
    assert "The metric bleu needs a reference for every source." in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        (["A={good}"], "Name at least two training sets"),
        (["{good}", "B={good}"], "a name: NAME=CORPUS."),
        (["A={good}", "a={good}"], 'Two systems are called "a"; join corpora with a plus sign.'),
        (["A={good}", "source={good}"], 'No training set can be called "source"'),
        (["A={good}", "../B={good}"], '"../B" cannot be a name'),
        (["A={good}", "B={empty}"], "empty.jsonl holds no example with a reference"),
        (["A={good}", "B=jsonl:nowhere.jsonl"], "nowhere.jsonl cannot be read"),
        (["A={good}", "B=letters:{path}"], "letters"),
        (["A={good}", "B=jsonl:-"], "A training set is read more than once; save it"),
        (["A={good}", "B={good}", "--config", "big"], 'There is no configuration "big"'),
        (["A={good}", "B={good}", "--set", "epoch=3"], "has no number called 'epoch'"),
        (["A={good}", "B={good}", "--validation", "{empty}"], "holds no example with a reference"),
        (["A={good}", "B={good}", "--resume"], "There is no comparison to resume"),
        (["A={good}", "B={good}", "--metric", "luck"], "luck"),
        (["A={good}", "--rewrites", "B=nowhere.jsonl"], "There is no file nowhere.jsonl."),
        (["A={good}", "--rewrites", "B={path}"], "which is not among the sources"),
    ],
)
def test_datasets_says_what_is_wrong_before_training(
    command: Command,
    sets: dict[str, str],
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    words: list[str],
    complaint: str,
) -> None:
    names = {**sets, "empty": write(tmp_path / "empty.jsonl", [])}
    names["path"] = sets["useless"].removeprefix("jsonl:")
    assert main(command(*(word.format(**names) for word in words))) == 2
    assert complaint in capsys.readouterr().err
    assert not (tmp_path / "out").exists()


def test_datasets_what_is_needed_must_be_named(
    sets: dict[str, str], test_set: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["compare-datasets", f"A={sets['good']}", f"B={sets['good']}"]
    for more, complaint in (
        ([], "Name the test set with --test."),
        (["--test", test_set], "Name a folder for the comparison with --output."),
        (["-o", str(tmp_path / "out")], "Name a validation set for A with --validation."),
        (["--validation", f"A={test_set}"], "Name a validation set for B with --validation."),
        (
            ["--validation", test_set],
            "Set the number of training steps of each model with --steps.",
        ),
    ):
        words += more
        assert main(words) == 2
        assert complaint in capsys.readouterr().err
    full = tmp_path / "out"
    full.mkdir()
    (full / "letter.txt").write_text("Dear all", encoding="utf-8")
    assert main([*words, "--steps", "3"]) == 2
    assert "is not an empty folder; name another" in capsys.readouterr().err
