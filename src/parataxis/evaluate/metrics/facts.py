"""Metrics that read sentences with the analyser: fact errors, and which patterns were split."""

from collections import OrderedDict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from typing import ClassVar

import numpy as np

from parataxis.checks import Checker, SentenceAnalyser
from parataxis.errors import TooLongError
from parataxis.evaluate.metrics.protocol import BaseMetric, Score, ScoredItem, Statistics
from parataxis.rewrite.align import align
from parataxis.rewrite.record import Finding, FindingKind
from parataxis.rewrite.split_patterns import clause_halves, said_apart
from parataxis.syntax.analyser import load_trees
from parataxis.syntax.analysis import Analysis, Word
from parataxis.syntax.patterns import Occurrence, Pattern, find_patterns

_REMEMBERED = 4096


class Remembering:
    """An analyser that caches its last ``size`` analyses: all metrics read the same sentences, and
    the systems of a comparison have the same sources."""

    def __init__(self, analyser: SentenceAnalyser, *, size: int = _REMEMBERED) -> None:
        self._analyser = analyser
        self._size = size
        self._known: OrderedDict[str, Analysis | TooLongError] = OrderedDict()

    def pipe(self, sentences: Iterable[str]) -> Iterator[Analysis | TooLongError]:
        """Analyse many sentences, in order; those that are not cached, in one batch."""
        texts = list(sentences)
        found = {text: self._known[text] for text in texts if text in self._known}
        missing = list(dict.fromkeys(text for text in texts if text not in found))
        if missing:
            found.update(zip(missing, self._analyser.pipe(missing), strict=True))
        for text, analysis in found.items():
            self._known[text] = analysis
            self._known.move_to_end(text)
        while len(self._known) > self._size:
            self._known.popitem(last=False)
        return (found[text] for text in texts)


@cache
def shared_analyser() -> Remembering:
    """The analyser that ships with Parataxis, with one cache for all metrics."""
    return Remembering(load_trees())


class AnalysedMetric(BaseMetric):
    """The base of metrics that read every sentence with an analyser, by default the shared one."""

    def __init__(self, analyser: SentenceAnalyser | None = None) -> None:
        self._given = analyser

    @property
    def analyser(self) -> SentenceAnalyser:
        return self._given or shared_analyser()


CORRECT, UNSUPPORTED, REPEATED = "correct", "unsupported", "repeated"
_COUNTS = ("sentences", CORRECT, UNSUPPORTED, REPEATED, "missing")
_UNSUPPORTED = frozenset([FindingKind.NEW, FindingKind.RELATION])
_EMPTY = frozenset(["PUNCT", "ADP", "DET", "CCONJ", "SCONJ", "PART", "AUX", "PRON"])


class Facts(AnalysedMetric):
    """The percentage of correct simple sentences, and counts of unsupported and repeated ones and
    of missing facts, as Aharoni and Goldberg (2018, table 7) counted by hand; docs/metrics.md has
    the definitions and says how far they can be trusted."""

    name = "facts"
    summary = "percent of simple sentences without a fact error, and counts of the errors"
    settings: ClassVar[Mapping[str, str]] = {"by": "parataxis-checks-1"}

    def statistics(self, items: Sequence[ScoredItem]) -> Statistics:
        """For each item: simple sentences, correct, unsupported and repeated ones, and missing
        facts."""
        items = [item.plain for item in items]
        findings = list(Checker(self.analyser).pipe((item.source, item.simple) for item in items))
        analyses = self.analyser.pipe(item.source for item in items)
        rows = []
        for item, found, analysis in zip(items, findings, analyses, strict=True):
            labels = label_sentences(item.simple, found)
            lost = lost_facts(found, analysis if isinstance(analysis, Analysis) else None)
            counts = [labels.count(label) for label in (CORRECT, UNSUPPORTED, REPEATED)]
            rows.append([len(labels), *counts, len(lost)])
        return np.array(rows, float)

    def from_statistics(self, total: Statistics) -> Score:
        counts = dict(zip(_COUNTS, total.tolist(), strict=True))
        return Score(_percent(counts[CORRECT], counts["sentences"]), self.signature, counts)


def label_sentences(simple: Sequence[str], findings: Sequence[Finding]) -> list[str]:
    """The label of each simple sentence: "correct", "unsupported" or "repeated"."""
    labels = [CORRECT] * len(simple)
    for finding in findings:
        place = finding.sentence
        if place is not None and finding.kind in _UNSUPPORTED:
            labels[place] = UNSUPPORTED
        elif place is not None and finding.kind is FindingKind.REPEATED:
            labels[place] = REPEATED if labels[place] == CORRECT else labels[place]
    return labels


def lost_facts(findings: Sequence[Finding], analysis: Analysis | None) -> list[str]:
    """The lost words of each fact of the source that is lost in whole or in part: a clause, or a
    phrase that shows a pattern. Without an analysis each finding is one."""
    lost = [finding for finding in findings if finding.kind is FindingKind.LOST]
    if analysis is None:
        return [finding.words for finding in lost]
    occurrences = find_patterns(analysis)
    facts: dict[int | None, list[Word]] = {}
    for finding in lost:
        inside = [word for word in analysis if finding.start <= word.start < finding.end]
        # A finding may be about a function word alone: then that is its place.
        content = [word for word in inside if word.upos not in _EMPTY] or inside[:1]
        for word in content:
            facts.setdefault(_innermost(word.start, occurrences), [])
        for word in inside:
            facts.get(_innermost(word.start, occurrences), []).append(word)
    return [" ".join(word.text for word in words) for words in facts.values()]


def _innermost(place: int, occurrences: Sequence[Occurrence]) -> int | None:
    """The smallest phrase around a place, by its number; None in the main clause."""
    around = [i for i, found in enumerate(occurrences) if found.start <= place < found.end]
    return min(around, key=lambda i: occurrences[i].end - occurrences[i].start, default=None)


class PatternsSplit(AnalysedMetric):
    """The share of the patterns of the sources that were split: of all, and of each one. A pattern
    was split if its phrase and its clause are in different simple sentences; docs/metrics.md has
    the details."""

    name = "patterns"
    summary = "percent of the seven patterns of the sources that were split"
    higher_is_better = None
    settings: ClassVar[Mapping[str, str]] = {"average": "micro", "split": "sides-apart-1"}

    def statistics(self, items: Sequence[ScoredItem]) -> Statistics:
        """For each item and pattern: how many were split, and how many there are."""
        items = [item.plain for item in items]
        rows = np.zeros((len(items), len(Pattern), 2))
        order = list(Pattern)
        analyses = self.analyser.pipe(item.source for item in items)
        for row, item, analysis in zip(rows, items, analyses, strict=True):
            found = clause_halves(analysis) if isinstance(analysis, Analysis) else []
            provenance = align(item.source, item.simple) if found and len(item.simple) > 1 else ()
            for one in found:
                is_split = bool(said_apart(one, provenance))
                row[order.index(one.occurrence.pattern)] += (is_split, 1)
        return rows.reshape(len(items), -1)

    def from_statistics(self, total: Statistics) -> Score:
        counts = total.reshape(len(Pattern), 2)
        parts = {each.value: _percent(*row) for each, row in zip(Pattern, counts, strict=True)}
        return Score(_percent(*counts.sum(axis=0)), self.signature, parts)


def _percent(part: float, whole: float) -> float:
    return float(100 * part / whole) if whole else float("nan")
