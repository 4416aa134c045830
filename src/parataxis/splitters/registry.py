"""The protocol of splitters, its optional extensions, and the registry of installed splitters."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from parataxis.errors import InputError, UnknownSplitterError
from parataxis.plugins import Installed, Registry
from parataxis.rewrite.record import Level, Rewrite
from parataxis.splitters.settings import SplitSettings

__all__ = [
    "GROUP",
    "SPLIT_MARK",
    "AdjustableSplitter",
    "Attention",
    "AttentiveSplitter",
    "LevelledSplitter",
    "ModelSplitter",
    "ProposingSplitter",
    "ReportingSplitter",
    "SentenceSplitter",
    "adjusted",
    "available_splitters",
    "load_splitter",
    "splitter_names",
]


@runtime_checkable
class SentenceSplitter(Protocol):
    """The protocol behind every splitter, built-in or third-party.

    Construction takes no arguments and is cheap: models are loaded on first use. ``summary`` is
    one line for ``parataxis splitters``. A splitter always returns at least one non-empty simple
    sentence; if it cannot split a sentence, it returns the source itself.
    """

    name: str
    summary: str

    def __call__(self, sentence: str) -> Rewrite:
        """Rewrite one sentence."""

    def pipe(self, sentences: Iterable[str]) -> Iterator[Rewrite]:
        """Rewrite many sentences, in order; batches may be faster."""


@runtime_checkable
class AdjustableSplitter(SentenceSplitter, Protocol):
    """A splitter that searches among several rewrites of a sentence.

    In strict mode it takes none with a finding. Its rewrites carry their findings.
    """

    def adjusted(self, settings: SplitSettings) -> SentenceSplitter:
        """A copy with those of the settings that are not the defaults; ``max_words`` is left to the
        caller."""


@runtime_checkable
class LevelledSplitter(AdjustableSplitter, Protocol):
    """An adjustable splitter that can split more or less far and says how sure it is."""

    levels: tuple[Level, ...]


@runtime_checkable
class ProposingSplitter(LevelledSplitter, Protocol):
    """A splitter that can name all rewrites that it found, not only the one that it takes."""

    def alternatives(self, sentence: str) -> list[Rewrite]:
        """The rewrites of a sentence that it found, in any order."""


@runtime_checkable
class ModelSplitter(SentenceSplitter, Protocol):
    """A splitter that ships no model: users train one and name its folder as "NAME:DIR"."""

    def opened(self, folder: Path) -> SentenceSplitter:
        """A copy with the model in a folder; raises ParataxisError if there is none."""


@runtime_checkable
class ReportingSplitter(SentenceSplitter, Protocol):
    """A splitter that costs money and tracks its spending within one process."""

    def report(self) -> str | None:
        """What was done and spent so far, in one sentence; None if nothing was."""


SPLIT_MARK = "<split>"
"""Separates two simple sentences in :attr:`Attention.output`."""


@dataclass(frozen=True)
class Attention:
    """How much each output word (a row of the weights) attended to each source word.

    The rows of a model with attention sum to 1. The rows of a pointer model sum to the probability
    that it pointed at the source at all, which is small where it wrote a closed word.
    """

    source: tuple[str, ...]
    output: tuple[str, ...]
    weights: NDArray[np.float32]


@runtime_checkable
class AttentiveSplitter(SentenceSplitter, Protocol):
    """A splitter that can report its attention."""

    def attention(self, sentence: str) -> Attention:
        """What the likeliest rewrite of a sentence attended to, word by word."""


GROUP = "parataxis.splitters"
"""The entry-point group of splitters."""

_SPLITTERS: Registry[SentenceSplitter] = Registry(
    GROUP,
    "splitter",
    SentenceSplitter,  # type: ignore[type-abstract]
    "name, summary, __call__ and pipe",
    UnknownSplitterError,
)


def splitter_names() -> list[str]:
    """The names of all installed splitters, sorted, without importing them.

    >>> {"rules", "source"} <= set(splitter_names())
    True
    """
    return _SPLITTERS.names()


def load_splitter(name: str) -> SentenceSplitter:
    """Load the splitter of that name; "NAME:DIR" loads it with the model in a folder."""
    if ":" not in name:
        return _SPLITTERS.load(name)
    plain, _, folder = name.partition(":")
    splitter = _SPLITTERS.load(plain)
    if not isinstance(splitter, ModelSplitter):
        raise InputError(f'The splitter "{plain}" takes no model; leave ":{folder}" out.')
    if not folder:
        raise InputError(f'There is no folder in "{name}"; write "{plain}:DIR".')
    return splitter.opened(Path(folder))


def adjusted(splitter: SentenceSplitter, settings: SplitSettings) -> SentenceSplitter:
    """The splitter with these settings; raises InputError for one that it does not have."""
    settings = replace(settings, max_words=None)
    lacking = {
        "follows no beam; leave the beam": settings.beam is not None
        and not isinstance(splitter, AdjustableSplitter),
        "has no levels; leave the level": settings.level is not Level.PLAIN
        and not isinstance(splitter, LevelledSplitter),
        "gives no confidence; leave the confidence": settings.confidence is not None
        and not isinstance(splitter, LevelledSplitter),
    }
    for problem, is_asked in lacking.items():
        if is_asked:
            raise InputError(
                f'The splitter "{splitter.name}" {problem} out or choose another splitter.'
            )
    if isinstance(splitter, AdjustableSplitter) and settings != SplitSettings():
        return splitter.adjusted(settings)
    return splitter


def available_splitters() -> list[Installed]:
    """Every installed splitter with its summary, sorted by name; one that cannot be loaded is
    listed with its problem."""
    return _SPLITTERS.available(lambda splitter: splitter.summary)
