"""``parataxis split --device``: the models in one process, everything else in the others."""

import json
from pathlib import Path

import pytest

from parataxis.api import Splitter
from parataxis.cli.main import main

SENTENCES = ["Ann, who was born in Leeds, paints.", "It rained.", "Bob came, and Ann left."]


def test_command_device_gives_the_rewrites_of_the_cpu(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("OMP_NUM_THREADS", "1")
    source, output = tmp_path / "in.txt", tmp_path / "out.jsonl"
    source.write_text("\n".join(SENTENCES) + "\n", encoding="utf-8")
    options = ["--input", "lines", "--device", "cpu", "--beam", "2", "--jobs", "2"]
    assert main(["split", str(source), *options, "-o", str(output)]) == 0, capsys.readouterr()
    records = [json.loads(line) for line in output.read_text(encoding="utf-8").splitlines()]
    cpu = Splitter("pointer", beam=2).pipe(SENTENCES)
    assert [record["simple"] for record in records] == [list(each.simple) for each in cpu]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--splitter", "rules"], 'Only the splitter "pointer" runs on a GPU, not "rules".'),
        (["--engine", "ray", "--device", "cuda:1"], "On a cluster each actor has its own GPU; "),
        ([], "The models could not be put on cuda: torch finds no GPU here"),
    ],
)
def test_command_device_refusals(
    tmp_path: Path, options: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    source, output = tmp_path / "in.txt", tmp_path / "out.jsonl"
    source.write_text("It rained.\n", encoding="utf-8")
    assert main(["split", str(source), "--device", "cuda", "-o", str(output), *options]) == 2
    assert message in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == [source]
