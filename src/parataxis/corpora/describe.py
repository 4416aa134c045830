"""A corpus in numbers: tables 1 and 4 of Aharoni and Goldberg (2018), without their train, dev and
test rows, which leaks.py has, and tables 1 and 2 of Zhang et al. (2020)."""

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from statistics import fmean, median

from parataxis.corpora.contents import entities, relations, words
from parataxis.corpora.example import Example, Triple
from parataxis.corpora.hashing import text_hash
from parataxis.errors import TooLongError
from parataxis.syntax.patterns import PatternTable, draw_sample, pattern_table
from parataxis.text.tokens import tokenize

__all__ = ["Counted", "Description", "Spread", "describe"]


@dataclass(frozen=True, slots=True)
class Counted:
    """How many there are, and how many different ones."""

    total: int
    unique: int


@dataclass(frozen=True, slots=True)
class Spread:
    """How a number varies."""

    minimum: int
    median: float
    maximum: int
    mean: float


@dataclass(frozen=True, slots=True)
class Description:
    """What a corpus holds.

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


def describe(examples: Iterable[Example], *, patterns: int = 0, seed: int = 0) -> Description:
    """Count a corpus in one pass; ``patterns`` is the size of the sample of different complex
    sentences that the pattern table is made of (Zhang et al. took 100), 0 for none.

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
    """Counts as it reads, by the hashes of what it read."""

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
        """Count the examples; gives each different source once."""
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

    def description(self, patterns: PatternTable | None) -> Description:
        references = list(self.sources.values())
        pairs = sum(references)
        return Description(
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
