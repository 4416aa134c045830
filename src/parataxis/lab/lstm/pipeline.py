"""The whole way from corpora to the folder of a model: read, train, export."""

import logging
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import torch

from parataxis.errors import InputError
from parataxis.evaluate.corpora.example import Example
from parataxis.lab.lstm.config import LstmConfig, find_config, read_config
from parataxis.lab.lstm.data import Pairs, Texts, read_corpora
from parataxis.lab.lstm.export import export
from parataxis.lab.lstm.model import TRIPLES
from parataxis.lab.lstm.train import BEST, LstmTrainer, load_trained
from parataxis.lab.lstm.triples import PARTITIONS, Partitions, linearised
from parataxis.lab.training import check_run_folder, choose_device

log = logging.getLogger(__name__)

MODEL = "model"


@dataclass(frozen=True)
class LstmRecipe:
    """What a training run is made from."""

    data: Sequence[str]
    """Corpora to train on, each named as on the command line."""
    validation: Sequence[str]
    """Corpora that decide when to stop."""
    output: Path
    config: str = "copy-512"
    """One of :func:`configurations`, or the path of a TOML file."""
    changes: Mapping[str, str] = field(default_factory=dict)
    """Single settings that differ from the configuration's."""


def train_lstm(
    recipe: LstmRecipe,
    *,
    splitter: str | None = None,
    resume: bool = False,
    limit: int | None = None,
) -> Path:
    """Train a model, export it, and return the folder it is in. ``splitter`` is the one that the
    model must be for, "seq2seq" or "copynet"; ``limit`` uses only that many examples of each
    corpus, for a rehearsal."""
    config = read_config(find_config(recipe.config), recipe.changes)
    made = "copynet" if config.sizes.copy else "seq2seq"
    if splitter not in (None, made):
        raise InputError(f"The configuration {recipe.config} makes a {made}, not a {splitter}.")
    check_run_folder(recipe.output, resume=resume)
    texts, partitions = _read(recipe.data, config, limit)
    vocabulary = texts.vocabulary(config.vocabulary, config.least)
    pairs = _non_empty(texts.pairs(vocabulary, config.longest), recipe.data, config)
    held_out, _ = _read(recipe.validation, config, limit)
    validation = _non_empty(held_out.pairs(vocabulary, config.longest), recipe.validation, config)
    log.info(
        "%d pairs of %d sources, %d words; validation: %d pairs of %d sources",
        *(len(pairs), len(pairs.sources), len(vocabulary)),
        *(len(validation), len(validation.sources)),
    )
    name = Path(recipe.config).stem
    trainer = LstmTrainer(
        config, vocabulary, pairs, validation, _device(config), recipe.output, name
    )
    if resume:
        trainer.load()
    else:
        trainer.start()
        if config.reads == TRIPLES:
            partitions.write(recipe.output / PARTITIONS)
    trainer.run()
    sources = [validation.sources[row].tolist() for row in range(len(validation.sources))]
    return export_run(recipe.output, [source for source in sources if source])


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
