"""Examples, network and training on a few sentences of our own, with a very small encoder."""

import gzip
import json
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="needs the extra [train]")

from parataxis.lab.encoder import Encoder, EncoderSize  # noqa: E402
from parataxis.lab.pointer.data import (  # noqa: E402
    ExampleSet,
    PointerExample,
    TrainingPair,
    make_examples,
    preferred,
    read_examples,
    read_rewrites,
    read_taught,
    simple_sentences,
    write_examples,
)
from parataxis.lab.pointer.network import PointerNetwork, PointerSizes  # noqa: E402
from parataxis.lab.pointer.train import (  # noqa: E402
    PointerConfig,
    PointerTrainer,
    TorchDecoder,
    load_bundle,
    load_network,
    network_logs,
    rewrite_loss,
    rewrites,
    save_network,
)
from parataxis.lab.training import Evaluation  # noqa: E402
from parataxis.lab.verifier.candidates import (  # noqa: E402
    RankedSource,
    TrainingCandidate,
    write_sources,
)
from parataxis.rewrite.record import Level  # noqa: E402
from parataxis.splitters.pointer.actions import COPY, END, NEXT, OPENING, WHOLE  # noqa: E402
from parataxis.splitters.pointer.model import load_decoder  # noqa: E402
from parataxis.splitters.pointer.search import search  # noqa: E402
from parataxis.syntax.onnx import shipped_folder  # noqa: E402

CPU = torch.device("cpu")
SIZES = PointerSizes(width=32, heads=2, layers=2, inner=64, dropout=0.0)
NAMES = ["Ann", "Ben", "Carl", "Dora", "Emil", "Fay"]
THINGS = ["tea", "bread", "soup", "rice"]


def small_network() -> PointerNetwork:
    torch.manual_seed(0)
    size = EncoderSize(width=32, layers=1, heads=2, inner=64, positions=64)
    return PointerNetwork(Encoder(size, dropout=0.0), SIZES)


def pairs() -> Iterator[TrainingPair]:
    for name in NAMES:
        for thing in THINGS:
            simple = (f"{name} was ill.", f"{name} sold {thing}.")
            yield TrainingPair(f"{name}, who was ill, sold {thing}.", simple, "gold")
            source = f"{name} sold {thing}."
            yield TrainingPair(source, (source,), "simple")


@pytest.fixture(scope="module")
def examples() -> list[PointerExample]:
    return list(make_examples(pairs()))


def config(**changes: object) -> PointerConfig:
    settings: dict[str, object] = {
        "seed": 1,
        "epochs": 20,
        "late_epochs": 10,
        "patience": 100,
        "batch": 12,
        "warmup_steps": 5,
        "encoder_rate": 3e-3,
        "rate": 6e-3,
        "weight_decay": 0.0,
        "average_decay": 0.8,
        "hidden_pieces": 0.0,
        "aligned": 0.3,
        "first_step": 2.0,
        "sizes": SIZES,
        "kinds": {"gold": 1.0, "simple": 1.0},
        "late_kinds": {"gold": 1.0, "simple": 1.0},
    }
    return PointerConfig(**{**settings, **changes})  # type: ignore[arg-type]


def trainer(
    examples: list[PointerExample],
    output: Path,
    settings: PointerConfig,
    *,
    report_every: int = 60,
    resume: bool = False,
) -> PointerTrainer:
    """A run of a small network, which holds out the first six examples."""
    made = PointerTrainer(
        *(small_network(), settings, examples, examples[:6], CPU, output),
        report_every=report_every,
    )
    if resume:
        made.load()
    else:
        made.start()
    return made


def test_examples_come_back_from_their_file(examples: list[PointerExample], tmp_path: Path) -> None:
    path = tmp_path / "examples.npz"
    assert write_examples(examples, path) == len(examples)
    for ours, theirs in zip(examples, read_examples(path), strict=True):
        assert (ours.text, ours.kind) == (theirs.text, theirs.kind)
        assert list(ours.actions) == list(theirs.actions)
        assert list(ours.source.pieces.ids) == list(theirs.source.pieces.ids)
        assert list(ours.source.pieces.first) == list(theirs.source.pieces.first)
        assert list(ours.source.same) == list(theirs.source.same)


def test_batch_state_follows_the_actions(examples: list[PointerExample]) -> None:
    example = examples[0]  # Ann, who was ill, sold tea. -> Ann was ill. | Ann sold tea.
    batch = ExampleSet([example], CPU).batch(np.array([0]))
    actions = batch.actions[0].tolist()
    assert actions == [COPY, COPY + 3, COPY + 4, NEXT, COPY, COPY + 6, COPY + 7, END]
    state = batch.state
    assert state.last[0].tolist() == [-1, 0, 3, 4, 4, 0, 6, 7]
    assert state.sentence[0].tolist() == [0, 0, 0, 0, 1, 1, 1, 1]
    assert state.place[0].tolist() == [0, 1, 2, 3, 0, 1, 2, 3]
    assert state.copied[0, -1].tolist() == [2, 0, 0, 1, 1, 0, 1, 1, 0]


