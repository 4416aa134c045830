"""Training the verifier on invented data: candidates, corruptions, examples, training, export."""

import gzip
import json
import random
from collections import Counter
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("onnx")

from parataxis.checks.verifier import FAULTS, MODEL, Verifier  # noqa: E402
from parataxis.errors import InputError  # noqa: E402
from parataxis.lab.encoder import Encoder, EncoderSize  # noqa: E402
from parataxis.lab.training import read_settings  # noqa: E402
from parataxis.lab.verifier.candidates import (  # noqa: E402
    RankedSource,
    TrainingCandidate,
    collect_sources,
    make_candidates,
    read_sources,
)
from parataxis.lab.verifier.corruptions import corruptions  # noqa: E402
from parataxis.lab.verifier.examples import (  # noqa: E402
    JUDGED,
    RIGHT,
    TAUGHT,
    UNKNOWN,
    WRITTEN,
    make_example,
    read_training,
)
from parataxis.lab.verifier.network import (  # noqa: E402
    VerifierNetwork,
    export_float,
    load_graph,
    load_network,
)
from parataxis.lab.verifier.train import (  # noqa: E402
    CONFIG,
    WEIGHTS,
    VerifierConfig,
    VerifierTrainer,
    auc,
    held_out_figures,
)
from parataxis.rewrite.record import Level  # noqa: E402
from parataxis.syntax.analyser import TREES  # noqa: E402
from parataxis.syntax.onnx import OnnxModel, shipped_folder  # noqa: E402

MILL = "The mill, which was built in 1800, burned down."
SPLIT = ["The mill burned down.", "It was built in 1800."]
OTHER = ["The mill burned down.", "This was built in 1800."]
CPU = torch.device("cpu")


def mill() -> RankedSource:
    """A source with three candidates, of which the teacher prefers the split."""
    found = [
        TrainingCandidate([MILL], "whole", -3.0, -5.0, [0.01]),
        TrainingCandidate(SPLIT, "found", -1.0, -0.1, [0.02, 0.03]),
        TrainingCandidate(OTHER, "found", -1.0, -9.0, [0.02, 0.75]),
    ]
    return RankedSource("1", "invented", MILL, None, 0.1, found)


def test_source_comes_back_from_json() -> None:
    assert RankedSource.from_json(mill().as_json()) == mill()
    assert json.loads(mill().as_json())["candidates"][1]["kind"] == "found"


CONTRACT = [
    "If it rains, Ann Lee said that the Buyer may pay 5 or 7 pounds to Bob Ray in May.",
    "However, she is not only tired in the evening.",
    "It was sold by the owner after the storm, unless the roof was repaired.",
]
CONTRACT_SOURCE = (
    "If it rains, Ann Lee said that the Buyer, of the north, may pay 5 or 7 pounds to Bob Ray in "
    "May, though she is not only tired in the evening, and it was sold by the owner after the "
    "storm, unless the roof was repaired."
)


def test_corruptions_are_of_many_kinds_and_do_not_depend_on_chance_alone() -> None:
    made = corruptions(CONTRACT, CONTRACT_SOURCE, random.Random(1), 100)
    assert made == corruptions(CONTRACT, CONTRACT_SOURCE, random.Random(1), 100)
    kinds = Counter(each.kind for each in made)
    assert set(kinds) == set(FAULTS) - {"cut"}
    assert len(made) > 15
    for each in made:
        assert each.simple != CONTRACT
        assert each.simple[: each.place] == CONTRACT[: each.place] or each.kind in (
            "lost",
            "referent",
        )
    assert len(corruptions(CONTRACT, CONTRACT_SOURCE, random.Random(1), 3)) == 3
    assert corruptions(["No."], "No.", random.Random(1), 3) == []


def test_corruptions_move_phrases_and_exchange_nouns() -> None:
    source = "Ann, who sold the house in May, met the agent of the bank after the storm."
    simple = ["Ann met the agent of the bank after the storm.", "Ann sold the house in May."]
    made = [
        each.simple
        for seed in range(40)
        for each in corruptions(simple, source, random.Random(seed), 9)
    ]
    assert ["Ann met the agent of the bank.", "Ann sold the house in May after the storm."] in made
    assert ["Ann met the house of the bank after the storm.", simple[1]] in made


def test_example_labels_the_ends_of_sentences() -> None:
    example = make_example(mill(), {tuple(OTHER): [(2, "referent")]})
    assert example is not None
    weights = [round(weight, 3) for weight in example.weights.tolist()]
    labels = Counter(zip(example.labels.tolist(), weights, strict=True))
    referent = FAULTS.index("referent") + 1
    # The first sentence of the judged rewrite is that of the split, too.
    assert labels[0, JUDGED] == 1
    assert labels[referent, JUDGED] == 1
    assert labels[UNKNOWN, round(TAUGHT, 3)] == 2
    assert any(weight == WRITTEN for _, weight in labels)  # corruptions of the split
    assert np.isnan(example.scores[3:]).all()
    without = make_example(mill(), {})
    assert without is not None
    assert without.risks.max() == 1.0  # of a corruption
    assert np.isclose(without.risks, 0.75).sum() == 1


