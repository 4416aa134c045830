"""Examples, network and training on a few sentences of our own, with a very small encoder."""

import gzip
import json
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="needs the extra [train]")

from torch import Tensor  # noqa: E402

from parataxis.lab.encoder import Encoder, EncoderSize  # noqa: E402
from parataxis.lab.pointer.data import (  # noqa: E402
    FAULT,
    FURTHER,
    RIVALS,
    ExampleSet,
    PointerExample,
    TrainingPair,
    judged_by_teacher,
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
    losses_and_uncertainty,
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


def small_network(layers: int = 1) -> PointerNetwork:
    torch.manual_seed(0)
    size = EncoderSize(width=32, layers=layers, heads=2, inner=64, positions=64)
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
        "epochs": 30,
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
        "preference": 0.3,
        "sharpness": 0.5,
        "stays": 0.2,
        "fixed_layers": 0,
        "bfloat16": False,
        "sizes": SIZES,
        "kinds": {"gold": 1.0, "simple": 1.0},
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
    examples = [*examples, *judged(examples)]
    assert write_examples(examples, path) == len(examples)
    for ours, theirs in zip(examples, read_examples(path), strict=True):
        assert (ours.text, ours.kind, ours.badness) == (theirs.text, theirs.kind, theirs.badness)
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


def test_batch_knows_every_way_to_write_a_word() -> None:
    pair = TrainingPair("The cat saw the dog, and it ran.", ("The cat saw it.", "It ran."), "gold")
    (example,) = make_examples([pair])
    batch = ExampleSet([example], CPU).batch(np.array([0]))
    spellings = batch.spellings()[0].tolist()
    the = spellings[COPY]
    assert the < COPY  # the closed "the" stands for both of the source
    assert [word for word, first in enumerate(spellings[COPY:]) if first == the] == [0, 3]
    cat = COPY + 1
    assert spellings.count(cat) == 1


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
        twice = rewrite_loss(network, batch, config(aligned=0.0, first_step=2.0))
        once = rewrite_loss(network, batch, config(aligned=0.0, first_step=1.0))
        logs = network_logs(network, batch)
        spellings = batch.spellings()
        same = spellings[:, None] == spellings.gather(1, batch.actions)[..., None]
        sums = -(logs.masked_fill(~same, -1e9).logsumexp(-1) * batch.real).sum()
        first = torch.stack([each[0, a[0]] for each, a in zip(logs, batch.actions, strict=True)])
    assert torch.isclose(once, sums / (30 * 3))
    assert torch.isclose(twice - once, -first.sum() / (30 * 3), atol=1e-4)


def judged(examples: list[PointerExample]) -> list[PointerExample]:
    """Every rewrite, right where the name comes before D, and the sources: right as they are."""
    return [
        replace(
            example,
            kind="judged",
            badness=0.0 if example.text < "D" or example.kind == "simple" else FAULT,
        )
        for example in examples
    ]


def swapped(examples: list[PointerExample]) -> list[PointerExample]:
    """Bad rewrites of the sources that should be split, as raters judge them."""
    made = []
    for each in examples:
        if each.kind == "gold":
            name, thing = each.text.split()[0].strip(","), each.text.split()[-1]
            pair = TrainingPair(each.text, (f"{thing} was ill.", f"{name} sold."), "judged")
            made += [replace(bad, badness=FAULT) for bad in make_examples([pair])]
    return made


def test_training_prefers_what_is_judged_better(
    examples: list[PointerExample], tmp_path: Path
) -> None:
    good = [replace(each, kind="judged", badness=0.0) for each in examples if each.kind == "gold"]
    known = [*good, *swapped(examples)]
    settings = config(kinds={"judged": 1.0}, preference=1.0, epochs=6)
    run = PointerTrainer(
        *(small_network(), settings, known, [*examples[:6], *known], CPU, tmp_path),
        report_every=60,
    )
    run.start()

    def leads() -> Tensor:
        losses = losses_and_uncertainty(run.averaged(), run.examples)[:, 0]
        return losses[len(good) :] - losses[: len(good)]

    before = leads()
    run.run()
    assert (leads() > before + 1).all()
    assert run.evaluate().figures["area"] == 1.0


def test_preference_needs_a_bad_split_of_the_same_source(examples: list[PointerExample]) -> None:
    network, settings = small_network().eval(), config(preference=1.0)
    alone = config(preference=0.0)

    def loss(some: list[PointerExample], settings: PointerConfig) -> float:
        batch = ExampleSet(some, CPU).batch(np.arange(len(some)))
        with torch.no_grad():
            return float(rewrite_loss(network, batch, settings))

    bad = swapped(examples)
    assert loss([examples[0], bad[0]], settings) > loss([examples[0], bad[0]], alone)
    assert loss([examples[0], bad[1]], settings) == loss([examples[0], bad[1]], alone)
    source = examples[0].text
    (whole,) = make_examples([TrainingPair(source, (source,), "gold")])
    assert loss([whole, bad[0]], settings) == loss([whole, bad[0]], alone)
    half = replace(bad[0], badness=FURTHER)
    assert loss([examples[0], half], settings) < loss([examples[0], bad[0]], settings)


def test_training_learns_what_should_stay_whole(
    examples: list[PointerExample], tmp_path: Path
) -> None:
    simple = [each for each in examples if each.kind == "simple"]
    known = [replace(each, badness=FURTHER if each.text > "D" else 0.0) for each in simple]
    run = trainer([*examples[:6], *known], tmp_path, config(stays=1.0, epochs=20))
    run.run()
    found = search(TorchDecoder(run.averaged(), CPU), [each.source for each in known], beam=1)
    assert [each.whole > 0.5 for each in found] == [each.text < "D" for each in simple]


def test_examples_of_a_source_stay_in_one_batch(
    examples: list[PointerExample], tmp_path: Path
) -> None:
    known = [*examples, *judged(examples)]
    kinds = {"gold": 1.0, "simple": 1.0, "judged": 1.0}
    run = trainer(known, tmp_path, config(kinds=kinds, epochs=1))
    assert sorted(row for batch in run.plan for row in batch) == list(range(len(known)))
    for batch in run.plan:
        inside = set(run.examples.groups[batch])
        assert inside.isdisjoint(np.delete(run.examples.groups, batch))


def test_fixed_layers_keep_their_weights(examples: list[PointerExample], tmp_path: Path) -> None:
    settings = config(epochs=1, fixed_layers=1)
    network = small_network(layers=2)
    before = {name: weight.clone() for name, weight in network.named_parameters()}
    run = PointerTrainer(network, settings, examples, examples[:6], CPU, tmp_path, report_every=60)
    run.start()
    run.run()
    for name, weight in network.named_parameters():
        is_fixed = name.startswith("encoder.") and not name.startswith("encoder.layers.1.")
        assert torch.equal(weight, before[name]) == is_fixed, name


def test_judgements_are_read_with_the_rewrites_that_are_right(tmp_path: Path) -> None:
    records = [
        {"source": "A, who B, C.", "simple": ["A C.", "A B."], "faults": []},
        {"source": "A, who B, C.", "simple": ["A C.", "It B."], "faults": [[2, "referent"]]},
        {"source": "A, who B, C.", "simple": ["A, who B, C."], "faults": [[1, "more"]]},
        {"source": "D, E and F.", "simple": ["D.", "E and F."], "faults": [[2, "more"]]},
        {"source": "G.", "simple": ["G."], "faults": [], "level": "atomic"},
        {"complex": "H and I.", "simple": ["H.", "I."]},
    ]
    path = tmp_path / "judged.jsonl"
    path.write_text("".join(json.dumps(each) + "\n" for each in records), encoding="utf-8")
    assert [(p.kind, p.badness, p.source) for p in read_rewrites(path, "new")] == [
        ("judged", 0.0, "A, who B, C."),
        ("new", None, "A, who B, C."),
        ("judged", FAULT, "A, who B, C."),
        ("judged", FURTHER, "A, who B, C."),
        ("judged", FURTHER, "D, E and F."),
        ("judged", 0.0, "G."),
        ("new", None, "H and I."),
    ]


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


def test_rewrites_may_have_unusual_line_separators(tmp_path: Path) -> None:
    text = "It rained,\u2028and we left."
    path = tmp_path / "rewrites.jsonl"
    record = {"complex": text, "simple": [text]}
    path.write_text(json.dumps(record, ensure_ascii=False) + "\n", encoding="utf-8")
    assert [pair.source for pair in read_rewrites(path, "new")] == [text]


def test_taught_rewrites_are_also_those_the_teacher_prefers(tmp_path: Path) -> None:
    text, simple = "It rained, and we left.", ["It rained.", "We left."]
    whole = TrainingCandidate([text], "whole", -3.0, -5.0, [0.01])
    split = TrainingCandidate(simple, "found", -1.0, -0.1, [0.02, 0.03])
    other = TrainingCandidate(["It rained.", "It left."], "found", -1.0, -9.0, [0.02, 0.75])
    source = RankedSource("1", "", text, candidates=[whole, split, other])
    write_sources([source], tmp_path / "1.scored")
    (pair,) = read_taught(tmp_path)
    assert (pair.source, list(pair.simple), pair.kind) == (text, simple, "taught")


def test_teacher_judges_candidates_where_it_is_sure() -> None:
    text, good = "It rained, and we left.", ("It rained.", "We left.")

    def candidate(
        simple: Sequence[str], risks: list[float], more: list[float], own: float | None = -1.0
    ) -> TrainingCandidate:
        return TrainingCandidate(list(simple), "found", own, -2.0, risks, more)

    def judged(*candidates: TrainingCandidate) -> list[tuple[tuple[str, ...], float | None]]:
        source = RankedSource("1", "", text, candidates=list(candidates))
        found = list(judged_by_teacher(source))
        assert all((each.source, each.kind) == (text, "scored") for each in found)
        return [(each.simple, each.badness) for each in found]

    whole = candidate([text], [0.01], [0.9])
    right = candidate(good, [0.02, 0.03], [0.0, 0.1])
    wrong = candidate(["It rained.", "It left."], [0.02, 0.8], [0.0, 0.0])
    unsure = candidate(["We left.", "It rained."], [0.3, 0.2], [0.0, 0.0])
    joined = candidate(["It rained, and", "we left."], [0.0, 0.0], [0.9, 0.0], -0.5)
    assert judged(whole, right, wrong, unsure, joined) == [
        ((text,), FURTHER),
        (good, 0.0),
        (tuple(joined.simple), FURTHER),
        (tuple(wrong.simple), FAULT),
    ]
    # Without a good split and a bad one there is nothing to prefer.
    assert judged(right, unsure) == []
    assert judged(wrong, unsure) == []
    assert judged(candidate([text], [0.01], [0.1])) == [((text,), 0.0)]
    assert judged(candidate([text], [0.01], [0.4])) == []
    many = [candidate([f"It rained {n}.", "It left."], [0.9, 0.9], [0, 0], -n) for n in range(9)]
    assert len(judged(right, *many)) == 1 + RIVALS
    assert judged(right, *many)[1][0] == ("It rained 0.", "It left.")


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
