"""The whole way from a corpus to a splitter, on a tiny corpus of our own."""

import json
from pathlib import Path

import pytest

torch = pytest.importorskip("torch", reason="needs the extra [train]")
pytest.importorskip("onnx", reason="needs the extra [train]")
pytest.importorskip("sacrebleu", reason="needs the extra [metrics]")

from parataxis.cli.main import main  # noqa: E402
from parataxis.errors import InputError  # noqa: E402
from parataxis.lab.lstm.pipeline import train_lstm  # noqa: E402
from parataxis.lab.lstm.splitter import CopySplitter  # noqa: E402
from parataxis.lab.lstm.train import configurations, find_config, read_config  # noqa: E402
from parataxis.rewrite.record import Origin, Rewrite  # noqa: E402
from parataxis.splitters.registry import load_splitter  # noqa: E402


def write(path: Path, lines: list[dict[str, object]]) -> str:
    """Write records, and return the name of the corpus."""
    path.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    return f"jsonl:{path}"


@pytest.fixture(scope="module")
def models(
    corpora: dict[str, str], quick: dict[str, str], tmp_path_factory: pytest.TempPathFactory
) -> dict[str, Path]:
    """A copying and a plain model, trained alike."""
    made = {}
    for splitter, config in (("copynet", "copy-128"), ("seq2seq", "seq2seq-128")):
        output = tmp_path_factory.mktemp(splitter)
        changes = {**quick, "epochs": "20"}
        recipe = ([corpora["train"]], [corpora["validation"]], output, config, changes)
        made[splitter] = train_lstm(*recipe, model=splitter)
    return made


Records = list[dict[str, object]]


def rewrites(models: dict[str, Path], splitter: str, unseen: Records) -> list[Rewrite]:
    loaded = load_splitter(f"{splitter}:{models[splitter]}")
    return list(loaded.pipe(str(record["source"]) for record in unseen))


def names_kept(found: list[Rewrite]) -> int:
    """How many simple sentences begin with the name of their source."""
    return sum(
        sentence.split()[0] == rewrite.source.split()[0]
        for rewrite in found
        for sentence in rewrite.simple
    )


def test_pipeline_the_copy_model_copies_unseen_names(
    models: dict[str, Path], unseen: Records
) -> None:
    found = rewrites(models, "copynet", unseen)
    exact = sum(
        list(rewrite.simple) == record["simple"]
        for rewrite, record in zip(found, unseen, strict=True)
    )
    assert exact >= 18
    assert names_kept(found) >= 36


def test_pipeline_the_plain_model_cannot(models: dict[str, Path], unseen: Records) -> None:
    found = rewrites(models, "seq2seq", unseen)
    assert names_kept(found) == 0
    # It has learnt all else: that there are two sentences, each about some name.
    assert sum(len(rewrite.simple) == 2 for rewrite in found) >= 18
    assert sum(sentence.startswith("<unk> ") for each in found for sentence in each.simple) >= 36


def test_pipeline_a_copy_knows_its_place(models: dict[str, Path]) -> None:
    source = "Zukoba painted a house and lost two books at sea."
    rewrite = load_splitter(f"copynet:{models['copynet']}")(source)
    assert rewrite.simple == ("Zukoba painted a house.", "Zukoba lost two books at sea.")
    assert rewrite.provenance is not None
    for tokens in rewrite.provenance:
        assert (tokens[0].origin, tokens[0].source) == (Origin.COPIED, (0, 6))
    plain = load_splitter(f"seq2seq:{models['seq2seq']}")(source)
    assert plain.provenance is None


def test_pipeline_attention_of_a_copy_is_on_its_source(models: dict[str, Path]) -> None:
    splitter = CopySplitter(models["copynet"])
    found = splitter.attention("Zukoba painted a house and lost two books at sea.")
    assert found.source[0] == "Zukoba"
    assert found.output[:5] == ("Zukoba", "painted", "a", "house", ".")
    assert found.output[5:7] == ("<split>", "Zukoba")
    assert found.weights.shape == (len(found.output), len(found.source))
    assert found.weights[[0, 6]].argmax(1).tolist() == [0, 0]
    with pytest.raises(InputError, match="must have 1 to 250 words, not 0"):
        splitter.attention(" ")


def test_pipeline_order_and_batches_do_not_matter(models: dict[str, Path], unseen: Records) -> None:
    splitter = load_splitter(f"copynet:{models['copynet']}")
    sources = [str(record["source"]) for record in unseen]
    together = list(splitter.pipe(sources))
    assert [rewrite.source for rewrite in together] == sources
    assert [splitter(source).simple for source in sources[:4]] == [
        rewrite.simple for rewrite in together[:4]
    ]


