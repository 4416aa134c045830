"""Checks a language model's rewrite more closely than other rewrites.

A language model can go wrong anywhere, so the checks read every sentence, the verifier objects
sooner than it does for a person, and marks that the source does not have are reported.
"""

from collections.abc import Iterator, Sequence, Set
from dataclasses import dataclass

from parataxis.checks import Checker
from parataxis.checks.checker import SentenceAnalyser
from parataxis.rewrite.align import align
from parataxis.rewrite.forms import key
from parataxis.rewrite.record import Finding, FindingKind, Origin, OutputToken
from parataxis.splitters.pointer.actions import closed_word
from parataxis.splitters.pointer.surprise import load_second_opinion
from parataxis.text.tokens import has_word

Provenance = tuple[tuple[OutputToken, ...], ...]

RISKY = 0.36
"""The risk from which a rewrite is rejected. docs/llm.md says what that costs."""


@dataclass(frozen=True, slots=True)
class GuardedCandidate:
    """A rewrite by a language model, with its provenance and its findings."""

    simple: tuple[str, ...]
    provenance: Provenance
    findings: tuple[Finding, ...]

    def gravity(self, blocking: Set[FindingKind]) -> tuple[int, int]:
        """How bad the rewrite is: the number of blocking findings, then of all findings."""
        return sum(each.kind in blocking for each in self.findings), len(self.findings)


def examine(
    rewrites: Sequence[tuple[str, tuple[str, ...]]], analyser: SentenceAnalyser
) -> list[GuardedCandidate]:
    """Check rewrites, given as sources and their simple sentences, in one batch."""
    # Without provenance the checks read every sentence, not only those with moved words.
    all_findings = Checker(analyser, load_second_opinion(), risky=RISKY).pipe(rewrites)
    candidates = []
    for (source, simple), found in zip(rewrites, all_findings, strict=True):
        provenance = align(source, simple)
        findings = (*found, *_foreign_marks(provenance))
        candidates.append(GuardedCandidate(simple, provenance, findings))
    return candidates


def _foreign_marks(provenance: Provenance) -> Iterator[Finding]:
    """Marks and invisible characters that are neither in the source nor ones that the pointer
    splitter may write: "**"."""
    for index, tokens in enumerate(provenance):
        for token in tokens:
            is_word = has_word(token.text) and token.text.isprintable()
            is_known = token.origin is not Origin.INSERTED or is_word
            if not is_known and closed_word(key(token.text)) is None:
                yield Finding(
                    kind=FindingKind.NEW,
                    words=token.text,
                    sentence=index,
                    start=token.start,
                    end=token.end,
                    message=f"Where does the mark '{token.text}' come from? The source has none.",
                )