def test_example_says_what_should_be_split_further() -> None:
    source = replace(mill(), level=Level.ATOMIC)
    source.candidates[1].more = [0.25, 0.0]
    example = make_example(source, {(MILL,): [(1, "more")], tuple(OTHER): [(1, "vague")]})
    plain = make_example(mill(), {})
    assert example is not None
    assert plain is not None
    more, labels = example.more, example.labels
    assert more[~np.isnan(more)].tolist() == [1.0, 0.0, 0.0, 0.0]
    assert labels[more == 1.0] == RIGHT
    assert labels[1] == FAULTS.index("referent") + 1
    assert (example.pieces != plain.pieces)[:5].tolist() == [True, False, False, False, False]


def test_training_data_has_scores_rewrites_and_judgements(tmp_path: Path) -> None:
    scored = tmp_path / "scored"
    scored.mkdir()
    (scored / "00000.scored").write_text(mill().as_json() + "\n", encoding="utf-8")
    rewrite = {"complex": "Ann sang, and Ben left.", "simple": ["Ann sang.", "Ben left."]}
    judgement = {"source": MILL, "simple": OTHER, "faults": [[2, "referent"]]}
    (tmp_path / "rewrites.jsonl").write_text(json.dumps(rewrite) + "\n", encoding="utf-8")
    (tmp_path / "judged.jsonl").write_text(json.dumps(judgement) + "\n", encoding="utf-8")
    sources, judged = read_training(
        [scored, tmp_path / "rewrites.jsonl", tmp_path / "judged.jsonl"]
    )
    assert [len(source.candidates) for source in sources] == [3, 1]
    assert judged == {(MILL, Level.PLAIN): {tuple(OTHER): [(2, "referent")]}}
    with pytest.raises(InputError, match="run --only score first"):
        read_training([tmp_path])


@pytest.mark.parametrize(
    "graph", [shipped_folder("verifier") / MODEL, shipped_folder("analyser") / TREES]
)
def test_network_starts_from_a_shipped_graph(graph: Path) -> None:
    network = load_graph(graph, 4)
    assert len(network.encoder.layers) == 4
    assert float(network.encoder.shapes.weight.detach().abs().sum()) > 0


def test_verifier_learns_and_exports(tmp_path: Path) -> None:
    torch.manual_seed(2)
    written = RankedSource("2", "", "Ann sang, and Ben may leave.", candidates=[])
    written.candidates = [TrainingCandidate(["Ann sang.", "Ben may leave."], "reference")]
    judged = {tuple(OTHER): [(2, "referent")]}
    examples = [make_example(mill(), judged), make_example(written, {})]
    held_out = [example for example in examples if example is not None]
    size = EncoderSize(width=32, layers=2, heads=2, inner=64)
    network = VerifierNetwork(Encoder(size, dropout=0.0))
    changes = {"epochs": "60", "batch": "2", "rate": "1e-2", "head_rate": "1e-2"}
    changes |= {"warmup_steps": "5", "average_decay": "0.5"}
    config = VerifierConfig(**read_settings(CONFIG, changes))
    trainer = VerifierTrainer(network, config, held_out, held_out, CPU, tmp_path)
    trainer.start()
    trainer.run()
    trained = load_network(tmp_path / WEIGHTS)
    figures = held_out_figures(trained, held_out, CPU)
    assert figures["judged"] == figures["made"] == 1.0
    assert figures["chosen"] == pytest.approx(-0.1)
    assert set(figures) == set(trainer.score_fields)
    export_float(trainer.averaged(), tmp_path / "net.onnx")
    split, other = Verifier(OnnxModel(tmp_path / "net.onnx"))(MILL, [SPLIT, OTHER])
    assert split.score > other.score
    assert other.worst() == (1, "referent")
    assert split.risk < other.risk


def test_auc_counts_ties_by_half() -> None:
    assert auc(np.array([0.5, 0.5, 0.1, 0.9]), np.array([True, False, False, True])) == 0.875
    assert auc(np.array([0.5]), np.array([True])) is None


def test_collect_sources_samples_domains_and_rewrites(tmp_path: Path) -> None:
    with gzip.open(tmp_path / "news_one.txt.gz", "wt", encoding="utf-8") as stream:
        stream.write("".join(f"Line {number}.\n\n" for number in range(120)))
    record = {"id": "r", "domain": "wiki", "complex": MILL, "simple": SPLIT}
    (tmp_path / "own.jsonl").write_text(json.dumps(record) + "\n", encoding="utf-8")
    collect_sources(tmp_path, [tmp_path / "own.jsonl"], tmp_path / "made")
    sources = read_sources(tmp_path / "made" / "sources.jsonl")
    held_out = read_sources(tmp_path / "made" / "held-out.jsonl")
    assert (len(sources), len(held_out)) == (27, 100)
    assert Counter(each.level for each in sources) == {"plain": 21, "atomic": 4, "light": 2}
    assert [each.reference for each in sources if each.domain == "wiki"] == [SPLIT]
    assert {each.domain for each in held_out} == {"news"}
    (tmp_path / "news_one.txt.gz").rename(tmp_path / "other.txt.gz")
    with pytest.raises(InputError, match="must begin with one of contracts"):
        collect_sources(tmp_path, [], tmp_path / "made")


def test_make_candidates_writes_them(tmp_path: Path) -> None:
    sources = [RankedSource("1", "invented", MILL, SPLIT), RankedSource("2", "invented", "...")]
    lines = "".join(source.as_json() + "\n" for source in sources)
    (tmp_path / "sources.jsonl").write_text(lines, encoding="utf-8")
    make_candidates(tmp_path / "sources.jsonl", tmp_path / "made")
    (source,) = read_sources(tmp_path / "made" / "00000.found")
    assert {"found", "whole"} <= {candidate.kind for candidate in source.candidates}