def test_pipeline_too_long_a_sentence_is_left_whole(models: dict[str, Path]) -> None:
    source = "tea " * 251
    rewrite = load_splitter(f"copynet:{models['copynet']}")(source)
    assert rewrite.simple == (source,)
    assert rewrite.note == "Left whole because it has 251 words, and at most 250 are read."


def test_pipeline_a_model_belongs_to_its_splitter(models: dict[str, Path]) -> None:
    with pytest.raises(Exception, match='belongs to the splitter "copynet"; name it as'):
        load_splitter(f"seq2seq:{models['copynet']}")


def test_pipeline_split_command_takes_a_model(
    models: dict[str, Path], capsys: pytest.CaptureFixture[str]
) -> None:
    text = "Zukoba painted a house and lost two books at sea."
    assert main(["split", text, "--splitter", f"copynet:{models['copynet']}", "--beam", "3"]) == 0
    assert capsys.readouterr().out == "Zukoba painted a house. Zukoba lost two books at sea.\n"


def test_pipeline_rewrites_a_corpus(
    models: dict[str, Path], unseen: Records, tmp_path: Path
) -> None:
    corpus = write(tmp_path / "test.jsonl", [{**unseen[0], "id": "first"}, *unseen[1:3]])
    output = tmp_path / "rewrites.jsonl"
    arguments = [str(models["copynet"]), "--data", corpus, "--output", str(output)]
    assert main(["train", "copynet", "--only", "rewrite", *arguments]) == 0
    lines = [json.loads(line) for line in output.read_text(encoding="utf-8").splitlines()]
    assert [line["id"] for line in lines] == ["first", f"{tmp_path}/test.jsonl:2", lines[2]["id"]]
    assert [line["source"] for line in lines] == [record["source"] for record in unseen[:3]]


def test_pipeline_an_exported_run_can_be_exported_again(models: dict[str, Path]) -> None:
    folder = models["copynet"]
    before = (folder / "words.txt").read_bytes()
    (folder / "words.txt").unlink()
    assert main(["train", "copynet", "--only", "export", str(folder.parent)]) == 0
    assert (folder / "words.txt").read_bytes() == before


# Triples ---------------------------------------------------------------------------------------

SMALL = {"epochs": "1", "batch": "16", "sizes.width": "8", "beam": "2"}
PEOPLE = ("Ann", "Ben", "Cara", "Dan")


def with_triples() -> list[dict[str, object]]:
    found: list[dict[str, object]] = []
    for who in PEOPLE:
        home, work = (who, "home", "Oslo"), (who, "work", "baker")
        found.append(
            {
                "source": f"{who} , a baker , lives in Oslo .",
                "simple": [f"{who} lives in Oslo .", f"{who} is a baker ."],
                "triples": [home, work],
                "simple_triples": [[home], [work]],
            }
        )
    return found


def test_pipeline_split_seq2seq_partitions_triples_and_says_each_part(
    quick: dict[str, str], tmp_path: Path
) -> None:
    corpus = write(tmp_path / "triples.jsonl", with_triples())
    # Long enough, and with a rate that falls slowly, to learn four names by heart from any seed.
    long = {"epochs": "300", "decay": "0.99", "patience": "300", "validation_sources": "4"}
    sizes = {"sizes.width": "64", "sizes.dropout": "0"}
    changes = {**quick, **long, **sizes, "batch": "2", "least": "1", "beam": "2"}
    recipe = ([corpus], [corpus], tmp_path / "run", "split-seq2seq", changes)
    model = train_lstm(*recipe)
    output = tmp_path / "rewrites.jsonl"
    arguments = [str(model), "--data", corpus, "--output", str(output)]
    assert main(["train", "seq2seq", "--only", "rewrite", *arguments]) == 0
    lines = [json.loads(line) for line in output.read_text(encoding="utf-8").splitlines()]
    assert [line["simple"] for line in lines] == [
        [f"{who} lives in Oslo .", f"{who} is a baker ."] for who in PEOPLE
    ]
    with pytest.raises(Exception, match="reads triples, not sentences"):
        load_splitter(f"seq2seq:{model}")


def test_pipeline_triples_must_be_there(corpora: dict[str, str], tmp_path: Path) -> None:
    recipe = ([corpora["few"]], [corpora["few"]], tmp_path, "split-seq2seq", SMALL)
    with pytest.raises(InputError, match="has no triples for its simple sentences"):
        train_lstm(*recipe)


# What can be wrong -----------------------------------------------------------------------------


def test_pipeline_neither_overwrites_a_run_nor_resumes_nothing(
    corpora: dict[str, str], tmp_path: Path
) -> None:
    few = [corpora["few"]]
    recipe = (few, few, tmp_path / "run", "copy-128", SMALL)
    with pytest.raises(InputError, match="no run to resume"):
        train_lstm(*recipe, resume=True)
    train_lstm(*recipe, limit=20)
    with pytest.raises(InputError, match="holds a run already"):
        train_lstm(*recipe)
    # A run that is over goes on if it may take more epochs.
    longer = (few, few, tmp_path / "run", "copy-128", {**SMALL, "epochs": "2"})
    train_lstm(*longer, resume=True, limit=20)
    with pytest.raises(InputError, match="The vocabulary of the data"):
        train_lstm(*longer, resume=True)


