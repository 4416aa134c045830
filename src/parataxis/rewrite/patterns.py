"""Which patterns of a source a rewrite has split, and which simple sentences that made."""

from collections.abc import Sequence
from dataclasses import dataclass

from parataxis.rewrite.record import OutputToken
from parataxis.syntax.analysis import ROOT, Analysis, Word
from parataxis.syntax.patterns import Occurrence, find_patterns

__all__ = ["Sides", "said_apart", "sides"]

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

    occurrence: Occurrence
    phrase: frozenset[_Place]
    clause: frozenset[_Place]


def sides(analysis: Analysis) -> list[Sides]:
    """The two sides of every pattern in a sentence."""
    occurrences = find_patterns(analysis)
    return [
        Sides(found, _phrase(analysis, found, occurrences), _clause(analysis, found))
        for found in occurrences
    ]


def said_apart(found: Sides, provenance: Sequence[Sequence[OutputToken]]) -> list[int]:
    """The simple sentences that say the phrase of a pattern; none where it was not split.

    A pattern was split if the rewrite says both of its sides and in no simple sentence both: a
    sentence holds the phrase if at least half of the phrase's content words come from there, and
    the clause if its predicate does (of a noun or adjective with a copula: the copula).
    """
    sentences = [{token.source[0] for token in tokens if token.source} for tokens in provenance]
    phrase = [i for i, places in enumerate(sentences) if _holds(places, found.phrase)]
    clause = {i for i, places in enumerate(sentences) if not found.clause.isdisjoint(places)}
    return phrase if clause and clause.isdisjoint(phrase) else []


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
