"""From the data folder to a model: examples, training, export."""

import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from hashlib import sha256
from pathlib import Path

import torch

from parataxis.lab.encoder import Encoder, EncoderSize, load_encoder
from parataxis.lab.pointer.data import (
    PointerExample,
    TrainingPair,
    make_examples,
    read_examples,
    read_rewrites,
    read_taught,
    simple_sentences,
    write_examples,
)
from parataxis.lab.pointer.export import export
from parataxis.lab.pointer.network import PointerNetwork, PointerSizes
from parataxis.lab.pointer.train import (
    WEIGHTS,
    PointerTrainer,
    load_bundle,
    load_network,
    read_config,
    rewrites,
)
from parataxis.lab.training import check_run_folder, choose_device, load_weights
from parataxis.rewrite.record import Level
from parataxis.syntax.onnx import shipped_folder

log = logging.getLogger(__name__)

CONFIG = Path(__file__).with_name("config.toml")

SHOWN = 12
"""How many rewrites are shown when a run is over."""
_SIMPLE_EVERY = 4
_HELD_OUT_EVERY = 16
"""Of the rewrites at other levels than plain, and of the judged sources, every so many-th is held
out."""


@dataclass(frozen=True)
class PointerRecipe:
    """What a training run is made from."""

    data: Path
    """The folder with ``rewrites/train.jsonl`` and ``dev.jsonl``, and where there are any
    ``real-train.jsonl`` and ``real-dev.jsonl``."""
    output: Path
    encoder: Path | None = None
    """Train a new network on this encoder: the weights of a trained analyser, or the folder of a
    pretrained model."""
    start: Path = field(default_factory=lambda: shipped_folder("pointer"))
    """The network to continue from: weights, or a bundle of ONNX files."""
    more: Sequence[Path] = ()
    """More rewrites, or judgements of some, as JSONL, also at other levels."""
    taught: Sequence[Path] = ()
    """Rewrites by the teacher, from ``parataxis train verifier --only label``, or also its
    judgements, from ``--only score``."""
    config: Path = CONFIG
    changes: Mapping[str, str] = field(default_factory=dict)
    report_every: int = 500


def train_pointer(recipe: PointerRecipe, *, resume: bool = False, limit: int | None = None) -> Path:
    """Make the examples, train, and export; the folder of the model.

    ``resume`` continues an interrupted run after its last evaluation. ``limit`` keeps only that
    many rewrites of each file, for a rehearsal.
    """
    check_run_folder(recipe.output, resume=resume)
    device = choose_device()
    config = read_config(recipe.config, recipe.changes)
    if recipe.encoder is not None:
        config = replace(config, fixed_layers=0)  # nothing of a new network is trained yet
    torch.manual_seed(config.seed)
    recipe.output.mkdir(parents=True, exist_ok=True)
    examples, dev = _examples(recipe, limit)
    log.info("%d examples, %d held out", len(examples), len(dev))
    network = _network(recipe, config.sizes)
    trainer = PointerTrainer(
        *(network, config, examples, dev, device, recipe.output),
        report_every=recipe.report_every,
    )
    if resume:
        trainer.load()
    else:
        trainer.start()
    trainer.run()
    weights = recipe.output / WEIGHTS
    written = [example for example in dev if example.badness is None]
    shown = written[:: max(1, len(written) // SHOWN)][:SHOWN]
    for sentences in rewrites(load_network(weights), shown, device):
        log.info("%s", " | ".join(map(" ".join, sentences)))
    export(weights, recipe.output / "model")
    return recipe.output / "model"


def _examples(
    recipe: PointerRecipe, limit: int | None
) -> tuple[list[PointerExample], list[PointerExample]]:
    """The examples of a run, read again from its folder where they were made before."""
    made, held_out = recipe.output / "examples.npz", recipe.output / "dev.npz"
    if not (made.exists() and held_out.exists()):
        pairs, dev = _pairs(recipe, limit)
        write_examples(make_examples(pairs), made)
        write_examples(make_examples(dev), held_out)
    return read_examples(made), read_examples(held_out)


def _pairs(
    recipe: PointerRecipe, limit: int | None
) -> tuple[list[TrainingPair], list[TrainingPair]]:
    """The rewrites to learn from, and the held-out ones, none of whose sources is learned from."""
    folder = recipe.data / "rewrites"
    dev = list(read_rewrites(folder / "dev.jsonl", "dev"))[:limit]
    written = list(read_rewrites(folder / "train.jsonl", "gold"))[:limit]
    if (folder / "real-train.jsonl").exists():
        written += list(read_rewrites(folder / "real-train.jsonl", "real"))[:limit]
        dev += list(read_rewrites(folder / "real-dev.jsonl", "dev"))[:limit]
    for path in recipe.more:
        written += list(read_rewrites(path, "new"))[:limit]
    at_levels = [p for p in written if p.badness is None and p.level is not Level.PLAIN]
    held_out = at_levels[::_HELD_OUT_EVERY]
    barred = {(pair.source, pair.level) for pair in held_out}
    barred |= {(pair.source, level) for pair in dev for level in Level}
    judged = {p.source for p in written if p.badness is not None and _is_held_out(p.source)}
    barred |= {(source, level) for source in judged for level in Level}
    dev += held_out
    dev += [pair for pair in written if pair.badness is not None and pair.source in judged]
    taught = [pair for path in recipe.taught for pair in list(read_taught(path))[:limit]]
    kept = [pair for pair in [*written, *taught] if (pair.source, pair.level) not in barred]
    new = [pair for pair in kept if "taught" not in pair.kind and pair.badness is None]
    return [*kept, *simple_sentences(new, _SIMPLE_EVERY)], dev


def _is_held_out(source: str) -> bool:
    """Whether judgements of a source are held out: by its spelling, so that later runs hold out
    the same."""
    return int(sha256(f"h{source}".encode()).hexdigest()[:6], 16) % _HELD_OUT_EVERY == 0


def _network(recipe: PointerRecipe, sizes: PointerSizes) -> PointerNetwork:
    if recipe.encoder is not None:
        return PointerNetwork(_encoder(recipe.encoder), sizes)
    load = load_bundle if recipe.start.is_dir() else load_network
    return load(recipe.start).train()


def _encoder(start: Path) -> Encoder:
    if start.is_dir():
        return load_encoder(start)
    return load_weights(start, lambda s: Encoder(EncoderSize(**s["encoder"])), "encoder.")
