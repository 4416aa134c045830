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
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations, product

from parataxis.corpora.example import Example, Triple
from parataxis.corpora.sentences import by_segmenter
from parataxis.corpora.websplit.webnlg import Entry, SetName
from parataxis.text import tokenize

__all__ = ["Scope", "Verbalisations", "build", "depth_first", "partitions", "verbalisations"]

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
        # Nobody knows which sentence says which triple: each carries the whole set.
        yield sentences, (triples,) * len(sentences)


def _sample(
    found: Mapping[tuple[str, ...], tuple[TripleSet, ...]], size: int, seed: str
) -> dict[tuple[str, ...], tuple[TripleSet, ...]]:
    chosen = set(random.Random(seed).sample(range(len(found)), size))
    return {key: found[key] for number, key in enumerate(found) if number in chosen}
