"""Statistics of a corpus (tables 1 and 4 of Aharoni and Goldberg 2018, tables 1 and 2 of Zhang et
al. 2020), and random samples of its complex sentences."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from hashlib import blake2b
from operator import itemgetter
from statistics import fmean, median
from typing import Any, Self

from parataxis.errors import InputError, TooLongError
from parataxis.evaluate.corpora.example import Example, Triple, entities, relations, words
from parataxis.syntax.patterns import PatternTable, draw_sample, pattern_table
from parataxis.text.tokens import tokenize


def text_hash(*texts: str) -> int:
    """A 64-bit hash, the same in any process, so that a corpus can be counted without holding it.

    >>> text_hash("a", "b") == text_hash("a", "b"), text_hash("ab") == text_hash("a", "b")
    (True, False)
    """
    return int.from_bytes(blake2b("\0".join(texts).encode(), digest_size=8).digest())


@dataclass(frozen=True, slots=True)
class Counted:
    """A total and the number of different ones."""

    total: int
    unique: int

    @classmethod
    def of(cls, counts: Counter[Any]) -> Self:
        return cls(counts.total(), len(counts))


@dataclass(frozen=True, slots=True)
class Spread:
    """The distribution of a number."""

    minimum: int = 0
    median: float = 0
    maximum: int = 0
    mean: float = 0

    @classmethod
    def of(cls, numbers: Sequence[int]) -> Self:
        """The distribution of these numbers; all 0 where there is none."""
        if not numbers:
            return cls()
        return cls(min(numbers), median(numbers), max(numbers), fmean(numbers))


@dataclass(frozen=True, slots=True)
class CorpusDescription:
    """The statistics of a corpus. A complex sentence counts once for each of its references, as in
    Aharoni and Goldberg (table 1); ``pairs`` is "# simple" in table 2 of Zhang et al. Averages over
    complex sentences take each different one once; those over the simple side take all."""

    complex: Counted
    pairs: Counted
    simple: Counted
    tokens_per_complex: float
    sentences_per_pair: float
    tokens_per_simple: float
    references: Spread
    unsplit: int
    vocabulary: int
    triples: Counted
    relations: int
    entities: int
    patterns: PatternTable | None = None

    @property
    def unsplit_percent(self) -> str:
        """The percentage of references that are one sentence."""
        return f"{100 * self.unsplit / self.pairs.total:.1f}" if self.pairs.total else ""


def describe(examples: Iterable[Example], *, patterns: int = 0, seed: int = 0) -> CorpusDescription:
    """Count a corpus in one pass. The pattern table is made from a sample of ``patterns`` different
    complex sentences (Zhang et al. took 100); 0 leaves it out.

    >>> two = [("It rained.", "We left."), ("It rained.", "So we left.")]
    >>> found = describe([Example("It rained, so we left.", tuple(two), "1")])
    >>> found.complex, found.simple, found.references.maximum
    (Counted(total=2, unique=1), Counted(total=4, unique=3), 2)
    """
    sources, references, pairs, simple, sizes = (Counter[int]() for _ in range(5))
    triples: Counter[Triple] = Counter()
    tokens: dict[int, int] = {}
    vocabulary: set[int] = set()

    def hashed(sentence: str) -> int:
        key = text_hash(sentence)
        if key not in tokens:
            tokens[key] = len(tokenize(sentence))
            vocabulary.update(map(hash, words(sentence)))
        return key

    def different_sources() -> Iterator[str]:
        for example in examples:
            key = hashed(example.source)
            is_new = key not in sources
            sources[key] += max(1, len(example.references))
            references[key] += len(example.references)
            triples.update(example.triples)
            for reference in example.references:
                pairs[text_hash(example.source, *reference)] += 1
                simple.update(map(hashed, reference))
                sizes[len(reference)] += 1
            if is_new:
                yield example.source

    sample = draw_sample(different_sources(), patterns, seed=seed)
    table = None
    if sample:
        from parataxis.syntax.analyser import load_trees  # slow, and only needed here

        analyses = load_trees().pipe(sample)
        table = pattern_table(each for each in analyses if not isinstance(each, TooLongError))
    simple_tokens = sum(tokens[key] * count for key, count in simple.items())
    return CorpusDescription(
        complex=Counted.of(sources),
        pairs=Counted.of(pairs),
        simple=Counted.of(simple),
        tokens_per_complex=_ratio(sum(tokens[key] for key in sources), len(sources)),
        sentences_per_pair=_ratio(simple.total(), pairs.total()),
        tokens_per_simple=_ratio(simple_tokens, simple.total()),
        references=Spread.of(list(references.values())),
        unsplit=sizes[1],
        vocabulary=len(vocabulary),
        triples=Counted.of(triples),
        relations=len(relations(triples)),
        entities=len(entities(triples)),
        patterns=table,
    )


def _ratio(part: int, whole: int) -> float:
    return part / whole if whole else 0.0


ZHANG_2020 = r"[A-Za-z0-9\s,.]+"
"""Only letters, digits, white space, commas and full stops: Zhang et al. 2020, §4.1.1."""


class Filter:
    """Accepts sentences that match ``pattern`` as a whole and have from ``shortest`` to ``longest``
    tokens.

    >>> Filter().takes("It rained, and we left."), Filter().takes("It rained; we left.")
    (True, False)
    """

    def __init__(
        self, pattern: str = ZHANG_2020, shortest: int = 1, longest: int | None = None
    ) -> None:
        try:
            self._pattern = re.compile(pattern)
        except re.error as error:
            raise InputError(f"{pattern} is not a regular expression: {error.msg}.") from error
        if longest is not None and longest < shortest:
            raise InputError("The longest sentence would be shorter than the shortest.")
        self._shortest, self._longest = shortest, longest

    def takes(self, sentence: str) -> bool:
        if not self._pattern.fullmatch(sentence):
            return False
        if self._shortest <= 1 and self._longest is None:
            return True
        tokens = len(tokenize(sentence))
        return self._shortest <= tokens and (self._longest is None or tokens <= self._longest)


@dataclass
class Collection:
    """The sentences drawn, as examples without references in the order of the corpus, and how many
    different sources there were and passed the filter."""

    sentences: list[Example] = field(default_factory=list)
    different: int = 0
    passed: int = 0


def collect(
    examples: Iterable[Example],
    size: int,
    *,
    chosen: Filter | None = None,
    seed: int = 0,
    exclude: Iterable[Example] = (),
) -> Collection:
    """Draw ``size`` different sources in one pass, reproducibly by ``seed`` (Zhang et al. 2020,
    §4.1.1). Sources of ``exclude``, such as a training set, are not drawn."""
    known = {text_hash(example.source) for example in exclude}
    collection = Collection()
    chosen = chosen or Filter()

    def passing() -> Iterator[Example]:
        for example in examples:
            key = text_hash(example.source)
            if key in known:
                continue
            known.add(key)
            collection.different += 1
            if chosen.takes(example.source):
                collection.passed += 1
                yield Example(example.source, (), example.id, triples=example.triples)

    drawn = draw_sample(enumerate(passing()), size, seed=seed)
    collection.sentences = [example for _, example in sorted(drawn, key=itemgetter(0))]
    return collection
