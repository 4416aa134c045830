"""What has been spent and done: calls, tokens, money, and whose rewrites came out."""

from collections import Counter
from enum import StrEnum
from threading import Lock
from typing import NamedTuple

from parataxis.splitters.llm.settings import Settings

__all__ = ["Fate", "Ledger", "Tokens"]


class Tokens(NamedTuple):
    """The tokens that a call reads and writes."""

    read: int
    written: int


class Fate(StrEnum):
    """Who wrote a rewrite, or why it was not the language model."""

    SPLIT = "split by the model"
    WHOLE = "left whole by the model"
    FAULTED = "faulted by the checks"
    DECLINED = "declined by the model"
    UNREADABLE = "answered in a way that cannot be read"
    UNANSWERED = "not answered by the endpoint"
    TURNED_DOWN = "turned down by the endpoint"
    OVER_BUDGET = "beyond the budget"
    NOT_SENT = "not sent: too long, or without words"


_BY_MODEL = (Fate.SPLIT, Fate.WHOLE)


class Ledger:
    """Counts for as long as a splitter lives, whoever uses it; a budget holds for all of them.

    Before a call, the most that it can cost is put aside; afterwards that is replaced by what it
    has cost. So a call that could pass the budget is never made.
    """

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._lock = Lock()
        self._fates: Counter[Fate] = Counter()
        self._put_aside = 0.0
        self.calls = 0
        self.tokens = Tokens(0, 0)

    @property
    def spent(self) -> float:
        """What the calls have cost until now."""
        return self._settings.cost(*self.tokens)

    def put_aside(self, most: Tokens) -> bool:
        """Reserve what a call costs at most; False where that could pass the budget."""
        cost = self._settings.cost(*most)
        budget = self._settings.budget
        with self._lock:
            if budget is not None and self.spent + self._put_aside + cost > budget:
                return False
            self._put_aside += cost
            return True

    def settle(self, most: Tokens, used: Tokens | None) -> None:
        """Book a call for which ``most`` was put aside: what it used, or None if it never took
        place."""
        with self._lock:
            self._put_aside -= self._settings.cost(*most)
            if used is not None:
                self.calls += 1
                self.tokens = Tokens(
                    self.tokens.read + used.read, self.tokens.written + used.written
                )

    def count(self, fate: Fate) -> None:
        """Book a rewrite."""
        with self._lock:
            self._fates[fate] += 1

    def report(self) -> str | None:
        """All of it in one sentence; None where nothing was asked for."""
        total = self._fates.total()
        if not total:
            return None
        split, whole = self._fates[Fate.SPLIT], self._fates[Fate.WHOLE]
        others = [f"{n} {why}" for why, n in self._fates.items() if why not in _BY_MODEL]
        reasons = f" ({', '.join(others)})" if others else ""
        return (
            f"llm made {_counted(self.calls, 'call')} ({self.tokens.read:,} tokens in, "
            f"{self.tokens.written:,} out){self._money()}; of {_counted(total, 'sentence')} the "
            f"language model split {split:,} and left {whole:,} whole, and the pointer model wrote "
            f"{total - split - whole:,}{reasons}."
        )

    def _money(self) -> str:
        if self._settings.price_in is None and self._settings.price_out is None:
            return ""
        budget = self._settings.budget
        of = "" if budget is None else f" of a budget of {budget:g}"
        return f" at a cost of {self.spent:.4f}{of}"


def _counted(number: int, noun: str) -> str:
    return f"{number:,} {noun}" + ("" if number == 1 else "s")
