"""Training the LSTM models; ``best.pt`` in the output folder has the weights of the best epoch."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from parataxis.errors import InputError, ParataxisError
from parataxis.evaluate.metrics.bleu import NarayanBleu
from parataxis.evaluate.metrics.protocol import ScoredItem, score
from parataxis.lab.lstm.config import BLEU, LstmConfig
from parataxis.lab.lstm.data import LstmBatch, Pairs
from parataxis.lab.lstm.decoder import TorchLstmDecoder
from parataxis.lab.lstm.network import Network, Sizes
from parataxis.lab.lstm.search import END, MARKS, PAD, SPLIT, UNKNOWN, Vocabulary, search
from parataxis.lab.training import (
    Evaluation,
    Trainer,
    autocast,
    load_checkpoint,
    save_checkpoint,
)

BEST = "best.pt"
_SEARCHED = 96
"""Sources that are searched together while training."""


class LstmTrainer(Trainer[Network, NDArray[np.int64]]):
    """SGD whose learning rate is halved when an epoch brings no better score."""

    log_fields = ("epoch", "rate", "loss", "words")
    score_fields = ("perplexity", "bleu")
    free_settings = ("epochs", "patience", "save_every")

    def __init__(
        self,
        config: LstmConfig,
        vocabulary: Vocabulary,
        pairs: Pairs,
        validation: Pairs,
        device: torch.device,
        output: Path,
        name: str = "",
    ) -> None:
        torch.manual_seed(config.seed)
        network = Network(config.sizes, len(vocabulary)).to(device)
        optimizer = torch.optim.SGD(network.parameters(), lr=config.rate)
        super().__init__(network, optimizer, config, device, output)
        self.vocabulary, self.pairs, self.name = vocabulary, pairs, name
        self.validation = _Validation(validation, vocabulary, config)
        self.rate, self.clip, self.save_every = config.rate, config.clip, config.save_every

    @property
    def is_over(self) -> bool:
        """Whether the steps, the epochs or the patience are used up."""
        config: LstmConfig = self.config
        out_of_steps = bool(config.steps) and self.step >= config.steps
        return out_of_steps or self.epoch >= config.epochs or self.waited > config.patience

    def batches(self) -> list[NDArray[np.int64]]:
        """An epoch of references, those of similar length together."""
        chance = np.random.default_rng((self.config.seed, self.epoch))
        return self.pairs.batches(self.config.references, self.config.batch, chance)

    def rates(self) -> list[float]:
        """The present learning rate."""
        return [self.rate]

    def loss(self, batch: NDArray[np.int64]) -> tuple[Tensor, Mapping[str, Tensor | float]]:
        """The sum over words, the mean over pairs; the log has the mean over words."""
        loss, words = _loss(self.network, self.pairs.batch(batch), self.device, self.config)
        columns = {"epoch": self.epoch, "rate": self.rate, "words": words}
        return loss / len(batch), {**columns, "loss": loss.detach() / words}

    def evaluate(self) -> Evaluation:
        """The score on the validation set."""
        return self.validation.score(self.network, self.device)

    def adapt(self, is_better: bool) -> None:
        """Lower the learning rate after an epoch without a better score."""
        if not is_better and self.epoch >= self.config.steady:
            self.rate *= self.config.decay

    def keep(self) -> None:
        """Write the weights."""
        trained = Trained(self.network, self.vocabulary, self.config.reads, self.name)
        save_trained(trained, self.output / BEST)

    def own_state(self) -> dict[str, Any]:
        """The learning rate, and the vocabulary."""
        return {"rate": self.rate, "words": self.vocabulary.words[len(MARKS) :]}

    def load_own_state(self, state: Mapping[str, Any]) -> None:
        """Refuse another vocabulary."""
        if state["words"] != self.vocabulary.words[len(MARKS) :]:
            raise InputError(
                f"The vocabulary of the data ({len(self.vocabulary):,} words) is not that of the "
                f"run in {self.output} ({len(state['words']) + len(MARKS):,} words); resume it "
                "with the data it was started with."
            )
        self.rate = state["rate"]


def _loss(
    network: Network, batch: LstmBatch, device: torch.device, config: LstmConfig
) -> tuple[Tensor, int]:
    """The summed loss of a batch, and its number of words."""
    source, targets = (
        torch.from_numpy(each).to(device, non_blocking=True)
        for each in (batch.source, batch.targets)
    )
    with autocast(device, wanted=config.bfloat16):
        logs = network(source, torch.from_numpy(batch.lengths), targets)
    return -(logs * (targets != PAD)).sum(), int((batch.targets != PAD).sum())


class _Validation:
    """The validation set, and how well a network does on it."""

    def __init__(self, pairs: Pairs, vocabulary: Vocabulary, config: LstmConfig) -> None:
        self.pairs, self.vocabulary, self.config = pairs, vocabulary, config
        self.wants_bleu = config.score == BLEU
        if self.wants_bleu:
            _ = NarayanBleu().signature  # if sacrebleu is missing, fail before training
        chance = np.random.default_rng(config.seed)
        self.rows = np.sort(pairs.drawn(config.validation_references, chance))
        sources = np.unique(pairs.owners[self.rows])
        if config.validation_sources and len(sources) > config.validation_sources:
            sources = np.sort(chance.choice(sources, config.validation_sources, replace=False))
        self.sources = sources
        by_source: dict[int, list[int]] = {int(source): [] for source in sources}
        for row in self.rows:
            by_source.get(int(pairs.owners[row]), []).append(int(row))
        self.references = by_source

    def score(self, network: Network, device: torch.device) -> Evaluation:
        """BLEU where it is the score, else perplexity, which also decides between equal BLEU."""
        network.eval()
        perplexity = float(np.exp(min(self._loss(network, device), 50.0)))
        bleu = self._bleu(network, device) if self.wants_bleu else None
        value = (0.0 if bleu is None else bleu, -perplexity)
        return Evaluation(value, {"perplexity": perplexity, "bleu": bleu})

    @torch.no_grad()
    def _loss(self, network: Network, device: torch.device) -> float:
        """The mean loss of a word."""
        order = self.rows[np.argsort(self.pairs.targets.lengths[self.rows], kind="stable")]
        size = 2 * self.config.batch
        batches = [order[start : start + size] for start in range(0, len(order), size)]
        found = [_loss(network, self.pairs.batch(rows), device, self.config) for rows in batches]
        return float(torch.stack([loss for loss, _ in found]).sum()) / sum(n for _, n in found)

    def _bleu(self, network: Network, device: torch.device) -> float:
        """The averaged multi-reference BLEU of the rewrites, as words between spaces. Words
        outside the vocabulary are compared by their numbers, which belong to their source."""
        sources = self.sources[np.argsort(self.pairs.sources.lengths[self.sources], kind="stable")]
        decoder = TorchLstmDecoder(network, device)
        items = []
        for start in range(0, len(sources), _SEARCHED):
            some = sources[start : start + _SEARCHED]
            numbers = [self.pairs.sources[source].tolist() for source in some]
            with autocast(device, wanted=self.config.bfloat16):
                found = search(decoder, numbers, beam=self.config.beam)
            items += [
                self._item(int(source), hypotheses[0].words)
                for source, hypotheses in zip(some, found, strict=True)
            ]
        return score(NarayanBleu(), items).value

    def _item(self, source: int, words: Sequence[int]) -> ScoredItem:
        references = (self.pairs.targets[row].tolist() for row in self.references[source])
        # A reference word outside the vocabulary must not match anything, "<unk>" included.
        texts = (self._text(each, unknown="<other>") for each in references)
        return ScoredItem(str(source), (self._text(words),), tuple((text,) for text in texts))

    def _text(self, numbers: Sequence[int], unknown: str = MARKS[UNKNOWN]) -> str:
        words = self.vocabulary.words
        spelled = {UNKNOWN: unknown}
        return " ".join(
            spelled.get(number, words[number]) if number < len(words) else f"<{number}>"
            for number in numbers
            if number not in (SPLIT, END)
        )


@dataclass(frozen=True)
class Trained:
    """A trained network with its words, what it reads, and the name of its configuration."""

    network: Network
    vocabulary: Vocabulary
    reads: str
    name: str


def save_trained(trained: Trained, path: Path) -> None:
    """Write everything that :func:`load_trained` needs."""
    weights = {name: weight.cpu() for name, weight in trained.network.state_dict().items()}
    state = {
        "sizes": asdict(trained.network.sizes),
        "words": trained.vocabulary.words[len(MARKS) :],
        "reads": trained.reads,
        "name": trained.name,
        "network": weights,
    }
    save_checkpoint(state, path)


def load_trained(path: Path) -> Trained:
    """Load what :func:`save_trained` wrote."""
    stored = load_checkpoint(path)
    vocabulary = Vocabulary(stored["words"])
    network = Network(Sizes(**stored["sizes"]), len(vocabulary))
    rows = len(stored["network"]["embedding.weight"])
    if rows != len(vocabulary):
        raise ParataxisError(
            f"The network in {path} has {rows:,} words and its vocabulary {len(vocabulary):,}; "
            "train it again."
        )
    network.load_state_dict(stored["network"])
    return Trained(network.eval(), vocabulary, stored["reads"], stored["name"])