def test_batch_allows_every_way_to_write_a_word() -> None:
    pair = TrainingPair("The cat saw the dog, and it ran.", ("The cat saw it.", "It ran."), "gold")
    (example,) = make_examples([pair])
    batch = ExampleSet([example], CPU).batch(np.array([0]))
    first = batch.allowed()[0, 0].nonzero()[:, 0].tolist()
    assert [action - COPY for action in first if action >= COPY] == [0, 3]
    assert len([action for action in first if action < COPY]) == 1  # the closed "the"


def test_network_steps_as_it_trains(examples: list[PointerExample]) -> None:
    """All steps of a rewrite at once, and one step after the other, give the same scores."""
    network = small_network().eval()
    batch = ExampleSet(examples[:1], CPU).batch(np.array([0]))
    with torch.no_grad():
        at_once = network_logs(network, batch)
        memory = network.encode(*batch.encoder_inputs())
        starts = [start[:, None] for start in network.start(1, CPU)]
        for step in range(batch.actions.shape[1]):
            state = type(batch.state)(
                *(
                    getattr(batch.state, name)[:, step : step + 1]
                    for name in ("previous", "sentence", "place", "last", "copied")
                )
            )
            scores, starts = network(memory, state, starts)
            assert torch.allclose(scores.log_softmax(-1)[:, 0], at_once[:, step], atol=1e-5)


def test_training_learns_to_split_and_to_leave_whole(
    examples: list[PointerExample], tmp_path: Path
) -> None:
    run = trainer(examples, tmp_path, config())
    run.run()
    network = load_network(tmp_path / "pointer.pt")
    assert rewrites(network, examples[:2], CPU) == [
        [["ann", "was", "ill"], ["ann", "sold", "tea"]],
        [["ann", "sold", "tea", "."]],
    ]
    best = run.evaluate()
    assert best.figures["identical"] == 1.0
    assert set(best.figures) == set(run.score_fields)


def test_training_resumes_where_it_stopped(examples: list[PointerExample], tmp_path: Path) -> None:
    settings = config(epochs=3, late_epochs=1, hidden_pieces=0.2)
    whole = trainer(examples, tmp_path / "whole", settings, report_every=5)
    whole.run()
    first = trainer(examples, tmp_path / "parts", settings, report_every=5)
    first.run_epoch()
    assert 0 < first.step < whole.step
    torch.manual_seed(99)  # whatever happened in between
    second = trainer(examples, tmp_path / "parts", settings, report_every=5, resume=True)
    second.run()
    for name, weight in whole.network.state_dict().items():
        assert torch.allclose(weight, second.network.state_dict()[name], atol=1e-6), name
    logs = [(tmp_path / run / "log.csv").read_text() for run in ("whole", "parts")]
    assert logs[0] == logs[1]


