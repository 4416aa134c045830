"""Training of the verifier on scored, written and judged rewrites.

The loss has two parts: the sums of the scores over the pieces of the candidates of a source imitate
the teacher's preferences (listwise, Cao et al. 2007), and the end of each sentence predicts whether
it is at fault and of which kind.
"""

import logging
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from parataxis.checks.verifier import FAULTS, MODEL, MORE, UNSEEN
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
from parataxis.lab.verifier.examples import (
    JUDGED,
    UNKNOWN,
    WRITTEN,
    VerifierExample,
    make_examples,
    read_training,
)
from parataxis.lab.verifier.network import (
    VerifierNetwork,
    export,
    load_graph,
    load_network,
    save_network,
)
from parataxis.syntax.onnx import shipped_folder

log = logging.getLogger(__name__)

CONFIG = Path(__file__).with_name("config.toml")
WEIGHTS = "verifier.pt"

OWN_SHARE = 0.7
"""The weight of the pointer's log-probability, when the verifier's choice is measured."""
STEP = 16
"""Examples are padded to a multiple of this many pieces."""
STRETCH = 50
"""The number of batches that are sorted by length together."""
FALSE_ALARMS = 0.04
"""The share of right sentences that may be flagged, when the faults that are found are counted."""


@dataclass(frozen=True)
class VerifierConfig:
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
    kind_share: float


@dataclass
class VerifierBatch:
    """A padded batch of examples. ``nodes`` are places in the flat scores, ``owner`` is the
    candidate of each node and ``row`` the example of each candidate with a score; ``ends`` are the
    places with a label."""

    inputs: tuple[Tensor, Tensor, Tensor, Tensor, Tensor]
    nodes: Tensor
    owner: Tensor
    row: Tensor
    scores: Tensor
    ends: Tensor
    labels: Tensor
    risks: Tensor
    more: Tensor
    weights: Tensor

    def sums(self, flat: Tensor) -> Tensor:
        """The score of each candidate."""
        zeros = torch.zeros(len(self.scores), device=flat.device)
        return zeros.index_add(0, self.owner, flat.reshape(-1)[self.nodes])


