"""Training: SGD whose rate is halved when an epoch brings no better score.

Writes into the output folder ``last.pt`` (to resume from), ``best.pt`` (the weights of the best
epoch), ``log.csv`` (every step) and ``scores.csv`` (every epoch). A run that was interrupted and
resumed gives the same bits as one that was not.
"""

import csv
import logging
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from parataxis.errors import InputError, ParataxisError
from parataxis.evaluate.metrics.bleu import NarayanBleu
from parataxis.evaluate.metrics.protocol import ScoredItem, score
from parataxis.lab.lstm.config import BLEU, LstmConfig
from parataxis.lab.lstm.data import LstmBatch, Pairs
from parataxis.lab.lstm.decoder import TorchLstmDecoder, autocast
from parataxis.lab.lstm.model import VERSION
from parataxis.lab.lstm.network import Network, Sizes
from parataxis.lab.lstm.search import END, MARKS, PAD, SPLIT, UNKNOWN, Vocabulary, search

log = logging.getLogger(__name__)

LAST, BEST = "last.pt", "best.pt"
LOG, SCORES = "log.csv", "scores.csv"
LOG_FIELDS = ("step", "epoch", "rate", "loss", "words")
SCORE_FIELDS = ("epoch", "step", "rate", "perplexity", "bleu", "seconds")
TELL_EVERY = 10.0
"""Seconds between two lines of progress."""
_SEARCHED = 96
"""Sources that are searched side by side while training."""
_FREE = ("epochs", "patience", "save_every")
"""Settings that may change when a run is resumed: they say only how long it goes on."""


