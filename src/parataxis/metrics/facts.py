"""Fact errors, as Aharoni and Goldberg (2018, table 7) counted them by hand: counted by the checks.

docs/metrics.md says how far the counts can be trusted.
"""

from collections.abc import Sequence
from itertools import chain

import numpy as np

from parataxis.checks import Checker, SentenceAnalyser
from parataxis.metrics.analyses import shared_analyser
from parataxis.metrics.protocol import Item, Score, Signature, Statistics
from parataxis.rewrite.record import Finding, Kind
from parataxis.syntax.analysis import Analysis, Word
from parataxis.syntax.patterns import Occurrence, find_patterns

__all__ = ["Facts", "label_sentences", "lost_facts", "missing_facts"]

CORRECT, UNSUPPORTED, REPEATED = "correct", "unsupported", "repeated"
_COUNTS = ("sentences", CORRECT, UNSUPPORTED, REPEATED, "missing")
_UNSUPPORTED = frozenset([Kind.NEW, Kind.RELATION])
_EMPTY = frozenset(["PUNCT", "ADP", "DET", "CCONJ", "SCONJ", "PART", "AUX", "PRON"])


class Facts:
    """How many simple sentences are correct, unsupported or repeated, and how many facts are
    missing. The score is the percentage of correct ones.

    A simple sentence is *unsupported* if the checks find a new word or a wrong relation in it,
    otherwise *repeated* if it says only what was said before, and otherwise *correct*: about
    grammar this says nothing. A *missing* fact is a clause of the source, or a phrase that shows
    one of the seven patterns, of which something is lost.
    """

    name = "facts"
    summary = "percent of simple sentences without a fact error, and counts of the errors"
    needs_references = False
    higher_is_better: bool | None = True

    def __init__(self, analyser: SentenceAnalyser | None = None) -> None:
        self._given = analyser

    @property
    def signature(self) -> Signature:
        """Who counts."""
        return Signature(self.name, {"by": "parataxis-checks-1"})

    def statistics(self, items: Sequence[Item]) -> Statistics:
        """For each item: simple sentences, correct, unsupported and repeated ones, and missing
        facts."""
        analyser = self._given or shared_analyser()
        items = [item.plain for item in items]
        findings = list(Checker(analyser).pipe((item.source, item.simple) for item in items))
        analyses = analyser.pipe(item.source for item in items)
        return np.array(
            [
                _row(item, found, analysis if isinstance(analysis, Analysis) else None)
                for item, found, analysis in zip(items, findings, analyses, strict=True)
            ],
            float,
        )

    def from_statistics(self, total: Statistics) -> Score:
        """The share of correct sentences, and all counts."""
        counts = dict(zip(_COUNTS, total.tolist(), strict=True))
        sentences = counts["sentences"]
        value = 100 * counts[CORRECT] / sentences if sentences else float("nan")
        return Score(value, self.signature, counts)


def label_sentences(simple: Sequence[str], findings: Sequence[Finding]) -> list[str]:
    """What each simple sentence is: "correct", "unsupported" or "repeated"."""
    kinds: list[set[Kind]] = [set() for _ in simple]
    for finding in findings:
        if finding.sentence is not None:
            kinds[finding.sentence].add(finding.kind)
    return [_label(found) for found in kinds]


def missing_facts(findings: Sequence[Finding], analysis: Analysis | None) -> int:
    """How many facts of the source are lost, in whole or in part."""
    return len(lost_facts(findings, analysis))


def lost_facts(findings: Sequence[Finding], analysis: Analysis | None) -> list[str]:
    """The lost words of each fact of the source of which something is lost.

    Lost words of one clause, or of one phrase that shows a pattern, are one fact. Without an
    analysis each finding is one.
    """
    lost = [finding for finding in findings if finding.kind is Kind.LOST]
    if analysis is None:
        return [finding.words for finding in lost]
    occurrences = find_patterns(analysis)
    facts: dict[int | None, list[Word]] = {}
    for finding in lost:
        inside = [word for word in analysis if finding.start <= word.start < finding.end]
        # A finding may be about a function word alone: then that is its place.
        told = [word for word in inside if word.upos not in _EMPTY] or inside[:1]
        for word in told:
            facts.setdefault(_innermost(word.start, occurrences), [])
        for word in inside:
            facts.get(_innermost(word.start, occurrences), []).append(word)
    return [" ".join(word.text for word in words) for words in facts.values()]


def _row(item: Item, findings: Sequence[Finding], analysis: Analysis | None) -> list[int]:
    labels = label_sentences(item.simple, findings)
    counted = (labels.count(label) for label in (CORRECT, UNSUPPORTED, REPEATED))
    return list(chain([len(labels)], counted, [missing_facts(findings, analysis)]))


def _label(kinds: set[Kind]) -> str:
    if kinds & _UNSUPPORTED:
        return UNSUPPORTED
    return REPEATED if Kind.REPEATED in kinds else CORRECT


def _innermost(place: int, occurrences: Sequence[Occurrence]) -> int | None:
    """The smallest phrase around a place, by its number; None in the main clause."""
    around = [i for i, found in enumerate(occurrences) if found.start <= place < found.end]
    return min(around, key=lambda i: occurrences[i].end - occurrences[i].start, default=None)
