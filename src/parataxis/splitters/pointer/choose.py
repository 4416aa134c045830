"""Chooses among the rewrites that the search found: the ranker orders them, the checks veto.

The source itself is one of the candidates. In the order of preference, the first rewrite without a
finding wins. If there is none, the first without a blocking finding is taken. The source stays
whole if it is preferred to all that are left, and the note says why.
"""

import math
from collections.abc import Callable, Iterator, Sequence, Set
from concurrent.futures import Executor
from dataclasses import dataclass
from itertools import takewhile

import numpy as np
from numpy.typing import NDArray

from parataxis.checks import Checker
from parataxis.rewrite.compose import compose, left_whole
from parataxis.rewrite.record import Finding, FindingKind, OutputToken, Rewrite, complaints
from parataxis.splitters.pointer.parts import sentence_parts
from parataxis.splitters.pointer.search import Found
from parataxis.syntax.analysis import Analysis

NAME = "pointer"

Ranking = Callable[[str, Sequence[Sequence[str]]], NDArray[np.float32]]
"""Scores the rewrites of a source, in nats; see :mod:`parataxis.checks.ranker`."""

SURELY_WHOLE = 0.7
"""The probability to stay whole from which a source is left whole without a search."""

CLOSE = 5.0
"""Candidates whose log-probability is further below the best one are dropped."""
LEAD = 2.5
"""If the likeliest candidate leads by more than this, in nats, the ranker is not run: it would
agree."""
OWN_SHARE = 0.7
"""The weight of the pointer's own log-probability, which is added to the ranker's score."""
WHOLE_COST = 2.0
"""The penalty of the source itself, in nats. The source is a single candidate, whereas several
equally good splits share their probability."""

SURE = 0.4
"""The lowest confidence of a rewrite that is taken in strict mode."""

TINIEST = 1e-9
"""Replaces a probability of zero, which has no logarithm."""