class LstmTrainer:
    """One run: the network, where it stands, and how well it has done."""

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
        self.config, self.vocabulary, self.name = config, vocabulary, name
        self.pairs, self.validation = pairs, _Validation(validation, vocabulary, config)
        self.device, self.output = device, output
        self.network = Network(config.sizes, len(vocabulary)).to(device)
        self.rate = config.rate
        # Without momentum it keeps nothing between steps, and a checkpoint needs nothing of it.
        self.optimizer = torch.optim.SGD(self.network.parameters(), lr=config.rate)
        self.step = self.epoch = self.place = self.waited = 0
        self.best = (-np.inf, -np.inf)
        self._unwritten: list[tuple[int, int, float, Tensor, int]] = []
        self._started = time.monotonic()

    @property
    def is_over(self) -> bool:
        """Whether the run has come to its end."""
        config = self.config
        out_of_steps = bool(config.steps) and self.step >= config.steps
        return out_of_steps or self.epoch >= config.epochs or self.waited > config.patience

    def run(self) -> None:
        """Train to the end, or until interrupted."""
        while not self.is_over:
            self._run_epoch()
            self._close_epoch()

    def _run_epoch(self) -> None:
        # The batches depend on seed and epoch alone: a resumed run goes on in the same ones.
        chance = np.random.default_rng((self.config.seed, self.epoch))
        plan = self.pairs.batches(self.config.references, self.config.batch, chance)
        self.network.train()
        progress = _Progress(self.epoch, len(plan))
        for rows in plan[self.place :]:
            if self.config.steps and self.step >= self.config.steps:
                break
            self._take(self.pairs.batch(rows))
            self.place += 1
            if progress.is_due():
                progress.tell(self.place, self._write_log())
            if self.step % self.config.save_every == 0:
                self.save()

    def _take(self, batch: LstmBatch) -> None:
        """One step of SGD on the loss of a batch: the sum over words, the mean over pairs."""
        targets = _to(batch.targets, self.device)
        with autocast(self.device, wanted=self.config.bfloat16):
            logs = self.network(
                _to(batch.source, self.device), torch.from_numpy(batch.lengths), targets
            )
        loss = -(logs * (targets != PAD)).sum()
        self.optimizer.zero_grad()
        torch.autograd.backward(loss / len(targets))
        nn.utils.clip_grad_norm_(self.network.parameters(), self.config.clip)
        self.optimizer.param_groups[0]["lr"] = self.rate
        self.optimizer.step()
        self.step += 1
        words = int((batch.targets != PAD).sum())
        self._unwritten.append((self.step, self.epoch, self.rate, loss.detach(), words))

    def _close_epoch(self) -> None:
        """Judge the epoch on the validation set, and keep the network if it is the best yet."""
        loss = self._write_log()
        found = self.validation.judge(self.network, self.device)
        with (self.output / SCORES).open("a", newline="", encoding="utf-8") as stream:
            seconds = time.monotonic() - self._started
            csv.writer(stream).writerow(
                (
                    self.epoch,
                    self.step,
                    self.rate,
                    f"{found.perplexity:.4f}",
                    "" if found.bleu is None else f"{found.bleu:.3f}",
                    f"{seconds:.1f}",
                )
            )
        is_better = found.value > self.best
        bleu = "" if found.bleu is None else f", BLEU {found.bleu:.2f}"
        log.info(
            "epoch %d, step %d: loss %.3f a word, validation perplexity %.3f%s, rate %g%s",
            *(self.epoch, self.step, loss, found.perplexity, bleu, self.rate),
            " (best)" if is_better else "",
        )
        if is_better:
            self.best, self.waited = found.value, 0
            save_trained(self._trained(), self.output / BEST)
        else:
            self.waited += 1
            if self.epoch >= self.config.steady:
                self.rate *= self.config.decay
        self.epoch, self.place = self.epoch + 1, 0
        self.save()

    def _trained(self) -> "Trained":
        return Trained(self.network, self.vocabulary, self.config.reads, self.name)

    def _write_log(self) -> float:
        """Write the steps since the last time, and return their mean loss of a word."""
        rows = self._unwritten
        losses = torch.stack([row[3] for row in rows]).tolist() if rows else []
        with (self.output / LOG).open("a", newline="", encoding="utf-8") as stream:
            writer = csv.writer(stream)
            for (step, epoch, rate, _, words), loss in zip(rows, losses, strict=True):
                writer.writerow((step, epoch, rate, f"{loss / words:.6f}", words))
        total = sum(row[4] for row in rows)
        self._unwritten = []
        return sum(losses) / total if total else float("nan")

    def start(self) -> None:
        """Make the folder of a new run."""
        self.output.mkdir(parents=True, exist_ok=True)
        for name, fields in ((LOG, LOG_FIELDS), (SCORES, SCORE_FIELDS)):
            with (self.output / name).open("w", newline="", encoding="utf-8") as stream:
                csv.writer(stream).writerow(fields)

    def save(self) -> None:
        """Write what :meth:`load` resumes from; the file is there whole or not at all."""
        self._write_log()
        is_gpu = self.device.type == "cuda"
        state = {
            "version": VERSION,
            "config": asdict(self.config),
            "words": self.vocabulary.words[len(MARKS) :],
            "network": self.network.state_dict(),
            "rate": self.rate,
            "step": self.step,
            "epoch": self.epoch,
            "place": self.place,
            "waited": self.waited,
            "best": tuple(map(float, self.best)),
            "chance": torch.get_rng_state(),
            "gpu_chance": torch.cuda.get_rng_state(self.device) if is_gpu else None,
        }
        _save(state, self.output / LAST)

    def load(self) -> None:
        """Go on from what :meth:`save` wrote."""
        state = _load(self.output / LAST)
        if state["words"] != self.vocabulary.words[len(MARKS) :]:
            raise InputError(
                f"The vocabulary of the data ({len(self.vocabulary):,} words) is not that of the "
                f"run in {self.output} ({len(state['words']) + len(MARKS):,} words); resume it "
                "with the data it was started with."
            )
        free = {name: getattr(self.config, name) for name in _FREE}
        if {**state["config"], **free} != asdict(self.config):
            raise InputError(
                f"The run in {self.output} was started with other settings; resume it with those, "
                f"of which only {', '.join(_FREE[:-1])} and {_FREE[-1]} may change."
            )
        self.network.load_state_dict(state["network"])
        for name in ("rate", "step", "epoch", "place", "waited", "best"):
            setattr(self, name, state[name])
        torch.set_rng_state(state["chance"].cpu())
        if state["gpu_chance"] is not None and self.device.type == "cuda":
            torch.cuda.set_rng_state(state["gpu_chance"].cpu(), self.device)
        # What was logged after the checkpoint is trained again.
        _cut_rows(self.output / LOG, "step", self.step)
        _cut_rows(self.output / SCORES, "epoch", self.epoch - 1)


