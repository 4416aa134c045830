"""Training, labelling and exporting the analyser, on a few sentences of our own.

A tiny encoder with random weights stands in for the pretrained one: the steps must work together
and the network must be able to learn its training sentences by heart.
"""

import gzip
import json
from dataclasses import replace
from pathlib import Path

import pytest

torch = pytest.importorskip("torch", reason="needs the extra [train]")
pytest.importorskip("onnx", reason="needs the extra [train]")

from parataxis.cli.main import main  # noqa: E402
from parataxis.lab import encoder as encoders  # noqa: E402
from parataxis.lab.analyser import train as training  # noqa: E402
from parataxis.lab.analyser.data import (  # noqa: E402
    gold_sentences,
    label,
    read_silver,
)
from parataxis.lab.analyser.evaluate import evaluate  # noqa: E402
from parataxis.lab.analyser.export import export  # noqa: E402
from parataxis.lab.analyser.train import CONFIG, read_config, train  # noqa: E402
from parataxis.syntax.analyser import Analyser  # noqa: E402
from parataxis.syntax.decoding import read_labels  # noqa: E402
from parataxis.syntax.onnx import OnnxModel  # noqa: E402

TINY = encoders.EncoderSize(positions=64, width=32, layers=2, heads=2, inner=64)

SENTENCES = [
    (
        "The judge who heard it retired .",
        "DET NOUN PRON VERB PRON VERB PUNCT",
        "2 6 4 2 4 0 6",
        "det nsubj nsubj acl:relcl obj root punct",
        [(3, [(0, 1, "ARG0"), (2, 2, "R-ARG0"), (4, 4, "ARG1")]), (5, [(0, 4, "ARG0")])],
    ),
    (
        "She was seen .",
        "PRON AUX VERB PUNCT",
        "3 3 0 3",
        "nsubj:pass aux:pass root punct",
        [(1, []), (2, [(0, 0, "ARG1")])],
    ),
]


@pytest.fixture
def data(tmp_path: Path) -> Path:
    blocks, records = [], []
    for number, (text, upos, heads, deprels, frames) in enumerate(SENTENCES * 6):
        words = text.split()
        columns = zip(words, upos.split(), heads.split(), deprels.split(), strict=True)
        rows = [
            f"{place}\t{word}\t_\t{tag}\t{tag[:2]}\tNumber=Sing\t{head}\t{relation}\t_\t_"
            for place, (word, tag, head, relation) in enumerate(columns, 1)
        ]
        blocks.append("\n".join([f"# sent_id = s{number}", f"# text = {text}", *rows, "", ""]))
        records.append(
            {
                "sent_id": f"s{number}",
                "tokens": words,
                "frames": [{"predicate": at, "arguments": arguments} for at, arguments in frames],
            }
        )
    folder = tmp_path / "data"
    for name in ("ud", "propbank"):
        (folder / name).mkdir(parents=True)
    for part in ("train", "dev", "test"):
        for bank in ("ewt", "gum"):
            with gzip.open(folder / "ud" / f"{bank}-{part}.conllu.gz", "wt") as stream:
                stream.write("".join(blocks))
        with gzip.open(folder / "propbank" / f"{part}.jsonl.gz", "wt") as stream:
            stream.writelines(json.dumps(record) + "\n" for record in records)
    return folder


@pytest.fixture
def encoder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder from which an encoder of random weights is loaded."""

    def load(_: Path, dropout: float) -> encoders.Encoder:
        torch.manual_seed(0)
        return encoders.Encoder(TINY, dropout)

    monkeypatch.setattr(training, "load_encoder", load)
    return tmp_path / "encoder"


@pytest.fixture
def config() -> training.AnalyserConfig:
    changes = {
        "epochs": "25",
        "stop_after": "25",
        "batch_sentences": "12",
        "warmup_steps": "5",
        "encoder_rate": "3e-3",
    }
    changes |= {"head_rate": "3e-3", "evaluate_every": "25", "heads.dropout": "0.0"}
    changes |= {"heads.role_layers": "1", "heads.role_depth": "1", "encoder_dropout": "0.0"}
    return replace(read_config(CONFIG, changes), average_decay=0.5)


def test_analyser_learns_exports_and_evaluates(
    data: Path, encoder: Path, config: training.AnalyserConfig, tmp_path: Path
) -> None:
    train(data, encoder, tmp_path / "run", config)
    export(tmp_path / "run" / "analyser.pt", tmp_path / "model")
    analyser = Analyser(
        OnnxModel(tmp_path / "model" / "analyser.onnx"),
        read_labels(tmp_path / "model" / "analyser.json"),
    )
    gold = list(gold_sentences(data, "ewt", "test"))
    accuracy = evaluate(analyser, gold, tokens="gold", predicates="own")
    assert {name: accuracy[name] for name in ("upos", "feats", "las", "predicates", "roles")} == {
        "upos": 100.0,
        "feats": 100.0,
        "las": 100.0,
        "predicates": 100.0,
        "roles": 100.0,
    }
    rows = (tmp_path / "run" / "log.csv").read_text().splitlines()
    assert rows[0] == "step,arcs,deprels,upos,xpos,feats,predicates,roles"


def test_analyser_resumes_exactly(
    data: Path, encoder: Path, config: training.AnalyserConfig, tmp_path: Path
) -> None:
    short = replace(config, epochs=4, stop_after=4)
    train(data, encoder, tmp_path / "whole", short)
    train(data, encoder, tmp_path / "halves", replace(short, stop_after=2))
    train(data, encoder, tmp_path / "halves", short, resume=True)
    whole = torch.load(tmp_path / "whole" / "analyser.pt")["weights"]
    halves = torch.load(tmp_path / "halves" / "analyser.pt")["weights"]
    assert all(torch.equal(whole[name], halves[name]) for name in whole)


def test_analyser_learns_from_silver_sentences(
    data: Path, encoder: Path, config: training.AnalyserConfig, tmp_path: Path
) -> None:
    train(data, encoder, tmp_path / "teacher", config)
    lines = tmp_path / "lines.txt"
    lines.write_text("The judge who heard it retired.\nShe was seen.\n", encoding="utf-8")
    weights = tmp_path / "teacher" / "analyser.pt"
    label(weights, lines, tmp_path / "silver.jsonl.gz")
    silver = list(read_silver(tmp_path / "silver.jsonl.gz"))
    assert [s.analysis.text for s in silver] == lines.read_text(encoding="utf-8").splitlines()
    train(
        data,
        encoder,
        tmp_path / "student",
        replace(config, stop_after=1),
        silver=tmp_path / "silver.jsonl.gz",
    )
    assert (tmp_path / "student" / "analyser.pt").exists()


def test_analyser_program_names_a_missing_treebank(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["train", "analyser", "--only", "evaluate", "--data", str(tmp_path)]) == 2
    assert "There is no treebank file" in capsys.readouterr().err
