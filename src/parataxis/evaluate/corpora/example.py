"""An example of a corpus: a complex sentence with its references."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from functools import reduce
from itertools import groupby
from operator import attrgetter
from pathlib import Path
from typing import NamedTuple, Protocol, runtime_checkable

from parataxis.text.files import ReadReport


class Triple(NamedTuple):
    """A fact of a knowledge base: "Ghent | country | Belgium"."""

    subject: str
    relation: str
    object: str


@dataclass(frozen=True, slots=True)
class Example:
    """A source, its references (each a sequence of simple sentences), and an id: the corpus's own,
    or ``file:line``. If the corpus has triples, ``triples`` are the facts of the source, and
    ``reference_triples`` those of each simple sentence of each reference."""

    source: str
    references: tuple[tuple[str, ...], ...]
    id: str
    triples: frozenset[Triple] = frozenset()
    reference_triples: tuple[tuple[frozenset[Triple], ...], ...] = ()


class MalformedError(Exception):
    """Why a line or a block cannot be an example, in a few words."""


def group(examples: Iterable[Example]) -> Iterator[Example]:
    """Merge consecutive examples of one source, as a stream."""
    for _, same in groupby(examples, attrgetter("source")):
        yield reduce(_joined, same)


def gather(examples: Iterable[Example]) -> list[Example]:
    """Merge all examples of one source, wherever they are; the corpus is held in memory."""
    found: dict[str, list[Example]] = {}
    for example in examples:
        found.setdefault(example.source, []).append(example)
    return [reduce(_joined, same) for same in found.values()]


def _joined(first: Example, second: Example) -> Example:
    return replace(
        first,
        references=first.references + second.references,
        triples=first.triples | second.triples,
        reference_triples=first.reference_triples + second.reference_triples,
    )


@runtime_checkable
class CorpusFormat(Protocol):
    """How the files of a corpus are read and written; registered in ``parataxis.corpora``. Reading
    streams: it never holds the corpus in memory."""

    name: str
    summary: str
    """One line for ``parataxis corpus formats``."""

    def read(self, paths: tuple[Path, ...], report: ReadReport) -> Iterator[Example]:
        """The examples in the files, in order. The summary says which files a format takes."""
        ...

    def write(self, examples: Iterable[Example], paths: tuple[Path, ...]) -> int:
        """Write the examples and return their number; files appear whole or not at all."""
        ...


def words(text: str) -> list[str]:
    """The words of a text, without case and punctuation, nearly the same for tokenised text.

    >>> words("It's 3 p.m. , Ann .")
    ['it', 's', '3', 'p', 'm', 'ann']
    """
    return re.findall(r"\w+", text.lower())


def entities(triples: Iterable[Triple]) -> set[str]:
    """The subjects and objects, as the script of Aharoni and Goldberg (2018) counts them.

    >>> sorted(entities([Triple("Ghent", "country", "Belgium")]))
    ['Belgium', 'Ghent']
    """
    return {name for triple in triples for name in (triple.subject, triple.object)}


def relations(triples: Iterable[Triple]) -> set[str]:
    """The relations."""
    return {triple.relation for triple in triples}