class _Progress:
    """Says now and then how far an epoch is."""

    def __init__(self, epoch: int, steps: int) -> None:
        self.epoch, self.steps = epoch, steps
        self.told = time.monotonic()

    def is_due(self) -> bool:
        return time.monotonic() - self.told > TELL_EVERY

    def tell(self, place: int, loss: float) -> None:
        self.told = time.monotonic()
        log.info("epoch %d: %d of %d steps, loss %.3f a word", self.epoch, place, self.steps, loss)


@dataclass(frozen=True)
class _Judged:
    perplexity: float
    bleu: float | None
    value: tuple[float, float]
    """The score: larger is better; at equal BLEU, such as 0 at the start, perplexity decides."""


class _Validation:
    """The validation set, and how well a network does on it."""

    def __init__(self, pairs: Pairs, vocabulary: Vocabulary, config: LstmConfig) -> None:
        self.pairs, self.vocabulary, self.config = pairs, vocabulary, config
        self.wants_bleu = config.score == BLEU
        if self.wants_bleu:
            _ = NarayanBleu().signature  # where sacrebleu is missing, say so before training
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

    def judge(self, network: Network, device: torch.device) -> _Judged:
        """Perplexity, and BLEU where it is the score."""
        network.eval()
        perplexity = float(np.exp(min(self._loss(network, device), 50.0)))
        bleu = self._bleu(network, device) if self.wants_bleu else None
        network.train()
        return _Judged(perplexity, bleu, (0.0 if bleu is None else bleu, -perplexity))

    @torch.no_grad()
    def _loss(self, network: Network, device: torch.device) -> float:
        """The mean loss of a word."""
        order = self.rows[np.argsort(self.pairs.targets.lengths[self.rows], kind="stable")]
        losses, words = [], 0
        for start in range(0, len(order), 2 * self.config.batch):
            batch = self.pairs.batch(order[start : start + 2 * self.config.batch])
            targets = _to(batch.targets, device)
            with autocast(device, wanted=self.config.bfloat16):
                logs = network(_to(batch.source, device), torch.from_numpy(batch.lengths), targets)
            losses.append(-(logs * (targets != PAD)).sum())
            words += int((batch.targets != PAD).sum())
        return float(torch.stack(losses).sum()) / words

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
        # A word of a reference that nobody can write is right for nobody, "<unk>" included.
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
    _save(
        {
            "version": VERSION,
            "sizes": asdict(trained.network.sizes),
            "words": trained.vocabulary.words[len(MARKS) :],
            "reads": trained.reads,
            "name": trained.name,
            "network": weights,
        },
        path,
    )


def load_trained(path: Path) -> Trained:
    """Load what :func:`save_trained` wrote."""
    stored = _load(path)
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


def _save(state: dict[str, Any], path: Path) -> None:
    unfinished = path.with_suffix(".new")
    torch.save(state, unfinished)
    unfinished.replace(path)


def _load(path: Path) -> dict[str, Any]:
    if not path.is_file():
        raise InputError(f"There is no checkpoint {path}.")
    try:
        state: dict[str, Any] = torch.load(path, map_location="cpu", weights_only=True)
        version = state["version"]
    except Exception as error:  # torch names no error for a file that is not its own
        raise InputError(
            f"{path} is not a checkpoint of these models, or it is damaged."
        ) from error
    if version != VERSION:
        raise InputError(
            f"{path} is a checkpoint of version {version}, and this version of Parataxis reads "
            f"version {VERSION}; train it again."
        )
    return state


def _cut_rows(path: Path, field: str, last: int) -> None:
    """Keep the rows of a table up to a step or an epoch."""
    with path.open(newline="", encoding="utf-8") as stream:
        header, *rows = list(csv.reader(stream))
    place = header.index(field)
    with path.open("w", newline="", encoding="utf-8") as stream:
        csv.writer(stream).writerows([header, *(r for r in rows if int(r[place]) <= last)])


def _to(array: NDArray[np.int64], device: torch.device) -> Tensor:
    return torch.from_numpy(array).to(device, non_blocking=True)
