"""Training the ranker on invented data: tokens, faults, alignment, training, export."""

import gzip
import json
import random
from pathlib import Path

import numpy as np
import pytest

torch = pytest.importorskip("torch")
onnx = pytest.importorskip("onnx")
tokenizers = pytest.importorskip("tokenizers")

from parataxis.checks.ranker import Ranker  # noqa: E402
from parataxis.errors import InputError, ParataxisError  # noqa: E402
from parataxis.lab.encoder import Encoder, EncoderSize  # noqa: E402
from parataxis.lab.ranker.candidates import (  # noqa: E402
    RankedSource,
    TrainingCandidate,
    collect_sources,
    read_sources,
    with_fault,
)
from parataxis.lab.ranker.examples import (  # noqa: E402
    RankerExample,
    TeacherTokens,
    choose_vocabulary,
    load_examples,
    make_candidates,
    make_example,
    save_examples,
)
from parataxis.lab.ranker.gguf import read_gguf  # noqa: E402
from parataxis.lab.ranker.network import (  # noqa: E402
    RankerNetwork,
    analyser_encoder,
    export_float,
    load_network,
)
from parataxis.lab.ranker.teacher import load_teacher  # noqa: E402
from parataxis.lab.ranker.train import (  # noqa: E402
    CONFIG,
    WEIGHTS,
    RankerConfig,
    RankerTrainer,
    candidate_scores,
    train_ranker,
)
from parataxis.lab.training import read_settings  # noqa: E402
from parataxis.syntax.analyser import TREES  # noqa: E402
from parataxis.syntax.onnx import SHIPPED, OnnxModel  # noqa: E402

MILL = "The mill, which was built in 1800, burned down."
SPLIT = ["The mill burned down.", "It was built in 1800."]
OTHER = ["The mill burned down.", "This was built in 1800."]
CPU = torch.device("cpu")


