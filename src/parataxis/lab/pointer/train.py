"""Training the pointer network: first on all examples, then on the rewrites alone.

Writes ``last.pt`` (to resume from), ``pointer.pt`` (averaged weights and sizes) and ``log.csv``
into the output folder.
"""

import csv
import logging
import math
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from parataxis.lab.encoder import Encoder, EncoderSize
from parataxis.lab.pointer.data import ExampleSet, PointerBatch, PointerExample, written_words
from parataxis.lab.pointer.network import DecoderState, NetworkMemory, PointerNetwork, PointerSizes
from parataxis.lab.training import Average, read_settings
from parataxis.splitters.pointer.actions import COPY, END, WHOLE, Features
from parataxis.splitters.pointer.search import Place, search
from parataxis.text.tokens import tokenize

log = logging.getLogger(__name__)

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
    """The mean loss of a step on the target, and the mean distance to what teachers say."""
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
        with _autocast(examples.device):
            logs = network_logs(network, batch)
        spelling = logs.masked_fill(~batch.allowed(), -1e9).logsumexp(-1) * batch.real
        found.append(torch.stack([-spelling.sum(1), batch.real.sum(1)], 1))
    return torch.cat(found).cpu()


def _autocast(device: torch.device) -> torch.autocast:
    return torch.autocast(device.type, dtype=torch.bfloat16, enabled=device.type == "cuda")


class PointerTrainer:
    """One run: the network, its average, the optimiser and the schedule."""

    def __init__(
        self,
        network: PointerNetwork,
        config: PointerConfig,
        examples: Sequence[PointerExample],
        device: torch.device,
        output: Path,
        teachers: Sequence[PointerNetwork] = (),
    ) -> None:
        self.network, self.config = network.to(device), config
        self.teachers = [teacher.to(device).eval() for teacher in teachers]
        self.said: list[Tensor] = []
        """What the teachers say of each example, on average: the same in every epoch."""
        self.device, self.output = device, output
        self.examples = ExampleSet(examples, device)
        self.kinds = np.array([example.kind for example in examples])
        self.average = Average(network.state_dict(), config.average_decay)
        inside = list(network.encoder.parameters())
        known = {id(parameter) for parameter in inside}
        outside = [p for p in network.parameters() if id(p) not in known]
        self.rates = (config.encoder_rate, config.rate)
        self.optimizer = torch.optim.AdamW(
            [{"params": inside}, {"params": outside}],
            weight_decay=config.weight_decay,
            betas=(0.9, 0.98),
            fused=device.type == "cuda",
        )
        self.plan = self._plan()
        self.step = 0
        self.best = math.inf
        output.mkdir(parents=True, exist_ok=True)

    def _plan(self) -> list[NDArray[np.int64]]:
        """All batches of the run, which depend on the seed alone: a resumed run goes on in them."""
        chance = np.random.default_rng(self.config.seed)
        batches: list[NDArray[np.int64]] = []
        early = math.ceil(self.config.early_epochs)
        for epoch in range(early + self.config.epochs):
            share = min(1.0, self.config.early_epochs - epoch) if epoch < early else 1.0
            rows = self._chosen(chance, everything=epoch < early)
            rows = rows[: int(len(rows) * share)]
            batches += self._cut(chance, rows)
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

    def _cut(self, chance: np.random.Generator, rows: NDArray[np.int64]) -> list[NDArray[np.int64]]:
        """Batches of examples of similar length."""
        size, stretch = self.config.batch, self.config.batch * 20
        batches = []
        for start in range(0, len(rows), stretch):
            some = rows[start : start + stretch]
            some = some[np.argsort(self.examples.lengths[some, 2], kind="stable")]
            batches += [some[i : i + size] for i in range(0, len(some), size)]
        chance.shuffle(batches)
        return batches

    def run(self, steps: int) -> float:
        """Take so many steps, or as many as are left; the mean loss."""
        self.network.train()
        taken = []
        rows = []
        for chosen in self.plan[self.step : self.step + steps]:
            self._set_rates()
            batch = self.examples.batch(chosen)
            taught = self._taught(chosen)
            self._hide(batch)
            with _autocast(self.device):
                parts = losses(self.network, batch, self.config.aligned, taught)
            share = self.config.imitate if self.teachers else 0.0
            loss = (1 - share) * parts[0] + share * parts[-1]
            self.optimizer.zero_grad()
            torch.autograd.backward(loss)
            nn.utils.clip_grad_norm_(self.network.parameters(), 1.0)
            self.optimizer.step()
            self.average.update(self.network.state_dict())
            taken.append(loss.detach())
            rows.append(self.step)
        self._log(rows, taken)
        return float(torch.stack(taken).mean())

    @property
    def done(self) -> bool:
        """Whether all steps are taken."""
        return self.step >= len(self.plan)

    def _taught(self, rows: NDArray[np.int64]) -> Tensor | None:
        """What the teachers say of these examples on average, as probabilities."""
        if not self.teachers:
            return None
        if not self.said:
            self._ask_teachers()
        _, words, actions = self.examples.lengths[rows].max(0)
        taught = torch.zeros(len(rows), actions, COPY + words, device=self.device)
        for place, row in enumerate(rows):
            said = self.said[row]
            taught[place, : said.shape[0], : said.shape[1]] = said
        return taught

    @torch.no_grad()
    def _ask_teachers(self) -> None:
        """Hear the teachers once on every example; half precision is exact enough."""
        lengths = self.examples.lengths
        said: list[Tensor | None] = [None] * len(lengths)
        order = np.argsort(lengths[:, 2], kind="stable")
        for start in range(0, len(order), 2 * self.config.batch):
            rows = order[start : start + 2 * self.config.batch]
            batch = self.examples.batch(rows)
            with _autocast(self.device):
                heard = [network_logs(teacher, batch).exp() for teacher in self.teachers]
            mean = torch.stack(heard).mean(0).half()
            for place, row in enumerate(rows):
                _, words, actions = lengths[row]
                said[row] = mean[place, :actions, : COPY + words].clone()
        self.said = [each for each in said if each is not None]

    def _hide(self, batch: PointerBatch) -> None:
        """Make some word pieces unknown, so that the model leans on structure, not on words."""
        pieces = batch.fields["pieces"]
        chance = torch.rand(pieces.shape, device=pieces.device)
        hidden = (chance < self.config.hidden_pieces) & (pieces >= FIRST_REAL)
        batch.fields["pieces"] = torch.where(hidden, UNKNOWN, pieces)

    def _set_rates(self) -> None:
        self.step += 1
        factor = min(1.0, self.step / self.config.warmup_steps) * max(
            0.01, 1 - self.step / len(self.plan)
        )
        for group, rate in zip(self.optimizer.param_groups, self.rates, strict=True):
            group["lr"] = rate * factor

    def _log(self, rows: list[int], taken: list[Tensor]) -> None:
        path = self.output / "log.csv"
        new = not path.exists()
        with path.open("a", newline="", encoding="utf-8") as stream:
            writer = csv.writer(stream)
            if new:
                writer.writerow(["step", "loss"])
            writer.writerows(zip(rows, (f"{loss:.4f}" for loss in taken), strict=True))

    def averaged(self) -> PointerNetwork:
        """The network with averaged weights."""
        network = PointerNetwork(Encoder(self.network.encoder.size), self.network.sizes)
        network.load_state_dict(self.average.state)
        return network.to(self.device).eval()

    def save(self, held_out: float) -> None:
        """Write what :meth:`load` resumes from, and the averaged network if none was better on
        the held-out examples."""
        if held_out < self.best:
            self.best = held_out
            save_network(self.averaged(), self.output / "pointer.pt")
        torch.save(
            {
                "network": self.network.state_dict(),
                "average": self.average.state,
                "average_steps": self.average.steps,
                "optimizer": self.optimizer.state_dict(),
                "step": self.step,
                "best": self.best,
            },
            self.output / "last.pt",
        )

    def load(self) -> None:
        """Go on from what :meth:`save` wrote."""
        state = torch.load(self.output / "last.pt", map_location=self.device, weights_only=True)
        self.network.load_state_dict(state["network"])
        self.average.state = state["average"]
        self.average.steps = state["average_steps"]
        self.optimizer.load_state_dict(state["optimizer"])
        self.step, self.best = state["step"], state["best"]