BLOCKING = frozenset(
    [FindingKind.LOST, FindingKind.NEW, FindingKind.REPEATED, FindingKind.RELATION]
)
"""Findings that rule a rewrite out, because its meaning differs; in strict mode all do."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """A rewrite that was found, as text."""

    simple: tuple[str, ...]
    provenance: tuple[tuple[OutputToken, ...], ...]
    log_chance: float


def confidence(log_chance: float) -> float:
    """The estimated probability that a rewrite of this log-probability has no fault.

    The cube root of the probability is close to the judgements of raters on development rewrites;
    docs/pointer.md has the table.

    >>> [round(confidence(chance), 2) for chance in (0.0, -1.0, -6.0)]
    [1.0, 0.72, 0.14]
    """
    return min(1.0, math.exp(log_chance / 3))


def whole_rewrite(source: str, *, note: str | None = None) -> Rewrite:
    """The source itself, which has no findings."""
    return left_whole(source, splitter=NAME, note=note).model_copy(update={"findings": ()})


def choose(
    sources: Sequence[tuple[Analysis, Found]],
    checker: Checker,
    ranking: Ranking,
    *,
    strict: bool = False,
    pool: Executor | None = None,
) -> list[Rewrite]:
    """The rewrite of each source; the candidates of all sources are checked in batches.

    Sources are ranked in parallel if there is a ``pool``.
    """
    blocking = frozenset(FindingKind) if strict else BLOCKING
    least = SURE if strict else 0.0
    choices = [_Choice(analysis, found, blocking, least) for analysis, found in sources]
    run = map if pool is None else pool.map
    list(run(lambda choice: choice.rank(ranking), choices))
    while pending := [(each, each.candidate) for each in choices if each.candidate is not None]:
        pairs = [(each.analysis.text, candidate.simple) for each, candidate in pending]
        provenances = [candidate.provenance for _, candidate in pending]
        known = [each.analysis for each, _ in pending]
        all_findings = checker.pipe(pairs, provenances, known)
        for (each, candidate), findings in zip(pending, all_findings, strict=True):
            each.judge(candidate, findings)
    return [each.rewrite() for each in choices]


def compose_found(analysis: Analysis, found: Found) -> Iterator[Candidate]:
    """The rewrites that were found, likeliest first, without duplicates and without those whose
    actions cannot be carried out."""
    seen = set()
    for hypothesis in found.hypotheses:
        sentences = sentence_parts(analysis, hypothesis.actions)
        if sentences is None:
            continue
        composed = [compose(analysis, parts) for parts in sentences]
        composed = [(text, tokens) for text, tokens in composed if text.strip()]
        simple = tuple(text for text, _ in composed)
        if simple and simple not in seen:
            seen.add(simple)
            provenance = tuple(tokens for _, tokens in composed)
            yield Candidate(simple, provenance, hypothesis.log_chance)


def _close(options: Sequence[Candidate]) -> list[Candidate]:
    """The candidates that are not much less likely than the likeliest."""
    least = max(option.log_chance for option in options) - CLOSE
    return [option for option in options if option.log_chance >= least]


class _Choice:
    """The choice for one source; ``candidate`` is the next one to check, if any."""

    def __init__(
        self, analysis: Analysis, found: Found, blocking: Set[FindingKind], least: float
    ) -> None:
        self.analysis = analysis
        self._blocking = blocking
        composed = [
            candidate
            for candidate in compose_found(analysis, found)
            if confidence(candidate.log_chance) >= least
        ]
        # A rewrite of one sentence is no split; the source itself is better.
        single = [each.log_chance for each in composed if len(each.simple) == 1]
        splits = [each for each in composed if len(each.simple) > 1]
        chance = max([math.log(max(found.whole, TINIEST)), *single])
        self._whole = Candidate((analysis.text,), (), chance)
        self._stays = found.whole >= SURELY_WHOLE or bool(single and not splits)
        self._options = [self._whole] if self._stays else _close([self._whole, *splits])
        self._taken: tuple[Candidate, Sequence[Finding]] | None = None
        self._faults: Sequence[Finding] | None = None
        """The findings in the preferred rewrite."""
        self._queue: Iterator[Candidate] = iter(())
        self.candidate: Candidate | None = None

    def rank(self, ranking: Ranking) -> None:
        """Put the candidates in the order of preference."""
        scores = [option.log_chance for option in self._options]
        first, *others = sorted(scores, reverse=True)
        if others and first - others[0] <= LEAD:
            ranked = ranking(self.analysis.text, [option.simple for option in self._options])
            scores = [
                float(score) + OWN_SHARE * own - WHOLE_COST * (option is self._whole)
                for score, own, option in zip(ranked, scores, self._options, strict=True)
            ]
        order = sorted(range(len(scores)), key=lambda place: -scores[place])
        preferred = (self._options[place] for place in order)
        self._queue = takewhile(lambda option: option is not self._whole, preferred)
        self.candidate = next(self._queue, None)
        # A source that is preferred to all rewrites needs no explanation.
        self._stays = self._stays or (self.candidate is None and len(self._options) > 1)

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
            return whole_rewrite(self.analysis.text, note=self._why_whole())
        taken, findings = self._taken
        return Rewrite(
            source=self.analysis.text,
            simple=taken.simple,
            splitter=NAME,
            provenance=taken.provenance,
            findings=tuple(findings),
            note=self._why_another(findings),
            confidence=confidence(taken.log_chance),
        )

    def _why_whole(self) -> str | None:
        if self._stays:
            return None
        if self._faults is None:
            return "Left whole because no rewrite was found that is sure enough."
        return (
            "Left whole because the checks fault every rewrite that was found; in the likeliest, "
            f"{complaints(self._faults)}."
        )

    def _why_another(self, findings: Sequence[Finding]) -> str | None:
        if self._faults is None or self._faults == findings:
            return None
        return f"This is not the likeliest rewrite: in that one, {complaints(self._faults)}."
