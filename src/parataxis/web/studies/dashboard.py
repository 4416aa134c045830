"""What the organiser's page says about a study so far: agreement, and people to look at."""

import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median

from parataxis.reports.studies.report import Agreement, agreements, raters_compared
from parataxis.studies.agreement import RaterAgreement
from parataxis.studies.records import Rating
from parataxis.studies.rubric import Rubric, outcomes
from parataxis.studies.store import Overview, PersonOverview, PersonState, Store

__all__ = ["Concern", "Numbers", "concerns", "numbers"]

_FRESH = 15.0
"""Seconds for which numbers that take a while to count are shown again."""
_SHARE = 30
"""Numbers stay fresh for so many times the time that counting took: raters should not wait."""
_ENOUGH = 5
"""Tasks or shared items from which on a person can be compared with the others."""
_QUICK = 1 / 3
_APART = 0.2


@dataclass(frozen=True)
class Concern:
    """Why an organiser should look at somebody; ``reason`` is the key of a text."""

    reason: str
    detail: str = ""


@dataclass(frozen=True)
class Numbers:
    """What can be counted from the ratings."""

    agreement: tuple[Agreement, ...]
    raters: dict[str, RaterAgreement]
    ratings: int


class Counter:
    """Counts agreement, at most every few seconds: ratings come faster than people look."""

    def __init__(self, fresh: float = _FRESH) -> None:
        self._fresh = fresh
        self._turn = threading.Lock()
        self._kept: dict[str, tuple[float, Numbers]] = {}

    def __call__(self, store: Store, rubric: Rubric, language: str) -> Numbers:
        with self._turn:
            until, kept = self._kept.get(language, (0.0, None))
            begun = time.monotonic()
            if kept is None or begun > until:
                kept = numbers(rubric, _ratings(store, rubric), language)
                took = time.monotonic() - begun
                until = begun + max(self._fresh, _SHARE * took if self._fresh else 0)
                self._kept[language] = (until, kept)
            return kept


def _ratings(store: Store, rubric: Rubric) -> list[Rating]:
    return store.export_ratings(
        lambda answers, identical: outcomes(rubric, answers, identical=identical)
    )


def numbers(rubric: Rubric, ratings: Sequence[Rating], language: str) -> Numbers:
    """Agreement so far, about each question and of each rater."""
    return Numbers(
        tuple(agreements(rubric, ratings, language, trials=0)),
        {each.rater: each for each in raters_compared(rubric, ratings)},
        len(ratings),
    )


def concerns(overview: Overview, counted: Numbers) -> list[tuple[PersonOverview, list[Concern]]]:
    """People to look at, and why: failed controls, much quicker than others, far from others."""
    typical = [each.seconds for each in overview.people if each.seconds and each.done >= _ENOUGH]
    usual = median(typical) if len(typical) > 2 else None
    shares = [
        each.agreement
        for each in counted.raters.values()
        if each.agreement is not None and each.items >= _ENOUGH
    ]
    level = median(shares) if len(shares) > 2 else None
    found = []
    for each in overview.people:
        if each.person.state not in (PersonState.ACTIVE, PersonState.BLOCKED):
            continue
        reasons = []
        if each.failures:
            reasons.append(Concern("concern-controls", f"{each.failures}/{each.controls}"))
        if usual and each.seconds and each.done >= _ENOUGH and each.seconds < _QUICK * usual:
            reasons.append(Concern("concern-quick", f"{each.seconds:.0f} s"))
        beside = counted.raters.get(each.person.id)
        if (
            beside is not None
            and beside.agreement is not None
            and level is not None
            and beside.items >= _ENOUGH
            and beside.agreement < level - _APART
        ):
            reasons.append(Concern("concern-apart", f"{100 * beside.agreement:.0f} %"))
        if reasons:
            found.append((each, reasons))
    return found
