"""Table 1 of Zhang et al. (2020) for any text: how many sentences show each pattern."""

import random
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TypeVar

from parataxis.syntax.analysis import Analysis
from parataxis.syntax.patterns.find import find_patterns
from parataxis.syntax.patterns.kinds import Pattern

__all__ = ["PatternTable", "draw_sample", "pattern_table"]

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class PatternTable:
    """How often the patterns occur in ``sentences`` sentences.

    ``counts`` is the number of sentences that show a pattern at least once, as in the paper ("48
    out of 100"); ``occurrences`` counts every single one.
    """

    sentences: int
    counts: Mapping[Pattern, int]
    occurrences: Mapping[Pattern, int]

    @property
    def patterns_per_sentence(self) -> float:
        """Different patterns per sentence: the last row of the paper's table."""
        return sum(self.counts.values()) / self.sentences if self.sentences else 0.0

    def per_hundred(self, pattern: Pattern) -> float:
        """Sentences out of a hundred that show ``pattern``."""
        return 100 * self.counts[pattern] / self.sentences if self.sentences else 0.0


def pattern_table(analyses: Iterable[Analysis]) -> PatternTable:
    """Count the patterns in ``analyses``; :func:`draw_sample` chooses sentences to analyse."""
    sentences = 0
    counts = dict.fromkeys(Pattern, 0)
    occurrences = dict.fromkeys(Pattern, 0)
    for analysis in analyses:
        sentences += 1
        found = [occurrence.pattern for occurrence in find_patterns(analysis)]
        for pattern in found:
            occurrences[pattern] += 1
        for pattern in set(found):
            counts[pattern] += 1
    return PatternTable(sentences, counts, occurrences)


def draw_sample(sentences: Iterable[T], size: int, *, seed: int = 0) -> list[T]:
    """A random sample of ``size`` sentences, or all where there are fewer.

    It is drawn in one pass (Vitter's algorithm R), so that a long text need not be held in
    memory; the same ``seed`` draws the same sentences.

    >>> draw_sample("abc", 5)
    ['a', 'b', 'c']
    """
    draw = random.Random(seed)
    kept: list[T] = []
    for count, sentence in enumerate(sentences):
        if count < size:
            kept.append(sentence)
        elif (place := draw.randrange(count + 1)) < size:
            kept[place] = sentence
    return kept
