"""A run: exact resume, the rate, the end, and checkpoints that do not fit."""

import csv
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

torch = pytest.importorskip("torch", reason="needs the extra [train]")
pytest.importorskip("sacrebleu", reason="needs the extra [metrics]")

from parataxis.errors import InputError, ParataxisError  # noqa: E402
from parataxis.lab import training  # noqa: E402
from parataxis.lab.lstm import train as lstm_training  # noqa: E402
from parataxis.lab.lstm.data import Texts, read_corpora  # noqa: E402
from parataxis.lab.lstm.train import (  # noqa: E402  # noqa: E402
    BEST,
    LstmConfig,
    LstmTrainer,
    find_config,
    load_trained,
    read_config,
)
from parataxis.lab.training import LAST, LOG, SCORES, Evaluation  # noqa: E402


def trainer(
    corpora: dict[str, str],
    output: Path,
    name: str = "copy-128",
    data: str = "few",
    **changes: str,
) -> LstmTrainer:
    quick = {"epochs": "3", "batch": "16", "least": "2", "sizes.width": "16", "beam": "3"}
    config = read_config(find_config(name), {**quick, "decay": "0.9", **changes})
    return trainer_of(config, corpora, output, data)


def trainer_of(config: LstmConfig, corpora: dict[str, str], output: Path, data: str) -> LstmTrainer:
    read = {}
    for part in (data, "validation"):
        read[part] = Texts()
        for example in read_corpora([corpora[part]]):
            read[part].add(example.source, example.references)
    vocabulary = read[data].vocabulary(config.vocabulary, config.least)
    pairs, validation = (read[part].pairs(vocabulary, 99) for part in (data, "validation"))
    return LstmTrainer(config, vocabulary, pairs, validation, torch.device("cpu"), output)


def table(path: Path) -> list[dict[str, str]]:
    with path.open(newline="", encoding="utf-8") as stream:
        rows = list(csv.DictReader(stream))
    return [{k: v for k, v in row.items() if k != "seconds"} for row in rows]


def evaluation(bleu: float) -> Evaluation:
    return Evaluation((bleu, -2.0), {"perplexity": 2.0, "bleu": bleu})


def same(one: Any, other: Any) -> bool:
    if isinstance(one, torch.Tensor):
        return torch.equal(one, other)
    if isinstance(one, dict):
        return one.keys() == other.keys() and all(same(one[key], other[key]) for key in one)
    return bool(one == other)


