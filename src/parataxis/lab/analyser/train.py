"""Training the analyser: all tasks at once on UD (EWT and GUM) and PropBank (EWT).

The output folder receives ``analyser.pt``: the averaged weights, the labels and the head sizes.
"""

import logging
import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from parataxis.evaluate.corpora.treebanks import GoldSentence
from parataxis.lab.analyser.data import (
    IGNORED,
    TreeBatch,
    TreeExample,
    build_labels,
    gold_sentences,
    make_examples,
    read_silver,
)
from parataxis.lab.analyser.evaluate import Accuracy, evaluate
from parataxis.lab.analyser.model import AnalyserGraph, AnalyserNetwork, HeadSizes
from parataxis.lab.encoder import Encoder, EncoderSize, load_encoder
from parataxis.lab.training import (
    Evaluation,
    TorchModel,
    Trainer,
    check_run_folder,
    choose_device,
    linear_decay,
    load_weights,
    read_settings,
    save_weights,
    similar_length_batches,
    two_rate_optimizer,
)
from parataxis.syntax.analyser import Analyser
from parataxis.syntax.decoding import Labels

log = logging.getLogger(__name__)

CONFIG = Path(__file__).with_name("config.toml")
WEIGHTS = "analyser.pt"
BUCKET = 20
"""Batches of similar length are cut from stretches of this many batches."""
TASKS = ("arcs", "deprels", "upos", "xpos", "feats", "predicates", "roles")


@dataclass(frozen=True)
class AnalyserConfig:
    """The settings of ``config.toml``."""

    seed: int
    epochs: int
    stop_after: int
    gold_copies: int
    batch_sentences: int
    warmup_steps: int
    encoder_rate: float
    head_rate: float
    weight_decay: float
    encoder_dropout: float
    average_decay: float
    evaluate_every: int
    heads: HeadSizes
    loss: dict[str, float]


def read_config(path: Path, changes: Mapping[str, str] | None = None) -> AnalyserConfig:
    """Read a configuration; ``changes`` override single settings ("epochs", "heads.roles")."""
    settings = read_settings(path, changes)
    return AnalyserConfig(**{**settings, "heads": HeadSizes(**settings["heads"])})


def torch_analyser(network: AnalyserNetwork, labels: Labels, device: torch.device) -> Analyser:
    """An analyser that runs the network in torch."""
    return Analyser(TorchModel(AnalyserGraph(network), AnalyserGraph.OUTPUTS, device), labels)