def test_training_keeps_the_best_weights(
    examples: list[PointerExample], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = trainer(examples, tmp_path, config(patience=1), report_every=2)
    losses = iter([1.0, 2.0])
    monkeypatch.setattr(run, "evaluate", lambda: Evaluation((-next(losses),), {}))
    run.run_epoch()
    kept = (tmp_path / "pointer.pt").read_bytes()
    assert not run.is_over
    run.run_epoch()
    assert (tmp_path / "pointer.pt").read_bytes() == kept
    assert run.is_over


def test_loss_counts_the_first_step_twice(examples: list[PointerExample]) -> None:
    network = small_network().eval()
    batch = ExampleSet(examples[:3], CPU).batch(np.arange(3))
    with torch.no_grad():
        logs = network_logs(network, batch).masked_fill(~batch.allowed(), -1e9).logsumexp(-1)
        wanted = -(logs * batch.real).sum() - logs[:, 0].sum()
        found = rewrite_loss(network, batch, aligned=0.0, first_step=2.0)
    assert torch.isclose(found, wanted / (30 * 3))


def test_shipped_bundle_can_be_trained_further() -> None:
    network = load_bundle(shipped_folder("pointer"))
    sources = [
        example.source
        for example in make_examples(
            [
                TrainingPair(
                    "The mill, which was built in 1800, burned down.", ("It burned.",), ""
                ),
                TrainingPair("Ann sang, and Ben, who was ill, left the town.", ("Ann sang.",), ""),
            ]
        )
    ]
    ours = search(TorchDecoder(network, CPU), sources, beam=2)
    theirs = search(load_decoder(), sources, beam=2)
    assert [found.hypotheses[0].actions for found in ours] == [
        found.hypotheses[0].actions for found in theirs
    ]
    assert [found.whole for found in ours] == pytest.approx([f.whole for f in theirs], abs=0.05)


def test_saved_network_rewrites_the_same(examples: list[PointerExample], tmp_path: Path) -> None:
    network = small_network().half().float()
    save_network(network, tmp_path / "pointer.pt")
    sources = [example.source for example in examples[:3]]
    ours = search(TorchDecoder(network, CPU), sources, beam=2)
    theirs = search(TorchDecoder(load_network(tmp_path / "pointer.pt"), CPU), sources, beam=2)
    assert ours == theirs


def test_prepare_counts_simple_sentences_of_split_rewrites_only() -> None:
    found = list(
        simple_sentences([TrainingPair("a", ("One two three four five.", "No."), "gold")], 1)
    )
    assert found == [
        TrainingPair("One two three four five.", ("One two three four five.",), "simple")
    ]


def test_examples_open_with_their_level(tmp_path: Path) -> None:
    record = {
        "complex": "Ann, who was ill, sold tea.",
        "simple": ["Ann was ill.", "Ann sold tea."],
        "level": "atomic",
    }
    lost = {**record, "simple": ["Ann was ill.", "Ann sold."]}
    path = tmp_path / "levels.jsonl"
    path.write_text(json.dumps(record) + "\n" + json.dumps(lost) + "\n", encoding="utf-8")
    (example,) = make_examples(read_rewrites(path, "new"))
    assert example.kind == "atomic"
    assert example.source.pieces.ids[0] == OPENING[Level.ATOMIC]


def test_taught_rewrites_are_also_those_the_teacher_prefers(tmp_path: Path) -> None:
    text, simple = "It rained, and we left.", ["It rained.", "We left."]
    whole = TrainingCandidate([text], "whole", -3.0, -5.0, [0.01])
    split = TrainingCandidate(simple, "found", -1.0, -0.1, [0.02, 0.03])
    other = TrainingCandidate(["It rained.", "It left."], "found", -1.0, -9.0, [0.02, 0.75])
    source = RankedSource("1", "", text, candidates=[whole, split, other])
    write_sources([source], tmp_path / "1.scored")
    (pair,) = read_taught(tmp_path)
    assert (pair.source, list(pair.simple), pair.kind) == (text, simple, "taught")


def test_preferred_rewrite_is_right_and_likely() -> None:
    text, simple = "It rained, and we left.", ["It rained.", "We left."]

    def chosen(whole: float, split: float, risk: float) -> list[str] | None:
        return preferred(text, [([text], whole, [0.01]), (simple, split, [0.02, risk])])

    assert chosen(-5.0, -0.1, 0.03) == simple
    assert chosen(-5.0, -0.1, 0.6) is None
    assert chosen(-0.5, -0.1, 0.6) == [text]
    assert chosen(-0.5, -4.0, 0.03) == [text]


def test_taught_rewrites_are_those_the_teacher_is_sure_of(tmp_path: Path) -> None:
    source, split = "Ann, who was ill, sold tea.", ["Ann was ill.", "Ann sold tea."]
    whole = {"simple": [source], "log_chance": -1.0, "risks": [0.0]}
    safe = {"simple": split, "log_chance": -2.4, "risks": [0.01, 0.01]}
    cases: list[tuple[dict[str, object], tuple[str, ...] | None]] = [
        ({**safe, "log_chance": -3.9}, tuple(split)),
        ({**safe, "log_chance": -4.1}, None),
        ({**safe, "log_chance": -6.9, "level": "atomic"}, tuple(split)),
        (whole, (source,)),
        ({**whole, "log_chance": -1.2}, None),
        ({**whole, "simple": ["Ann, ill, sold tea."]}, None),
        ({**whole, "split": safe}, tuple(split)),
        ({**whole, "split": {**safe, "log_chance": -2.6}}, (source,)),
        ({**safe, "risks": [0.01, 0.3]}, None),
        ({**safe, "risks": [0.01, 0.3], "split": safe}, tuple(split)),
    ]
    path = tmp_path / "labels.jsonl.gz"
    with gzip.open(path, "wt", encoding="utf-8") as stream:
        stream.writelines(json.dumps({"complex": source, **case}) + "\n" for case, _ in cases)
    pairs = list(read_taught(path))
    assert [pair.simple for pair in pairs] == [wanted for _, wanted in cases if wanted]
    assert [pair.kind for pair in pairs][:2] == ["taught", "atomic-taught"]
    assert [list(e.actions) == [WHOLE] for e in make_examples(pairs)] == [
        pair.is_whole for pair in pairs
    ]
