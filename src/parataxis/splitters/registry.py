"""The protocol of splitters, its optional extensions, and the registry of installed splitters."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from parataxis.errors import InputError, UnknownSplitterError
from parataxis.plugins import Installed, Registry
from parataxis.rewrite.record import Rewrite

__all__ = [
    "GROUP",
    "SPLIT_MARK",
    "AdjustableSplitter",
    "Attention",
    "AttentiveSplitter",
    "ModelSplitter",
    "ReportingSplitter",
    "SentenceSplitter",
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

    def adjusted(self, *, beam: int | None = None, strict: bool = False) -> SentenceSplitter:
        """A copy with another beam (None keeps it), or a strict one."""


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


def available_splitters() -> list[Installed]:
    """Every installed splitter with its summary, sorted by name; one that cannot be loaded is
    listed with its problem."""
    return _SPLITTERS.available(lambda splitter: splitter.summary)