def train(
    data: Path,
    encoder: Path,
    output: Path,
    config: AnalyserConfig,
    *,
    resume: bool = False,
    limit: int | None = None,
    silver: Path | None = None,
) -> Path:
    """Train on the treebanks and return the path of the weights.

    ``silver`` adds sentences that a teacher has labelled; ``limit`` keeps only that many
    training sentences, for a trial run; ``resume`` continues after the last epoch.
    """
    check_run_folder(output, resume=resume)
    device = choose_device()
    torch.manual_seed(config.seed)
    gold = [s for bank in ("ewt", "gum") for s in gold_sentences(data, bank, "train")][:limit]
    dev = list(gold_sentences(data, "ewt", "dev"))[: limit and limit // 4]
    labels = build_labels(gold)
    more = list(read_silver(silver))[:limit] if silver else []
    examples = make_examples(gold * config.gold_copies + more, labels)
    log.info("%d gold and %d silver sentences", len(gold), len(more))
    pretrained = load_encoder(encoder, config.encoder_dropout)
    network = AnalyserNetwork(pretrained, labels, config.heads).to(device)
    trainer = AnalyserTrainer(network, labels, config, examples, dev, device, output)
    if resume:
        trainer.load()
    else:
        trainer.start()
    trainer.run()
    return output / WEIGHTS


class AnalyserTrainer(Trainer[AnalyserNetwork, NDArray[np.int64]]):
    """A run on treebank sentences; it keeps the averaged weights of its last epoch."""

    log_fields = TASKS
    score_fields = Accuracy.NAMES
    free_settings = ("stop_after", "evaluate_every")

    def __init__(
        self,
        network: AnalyserNetwork,
        labels: Labels,
        config: AnalyserConfig,
        examples: Sequence[TreeExample],
        dev: Sequence[GoldSentence],
        device: torch.device,
        output: Path,
    ) -> None:
        pretrained = [*network.encoder.parameters(), *network.role_layers.parameters()]
        decay = config.weight_decay
        optimizer = two_rate_optimizer(network, pretrained, device, weight_decay=decay)
        average = config.average_decay
        super().__init__(network, optimizer, config, device, output, average_decay=average)
        self.labels, self.examples, self.dev = labels, examples, dev
        self.lengths = np.array([len(example) for example in examples])
        self.steps = config.epochs * -(-len(examples) // config.batch_sentences)

    @property
    def is_over(self) -> bool:
        return self.epoch >= int(self.config.stop_after)

    def batches(self) -> list[NDArray[np.int64]]:
        chance = random.Random(self.config.seed * 1000 + self.epoch)
        order = list(range(len(self.examples)))
        chance.shuffle(order)
        size = self.config.batch_sentences
        batches = similar_length_batches(np.array(order), self.lengths, size, BUCKET)
        chance.shuffle(batches)
        return batches

    def rates(self) -> list[float]:
        factor = linear_decay(self.step, self.config.warmup_steps, self.steps)
        return [self.config.encoder_rate * factor, self.config.head_rate * factor]

    def loss(self, batch: NDArray[np.int64]) -> tuple[Tensor, Mapping[str, Tensor | float]]:
        padded = TreeBatch([self.examples[row] for row in batch], self.device)
        with torch.autocast(self.device.type, dtype=torch.bfloat16):
            parts = _losses(self.network, padded)
            weighted = (self.config.loss[name] * part for name, part in parts.items())
            loss = sum(weighted, torch.zeros((), device=self.device))
        return loss, {name: part.detach() for name, part in parts.items()}

    def evaluate(self) -> Evaluation | None:
        """The accuracy of the averaged weights on EWT's development set."""
        done = self.epoch + 1
        if done % self.config.evaluate_every and done < self.config.stop_after:
            return None
        analyser = torch_analyser(self.averaged(), self.labels, self.device)
        found = evaluate(analyser, self.dev, tokens="gold", predicates="gold")
        # The last weights are always kept.
        return Evaluation((float(self.epoch),), {name: found[name] for name in Accuracy.NAMES})

    def keep(self) -> None:
        save_network(self.averaged(), self.labels, self.output / WEIGHTS)


def _losses(network: AnalyserNetwork, batch: TreeBatch) -> dict[str, Tensor]:
    vectors, earlier = network.encode(batch.pieces, batch.shapes, batch.mask, batch.first)
    scores = network.score(vectors, batch.present)

    def entropy(values: Tensor, targets: Tensor) -> Tensor:
        return nn.functional.cross_entropy(
            values.float().flatten(0, 1), targets.flatten(), ignore_index=IGNORED
        )

    labels = scores.labels
    heads = batch.targets["heads"].clamp(min=0)[:, :, None, None].expand(-1, -1, labels.shape[2], 1)
    annotated = batch.predicates >= 0
    predicates = nn.functional.binary_cross_entropy_with_logits(
        scores.predicates.float(), batch.predicates.clamp(min=0).float(), reduction="none"
    )
    roles = vectors.sum() * 0
    if len(batch.rows):
        tags = network.role_scores(earlier, batch.present, batch.rows, batch.at)
        roles = entropy(tags, batch.tags)
    targets = batch.targets
    return {
        "arcs": entropy(scores.arcs, targets["heads"]),
        "deprels": entropy(labels.gather(3, heads)[..., 0], targets["deprels"]),
        **{name: entropy(getattr(scores, name), targets[name]) for name in AnalyserGraph.TAGS},
        "predicates": (predicates * annotated).sum() / annotated.sum().clamp(min=1),
        "roles": roles,
    }


def save_network(network: AnalyserNetwork, labels: Labels, path: Path) -> None:
    """Write everything that :func:`load_network` needs."""
    size = network.encoder.size
    save_weights(network, path, labels=labels, heads=network.sizes, encoder=size)


def load_network(path: Path) -> tuple[AnalyserNetwork, Labels]:
    """Load what :func:`save_network` wrote."""
    labels: list[Labels] = []

    def build(stored: dict[str, Any]) -> AnalyserNetwork:
        labels.append(Labels(**{name: tuple(each) for name, each in stored["labels"].items()}))
        encoder = Encoder(EncoderSize(**stored["encoder"]))
        return AnalyserNetwork(encoder, labels[0], HeadSizes(**stored["heads"]))

    return load_weights(path, build).eval(), labels[0]
