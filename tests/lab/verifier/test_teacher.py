"""The teacher on a very small random model: tokens, adapters, decoding, scores, labels."""

import gzip
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torch")
tokenizers = pytest.importorskip("tokenizers")
transformers = pytest.importorskip("transformers")

from parataxis.errors import InputError  # noqa: E402
from parataxis.lab.verifier import label as labelling  # noqa: E402
from parataxis.lab.verifier import teacher as teaching  # noqa: E402
from parataxis.lab.verifier.candidates import (  # noqa: E402
    RankedSource,
    TrainingCandidate,
    read_sources,
    write_sources,
)
from parataxis.lab.verifier.decode import BatchDecoder, Continuation, FastModel  # noqa: E402
from parataxis.lab.verifier.gguf import load_model, shrink  # noqa: E402
from parataxis.lab.verifier.label import Labeller, label  # noqa: E402
from parataxis.lab.verifier.teacher import (  # noqa: E402
    Pair,
    Tuning,
    add_adapters,
    load_teacher,
    merge_adapters,
    pair_loss,
    score,
    score_sources,
    tune,
)
from parataxis.lab.verifier.tokens import TeacherTokens, choose_vocabulary  # noqa: E402

MILL = "The mill, which was built in 1800, burned down."
SPLIT = ["The mill burned down.", "It was built in 1800."]
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
    made.decoder = tokenizers.decoders.ByteLevel()
    made.add_special_tokens(["<|im_end|>"])
    made.save(str(folder / "tokenizer.json"))
    choose_vocabulary(folder, ["the the", "a.\nb.\n"])
    return folder


@pytest.fixture(scope="module")
def tokens(teacher: Path) -> TeacherTokens:
    return TeacherTokens(teacher)


@pytest.fixture
def model() -> Any:
    """A random Qwen2 model that ends soon."""
    torch.manual_seed(5)
    config = transformers.Qwen2Config(
        vocab_size=260,
        hidden_size=32,
        intermediate_size=48,
        num_hidden_layers=2,
        num_attention_heads=4,
        num_key_value_heads=2,
        tie_word_embeddings=True,
        initializer_range=0.6,
        bos_token_id=None,
        eos_token_id=None,
        pad_token_id=None,
    )
    made = transformers.Qwen2ForCausalLM(config).eval()
    for layer in made.model.layers:
        for part in (layer.self_attn.q_proj, layer.self_attn.k_proj, layer.self_attn.v_proj):
            torch.nn.init.normal_(part.bias, std=0.3)
    return made


def test_vocabulary_writes_rare_tokens_byte_by_byte(tokens: TeacherTokens) -> None:
    found, the = tokens.batch(["the th", "the"])
    assert len(found) == 4  # "th" is not kept, so it is written as two bytes
    assert found[:1] == the
    assert tokens.decode([found, the]) == ["the th", "the"]


def test_prompt_names_the_level(tokens: TeacherTokens) -> None:
    prompts = tokens.prompts([("It rained.", None), ("It rained.", "atomic")])
    assert tokens.decode(prompts) == [
        "Complex: It rained.\nSimple:\n",
        "Complex (atomic): It rained.\nSimple:\n",
    ]


def test_decoder_writes_what_transformers_writes(model: Any) -> None:
    prompts = [[1, 2, 3], [9, 8, 7, 6, 5, 4, 3, 2], [11] * 5, [40, 41], [100, 7, 9]]
    room = 40
    wanted = []
    for prompt in prompts:
        made = model.generate(
            torch.tensor([prompt]), max_new_tokens=room, do_sample=False, use_cache=True
        )
        wanted.append(made[0, len(prompt) :].tolist())
    end = wanted[0][20]  # ends the first rewrite, and others where they write it
    found = BatchDecoder(model)(prompts, end, room)
    assert found[0] is not None
    for prompt, written, own in zip(prompts, wanted, found, strict=True):
        if end not in written:
            assert own is None
            continue
        assert own is not None
        assert own[0] == written[: written.index(end)]
        with torch.no_grad():
            loss, _ = pair_loss(model, [Pair(prompt, [*own[0], end])], CPU)
        assert own[1] == pytest.approx(-float(loss), abs=1e-3)


