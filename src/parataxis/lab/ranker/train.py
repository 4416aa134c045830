"""Training of the ranker on scored examples.

The loss has two parts: each word piece imitates the teacher's log-probability of its word, and the
sums over the candidates of a source imitate the teacher's preferences (listwise, Cao et al. 2007).
"""

import logging
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import ClassVar

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from parataxis.checks.ranker import UNSEEN
from parataxis.errors import InputError
from parataxis.lab.encoder import load_encoder
from parataxis.lab.ranker.candidates import FOUND, WHOLE
from parataxis.lab.ranker.examples import RankerExample, load_examples
from parataxis.lab.ranker.network import RankerNetwork, analyser_encoder, export, save_network
from parataxis.lab.training import (
    Evaluation,
    Trainer,
    autocast,
    check_run_folder,
    choose_device,
    linear_decay,
    read_settings,
    similar_length_batches,
    two_rate_optimizer,
)
from parataxis.splitters.pointer.choose import OWN_SHARE
from parataxis.syntax.analyser import TREES
from parataxis.syntax.onnx import SHIPPED

log = logging.getLogger(__name__)

CONFIG = Path(__file__).with_name("config.toml")
WEIGHTS = "ranker.pt"

STEP = 16
"""Examples are padded to a multiple of this many pieces."""
STRETCH = 50
"""The number of batches that are sorted by length together."""


@dataclass(frozen=True)
class RankerConfig:
    """The settings in ``config.toml``."""

    seed: int
    layers: int
    epochs: int
    batch: int
    rate: float
    head_rate: float
    warmup_steps: int
    weight_decay: float
    average_decay: float
    temperature: float
    word_share: float
    least: float


@dataclass
class RankerBatch:
    """A padded batch of examples; ``nodes`` are places in the flat scores, ``owner`` is the
    candidate of each node, ``row`` the example of each candidate."""

    pieces: Tensor
    shapes: Tensor
    places: Tensor
    source: Tensor
    unseen: Tensor
    targets: Tensor
    nodes: Tensor
    owner: Tensor
    row: Tensor
    scores: Tensor

    def sums(self, flat: Tensor) -> Tensor:
        """The score of each candidate."""
        zeros = torch.zeros(len(self.scores), device=flat.device)
        return zeros.index_add(0, self.owner, flat.reshape(-1)[self.nodes])


