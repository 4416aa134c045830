"""Training the analyser: all tasks at once on UD (EWT and GUM) and PropBank (EWT).

Writes ``last.pt`` (to resume from), ``analyser.pt`` (averaged weights, labels, head sizes) and
``log.csv`` (one row a step) into the output folder.
"""

import csv
import logging
import random
import time
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import torch
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
from parataxis.lab.analyser.evaluate import evaluate
from parataxis.lab.analyser.model import AnalyserGraph, AnalyserNetwork, HeadSizes
from parataxis.lab.encoder import Encoder, EncoderSize, load_encoder
from parataxis.lab.training import Average, read_settings
from parataxis.syntax.analyser import Analyser
from parataxis.syntax.decoding import Labels
from parataxis.syntax.onnx import Arrays

log = logging.getLogger(__name__)

BUCKET = 20
"""Batches of similar length are cut from stretches of this many batches."""


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


def read_config(path: Path, changes: dict[str, str] | None = None) -> AnalyserConfig:
    """Read a configuration; ``changes`` override single settings ("epochs", "heads.roles")."""
    settings = read_settings(path, changes)
    return AnalyserConfig(**{**settings, "heads": HeadSizes(**settings["heads"])})


class TorchModel:
    """The network behind the interface of the shipped ONNX model, to evaluate while training."""

    def __init__(self, network: AnalyserNetwork, device: torch.device) -> None:
        self._graph = AnalyserGraph(network)
        self._device = device

    @torch.no_grad()
    def __call__(self, inputs: Arrays) -> Arrays:
        """Run the model once."""
        tensors = [torch.from_numpy(inputs[n]).to(self._device) for n in AnalyserGraph.INPUTS]
        outputs = self._graph(*tensors)
        return {
            name: output.float().cpu().numpy()
            if output.is_floating_point()
            else output.cpu().numpy()
            for name, output in zip(AnalyserGraph.OUTPUTS, outputs, strict=True)
        }


