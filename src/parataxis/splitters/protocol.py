"""What a splitter is: anything with a name that turns a sentence into a :class:`Rewrite`."""

from collections.abc import Iterable, Iterator
from typing import Protocol, runtime_checkable

from parataxis.rewrite.record import Rewrite

__all__ = ["SentenceSplitter"]


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
