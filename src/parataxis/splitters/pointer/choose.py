"""Chooses among the rewrites that the search found.

The likeliest rewrite without a finding wins. If there is none, the likeliest without a blocking
finding is taken; if there is none either, the source stays whole, and the note says why. Rewrites
are composed and checked lazily, until one is good.
"""

import math
from collections.abc import Iterator, Sequence, Set
from dataclasses import dataclass

from parataxis.checks import Checker
from parataxis.rewrite.compose import compose, left_whole
from parataxis.rewrite.record import Finding, FindingKind, OutputToken, Rewrite, complaints
from parataxis.splitters.pointer.parts import sentence_parts
from parataxis.splitters.pointer.search import Found
from parataxis.syntax.analysis import Analysis

NAME = "pointer"

SHORT, LONG = 27, 45
"""Words of a sentence that hardly ever needs a split, and of one that usually does."""
WHOLE_SHORT, WHOLE_LONG = 0.1, 0.5
"""The probability to stay whole from which a source is left whole, at these two lengths; it is
interpolated between them."""

WHOLE_CLEAR = 0.5
"""The lowest such probability if the likeliest rewrite is a clear one."""

POSSIBLE, SURE = 0.15, 0.4
"""The lowest confidence of a rewrite that is taken, normally and in strict mode."""

CLEAR, EVIDENT = 0.75, 0.5
"""The lowest confidence of a clear rewrite, normally and if it is evident where to split."""

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


def whole_from(words: int) -> float:
    """The probability to stay whole from which a source of so many words is left whole.

    >>> [round(whole_from(words), 2) for words in (9, 32, 60)]
    [0.1, 0.21, 0.5]
    """
    way = min(1.0, max(0.0, (words - SHORT) / (LONG - SHORT)))
    return WHOLE_SHORT + way * (WHOLE_LONG - WHOLE_SHORT)


def search_until(words: int) -> float:
    """The probability to stay whole from which a source is not searched for rewrites."""
    return max(whole_from(words), WHOLE_CLEAR)


def is_whole(found: Found, analysis: Analysis) -> bool:
    """Whether a source should stay whole. The threshold is higher if the likeliest rewrite is a
    clear one; less confidence is needed for that if it is evident where to split."""
    line = whole_from(len(analysis))
    if line <= found.whole < WHOLE_CLEAR and found.hypotheses:
        sure = confidence(found.hypotheses[0].log_chance)
        if sure >= CLEAR or (sure >= EVIDENT and has_evident_split(analysis)):
            return False
    return found.whole >= line


def has_evident_split(analysis: Analysis) -> bool:
    """Whether there is an apposition, or after a comma a relative clause, a participle, or a
    second main clause with its own subject.

    >>> from parataxis.syntax.analyser import load_analyser
    >>> analyser = load_analyser()
    >>> has_evident_split(analyser("The mill which we saw burned down."))
    False
    >>> has_evident_split(analyser("The mill, which we saw, burned down."))
    True
    >>> has_evident_split(analyser("The mill burned down, and we saw it."))
    True
    """
    from parataxis.syntax.patterns import Pattern, find_patterns  # few sentences need them

    return _joins_clauses(analysis) or any(
        found.pattern is Pattern.APPOS
        or (
            found.pattern in (Pattern.RC, Pattern.PART)
            and analysis.text[: found.start].rstrip().endswith(",")
        )
        for found in find_patterns(analysis)
    )


def _joins_clauses(analysis: Analysis) -> bool:
    """Whether a comma and a conjunction lead to a second main clause with its own subject."""
    for clause in analysis.children(analysis.root.index, "conj"):
        joints = analysis.children(clause.index, "cc")
        behind_comma = any(
            joint.index and analysis[joint.index - 1].text == "," for joint in joints
        )
        if behind_comma and analysis.children(clause.index, "nsubj"):
            return True
    return False


def whole_rewrite(source: str, *, note: str | None = None) -> Rewrite:
    """The source itself, which has no findings."""
    return left_whole(source, splitter=NAME, note=note).model_copy(update={"findings": ()})


def choose(
    sources: Sequence[tuple[Analysis, Found]], checker: Checker, *, strict: bool = False
) -> list[Rewrite]:
    """The rewrite of each source; the candidates of all sources are checked in batches."""
    blocking = frozenset(FindingKind) if strict else BLOCKING
    least = SURE if strict else POSSIBLE
    choices = [_Choice(analysis, found, blocking, least) for analysis, found in sources]
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


class _Choice:
    """The choice for one source; ``candidate`` is the next one to check, if any."""

    def __init__(
        self, analysis: Analysis, found: Found, blocking: Set[FindingKind], least: float
    ) -> None:
        self.analysis = analysis
        self._blocking = blocking
        self._candidates = (
            candidate
            for candidate in compose_found(analysis, found)
            if confidence(candidate.log_chance) >= least
        )
        self._taken: tuple[Candidate, Sequence[Finding]] | None = None
        self._faults: Sequence[Finding] | None = None
        """The findings in the likeliest rewrite."""
        stays = is_whole(found, analysis)
        first = None if stays else next(self._candidates, None)
        self._should_split = not stays and not (first and len(first.simple) == 1)
        self.candidate = first if self._should_split else None

    def judge(self, candidate: Candidate, findings: Sequence[Finding]) -> None:
        """Take a candidate or go on to the next."""
        if self._faults is None:
            self._faults = findings
        if not findings:
            self._taken, self.candidate = (candidate, findings), None
            return
        if self._taken is None and self._blocking.isdisjoint(f.kind for f in findings):
            self._taken = candidate, findings
        # A rewrite of one sentence is no split; the source itself is better.
        self.candidate = next((c for c in self._candidates if len(c.simple) > 1), None)

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
        if not self._should_split:
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
