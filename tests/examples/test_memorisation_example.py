"""The small models of examples/memorisation: one has memorised its training set, one copies."""

import json
from pathlib import Path

import pytest

from parataxis.api import Splitter
from parataxis.cli.main import main
from parataxis.splitters.registry import AttentiveSplitter, load_splitter

FOLDER = Path(__file__).parents[2] / "examples" / "memorisation"


def records(name: str) -> list[dict[str, object]]:
    lines = (FOLDER / name).read_text(encoding="utf-8").splitlines()
    return [json.loads(line) for line in lines]


@pytest.mark.parametrize("name", ["seq2seq", "copynet"])
def test_example_models_are_small(name: str) -> None:
    assert sum(path.stat().st_size for path in (FOLDER / name).iterdir()) < 1_000_000


def test_example_parts_share_no_source() -> None:
    known, held_out = (
        {record["source"] for record in records(f"{part}.jsonl")} for part in ("train", "test")
    )
    assert (len(known), len(held_out)) == (900, 100)
    assert not known & held_out


@pytest.mark.parametrize(("name", "verdict"), [("seq2seq", "invents"), ("copynet", "clean")])
def test_example_model_is_found_out(
    capsys: pytest.CaptureFixture[str], name: str, verdict: str
) -> None:
    train, test = (str(FOLDER / f"{part}.jsonl") for part in ("train", "test"))
    options = ["--train", train, "--corpus", test, "--first", "30", "--format", "json"]
    assert not main(["diagnose", "memorisation", "-s", f"{name}:{FOLDER / name}", *options])
    assert json.loads(capsys.readouterr().out)["verdict"] == verdict


def test_example_copying_model_splits() -> None:
    splitter = Splitter(f"copynet:{FOLDER / 'copynet'}")
    source = "The film has two endings, and both of them are sad."
    assert splitter(source).simple == ("The film has two endings.", "Both of them are sad.")


def test_example_models_show_their_attention() -> None:
    for name in ("seq2seq", "copynet"):
        splitter = load_splitter(f"{name}:{FOLDER / name}")
        assert isinstance(splitter, AttentiveSplitter)
        found = splitter.attention("The film has two endings.")
        assert found.weights.sum(axis=1) == pytest.approx(1.0, abs=1e-3)
