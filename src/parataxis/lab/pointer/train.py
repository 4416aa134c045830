"""Training the pointer network: it learns to write rewrites, and to prefer good ones to bad ones.

The output folder receives ``pointer.pt``: the sizes of the network, and the averaged weights with
the largest sum of two figures: the share of held-out rewrites that they write exactly, and the area
under the ROC curve for faults in judged ones.
"""

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from parataxis.errors import InputError
from parataxis.lab.encoder import Encoder, EncoderSize
from parataxis.lab.pointer.data import FAULT, ExampleSet, PointerBatch, PointerExample
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
from parataxis.lab.verifier.train import auc
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
UNCERTAINTY = (0.2, 0.4)
"""The weights of two numbers whose sum says how unsure the network is of a rewrite: its loss, and
the entropy of its steps. They are near those of the confidence."""
LEAST = 1e-30
"""Smaller probabilities of an action count as this."""


@dataclass(frozen=True)
class PointerConfig:
    """The settings of ``config.toml``."""

    seed: int
    epochs: int
    patience: int
    """The run ends after this many evaluations without a better one."""
    batch: int
    warmup_steps: int
    encoder_rate: float
    rate: float
    weight_decay: float
    average_decay: float
    bfloat16: bool
    """Whether a GPU computes in bfloat16."""
    hidden_pieces: float
    fixed_layers: int
    """The lower layers of the encoder that keep their weights; with any, its embeddings do, too."""
    aligned: float
    """The weight of the loss on the very word that was copied, beside that on its spelling."""
    first_step: float
    """The weight of the first step, which decides whether the source stays whole."""
    preference: float
    """The weight of preferring a good split to the bad ones of its source, beside a rewrite to
    write. A split that is both judged and to be written counts twice."""
    sharpness: float
    """The log-odds of preferring the good split, for each nat by which it is likelier."""
    stays: float
    """The weight of the loss on whether a judged source stays whole."""
    sizes: PointerSizes
    kinds: dict[str, float]
    """How often an example of each kind is seen in an epoch."""


def read_config(path: Path, changes: Mapping[str, str] | None = None) -> PointerConfig:
    """Read a configuration; ``changes`` override single settings ("epochs", "sizes.layers")."""
    settings = read_settings(path, changes)
    return PointerConfig(**{**settings, "sizes": PointerSizes(**settings["sizes"])})


def rewrite_loss(network: PointerNetwork, batch: PointerBatch, config: PointerConfig) -> Tensor:
    """The mean loss of an example.

    A rewrite to write has that of its steps, divided by their usual number. A good split, written
    or judged, has that of not being preferred to the bad ones of its source, and a source that is
    judged as it is that of staying whole.
    """
    logs = network_logs(network, batch)
    taken = _taken(_spelled(logs, batch), batch) * batch.real
    exact = logs.gather(2, batch.actions[..., None])[..., 0] * batch.real
    is_whole = batch.actions[:, 0] == WHOLE
    weights = torch.ones_like(taken)
    weights[:, 0] = config.first_step
    written = -((taken + config.aligned * exact) * weights).sum(1) / STEPS
    preference = _preference_loss(taken.sum(1), batch, ~is_whole, config.sharpness)
    stays = _whole_loss(logs[:, 0], batch)
    loss = (
        written[~batch.is_judged].sum()
        + config.preference * preference.sum()
        + config.stays * stays[batch.is_judged & is_whole].sum()
    )
    return loss / len(batch.actions)


def _preference_loss(
    log_chances: Tensor, batch: PointerBatch, is_split: Tensor, sharpness: float
) -> Tensor:
    """For each good split: how far it is from being preferred to the bad ones of its source, on
    average; one that should only be split further counts half."""
    is_good = is_split & (batch.badness == 0)
    is_rival = (batch.groups[:, None] == batch.groups) & is_good[:, None] & is_split
    badness = batch.badness * is_rival
    counts = (badness > 0).sum(1, keepdim=True).clamp(min=1)
    leads = log_chances[:, None] - log_chances
    return (nn.functional.softplus(-sharpness * leads) * badness / counts).sum(1)


