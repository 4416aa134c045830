"""The checker: all checks on one rewrite or on many, and the verifier's estimate after them."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice, repeat
from typing import TYPE_CHECKING, Protocol

from parataxis.checks import lexicon
from parataxis.checks.attachments import attachment_findings, phrase_findings
from parataxis.checks.clauses import (
    FINITE_TAGS,
    WH_RELATIVES,
    asserted_infinitives,
    clause_findings,
    divided_clauses,
    lost_particles,
    predicate_findings,
)
from parataxis.checks.exchanges import exchange_findings, swap_findings
from parataxis.checks.findings import Origins
from parataxis.checks.links import (
    added_links,
    lost_links,
    new_links,
    opposite_links,
    scope_findings,
    turned_links,
)
from parataxis.checks.pronouns import (
    ambiguous_pronouns,
    exchanged_persons,
    guessed_genders,
    misfit_pronouns,
)
from parataxis.checks.relations import NOMINAL, follows, neighbour_findings, relation_findings
from parataxis.checks.units import Side, units
from parataxis.checks.words import (
    lost_quotations,
    lost_symbols,
    lost_words,
    new_words,
    repeated_sentences,
)
from parataxis.errors import TooLongError
from parataxis.rewrite.forms import key
from parataxis.rewrite.record import Finding, FindingKind, Level, Origin, OutputToken
from parataxis.syntax.analysis import Analysis, Word
from parataxis.text import english

if TYPE_CHECKING:
    from parataxis.checks.verifier import RewriteVerdict

Provenance = Sequence[Sequence[OutputToken]]

RISKY = 0.5
"""The probability of a fault from which it is reported. docs/checks.md says how many correct
rewrites and how many corruptions are above."""


class Verifying(Protocol):
    """Judges rewrites of a source; see :mod:`parataxis.checks.verifier`."""

    def __call__(
        self, source: str, rewrites: Sequence[Sequence[str]], level: Level = Level.PLAIN
    ) -> Sequence["RewriteVerdict"]:
        """Judge rewrites at a level."""


WINDOW = 64
"""The number of rewrites whose sentences are analysed together."""


class SentenceAnalyser(Protocol):
    """The part of :class:`parataxis.syntax.analyser.Analyser` that the checks use."""

    def pipe(self, sentences: Iterable[str]) -> Iterator[Analysis | TooLongError]:
        """Analyse many sentences, in order; a sentence that is too long yields the error."""


class Checker:
    """Checks one rewrite (call it) or many (:meth:`pipe`).

    Without an analyser only the word checks run: lost, new and repeated. With a verifier, a rewrite
    may also have one estimate, whose risk is at least ``risky``.

    >>> source = "Ann, who was born on 5 May 1950, paints."
    >>> for finding in Checker()(source, ["Ann was born in May.", "Ann paints."]):
    ...     print(finding.message)
    The number '5' is missing.
    The number '1950' is missing.
    """

    def __init__(
        self,
        analyser: SentenceAnalyser | None = None,
        verifying: Verifying | None = None,
        *,
        risky: float = RISKY,
        window: int = WINDOW,
    ) -> None:
        self._analyser = analyser
        self._verifying = verifying
        self._risky = risky
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
        sources: Iterable[Analysis | None] | None = None,
    ) -> Iterator[list[Finding]]:
        """The findings on each of many rewrites, in order.

        ``sources`` are the analyses of the sources that the caller already has.
        """
        stream = iter(rewrites)
        origins = iter(provenances) if provenances is not None else repeat(None)
        known = iter(sources) if sources is not None else repeat(None)
        while window := list(islice(stream, self._window)):
            cases = [
                _Case(source, simple, provenance, analysis)
                for (source, simple), provenance, analysis in zip(
                    window, origins, known, strict=False
                )
            ]
            analyses = self._analyse(cases)
            for case in cases:
                yield self._with_estimate(case, _check(case, analyses))

    def _with_estimate(self, case: "_Case", findings: list[Finding]) -> list[Finding]:
        """The findings and the verifier's, unless one of them says the same already."""
        if self._verifying is None or not case.is_changed:
            return findings
        from parataxis.checks.estimates import estimate
        from parataxis.checks.verifier import is_verifiable

        if not is_verifiable(case.source, case.simple):
            return findings
        found = estimate(
            case.simple, self._verifying(case.source, [case.simple])[0], risky=self._risky
        )
        if found is None or any(
            each.sentence in (None, found.sentence) or each.kind is found.kind for each in findings
        ):
            return findings
        return sorted([*findings, found], key=_place)

    def _analyse(self, cases: Sequence["_Case"]) -> dict[str, Analysis]:
        """The analyses of changed sources and of the simple sentences that need one."""
        if self._analyser is None:
            return {}
        changed = [case for case in cases if case.is_changed]
        analyses = {case.source: case.analysis for case in changed if case.analysis is not None}
        self._add((case.source for case in changed), analyses)
        uncertain = [text for case in changed for text in case.uncertain(analyses.get(case.source))]
        self._add(uncertain, analyses)
        return analyses

    def _add(self, sentences: Iterable[str], analyses: dict[str, Analysis]) -> None:
        """Add the analyses of sentences that have none yet."""
        texts = [text for text in dict.fromkeys(sentences) if text not in analyses]
        if self._analyser is None or not texts:
            return
        results = zip(texts, self._analyser.pipe(texts), strict=True)
        analyses.update((text, found) for text, found in results if isinstance(found, Analysis))


