"""Chooses among the rewrites that the search found: the surest comes first, the checks veto.

How sure a rewrite is, is estimated from what the verifier and the pointer model say of it. Of the
rewrites that are surer than that the source should stay whole, the first without a finding wins. If
there is none, the first without a blocking finding is taken. Otherwise the source stays whole, and
the note says why.
"""

import math
import operator
from collections.abc import Iterator, Sequence, Set
from concurrent.futures import Executor
from dataclasses import dataclass
from itertools import permutations
from typing import NamedTuple

from parataxis.checks import Checker
from parataxis.checks.checker import Verifying
from parataxis.checks.clauses import is_incomplete
from parataxis.checks.verifier import RewriteVerdict
from parataxis.rewrite.compose import Part, compose, left_whole
from parataxis.rewrite.forms import key
from parataxis.rewrite.record import (
    Finding,
    FindingKind,
    Level,
    Origin,
    OutputToken,
    Rewrite,
    complaints,
)
from parataxis.splitters.pointer.parts import SentenceParts, sentence_parts
from parataxis.splitters.pointer.search import Found
from parataxis.splitters.settings import broken_phrase, word_count
from parataxis.syntax.analysis import ROOT, Analysis, Word
from parataxis.text import english
from parataxis.text.tokens import has_word

NAME = "pointer"

CAUTION = 1.5
"""The penalty for each new sentence in the search, in nats."""
SURELY_WHOLE = 0.7
"""The probability to stay whole from which a source is left whole without a search."""

CLOSE = 3.0
"""Candidates whose log-probability is further below the best one are dropped."""
MARGIN = {Level.LIGHT: 0.0, Level.PLAIN: 0.0, Level.ATOMIC: 0.1}
"""How much surer a rewrite must be than that the source should stay whole: programs take claims for
facts, so a wrong claim costs more than one that could be split."""
SURE = 0.89
"""The lowest confidence of a rewrite that is taken in strict mode."""

SHORT = 25
"""A source of so many words is split at the level ``light`` only between main clauses."""

BLOCKING = frozenset(
    [
        *(FindingKind.LOST, FindingKind.NEW, FindingKind.REPEATED, FindingKind.RELATION),
        FindingKind.NO_VERB,
    ]
)
"""Findings that rule a rewrite out, because its meaning differs or it is no sentence; in strict
mode all do."""


def blocking_findings(*, strict: bool) -> Set[FindingKind]:
    """The findings that rule a rewrite out."""
    return frozenset(FindingKind) if strict else BLOCKING


@dataclass(frozen=True, slots=True, eq=False)  # a hash of all its words would be slow
class Candidate:
    """A rewrite that was found, as text."""

    simple: tuple[str, ...]
    provenance: tuple[tuple[OutputToken, ...], ...]
    log_chance: float
    entropy: float = 0.0


class Evidence(NamedTuple):
    """What the confidence in a rewrite is computed from."""

    risk: float
    """The verifier's log-odds of a fault in the worst sentence."""
    log_chance: float
    """The pointer's own log-probability."""
    entropy: float
    """How unsure the pointer was on the way."""


class WholeEvidence(NamedTuple):
    """What the chance that a source should stay whole is computed from."""

    whole: float
    """The pointer's log-odds that it stays whole."""
    further: float
    """The verifier's log-odds that it should be split."""


WEIGHTS = {
    Level.LIGHT: (Evidence(-0.5284, 0.2132, -0.3479), 0.7410),
    Level.PLAIN: (Evidence(-0.4030, 0.1975, -0.4526), 1.5135),
    Level.ATOMIC: (Evidence(-0.3016, 0.4132, -0.2103), 1.2515),
}
"""The weights of the evidence, and what is added, at each level."""
WHOLE_WEIGHTS = {
    Level.LIGHT: (WholeEvidence(0.5260, -0.3637), 0.5547),
    Level.PLAIN: (WholeEvidence(0.4017, -0.4383), 1.1779),
    Level.ATOMIC: (WholeEvidence(0.4316, -0.2846), 0.3347),
}
"""The same for the source itself."""


