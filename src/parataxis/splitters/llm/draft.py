"""One sentence on its way to a rewrite: the best that came, what to ask next, and why no more is
asked."""

from collections.abc import Sequence, Set
from dataclasses import dataclass

from parataxis.rewrite.record import Finding, Kind
from parataxis.rewrite.render import complaints
from parataxis.splitters.llm.endpoint import Call
from parataxis.splitters.llm.guard import Candidate
from parataxis.splitters.llm.ledger import Fate
from parataxis.splitters.llm.prompt import correct, longest_answer, repeat, request
from parataxis.splitters.llm.replies import Failure

__all__ = ["Draft"]

_SHOWN = 3
_REFUSED = (Fate.DECLINED, Fate.TURNED_DOWN)


@dataclass(slots=True)
class Draft:
    """The state of one source; ``blocking`` are the findings that rule a rewrite out."""

    source: str
    blocking: Set[Kind]
    is_done: bool = False
    best: Candidate | None = None
    first: Candidate | None = None
    failure: Failure | None = None
    """What went wrong in the last call, where it brought no candidate."""

    def call(self) -> Call:
        """What to ask next for this sentence alone."""
        if self.best:
            messages = correct(self.source, self.best.simple, self.best.findings)
        elif self.failure and self.failure.fate is Fate.UNREADABLE:
            messages = repeat(self.source)
        else:
            messages = request([self.source])
        return Call(messages, longest_answer([self.source]))

    def fail(self, failure: Failure, *, alone: bool) -> None:
        """Note a call without a usable answer. What is refused alone will be refused again, and a
        repair that cannot be read is no better than what there is."""
        self.failure = failure
        is_final = failure.fate is Fate.OVER_BUDGET or (alone and failure.fate in _REFUSED)
        self.is_done = is_final or self.best is not None

    def judge(self, candidate: Candidate) -> None:
        """Keep a candidate where it is better than the best; where it is not, ask no more."""
        self.first = self.first or candidate
        if self.best and not self._is_better(candidate, self.best):
            self.is_done = True
            return
        self.best, self.failure = candidate, None
        self.is_done = not candidate.findings

    def _is_better(self, candidate: Candidate, best: Candidate) -> bool:
        # To give up splitting is no repair: the pointer model may know how to split it.
        gives_up = len(candidate.simple) == 1 < len(best.simple)
        return not gives_up and candidate.gravity(self.blocking) < best.gravity(self.blocking)

    @property
    def taken(self) -> Candidate | None:
        """The best candidate, unless its findings rule it out."""
        if self.best is None or self.best.gravity(self.blocking)[0]:
            return None
        return self.best

    @property
    def fate(self) -> Fate:
        """Who writes this rewrite, or why the language model does not."""
        if self.taken:
            return Fate.SPLIT if len(self.taken.simple) > 1 else Fate.WHOLE
        if self.best:
            return Fate.FAULTED
        return self.failure.fate if self.failure else Fate.NOT_SENT

    @property
    def reason(self) -> str | None:
        """Why the candidate was not taken, as a clause."""
        if self.best:
            return f"in the language model's rewrite, {_some(self.best.findings)}"
        return self.failure.reason if self.failure else None

    @property
    def remark(self) -> str | None:
        """What to say about a candidate that was taken but was not the first."""
        if self.first is None or self.first is self.best:
            return None
        return (
            "This is not the language model's first rewrite: in that one, "
            f"{_some(self.first.findings)}."
        )


def _some(findings: Sequence[Finding]) -> str:
    """What the first findings say: a rewrite of something else has too many for a note."""
    rest = len(findings) - _SHOWN
    return complaints(findings[:_SHOWN]) + (f"; and {rest} more" if rest > 0 else "")
