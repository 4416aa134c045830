"""Training the LSTM models: their configurations (TOML files in ``configs``), and the run, whose
folder receives ``best.pt``, the weights of the best epoch."""

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
from parataxis.lab.lstm.data import LstmBatch, Pairs
from parataxis.lab.lstm.network import Network, Sizes, torch_decoder
from parataxis.lab.lstm.search import END, MARKS, PAD, SPLIT, UNKNOWN, Vocabulary, search
from parataxis.lab.lstm.splitter import SENTENCES, TRIPLES
from parataxis.lab.training import (
    Evaluation,
    Trainer,
    autocast,
    load_checkpoint,
    read_settings,
    save_checkpoint,
    similar_length_batches,
)

BLEU, PERPLEXITY = "bleu", "perplexity"


CONFIGS = Path(__file__).with_name("configs")


@dataclass(frozen=True)
class LstmConfig:
    """The settings of a TOML file in ``configs``."""

    seed: int
    reads: str
    """"sentences", or "triples" for a model that turns triples into a sentence."""
    epochs: int
    steps: int
    """The most steps; 0 for no limit."""
    batch: int
    references: int
    """The most references of each source in an epoch, sampled anew each time; 0 for all."""
    rate: float
    decay: float
    """The factor of the learning rate after an epoch without a better score."""
    steady: int
    """The first epochs, in which the learning rate is not lowered: BLEU is unstable while hardly
    any four words in a row are right."""
    patience: int
    """The run ends after more than this many epochs in a row without a better score."""
    clip: float
    """The largest norm of a gradient."""
    score: str
    """The score of an epoch: "bleu" or "perplexity" on the validation set."""
    beam: int
    """The beam width of the rewrites that BLEU is computed on."""
    validation_sources: int
    """The most sources of the validation set that are rewritten for BLEU; 0 for all."""
    validation_references: int
    """The most references of each, sampled once; 0 for all."""
    vocabulary: int
    """The size of the vocabulary: the most frequent words."""
    least: int
    """A word that occurs with fewer sources is left out of the vocabulary."""
    longest: int
    """Pairs with more words on one side are left out."""
    save_every: int
    """Steps between checkpoints, besides that after each epoch."""
    bfloat16: bool
    """Whether a GPU computes in bfloat16; weights and losses are in single precision always."""
    sizes: Sizes

    def __post_init__(self) -> None:
        if self.score not in (BLEU, PERPLEXITY):
            raise InputError(f'The score must be "bleu" or "perplexity", not "{self.score}".')
        if self.reads not in (SENTENCES, TRIPLES):
            raise InputError(f'A model reads "sentences" or "triples", not "{self.reads}".')
        if min(self.batch, self.epochs, self.save_every, self.vocabulary) < 1:
            raise InputError("Batch, epochs, save_every and vocabulary must be at least 1.")


def configurations() -> list[str]:
    """The names of the configurations that come with Parataxis.

    >>> "copy-512" in configurations()
    True
    """
    return sorted(path.stem for path in CONFIGS.glob("*.toml"))


def find_config(name: str) -> Path:
    """The file of a configuration: one of ours by its name, or any TOML file by its path."""
    own = CONFIGS / f"{name}.toml"
    if name in configurations():
        return own
    path = Path(name)
    if path.suffix == ".toml" and path.is_file():
        return path
    known = ", ".join(configurations())
    raise InputError(f'There is no configuration "{name}"; take {known}, or a TOML file.')


