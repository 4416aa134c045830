"""The whole way from a data folder to a model, on a few sentences of our own."""

import json
from pathlib import Path

import pytest

torch = pytest.importorskip("torch", reason="needs the extra [train]")
pytest.importorskip("onnx", reason="needs the extra [train]")

from parataxis.cli.main import main  # noqa: E402
from parataxis.errors import InputError  # noqa: E402
from parataxis.lab.encoder import Encoder, EncoderSize  # noqa: E402
from parataxis.lab.pointer import pipeline  # noqa: E402
from parataxis.lab.pointer.pipeline import PointerRecipe, average, train_pointer  # noqa: E402
from parataxis.lab.pointer.train import load_network  # noqa: E402

SMALL = {
    "epochs": "1",
    "early_epochs": "1",
    "batch": "4",
    "sizes.width": "32",
    "sizes.heads": "2",
    "sizes.layers": "1",
    "sizes.inner": "64",
}


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """A data folder with a handful of rewrites and pairs."""
    folder = tmp_path / "data"
    for name in ("rewrites", "minwiki", "wikisplit"):
        (folder / name).mkdir(parents=True)
    rewrites = [
        {
            "complex": f"{name}, who was ill, sold tea in the town.",
            "simple": [f"{name} was ill.", f"{name} sold tea in the town."],
        }
        for name in ["Ann", "Ben", "Carl", "Dora", "Emil", "Fay"]
    ]
    for part in ("train", "dev"):
        lines = "".join(json.dumps(rewrite) + "\n" for rewrite in rewrites)
        (folder / "rewrites" / f"{part}.jsonl").write_text(lines, encoding="utf-8")
    (folder / "minwiki" / "train.complex").write_text("Ann sang and Ben left .\n", encoding="utf-8")
    (folder / "minwiki" / "train.simple").write_text("Ann sang . Ben left ..\n", encoding="utf-8")
    for part in ("tune", "validation"):
        line = "Ann sang and Ben left .\tAnn sang . <::::> Ben left .\n"
        (folder / "wikisplit" / f"{part}.tsv").write_text(line, encoding="utf-8")
    return folder


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """A very small encoder, and an export that only notes where it was asked to write."""
    size = EncoderSize(width=32, layers=1, heads=2, inner=64)
    monkeypatch.setattr(pipeline, "_encoder", lambda start: Encoder(size))
    monkeypatch.setattr(pipeline, "export", lambda weights, output: output.mkdir())


@pytest.mark.usefixtures("small")
def test_pipeline_trains_and_exports(data: Path, tmp_path: Path) -> None:
    recipe = PointerRecipe(data, tmp_path / "run", changes=SMALL, report_every=2)
    assert train_pointer(recipe).is_dir()
    assert {path.name for path in recipe.output.iterdir()} >= {
        "examples.npz",
        "dev.npz",
        "last.pt",
        "pointer.pt",
        "log.csv",
    }


@pytest.mark.usefixtures("small")
def test_pipeline_goes_on_from_a_network_and_averages(data: Path, tmp_path: Path) -> None:
    first = PointerRecipe(data, tmp_path / "first", changes=SMALL, report_every=20)
    train_pointer(first)
    weights = first.output / "pointer.pt"
    second = PointerRecipe(data, tmp_path / "second", start=weights, changes=SMALL, report_every=20)
    train_pointer(second)
    mean = tmp_path / "mean.pt"
    average([weights, second.output / "pointer.pt"], mean)
    name = "actions.weight"
    one, two, both = (
        load_network(path).state_dict()[name]
        for path in (weights, second.output / "pointer.pt", mean)
    )
    assert not torch.equal(one, two)
    assert torch.allclose((one + two) / 2, both, atol=1e-3)


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
