"""What a corpus format is: how the files of a corpus are read, and written where they can be."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol, runtime_checkable

from parataxis.corpora.example import Example
from parataxis.errors import InputError

__all__ = ["CorpusFormat", "Malformed", "Report"]


@dataclass(frozen=True, slots=True)
class Malformed:
    """A line that is not what its format promises: where, and why, in a few words."""

    file: str
    line: int
    reason: str

    def __str__(self) -> str:
        return f"{self.file}, line {self.line}: {self.reason}"


@dataclass
class Report:
    """Counts what a reader met. A malformed line is told to ``tell`` and counted, never dropped
    in silence; under ``strict`` the first one stops the reading with an InputError."""

    strict: bool = False
    tell: Callable[[Malformed], None] = lambda _: None
    lines: int = 0
    malformed: int = 0
    reasons: dict[str, int] = field(default_factory=dict)

    def reject(self, file: str, line: int, reason: str) -> None:
        """Note that a line cannot be used."""
        found = Malformed(file, line, reason)
        if self.strict:
            raise InputError(f"{found}.")
        self.malformed += 1
        self.reasons[reason] = self.reasons.get(reason, 0) + 1
        self.tell(found)


@runtime_checkable
class CorpusFormat(Protocol):
    """A format of the group ``parataxis.corpora``. Reading streams: it never holds the corpus."""

    name: str
    summary: str
    """One line for ``parataxis corpus formats``."""

    def read(self, paths: tuple[Path, ...], report: Report) -> Iterator[Example]:
        """The examples in the files, in order. Which files a format takes, its summary says."""
        ...

    def write(self, examples: Iterable[Example], paths: tuple[Path, ...]) -> int:
        """Write the examples and return their number; files appear whole or not at all."""
        ...