def _whole_loss(first: Tensor, batch: PointerBatch) -> Tensor:
    """For each example how wrong the chance is that its source stays whole, given the
    log-probabilities of its first actions."""
    split = torch.cat([first[:, :WHOLE], first[:, WHOLE + 1 :]], 1).logsumexp(-1)
    return nn.functional.binary_cross_entropy_with_logits(
        first[:, WHOLE] - split, (batch.badness == 0).float(), reduction="none"
    )


def network_logs(network: PointerNetwork, batch: PointerBatch) -> Tensor:
    """The log-probability of each action at each step. The examples of one source have one memory
    of it."""
    sources, place = batch.groups.unique(return_inverse=True)  # type: ignore[no-untyped-call]
    numbers = torch.arange(len(place), device=place.device)
    firsts = numbers.new_zeros(len(sources)).scatter_reduce(
        0, place, numbers, "amin", include_self=False
    )
    memory = network.encode(*(each[firsts] for each in batch.encoder_inputs())).select(place)
    starts = network.start(len(batch.actions), batch.actions.device)
    scores, _ = network(memory, batch.state, starts)
    logs: Tensor = scores.float().log_softmax(-1)
    return logs


def _spelled(logs: Tensor, batch: PointerBatch) -> Tensor:
    """The log-probabilities with those of all actions that write the same added up, as in a
    search."""
    index = batch.spellings()[:, None].expand_as(logs)
    return torch.zeros_like(logs).scatter_add(2, index, logs.exp()).clamp(min=LEAST).log()


def _taken(spelled: Tensor, batch: PointerBatch) -> Tensor:
    """(batch, steps): the log-probability of what the targets write."""
    actions = batch.spellings().gather(1, batch.actions)
    return spelled.gather(2, actions[..., None])[..., 0]


@torch.no_grad()
def losses_and_uncertainty(
    network: PointerNetwork, examples: ExampleSet, size: int = 128
) -> Tensor:
    """For each example the summed loss on what it writes, its number of steps, and how much the
    network is unsure of it."""
    network.eval()
    loss_share, entropy_share = UNCERTAINTY
    found = []
    for start in range(0, len(examples), size):
        rows = np.arange(start, min(start + size, len(examples)))
        batch = examples.batch(rows)
        with autocast(examples.device):
            spelled = _spelled(network_logs(network, batch), batch)
        losses = -(_taken(spelled, batch) * batch.real).sum(1)
        entropies = -(spelled.exp() * spelled).sum(-1).mul(batch.real).sum(1)
        unsure = loss_share * losses + entropy_share * entropies
        found.append(torch.stack([losses, batch.real.sum(1), unsure], 1))
    return torch.cat(found).cpu()


