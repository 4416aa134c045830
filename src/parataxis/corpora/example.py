"""An example of a corpus: a complex sentence and the ways in which it may be rewritten."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import NamedTuple

__all__ = ["Example", "Triple", "gather", "group"]


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