@pytest.mark.parametrize("name", ["copy-128", "lstm-ag18"])
@pytest.mark.parametrize("stop", [1, 4, 7])
def test_train_a_resumed_run_gives_the_same_bits(
    corpora: dict[str, str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    name: str,
    stop: int,
) -> None:
    """Three steps an epoch and a checkpoint every two: stopped before the first checkpoint of an
    epoch, in the middle of one, and after one."""
    whole = trainer(corpora, tmp_path / "whole", name, save_every="2")
    whole.start()
    whole.save()
    whole.run()
    assert whole.step == 9

    cut = trainer(corpora, tmp_path / "cut", name, save_every="2")
    cut.start()
    cut.save()
    take = cut.take

    def interrupted(batch: Any) -> None:
        if cut.step == stop:
            raise KeyboardInterrupt
        take(batch)

    monkeypatch.setattr(cut, "take", interrupted)
    with pytest.raises(KeyboardInterrupt):
        cut.run()
    torch.manual_seed(99)  # whatever happened in between
    resumed = trainer(corpora, tmp_path / "cut", name, save_every="2")
    resumed.load()
    assert resumed.step <= stop
    resumed.run()
    for file in (LAST, BEST):
        states = [torch.load(tmp_path / run / file) for run in ("whole", "cut")]
        assert same(*states), file
    for file in (LOG, SCORES):
        assert table(tmp_path / "whole" / file) == table(tmp_path / "cut" / file)


def test_train_logs_every_step_and_every_epoch(corpora: dict[str, str], tmp_path: Path) -> None:
    run = trainer(corpora, tmp_path / "run")
    run.start()
    run.run()
    steps, epochs = table(tmp_path / "run" / LOG), table(tmp_path / "run" / SCORES)
    assert [int(row["step"]) for row in steps] == list(range(1, 10))
    assert [int(row["epoch"]) for row in steps] == [0, 0, 0, 1, 1, 1, 2, 2, 2]
    assert float(steps[-1]["loss"]) < float(steps[0]["loss"])
    assert [(row["epoch"], row["step"]) for row in epochs] == [("0", "3"), ("1", "6"), ("2", "9")]
    assert all(float(row["perplexity"]) > 1 and row["bleu"] for row in epochs)


def test_train_halves_the_rate_and_ends_when_nothing_gets_better(
    corpora: dict[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = trainer(corpora, tmp_path / "run", epochs="20", decay="0.5", patience="2", steady="1")
    scores = iter([5.0, 4.0, 6.0, 6.0, 1.0, 2.0, 3.0])
    monkeypatch.setattr(run, "evaluate", lambda: evaluation(next(scores)))
    run.start()
    run.run()
    rows = table(tmp_path / "run" / SCORES)
    assert [float(row["rate"]) for row in rows] == [1.0, 1.0, 0.5, 0.5, 0.25, 0.125]
    assert run.epoch == 6
    assert run.best == (6.0, -2.0)


def test_train_leaves_the_rate_alone_in_the_first_epochs(
    corpora: dict[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = trainer(corpora, tmp_path / "run", epochs="6", decay="0.5", steady="3")
    worse = iter(range(9, 0, -1))
    monkeypatch.setattr(run, "evaluate", lambda: evaluation(next(worse)))
    run.start()
    run.run()
    rates = [float(row["rate"]) for row in table(tmp_path / "run" / SCORES)]
    assert rates == [1.0, 1.0, 1.0, 1.0, 0.5, 0.25]


def test_train_stops_after_so_many_steps(corpora: dict[str, str], tmp_path: Path) -> None:
    run = trainer(corpora, tmp_path / "run", steps="4")
    run.start()
    run.run()
    assert run.step == 4
    assert len(table(tmp_path / "run" / SCORES)) == 2
    assert (tmp_path / "run" / BEST).exists()


def test_train_perplexity_needs_no_search(
    corpora: dict[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lstm_training, "search", None)
    run = trainer(corpora, tmp_path / "run", "lstm-ag18", epochs="1")
    run.start()
    run.run()
    assert [row["bleu"] for row in table(tmp_path / "run" / SCORES)] == [""]


def test_train_resuming_with_other_data_is_a_mismatch_of_vocabularies(
    corpora: dict[str, str], tmp_path: Path
) -> None:
    run = trainer(corpora, tmp_path, data="few", least="1")
    run.start()
    run.save()
    with pytest.raises(InputError, match=r"The vocabulary of the data .* is not that of the run"):
        trainer(corpora, tmp_path, data="train", least="1").load()


def test_train_resuming_with_other_settings_is_refused(
    corpora: dict[str, str], tmp_path: Path
) -> None:
    run = trainer(corpora, tmp_path)
    run.start()
    run.save()
    longer = trainer_of(replace(run.config, epochs=99), corpora, tmp_path, "few")
    longer.load()
    with pytest.raises(InputError, match="was started with other settings"):
        trainer(corpora, tmp_path, rate="0.5").load()


def test_train_a_checkpoint_of_another_version_is_told(
    corpora: dict[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = trainer(corpora, tmp_path, epochs="1")
    run.start()
    run.run()
    monkeypatch.setattr(training, "VERSION", 2)
    with pytest.raises(InputError, match=r"last\.pt is a checkpoint of version 1, .* version 2"):
        run.load()
    with pytest.raises(InputError, match=r"best\.pt is a checkpoint of version 1"):
        load_trained(tmp_path / BEST)


def test_train_a_damaged_checkpoint_is_told(corpora: dict[str, str], tmp_path: Path) -> None:
    with pytest.raises(InputError, match="There is no checkpoint"):
        load_trained(tmp_path / BEST)
    (tmp_path / BEST).write_bytes(b"PK\x03\x04 and nothing else")
    with pytest.raises(InputError, match="is not a checkpoint of these models, or it is damaged"):
        load_trained(tmp_path / BEST)


def test_train_words_and_weights_must_fit(corpora: dict[str, str], tmp_path: Path) -> None:
    run = trainer(corpora, tmp_path, epochs="1")
    run.start()
    run.run()
    stored = torch.load(tmp_path / BEST)
    torch.save({**stored, "words": stored["words"][1:]}, tmp_path / BEST)
    with pytest.raises(ParataxisError, match=r"has \d+ words and its vocabulary \d+"):
        load_trained(tmp_path / BEST)