@dataclass(frozen=True, slots=True)
class _Case:
    source: str
    simple: Sequence[str]
    provenance: Provenance | None
    analysis: Analysis | None

    @property
    def is_changed(self) -> bool:
        return list(self.simple) != [self.source]

    def uncertain(self, analysis: Analysis | None) -> list[str]:
        """The simple sentences that must be analysed, given the analysis of the source."""
        if analysis is None:
            return []
        if self.provenance is None:
            return list(self.simple)
        return [
            self.simple[index] for index in sorted(uncertain_sentences(analysis, self.provenance))
        ]


def check(
    source: str,
    simple: Sequence[str],
    *,
    analyser: SentenceAnalyser | None = None,
    verifying: Verifying | None = None,
    provenance: Provenance | None = None,
) -> list[Finding]:
    """The findings on one rewrite; use :class:`Checker` for many.

    >>> [(f.kind.value, f.words) for f in check("He may not go.", ["He may go."])]
    [('lost', 'not')]
    """
    return Checker(analyser, verifying)(source, simple, provenance)


def _check(case: _Case, analyses: dict[str, Analysis]) -> list[Finding]:
    if not case.is_changed:
        return []
    source = Side([case.source], [units(case.source, analyses.get(case.source))])
    simple = Side(case.simple, [units(text, analyses.get(text)) for text in case.simple])
    lost = [*lost_words(source, simple), *lost_links(source, simple)]
    findings = [
        *lost,
        *lost_quotations(source, simple, lost),
        *lost_symbols(source, simple),
        *new_words(source, simple),
        *new_links(source, simple),
        *added_links(source, simple),
        *opposite_links(source, simple),
        *turned_links(source, simple),
        *repeated_sentences(source, simple),
        *guessed_genders(source, simple),
    ]
    tree, trees = analyses.get(case.source), [analyses.get(text) for text in case.simple]
    if tree is not None:
        tokens = case.provenance
        if tokens is None:
            from parataxis.rewrite.align import align

            tokens = align(case.source, case.simple)
        origins = [Origins(tree, sentence) for sentence in tokens]
        findings += clause_findings(tree, trees, origins)
        findings += ambiguous_pronouns(tree, trees, origins)
        findings += relation_findings(tree, trees, origins)
        findings += misfit_pronouns(tree, origins)
        known = {(found.sentence, found.start) for found in findings}
        for found in (
            *predicate_findings(tree, trees, origins),
            *scope_findings(tree, origins),
            *neighbour_findings(tree, origins),
            *exchange_findings(tree, trees, origins),
            *exchanged_persons(tree, origins),
            *divided_clauses(tree, origins),
            *asserted_infinitives(tree, origins),
            *phrase_findings(tree, origins),
        ):
            if (found.sentence, found.start) not in known:
                known.add((found.sentence, found.start))
                findings.append(found)
        if not any(found.kind is FindingKind.RELATION for found in findings):
            swaps = swap_findings(tree, origins)
            findings += swaps or attachment_findings(tree, trees, origins)
        findings += lost_particles(tree, case.simple, origins)
    return sorted(findings, key=_place)


