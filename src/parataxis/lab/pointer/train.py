"""Training the pointer network: first mostly on the teacher's rewrites, then mostly on others.

The output folder receives ``pointer.pt``: the averaged weights that wrote most of the held-out
rewrites exactly, and the sizes of the network.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from parataxis.errors import InputError
from parataxis.lab.encoder import Encoder, EncoderSize
from parataxis.lab.pointer.data import ExampleSet, PointerBatch, PointerExample
from parataxis.lab.pointer.network import (
    COPIED,
    NOWHERE,
    DecoderState,
    NetworkMemory,
    PointerNetwork,
    PointerSizes,
)
from parataxis.lab.quantise import read_weights
from parataxis.lab.training import (
    Evaluation,
    Trainer,
    autocast,
    linear_decay,
    load_weights,
    read_settings,
    save_weights,
    similar_length_batches,
    two_rate_optimizer,
)
from parataxis.rewrite.forms import key
from parataxis.splitters.pointer.actions import END, WHOLE, Features
from parataxis.splitters.pointer.model import DECODER, ENCODER
from parataxis.splitters.pointer.search import Place, search
from parataxis.splitters.pointer.targets import written_words
from parataxis.text.tokens import tokenize

WEIGHTS = "pointer.pt"
BUCKET = 20
"""Batches of similar length are cut from stretches of this many batches."""
STEPS = 30
"""The usual number of steps of a rewrite."""
SEARCHED = 400
"""The number of held-out sources that are rewritten in an evaluation."""
SEARCH_BATCH = 64
UNKNOWN = 100
"""The word piece that stands in for a hidden one."""
FIRST_REAL = 999
"""Word pieces below are marks of the encoder."""


@dataclass(frozen=True)
class PointerConfig:
    """The settings of ``config.toml``."""

    seed: int
    epochs: int
    late_epochs: int
    """Epochs at the end, with the shares in ``late_kinds``."""
    patience: int
    """The run ends after this many evaluations without a better one."""
    batch: int
    warmup_steps: int
    encoder_rate: float
    rate: float
    weight_decay: float
    average_decay: float
    hidden_pieces: float
    aligned: float
    """The weight of the loss on the very word that was copied, beside that on its spelling."""
    first_step: float
    """The weight of the first step, which decides whether the source stays whole."""
    sizes: PointerSizes
    kinds: dict[str, float]
    """How often an example of each kind is seen in an epoch."""
    late_kinds: dict[str, float]


def read_config(path: Path, changes: Mapping[str, str] | None = None) -> PointerConfig:
    """Read a configuration; ``changes`` override single settings ("epochs", "sizes.layers")."""
    settings = read_settings(path, changes)
    return PointerConfig(**{**settings, "sizes": PointerSizes(**settings["sizes"])})


def rewrite_loss(
    network: PointerNetwork, batch: PointerBatch, aligned: float, first_step: float
) -> Tensor:
    """The mean loss of a rewrite, divided by its usual number of steps."""
    logs = network_logs(network, batch)
    spelling = logs.masked_fill(~batch.allowed(), -1e9).logsumexp(-1)
    exact = logs.gather(2, batch.actions[..., None])[..., 0]
    weights = batch.real.float()
    weights[:, 0] *= first_step
    loss: Tensor = -((spelling + aligned * exact) * weights).sum() / (STEPS * len(weights))
    return loss


def network_logs(network: PointerNetwork, batch: PointerBatch) -> Tensor:
    """The log-probability of each action at each step."""
    memory = network.encode(*batch.encoder_inputs())
    starts = network.start(len(batch.actions), batch.actions.device)
    scores, _ = network(memory, batch.state, starts)
    logs: Tensor = scores.float().log_softmax(-1)
    return logs


@torch.no_grad()
def spelling_loss(network: PointerNetwork, examples: ExampleSet, size: int = 128) -> Tensor:
    """For each example the summed loss on what it writes, and its number of steps."""
    network.eval()
    found = []
    for start in range(0, len(examples), size):
        rows = np.arange(start, min(start + size, len(examples)))
        batch = examples.batch(rows)
        with autocast(examples.device):
            logs = network_logs(network, batch)
        spelling = logs.masked_fill(~batch.allowed(), -1e9).logsumexp(-1) * batch.real
        found.append(torch.stack([-spelling.sum(1), batch.real.sum(1)], 1))
    return torch.cat(found).cpu()


class PointerTrainer(Trainer[PointerNetwork, NDArray[np.int64]]):
    """A run on rewrites; what counts as an epoch is the stretch between two evaluations."""

    score_fields = ("held_out_step", "held_out_rewrite", "identical")

    def __init__(
        self,
        network: PointerNetwork,
        config: PointerConfig,
        examples: Sequence[PointerExample],
        dev: Sequence[PointerExample],
        device: torch.device,
        output: Path,
        *,
        report_every: int = 500,
    ) -> None:
        network.to(device)
        options = {"weight_decay": config.weight_decay, "betas": (0.9, 0.98)}
        optimizer = two_rate_optimizer(network, network.encoder.parameters(), device, **options)
        average = config.average_decay
        super().__init__(network, optimizer, config, device, output, average_decay=average)
        self.examples, self.dev = ExampleSet(examples, device), ExampleSet(dev, device)
        self.searched = dev[:: -(-len(dev) // SEARCHED)]
        self.kinds = np.array([example.kind for example in examples])
        self.report_every = report_every
        self.plan = self._plan()

    @property
    def is_over(self) -> bool:
        """Whether all steps are taken, or nothing has become better for too long."""
        done = self.epoch * self.report_every >= len(self.plan)
        return done or self.waited >= self.config.patience

    def batches(self) -> list[NDArray[np.int64]]:
        """The batches up to the next evaluation."""
        return self.plan[self.epoch * self.report_every :][: self.report_every]

    def _plan(self) -> list[NDArray[np.int64]]:
        """All batches of the run, which depend on the seed alone."""
        chance = np.random.default_rng(self.config.seed)
        lengths = self.examples.lengths[:, [0, 2]].sum(1)
        batches: list[NDArray[np.int64]] = []
        early, late = self.config.epochs, self.config.late_epochs
        for kinds in [self.config.kinds] * early + [self.config.late_kinds] * late:
            rows = self._chosen(chance, kinds)
            cut = similar_length_batches(rows, lengths, self.config.batch, BUCKET)
            chance.shuffle(cut)
            batches += cut
        return batches

    def _chosen(self, chance: np.random.Generator, kinds: Mapping[str, float]) -> NDArray[np.int64]:
        """The examples of one epoch, shuffled."""
        parts = []
        for kind, times in kinds.items():
            rows = np.nonzero(self.kinds == kind)[0]
            parts += [rows] * int(times)
            parts.append(chance.permutation(rows)[: int(len(rows) * (times % 1))])
        return chance.permutation(np.concatenate(parts))

    def rates(self) -> list[float]:
        """A linear decay after a warm-up."""
        factor = linear_decay(self.step, self.config.warmup_steps, len(self.plan))
        return [self.config.encoder_rate * factor, self.config.rate * factor]

    def loss(self, batch: NDArray[np.int64]) -> tuple[Tensor, Mapping[str, Tensor | float]]:
        """The loss on the targets."""
        padded = self.examples.batch(batch)
        self._hide(padded)
        with autocast(self.device):
            loss = rewrite_loss(self.network, padded, self.config.aligned, self.config.first_step)
        return loss, {"loss": loss.detach()}

    def evaluate(self) -> Evaluation:
        """The share of held-out rewrites that the averaged weights write exactly, and their loss.

        The loss is the worse guide: it rises again while the share still does.
        """
        network = self.averaged()
        sums = spelling_loss(network, self.dev)
        step, rewrite = sums[:, 0].sum() / sums[:, 1].sum(), sums[:, 0].mean()
        found = rewrites(network, self.searched, self.device)
        wanted = [_written(example, example.actions) for example in self.searched]
        identical = float(np.mean([a == b for a, b in zip(found, wanted, strict=True)]))
        figures = {"held_out_step": float(step), "held_out_rewrite": float(rewrite)}
        return Evaluation((identical, -float(rewrite)), {**figures, "identical": identical})

    def keep(self) -> None:
        """Write the averaged weights."""
        save_network(self.averaged(), self.output / WEIGHTS)

    def _hide(self, batch: PointerBatch) -> None:
        """Replace some word pieces by "unknown", so that the model relies on structure."""
        pieces = batch.fields["pieces"]
        chance = torch.rand(pieces.shape, device=pieces.device)
        hidden = (chance < self.config.hidden_pieces) & (pieces >= FIRST_REAL)
        batch.fields["pieces"] = torch.where(hidden, UNKNOWN, pieces)


def rewrites(
    network: PointerNetwork, examples: Sequence[PointerExample], device: torch.device
) -> list[list[list[str]]]:
    """What a small search writes for the sources of examples: the words of each sentence."""
    decoder, found = TorchDecoder(network, device), []
    for start in range(0, len(examples), SEARCH_BATCH):
        some = [example.source for example in examples[start : start + SEARCH_BATCH]]
        found += search(decoder, some, beam=2)
    return [
        _written(
            example,
            result.hypotheses[0].actions if result.hypotheses and result.whole <= 0.5 else (WHOLE,),
        )
        for example, result in zip(examples, found, strict=True)
    ]


def _written(example: PointerExample, actions: Sequence[int]) -> list[list[str]]:
    words = [token.text for token in tokenize(example.text)]
    return [list(map(key, sentence)) for sentence in written_words(words, actions)]


class TorchMemory:
    """The memory of sources, for the search."""

    def __init__(self, memory: NetworkMemory) -> None:
        self.memory = memory

    def select(self, rows: NDArray[np.int64]) -> "TorchMemory":
        """Only these sources."""
        memory = self.memory
        index = torch.from_numpy(rows).to(memory.hidden.device)
        return TorchMemory(
            NetworkMemory(
                [keys[index] for keys in memory.keys],
                [values[index] for values in memory.values],
                memory.targets[index],
                memory.inputs[index],
                memory.hidden[index],
            )
        )


class TorchDecoder:
    """The network behind the interface of the shipped model, to rewrite while training."""

    def __init__(self, network: PointerNetwork, device: torch.device) -> None:
        self.network, self.device = network.to(device).eval(), device

    @torch.no_grad()
    def read(self, sources: Sequence[Features]) -> tuple[TorchMemory, int, tuple[int, int]]:
        """Read the sources."""
        examples = [PointerExample(source, [END], "", "") for source in sources]
        batch = ExampleSet(examples, self.device).batch(np.arange(len(examples)))
        with autocast(self.device):
            memory = self.network.encode(*batch.encoder_inputs())
        sizes = self.network.sizes
        return TorchMemory(memory), memory.inputs.shape[1], (sizes.layers, sizes.width)

    @torch.no_grad()
    def step(
        self, memory: TorchMemory, place: Place
    ) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
        """Score the next actions of all hypotheses."""

        def tensor(array: NDArray[Any]) -> Tensor:
            return torch.from_numpy(array).to(self.device)

        state = DecoderState(
            tensor(place.previous),
            tensor(place.sentence),
            tensor(place.place),
            tensor(place.last),
            tensor(place.copied),
        )
        starts = list(tensor(place.recurrent).unbind(2))
        with autocast(self.device):
            scores, ends = self.network(memory.memory, state, starts)
        logs = scores.float().log_softmax(-1).cpu().numpy()
        return logs, torch.stack(ends, 2).float().cpu().numpy()


def save_network(network: PointerNetwork, path: Path) -> None:
    """Write everything that :func:`load_network` needs."""
    save_weights(network, path, sizes=network.sizes, encoder=network.encoder.size)


def load_network(path: Path) -> PointerNetwork:
    """Load what :func:`save_network` wrote."""

    def build(stored: dict[str, Any]) -> PointerNetwork:
        encoder = Encoder(EncoderSize(**stored["encoder"]))
        return PointerNetwork(encoder, PointerSizes(**stored["sizes"]))

    return load_weights(path, build).eval()


def load_bundle(folder: Path) -> PointerNetwork:
    """Load the network from a bundle of the shipped size, as far as int8 has kept its weights."""
    state = read_weights(folder / ENCODER) | read_weights(folder / DECODER)
    layers = len(
        [name for name in state if re.fullmatch(r"encoder\.layers\.\d+\.inner\.bias", name)]
    )
    network = PointerNetwork(Encoder(EncoderSize(layers=layers)), PointerSizes())
    sizes = network.sizes
    bends = state["bends"].reshape(NOWHERE + 1, COPIED, sizes.layers, sizes.heads)
    for layer in range(sizes.layers):
        own = bends[:, :, layer]
        # Only their sums are stored.
        state[f"layers.{layer}.bend.distance.weight"] = own[:, 0]
        state[f"layers.{layer}.bend.copied.weight"] = own[0] - own[0, :1]
    wanted = network.state_dict()
    missing = wanted.keys() - state.keys()
    if missing:
        raise InputError(f"{folder} has no weights for {', '.join(sorted(missing)[:3])}.")
    network.load_state_dict({name: torch.from_numpy(state[name].copy()) for name in wanted})
    return network.eval()
