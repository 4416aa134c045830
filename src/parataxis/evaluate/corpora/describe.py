"""Statistics of a corpus, and random samples of its complex sentences.

The statistics are those of tables 1 and 4 of Aharoni and Goldberg (2018), except the comparison of
train, dev and test, which is in leaks.py, and of tables 1 and 2 of Zhang et al. (2020).
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from hashlib import blake2b
from statistics import fmean, median

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


@dataclass(frozen=True, slots=True)
class Spread:
    """The distribution of a number."""

    minimum: int
    median: float
    maximum: int
    mean: float


@dataclass(frozen=True, slots=True)
class CorpusDescription:
    """The statistics of a corpus.

    A complex sentence is counted once for each of its references, as Aharoni and Goldberg count
    (table 1), and ``pairs`` are complex sentences with one reference: "# simple" in table 2 of
    Zhang et al. Averages over complex sentences take each different one once; those over the
    simple side take all. ``references`` is the number of references of each different complex
    sentence, and ``unsplit`` counts the references that are one sentence.
    """

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


def describe(examples: Iterable[Example], *, patterns: int = 0, seed: int = 0) -> CorpusDescription:
    """Count a corpus in one pass. The pattern table is made from a sample of ``patterns`` different
    complex sentences (Zhang et al. took 100); 0 leaves it out.

    >>> two = [("It rained.", "We left."), ("It rained.", "So we left.")]
    >>> found = describe([Example("It rained, so we left.", tuple(two), "1")])
    >>> found.complex, found.simple, found.references.maximum
    (Counted(total=2, unique=1), Counted(total=4, unique=3), 2)
    """
    tally = _Tally()
    sample = draw_sample(tally.count(examples), patterns, seed=seed)
    return tally.description(_pattern_table(sample) if sample else None)


def _pattern_table(sentences: Iterable[str]) -> PatternTable:
    from parataxis.syntax.analyser import load_trees  # slow, and only needed here

    analyses = load_trees().pipe(sentences)
    return pattern_table(each for each in analyses if not isinstance(each, TooLongError))


@dataclass
class _Tally:
    """Counts while reading, by the hashes of texts."""

    sources: Counter[int] = field(default_factory=Counter)
    """The references of each different source."""
    source_tokens: int = 0
    complex: int = 0
    pairs: set[int] = field(default_factory=set)
    simple: dict[int, int] = field(default_factory=dict)
    """The tokens of each different simple sentence."""
    sentences: int = 0
    simple_tokens: int = 0
    unsplit: int = 0
    words: set[int] = field(default_factory=set)
    triples: Counter[Triple] = field(default_factory=Counter)

    def count(self, examples: Iterable[Example]) -> Iterator[str]:
        """Count the examples, and yield each different source once."""
        for example in examples:
            source = text_hash(example.source)
            is_new = source not in self.sources
            if is_new:
                self.source_tokens += self._tokens(example.source)
            self.sources[source] += len(example.references)
            self.complex += max(1, len(example.references))
            self.triples.update(example.triples)
            for reference in example.references:
                self._count_reference(example.source, reference)
            if is_new:
                yield example.source

    def _count_reference(self, source: str, reference: tuple[str, ...]) -> None:
        self.pairs.add(text_hash(source, *reference))
        self.sentences += len(reference)
        self.unsplit += len(reference) == 1
        for sentence in reference:
            key = text_hash(sentence)
            if key not in self.simple:
                self.simple[key] = self._tokens(sentence)
            self.simple_tokens += self.simple[key]

    def _tokens(self, sentence: str) -> int:
        self.words.update(map(hash, words(sentence)))
        return len(tokenize(sentence))

    def description(self, patterns: PatternTable | None) -> CorpusDescription:
        references = list(self.sources.values())
        pairs = sum(references)
        return CorpusDescription(
            complex=Counted(self.complex, len(self.sources)),
            pairs=Counted(pairs, len(self.pairs)),
            simple=Counted(self.sentences, len(self.simple)),
            tokens_per_complex=_ratio(self.source_tokens, len(self.sources)),
            sentences_per_pair=_ratio(self.sentences, pairs),
            tokens_per_simple=_ratio(self.simple_tokens, self.sentences),
            references=Spread(
                min(references), median(references), max(references), fmean(references)
            )
            if references
            else Spread(0, 0, 0, 0),
            unsplit=self.unsplit,
            vocabulary=len(self.words),
            triples=Counted(self.triples.total(), len(self.triples)),
            relations=len(relations(self.triples)),
            entities=len(entities(self.triples)),
            patterns=patterns,
        )


def _ratio(part: int, whole: int) -> float:
    return part / whole if whole else 0.0


ZHANG_2020 = r"[A-Za-z0-9\s,.]+"
"""Only letters, digits, white space, commas and full stops: Zhang et al. 2020, §4.1.1."""


@dataclass(frozen=True)
class Filter:
    """Accepts sentences that match ``pattern`` as a whole and have from ``shortest`` to ``longest``
    tokens.

    >>> Filter().takes("It rained, and we left."), Filter().takes("It rained; we left.")
    (True, False)
    """

    pattern: str = ZHANG_2020
    shortest: int = 1
    longest: int | None = None
    _compiled: re.Pattern[str] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        try:
            object.__setattr__(self, "_compiled", re.compile(self.pattern))
        except re.error as error:
            raise InputError(f"{self.pattern} is not a regular expression: {error.msg}.") from error
        if self.longest is not None and self.longest < self.shortest:
            raise InputError("The longest sentence would be shorter than the shortest.")

    def takes(self, sentence: str) -> bool:
        """Whether the sentence passes."""
        if not self._compiled.fullmatch(sentence):
            return False
        if self.shortest <= 1 and self.longest is None:
            return True
        tokens = len(tokenize(sentence))
        return self.shortest <= tokens and (self.longest is None or tokens <= self.longest)


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
    §4.1.1).

    Sources of ``exclude``, such as a training set, are not drawn.
    """
    known = {text_hash(example.source) for example in exclude}
    collection = Collection()
    passing = _passing(examples, chosen or Filter(), known, collection)
    drawn = draw_sample(enumerate(passing), size, seed=seed)
    collection.sentences = [example for _, example in sorted(drawn, key=lambda pair: pair[0])]
    return collection


def _passing(
    examples: Iterable[Example], chosen: Filter, known: set[int], collection: Collection
) -> Iterator[Example]:
    for example in examples:
        key = text_hash(example.source)
        if key in known:
            continue
        known.add(key)
        collection.different += 1
        if chosen.takes(example.source):
            collection.passed += 1
            yield Example(example.source, (), example.id, triples=example.triples)
