"""The whole way from the data folder to a model: examples, training, export."""

import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path

import torch

from parataxis.errors import InputError
from parataxis.training.encoder import Encoder, EncoderSize, encoder_folder, load_encoder
from parataxis.training.pointer.examples import Example, read_examples, write_examples
from parataxis.training.pointer.export import export
from parataxis.training.pointer.grow import SAMPLE, grow
from parataxis.training.pointer.network import PointerNetwork, PointerSizes
from parataxis.training.pointer.prepare import (
    make_examples,
    noisy_pairs,
    read_rewrites,
    simple_sentences,
)
from parataxis.training.pointer.teach import Ensemble, unlabelled, write_rewrites
from parataxis.training.pointer.train import (
    TorchDecoder,
    Trainer,
    load_network,
    read_config,
    samples,
    save_network,
    train,
)

__all__ = ["CONFIG", "Recipe", "average", "deepen", "teach", "train_pointer"]

log = logging.getLogger(__name__)

CONFIG = Path(__file__).with_name("config.toml")

SHOWN = 12
"""How many rewrites are shown when a run is over."""
_SIMPLE_EVERY = 4


@dataclass(frozen=True)
class Recipe:
    """What a training run is made from."""

    data: Path
    """The folder with ``rewrites/``, ``minwiki/`` and ``wikisplit/``."""
    output: Path
    encoder: Path | None = None
    """Where the encoder starts: the weights of a trained analyser, or the folder of a pretrained
    model; None is the installed MiniLM, as it was published."""
    start: Path | None = None
    """A trained network to go on from, encoder and all."""
    more: Sequence[Path] = ()
    """More rewrites, as JSONL."""
    taught: Sequence[Path] = ()
    """Examples that teachers wrote (:func:`teach`)."""
    teachers: Sequence[Path] = ()
    """Networks to imitate step by step."""
    config: Path = CONFIG
    changes: Mapping[str, str] = field(default_factory=dict)
    report_every: int = 300


def train_pointer(recipe: Recipe, *, resume: bool = False, limit: int | None = None) -> Path:
    """Make the examples, train, and export; the folder of the model.

    ``resume`` goes on from the last report of an interrupted run. ``limit`` keeps only so many
    examples of each kind: a rehearsal.
    """
    last = recipe.output / "last.pt"
    if resume and not last.exists():
        raise InputError(f"There is no run to resume in {recipe.output}.")
    if last.exists() and not resume:
        raise InputError(f"{recipe.output} holds a run already; resume it or name another folder.")
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    config = read_config(recipe.config, recipe.changes)
    torch.manual_seed(config.seed)
    recipe.output.mkdir(parents=True, exist_ok=True)
    examples, dev = _examples(recipe, limit)
    log.info("%d examples, %d held out", len(examples), len(dev))
    network = _network(recipe, config.sizes)
    teachers = [load_network(path) for path in recipe.teachers]
    trainer = Trainer(network, config, examples, device, recipe.output, teachers)
    if resume:
        trainer.load()
    train(trainer, dev, report_every=recipe.report_every)
    weights = recipe.output / "pointer.pt"
    for text in samples(load_network(weights), dev[:: max(1, len(dev) // SHOWN)][:SHOWN], device):
        log.info("%s", text)
    export(weights, recipe.output / "model")
    return recipe.output / "model"


def teach(data: Path, teachers: Sequence[Path], output: Path, *, limit: int | None = None) -> None:
    """Let trained networks together rewrite the sentences of the data that have no rewrite."""
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    decoder = Ensemble([TorchDecoder(load_network(path), device) for path in teachers])
    sources = list(unlabelled(data))[:limit]
    count = write_examples(write_rewrites(decoder, sources), output)
    log.info("%d of %d sentences are taught", count, len(sources))


def _examples(recipe: Recipe, limit: int | None) -> tuple[list[Example], list[Example]]:
    """The examples of a run, read again from its folder where they were made before."""
    made, held_out = recipe.output / "examples.npz", recipe.output / "dev.npz"
    if not (made.exists() and held_out.exists()):
        rewrites = list(read_rewrites(recipe.data / "rewrites" / "train.jsonl", "gold"))[:limit]
        new = [pair for path in recipe.more for pair in read_rewrites(path, "new")][:limit]
        simple = list(simple_sentences([*rewrites, *new], _SIMPLE_EVERY))
        noisy = list(noisy_pairs(recipe.data))[:limit]
        write_examples(make_examples(chain(rewrites, new, simple, noisy)), made)
        dev = list(read_rewrites(recipe.data / "rewrites" / "dev.jsonl", "dev"))[:limit]
        write_examples(make_examples(dev), held_out)
    taught = [example for path in recipe.taught for example in read_examples(path)[:limit]]
    return [*read_examples(made), *taught], read_examples(held_out)


def average(weights: Sequence[Path], output: Path) -> None:
    """Write the mean of networks that went on from one start."""
    networks = [load_network(path) for path in weights]
    mean = networks[0]
    states = [network.state_dict() for network in networks]
    mean.load_state_dict({k: torch.stack([s[k] for s in states]).mean(0) for k in states[0]})
    save_network(mean, output)


def deepen(weights: Path, above: Sequence[int], data: Path, output: Path) -> None:
    """Write the network with a new encoder layer above each of the named ones."""
    network = load_network(weights)
    if not set(above) <= set(range(len(network.encoder.layers))):
        raise InputError(f"The encoder has layers 0 to {len(network.encoder.layers) - 1}.")
    rewrites = list(read_rewrites(data / "rewrites" / "train.jsonl", "gold"))[:SAMPLE]
    save_network(grow(network, above, list(make_examples(rewrites))), output)


def _network(recipe: Recipe, sizes: PointerSizes) -> PointerNetwork:
    if recipe.start is not None:
        return load_network(recipe.start).train()
    return PointerNetwork(_encoder(recipe.encoder), sizes)


def _encoder(start: Path | None) -> Encoder:
    if start is None or start.is_dir():
        return load_encoder(start or encoder_folder())
    if not start.exists():
        raise InputError(f"{start} does not exist.")
    stored = torch.load(start, map_location="cpu", weights_only=True)
    encoder = Encoder(EncoderSize(**stored["encoder"]))
    prefix = "encoder."
    encoder.load_state_dict(
        {
            name.removeprefix(prefix): weight.float()
            for name, weight in stored["weights"].items()
            if name.startswith(prefix)
        }
    )
    return encoder