def make_batch(examples: Sequence[VerifierExample], device: torch.device) -> VerifierBatch:
    """Pad examples to one length."""
    length = -(-max(len(each.pieces) for each in examples) // STEP) * STEP
    pieces, shapes, places, end = (np.zeros((len(examples), length), np.int64) for _ in range(4))
    end += np.arange(1, length + 1)
    nodes, owner, ends = ([np.zeros(0, np.int64)] for _ in range(3))
    row: list[int] = []
    scores: list[float] = []
    for place, each in enumerate(examples):
        size, first = len(each.pieces), place * length + each.source
        pieces[place, :size] = each.pieces
        shapes[place, :size] = each.shapes
        places[place, :size] = each.places
        end[place, each.source : size] = each.end.astype(np.int64) + each.source
        ends.append(each.nodes.astype(np.int64) + first)
        for path, score in zip(each.paths, each.scores.tolist(), strict=True):
            if not math.isnan(score):
                nodes.append(path.astype(np.int64) + first)
                owner.append(np.full(len(path), len(row)))
                row.append(place)
                scores.append(score)

    def tensor(array: NDArray[np.generic]) -> Tensor:
        return torch.from_numpy(array).to(device, non_blocking=True)

    source = tensor(np.array([each.source for each in examples]))
    spot = torch.arange(length, device=device)
    sees = (spot <= spot[:, None]) & (spot[:, None] < tensor(end)[:, None, :])
    sees |= spot < source[:, None, None]
    # A source does not attend to its rewrites.
    sees &= (spot < source[:, None])[:, None] | (spot >= source[:, None])[:, :, None]
    unseen = torch.where(sees, 0.0, UNSEEN)
    return VerifierBatch(
        (tensor(pieces), tensor(shapes), tensor(places), source, unseen),
        tensor(np.concatenate(nodes)),
        tensor(np.concatenate(owner)),
        tensor(np.array(row, np.int64)),
        tensor(np.array(scores, np.float32)),
        tensor(np.concatenate(ends)),
        tensor(np.concatenate([each.labels for each in examples]).astype(np.int64)),
        tensor(np.concatenate([each.risks for each in examples])),
        tensor(np.concatenate([each.more for each in examples])),
        tensor(np.concatenate([each.weights for each in examples])),
    )


def forward(network: VerifierNetwork, batch: VerifierBatch) -> tuple[Tensor, Tensor]:
    """The scores of all pieces and the logits of faults at the labelled ends, in single
    precision."""
    *inputs, unseen = batch.inputs
    with autocast(unseen.device):
        scores, faults = network(*inputs, unseen.to(torch.bfloat16) if unseen.is_cuda else unseen)
    return scores.float(), faults.flatten(0, 1)[batch.ends].float()


def losses(
    scores: Tensor, faults: Tensor, batch: VerifierBatch, temperature: float, kind_share: float
) -> tuple[Tensor, Tensor]:
    """The loss over the candidates and the loss over the faults of sentences."""
    count = len(batch.inputs[0])
    wanted = _log_softmax(batch.scores / temperature, batch.row, count)
    gap = wanted - _log_softmax(batch.sums(scores) / temperature, batch.row, count)
    by_list = (wanted.exp() * gap).sum() / count
    cross_entropy = nn.functional.binary_cross_entropy_with_logits
    at_fault = cross_entropy(faults[:, -1], batch.risks, reduction="none")
    # Each kind has a column; what is of an unknown kind says nothing of the columns.
    kinds = nn.functional.one_hot(batch.labels.clamp(min=0), len(FAULTS) + 1)[:, 1:].float()
    by_kind = cross_entropy(faults[:, :MORE], kinds, reduction="none").sum(1)
    by_kind = by_kind * (batch.labels != UNKNOWN)
    further = cross_entropy(faults[:, MORE], batch.more.nan_to_num(), reduction="none")
    further = further * ~batch.more.isnan()
    weighted = (batch.weights * (at_fault + kind_share * by_kind + further)).sum()
    return by_list, weighted / batch.weights.sum().clamp(min=1e-6)


def _log_softmax(values: Tensor, row: Tensor, count: int) -> Tensor:
    """The log-softmax over the candidates of each example."""
    largest = torch.full((count,), -math.inf, device=values.device)
    largest = largest.scatter_reduce(0, row, values.detach(), "amax")
    shifted = values - largest[row]
    total = torch.zeros(count, device=values.device).index_add(0, row, shifted.exp())
    return shifted - total.log()[row]


class VerifierTrainer(Trainer[VerifierNetwork, NDArray[np.int64]]):
    """A training run of the verifier, with the averaged weights in ``verifier.pt``."""

    log_fields: ClassVar[Sequence[str]] = ("by_list", "by_fault")
    score_fields: ClassVar[Sequence[str]] = (
        *("judged", "made", "unsplit", "chosen"),
        *(f"found_{kind}" for kind in FAULTS),
    )

    def __init__(
        self,
        network: VerifierNetwork,
        config: VerifierConfig,
        examples: Sequence[VerifierExample],
        held_out: Sequence[VerifierExample],
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
        lengths = np.array([len(each.pieces) for each in self.examples])
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
        """The loss over the candidates and that over the faults."""
        made = make_batch([self.examples[row] for row in batch], self.device)
        found = forward(self.network, made)
        by_list, by_fault = losses(*found, made, self.config.temperature, self.config.kind_share)
        return by_list + by_fault, {"by_list": by_list.detach(), "by_fault": by_fault.detach()}

    def evaluate(self) -> Evaluation:
        """How well the averaged weights tell sentences at fault from right ones."""
        figures = held_out_figures(self.averaged(), self.held_out, self.device)
        return Evaluation(((figures["judged"] or 0) + (figures["made"] or 0),), figures)

    def keep(self) -> None:
        """Write the averaged weights."""
        save_network(self.averaged(), self.output / WEIGHTS)


@torch.no_grad()
def held_out_figures(
    network: VerifierNetwork, examples: Sequence[VerifierExample], device: torch.device
) -> dict[str, float | None]:
    """Figures on held-out examples, None where nothing is known.

    ``judged`` and ``made``: the area under the ROC curve for the sentences that raters judged, and
    for those of writers and of corruptions; ``unsplit``: that for judged sentences that should be
    split further. ``found_KIND``: the share of corruptions that are found
    with 4 % false alarms. ``chosen``: the teacher's mean log-probability of what verifier and
    pointer choose together.
    """
    risks, chosen = [], []
    for start in range(0, len(examples), 48):
        some = examples[start : start + 48]
        batch = make_batch(some, device)
        scores, faults = forward(network, batch)
        risk = faults[:, -1].sigmoid()
        further = faults[:, MORE].sigmoid()
        found = [risk, batch.labels.float(), batch.weights, further, batch.more]
        risks.append(torch.stack(found, 1).cpu().numpy())
        sums, row = batch.sums(scores).cpu().numpy(), batch.row.cpu().numpy()
        for place, each in enumerate(some):
            known = ~np.isnan(each.scores)
            total = sums[row == place] + OWN_SHARE * each.chances[known]
            if not np.isnan(total).all():
                chosen.append(float(each.scores[known][np.nanargmax(total)]))
    risk, label, weight, further, more = np.concatenate(risks).T
    made = weight == WRITTEN
    figures = {"judged": auc(risk[weight == JUDGED], label[weight == JUDGED] > 0)}
    figures |= {"made": auc(risk[made], label[made] > 0)}
    asked = (weight == JUDGED) & ~np.isnan(more)
    figures |= {"unsplit": auc(further[asked], more[asked] > 0)}
    figures["chosen"] = float(np.mean(chosen)) if chosen else None
    right = risk[made & (label == 0)]
    line = float(np.quantile(right, 1 - FALSE_ALARMS)) if len(right) else 1.0
    for number, kind in enumerate(FAULTS, start=1):
        own = risk[made & (label == number)]
        figures[f"found_{kind}"] = float(np.mean(own > line)) if len(own) else None
    return figures


def auc(risks: NDArray[np.float32], at_fault: NDArray[np.bool_]) -> float | None:
    """The area under the ROC curve, None without sentences of both kinds.

    >>> auc(np.array([0.9, 0.2, 0.4]), np.array([True, False, False]))
    1.0
    """
    faulty, right = risks[at_fault], risks[~at_fault]
    if not (len(faulty) and len(right)):
        return None
    ordered = np.sort(right)
    below = np.searchsorted(ordered, faulty, "left") + np.searchsorted(ordered, faulty, "right")
    return float(below.mean() / 2 / len(right))


def train_verifier(
    data: Sequence[Path],
    validation: Sequence[Path],
    output: Path,
    start: Path | None = None,
    config: Path = CONFIG,
    changes: Mapping[str, str] | None = None,
    *,
    resume: bool = False,
    limit: int | None = None,
) -> Path:
    """Train the verifier and export it; the exported file.

    ``data`` and ``validation`` are what :func:`read_training` takes. The network continues from
    ``start``: weights, or an int8 graph, of the verifier if none is named. No source of the
    validation is learned from.
    """
    check_run_folder(output, resume=resume)
    settings = VerifierConfig(**read_settings(config, changes))
    torch.manual_seed(settings.seed)
    begin = start or shipped_folder("verifier") / MODEL
    network = load_graph(begin, settings.layers) if begin.suffix == ".onnx" else load_network(begin)
    (sources, judged), (held, held_judged) = read_training(data), read_training(validation)
    barred = {source.complex for source in held}
    kept = [source for source in sources if source.complex not in barred][:limit]
    train, held_out = make_examples(kept, judged), make_examples(held[:limit], held_judged)
    log.info("%d examples, %d held out", len(train), len(held_out))
    trainer = VerifierTrainer(network, settings, train, held_out, choose_device(), output)
    if resume:
        trainer.load()
    else:
        trainer.start()
    trainer.run()
    export(output / WEIGHTS, output / "model" / MODEL)
    return output / "model" / MODEL
