"""The llm splitter: a language model proposes rewrites, the checks decide, and the pointer splitter
is the fallback."""

from collections.abc import Iterable, Iterator, Sequence, Set
from dataclasses import dataclass
from itertools import islice
from threading import Lock

from parataxis.checks.checker import SentenceAnalyser
from parataxis.rewrite.compose import left_whole
from parataxis.rewrite.record import Finding, FindingKind, Level, Rewrite, complaints
from parataxis.splitters.llm.endpoint import (
    HELD_KEY,
    Ask,
    Call,
    Endpoint,
    Failure,
    Reply,
    holds_key,
)
from parataxis.splitters.llm.guard import GuardedCandidate, examine
from parataxis.splitters.llm.ledger import Ledger, LlmOutcome
from parataxis.splitters.llm.prompt import correct, longest_answer, read_answer, repeat, request
from parataxis.splitters.llm.settings import LlmSettings
from parataxis.splitters.pointer import PointerSplitter
from parataxis.splitters.pointer.actions import read_source
from parataxis.splitters.pointer.choose import BLOCKING
from parataxis.splitters.pointer.splitter import untouched
from parataxis.splitters.settings import SplitSettings
from parataxis.syntax.analyser import load_trees
from parataxis.syntax.onnx import weights_named
from parataxis.text.tokens import tokenize

_SHOWN = 3
_REFUSED = (LlmOutcome.DECLINED, LlmOutcome.TURNED_DOWN)
_UNREADABLE = Failure("the language model's answer cannot be read", LlmOutcome.UNREADABLE)
_TOO_LONG = Failure("the language model's rewrite is far too long", LlmOutcome.UNREADABLE)
_TIMES, _FRAME = 4, 200
"""A rewrite is too long if it has more than 4 times the characters of its source plus 200."""


@dataclass(slots=True)
class Draft:
    """The state of one sentence: the best rewrite so far and what to ask next. ``blocking`` are the
    kinds of findings that rule a rewrite out."""

    source: str
    blocking: Set[FindingKind]
    is_done: bool = False
    best: GuardedCandidate | None = None
    first: GuardedCandidate | None = None
    failure: Failure | None = None
    """Why the last call brought no candidate."""

    def call(self) -> Call:
        """The next call for this sentence alone."""
        if self.best:
            messages = correct(self.source, self.best.simple, self.best.findings)
        elif self.failure and self.failure.outcome is LlmOutcome.UNREADABLE:
            messages = repeat(self.source)
        else:
            messages = request([self.source])
        return Call(messages, longest_answer([self.source]))

    def fail(self, failure: Failure, *, alone: bool) -> None:
        """Record a call without a usable answer. A sentence that was refused alone would be refused
        again, and an unreadable correction does not improve on the best candidate."""
        self.failure = failure
        is_final = failure.outcome is LlmOutcome.OVER_BUDGET or (
            alone and failure.outcome in _REFUSED
        )
        self.is_done = is_final or self.best is not None

    def judge(self, candidate: GuardedCandidate) -> None:
        """Keep a candidate if it is better than the best; if not, stop asking."""
        self.first = self.first or candidate
        if self.best and not self._is_better(candidate, self.best):
            self.is_done = True
            return
        self.best, self.failure = candidate, None
        self.is_done = not candidate.findings

    def _is_better(self, candidate: GuardedCandidate, best: GuardedCandidate) -> bool:
        # A candidate that no longer splits is no improvement: the pointer may know how to split.
        gives_up = len(candidate.simple) == 1 < len(best.simple)
        return not gives_up and candidate.gravity(self.blocking) < best.gravity(self.blocking)

    @property
    def taken(self) -> GuardedCandidate | None:
        """The best candidate, unless its findings rule it out."""
        if self.best is None or self.best.gravity(self.blocking)[0]:
            return None
        return self.best

    @property
    def outcome(self) -> LlmOutcome:
        """Whether the language model's rewrite is used, or why not."""
        if self.taken:
            return LlmOutcome.SPLIT if len(self.taken.simple) > 1 else LlmOutcome.WHOLE
        if self.best:
            return LlmOutcome.FAULTED
        return self.failure.outcome if self.failure else LlmOutcome.NOT_SENT

    @property
    def reason(self) -> str | None:
        """Why no candidate was taken, as a clause."""
        if self.best:
            return f"in the language model's rewrite, {_some(self.best.findings)}"
        return self.failure.reason if self.failure else None

    @property
    def remark(self) -> str | None:
        """The note on a candidate that was taken but was not the first."""
        if self.first is None or self.first is self.best:
            return None
        return (
            "This is not the language model's first rewrite: in that one, "
            f"{_some(self.first.findings)}."
        )


