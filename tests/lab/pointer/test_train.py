"""Examples, network and training on a few sentences of our own, with a very small encoder."""

import json
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="needs the extra [train]")

from parataxis.lab.encoder import Encoder, EncoderSize  # noqa: E402
from parataxis.lab.pointer.data import (  # noqa: E402  # noqa: E402
    ExampleSet,
    PointerExample,
    TrainingPair,
    make_examples,
    noisy_pairs,
    read_examples,
    simple_sentences,
    write_examples,
)
from parataxis.lab.pointer.network import PointerNetwork, PointerSizes  # noqa: E402
from parataxis.lab.pointer.pipeline import (  # noqa: E402
    Ensemble,
    grow,
    write_rewrites,
)
from parataxis.lab.pointer.train import (  # noqa: E402
    PointerConfig,
    PointerTrainer,
    TorchDecoder,
    load_network,
    network_logs,
    samples,
    save_network,
)
from parataxis.lab.training import Evaluation  # noqa: E402
from parataxis.splitters.pointer.actions import COPY, END, NEXT  # noqa: E402
from parataxis.splitters.pointer.search import search  # noqa: E402

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
        "early_epochs": 0.0,
        "epochs": 30,
        "batch": 12,
        "warmup_steps": 5,
        "encoder_rate": 3e-3,
        "rate": 6e-3,
        "weight_decay": 0.0,
        "average_decay": 0.8,
        "hidden_pieces": 0.0,
        "aligned": 0.3,
        "imitate": 0.5,
        "sizes": SIZES,
        "kinds": {"gold": 1.0, "simple": 1.0},
    }
    return PointerConfig(**{**settings, **changes})  # type: ignore[arg-type]


def trainer(
    examples: list[PointerExample],
    output: Path,
    settings: PointerConfig,
    teachers: Sequence[PointerNetwork] = (),
    *,
    report_every: int = 60,
    resume: bool = False,
) -> PointerTrainer:
    """A run of a small network, which holds out the first six examples."""
    made = PointerTrainer(
        *(small_network(), settings, examples, examples[:6], CPU, output, teachers),
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
    assert samples(network, examples[:2], CPU) == [
        "Ann was ill | Ann sold tea",
        "Ann sold tea .",
    ]
    taught = list(write_rewrites(Ensemble([TorchDecoder(network, CPU)] * 2), examples[:2]))
    assert [list(e.actions) for e in taught] == [list(e.actions) for e in examples[:2]]


def test_training_resumes_where_it_stopped(examples: list[PointerExample], tmp_path: Path) -> None:
    settings = config(epochs=4, hidden_pieces=0.2)
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
    run = trainer(examples, tmp_path, config(epochs=2), report_every=2)
    losses = iter([1.0, 2.0])
    monkeypatch.setattr(run, "evaluate", lambda: Evaluation((-next(losses),), {}))
    run.run_epoch()
    kept = (tmp_path / "pointer.pt").read_bytes()
    run.run_epoch()
    assert (tmp_path / "pointer.pt").read_bytes() == kept
    assert run.waited == 1


def test_training_imitates_its_teachers(examples: list[PointerExample], tmp_path: Path) -> None:
    def distance(student: PointerNetwork) -> float:
        batch = ExampleSet(examples[:4], CPU).batch(np.arange(4))
        with torch.no_grad():
            teacher_says = network_logs(teacher, batch).exp()
            return float(-(teacher_says * network_logs(student.eval(), batch)).sum(-1).mean())

    teacher = small_network().eval()
    torch.manual_seed(7)
    for parameter in teacher.parameters():
        torch.nn.init.normal_(parameter, std=0.3)
    run = trainer(examples, tmp_path, config(imitate=1.0, epochs=6), [teacher])
    before = distance(run.network)
    run.run()
    assert distance(run.network) < before


def test_training_hears_each_teacher_once_and_aligned(
    examples: list[PointerExample], tmp_path: Path
) -> None:
    teachers = [small_network().eval(), small_network().eval()]
    run = trainer(examples, tmp_path, config(imitate=0.5), teachers)
    rows = np.array([2, 0, 1])
    heard = run.taught(rows)
    batch = run.examples.batch(rows)
    with torch.no_grad():
        said = torch.stack([network_logs(each, batch).exp() for each in teachers]).mean(0)
    assert heard is not None
    assert torch.allclose(heard * batch.real[..., None], said * batch.real[..., None], atol=1e-3)
    run.teachers = [None]  # type: ignore[list-item]
    assert torch.equal(run.taught(rows), heard)  # type: ignore[arg-type]


def test_grown_network_starts_as_the_old_one(examples: list[PointerExample]) -> None:
    torch.manual_seed(3)
    network = small_network().eval()
    grown = grow(network, [0], examples)
    assert len(grown.encoder.layers) == len(network.encoder.layers) + 1
    assert grown.encoder.size.layers == len(grown.encoder.layers)
    batch = ExampleSet(examples[:4], CPU).batch(np.arange(4))
    with torch.no_grad():
        before, after = network_logs(network, batch).exp(), network_logs(grown, batch).exp()
    assert (before - after).abs().max() < 0.02
    assert list(network.state_dict()) != list(grown.state_dict())


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


def test_prepare_keeps_development_sources_out_of_noisy_pairs(tmp_path: Path) -> None:
    for name in ("rewrites", "minwiki", "wikisplit"):
        (tmp_path / name).mkdir()
    dev = {"complex": "Ann (25) sang, and Ben left.", "simple": ["Ann (25) sang.", "Ben left."]}
    (tmp_path / "rewrites" / "dev.jsonl").write_text(json.dumps(dev) + "\n", encoding="utf-8")
    for suffix in ("complex", "simple"):
        (tmp_path / "minwiki" / f"train.{suffix}").write_text("", encoding="utf-8")
    kept = "Eve sang , and Ben left .\tEve sang . <::::> Ben left .\n"
    held = "Ann ( 25 ) sang , and Ben left .\tAnn ( 25 ) sang . <::::> Ben left .\n"
    for part in ("tune", "validation"):
        (tmp_path / "wikisplit" / f"{part}.tsv").write_text(held + kept, encoding="utf-8")
    assert {pair.source for pair in noisy_pairs(tmp_path)} == {"Eve sang, and Ben left."}
