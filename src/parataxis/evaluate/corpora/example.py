"""An example of a corpus: a complex sentence and the ways in which it may be rewritten."""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import NamedTuple, Protocol, runtime_checkable

from parataxis.errors import InputError
from parataxis.text.files import ReadReport


class Triple(NamedTuple):
    """A fact as a knowledge base has it: "Ghent | country | Belgium"."""

    subject: str
    relation: str
    object: str


@dataclass(frozen=True, slots=True)
class Example:
    """A source, its references (each a sequence of simple sentences), and an id.

    ``id`` is that of the corpus, or ``file:line``. A corpus without references, a list of
    sentences, has examples with none. ``triples`` are what the source says, where the corpus
    knows that, and ``reference_triples`` what each simple sentence of each reference says.
    """

    source: str
    references: tuple[tuple[str, ...], ...]
    id: str
    triples: frozenset[Triple] = frozenset()
    reference_triples: tuple[tuple[frozenset[Triple], ...], ...] = ()


def group(examples: Iterable[Example]) -> Iterator[Example]:
    """Join the examples of one source that follow each other; nothing else is held in memory."""
    last: Example | None = None
    for example in examples:
        if last is not None and last.source == example.source:
            last = _joined(last, example)
            continue
        if last is not None:
            yield last
        last = example
    if last is not None:
        yield last


def gather(examples: Iterable[Example]) -> list[Example]:
    """All examples, one for each source, wherever its references stand; held in memory."""
    found: dict[str, Example] = {}
    for example in examples:
        known = found.get(example.source)
        found[example.source] = example if known is None else _joined(known, example)
    return list(found.values())


def _joined(first: Example, second: Example) -> Example:
    return replace(
        first,
        references=first.references + second.references,
        triples=first.triples | second.triples,
        reference_triples=first.reference_triples + second.reference_triples,
    )


# What a corpus format is: how the files of a corpus are read, and written where they can be.


@runtime_checkable
class CorpusFormat(Protocol):
    """A format of the group ``parataxis.corpora``. Reading streams: it never holds the corpus."""

    name: str
    summary: str
    """One line for ``parataxis corpus formats``."""

    def read(self, paths: tuple[Path, ...], report: ReadReport) -> Iterator[Example]:
        """The examples in the files, in order. Which files a format takes, its summary says."""
        ...

    def write(self, examples: Iterable[Example], paths: tuple[Path, ...]) -> int:
        """Write the examples and return their number; files appear whole or not at all."""
        ...


# What the sentences and the triples of a corpus are made of: one definition for every table, so
# that two commands mean the same by the same word.

_WORD = re.compile(r"\w+")


def words(text: str) -> list[str]:
    """The words of a text, without case and punctuation: nearly the same whether it is tokenised.

    >>> words("It's 3 p.m. , Ann .")
    ['it', 's', '3', 'p', 'm', 'ann']
    """
    return _WORD.findall(text.lower())


def entities(triples: Iterable[Triple]) -> set[str]:
    """The subjects and objects, as the script of Aharoni and Goldberg (2018) counts them.

    >>> sorted(entities([Triple("Ghent", "country", "Belgium")]))
    ['Belgium', 'Ghent']
    """
    return {name for triple in triples for name in (triple.subject, triple.object)}


def relations(triples: Iterable[Triple]) -> set[str]:
    """The relations."""
    return {triple.relation for triple in triples}


def one_path(paths: Sequence[Path], name: str) -> Path:
    """The only path, where the format ``name`` has one file."""
    if len(paths) != 1:
        raise InputError(f"The format {name} has one file, not {len(paths)}.")
    return paths[0]


def references_of(example: Example, name: str) -> tuple[tuple[str, ...], ...]:
    """The references, where the format ``name`` cannot hold a source without one."""
    if not example.references:
        raise InputError(
            f"{example.id} has no reference, which the format {name} cannot hold; write jsonl."
        )
    return example.references
