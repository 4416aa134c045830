"""Build WebSplit from WebNLG: pair each complex sentence with the sequences of simple sentences
that say the same triples (Narayan et al. 2017).

A complex sentence is a text of one sentence for two or more triples. Its references are

* with a partition: sequences of one-sentence texts whose triple sets partition its own, and
* without one: texts of several sentences for the same triple set.

The released files mark the second kind as SPTYPE-NONE and have exactly one sentence for each part
of a partition, which is why the texts of a part have one sentence here. Only texts of the same
category of WebNLG are put together: so counted, the numbers are those of the releases.
"""

import random
from array import array
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from itertools import combinations, product
from typing import NamedTuple

from parataxis.evaluate.corpora.example import Example, Triple, entities, relations
from parataxis.evaluate.corpora.leaks import Overlaps, find_overlaps
from parataxis.evaluate.corpora.sentences import by_segmenter
from parataxis.evaluate.corpora.webnlg import Entry, SetName
from parataxis.text import tokenize

TripleSet = frozenset[Triple]
Reference = tuple[tuple[str, ...], tuple[TripleSet, ...]]

_ALL = ""
"""The scope of all categories."""


@dataclass
class Scope:
    """The texts that may be put together, by triple set: those of one sentence, and those of
    several. ``order`` has the triples of a set depth first."""

    single: dict[TripleSet, tuple[str, ...]] = field(default_factory=dict)
    several: dict[TripleSet, tuple[tuple[str, ...], ...]] = field(default_factory=dict)
    order: dict[TripleSet, tuple[Triple, ...]] = field(default_factory=dict)


@dataclass
class Verbalisations:
    """What WebNLG says about each triple set.

    ``names`` has a name of its own for each set (WebNLG begins to count anew in its train, dev
    and test folders), ``sources`` the complex sentences in the order of reading, with their
    scopes and sets.
    """

    scopes: dict[str, Scope] = field(default_factory=dict)
    names: dict[TripleSet, SetName] = field(default_factory=dict)
    sources: dict[str, list[tuple[Scope, TripleSet]]] = field(default_factory=dict)
    entries: int = 0
    texts: int = 0
    left_out: int = 0
    triples: int = 0


def verbalisations(
    entries: Iterable[Entry], *, across: bool = False, tokenised: bool = False
) -> Verbalisations:
    """Gather the texts of each triple set; equal texts of a set count once.

    Texts of one category of WebNLG go together, as in the releases; ``across`` puts those of all
    categories together. ``tokenised`` writes spaces between words and marks, as the released
    files have them.
    """
    found = Verbalisations()
    counters: dict[tuple[str, int], int] = {}
    for entry in entries:
        triples = frozenset(entry.triples)
        found.entries += 1
        found.texts += len(entry.texts)
        found.left_out += entry.left_out
        found.triples += len(entry.triples)
        if triples not in found.names:
            key = entry.name.category, len(triples)
            counters[key] = counters.get(key, 0) + 1
            found.names[triples] = SetName(key[0], f"Id{counters[key]}", key[1])
        scope = found.scopes.setdefault(_ALL if across else entry.name.category, Scope())
        if triples not in scope.order:
            scope.order[triples] = depth_first(entry.triples)
        for text in entry.texts:
            sentences = _sentences(text, tokenised=tokenised)
            if _add(scope, triples, sentences) and len(sentences) == 1 and len(triples) > 1:
                found.sources.setdefault(sentences[0], []).append((scope, triples))
    return found


def _sentences(text: str, *, tokenised: bool) -> tuple[str, ...]:
    sentences = by_segmenter(text)
    if not tokenised:
        return sentences
    return tuple(" ".join(token.text for token in tokenize(each)) for each in sentences)


def _add(scope: Scope, triples: TripleSet, sentences: tuple[str, ...]) -> bool:
    """Add a text to a scope; whether it is new there."""
    if len(sentences) > 1:
        texts = scope.several.get(triples, ())
        if sentences in texts:
            return False
        scope.several[triples] = (*texts, sentences)
        return True
    known = scope.single.get(triples, ())
    if sentences[0] in known:
        return False
    scope.single[triples] = (*known, sentences[0])
    return True


def depth_first(triples: Sequence[Triple]) -> tuple[Triple, ...]:
    """The triples as a walk through their tree meets them, children in the given order.

    A walk starts at each subject that is no object; triples in a cycle come last, as given.

    >>> a, b, c = Triple("A", "r", "B"), Triple("A", "s", "C"), Triple("B", "t", "D")
    >>> depth_first([a, b, c]) == (a, c, b)
    True
    """
    below: dict[str, list[Triple]] = {}
    for triple in triples:
        below.setdefault(triple.subject, []).append(triple)
    objects = {triple.object for triple in triples}
    roots = [subject for subject in below if subject not in objects]
    stack = [*reversed(triples), *(each for root in reversed(roots) for each in below[root][::-1])]
    walk: dict[Triple, None] = {}
    while stack:
        triple = stack.pop()
        if triple not in walk:
            walk[triple] = None
            stack += reversed(below.get(triple.object, []))
    return tuple(walk)