def test_pipeline_an_empty_split_is_told(corpora: dict[str, str], tmp_path: Path) -> None:
    empty = write(tmp_path / "empty.jsonl", [])
    few = corpora["few"]
    for data, validation in ((empty, few), (few, empty)):
        recipe = ([data], [validation], tmp_path / "run", "copy-128", SMALL)
        with pytest.raises(InputError, match="holds no example with a reference"):
            train_lstm(*recipe)
    short = ([few], [few], tmp_path / "run", "copy-128", {**SMALL, "longest": "3"})
    with pytest.raises(InputError, match="has no pair of at most 3 words on each side"):
        train_lstm(*short)
    assert not (tmp_path / "run").exists()


def test_pipeline_configurations_are_those_of_the_papers() -> None:
    assert configurations() == [
        *("copy-128", "copy-256", "copy-512", "lstm-ag18"),
        *("seq2seq-128", "seq2seq-256", "seq2seq-512", "split-seq2seq"),
    ]
    for name in configurations():
        config = read_config(find_config(name))
        assert (config.rate, config.decay, config.beam) == (1.0, 0.5, 12)
        assert config.sizes.dropout == 0.3
        assert config.sizes.copy == (name.startswith("copy") or name == "lstm-ag18")
        assert config.score == ("perplexity" if name == "lstm-ag18" else "bleu")
    assert [read_config(find_config(f"copy-{w}")).sizes.width for w in (128, 256, 512)] == [
        *(128, 256, 512)
    ]


def test_pipeline_a_configuration_can_be_a_file(tmp_path: Path) -> None:
    path = tmp_path / "mine.toml"
    text = find_config("copy-128").read_text(encoding="utf-8")
    path.write_text(text.replace('score = "bleu"', 'score = "perplexity"'), encoding="utf-8")
    assert read_config(find_config(str(path))).score == "perplexity"
    path.write_text(text.replace('score = "bleu"', 'score = "luck"'), encoding="utf-8")
    with pytest.raises(InputError, match='must be "bleu" or "perplexity", not "luck"'):
        read_config(path)
    path.write_text(text.replace("least = 1", ""), encoding="utf-8")
    with pytest.raises(InputError, match=r"mine\.toml does not have the settings of this version"):
        read_config(path)
    with pytest.raises(InputError, match='There is no configuration "mine"; take copy-128, '):
        find_config("mine")


def test_pipeline_train_command(
    corpora: dict[str, str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    output = tmp_path / "run"
    settings = [word for name, value in SMALL.items() for word in ("--set", f"{name}={value}")]
    few = corpora["few"]
    arguments = ["--data", few, "--validation", few, "-o", str(output), "--config", "seq2seq-128"]
    assert main(["train", "seq2seq", *arguments, *settings]) == 0
    assert capsys.readouterr().out == f"The seq2seq model is in {output / 'model'}.\n"
    assert load_splitter(f"seq2seq:{output / 'model'}").name == "seq2seq"


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (["copynet", "--data", "{few}"], "Name a corpus that says when to stop"),
        (["copynet", "--data", "{few}", "--teacher", "a.pt"], "--teacher is not for the model"),
        (["pointer", "--data", "{few}", "--validation", "{few}"], "--validation is not for the"),
        (["pointer", "--data", "{few}", "--only", "rewrite"], "evaluate, confidence."),
        (["copynet", "--only", "rewrite", "--data", "{few}"], "Name the files to work on"),
        (["metric"], "Name the files to work on"),
        (["pointer", "--data", "{few}", "--data", "{few}"], "from one folder"),
        (
            ["copynet", "--data", "{few}", "--validation", "{few}", "--config", "seq2seq-128"],
            "The configuration seq2seq-128 makes a seq2seq, not a copynet.",
        ),
        (
            ["copynet", "--data", "{few}", "--validation", "{few}", "--set", "epochs"],
            'A setting is changed as NAME=VALUE, not "epochs".',
        ),
        (
            ["copynet", "--data", "{few}", "--validation", "{few}", "--set", "epoch=3"],
            "has no number called 'epoch'",
        ),
    ],
)
def test_pipeline_train_command_says_what_is_wrong(
    corpora: dict[str, str],
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    arguments: list[str],
    complaint: str,
) -> None:
    filled = [word.format(**corpora) for word in arguments]
    assert main(["train", *filled, "-o", str(tmp_path / "run")]) == 2
    assert complaint in capsys.readouterr().err
    assert not (tmp_path / "run").exists()
