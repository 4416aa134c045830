"""Find the occurrences of the seven patterns in a dependency tree, and count them.

A phrase inside a clause that cannot be asserted on its own (a condition, reported speech, a
restrictive clause) does not count unless it is set off; docs/patterns.md gives the reasons.
"""

import random
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import TypeVar

from parataxis.syntax.analysis import ROOT, Analysis, Word
from parataxis.syntax.patterns.finders import (
    adverbial,
    apposition,
    conjunction,
    infinitive,
    linked_phrase,
    participle,
    relative_clause,
    set_off_phrase,
)
from parataxis.syntax.patterns.lexicon import LINKING_PREPOSITIONS, SET_OFF_PREPOSITIONS
from parataxis.syntax.patterns.phrases import FoundPhrase, Occurrence, Pattern, SentenceView

T = TypeVar("T")
_Rule = Callable[[SentenceView, Word], FoundPhrase | None]

_STATED_BY_PREPOSITION = LINKING_PREPOSITIONS | SET_OFF_PREPOSITIONS
_CLAUSES = frozenset(["advcl", "acl", "ccomp", "csubj"])


def find_patterns(analysis: Analysis) -> list[Occurrence]:
    """Every phrase at which the sentence could be split, in order; an outer phrase comes before
    the phrases inside it."""
    view = SentenceView(analysis)
    accepted: dict[int, FoundPhrase] = {}
    for word in _top_down(analysis):
        found = next((f for rule in _RULES if (f := rule(view, word))), None)
        if found and (found.free or not _in_island(view, word, accepted)):
            accepted[word.index] = found
    kept = {h: f for h, f in accepted.items() if not _follows_aside(view, f, accepted)}
    occurrences = []
    for head, found in kept.items():
        first, last = found.phrase.first, found.phrase.last
        start, end = analysis[first].start, analysis[last].end
        occurrences.append(Occurrence(found.pattern, first, last, head, start, end))
    return sorted(occurrences, key=lambda o: (o.first, -o.last))


def _follows_aside(
    view: SentenceView, found: FoundPhrase, accepted: dict[int, FoundPhrase]
) -> bool:
    """Whether the comma before a prepositional phrase only closes the aside before it: "Prince
    Albert, the king's youngest son, in the summer of 1907"."""
    if found.pattern != Pattern.PREP or view.starts_with(found.phrase, _STATED_BY_PREPOSITION):
        return False
    ends = {view.words[f.phrase.last].index for f in accepted.values() if f.free}
    return found.phrase.first - 2 in ends


def _top_down(analysis: Analysis) -> list[Word]:
    """The words with every governor before its dependents."""
    if not analysis.words:
        return []
    order = [analysis.root]
    for word in order:
        order.extend(analysis.children(word.index))
    return order


def _in_island(view: SentenceView, word: Word, accepted: dict[int, FoundPhrase]) -> bool:
    """Whether a clause above the word cannot be asserted on its own."""
    head = word.head
    if word.deprel == "conj" and "that" in view.mark(word):
        head = view.words[head].head  # "agrees that ... and that ...": two things agreed on
    while head != ROOT:
        above = view.words[head]
        # "it is possible to ...": only a subject that comes first is more than a predicate's part
        extraposed = above.relation == "csubj" and head > above.head
        if above.relation in _CLAUSES and head not in accepted and not extraposed:
            return True
        head = above.head
    return False


_RULES: tuple[_Rule, ...] = (
    relative_clause,
    infinitive,
    conjunction,
    linked_phrase,
    adverbial,
    participle,
    apposition,
    set_off_phrase,
)


@dataclass(frozen=True, slots=True)
class PatternTable:
    """Table 1 of Zhang et al. (2020) for any text: how often the patterns occur.

    ``counts`` is the number of sentences that show a pattern at least once, as in the paper ("48
    out of 100"); ``occurrences`` counts every occurrence.
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
    """A random sample of ``size`` sentences, or all of them if there are fewer.

    It is drawn in one pass (Vitter's algorithm R), so a long text is never held in memory; the
    same ``seed`` draws the same sentences.

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