def _place(finding: Finding) -> tuple[int, int]:
    """Findings on the source first, then those on each simple sentence, from left to right."""
    return (-1 if finding.sentence is None else finding.sentence), finding.start


_CONJUNCTIONS = english.COORDINATORS | {"plus"}
_COPIED = Origin.COPIED  # looking up a member of an enumeration for each word is slow
_NEAR = 4  # words of a noun phrase up to its noun: "the old stone bridge"
_BEFORE_INFINITIVES = lexicon.MODALS | {"to", "do", "does", "did", "let", "lets"}


def uncertain_sentences(source: Analysis, sentences: Sequence[Sequence[OutputToken]]) -> set[int]:
    """The indices of the sentences whose analysis could lead to a finding."""
    words = source.by_start
    found = set()
    for index, tokens in enumerate(sentences):
        keys = [key(token.text) for token in tokens]
        spans = [token.source for token in tokens]
        came_from = [words.get(span[0]) if span else None for span in spans]
        copied = [
            word if token.origin is _COPIED else None
            for token, word in zip(tokens, came_from, strict=True)
        ]
        is_about_noun = any(word is not None and word.relation == "acl" for word in came_from)
        if index and is_about_noun and not english.THIRD_PERSON.isdisjoint(keys):
            found |= {index - 1, index}
        elif _may_be_no_sentence(keys, copied) or _has_moved_noun(source, came_from, copied):
            found.add(index)
    return found


def _may_be_no_sentence(keys: Sequence[str], copied: Sequence[Word | None]) -> bool:
    if "that" in keys or not WH_RELATIVES.isdisjoint(keys):
        return True
    if not english.SUBORDINATORS.isdisjoint(keys) and _opener(keys) in english.SUBORDINATORS:
        return True
    tags = [None if word is None else word.xpos for word in copied]
    if lexicon.FINITE_FORMS.isdisjoint(keys) and FINITE_TAGS.isdisjoint(tags):
        return True
    return "VB" in tags and _has_bare_verb(keys, tags)


def _opener(keys: Sequence[str]) -> str | None:
    """The first word, or the one behind a conjunction at the head of the sentence."""
    spoken = (word for word in keys if any(map(str.isalnum, word)))
    first = next(spoken, None)
    return next(spoken, None) if first in _CONJUNCTIONS else first


def _has_bare_verb(keys: Sequence[str], tags: Sequence[str | None]) -> bool:
    """Whether an infinitive stands before everything that could govern one."""
    for spelling, tag in zip(keys, tags, strict=True):
        if spelling in _BEFORE_INFINITIVES:
            return False
        if tag == "VB" and spelling not in lexicon.UNCHANGING_VERBS:
            return True
    return False


def _has_moved_noun(
    source: Analysis, came_from: Sequence[Word | None], copied: Sequence[Word | None]
) -> bool:
    """Whether a noun stands before other words than in the source, or in a pronoun's place."""
    last = len(came_from) - 1
    while last > 0 and ((word := came_from[last]) is None or word.upos == "PUNCT"):
        last -= 1
    # The right one is a copy: not "are" that became "is".
    for place, (left, right) in enumerate(zip(came_from[:last], copied[1:], strict=False), start=1):
        if left is None or (right is not None and right.index == left.index + 1):
            continue
        if right is not None and _is_unmoved(source, left, right):
            continue
        if left.upos in NOMINAL:
            return True
        if left.index + 1 < len(source) and source[left.index + 1].upos == "PRON":
            nearby = came_from[place : place + _NEAR]
            if any(word is not None and word.upos in NOMINAL for word in nearby):
                return True
    return False


def _is_unmoved(source: Analysis, left: Word, right: Word) -> bool:
    """Whether only what stands between marks, or ", who", is between two words of the source."""
    if follows(source, left, right):
        return True
    between = source.words[left.index + 1 : right.index]
    return bool(between) and all(
        word.upos == "PUNCT" or key(word.text) in WH_RELATIVES for word in between
    )