def test_decoder_samples_by_its_seed(model: Any) -> None:
    decode = BatchDecoder(model)
    prompts = [[1, 2, 3]] * 8

    def written(seed: int) -> list[object]:
        return list(decode(prompts, 0, 200, 3.0, seed))

    assert written(1) == written(1) != written(2)


class _Written:
    """Stands in for the decoder: leaves sources whole, and splits them when it samples."""

    def __init__(self, tokens: TeacherTokens) -> None:
        self.tokens, self.calls = tokens, 0

    def __call__(
        self, prompts: list[list[int]], end: int, room: int, temperature: float, seed: int
    ) -> list[Any]:
        self.calls += 1
        found: list[Any] = []
        for number, prompt in enumerate(prompts):
            source = self.tokens.decode([prompt])[0].partition(": ")[2].partition("\n")[0]
            if "unended" in source:
                found.append(None)
            elif temperature:
                found.append(
                    Continuation(self.tokens.batch(["\n".join(SPLIT)])[0], -2.0 - number, [])
                )
            else:
                found.append(Continuation(self.tokens.batch([source])[0], -1.0, []))
        return found


def test_labels_have_the_best_split_beside_the_whole(tokens: TeacherTokens) -> None:
    labeller = Labeller(_Written(tokens), tokens)  # type: ignore[arg-type]
    found = labeller([(MILL, None), ("It is unended.", None), (MILL, "light")])
    plain, light = found
    assert plain["simple"] == [MILL]
    assert plain["split"] == {"simple": SPLIT, "log_chance": -2.0, "risks": []}
    whole = {"simple": [MILL], "log_chance": -1.0, "risks": []}
    assert light == {"complex": MILL, "level": "light", **whole}