def confidence(evidence: Evidence, level: Level) -> float:
    """The probability that a careful reader finds no fault in a rewrite.

    A logistic regression on judgements of rewrites; docs/pointer.md compares it with them.
    """
    return _logistic(evidence, *WEIGHTS[level])


def whole_chance(evidence: WholeEvidence, level: Level) -> float:
    """The probability that a careful reader would leave a source whole."""
    return _logistic(evidence, *WHOLE_WEIGHTS[level])


_LARGEST = 700.0
"""The exponential function of more overflows: long nonsense has an entropy of thousands."""


def _logistic(evidence: Sequence[float], weights: Sequence[float], added: float) -> float:
    odds = added + sum(map(operator.mul, weights, evidence))
    return 1 / (1 + math.exp(min(-odds, _LARGEST)))


def _log_odds(chance: float) -> float:
    chance = min(max(chance, 1e-4), 1 - 1e-4)
    return math.log(chance / (1 - chance))


def evidence_of(option: Candidate, verdict: RewriteVerdict) -> Evidence:
    """The evidence for a rewrite."""
    return Evidence(_log_odds(verdict.risk), option.log_chance, option.entropy)


def whole_evidence(found: Found, verdict: RewriteVerdict) -> WholeEvidence:
    """The evidence for a source as it is."""
    return WholeEvidence(_log_odds(found.whole), _log_odds(verdict.unsplit))


def whole_rewrite(source: str, *, note: str | None = None) -> Rewrite:
    """The source itself, which has no findings."""
    return left_whole(source, splitter=NAME, note=note).model_copy(update={"findings": ()})


def breaks(phrase: str) -> str:
    """Why a sentence is left whole of which every rewrite breaks a phrase."""
    return f'Left whole because every rewrite that was found breaks the phrase "{phrase}".'


def choose(
    sources: Sequence[tuple[Analysis, Found]],
    checker: Checker,
    verifying: Verifying,
    *,
    level: Level = Level.PLAIN,
    strict: bool = False,
    least: float = 0.0,
    keep: Sequence[str] = (),
    pool: Executor | None = None,
) -> list[Rewrite]:
    """The rewrite of each source; the candidates of all sources are checked in batches.

    Rewrites have at least the confidence ``least`` and the phrases to ``keep``. Sources are
    verified in parallel if there is a ``pool``.
    """
    blocking = blocking_findings(strict=strict)
    choices = [_Choice(analysis, found, level, blocking, keep) for analysis, found in sources]
    run = map if pool is None else pool.map
    list(run(lambda choice: choice.rank(verifying, least), choices))
    while pending := [(each, each.candidate) for each in choices if each.candidate is not None]:
        pairs = [(each.analysis.text, candidate.simple) for each, candidate in pending]
        provenances = [candidate.provenance for _, candidate in pending]
        known = [each.analysis for each, _ in pending]
        all_findings = checker.pipe(pairs, provenances, known)
        for (each, candidate), findings in zip(pending, all_findings, strict=True):
            if level is Level.ATOMIC:
                findings = claim_findings(each.analysis, candidate.provenance, findings)
            each.judge(candidate, findings)
    return [each.rewrite() for each in choices]


def alternatives(
    analysis: Analysis, found: Found, checker: Checker, verifying: Verifying, level: Level
) -> list[Rewrite]:
    """Every split that was found, with its confidence and findings. None is left out because it is
    unlikely or faulty, so that a writer can take what :func:`choose` did not."""
    options = [
        each
        for each in compose_found(analysis, found)
        if len(each.simple) > 1 and analysis.text not in each.simple
    ]
    verdicts = verifying(analysis.text, [option.simple for option in options], level)
    pairs = [(analysis.text, option.simple) for option in options]
    checked = checker.pipe(
        pairs, [option.provenance for option in options], [analysis] * len(options)
    )
    return [
        Rewrite(
            source=analysis.text,
            simple=option.simple,
            splitter=NAME,
            provenance=option.provenance,
            findings=tuple(findings),
            confidence=confidence(evidence_of(option, verdict), level),
            further=verdict.unsplit,
        )
        for option, verdict, findings in zip(options, verdicts, checked, strict=True)
    ]


