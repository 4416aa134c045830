"""Which of the seven syntactic patterns of the sources were split."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from parataxis.checks import SentenceAnalyser
from parataxis.metrics.analyses import shared_analyser
from parataxis.metrics.protocol import Item, Score, Signature, Statistics
from parataxis.rewrite.align import align
from parataxis.syntax.analysis import ROOT, Analysis, Word
from parataxis.syntax.patterns import Occurrence, Pattern, find_patterns

__all__ = ["PatternsSplit", "Sides", "sides"]

_CONTENT = frozenset(["NOUN", "PROPN", "VERB", "ADJ", "ADV", "NUM"])
_CLAUSES = frozenset(["root", "ccomp", "xcomp", "advcl", "acl", "csubj", "conj", "parataxis"])
_VERBS = frozenset(["VERB", "AUX"])
_ENOUGH = 0.5
"""The share of a phrase's content words by which a simple sentence holds the phrase."""

_Place = int
"""Where a word starts in the source."""


@dataclass(frozen=True, slots=True)
class Sides:
    """What a pattern holds together: the content words of the phrase (without those of phrases
    inside it), and the words that say what the clause around it says."""

    pattern: Pattern
    phrase: frozenset[_Place]
    clause: frozenset[_Place]


class PatternsSplit:
    """The share of the patterns of the sources that were split: of all, and of each one.

    A pattern (see docs/patterns.md) joins a phrase to a clause. It was split if the rewrite says
    both and in no simple sentence both: a sentence holds the phrase if at least half of the
    phrase's content words come from there, and the clause if its predicate does (of a noun or
    adjective with a copula: the copula). Which word came from where is what
    :func:`parataxis.rewrite.align.align` says, so another form of the word is enough. A phrase
    that is left out was not split, nor is anything in a rewrite of one sentence.
    """

    name = "patterns"
    summary = "percent of the seven patterns of the sources that were split"
    needs_references = False
    higher_is_better: bool | None = None

    def __init__(self, analyser: SentenceAnalyser | None = None) -> None:
        self._given = analyser

    @property
    def signature(self) -> Signature:
        """How it is counted."""
        return Signature(self.name, {"average": "micro", "split": "sides-apart-1"})

    def statistics(self, items: Sequence[Item]) -> Statistics:
        """For each item and pattern: how many were split, and how many there are."""
        analyser = self._given or shared_analyser()
        items = [item.plain for item in items]
        rows = np.zeros((len(items), len(Pattern), 2))
        for row, item, analysis in zip(
            rows, items, analyser.pipe(item.source for item in items), strict=True
        ):
            if isinstance(analysis, Analysis):
                _count(row, item, sides(analysis))
        return rows.reshape(len(items), -1)

    def from_statistics(self, total: Statistics) -> Score:
        """The share of all, and of each pattern."""
        counts = total.reshape(len(Pattern), 2)
        parts = {pattern.value: _share(*row) for pattern, row in zip(Pattern, counts, strict=True)}
        return Score(_share(*counts.sum(axis=0)), self.signature, parts)


def sides(analysis: Analysis) -> list[Sides]:
    """The two sides of every pattern in a sentence."""
    occurrences = find_patterns(analysis)
    return [
        Sides(found.pattern, _phrase(analysis, found, occurrences), _clause(analysis, found))
        for found in occurrences
    ]


def _count(row: Statistics, item: Item, found: Sequence[Sides]) -> None:
    """Add the patterns of one source to its row."""
    if not found:
        return
    places: list[set[_Place]] = []
    if len(item.simple) > 1:
        aligned = align(item.source, item.simple)
        places = [{token.source[0] for token in tokens if token.source} for tokens in aligned]
    order = list(Pattern)
    for one in found:
        row[order.index(one.pattern)] += (_is_split(one, places), 1)


def _is_split(found: Sides, sentences: Sequence[set[_Place]]) -> bool:
    phrase = [_holds(sentence, found.phrase) for sentence in sentences]
    clause = [not found.clause.isdisjoint(sentence) for sentence in sentences]
    together = any(p and c for p, c in zip(phrase, clause, strict=True))
    return any(phrase) and any(clause) and not together


def _holds(sentence: set[_Place], phrase: frozenset[_Place]) -> bool:
    return len(phrase & sentence) >= _ENOUGH * len(phrase)


def _phrase(
    analysis: Analysis, found: Occurrence, occurrences: Sequence[Occurrence]
) -> frozenset[_Place]:
    inner = {
        index
        for other in occurrences
        if other is not found and found.first <= other.first and other.last <= found.last
        for index in range(other.first, other.last + 1)
    }
    own = [analysis[i] for i in range(found.first, found.last + 1) if i not in inner]
    content = [word for word in own if word.upos in _CONTENT]
    return frozenset(word.start for word in content or own or [analysis[found.head]])


def _clause(analysis: Analysis, found: Occurrence) -> frozenset[_Place]:
    """The predicate of the clause that the phrase hangs on. A noun that is a predicate may be said
    again in the sentence of the phrase ("He was a painter. The painter died."): its copula counts
    instead."""
    word = analysis[found.head]
    while word.head != ROOT:
        word = analysis[word.head]
        if not found.first <= word.index <= found.last and _is_predicate(analysis, word):
            break
    copulas = analysis.children(word.index, "cop")
    return frozenset(copula.start for copula in copulas) or frozenset([word.start])


def _is_predicate(analysis: Analysis, word: Word) -> bool:
    return word.relation in _CLAUSES and (
        word.upos in _VERBS or bool(analysis.children(word.index, "cop"))
    )


def _share(split: float, found: float) -> float:
    return float(100 * split / found) if found else float("nan")