def partitions(
    triples: Sequence[Triple], known: Mapping[TripleSet, object]
) -> Iterator[tuple[TripleSet, ...]]:
    """The ways to cut the triples into sets that are all known, the uncut set included.

    The sets of a partition stand in the order of their first triples: with the triples depth
    first, that is how the released files, "in tree order" by their name, seem to have them.
    """
    if not triples:
        yield ()
        return
    first, rest = triples[0], triples[1:]
    for size in range(len(rest) + 1):
        for others in combinations(rest, size):
            part = frozenset((first, *others))
            if part not in known:
                continue
            left = [triple for triple in rest if triple not in part]
            for remaining in partitions(left, known):
                yield (part, *remaining)


def build(
    known: Verbalisations, *, max_references: int | None = None, seed: int = 0
) -> Iterator[Example]:
    """An example for each complex sentence that has references, in the order of reading.

    Only one complex sentence is held at a time. Equal references of different partitions count
    once. ``max_references`` draws as many of the references of a sentence, by ``seed`` and the
    sentence alone, and leaves them in their order.
    """

    number = 0
    last: tuple[Scope, TripleSet] | None = None
    references: list[Reference] = []
    for source, sets in known.sources.items():
        found: dict[tuple[str, ...], tuple[TripleSet, ...]] = {}
        for scope, triples in sets:
            if last is None or last[0] is not scope or last[1] != triples:
                # The texts of a triple set follow each other, so these mostly serve again.
                last, references = (scope, triples), list(_references(scope, triples))
            for sentences, parts in references:
                found.setdefault(sentences, parts)
        if not found:
            continue
        if max_references is not None and len(found) > max_references:
            found = _sample(found, max_references, f"{seed} {source}")
        number += 1
        yield Example(
            source=source,
            references=tuple(found),
            id=f"COMPLEX-{number}",
            triples=frozenset().union(*(triples for _, triples in sets)),
            reference_triples=tuple(found.values()),
        )


def _references(scope: Scope, triples: TripleSet) -> Iterator[Reference]:
    for parts in partitions(scope.order[triples], scope.single):
        if len(parts) > 1:
            for sentences in product(*(scope.single[part] for part in parts)):
                yield sentences, parts
    for sentences in scope.several.get(triples, ()):
        # It is unknown which sentence expresses which triple, so each carries the whole set.
        yield sentences, (triples,) * len(sentences)


def _sample(
    found: Mapping[tuple[str, ...], tuple[TripleSet, ...]], size: int, seed: str
) -> dict[tuple[str, ...], tuple[TripleSet, ...]]:
    chosen = set(random.Random(seed).sample(range(len(found)), size))
    return {key: found[key] for number, key in enumerate(found) if number in chosen}


class WebSplitCell(NamedTuple):
    """A count of tables 1 and 4 of Aharoni and Goldberg (2018): all, and the distinct ones; None
    where the papers do not print it."""

    total: int | None
    unique: int | None


PUBLISHED: Mapping[str, Mapping[str, WebSplitCell]] = {
    # Aharoni and Goldberg 2018, table 1: the benchmark of the paper, v0.1.
    "v0.1": {
        "RDF entities": WebSplitCell(32_186, 925),
        "RDF relations": WebSplitCell(16_093, 172),
        "complex sentences": WebSplitCell(1_066_115, 5_544),
        "simple sentences": WebSplitCell(5_320_716, 9_552),
    },
    # The notes of the release v1.0 (github.com/shashiongithub/Split-and-Rephrase): pairs with
    # (1,445,159) and without partitions (6,951), before equal ones are counted once.
    "v1.0": {
        "complex sentences": WebSplitCell(1_452_110, 18_830),
        "simple sentences": WebSplitCell(None, 31_159),
    },
    # Aharoni and Goldberg 2018, table 4: their split of v0.1.
    "train": {"complex": WebSplitCell(1_039_392, 4_506), "simple": WebSplitCell(5_239_279, 7_865)},
    "validation": {"complex": WebSplitCell(13_294, 535), "simple": WebSplitCell(39_703, 812)},
    "test": {"complex": WebSplitCell(13_429, 503), "simple": WebSplitCell(41_734, 879)},
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


class WebSplitTally:
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


class Condition(StrEnum):
    """What a split by triples must keep. Aharoni and Goldberg (2018), §3: each relation occurs in
    training, and each triple occurs in one part only. Besides, no source may be in two parts, and
    no part may be empty."""

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
    """Verify any split by triples, without the code that made it.

    Looks at the examples of each part once; ``training`` is the name of the part to learn from.

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