def _some(findings: Sequence[Finding]) -> str:
    """The messages of the first few findings."""
    rest = len(findings) - _SHOWN
    return complaints(findings[:_SHOWN]) + (f"; and {rest} more" if rest > 0 else "")


class LlmSplitter:
    """Returns a language model's rewrites if they pass the checks, and otherwise those of the
    pointer splitter with the reason in the ``note``.

    The settings are read from the environment when the first sentence is split. The field
    ``written_by`` of a rewrite is the name of the language model, or "pointer". In strict mode
    neither of them may have a finding.
    """

    name = "llm"
    summary = "Asks a language model of your choice; checked, with pointer behind it."
    levels = tuple(Level)

    def __init__(
        self,
        settings: LlmSettings | None = None,
        pointer: PointerSplitter | None = None,
        analyser: SentenceAnalyser | None = None,
        *,
        strict: bool = False,
    ) -> None:
        self._analyser = analyser
        self._pointer = pointer or PointerSplitter()
        self._blocking = frozenset(FindingKind) if strict else BLOCKING
        self._strict = strict
        self._session = _Session(settings)

    def adjusted(self, settings: SplitSettings) -> "LlmSplitter":
        """A copy that is strict if asked for; beam, level and confidence are those of its pointer
        splitter. Copies share the budget."""
        pointer = self._pointer.adjusted(settings)
        made = LlmSplitter(None, pointer, self._analyser, strict=self._strict or settings.strict)
        made._session = self._session
        return made

    def report(self) -> str | None:
        """Calls, cost and outcomes so far, in one sentence."""
        return self._session.report()

    def __call__(self, sentence: str) -> Rewrite:
        return next(self.pipe([sentence]))

    def pipe(self, sentences: Iterable[str]) -> Iterator[Rewrite]:
        """Rewrite many sentences, in order; several go into a call, and several calls are made at
        once."""
        endpoint = self._session.endpoint()
        stream = iter(sentences)
        size = endpoint.settings.sentences * endpoint.settings.concurrent
        while window := list(islice(stream, size)):
            yield from self._window(window, endpoint)

    def _window(self, sentences: Sequence[str], endpoint: Endpoint) -> list[Rewrite]:
        # A repeated sentence is sent once.
        drafts = {sentence: Draft(sentence, self._blocking) for sentence in sentences}
        open_ones = [draft for draft in drafts.values() if _is_readable(draft.source)]
        if open_ones:
            with endpoint.line() as ask:
                self._ask(open_ones, ask, endpoint.settings)
        others = [draft for draft in drafts.values() if not draft.taken]
        rewrites = {
            draft.source: _by_pointer(draft, rewrite)
            for draft, rewrite in zip(
                others, self._pointer.pipe(draft.source for draft in others), strict=True
            )
        }
        for draft in drafts.values():
            if draft.taken:
                rewrites[draft.source] = _by_model(draft, draft.taken, endpoint.settings.model)
        for sentence in sentences:
            endpoint.ledger.count(drafts[sentence].outcome)
        return [rewrites[sentence] for sentence in sentences]

    def _ask(self, drafts: Sequence[Draft], ask: Ask, settings: LlmSettings) -> None:
        """Send the sentences in groups, then one by one those that need another call."""
        size = settings.sentences
        groups = [drafts[at : at + size] for at in range(0, len(drafts), size)]
        self._round(groups, ask, settings)
        for _ in range(1, settings.calls):
            if pending := [[draft] for draft in drafts if not draft.is_done]:
                self._round(pending, ask, settings)

    def _round(self, groups: Sequence[Sequence[Draft]], ask: Ask, settings: LlmSettings) -> None:
        """Make a call for each group, and check all the rewrites that came back."""
        proposed = []
        for group, reply in zip(groups, ask([_call(group) for group in groups]), strict=True):
            for draft, read in zip(group, _read(group, reply, settings.key), strict=True):
                if isinstance(read, Failure):
                    draft.fail(read, alone=len(group) == 1)
                else:
                    proposed.append((draft, read))
        pairs = [(draft.source, simple) for draft, simple in proposed]
        analyser = self._analyser or load_trees()
        for (draft, _), candidate in zip(proposed, examine(pairs, analyser), strict=True):
            draft.judge(candidate)


