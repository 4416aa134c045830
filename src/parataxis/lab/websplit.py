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
import tomllib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from importlib.resources import files
from itertools import combinations, product

from parataxis.evaluate.corpora.example import Example, Triple, entities, relations
from parataxis.evaluate.corpora.sentences import by_segmenter
from parataxis.evaluate.corpora.webnlg import Entry, SetName
from parataxis.text import tokenize

TripleSet = frozenset[Triple]
Reference = tuple[tuple[str, ...], tuple[TripleSet, ...]]

_JOINING = ("-", "/")
_ALL = ""
"""The scope of all categories."""


@dataclass
class Scope:
    """The texts that may be put together, by triple set: those of one sentence, and those of
    several. ``order`` has the triples of a set depth first."""

    single: dict[TripleSet, dict[str, None]] = field(default_factory=dict)
    several: dict[TripleSet, dict[tuple[str, ...], None]] = field(default_factory=dict)
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
            sentences = by_segmenter(text)
            if tokenised:
                sentences = tuple(map(released_tokens, sentences))
            if len(sentences) > 1:
                scope.several.setdefault(triples, {})[sentences] = None
                continue
            known = scope.single.setdefault(triples, {})
            if sentences[0] not in known and len(triples) > 1:
                found.sources.setdefault(sentences[0], []).append((scope, triples))
            known[sentences[0]] = None
    return found


def released_tokens(sentence: str) -> str:
    """A sentence with spaces between its tokens as the releases have them: what hyphens and slashes
    join is one token.

    >>> released_tokens("The front-wheel drive A/S 7 (built 1974-08-01) was at -3.5 degrees.")
    'The front-wheel drive A/S 7 ( built 1974-08-01 ) was at -3.5 degrees .'
    """
    text, end = "", 0
    for token in tokenize(sentence):
        is_joined = token.start == end and (token.text in _JOINING or text[-1:] in _JOINING)
        text += token.text if is_joined else f" {token.text}"
        end = token.end
    return text.strip()


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
            drawn = random.Random(f"{seed} {source}").sample(range(len(found)), max_references)
            chosen = set(drawn)
            found = {key: found[key] for place, key in enumerate(found) if place in chosen}
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


def published() -> dict[str, dict[str, tuple[int, int]]]:
    """The numbers of the papers, by the benchmark or the part that they describe."""
    text = (files("parataxis.lab") / "websplit.toml").read_text(encoding="utf-8")
    return tomllib.loads(text)


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


def keeping(examples: Iterable[Example], kept: list[Example]) -> Iterator[Example]:
    """The examples, one of each source, unchanged. ``kept`` receives them for the tables: without
    the triples of references, and with each different sentence in memory once."""
    texts: dict[str, str] = {}
    for example in examples:
        references = (tuple(texts.setdefault(s, s) for s in each) for each in example.references)
        kept.append(Example(example.source, tuple(references), example.id, example.triples))
        yield example


def part_counts(part: Sequence[Example]) -> PartCounts:
    """The counts of a part, an example for each source."""
    references = [reference for each in part for reference in each.references]
    triples = {triple for each in part for triple in each.triples}
    return PartCounts(
        complex=len(references),
        complex_unique=len({each.source for each in part}),
        simple=sum(map(len, references)),
        simple_unique=len({text for reference in references for text in reference}),
        triples=len(triples),
        relations=len(relations(triples)),
        entities=len(entities(triples)),
    )


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


@dataclass(frozen=True)
class Verdict:
    """The violations, the number of sources in each part and of what else was looked at, and how
    many sources have no triples: of those nothing but the source itself can be verified."""

    violations: list[Violation]
    sizes: dict[str, int]
    sources: int
    triples: int
    relations: int
    without_triples: int


def verify(parts: Mapping[str, Iterable[Example]]) -> Verdict:
    """Verify any split by triples, without the code that made it.

    Reads the examples of each part once, that of "train" among them. Each distinct triple and
    source is held in memory, with an example of each part that has it.
    """
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
    sizes = {part: sum(part in seen for seen in sources.values()) for part in parts}
    broken = {
        Condition.RELATION: {k: seen for k, seen in relations.items() if "train" not in seen},
        Condition.TRIPLE: {what: seen for what, seen in triples.items() if len(seen) > 1},
        Condition.SOURCE: {what: seen for what, seen in sources.items() if len(seen) > 1},
    }
    violations = [
        Violation(condition, what, tuple(seen.items()))
        for condition, found in broken.items()
        for what, seen in sorted(found.items())
    ]
    violations += [Violation(Condition.EMPTY, part, ()) for part in parts if not sizes[part]]
    return Verdict(violations, sizes, len(sources), len(triples), len(relations), len(bare))
