"""The whole way from a data folder to a model, on a few sentences of our own."""

import gzip
import json
from collections import Counter
from pathlib import Path

import pytest

torch = pytest.importorskip("torch", reason="needs the extra [train]")
pytest.importorskip("onnx", reason="needs the extra [train]")

from parataxis.cli.main import main  # noqa: E402
from parataxis.errors import InputError  # noqa: E402
from parataxis.lab.encoder import Encoder, EncoderSize  # noqa: E402
from parataxis.lab.pointer import pipeline  # noqa: E402
from parataxis.lab.pointer.data import read_examples  # noqa: E402
from parataxis.lab.pointer.pipeline import PointerRecipe, train_pointer  # noqa: E402
from parataxis.lab.pointer.train import load_network  # noqa: E402

SMALL = {
    "epochs": "2",
    "batch": "4",
    "sizes.width": "32",
    "sizes.heads": "2",
    "sizes.layers": "1",
    "sizes.inner": "64",
}


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """A data folder with a handful of rewrites, and beside it level rewrites and labels."""
    folder = tmp_path / "data" / "rewrites"
    folder.mkdir(parents=True)
    rewrites = [
        {
            "complex": f"{name}, who was ill, sold tea in the town.",
            "simple": [f"{name} was ill.", f"{name} sold tea in the town."],
        }
        for name in ["Ann", "Ben", "Carl", "Dora", "Emil", "Fay"]
    ]
    lines = [json.dumps(rewrite) + "\n" for rewrite in rewrites]
    (folder / "train.jsonl").write_text("".join(lines), encoding="utf-8")
    (folder / "dev.jsonl").write_text("".join(lines[4:]), encoding="utf-8")
    levels = [json.dumps({**rewrite, "level": "atomic"}) + "\n" for rewrite in rewrites]
    judgements = [
        json.dumps({"source": text, "simple": [text], "faults": [[1, "more"]]}) + "\n"
        for text in (f"The mill sold {number} sacks, and it closed." for number in range(40))
    ]
    (tmp_path / "judgements.jsonl").write_text("".join(judgements), encoding="utf-8")
    (tmp_path / "levels.jsonl").write_text("".join(levels), encoding="utf-8")
    with gzip.open(tmp_path / "labels.jsonl.gz", "wt", encoding="utf-8") as stream:
        sure = {"log_chance": -0.5, "risks": []}
        stream.writelines(json.dumps({**each, **sure}) + "\n" for each in rewrites)
    return folder.parent


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """A very small encoder, and an export that only notes where it was asked to write."""
    size = EncoderSize(width=32, layers=1, heads=2, inner=64)
    monkeypatch.setattr(pipeline, "_encoder", lambda start: Encoder(size))
    monkeypatch.setattr(pipeline, "export", lambda weights, output: output.mkdir())


@pytest.mark.usefixtures("small")
def test_pipeline_trains_and_exports(data: Path, tmp_path: Path) -> None:
    recipe = PointerRecipe(
        *(data, tmp_path / "run", data),
        more=[tmp_path / "levels.jsonl", tmp_path / "judgements.jsonl"],
        taught=[tmp_path / "labels.jsonl.gz"],
        changes=SMALL,
        report_every=2,
    )
    assert train_pointer(recipe).is_dir()
    assert {path.name for path in recipe.output.iterdir()} >= {
        "examples.npz",
        "dev.npz",
        "last.pt",
        "pointer.pt",
        "log.csv",
    }
    learned = read_examples(recipe.output / "examples.npz")
    held_out = read_examples(recipe.output / "dev.npz")
    made = Counter(example.kind for example in learned)
    # Emil and Fay are held out at every level, Ann at the atomic one; of the judged sources one.
    assert made == {"gold": 4, "taught": 4, "atomic": 3, "judged": 39}
    assert Counter(each.kind for each in held_out) == {"dev": 2, "atomic": 1, "judged": 1}
    judged = [{each.text for each in some if each.kind == "judged"} for some in (learned, held_out)]
    assert judged[0].isdisjoint(judged[1])


@pytest.mark.usefixtures("small")
def test_pipeline_continues_from_a_network(data: Path, tmp_path: Path) -> None:
    first = PointerRecipe(data, tmp_path / "first", data, changes=SMALL, report_every=20)
    train_pointer(first)
    weights = first.output / "pointer.pt"
    second = PointerRecipe(data, tmp_path / "second", start=weights, changes=SMALL)
    train_pointer(second)
    one, two = (
        load_network(path).state_dict()["actions.weight"]
        for path in (weights, second.output / "pointer.pt")
    )
    assert not torch.equal(one, two)
    assert torch.allclose(one, two, atol=0.05)


@pytest.mark.usefixtures("small")
def test_pipeline_neither_overwrites_a_run_nor_resumes_nothing(data: Path, tmp_path: Path) -> None:
    recipe = PointerRecipe(data, tmp_path / "run", changes=SMALL)
    with pytest.raises(InputError, match="no run to resume"):
        train_pointer(recipe, resume=True)
    recipe.output.mkdir()
    (recipe.output / "last.pt").touch()
    with pytest.raises(InputError, match="holds a run already"):
        train_pointer(recipe)


def test_train_command_says_what_is_wrong_with_its_folder(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    missing = tmp_path / "nowhere"
    code = main(["train", "pointer", "--data", str(missing), "--output", str(tmp_path / "run")])
    assert code == 2
    assert "is not a folder" in capsys.readouterr().err
