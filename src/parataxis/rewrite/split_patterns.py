"""Which patterns of a source a rewrite has split, and into which simple sentences."""

from collections.abc import Sequence
from dataclasses import dataclass

from parataxis.rewrite.record import OutputToken
from parataxis.syntax.analysis import ROOT, Analysis
from parataxis.syntax.patterns import Occurrence, find_patterns

_CONTENT = frozenset(["NOUN", "PROPN", "VERB", "ADJ", "ADV", "NUM"])
_CLAUSES = frozenset(["root", "ccomp", "xcomp", "advcl", "acl", "csubj", "conj", "parataxis"])
_VERBS = frozenset(["VERB", "AUX"])
_ENOUGH = 0.5
"""The share of its content words with which a simple sentence contains a phrase."""

_Place = int
"""The first character of a word of the source."""


@dataclass(frozen=True, slots=True)
class ClauseHalves:
    """The two halves of a pattern: the content words of the phrase (without those of phrases inside
    it), and the predicate of the clause around it."""

    occurrence: Occurrence
    phrase: frozenset[_Place]
    clause: frozenset[_Place]


def clause_halves(analysis: Analysis) -> list[ClauseHalves]:
    """The halves of every pattern in a sentence."""
    occurrences = find_patterns(analysis)
    return [
        ClauseHalves(found, _phrase(analysis, found, occurrences), _clause(analysis, found))
        for found in occurrences
    ]


def said_apart(found: ClauseHalves, provenance: Sequence[Sequence[OutputToken]]) -> list[int]:
    """The simple sentences that contain the phrase of a pattern; none if it was not split.

    A pattern was split if the rewrite contains both halves, but no simple sentence contains both. A
    sentence contains the phrase if it has at least half of its content words, and the clause if it
    has the predicate (the copula, if the predicate is a noun or an adjective).
    """
    sentences = [{token.source[0] for token in tokens if token.source} for tokens in provenance]
    least = _ENOUGH * len(found.phrase)
    phrase = [i for i, places in enumerate(sentences) if len(found.phrase & places) >= least]
    clause = {i for i, places in enumerate(sentences) if not found.clause.isdisjoint(places)}
    return phrase if clause and clause.isdisjoint(phrase) else []


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
    """The predicate of the clause that the phrase is attached to. The sentence of the phrase may
    repeat a noun that is a predicate ("He was a painter. The painter died."), so its copula counts
    instead."""
    word = analysis[found.head]
    while word.head != ROOT:
        word = analysis[word.head]
        copulas = analysis.children(word.index, "cop")
        is_predicate = word.relation in _CLAUSES and (word.upos in _VERBS or bool(copulas))
        if is_predicate and not found.first <= word.index <= found.last:
            break
    copulas = analysis.children(word.index, "cop")
    return frozenset(copula.start for copula in copulas) or frozenset([word.start])
