"""The whole way from the data folder to a model: examples, training, export."""

import copy
import gzip
import json
import logging
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain, islice
from pathlib import Path
from typing import Any, cast

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from parataxis.errors import InputError
from parataxis.lab.encoder import Encoder, EncoderSize, Layer, encoder_folder, load_encoder
from parataxis.lab.pointer.data import (
    ExampleSet,
    PointerExample,
    make_examples,
    noisy_pairs,
    read_examples,
    read_rewrites,
    simple_sentences,
    write_examples,
)
from parataxis.lab.pointer.export import export
from parataxis.lab.pointer.network import PointerNetwork, PointerSizes
from parataxis.lab.pointer.train import (
    WEIGHTS,
    PointerTrainer,
    TorchDecoder,
    load_network,
    read_config,
    samples,
    save_network,
)
from parataxis.lab.training import check_run_folder, choose_device, load_weights
from parataxis.splitters.pointer.actions import COPY, END, NO_TWIN, WHOLE, Features, read_source
from parataxis.splitters.pointer.search import Decoder, Found, Place, search
from parataxis.text.tokens import has_word, tokenize

SAMPLE = 256
"""How many sources the normalisations are fitted on."""


@torch.no_grad()
def grow(
    network: PointerNetwork, above: Sequence[int], examples: Sequence[PointerExample]
) -> PointerNetwork:
    """The network with one more encoder layer above each of the layers ``above``, from 0 on.

    A new layer is a copy of the one below whose two outputs are zero, so that only its
    normalisations act. Their weights are fitted to reproduce the input within a few percent.
    """
    grown = copy.deepcopy(network).cpu().eval()
    encoder = grown.encoder
    sample = ExampleSet(examples[:SAMPLE], torch.device("cpu"))
    batch = sample.batch(np.arange(len(sample)))
    pieces, shapes, _ = batch.encoder_inputs()
    real = pieces > 0
    states = encoder(pieces, shapes, real.long())
    layers: list[Layer] = []
    for index, layer in enumerate(cast("list[Layer]", list(encoder.layers))):
        layers.append(layer)
        if index in above:
            layers.append(_idle(layer, states[index + 1][real]))
    encoder.layers = nn.ModuleList(layers)
    encoder.size = replace(encoder.size, layers=len(layers))
    return grown


def _idle(layer: Layer, states: Tensor) -> Layer:
    """A copy of a layer that gives back, nearly, the states (pieces, width) that come in."""
    idle = copy.deepcopy(layer)
    for linear in (idle.attention.output, idle.outer):
        nn.init.zeros_(linear.weight)
        nn.init.zeros_(linear.bias)
    for norm in (idle.attention_norm, idle.output_norm):
        states = _fit(norm, states)
    return idle


def _fit(norm: nn.LayerNorm, states: Tensor) -> Tensor:
    """Set a normalisation to give back the states, by least squares; what it makes of them."""
    plain = nn.functional.layer_norm(states, norm.normalized_shape, eps=norm.eps)
    centre, target = plain.mean(0), states.mean(0)
    spread = (plain - centre).square().sum(0)
    norm.weight.copy_(((plain - centre) * (states - target)).sum(0) / spread)
    norm.bias.copy_(target - norm.weight * centre)
    return plain * norm.weight + norm.bias


BATCH = 384
LEAST_SCORE = -0.35
"""A rewrite of which the teachers are less sure (in mean log-probability) is not taught."""
SURE = (0.2, 0.8)
"""How likely "leave it whole" must be at most for a split, and at least for the source itself."""

SHORTEST, LONGEST = 10, 80
"""Sentences of fewer or more words are not worth teaching."""


def unlabelled(data: Path) -> Iterator[PointerExample]:
    """Sentences without a rewrite, each once, the longest first: contracts, encyclopaedia,
    essays, biographies, treebanks."""
    rewritten = set(_rewritten(data))
    texts = {text.strip() for text in _texts(data)} - rewritten
    fitting = [text for text in texts if SHORTEST <= len(text.split()) <= LONGEST]
    for text in sorted(fitting, key=lambda text: (-len(text.split()), text)):
        words = [token.text for token in tokenize(text)]
        yield PointerExample(read_source(words), [END], "unlabelled", text)


def _rewritten(data: Path) -> Iterator[str]:
    for name in ("train", "dev"):
        with (data / "rewrites" / f"{name}.jsonl").open(encoding="utf-8") as lines:
            yield from (json.loads(line)["complex"] for line in lines)


def _texts(data: Path) -> Iterator[str]:
    with gzip.open(data / "contracts" / "sentences.txt.gz", "rt", encoding="utf-8") as lines:
        yield from lines
    for corpus in ("minwiki", "desse"):
        with (data / corpus / "train.complex").open(encoding="utf-8") as lines:
            yield from lines
    with gzip.open(data / "factscore" / "atomic_facts.jsonl.gz", "rt", encoding="utf-8") as lines:
        for line in lines:
            for part in json.loads(line).get("annotations") or ():
                yield part["text"]
    for bank in ("ewt", "gum"):
        path = data / "ud" / f"{bank}-train.conllu.gz"
        with gzip.open(path, "rt", encoding="utf-8") as lines:
            start = "# text = "
            yield from (line.removeprefix(start) for line in lines if line.startswith(start))


