"""What a splitter is: anything with a name that turns a sentence into a :class:`Rewrite`."""

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Protocol, runtime_checkable

from parataxis.rewrite.record import Rewrite

__all__ = ["AdjustableSplitter", "ModelSplitter", "ReportingSplitter", "SentenceSplitter"]


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
