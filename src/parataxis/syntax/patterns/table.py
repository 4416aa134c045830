"""Table 1 of Zhang et al. (2020) for any text: how many sentences show each pattern."""

import random
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from parataxis.syntax.analysis import Analysis
from parataxis.syntax.patterns.find import find_patterns
from parataxis.syntax.patterns.kinds import Pattern

__all__ = ["PatternTable", "pattern_table"]


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

    @property
    def occurrences_per_sentence(self) -> float:
        """Places at which a sentence could be split, repetitions of a pattern included."""
        return sum(self.occurrences.values()) / self.sentences if self.sentences else 0.0

    def per_hundred(self, pattern: Pattern) -> float:
        """Sentences out of a hundred that show ``pattern``."""
        return 100 * self.counts[pattern] / self.sentences if self.sentences else 0.0

    def rows(self) -> list[tuple[str, str, str, str]]:
        """The table as text: pattern, what a writer calls it, sentences, per 100 sentences; the
        last row is patterns/sent."""
        rows = [
            (str(p), p.plain_name, str(self.counts[p]), f"{self.per_hundred(p):.0f}")
            for p in Pattern
        ]
        return [
            *rows,
            ("patterns/sent", "patterns per sentence", f"{self.patterns_per_sentence:.2f}", ""),
        ]


def pattern_table(
    analyses: Iterable[Analysis], *, sample: int | None = None, seed: int = 0
) -> PatternTable:
    """Count the patterns in ``analyses``, or in a random ``sample`` of them.

    The sample is drawn in one pass, so that a long text need not be held in memory; the same
    ``seed`` draws the same sentences. A text with fewer sentences is counted whole.
    """
    chosen = analyses if sample is None else _reservoir(analyses, sample, seed)
    sentences = 0
    counts = dict.fromkeys(Pattern, 0)
    occurrences = dict.fromkeys(Pattern, 0)
    for analysis in chosen:
        sentences += 1
        found = [occurrence.pattern for occurrence in find_patterns(analysis)]
        for pattern in found:
            occurrences[pattern] += 1
        for pattern in set(found):
            counts[pattern] += 1
    return PatternTable(sentences, counts, occurrences)


def _reservoir(analyses: Iterable[Analysis], size: int, seed: int) -> list[Analysis]:
    draw = random.Random(seed)
    kept: list[Analysis] = []
    for count, analysis in enumerate(analyses):
        if count < size:
            kept.append(analysis)
        elif (place := draw.randrange(count + 1)) < size:
            kept[place] = analysis
    return kept