class EnsembleMemory:
    """What each of the decoders has read."""

    def __init__(self, parts: Sequence[Any]) -> None:
        self.parts = parts

    def select(self, rows: NDArray[np.int64]) -> "EnsembleMemory":
        """Only these sources."""
        return EnsembleMemory([part.select(rows) for part in self.parts])


class Ensemble:
    """Several decoders of one shape as one: their probabilities are averaged."""

    def __init__(self, decoders: Sequence[Decoder]) -> None:
        self._decoders = decoders

    def read(self, sources: Sequence[Features]) -> tuple[EnsembleMemory, int, tuple[int, int]]:
        """Read the sources."""
        read = [decoder.read(sources) for decoder in self._decoders]
        layers = sum(shape[0] for _, _, shape in read)
        return (
            EnsembleMemory([memory for memory, _, _ in read]),
            read[0][1],
            (layers, read[0][2][1]),
        )

    def step(
        self, memory: EnsembleMemory, place: Place
    ) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
        """Score the next actions of all hypotheses."""
        states = np.split(place.recurrent, len(self._decoders), axis=2)
        logs, ends = [], []
        for decoder, part, recurrent in zip(self._decoders, memory.parts, states, strict=True):
            own = Place(
                place.previous, place.sentence, place.place, place.last, place.copied, recurrent
            )
            scores, end = decoder.step(part, own)
            logs.append(scores)
            ends.append(end)
        mean: NDArray[np.float32] = np.logaddexp.reduce(logs, axis=0) - np.log(len(logs))
        return mean, np.concatenate(ends, axis=2)


def write_rewrites(
    decoder: Decoder, sources: Iterable[PointerExample], *, beam: int = 4
) -> Iterator[PointerExample]:
    """Rewrite the sources; what the decoder is not sure of, or loses a word, is left out."""
    stream = iter(sources)
    while batch := list(islice(stream, BATCH)):
        found = search(decoder, [example.source for example in batch], beam=beam)
        for example, result in zip(batch, found, strict=True):
            actions = _actions(example, result)
            if actions:
                yield PointerExample(example.source, actions, "taught", example.text)


def _actions(example: PointerExample, found: Found) -> list[int]:
    if found.whole >= SURE[1]:
        return [WHOLE]
    if found.whole > SURE[0]:
        return []
    words = [token.text for token in tokenize(example.text)]
    for hypothesis in found.hypotheses:
        if hypothesis.score >= LEAST_SCORE and _keeps_all(
            example.source, words, hypothesis.actions
        ):
            return [*hypothesis.actions, END]
    return []


def _keeps_all(source: Features, words: Sequence[str], actions: Sequence[int]) -> bool:
    """Whether every word that is no function word is copied, wherever it is spelt the same."""
    copied = {source.same[action - COPY] for action in actions if action >= COPY}
    return all(
        first in copied or twin != NO_TWIN or not has_word(word)
        for first, twin, word in zip(source.same, source.twins, words, strict=True)
    )


log = logging.getLogger(__name__)

CONFIG = Path(__file__).with_name("config.toml")

SHOWN = 12
"""How many rewrites are shown when a run is over."""
_SIMPLE_EVERY = 4


@dataclass(frozen=True)
class PointerRecipe:
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


def train_pointer(recipe: PointerRecipe, *, resume: bool = False, limit: int | None = None) -> Path:
    """Make the examples, train, and export; the folder of the model.

    ``resume`` continues an interrupted run after its last evaluation. ``limit`` keeps only that
    many examples of each kind, for a rehearsal.
    """
    check_run_folder(recipe.output, resume=resume)
    device = choose_device()
    config = read_config(recipe.config, recipe.changes)
    torch.manual_seed(config.seed)
    recipe.output.mkdir(parents=True, exist_ok=True)
    examples, dev = _examples(recipe, limit)
    log.info("%d examples, %d held out", len(examples), len(dev))
    network = _network(recipe, config.sizes)
    teachers = [load_network(path) for path in recipe.teachers]
    trainer = PointerTrainer(
        *(network, config, examples, dev, device, recipe.output, teachers),
        report_every=recipe.report_every,
    )
    if resume:
        trainer.load()
    else:
        trainer.start()
    trainer.run()
    weights = recipe.output / WEIGHTS
    for text in samples(load_network(weights), dev[:: max(1, len(dev) // SHOWN)][:SHOWN], device):
        log.info("%s", text)
    export(weights, recipe.output / "model")
    return recipe.output / "model"


def teach(data: Path, teachers: Sequence[Path], output: Path, *, limit: int | None = None) -> None:
    """Let trained networks together rewrite the sentences of the data that have no rewrite."""
    decoder = Ensemble([TorchDecoder(load_network(path), choose_device()) for path in teachers])
    sources = list(unlabelled(data))[:limit]
    count = write_examples(write_rewrites(decoder, sources), output)
    log.info("%d of %d sentences are taught", count, len(sources))


def _examples(
    recipe: PointerRecipe, limit: int | None
) -> tuple[list[PointerExample], list[PointerExample]]:
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


def _network(recipe: PointerRecipe, sizes: PointerSizes) -> PointerNetwork:
    if recipe.start is not None:
        return load_network(recipe.start).train()
    return PointerNetwork(_encoder(recipe.encoder), sizes)


def _encoder(start: Path | None) -> Encoder:
    if start is None or start.is_dir():
        return load_encoder(start or encoder_folder())
    return load_weights(start, lambda s: Encoder(EncoderSize(**s["encoder"])), "encoder.")