def make_batch(
    examples: Sequence[RankerExample], device: torch.device, least: float = -10.0
) -> RankerBatch:
    """Pad examples to one length."""
    length = -(-max(len(each.reading.pieces) for each in examples) // STEP) * STEP
    count = len(examples)
    pieces, shapes, places, end = (np.zeros((count, length), np.int64) for _ in range(4))
    end += np.arange(1, length + 1)
    targets = np.full((count, length), np.nan, np.float32)
    source = np.zeros(count, np.int64)
    nodes: list[NDArray[np.int64]] = []
    owner: list[NDArray[np.int64]] = []
    row: list[int] = []
    scores: list[float] = []
    for place, each in enumerate(examples):
        reading, size, first = each.reading, len(each.reading.pieces), each.reading.source
        pieces[place, :size] = reading.pieces
        shapes[place, :size] = reading.shapes
        places[place, :size] = reading.places
        end[place, first:size] = reading.tree.end.astype(np.int64) + first
        source[place] = first
        if each.targets is not None:
            targets[place, first:size] = np.maximum(each.targets, least)
        for path in reading.tree.paths:
            nodes.append(path.astype(np.int64) + (place * length + first))
            owner.append(np.full(len(path), len(row)))
            row.append(place)
        scores += [0.0] * len(reading.tree.paths) if each.scores is None else each.scores.tolist()

    def tensor(array: NDArray[np.int64] | NDArray[np.float32]) -> Tensor:
        return torch.from_numpy(array).to(device, non_blocking=True)

    of_source = tensor(source)
    spot = torch.arange(length, device=device)
    sees = (spot <= spot[:, None]) & (spot[:, None] < tensor(end)[:, None, :])
    sees |= spot < of_source[:, None, None]
    # A source does not attend to its rewrites.
    sees &= (spot < of_source[:, None])[:, None] | (spot >= of_source[:, None])[:, :, None]
    unseen = torch.where(sees, 0.0, UNSEEN)
    return RankerBatch(
        tensor(pieces),
        tensor(shapes),
        tensor(places),
        of_source,
        unseen,
        tensor(targets),
        tensor(np.concatenate(nodes)),
        tensor(np.concatenate(owner)),
        tensor(np.array(row)),
        tensor(np.array(scores, np.float32)),
    )


def forward(network: RankerNetwork, batch: RankerBatch) -> Tensor:
    """The scores of all pieces, in single precision."""
    with autocast(batch.pieces.device):
        unseen = batch.unseen.to(torch.bfloat16) if batch.pieces.is_cuda else batch.unseen
        found = network(batch.pieces, batch.shapes, batch.places, batch.source, unseen)
    return found.float()  # type: ignore[no-any-return]


def losses(found: Tensor, batch: RankerBatch, temperature: float) -> tuple[Tensor, Tensor]:
    """The loss over the candidates and the loss over the words."""
    wanted = ~batch.targets.isnan()
    by_word = nn.functional.smooth_l1_loss(found[wanted], batch.targets[wanted])
    own = batch.sums(found) / temperature
    teacher = batch.scores / temperature
    count = int(batch.source.shape[0])
    wanted_logs = _log_softmax(teacher, batch.row, count)
    gap = wanted_logs - _log_softmax(own, batch.row, count)
    return (wanted_logs.exp() * gap).sum() / count, by_word


def _log_softmax(values: Tensor, row: Tensor, count: int) -> Tensor:
    """The log-softmax over the candidates of each example."""
    largest = torch.full((count,), -math.inf, device=values.device)
    largest = largest.scatter_reduce(0, row, values.detach(), "amax")
    shifted = values - largest[row]
    total = torch.zeros(count, device=values.device).index_add(0, row, shifted.exp())
    return shifted - total.log()[row]


class RankerTrainer(Trainer[RankerNetwork, NDArray[np.int64]]):
    """A training run of the ranker, with the averaged weights in ``ranker.pt``."""

    log_fields: ClassVar[Sequence[str]] = ("by_list", "by_word")
    score_fields: ClassVar[Sequence[str]] = ("teacher", "pointer", "ranker", "both", "agreed")

    def __init__(
        self,
        network: RankerNetwork,
        config: RankerConfig,
        examples: Sequence[RankerExample],
        held_out: Sequence[RankerExample],
        device: torch.device,
        output: Path,
    ) -> None:
        network.to(device)
        optimizer = two_rate_optimizer(
            network, network.encoder.parameters(), device, weight_decay=config.weight_decay
        )
        average = config.average_decay
        super().__init__(network, optimizer, config, device, output, average_decay=average)
        self.examples, self.held_out = examples, held_out
        self.plan = [self._batches(epoch) for epoch in range(config.epochs)]
        self.total = sum(map(len, self.plan))

    @property
    def is_over(self) -> bool:
        """Whether all epochs are done."""
        return self.epoch >= self.config.epochs

    def batches(self) -> Sequence[NDArray[np.int64]]:
        """The batches of the epoch."""
        return self.plan[self.epoch]

    def _batches(self, epoch: int) -> list[NDArray[np.int64]]:
        """Batches of examples of similar length, in random order; long ones make small batches."""
        chance = np.random.default_rng([self.config.seed, epoch])
        lengths = np.array([len(each.reading.pieces) for each in self.examples])
        rows = chance.permutation(len(lengths))
        most = 1.5 * float(lengths.mean()) * self.config.batch
        batches: list[NDArray[np.int64]] = []
        for batch in similar_length_batches(rows, lengths, self.config.batch, STRETCH):
            count = math.ceil(len(batch) * lengths[batch].max() / most)
            batches += np.array_split(batch, min(count, len(batch)))
        chance.shuffle(batches)  # type: ignore[arg-type]
        return batches

    def rates(self) -> list[float]:
        """A linear decay after a warm-up."""
        factor = linear_decay(self.step, self.config.warmup_steps, self.total)
        return [self.config.rate * factor, self.config.head_rate * factor]

    def loss(self, batch: NDArray[np.int64]) -> tuple[Tensor, Mapping[str, Tensor | float]]:
        """The loss over the candidates and the weighted loss over the words."""
        some = [self.examples[row] for row in batch]
        made = make_batch(some, self.device, self.config.least)
        by_list, by_word = losses(forward(self.network, made), made, self.config.temperature)
        columns = {"by_list": by_list.detach(), "by_word": by_word.detach()}
        return by_list + self.config.word_share * by_word, columns

    def evaluate(self) -> Evaluation:
        """The teacher's log-probability of what the averaged weights choose."""
        figures = choice_figures(self.averaged(), self.held_out, self.device)
        return Evaluation((figures["both"], figures["ranker"]), figures)

    def keep(self) -> None:
        """Write the averaged weights."""
        save_network(self.averaged(), self.output / WEIGHTS)


@torch.no_grad()
def candidate_scores(
    network: RankerNetwork, examples: Sequence[RankerExample], device: torch.device
) -> list[NDArray[np.float32]]:
    """The ranker's score of each candidate of each example."""
    order = sorted(range(len(examples)), key=lambda i: len(examples[i].reading.pieces))
    found: dict[int, NDArray[np.float32]] = {}
    for start in range(0, len(order), 64):
        rows = order[start : start + 64]
        batch = make_batch([examples[row] for row in rows], device)
        sums = batch.sums(forward(network, batch)).cpu().numpy()
        owner = batch.row.cpu().numpy()
        found |= {row: sums[owner == place] for place, row in enumerate(rows)}
    return [found[place] for place in range(len(examples))]


def choice_figures(
    network: RankerNetwork, examples: Sequence[RankerExample], device: torch.device
) -> dict[str, float]:
    """The teacher's mean log-probability of the candidate that is chosen by the teacher itself, by
    the pointer, by the ranker, and by ranker and pointer together; and the share of sources for
    which the ranker agrees with the teacher. Only what the pointer found can be chosen."""
    chosen: dict[str, list[float]] = {}
    for example, own in zip(examples, candidate_scores(network, examples, device), strict=True):
        places = [
            place
            for place, candidate in enumerate(example.source.candidates)
            if candidate.kind in (FOUND, WHOLE)
        ]
        teacher, ranker = np.asarray(example.scores)[places], own[places]
        chances = [example.source.candidates[place].log_chance for place in places]
        pointer = np.array([-20.0 if chance is None else chance for chance in chances])
        scores = {"teacher": teacher, "pointer": pointer, "ranker": ranker}
        scores["both"] = ranker + OWN_SHARE * pointer
        for name, values in scores.items():
            chosen.setdefault(name, []).append(float(teacher[int(np.argmax(values))]))
        agreed = int(np.argmax(ranker)) == int(np.argmax(teacher))
        chosen.setdefault("agreed", []).append(float(agreed))
    return {name: float(np.mean(values)) for name, values in chosen.items()}


def train_ranker(
    examples: Sequence[Path],
    held_out: Sequence[Path],
    output: Path,
    encoder: Path | None = None,
    config: Path = CONFIG,
    changes: Mapping[str, str] | None = None,
    *,
    resume: bool = False,
    limit: int | None = None,
) -> Path:
    """Train the ranker on folders of scored candidates, and export it; the exported file.

    The encoder starts from the shipped analyser, or from the folder of a pretrained model.
    """
    check_run_folder(output, resume=resume)
    settings = RankerConfig(**read_settings(config, changes))
    torch.manual_seed(settings.seed)
    if encoder is None:
        start = analyser_encoder(SHIPPED / TREES, settings.layers)
    else:
        start = load_encoder(encoder)
        start.layers = start.layers[: settings.layers]
        start.size = replace(start.size, layers=settings.layers)
    train, held = (_scored(folders)[:limit] for folders in (examples, held_out))
    log.info("%d examples, %d held out", len(train), len(held))
    trainer = RankerTrainer(RankerNetwork(start), settings, train, held, choose_device(), output)
    if resume:
        trainer.load()
    else:
        trainer.start()
    trainer.run()
    export(output / WEIGHTS, output / "model" / "ranker.onnx")
    return output / "model" / "ranker.onnx"


def _scored(folders: Sequence[Path]) -> list[RankerExample]:
    paths = [path for folder in folders for path in sorted(folder.glob("*.scored"))]
    if not paths:
        named = ", ".join(map(str, folders))
        raise InputError(f"There are no scored candidates in {named}; run --only score first.")
    return load_examples(paths)
