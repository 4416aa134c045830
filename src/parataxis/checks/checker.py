"""All checks on one rewrite or on many."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice, repeat
from typing import Protocol

from parataxis.checks.clauses import clause_findings
from parataxis.checks.doubts import doubtful
from parataxis.checks.links import lost_links, new_links
from parataxis.checks.origins import Origins
from parataxis.checks.particles import lost_particles
from parataxis.checks.pronouns import ambiguous_pronouns, guessed_genders
from parataxis.checks.quotations import lost_quotations
from parataxis.checks.relations import relation_findings
from parataxis.checks.repeated import repeated_sentences
from parataxis.checks.units import units
from parataxis.checks.words import lost_words, new_words
from parataxis.errors import TooLongError
from parataxis.rewrite.align import align
from parataxis.rewrite.record import Finding, OutputToken
from parataxis.syntax.analysis import Analysis

__all__ = ["WINDOW", "Checker", "Provenance", "SentenceAnalyser", "check"]

Provenance = Sequence[Sequence[OutputToken]]

WINDOW = 64
"""Rewrites whose sentences are analysed together."""


class SentenceAnalyser(Protocol):
    """What the checks ask of an analyser (:class:`parataxis.syntax.analyser.Analyser` has it)."""

    def pipe(self, sentences: Iterable[str]) -> Iterator[Analysis | TooLongError]:
        """Analyse many sentences, in order; the error in the place of one that is too long."""


class Checker:
    """Checks one rewrite (call it) or many (:meth:`pipe`).

    Without an analyser only the word checks are made: lost, new and repeated.

    >>> source = "Ann, who was born on 5 May 1950, paints."
    >>> for finding in Checker()(source, ["Ann was born in May.", "Ann paints."]):
    ...     print(finding.message)
    The number '5' is missing.
    The number '1950' is missing.
    """

    def __init__(self, analyser: SentenceAnalyser | None = None, *, window: int = WINDOW) -> None:
        self._analyser = analyser
        self._window = window

    def __call__(
        self, source: str, simple: Sequence[str], provenance: Provenance | None = None
    ) -> list[Finding]:
        """The findings on one rewrite: on the source first, then sentence by sentence."""
        return next(self.pipe([(source, simple)], [provenance]))

    def pipe(
        self,
        rewrites: Iterable[tuple[str, Sequence[str]]],
        provenances: Iterable[Provenance | None] | None = None,
    ) -> Iterator[list[Finding]]:
        """The findings on each of many rewrites, in order."""
        stream = iter(rewrites)
        origins = iter(provenances) if provenances is not None else repeat(None)
        while window := list(islice(stream, self._window)):
            cases = [
                _Case(source, simple, provenance)
                for (source, simple), provenance in zip(window, origins, strict=False)
            ]
            analyses = self._analyse(cases)
            for case in cases:
                yield _check(case, analyses)

    def _analyse(self, cases: Sequence["_Case"]) -> dict[str, Analysis]:
        """The analyses of the sources that were changed, and of the sentences that matter."""
        if self._analyser is None:
            return {}
        changed = [case for case in cases if case.is_changed]
        analyses = self._analysed(case.source for case in changed)
        return analyses | self._analysed(
            sentence for case in changed for sentence in case.doubtful(analyses.get(case.source))
        )

    def _analysed(self, sentences: Iterable[str]) -> dict[str, Analysis]:
        texts = list(dict.fromkeys(sentences))
        if self._analyser is None or not texts:
            return {}
        results = zip(texts, self._analyser.pipe(texts), strict=True)
        return {text: result for text, result in results if isinstance(result, Analysis)}


@dataclass(frozen=True, slots=True)
class _Case:
    """A rewrite to be checked."""

    source: str
    simple: Sequence[str]
    provenance: Provenance | None

    @property
    def is_changed(self) -> bool:
        return list(self.simple) != [self.source]

    def doubtful(self, analysis: Analysis | None) -> list[str]:
        """The simple sentences that must be analysed, given the analysis of the source."""
        if analysis is None:
            return []
        if self.provenance is None:
            return list(self.simple)
        return [self.simple[index] for index in sorted(doubtful(analysis, self.provenance))]


def check(
    source: str,
    simple: Sequence[str],
    *,
    analyser: SentenceAnalyser | None = None,
    provenance: Provenance | None = None,
) -> list[Finding]:
    """The faults of one rewrite; see :class:`Checker` for many.

    >>> [(f.kind.value, f.words) for f in check("He may not go.", ["He may go."])]
    [('lost', 'not')]
    """
    return Checker(analyser)(source, simple, provenance)


def _check(case: _Case, analyses: dict[str, Analysis]) -> list[Finding]:
    if not case.is_changed:
        return []
    source, simple = case.source, case.simple
    source_units = units(source)
    output = [units(sentence) for sentence in simple]
    lost = [
        *lost_words(source, source_units, output),
        *lost_links(source, source_units, output),
    ]
    findings = [
        *lost,
        *lost_quotations(source, source_units, simple, output, lost),
        *new_words(source, source_units, simple, output),
        *new_links(source_units, simple, output),
        *repeated_sentences(source_units, simple, output),
        *guessed_genders(source_units, output),
    ]
    parsed = [analyses.get(sentence) for sentence in simple]
    if source in analyses and any(parsed):
        tokens = align(source, simple) if case.provenance is None else case.provenance
        origins = [Origins(analyses[source], sentence) for sentence in tokens]
        findings += clause_findings(analyses[source], parsed, origins)
        findings += ambiguous_pronouns(analyses[source], parsed, origins)
        findings += relation_findings(analyses[source], parsed, origins)
        findings += lost_particles(analyses[source], simple, origins)
    return sorted(findings, key=_place)


def _place(finding: Finding) -> tuple[int, int]:
    """Findings on the source first, then those on each simple sentence, from left to right."""
    return (-1 if finding.sentence is None else finding.sentence), finding.start
