"""WebSplit in numbers: tables 1 and 4 of Aharoni and Goldberg 2018, counted while the examples
pass, and what the papers print in them."""

from array import array
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from parataxis.corpora.contents import entities, relations
from parataxis.corpora.example import Example, Triple
from parataxis.corpora.leaks import Overlaps, find_overlaps

__all__ = ["PUBLISHED", "Cell", "Digest", "PartCounts", "Tally"]


class Cell(NamedTuple):
    """A number of the papers, and that of the different ones; None where they do not print it."""

    total: int | None
    unique: int | None


PUBLISHED: Mapping[str, Mapping[str, Cell]] = {
    # Aharoni and Goldberg 2018, table 1: the benchmark of the paper, v0.1.
    "v0.1": {
        "RDF entities": Cell(32_186, 925),
        "RDF relations": Cell(16_093, 172),
        "complex sentences": Cell(1_066_115, 5_544),
        "simple sentences": Cell(5_320_716, 9_552),
    },
    # The notes of the release v1.0 (github.com/shashiongithub/Split-and-Rephrase): pairs with
    # (1,445,159) and without partitions (6,951), before equal ones are counted once.
    "v1.0": {
        "complex sentences": Cell(1_452_110, 18_830),
        "simple sentences": Cell(None, 31_159),
    },
    # Aharoni and Goldberg 2018, table 4: their split of v0.1.
    "train": {"complex": Cell(1_039_392, 4_506), "simple": Cell(5_239_279, 7_865)},
    "validation": {"complex": Cell(13_294, 535), "simple": Cell(39_703, 812)},
    "test": {"complex": Cell(13_429, 503), "simple": Cell(41_734, 879)},
}
"""Numbers of the papers, by the benchmark or the part that they describe."""


@dataclass(frozen=True, slots=True)
class Digest:
    """What the tables need of an example: ``simple`` are the numbers of its simple sentences,
    ``times`` how often each occurs in its references."""

    id: str
    source: str
    triples: frozenset[Triple]
    references: int
    simple: "array[int]"
    times: "array[int]"

    def occurrences(self) -> Iterator[int]:
        """The number of a simple sentence as often as it occurs."""
        return Counter(dict(zip(self.simple, self.times, strict=True))).elements()


@dataclass(frozen=True, slots=True)
class PartCounts:
    """The rows of a part: a complex sentence counts once for each of its references."""

    complex: int
    complex_unique: int
    simple: int
    simple_unique: int
    triples: int
    relations: int
    entities: int


class Tally:
    """Counts examples while they pass; of their texts it keeps each different sentence once."""

    def __init__(self) -> None:
        self.digests: list[Digest] = []
        self._numbers: dict[str, int] = {}

    def watch(self, examples: Iterable[Example]) -> Iterator[Example]:
        """The examples, unchanged."""
        for example in examples:
            self.add(example)
            yield example

    def add(self, example: Example) -> None:
        """Count an example; those of one source must come as one."""
        times: Counter[str] = Counter()
        for reference in example.references:
            times.update(reference)
        numbers = (self._numbers.setdefault(text, len(self._numbers)) for text in times)
        self.digests.append(
            Digest(
                example.id,
                example.source,
                example.triples,
                len(example.references),
                array("L", numbers),
                array("L", times.values()),
            )
        )

    def counts(self, digests: Sequence[Digest] | None = None) -> PartCounts:
        """The counts of a part, or of all that has passed."""
        part = self.digests if digests is None else digests
        triples = {triple for each in part for triple in each.triples}
        return PartCounts(
            complex=sum(each.references for each in part),
            complex_unique=len({each.source for each in part}),
            simple=sum(sum(each.times) for each in part),
            simple_unique=len({number for each in part for number in each.simple}),
            triples=len(triples),
            relations=len(relations(triples)),
            entities=len(entities(triples)),
        )

    def overlaps(
        self, parts: Mapping[str, Sequence[Digest]], training: Sequence[Digest]
    ) -> dict[str, Overlaps]:
        """What of each part is in training; near-duplicates are not looked for."""
        texts = list(self._numbers)

        def example(digest: Digest, simple: Iterable[int]) -> Example:
            sentences = tuple(texts[number] for number in simple)
            return Example(digest.source, (sentences,), digest.id, digest.triples)

        train = (example(each, each.simple) for each in training)
        held = {
            name: [example(each, each.occurrences()) for each in part]
            for name, part in parts.items()
        }
        return find_overlaps(train, held, near=1.0)