class _Session:
    """The endpoint, with its settings and its ledger, that a splitter shares with its adjusted
    copies. It is made when the first sentence is split."""

    def __init__(self, settings: LlmSettings | None) -> None:
        self._settings = settings
        self._lock = Lock()
        self._endpoint: Endpoint | None = None

    def endpoint(self) -> Endpoint:
        with self._lock:
            if self._endpoint is None:
                settings = self._settings or LlmSettings.from_environment()
                self._endpoint = Endpoint(settings, Ledger(settings))
            return self._endpoint

    def report(self) -> str | None:
        return self._endpoint.ledger.report() if self._endpoint else None


def _is_readable(sentence: str) -> bool:
    """Whether a sentence has words and is short enough for the checks."""
    words = [token.text for token in tokenize(sentence)]
    return untouched(sentence, words, read_source(words)) is None


def _call(group: Sequence[Draft]) -> Call:
    if len(group) == 1:
        return group[0].call()
    sources = [draft.source for draft in group]
    return Call(request(sources), longest_answer(sources))


def _read(group: Sequence[Draft], reply: Reply, key: str | None) -> list[tuple[str, ...] | Failure]:
    """The simple sentences for each draft of a group, or why they are missing."""
    if isinstance(reply, Failure):
        return [reply] * len(group)
    found = read_answer(reply, len(group))
    if any(holds_key(" ".join(simple or ()), key) for simple in found):  # escaped in the JSON
        return [HELD_KEY] * len(group)
    return [_fitting(draft.source, simple) for draft, simple in zip(group, found, strict=True)]


def _fitting(source: str, simple: tuple[str, ...] | None) -> tuple[str, ...] | Failure:
    if simple is None:
        return _UNREADABLE
    return simple if sum(map(len, simple)) <= _TIMES * len(source) + _FRAME else _TOO_LONG


def _by_model(draft: Draft, taken: GuardedCandidate, model: str) -> Rewrite:
    if len(taken.simple) == 1:  # the source itself says it better
        rewrite = left_whole(draft.source, splitter=LlmSplitter.name, note=draft.remark)
        rewrite = rewrite.model_copy(update={"findings": ()})
    else:
        rewrite = Rewrite(
            source=draft.source,
            simple=taken.simple,
            splitter=LlmSplitter.name,
            provenance=taken.provenance,
            findings=taken.findings,
            note=draft.remark,
        )
    weights = weights_named("verifier", "analyser")
    return rewrite.model_copy(update={"written_by": model, "weights": weights})


def _by_pointer(draft: Draft, rewrite: Rewrite) -> Rewrite:
    reason = draft.reason and f"The pointer model wrote this because {draft.reason}."
    notes = [note for note in (reason, rewrite.note) if note]
    return rewrite.model_copy(
        update={
            "splitter": LlmSplitter.name,
            "note": " ".join(notes) or None,
            "written_by": rewrite.splitter,
        }
    )
