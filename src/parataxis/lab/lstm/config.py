"""The configurations of the published models: TOML files in ``configs``, and changes to them."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from parataxis.errors import InputError
from parataxis.lab.lstm.model import SENTENCES, TRIPLES
from parataxis.lab.lstm.network import Sizes
from parataxis.lab.training import read_settings

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
    """At most so many steps; 0 for no other limit than the epochs."""
    batch: int
    references: int
    """At most so many references of each source in an epoch, drawn anew each time; 0 for all."""
    rate: float
    decay: float
    """By what the rate is multiplied after an epoch without a better score."""
    steady: int
    """Epochs, from the first on, after which the rate stays as it is whatever the score: BLEU
    jumps about as long as hardly four words in a row are right."""
    patience: int
    """After so many such epochs in a row the run ends."""
    clip: float
    """The largest norm of a gradient."""
    score: str
    """What an epoch is judged by: "bleu" or "perplexity" on the validation set."""
    beam: int
    """Of the rewrites that BLEU is computed on."""
    validation_sources: int
    """At most so many sources of the validation set are rewritten for BLEU; 0 for all."""
    validation_references: int
    """At most so many references of each are used, drawn once; 0 for all."""
    vocabulary: int
    """At most so many words, the most frequent ones."""
    least: int
    """A word that occurs with fewer sources is outside the vocabulary."""
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
            f"{path.name} has not the settings of this version; start from a configuration that "
            "comes with it."
        ) from error