def train(trainer: PointerTrainer, dev: Sequence[PointerExample], *, report_every: int) -> None:
    """Run to the end; every so many steps report the loss on held-out rewrites, and save."""
    held_out = ExampleSet(dev, trainer.device)
    started = time.monotonic()
    while not trainer.done:
        loss = trainer.run(report_every)
        sums = spelling_loss(trainer.averaged(), held_out)
        log.info(
            "step %d of %d: loss %.4f, held out %.4f a step, %.2f a rewrite, %.0f s",
            trainer.step,
            len(trainer.plan),
            loss,
            sums[:, 0].sum() / sums[:, 1].sum(),
            sums[:, 0].mean(),
            time.monotonic() - started,
        )
        trainer.save(float(sums[:, 0].mean()))


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
        with _autocast(self.device):
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
        with _autocast(self.device):
            scores, ends = self.network(memory.memory, state, starts)
        logs = scores.float().log_softmax(-1).cpu().numpy()
        return logs, torch.stack(ends, 2).float().cpu().numpy()


def save_network(network: PointerNetwork, path: Path) -> None:
    """Write everything that :func:`load_network` needs, with the weights in half precision."""
    torch.save(
        {
            "weights": {k: v.half().cpu() for k, v in network.state_dict().items()},
            "sizes": asdict(network.sizes),
            "encoder": asdict(network.encoder.size),
        },
        path,
    )


def load_network(path: Path) -> PointerNetwork:
    """Load what :func:`save_network` wrote."""
    stored: dict[str, Any] = torch.load(path, map_location="cpu", weights_only=True)
    encoder = Encoder(EncoderSize(**stored["encoder"]))
    network = PointerNetwork(encoder, PointerSizes(**stored["sizes"]))
    network.load_state_dict({k: v.float() for k, v in stored["weights"].items()})
    return network.eval()
