"""What a splitter is: anything with a name that turns a sentence into a :class:`Rewrite`."""

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
    sentence; where it can do nothing it returns the source itself.
    """

    name: str
    summary: str

    def __call__(self, sentence: str) -> Rewrite:
        """Rewrite one sentence."""

    def pipe(self, sentences: Iterable[str]) -> Iterator[Rewrite]:
        """Rewrite many sentences, in order, in batches where that is faster."""


@runtime_checkable
class AdjustableSplitter(SentenceSplitter, Protocol):
    """A splitter that searches among several rewrites of a sentence.

    A strict one takes none with a finding of the checks. Its rewrites carry their findings.
    """

    def adjusted(self, *, beam: int | None = None, strict: bool = False) -> SentenceSplitter:
        """The same splitter following so many hypotheses (None: as many as before), or strict."""


@runtime_checkable
class ModelSplitter(SentenceSplitter, Protocol):
    """A splitter that ships no model: its users train one and name the folder, as "NAME:DIR"."""

    def opened(self, folder: Path) -> SentenceSplitter:
        """The same splitter with the model of a folder; a ParataxisError where there is none."""


@runtime_checkable
class ReportingSplitter(SentenceSplitter, Protocol):
    """A splitter that keeps books, since it costs money; they are kept in one process."""

    def report(self) -> str | None:
        """What has been done and spent since it was made, in one sentence; None for nothing."""


# What a splitter looked at in its source when it wrote each word, for those that can tell.

SPLIT_MARK = "<split>"
"""Stands between two simple sentences of an output."""


@dataclass(frozen=True)
class Attention:
    """How much each word of an output (a row of the weights) attended to each of its source.
    "<split>" stands between two simple sentences.

    The rows of a model with attention sum to 1. Those of a model that points sum to how likely it
    was to point at the source at all: where it wrote a word of its own, to little.
    """

    source: tuple[str, ...]
    output: tuple[str, ...]
    weights: NDArray[np.float32]


@runtime_checkable
class AttentiveSplitter(SentenceSplitter, Protocol):
    """A splitter that tells what it looked at."""

    def attention(self, sentence: str) -> Attention:
        """What the likeliest rewrite of a sentence attended to, word by word."""


# The installed splitters, found through entry points of the group ``parataxis.splitters``.

GROUP = "parataxis.splitters"

_SPLITTERS: Registry[SentenceSplitter] = Registry(
    GROUP,
    "splitter",
    SentenceSplitter,  # type: ignore[type-abstract]
    "name, summary, __call__ and pipe",
    UnknownSplitterError,
)


def splitter_names() -> list[str]:
    """The names of all installed splitters, sorted; nothing is imported.

    >>> {"rules", "source"} <= set(splitter_names())
    True
    """
    return _SPLITTERS.names()


def load_splitter(name: str) -> SentenceSplitter:
    """The splitter of that name, ready to use; "NAME:DIR" is one with the model in a folder."""
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
    """Every installed splitter with its one-line summary, sorted by name.

    A splitter that cannot be loaded is listed with its problem and does not hide the others.
    """
    return _SPLITTERS.available(lambda splitter: splitter.summary)