def read_config(path: Path, changes: Mapping[str, str] | None = None) -> LstmConfig:
    """Read a configuration; ``changes`` override single settings ("epochs", "sizes.width")."""
    settings = read_settings(path, changes)
    try:
        return LstmConfig(**{**settings, "sizes": Sizes(**settings["sizes"])})
    except (TypeError, KeyError) as error:
        raise InputError(
            f"{path.name} does not have the settings of this version; start from a configuration "
            "that comes with it."
        ) from error


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
        self.vocabulary, self.pairs, self.held_out = vocabulary, pairs, validation
        self.name, self.rate = name, config.rate
        self.clip, self.save_every = config.clip, config.save_every
        if config.score == BLEU:
            _ = NarayanBleu().signature  # if sacrebleu is missing, fail before training
        chance = np.random.default_rng(config.seed)
        self.held_rows = np.sort(validation.drawn(config.validation_references, chance))
        sources = np.unique(validation.owners[self.held_rows])
        if config.validation_sources and len(sources) > config.validation_sources:
            sources = np.sort(chance.choice(sources, config.validation_sources, replace=False))
        self.held_sources = sources
        self.references: dict[int, list[int]] = {int(source): [] for source in sources}
        """The references of each source that is rewritten for BLEU."""
        for row in self.held_rows:
            self.references.get(int(validation.owners[row]), []).append(int(row))

    @property
    def is_over(self) -> bool:
        config: LstmConfig = self.config
        out_of_steps = bool(config.steps) and self.step >= config.steps
        return out_of_steps or self.epoch >= config.epochs or self.waited > config.patience

    def batches(self) -> list[NDArray[np.int64]]:
        chance = np.random.default_rng((self.config.seed, self.epoch))
        return self.pairs.batches(self.config.references, self.config.batch, chance)

    def rates(self) -> list[float]:
        return [self.rate]

    def loss(self, batch: NDArray[np.int64]) -> tuple[Tensor, Mapping[str, Tensor | float]]:
        """The sum over words, the mean over pairs; the log has the mean over words."""
        loss, words = self._loss(self.pairs.batch(batch))
        columns = {"epoch": self.epoch, "rate": self.rate, "words": words}
        return loss / len(batch), {**columns, "loss": loss.detach() / words}

    def _loss(self, batch: LstmBatch) -> tuple[Tensor, int]:
        """The summed loss of a batch, and its number of words."""
        source, targets = (
            torch.from_numpy(each).to(self.device, non_blocking=True)
            for each in (batch.source, batch.targets)
        )
        with autocast(self.device, wanted=self.config.bfloat16):
            logs = self.network(source, torch.from_numpy(batch.lengths), targets)
        return -(logs * (targets != PAD)).sum(), int((batch.targets != PAD).sum())

    @torch.no_grad()
    def evaluate(self) -> Evaluation:
        """BLEU where it is the score, else perplexity, which also decides between equal BLEU."""
        self.network.eval()
        rows, lengths = self.held_rows, self.held_out.target_lengths
        batches = similar_length_batches(rows, lengths, 2 * self.config.batch, len(rows))
        found = [self._loss(self.held_out.batch(batch)) for batch in batches]
        loss = float(torch.stack([loss for loss, _ in found]).sum()) / sum(n for _, n in found)
        perplexity = float(np.exp(min(loss, 50.0)))
        bleu = self._bleu() if self.config.score == BLEU else None
        value = (0.0 if bleu is None else bleu, -perplexity)
        return Evaluation(value, {"perplexity": perplexity, "bleu": bleu})

    def _bleu(self) -> float:
        """The averaged multi-reference BLEU of the rewrites, as words between spaces. Words
        outside the vocabulary are compared by their numbers, which belong to their source."""
        held, sources = self.held_out, self.held_sources
        decoder = torch_decoder(self.network, self.device)
        items = []
        for some in similar_length_batches(sources, held.source_lengths, _SEARCHED, len(sources)):
            with autocast(self.device, wanted=self.config.bfloat16):
                found = search(decoder, [held.sources[n] for n in some], beam=self.config.beam)
            for source, hypotheses in zip(some, found, strict=True):
                # A reference word outside the vocabulary must not match anything, "<unk>" included.
                references = tuple(
                    (self._text(held.targets[row], unknown="<other>"),)
                    for row in self.references[int(source)]
                )
                text = self._text(hypotheses[0].words)
                items.append(ScoredItem(str(source), (text,), references))
        return score(NarayanBleu(), items).value

    def _text(self, numbers: Sequence[int], unknown: str = MARKS[UNKNOWN]) -> str:
        words = self.vocabulary.words
        spelled = {UNKNOWN: unknown}
        return " ".join(
            spelled.get(number, words[number]) if number < len(words) else f"<{number}>"
            for number in numbers
            if number not in (SPLIT, END)
        )

    def adapt(self, is_better: bool) -> None:
        if not is_better and self.epoch >= self.config.steady:
            self.rate *= self.config.decay

    def keep(self) -> None:
        trained = Trained(self.network, self.vocabulary, self.config.reads, self.name)
        save_trained(trained, self.output / BEST)

    def own_state(self) -> dict[str, Any]:
        return {"rate": self.rate, "words": self.vocabulary.words[len(MARKS) :]}

    def load_own_state(self, state: Mapping[str, Any]) -> None:
        if state["words"] != self.vocabulary.words[len(MARKS) :]:
            raise InputError(
                f"The vocabulary of the data ({len(self.vocabulary):,} words) is not that of the "
                f"run in {self.output} ({len(state['words']) + len(MARKS):,} words); resume it "
                "with the data it was started with."
            )
        self.rate = state["rate"]


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
