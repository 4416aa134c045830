"""The shipped models say which version they are, and other weights can take their place.

``python tests/syntax/test_models.py NAME VERSION`` describes the files of a new version.
"""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from parataxis.errors import InputError
from parataxis.syntax.onnx import (
    DESCRIPTION,
    HOMES,
    MODELS_VARIABLE,
    checksums,
    model_folder,
    read_description,
    shipped_folder,
    write_description,
)

ANALYSER, VERIFIER = (read_description(shipped_folder(n)).version for n in ("analyser", "verifier"))
SOURCE = "The mill, which was built in 1850, burned down."


@pytest.mark.parametrize("name", HOMES)
def test_models_ship_with_their_version_card_and_notice(name: str) -> None:
    folder = shipped_folder(name)
    found = read_description(folder)
    assert found.name == name
    assert found.files == checksums(folder), "the files changed: give them another version"
    assert (folder / "CARD.md").read_text("utf-8").startswith(f"# The {name}, version ")
    assert f"version {found.version}\n" in (folder / "CARD.md").read_text("utf-8")
    assert "CC BY-SA 4.0" in (folder / "NOTICE").read_text("utf-8")


def test_models_of_an_export_are_named_by_their_day(tmp_path: Path) -> None:
    (tmp_path / "verifier.onnx").write_bytes(b"weights")
    write_description(tmp_path, "verifier")
    found = read_description(tmp_path)
    assert (found.name, found.licence) == ("verifier", "CC-BY-SA-4.0")
    assert len(found.version.split("-")) == 3
    assert found.files == checksums(tmp_path)


def test_models_are_taken_from_the_folder_that_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "pointer").mkdir()
    monkeypatch.setenv(MODELS_VARIABLE, str(tmp_path))
    assert model_folder("pointer") == tmp_path / "pointer"
    assert model_folder("verifier") == shipped_folder("verifier")
    with pytest.raises(InputError, match=r"does not describe a model"):
        read_description(tmp_path / "pointer")
    monkeypatch.setenv(MODELS_VARIABLE, str(tmp_path / "pointer"))
    with pytest.raises(InputError, match="has no folder of a model"):
        model_folder("pointer")


@pytest.fixture(scope="module")
def command(tmp_path_factory: pytest.TempPathFactory) -> Callable[..., str]:
    """Runs a command with an old pointer whose file was changed."""
    folder = tmp_path_factory.mktemp("models")
    shutil.copytree(shipped_folder("pointer"), folder / "pointer")
    write_description(folder / "pointer", "pointer", "old")
    with (folder / "pointer" / "pointer.json").open("a") as file:
        file.write("\n")

    def run(*arguments: str) -> str:
        return subprocess.run(
            [sys.executable, "-m", "parataxis", *arguments],
            env={**os.environ, MODELS_VARIABLE: str(folder)},
            stdout=subprocess.PIPE,
            text=True,
            check=True,
        ).stdout

    return run


def test_models_are_named_by_every_record(command: Callable[..., str]) -> None:
    for splitter, weights in (
        ("pointer", f"pointer old, verifier {VERIFIER}, analyser {ANALYSER}"),
        ("rules", f"analyser {ANALYSER}"),
    ):
        line = command("split", SOURCE, "-s", splitter, "--format", "jsonl")
        assert json.loads(line)["weights"] == weights
    assert "weights" not in command("split", SOURCE, "-s", "source", "--format", "jsonl")


def test_models_are_named_by_the_version(command: Callable[..., str]) -> None:
    models = [f"analyser {ANALYSER}", "pointer old", f"verifier {VERIFIER}"]
    assert command("--version").splitlines()[1:] == models


def test_models_are_listed(command: Callable[..., str]) -> None:
    found = {each["name"]: each for each in json.loads(command("models", "--format", "json"))}
    assert {name: each["version"] for name, each in found.items()} == {
        "analyser": ANALYSER,
        "pointer": "old",
        "verifier": VERIFIER,
    }
    assert [name for name, each in found.items() if each["changed"]] == ["pointer"]
    assert [name for name, each in found.items() if each["shipped"]] == ["analyser", "verifier"]
    assert found["verifier"]["size"] > 19_000_000
    assert all(Path(each["card"]).exists() for each in found.values())
    shown = command("models")
    assert "old (changed)" in shown
    assert "CC-BY-SA-4.0" in shown


if __name__ == "__main__":
    write_description(shipped_folder(sys.argv[1]), *sys.argv[1:])
    sys.stdout.write(str(shipped_folder(sys.argv[1]) / DESCRIPTION) + "\n")
