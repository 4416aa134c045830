"""Training the pointer network: first on all examples, then on the rewrites alone.

The output folder receives ``pointer.pt``: the averaged weights that were best on the held-out
rewrites, and the sizes of the network.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from parataxis.lab.encoder import Encoder, EncoderSize
from parataxis.lab.pointer.data import ExampleSet, PointerBatch, PointerExample, written_words
from parataxis.lab.pointer.network import DecoderState, NetworkMemory, PointerNetwork, PointerSizes
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
from parataxis.splitters.pointer.actions import COPY, END, WHOLE, Features
from parataxis.splitters.pointer.search import Place, search
from parataxis.text.tokens import tokenize

WEIGHTS = "pointer.pt"
BUCKET = 20
"""Batches of similar length are cut from stretches of this many batches."""
UNKNOWN = 100
"""The word piece that stands in for a hidden one."""
FIRST_REAL = 999
"""Word pieces below are marks of the encoder."""


@dataclass(frozen=True)
class PointerConfig:
    """The settings of ``config.toml``."""

    seed: int
    early_epochs: float
    """Epochs over all examples, before those over the rewrites alone."""
    epochs: int
    """Epochs over the rewrites alone."""
    batch: int
    warmup_steps: int
    encoder_rate: float
    rate: float
    weight_decay: float
    average_decay: float
    hidden_pieces: float
    aligned: float
    """The weight of the loss on the very word that was copied, beside that on its spelling."""
    imitate: float
    """The share of the loss that is the distance to the teachers, where there are teachers."""
    sizes: PointerSizes
    kinds: dict[str, float]
    """How often an example of each kind is seen in an epoch."""


def read_config(path: Path, changes: Mapping[str, str] | None = None) -> PointerConfig:
    """Read a configuration; ``changes`` override single settings ("epochs", "sizes.layers")."""
    settings = read_settings(path, changes)
    return PointerConfig(**{**settings, "sizes": PointerSizes(**settings["sizes"])})


def losses(
    network: PointerNetwork, batch: PointerBatch, aligned: float, taught: Tensor | None
) -> Tensor:
    """The mean loss of a step on the target, and the mean cross-entropy with the teachers."""
    logs = network_logs(network, batch)
    spelling = logs.masked_fill(~batch.allowed(), -1e9).logsumexp(-1)
    exact = logs.gather(2, batch.actions[..., None])[..., 0]
    parts = [-(spelling + aligned * exact)]
    if taught is not None:
        parts.append(-(taught * logs).sum(-1))
    steps = batch.real.sum()
    return torch.stack([(part * batch.real).sum() / steps for part in parts])


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

    score_fields = ("held_out_step", "held_out_rewrite")

    def __init__(
        self,
        network: PointerNetwork,
        config: PointerConfig,
        examples: Sequence[PointerExample],
        dev: Sequence[PointerExample],
        device: torch.device,
        output: Path,
        teachers: Sequence[PointerNetwork] = (),
        *,
        report_every: int = 300,
    ) -> None:
        network.to(device)
        options = {"weight_decay": config.weight_decay, "betas": (0.9, 0.98)}
        optimizer = two_rate_optimizer(network, network.encoder.parameters(), device, **options)
        average = config.average_decay
        super().__init__(network, optimizer, config, device, output, average_decay=average)
        self.teachers = [teacher.to(device).eval() for teacher in teachers]
        self.teacher_outputs: list[Tensor] = []
        """The mean probabilities of the teachers for each example: the same in every epoch."""
        self.examples, self.dev = ExampleSet(examples, device), ExampleSet(dev, device)
        self.kinds = np.array([example.kind for example in examples])
        self.report_every = report_every
        self.plan = self._plan()

    @property
    def is_over(self) -> bool:
        """Whether all steps are taken."""
        return self.epoch * self.report_every >= len(self.plan)

    def batches(self) -> list[NDArray[np.int64]]:
        """The batches up to the next evaluation."""
        return self.plan[self.epoch * self.report_every :][: self.report_every]

    def _plan(self) -> list[NDArray[np.int64]]:
        """All batches of the run, which depend on the seed alone."""
        chance = np.random.default_rng(self.config.seed)
        batches: list[NDArray[np.int64]] = []
        early = math.ceil(self.config.early_epochs)
        for epoch in range(early + self.config.epochs):
            share = min(1.0, self.config.early_epochs - epoch) if epoch < early else 1.0
            rows = self._chosen(chance, everything=epoch < early)
            rows = rows[: int(len(rows) * share)]
            lengths = self.examples.lengths[:, 2]
            cut = similar_length_batches(rows, lengths, self.config.batch, BUCKET)
            chance.shuffle(cut)
            batches += cut
        return batches

    def _chosen(self, chance: np.random.Generator, *, everything: bool) -> NDArray[np.int64]:
        """The examples of one epoch, shuffled."""
        parts = []
        for kind, times in self.config.kinds.items():
            rows = np.nonzero(self.kinds == kind)[0]
            if kind in ("noisy", "taught") and not everything:
                continue
            whole, rest = int(times), times - int(times)
            parts += [rows] * whole
            parts.append(chance.permutation(rows)[: int(len(rows) * rest)])
        return chance.permutation(np.concatenate(parts))

    def rates(self) -> list[float]:
        """A linear decay after a warm-up."""
        factor = linear_decay(self.step, self.config.warmup_steps, len(self.plan))
        return [self.config.encoder_rate * factor, self.config.rate * factor]

    def loss(self, batch: NDArray[np.int64]) -> tuple[Tensor, Mapping[str, Tensor | float]]:
        """The loss on the targets, mixed with the distance to the teachers."""
        padded = self.examples.batch(batch)
        taught = self.taught(batch)
        self._hide(padded)
        with autocast(self.device):
            parts = losses(self.network, padded, self.config.aligned, taught)
        share = self.config.imitate if self.teachers else 0.0
        loss = (1 - share) * parts[0] + share * parts[-1]
        return loss, {"loss": loss.detach()}

    def evaluate(self) -> Evaluation:
        """The loss of the averaged weights on held-out rewrites."""
        sums = spelling_loss(self.averaged(), self.dev)
        step, rewrite = sums[:, 0].sum() / sums[:, 1].sum(), sums[:, 0].mean()
        figures = {"held_out_step": float(step), "held_out_rewrite": float(rewrite)}
        return Evaluation((-float(rewrite),), figures)

    def keep(self) -> None:
        """Write the averaged weights."""
        save_network(self.averaged(), self.output / WEIGHTS)

    def taught(self, rows: NDArray[np.int64]) -> Tensor | None:
        """The mean probabilities of the teachers for these examples."""
        if not self.teachers:
            return None
        if not self.teacher_outputs:
            self._ask_teachers()
        _, words, actions = self.examples.lengths[rows].max(0)
        taught = torch.zeros(len(rows), actions, COPY + words, device=self.device)
        for place, row in enumerate(rows):
            known = self.teacher_outputs[row]
            taught[place, : known.shape[0], : known.shape[1]] = known
        return taught

    @torch.no_grad()
    def _ask_teachers(self) -> None:
        """Run the teachers once on every example; half precision is exact enough."""
        lengths = self.examples.lengths
        outputs: dict[int, Tensor] = {}
        order = np.argsort(lengths[:, 2], kind="stable")
        for start in range(0, len(order), 2 * self.config.batch):
            rows = order[start : start + 2 * self.config.batch]
            batch = self.examples.batch(rows)
            with autocast(self.device):
                each = [network_logs(teacher, batch).exp() for teacher in self.teachers]
            mean = torch.stack(each).mean(0).half()
            for place, row in enumerate(rows):
                _, words, actions = lengths[row]
                outputs[row] = mean[place, :actions, : COPY + words].clone()
        self.teacher_outputs = [outputs[row] for row in range(len(lengths))]

    def _hide(self, batch: PointerBatch) -> None:
        """Replace some word pieces by "unknown", so that the model relies on structure."""
        pieces = batch.fields["pieces"]
        chance = torch.rand(pieces.shape, device=pieces.device)
        hidden = (chance < self.config.hidden_pieces) & (pieces >= FIRST_REAL)
        batch.fields["pieces"] = torch.where(hidden, UNKNOWN, pieces)


def samples(
    network: PointerNetwork, dev: Sequence[PointerExample], device: torch.device
) -> list[str]:
    """Rewrites of held-out sources, to look at."""
    found = search(TorchDecoder(network, device), [example.source for example in dev], beam=4)
    texts = []
    for example, result in zip(dev, found, strict=True):
        words = [token.text for token in tokenize(example.text)]
        actions = result.hypotheses[0].actions if result.hypotheses else (WHOLE,)
        sentences = written_words(words, (WHOLE,) if result.whole > 0.5 else actions)
        texts.append(" | ".join(map(" ".join, sentences)))
    return texts


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