class PointerTrainer(Trainer[PointerNetwork, NDArray[np.int64]]):
    """A run on rewrites; what counts as an epoch is the stretch between two evaluations."""

    score_fields = ("held_out_step", "held_out_rewrite", "identical", "area")

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
        if config.fixed_layers:
            network.encoder.requires_grad_(False)
            network.encoder.layers[config.fixed_layers :].requires_grad_(True)
        options = {"weight_decay": config.weight_decay, "betas": (0.9, 0.98)}
        optimizer = two_rate_optimizer(network, network.encoder.parameters(), device, **options)
        average = config.average_decay
        super().__init__(network, optimizer, config, device, output, average_decay=average)
        self.examples, self.dev = ExampleSet(examples, device), ExampleSet(dev, device)
        written = [example for example in dev if example.badness is None]
        self.searched = written[:: -(-len(written) // SEARCHED)]
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
        batches: list[NDArray[np.int64]] = []
        for _ in range(self.config.epochs):
            cut = [batch for rows in self._rounds(chance) for batch in self._batches(rows, chance)]
            chance.shuffle(cut)  # type: ignore[arg-type]
            batches += cut
        return batches

    def _rounds(self, chance: np.random.Generator) -> Iterator[NDArray[np.int64]]:
        """The examples of one epoch, in rounds that have each of them at most once."""
        for number in range(math.ceil(max(self.config.kinds.values()))):
            parts = [np.zeros(0, np.int64)]
            for kind, times in self.config.kinds.items():
                rows = chance.permutation(np.nonzero(self.kinds == kind)[0])
                share = min(1.0, max(0.0, times - number))
                parts.append(rows[: int(len(rows) * share)])
            rows = np.concatenate(parts)
            if len(rows):
                yield rows

    def _batches(
        self, rows: NDArray[np.int64], chance: np.random.Generator
    ) -> list[NDArray[np.int64]]:
        """Batches of similar length, in which the examples of each source are together."""
        rows = rows[np.argsort(self.examples.groups[rows], kind="stable")]
        together = np.split(rows, np.flatnonzero(np.diff(self.examples.groups[rows])) + 1)
        lengths = self.examples.lengths[:, [0, 2]].sum(1)
        longest = np.array([lengths[each].max() for each in together])
        order = chance.permutation(len(together))
        size = max(1, round(self.config.batch * len(together) / len(rows)))
        found = similar_length_batches(order, longest, size, BUCKET)
        return [np.concatenate([together[place] for place in some]) for some in found]

    def rates(self) -> list[float]:
        """A linear decay after a warm-up."""
        factor = linear_decay(self.step, self.config.warmup_steps, len(self.plan))
        return [self.config.encoder_rate * factor, self.config.rate * factor]

    def loss(self, batch: NDArray[np.int64]) -> tuple[Tensor, Mapping[str, Tensor | float]]:
        """The loss on the targets."""
        padded = self.examples.batch(batch)
        self._hide(padded)
        with autocast(self.device, wanted=self.config.bfloat16):
            loss = rewrite_loss(self.network, padded, self.config)
        return loss, {"loss": loss.detach()}

    def evaluate(self) -> Evaluation:
        """The share of held-out rewrites that the averaged weights write exactly, their loss, and
        the area under the ROC curve for faults in splits that are judged.

        The loss is the worse guide: it rises again while the others still do.
        """
        network = self.averaged()
        sums = losses_and_uncertainty(network, self.dev)
        is_judged = self.dev.badness.isfinite().cpu()
        writing = sums[~is_judged]
        step, rewrite = writing[:, 0].sum() / writing[:, 1].sum(), writing[:, 0].mean()
        found = rewrites(network, self.searched, self.device)
        wanted = [_written(example, example.actions) for example in self.searched]
        identical = float(np.mean([a == b for a, b in zip(found, wanted, strict=True)]))
        judged = is_judged & (self.dev.tensors["actions"][:, 0].cpu() != WHOLE)
        is_faulty = self.dev.badness.cpu()[judged] == FAULT
        area = auc(sums[judged, 2].numpy(), is_faulty.numpy())
        figures = {
            "held_out_step": float(step),
            "held_out_rewrite": float(rewrite),
            "identical": identical,
            "area": area,
        }
        return Evaluation((identical + (area or 0.0), -float(rewrite)), figures)

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
        index = torch.from_numpy(rows).to(self.memory.hidden.device)
        return TorchMemory(self.memory.select(index))


class TorchDecoder:
    """The network behind the interface of the shipped model, to rewrite while training."""

    def __init__(self, network: PointerNetwork, device: torch.device) -> None:
        self.network, self.device = network.to(device).eval(), device

    @torch.no_grad()
    def read(self, sources: Sequence[Features]) -> tuple[TorchMemory, int, tuple[int, int]]:
        """Read the sources."""
        # Their numbers keep equal sources apart.
        examples = [
            PointerExample(source, [END], "", str(number)) for number, source in enumerate(sources)
        ]
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
