"""What the llm splitter has done and spent: calls, tokens, money, and who wrote the rewrites."""

from collections import Counter
from enum import StrEnum
from threading import Lock
from typing import NamedTuple

from parataxis.report import counted
from parataxis.splitters.llm.settings import LlmSettings


class Tokens(NamedTuple):
    """The input and output tokens of a call."""

    read: int
    written: int


class LlmOutcome(StrEnum):
    """What became of a sentence: the model's rewrite was used, or why it was not."""

    SPLIT = "split by the model"
    WHOLE = "left whole by the model"
    FAULTED = "faulted by the checks"
    DECLINED = "declined by the model"
    UNREADABLE = "answered in a way that cannot be read"
    UNANSWERED = "not answered by the endpoint"
    TURNED_DOWN = "turned down by the endpoint"
    OVER_BUDGET = "beyond the budget"
    NOT_SENT = "not sent: too long, or without words"


class Ledger:
    """Tracks the spending of a splitter and all its adjusted copies; threads can share it.

    The maximum cost of a call is reserved before the call and replaced by the actual cost after
    it, so a call that could exceed the budget is never made.
    """

    def __init__(self, settings: LlmSettings) -> None:
        self._settings = settings
        self._lock = Lock()
        self._outcomes: Counter[LlmOutcome] = Counter()
        self._reserved = 0.0
        self.calls = 0
        self.tokens = Tokens(0, 0)

    @property
    def spent(self) -> float:
        """The cost of all calls so far."""
        return self._settings.cost(*self.tokens)

    def reserve(self, most: Tokens) -> bool:
        """Reserve the maximum cost of a call; False if it could exceed the budget."""
        cost = self._settings.cost(*most)
        budget = self._settings.budget
        with self._lock:
            if budget is not None and self.spent + self._reserved + cost > budget:
                return False
            self._reserved += cost
            return True

    def settle(self, most: Tokens, used: Tokens | None) -> None:
        """Record a call for which ``most`` was reserved: the tokens it used, or None if it was not
        made."""
        with self._lock:
            self._reserved -= self._settings.cost(*most)
            if used is not None:
                self.calls += 1
                self.tokens = Tokens(
                    self.tokens.read + used.read, self.tokens.written + used.written
                )

    def count(self, outcome: LlmOutcome) -> None:
        """Record the outcome of a sentence."""
        with self._lock:
            self._outcomes[outcome] += 1

    def report(self) -> str | None:
        """Everything in one sentence; None if no sentence was split."""
        total = self._outcomes.total()
        if not total:
            return None
        split, whole = self._outcomes[LlmOutcome.SPLIT], self._outcomes[LlmOutcome.WHOLE]
        by_model = (LlmOutcome.SPLIT, LlmOutcome.WHOLE)
        others = [f"{n} {why}" for why, n in self._outcomes.items() if why not in by_model]
        reasons = f" ({', '.join(others)})" if others else ""
        return (
            f"llm made {counted(self.calls, 'call')} ({self.tokens.read:,} tokens in, "
            f"{self.tokens.written:,} out){self._money()}; of {counted(total, 'sentence')} the "
            f"language model split {split:,} and left {whole:,} whole, and the pointer model wrote "
            f"{total - split - whole:,}{reasons}."
        )

    def _money(self) -> str:
        if self._settings.price_in is None and self._settings.price_out is None:
            return ""
        budget = self._settings.budget
        of = "" if budget is None else f" of a budget of {budget:g}"
        return f" at a cost of {self.spent:.4f}{of}"
