"""Collecting complex sentences for a study: a random sample under a filter, as Zhang et al. (2020,
§4.1.1) drew theirs."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from parataxis.corpora.example import Example
from parataxis.corpora.hashing import text_hash
from parataxis.errors import InputError
from parataxis.syntax.patterns import draw_sample
from parataxis.text.tokens import tokenize

__all__ = ["ZHANG_2020", "Collection", "Filter", "collect"]

ZHANG_2020 = r"[A-Za-z0-9\s,.]+"
"""Only letters, digits, white space, commas and full stops: Zhang et al. 2020, §4.1.1."""


@dataclass(frozen=True)
class Filter:
    """Which sentences to take: all of the sentence matches ``pattern``, and it has at least
    ``shortest`` and at most ``longest`` tokens.

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
    """The sentences drawn, as examples without references in the order of the corpus; of how many
    different sources, and of how many that the filter let pass."""

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
    """Draw ``size`` different sources in one pass; the same ``seed`` draws the same.

    Sources of ``exclude``, a training set say, are not drawn.
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