def test_label_writes_chunks_once(
    teacher: Path, tokens: TeacherTokens, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    decoder = _Written(tokens)
    monkeypatch.setattr(labelling, "CHUNK", 2)
    monkeypatch.setattr(labelling, "load_teacher", lambda folder, device: None)
    monkeypatch.setattr(labelling, "BatchDecoder", lambda model: decoder)
    (tmp_path / "text.txt").write_text(f"{MILL}\n\nIt rained.\nWe left.\n", encoding="utf-8")
    label(teacher, tmp_path / "text.txt", tmp_path / "labels")
    parts = sorted((tmp_path / "labels").iterdir())
    assert [path.name for path in parts] == ["00000.jsonl.gz", "00001.jsonl.gz"]
    with gzip.open(parts[1], "rt", encoding="utf-8") as lines:
        assert [json.loads(line)["complex"] for line in lines] == ["We left."]
    calls = decoder.calls
    label(teacher, tmp_path / "text.txt", tmp_path / "labels")
    assert decoder.calls == calls


def test_scores_are_those_of_whole_rewrites(model: Any, tokens: TeacherTokens) -> None:
    candidates = [TrainingCandidate([MILL], "whole"), TrainingCandidate(SPLIT, "found")]
    source = RankedSource("1", "invented", MILL, None, 0.1, candidates)
    other = RankedSource("2", "invented", "It rained.", None, 0.1, [candidates[0]])
    add_adapters(model, Tuning(rank=2))
    merge_adapters(model)
    score_sources([source, other], tokens, FastModel(model), CPU)
    (prompt,) = tokens.prompts([(MILL, None)])
    (written,) = tokens.batch(["\n".join(SPLIT)])
    with torch.no_grad():
        loss, _ = pair_loss(model, [Pair(prompt, [*written, tokens.end])], CPU)
    assert candidates[1].teacher == pytest.approx(-float(loss), rel=1e-3)
    assert [len(each.risks or []) for each in candidates] == [1, 2]
    assert [len(each.more or []) for each in candidates] == [1, 2]


def test_tuning_continues_from_other_adapters(
    model: Any, teacher: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "teacher"
    folder.mkdir()
    for path in teacher.iterdir():
        (folder / path.name).write_bytes(path.read_bytes())
    state = {name: each.clone() for name, each in model.state_dict().items()}

    def load(path: Path, device: object) -> Any:
        fresh = transformers.Qwen2ForCausalLM(model.config)
        fresh.load_state_dict(state)
        return fresh

    monkeypatch.setattr(teaching, "load_model", load)
    with pytest.raises(InputError, match="run --only tune first"):
        load_teacher(folder, CPU)
    rewrites = tmp_path / "rewrites.jsonl"
    record = {"complex": MILL, "simple": SPLIT, "level": "atomic"}
    rewrites.write_text((json.dumps(record) + "\n") * 4, encoding="utf-8")
    changes = {"rank": "2", "batch": "2", "epochs": "8"}
    judged = tmp_path / "judged.jsonl"
    judgement = {"source": MILL, "simple": SPLIT[::-1], "faults": [[1, "order"], [2, "more"]]}
    judged.write_text(json.dumps(judgement) + "\n", encoding="utf-8")
    tune(folder, [rewrites, judged], [rewrites, judged], changes=changes)
    first = torch.load(folder / "adapters.pt")
    adapters = folder / "adapters.pt"
    tune(folder, [rewrites], [], adapters, {**changes, "rate": "0.0"})
    assert all(torch.equal(each, first[name]) for name, each in torch.load(adapters).items())
    assert load_teacher(folder, CPU).lm_head is not None
    with pytest.raises(InputError, match="no setting 'speed'"):
        tune(folder, [rewrites], [], changes={"speed": "1"})
    found, labels = tmp_path / "1.found", tmp_path / "labels" / "0.jsonl.gz"
    whole = TrainingCandidate([MILL], "whole")
    write_sources([RankedSource("1", "", MILL, None, 0.1, [whole])], found)
    labels.parent.mkdir()
    written = [{"complex": MILL, "simple": [MILL], "split": {"simple": SPLIT}}]
    labels.write_bytes(gzip.compress("\n".join(map(json.dumps, written)).encode()))
    score(folder, [tmp_path], [labels.parent])
    (source,) = read_sources(found.with_suffix(".scored"))
    assert [(each.kind, len(each.risks or [])) for each in source.candidates] == [
        ("whole", 1),
        ("teacher", 2),
    ]


def test_shrink_keeps_the_rows_of_the_kept_tokens(model: Any, tmp_path: Path) -> None:
    """A GGUF file comes back with fewer tokens, which have the probabilities that they had."""
    gguf = pytest.importorskip("gguf")
    kept = np.array([3, 7, 9, 11, 200])
    writer = gguf.GGUFWriter(tmp_path / "tiny.gguf", "qwen2")
    config = model.config
    writer.add_block_count(config.num_hidden_layers)
    writer.add_context_length(config.max_position_embeddings)
    writer.add_embedding_length(config.hidden_size)
    writer.add_feed_forward_length(config.intermediate_size)
    writer.add_head_count(config.num_attention_heads)
    writer.add_head_count_kv(config.num_key_value_heads)
    writer.add_layer_norm_rms_eps(config.rms_norm_eps)
    writer.add_rope_freq_base(10_000.0)
    writer.add_vocab_size(config.vocab_size)
    names = gguf.get_tensor_name_map(gguf.MODEL_ARCH.QWEN2, config.num_hidden_layers)
    for name, weight in model.state_dict().items():
        if name != "lm_head.weight":
            stored = names.get_name(name, try_suffixes=(".weight", ".bias"))
            writer.add_tensor(stored, weight.float().numpy())
    for write in ("write_header_to_file", "write_kv_data_to_file", "write_tensors_to_file"):
        getattr(writer, write)()
    writer.close()
    folder = tmp_path / "teacher"
    shrink(tmp_path / "tiny.gguf", folder, kept)
    small = load_model(folder, CPU, torch.float32)
    rows = torch.tensor([[1, 4, 0, 2]])
    with torch.no_grad():
        wanted = model(input_ids=torch.from_numpy(kept)[rows]).logits[..., kept]
        found = small(input_ids=rows).logits
    assert torch.allclose(found, wanted, atol=0.2)  # bfloat16
    assert small.lm_head.weight is small.model.embed_tokens.weight


def test_shrink_refuses_another_file(tmp_path: Path) -> None:
    pytest.importorskip("gguf")
    (tmp_path / "no.gguf").write_bytes(b"nothing of the kind")
    with pytest.raises(InputError, match="not a GGUF file"):
        shrink(tmp_path / "no.gguf", tmp_path / "teacher", np.arange(3))
