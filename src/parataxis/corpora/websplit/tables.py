"""WebSplit in numbers: tables 1 and 4 of Aharoni and Goldberg 2018, counted while the examples
pass, and what the papers print in them."""

from array import array
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from parataxis.corpora.example import Example, Triple
from parataxis.text import tokenize

__all__ = ["PUBLISHED", "Cell", "Digest", "PartCounts", "SeenInTraining", "Tally"]


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


@dataclass(frozen=True, slots=True)
class SeenInTraining:
    """What of another part is in training, each as (found, of how many)."""

    simple: tuple[int, int]
    simple_unique: tuple[int, int]
    vocabulary: tuple[int, int]
    entities: tuple[int, int]
    relations: tuple[int, int]


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
        triples = _triples(part)
        return PartCounts(
            complex=sum(each.references for each in part),
            complex_unique=len({each.source for each in part}),
            simple=sum(sum(each.times) for each in part),
            simple_unique=len({number for each in part for number in each.simple}),
            triples=len(triples),
            relations=len({triple.relation for triple in triples}),
            entities=len(_entities(triples)),
        )

    def seen(self, part: Sequence[Digest], training: Sequence[Digest]) -> SeenInTraining:
        """What of a part is in training. The vocabulary is that of both sides, case kept."""
        known = {number for each in training for number in each.simple}
        times: Counter[int] = Counter()
        for each in part:
            times.update(dict(zip(each.simple, each.times, strict=True)))
        found = {number: count for number, count in times.items() if number in known}
        here, there = _triples(part), _triples(training)
        relations = {triple.relation for triple in here}
        return SeenInTraining(
            simple=(sum(found.values()), times.total()),
            simple_unique=(len(found), len(times)),
            vocabulary=_shared(self._words(part), self._words(training)),
            entities=_shared(_entities(here), _entities(there)),
            relations=_shared(relations, {triple.relation for triple in there}),
        )

    def _words(self, part: Sequence[Digest]) -> set[str]:
        wanted = {number for each in part for number in each.simple}
        simple = (text for text, number in self._numbers.items() if number in wanted)
        texts = (*simple, *(each.source for each in part))
        return {token.text for text in texts for token in tokenize(text)}


def _shared(part: set[str], training: set[str]) -> tuple[int, int]:
    return len(part & training), len(part)


def _triples(part: Iterable[Digest]) -> set[Triple]:
    return {triple for each in part for triple in each.triples}


def _entities(triples: Iterable[Triple]) -> set[str]:
    return {name for triple in triples for name in (triple.subject, triple.object)}