@pytest.fixture(scope="module")
def teacher(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a tokenizer of single bytes and a few merges, like the teacher's but small."""
    folder = tmp_path_factory.mktemp("tokens")
    letters = sorted(tokenizers.pre_tokenizers.ByteLevel.alphabet())
    vocabulary = {letter: place for place, letter in enumerate(letters)}
    merges = [("t", "h"), ("th", "e"), (".", "Ċ")]
    vocabulary |= {"th": 256, "the": 257, ".Ċ": 258}
    made = tokenizers.Tokenizer(tokenizers.models.BPE(vocabulary, merges))
    made.pre_tokenizer = tokenizers.pre_tokenizers.ByteLevel(
        add_prefix_space=False, use_regex=False
    )
    made.add_special_tokens(["<|im_end|>"])
    made.save(str(folder / "tokenizer.json"))
    choose_vocabulary(folder, ["the the", "a.\nb.\n"])
    return folder


@pytest.fixture(scope="module")
def tokens(teacher: Path) -> TeacherTokens:
    return TeacherTokens(teacher)


def _example(tokens: TeacherTokens) -> RankerExample:
    candidates = [TrainingCandidate([MILL], "whole", [], -3.0)]
    candidates += [TrainingCandidate(simple, "found", [0], -1.0) for simple in (SPLIT, OTHER)]
    return make_example(RankedSource("1", "invented", MILL, None, 0.1, candidates), tokens)


def test_vocabulary_writes_rare_tokens_byte_by_byte(tokens: TeacherTokens) -> None:
    found, ends = tokens("the th")
    assert ends == [3, 4, 6, 6]  # "th" is not kept, so it is written as two bytes
    assert tokens.batch(["the th", "the"]) == [found, found[:1]]


def test_example_shares_the_teacher_out_among_words(tokens: TeacherTokens) -> None:
    example = _example(tokens)
    assert example.teacher is not None
    logs = -np.random.default_rng(1).random(len(example.teacher)).astype(np.float32)
    wanted = [logs[path[example.prompt :]].sum() for path in example.teacher.paths]
    example.set_scores(logs)
    assert example.scores == pytest.approx(wanted, rel=1e-5)
    assert example.targets is not None
    for path, score in zip(example.reading.tree.paths, wanted, strict=True):
        assert example.targets[path].sum() == pytest.approx(score, rel=1e-4)
    with pytest.raises(ParataxisError, match="already"):
        example.set_scores(logs)


def test_examples_come_back_from_a_file(tokens: TeacherTokens, tmp_path: Path) -> None:
    save_examples([_example(tokens)], tmp_path / "some.pkl")
    (back,) = load_examples([tmp_path / "some.pkl"])
    assert back.source == _example(tokens).source
    assert back.reading.pieces.tolist() == _example(tokens).reading.pieces.tolist()


def test_source_comes_back_from_json() -> None:
    source = RankedSource(
        "1", "invented", MILL, SPLIT, 0.5, [TrainingCandidate(SPLIT, "found", [0], -1.0)]
    )
    assert RankedSource.from_json(source.as_json()) == source
    assert json.loads(source.as_json())["candidates"][0]["kind"] == "found"


@pytest.mark.parametrize("seed", range(12))
def test_with_fault_changes_the_rewrite(seed: int) -> None:
    simple = ["In May the Buyer may pay 5 or 7 pounds.", "He met Ann Lee and Bob.", "It rained."]
    made = with_fault(simple, random.Random(seed))
    assert made is not None
    assert made != simple
    assert with_fault(simple, random.Random(seed)) == made


def test_gguf_refuses_another_file(tmp_path: Path) -> None:
    (tmp_path / "no.gguf").write_bytes(b"nothing of the kind")
    with pytest.raises(InputError, match="not a GGUF file"):
        read_gguf(tmp_path / "no.gguf")


def test_analyser_encoder_has_the_first_layers() -> None:
    encoder = analyser_encoder(SHIPPED / TREES, 2)
    assert len(encoder.layers) == 2
    assert float(encoder.shapes.weight.detach().abs().sum()) > 0


def test_ranker_learns_and_exports(tokens: TeacherTokens, tmp_path: Path) -> None:
    torch.manual_seed(1)
    example = _example(tokens)
    assert example.teacher is not None
    logs = np.full(len(example.teacher), -0.01, np.float32)
    logs[example.teacher.paths[1][-1]] = 0.0  # only SPLIT is good
    logs[[example.teacher.paths[0][-1], example.teacher.paths[2][-1]]] = -5.0
    example.set_scores(logs)
    size = EncoderSize(width=32, layers=2, heads=2, inner=64)
    network = RankerNetwork(Encoder(size, dropout=0.0))
    changes = {"epochs": "60", "batch": "1", "rate": "1e-2", "head_rate": "1e-2"}
    changes |= {"warmup_steps": "5", "average_decay": "0.5"}
    config = RankerConfig(**read_settings(CONFIG, changes))
    trainer = RankerTrainer(network, config, [example], [example], CPU, tmp_path)
    trainer.start()
    trainer.run()
    trained = load_network(tmp_path / WEIGHTS)
    (scores,) = candidate_scores(trained, [example], CPU)
    assert int(np.argmax(scores)) == 1
    export_float(trained, tmp_path / "net.onnx")
    found = Ranker(OnnxModel(tmp_path / "net.onnx"))(MILL, [[MILL], SPLIT, OTHER])
    assert found == pytest.approx(scores, abs=1e-3)


def test_collect_sources_samples_domains_and_rewrites(tmp_path: Path) -> None:
    with gzip.open(tmp_path / "news_one.txt.gz", "wt", encoding="utf-8") as stream:
        stream.write("".join(f"Line {number}.\n\n" for number in range(120)))
    record = {"id": "r", "domain": "wiki", "complex": MILL, "simple": SPLIT}
    (tmp_path / "own.jsonl").write_text(json.dumps(record) + "\n", encoding="utf-8")
    collect_sources(tmp_path, [tmp_path / "own.jsonl"], tmp_path / "made")
    sources = read_sources(tmp_path / "made" / "sources.jsonl")
    held_out = read_sources(tmp_path / "made" / "held-out.jsonl")
    assert (len(sources), len(held_out)) == (21, 100)
    assert [each.reference for each in sources if each.domain == "wiki"] == [SPLIT]
    assert {each.domain for each in held_out} == {"news"}
    (tmp_path / "news_one.txt.gz").rename(tmp_path / "other.txt.gz")
    with pytest.raises(InputError, match="must begin with one of contracts"):
        collect_sources(tmp_path, [], tmp_path / "made")


def test_make_candidates_writes_examples(teacher: Path, tmp_path: Path) -> None:
    sources = [RankedSource("1", "invented", MILL, SPLIT), RankedSource("2", "invented", "...")]
    lines = "".join(source.as_json() + "\n" for source in sources)
    (tmp_path / "sources.jsonl").write_text(lines, encoding="utf-8")
    make_candidates(tmp_path / "sources.jsonl", teacher, tmp_path / "made")
    (example,) = load_examples([tmp_path / "made" / "00000.pkl"])
    kinds = {candidate.kind for candidate in example.source.candidates}
    assert {"found", "whole", "faulty"} <= kinds
    assert len(example.reading.tree.paths) == len(example.source.candidates)


def test_ranker_training_needs_a_tuned_teacher_and_scores(teacher: Path, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="run --only tune first"):
        load_teacher(teacher, CPU)
    with pytest.raises(InputError, match="run --only score first"):
        train_ranker([tmp_path], [tmp_path], tmp_path / "run")