def train(
    data: Path,
    encoder: Path,
    output: Path,
    config: AnalyserConfig,
    *,
    resume: bool = False,
    limit: int | None = None,
    silver: Path | None = None,
) -> None:
    """Train on the treebanks, and on ``silver`` sentences that a teacher has labelled.

    ``limit`` keeps only that many training sentences (a rehearsal); ``resume`` goes on from the
    last epoch that was saved.
    """
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    random.seed(config.seed)
    torch.manual_seed(config.seed)
    gold = [s for bank in ("ewt", "gum") for s in gold_sentences(data, bank, "train")][:limit]
    dev = list(gold_sentences(data, "ewt", "dev"))[: limit and limit // 4]
    labels = build_labels(gold)
    more = list(read_silver(silver))[:limit] if silver else []
    examples = make_examples(gold * config.gold_copies + more, labels)
    log.info("%d gold and %d silver sentences", len(gold), len(more))
    network = AnalyserNetwork(
        load_encoder(encoder, config.encoder_dropout), labels, config.heads
    ).to(device)
    trainer = _Trainer(network, labels, config, examples, device, output)
    if resume:
        trainer.load()
    started = time.monotonic()
    for epoch in range(trainer.epoch, config.stop_after):
        loss = trainer.run_epoch()
        elapsed = time.monotonic() - started
        log.info("epoch %d: loss %.4f, %.0f s", epoch + 1, loss, elapsed)
        last = epoch + 1 == config.stop_after
        if last or (epoch + 1) % config.evaluate_every == 0:
            trainer.save()
            _report(trainer, dev)


def _report(trainer: "_Trainer", dev: list[GoldSentence]) -> None:
    network = trainer.averaged().eval()
    analyser = Analyser(TorchModel(network, trainer.device), trainer.labels)
    log.info("dev: %s", evaluate(analyser, dev, tokens="gold", predicates="gold"))


class _Trainer:
    def __init__(
        self,
        network: AnalyserNetwork,
        labels: Labels,
        config: AnalyserConfig,
        examples: list[TreeExample],
        device: torch.device,
        output: Path,
    ) -> None:
        self.network, self.labels, self.config = network, labels, config
        self.examples, self.device, self.output = examples, device, output
        self.epoch = self.step = 0
        self.average = Average(network.state_dict(), config.average_decay)
        inside = [*network.encoder.parameters(), *network.role_layers.parameters()]
        known = {id(p) for p in inside}
        outside = [p for p in network.parameters() if id(p) not in known]
        self.rates = [config.encoder_rate, config.head_rate]
        self.optimizer = torch.optim.AdamW(
            [{"params": inside}, {"params": outside}],
            weight_decay=config.weight_decay,
            fused=device.type == "cuda",
        )
        self.steps = config.epochs * -(-len(examples) // config.batch_sentences)
        output.mkdir(parents=True, exist_ok=True)

    def run_epoch(self) -> float:
        self.network.train()
        losses = []
        rows = []
        for chosen in self._batches():
            self._set_rates()
            batch = TreeBatch(chosen, self.device)
            with torch.autocast(self.device.type, dtype=torch.bfloat16):
                parts = _losses(self.network, batch)
                loss = sum(
                    (self.config.loss[name] * part for name, part in parts.items()),
                    torch.zeros((), device=self.device),
                )
            self.optimizer.zero_grad()
            torch.autograd.backward(loss)
            nn.utils.clip_grad_norm_(self.network.parameters(), 1.0)
            self.optimizer.step()
            self.average.update(self.network.state_dict())
            losses.append(loss.detach())
            rows.append((self.step, torch.stack([p.detach() for p in parts.values()])))
        self.epoch += 1
        self._log(rows)
        return float(torch.stack(losses).mean())

    def _batches(self) -> list[list[TreeExample]]:
        # The order depends on seed and epoch alone, so that a resumed run sees the same batches.
        chance = random.Random(self.config.seed * 1000 + self.epoch)
        order = list(self.examples)
        chance.shuffle(order)
        size = self.config.batch_sentences
        batches = []
        for start in range(0, len(order), size * BUCKET):
            stretch = sorted(order[start : start + size * BUCKET], key=len)
            batches += [stretch[i : i + size] for i in range(0, len(stretch), size)]
        chance.shuffle(batches)
        return batches

    def _set_rates(self) -> None:
        self.step += 1
        factor = min(1.0, self.step / self.config.warmup_steps) * max(
            0.01, 1 - self.step / self.steps
        )
        for group, rate in zip(self.optimizer.param_groups, self.rates, strict=True):
            group["lr"] = rate * factor

    def _log(self, rows: list[tuple[int, Tensor]]) -> None:
        path = self.output / "log.csv"
        new = not path.exists()
        with path.open("a", newline="", encoding="utf-8") as stream:
            writer = csv.writer(stream)
            if new:
                writer.writerow(["step", *self.config.loss])
            for step, values in rows:
                writer.writerow([step, *(f"{value:.4f}" for value in values.tolist())])

    def averaged(self) -> AnalyserNetwork:
        network = AnalyserNetwork(
            Encoder(self.network.encoder.size), self.labels, self.config.heads
        )
        network.load_state_dict(self.average.state)
        return network.to(self.device)

    def save(self) -> None:
        torch.save(
            {
                "network": self.network.state_dict(),
                "average": self.average.state,
                "average_steps": self.average.steps,
                "optimizer": self.optimizer.state_dict(),
                "epoch": self.epoch,
                "step": self.step,
                "random": torch.get_rng_state(),
            },
            self.output / "last.pt",
        )
        save_network(self.averaged(), self.labels, self.output / "analyser.pt")

    def load(self) -> None:
        state = torch.load(self.output / "last.pt", map_location=self.device, weights_only=True)
        self.network.load_state_dict(state["network"])
        self.average.state = state["average"]
        self.average.steps = state["average_steps"]
        self.optimizer.load_state_dict(state["optimizer"])
        self.epoch, self.step = state["epoch"], state["step"]
        torch.set_rng_state(state["random"].cpu())


def _losses(network: AnalyserNetwork, batch: TreeBatch) -> dict[str, Tensor]:
    vectors, earlier = network.encode(batch.pieces, batch.shapes, batch.mask, batch.first)
    scores = network.score(vectors, batch.present)

    def entropy(values: Tensor, targets: Tensor) -> Tensor:
        return nn.functional.cross_entropy(
            values.float().flatten(0, 1), targets.flatten(), ignore_index=IGNORED
        )

    labels = scores.labels
    heads = batch.heads.clamp(min=0)[:, :, None, None].expand(-1, -1, labels.shape[2], 1)
    annotated = batch.predicates >= 0
    predicates = nn.functional.binary_cross_entropy_with_logits(
        scores.predicates.float(), batch.predicates.clamp(min=0).float(), reduction="none"
    )
    roles = vectors.sum() * 0
    if len(batch.rows):
        tags = network.role_scores(earlier, batch.present, batch.rows, batch.at)
        roles = entropy(tags, batch.tags)
    return {
        "arcs": entropy(scores.arcs, batch.heads),
        "deprels": entropy(labels.gather(3, heads)[..., 0], batch.deprels),
        "upos": entropy(scores.upos, batch.upos),
        "xpos": entropy(scores.xpos, batch.xpos),
        "feats": entropy(scores.feats, batch.feats),
        "predicates": (predicates * annotated).sum() / annotated.sum().clamp(min=1),
        "roles": roles,
    }


def save_network(network: AnalyserNetwork, labels: Labels, path: Path) -> None:
    """Write everything that :func:`load_network` needs, with the weights in half precision."""
    torch.save(
        {
            "weights": {k: v.half().cpu() for k, v in network.state_dict().items()},
            "labels": asdict(labels),
            "heads": asdict(network.sizes),
            "encoder": asdict(network.encoder.size),
        },
        path,
    )


def load_network(path: Path) -> tuple[AnalyserNetwork, Labels]:
    """Load what :func:`save_network` wrote."""
    stored: dict[str, Any] = torch.load(path, map_location="cpu", weights_only=True)
    labels = Labels(**{name: tuple(values) for name, values in stored["labels"].items()})
    encoder = Encoder(EncoderSize(**stored["encoder"]))
    network = AnalyserNetwork(encoder, labels, HeadSizes(**stored["heads"]))
    network.load_state_dict({k: v.float() for k, v in stored["weights"].items()})
    return network.eval(), labels