def claim_findings(
    analysis: Analysis, provenance: Sequence[Sequence[OutputToken]], findings: Sequence[Finding]
) -> list[Finding]:
    """The findings at the level ``atomic``: the two sides of a contrast are claims without their
    connective, and each claim must keep what governs it."""
    from parataxis.checks.lexicon import CONTRASTS
    from parataxis.checks.scope import lost_scope

    kept = [
        found
        for found in findings
        if found.kind is not FindingKind.LOST or found.words.casefold() not in CONTRASTS
    ]
    return [*kept, *lost_scope(analysis, provenance)]


def compose_found(analysis: Analysis, found: Found, close: float = math.inf) -> Iterator[Candidate]:
    """The rewrites that were found, likeliest first, without duplicates and without those whose
    actions cannot be carried out or that are ``close`` nats less likely than another."""
    seen: set[tuple[str, ...]] = set()
    least = -math.inf
    known: SentenceParts = {}
    made: dict[tuple[Part, ...], tuple[str, tuple[OutputToken, ...]]] = {}
    for hypothesis in found.hypotheses:
        if hypothesis.log_chance < least:
            continue
        sentences = sentence_parts(analysis, hypothesis.actions, known)
        if sentences is None:
            continue
        # Hypotheses share most of their sentences.
        for parts in sentences:
            if parts not in made:
                made[parts] = compose(analysis, parts)
        composed = [made[parts] for parts in sentences if made[parts][0].strip()]
        simple = tuple(text for text, _ in composed)
        if simple and simple not in seen:
            least = max(least, hypothesis.log_chance - close)
            seen.add(simple)
            provenance = tuple(tokens for _, tokens in composed)
            yield Candidate(simple, provenance, hypothesis.log_chance, hypothesis.entropy)


def _joins_main_clauses(analysis: Analysis, option: Candidate) -> bool:
    """Whether a split only takes main clauses apart: each sentence is a main clause of the source
    with its own subject, and nothing is repeated but a phrase that opens the first."""
    used: set[int] = set()
    for number, tokens in enumerate(option.provenance):
        comma = next((place for place, token in enumerate(tokens) if token.text == ","), 0)
        words = [_origin(analysis, token) for token in tokens]
        opener = {word.index for word in words[:comma] if word is not None}
        start = comma if opener <= used else 0
        own = {word.index for word in words[start:] if word is not None and has_word(word.text)}
        added = {key(t.text) for t in tokens[start:] if t.origin is Origin.INSERTED}
        if number and (own & used or added & _SUBJECTS):
            return False
        if not any(_is_main_clause(analysis, index, own) for index in own):
            return False
        used |= own
    return True


def _says_twice(analysis: Analysis, option: Candidate) -> bool:
    """Whether a sentence repeats the main clause of the source that another one says in full: "She
    ran." beside "She ran home."."""
    root = analysis.root.start
    said = [
        {token.source for token in tokens if token.source and has_word(token.text)}
        for tokens in option.provenance
    ]
    main = [words for words in said if any(start == root for start, _ in words)]
    return any(one <= other for one, other in permutations(main, 2))


_SUBJECTS = english.words(
    "it this these that those they he she we you i there its their his her is are was were be been"
    " has have had do does did"
)


def _origin(analysis: Analysis, token: OutputToken) -> Word | None:
    return analysis.by_start.get(token.source[0]) if token.source else None


def _is_main_clause(analysis: Analysis, index: int, own: Set[int]) -> bool:
    """Whether a word is the predicate of a main clause whose subject is among ``own``."""
    if analysis.children(index, "mark"):
        return False
    word = analysis[index]
    while word.relation in ("conj", "parataxis") and word.head != ROOT:
        word = analysis[word.head]
    if word.head != ROOT:
        return False
    subjects = analysis.children(index, "nsubj", "expl", "csubj")
    return any(each.index in own for each in subjects) or analysis[index].xpos == "VB"


