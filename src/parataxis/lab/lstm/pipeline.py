"""The whole way from corpora to the folder of a model: read, train, export."""

import logging
import os
import shutil
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

import numpy as np
import torch

from parataxis.errors import InputError, ParataxisError
from parataxis.evaluate.corpora.example import Example
from parataxis.lab.lstm.data import Pairs, Texts, read_corpora
from parataxis.lab.lstm.network import (
    DECODED,
    ENCODED,
    DecoderGraph,
    EncoderGraph,
    Network,
    torch_decoder,
)
from parataxis.lab.lstm.search import MARKS, search
from parataxis.lab.lstm.splitter import (
    DECODER,
    DESCRIPTION,
    ENCODER,
    TRIPLES,
    WORDS,
    GraphDecoder,
    LstmDescription,
    open_model,
)
from parataxis.lab.lstm.train import (
    BEST,
    LstmConfig,
    LstmTrainer,
    Trained,
    find_config,
    load_trained,
    read_config,
)
from parataxis.lab.lstm.triples import PARTITIONS, Partitions, linearised
from parataxis.lab.training import check_run_folder, choose_device, export_graph, store_halves

log = logging.getLogger(__name__)

MODEL = "model"


def train_lstm(
    data: Sequence[str],
    validation: Sequence[str],
    output: Path,
    config: str | None = None,
    changes: Mapping[str, str] | None = None,
    resume: bool = False,
    limit: int | None = None,
    model: str | None = None,
) -> Path:
    """Train a model on corpora, export it, and return the folder it is in.

    Corpora are named as on the command line; those of ``validation`` decide when to stop.
    ``config`` is one of :func:`configurations` or a TOML file, ``limit`` the most examples of each
    corpus, for a trial run, and ``model`` the splitter to train: "seq2seq" or "copynet".
    """
    name = config or {"seq2seq": "seq2seq-512"}.get(model or "", "copy-512")
    settings = read_config(find_config(name), changes)
    made = "copynet" if settings.sizes.copy else "seq2seq"
    if model not in (None, made):
        raise InputError(f"The configuration {name} makes a {made}, not a {model}.")
    check_run_folder(output, resume=resume)
    texts, partitions = _read(data, settings, limit)
    vocabulary = texts.vocabulary(settings.vocabulary, settings.least)
    pairs = _non_empty(texts.pairs(vocabulary, settings.longest), data, settings)
    held_texts, _ = _read(validation, settings, limit)
    held_out = _non_empty(held_texts.pairs(vocabulary, settings.longest), validation, settings)
    log.info(
        "%d pairs of %d sources, %d words; validation: %d pairs of %d sources",
        *(len(pairs), len(pairs.sources), len(vocabulary)),
        *(len(held_out), len(held_out.sources)),
    )
    trainer = LstmTrainer(
        settings, vocabulary, pairs, held_out, _device(settings), output, Path(name).stem
    )
    if resume:
        trainer.load()
    else:
        trainer.start()
        if settings.reads == TRIPLES:
            partitions.write(output / PARTITIONS)
    trainer.run()
    return export_run(output, [source for source in held_out.sources if source])


def export_run(run: Path, sources: Sequence[Sequence[int]] = ()) -> Path:
    """Export the best weights of a run into its folder ``model``."""
    trained = load_trained(run / BEST)
    folder = run / MODEL
    export(trained, folder, sources)
    if trained.reads == TRIPLES:
        Partitions.load(run / PARTITIONS).write(folder / PARTITIONS)
    return folder


def _device(config: LstmConfig) -> torch.device:
    device = choose_device()
    if device.type == "cpu":
        return device
    torch.set_float32_matmul_precision("high" if config.bfloat16 else "highest")
    # Without this, cuBLAS and cuDNN are not deterministic.
    os.environ.setdefault("CUBLAS_WORKSPACE_CONFIG", ":4096:8")
    torch.backends.cudnn.deterministic = True
    return device


def _read(names: Sequence[str], config: LstmConfig, limit: int | None) -> tuple[Texts, Partitions]:
    """The texts of corpora, and how they cut triples."""
    texts, partitions = Texts(), Partitions()
    examples = read_corpora(names, limit)
    if config.reads == TRIPLES:
        for source, sentences in _sentences_of_triples(examples, names, partitions).items():
            texts.add(source, [[sentence] for sentence in sentences])
    else:
        for example in examples:
            texts.add(example.source, example.references)
    return texts, partitions


