"""Verify a split by triples, whoever made it: an independent check of the two conditions.

Aharoni and Goldberg 2018, §3: each relation occurs in training, and each triple occurs in one
part only. Besides, no source may be in two parts, and no part empty. Nothing here is shared with
the code that splits.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from parataxis.corpora.example import Example

__all__ = ["Condition", "Verdict", "Violation", "verify"]


class Condition(StrEnum):
    """What a split must keep."""

    RELATION = "relation"
    TRIPLE = "triple"
    SOURCE = "source"
    EMPTY = "empty part"


@dataclass(frozen=True, slots=True)
class Violation:
    """A relation, triple, source or part that breaks a condition, and the example of each part
    that shows it first (part and id)."""

    condition: Condition
    what: str
    shown_by: tuple[tuple[str, str], ...]

    def __str__(self) -> str:
        if self.condition is Condition.EMPTY:
            return f"The part {self.what} is empty."
        where = ", ".join(f"{part} ({id_})" for part, id_ in self.shown_by)
        if self.condition is Condition.RELATION:
            return f'The relation "{self.what}" is in {where}, but not in training.'
        noun = "triple" if self.condition is Condition.TRIPLE else "complex sentence"
        return f'The {noun} "{self.what}" is in {where}.'


@dataclass
class Verdict:
    """The violations, the number of sources in each part and of what else was looked at, and how
    many sources have no triples: of those nothing but the source itself can be verified."""

    violations: list[Violation] = field(default_factory=list)
    sizes: dict[str, int] = field(default_factory=dict)
    sources: int = 0
    triples: int = 0
    relations: int = 0
    without_triples: int = 0


def verify(parts: Mapping[str, Iterable[Example]], *, training: str = "train") -> Verdict:
    """Look at the examples of each part once; ``training`` is the name of the part to learn from.

    Held in memory: each distinct triple and source, with an example of each part that has it.
    """
    verdict = Verdict()
    relations: dict[str, dict[str, str]] = {}
    triples: dict[str, dict[str, str]] = {}
    sources: dict[str, dict[str, str]] = {}
    bare: set[str] = set()
    for part, examples in parts.items():
        for example in examples:
            sources.setdefault(example.source, {}).setdefault(part, example.id)
            if not example.triples:
                bare.add(example.source)
            for triple in example.triples:
                triples.setdefault(" | ".join(triple), {}).setdefault(part, example.id)
                relations.setdefault(triple.relation, {}).setdefault(part, example.id)
    verdict.sizes = {part: sum(part in seen for seen in sources.values()) for part in parts}
    verdict.sources, verdict.without_triples = len(sources), len(bare)
    verdict.triples, verdict.relations = len(triples), len(relations)
    verdict.violations += _missing(relations, training)
    verdict.violations += _shared(Condition.TRIPLE, triples)
    verdict.violations += _shared(Condition.SOURCE, sources)
    empty = (part for part, size in verdict.sizes.items() if not size)
    verdict.violations += (Violation(Condition.EMPTY, part, ()) for part in empty)
    return verdict


def _missing(relations: Mapping[str, Mapping[str, str]], training: str) -> Iterator[Violation]:
    for relation, seen in sorted(relations.items()):
        if training not in seen:
            yield Violation(Condition.RELATION, relation, tuple(seen.items()))


def _shared(condition: Condition, found: Mapping[str, Mapping[str, str]]) -> Iterator[Violation]:
    for what, seen in sorted(found.items()):
        if len(seen) > 1:
            yield Violation(condition, what, tuple(seen.items()))