class _Choice:
    """The choice for one source; ``candidate`` is the next one to check, if any."""

    def __init__(
        self,
        analysis: Analysis,
        found: Found,
        level: Level,
        blocking: Set[FindingKind],
        keep: Sequence[str],
    ) -> None:
        self.analysis, self._level, self._blocking = analysis, level, blocking
        composed = list(compose_found(analysis, found, CLOSE))
        # A rewrite of one sentence is no split; the source itself is better.
        single = any(len(each.simple) == 1 for each in composed)
        splits = [each for each in composed if len(each.simple) > 1]
        broken = [broken_phrase(keep, analysis.text, each.simple) for each in splits]
        splits = [each for each, phrase in zip(splits, broken, strict=True) if phrase is None]
        self._broken = next(iter(broken), None) if not splits else None
        """A phrase that no rewrite keeps."""
        is_short = level is Level.LIGHT and word_count(analysis.text) <= SHORT
        fitting = [s for s in splits if not is_short or _joins_main_clauses(analysis, s)]
        if level is Level.ATOMIC:
            fitting = [s for s in splits if not _says_twice(analysis, s)]
        self._stays = found.whole >= SURELY_WHOLE or (single and not splits)
        self._stays |= bool(splits and not fitting)
        self._stays = self._stays or is_incomplete(analysis)
        self._found, self._options = found, [] if self._stays else fitting
        self._taken: tuple[Candidate, Sequence[Finding]] | None = None
        self._faults: Sequence[Finding] | None = None
        """The findings in the preferred rewrite."""
        self._queue: Iterator[Candidate] = iter(())
        self._whole_further: float | None = None
        self._confidence: dict[Candidate, float] = {}
        self._further: dict[Candidate, float] = {}
        self.candidate: Candidate | None = None

    def rank(self, verifying: Verifying, least: float) -> None:
        """Put the candidates in the order of preference."""
        if not self._options:
            return
        text = self.analysis.text
        rewrites = [(text,), *(option.simple for option in self._options)]
        whole, *verdicts = verifying(text, rewrites, self._level)
        self._whole_further = whole.unsplit
        for option, verdict in zip(self._options, verdicts, strict=True):
            self._further[option] = verdict.unsplit
            evidence = evidence_of(option, verdict)
            self._confidence[option] = confidence(evidence, self._level)
        needed = whole_chance(whole_evidence(self._found, whole), self._level)
        needed += MARGIN[self._level]
        # The chance that it is right and finished.
        good = {each: self._confidence[each] * (1 - self._further[each]) for each in self._options}
        wanted = [each for each in sorted(good, key=lambda o: -good[o]) if good[each] > needed]
        self._queue = iter([each for each in wanted if self._confidence[each] >= least])
        self.candidate = next(self._queue, None)
        # A source that is preferred to all rewrites needs no explanation.
        self._stays = not wanted

    def judge(self, candidate: Candidate, findings: Sequence[Finding]) -> None:
        """Take a candidate or go on to the next."""
        if self._faults is None:
            self._faults = findings
        if not findings:
            self._taken, self.candidate = (candidate, findings), None
            return
        if self._taken is None and self._blocking.isdisjoint(f.kind for f in findings):
            self._taken = candidate, findings
        self.candidate = next(self._queue, None)

    def rewrite(self) -> Rewrite:
        """The rewrite that was taken, or the source."""
        if self._taken is None:
            whole = whole_rewrite(self.analysis.text, note=self._why_whole())
            return whole.model_copy(update={"further": self._whole_further})
        taken, findings = self._taken
        return Rewrite(
            source=self.analysis.text,
            simple=taken.simple,
            splitter=NAME,
            provenance=taken.provenance,
            findings=tuple(findings),
            note=self._why_another(findings),
            confidence=self._confidence[taken],
            further=self._further[taken],
        )

    def _why_whole(self) -> str | None:
        if self._broken is not None:
            return breaks(self._broken)
        if self._stays:
            return None
        if self._faults is None:
            return "Left whole because no rewrite was found that is sure enough."
        return (
            "Left whole because the checks fault every rewrite that was found; in the best one, "
            f"{complaints(self._faults)}."
        )

    def _why_another(self, findings: Sequence[Finding]) -> str | None:
        if self._faults is None or self._faults == findings:
            return None
        return f"This is not the preferred rewrite: in that one, {complaints(self._faults)}."