def _sentences_of_triples(
    examples: Iterable[Example], names: Sequence[str], partitions: Partitions
) -> dict[str, dict[str, None]]:
    """For each set of triples that a simple sentence expresses, the sentences that express it.

    A reference is left out if it is unknown which sentence expresses which triple.
    """
    found: dict[str, dict[str, None]] = {}
    for example in examples:
        cuts = set()
        for reference, parts in zip(example.references, example.reference_triples, strict=False):
            if not all(parts) or sum(map(len, parts)) != len(frozenset().union(*parts)):
                continue
            cuts.add(parts)
            for sentence, part in zip(reference, parts, strict=True):
                found.setdefault(linearised(part), {})[sentence] = None
        for parts in sorted(cuts, key=lambda each: [sorted(part) for part in each]):
            partitions.add(parts)
    if not found:
        raise InputError(
            f"{', '.join(names)} has no triples for its simple sentences, and this configuration "
            "reads triples; take a corpus that has them, such as WebSplit, or another "
            "configuration."
        )
    return found


def _non_empty(pairs: Pairs, names: Sequence[str], config: LstmConfig) -> Pairs:
    if not len(pairs):
        raise InputError(
            f"{', '.join(names)} has no pair of at most {config.longest} words on each side."
        )
    return pairs


BUNDLE = (ENCODER, DECODER, DESCRIPTION, WORDS)
CLOSE = 1e-3
"""How far a log-probability of the graphs may be from torch's."""
LIKELY = -15.0
"""The best rewrite of a source is compared, and others above this log-probability."""
_SOURCES = 12


def export(trained: Trained, folder: Path, sources: Sequence[Sequence[int]] = ()) -> None:
    """Write a model's folder, or raise :class:`ParataxisError` and write nothing.

    Weights are stored as float16. The graphs are compared with torch on the ``sources`` (numbers
    of words), or if there are none, on random sources.
    """
    network = trained.network.cpu().eval()
    for parameter in network.parameters():
        parameter.data = parameter.data.half().float()  # as the weights are stored
    with tempfile.TemporaryDirectory() as name:
        made = Path(name)
        _export_graphs(network, made)
        trained.vocabulary.write(made / WORDS)
        LstmDescription(
            copies=network.sizes.copy,
            feeds=network.sizes.feed,
            width=network.sizes.width,
            words=len(trained.vocabulary),
            reads=trained.reads,
            configuration=trained.name,
        ).write(made / DESCRIPTION)
        _check_close(network, open_model(made).decoder, sources or _drawn(network.words))
        folder.mkdir(parents=True, exist_ok=True)
        for part in BUNDLE:
            shutil.copy(made / part, folder)
    log.info("wrote %s", folder)


def _export_graphs(network: Network, folder: Path) -> None:
    # Two sources, three hypotheses and four words, so that no axis looks constant.
    words = torch.tensor([[len(MARKS) - 1] * 4] * 2)
    encoder = EncoderGraph(network).eval()
    with torch.no_grad():
        memory, keys, state, cell = encoder(words)
    export_graph(
        encoder,
        folder / ENCODER,
        {"words": words},
        ENCODED,
        {"words": {0: "sources", 1: "length"}},
    )
    first = [each[:, None].repeat(1, 3, 1) for each in (state, cell)]
    inputs = {
        "previous": torch.full((2, 3), len(MARKS) - 1),
        "state": first[0],
        "cell": first[1],
        "fed": torch.zeros_like(first[0]),
        "memory": memory,
        "keys": keys,
        "hidden": torch.zeros(2, 4, dtype=torch.bool),
        "source": words,
    }
    beams = ("previous", "state", "cell", "fed")
    axes = {n: {0: "sources", 1: "beams" if n in beams else "length"} for n in inputs}
    export_graph(DecoderGraph(network).eval(), folder / DECODER, inputs, DECODED, axes)
    for name in (ENCODER, DECODER):
        store_halves(folder / name)


def _drawn(words: int) -> list[list[int]]:
    chance = np.random.default_rng(0)
    lengths = range(3, 3 + _SOURCES)
    return [chance.integers(len(MARKS), words + 3, size=length).tolist() for length in lengths]


def _check_close(network: Network, graphs: GraphDecoder, sources: Sequence[Sequence[int]]) -> None:
    """Compare the log-probabilities of what the graphs and torch write for some sources."""
    chosen = sources[:_SOURCES]
    cpu = torch_decoder(network, torch.device("cpu"))
    found, wanted = search(graphs, chosen), search(cpu, chosen)
    difference = max(
        abs(one.log - other.log)
        for ours, theirs in zip(found, wanted, strict=True)
        for one, other in zip(ours, theirs, strict=False)
        if other is theirs[0] or other.log > LIKELY
    )
    if not difference < CLOSE:
        raise ParataxisError(
            f"The log-probabilities of what the exported graphs write differ from torch's by "
            f"{difference:.2g}, more than {CLOSE}; nothing was written."
        )
    log.info("graphs: log-probabilities at most %.1e from torch's", difference)
