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
