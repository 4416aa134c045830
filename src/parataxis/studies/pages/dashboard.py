"""The numbers of the organiser's pages: agreement so far, people to look at, and the pace."""

import threading
import time
from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from statistics import median
from typing import NamedTuple

from parataxis.studies.agreement import RaterAgreement
from parataxis.studies.report import Agreement, agreements, raters_compared
from parataxis.studies.rubric import Rubric
from parataxis.studies.store import Store
from parataxis.studies.store.types import Overview, PersonOverview, PersonState

_FRESH = 15.0
"""Seconds for which computed agreement is reused."""
_SHARE = 30
"""Agreement is also reused for so many times as long as it took to compute."""
_ENOUGH = 5
"""Tasks or shared items from which on a person is compared with the others."""
_QUICK = 1 / 3
_APART = 0.2
_HOURS = 48


class Concern(NamedTuple):
    """Why an organiser should look at a person; ``reason`` is the key of a text."""

    reason: str
    detail: str


class CurrentAgreement(NamedTuple):
    """The agreement so far, about each question and of each rater."""

    agreement: tuple[Agreement, ...]
    raters: dict[str, RaterAgreement]
    ratings: int


class AgreementCache:
    """Computes the agreement at most every few seconds, since ratings come in all the time."""

    def __init__(self, fresh: float = _FRESH) -> None:
        self._fresh = fresh
        self._lock = threading.Lock()
        self._kept: dict[str, tuple[float, CurrentAgreement]] = {}

    def __call__(self, store: Store, rubric: Rubric, language: str) -> CurrentAgreement:
        with self._lock:
            until, kept = self._kept.get(language, (0.0, None))
            begun = time.monotonic()
            if kept is None or begun > until:
                ratings = store.export_ratings(rubric)
                kept = CurrentAgreement(
                    tuple(agreements(rubric, ratings, language, trials=0)),
                    {each.rater: each for each in raters_compared(rubric, ratings)},
                    len(ratings),
                )
                took = time.monotonic() - begun
                until = begun + max(self._fresh, _SHARE * took if self._fresh else 0)
                self._kept[language] = (until, kept)
            return kept


def concerns(
    overview: Overview, counted: CurrentAgreement
) -> list[tuple[PersonOverview, list[Concern]]]:
    """People to look at, and why: failed controls, answers below the floor on time, much quicker
    than others, or in disagreement with others."""
    usual_time = _median(each.seconds for each in overview.people if each.done >= _ENOUGH)
    usual_share = _median(
        each.agreement for each in counted.raters.values() if each.items >= _ENOUGH
    )
    found = []
    for each in overview.people:
        if each.person.state not in (PersonState.ACTIVE, PersonState.BLOCKED):
            continue
        reasons = []
        if each.failures:
            reasons.append(Concern("concern-controls", f"{each.failures}/{each.controls}"))
        if each.quick:
            reasons.append(Concern("concern-floor", str(each.quick)))
        seconds = each.seconds if each.done >= _ENOUGH else None
        if usual_time and seconds and seconds < _QUICK * usual_time:
            reasons.append(Concern("concern-quick", f"{seconds:.0f} s"))
        rater = counted.raters.get(each.person.id)
        share = rater.agreement if rater and rater.items >= _ENOUGH else None
        if usual_share is not None and share is not None and share < usual_share - _APART:
            reasons.append(Concern("concern-apart", f"{100 * share:.0f} %"))
        if reasons:
            found.append((each, reasons))
    return found


def _median(values: Iterable[float | None]) -> float | None:
    """The median of the known values; None if there are too few to compare with."""
    known = [value for value in values if value is not None]
    return median(known) if len(known) > 2 else None


def hours(overview: Overview) -> list[tuple[datetime, int, int]]:
    """The submissions in each of the last hours, and in per cent of the busiest hour."""
    counts = dict(overview.pace)
    now = datetime.now(UTC).replace(minute=0, second=0, microsecond=0)
    last = [now - timedelta(hours=back) for back in reversed(range(_HOURS))]
    most = max(counts.get(hour, 0) for hour in last) or 1
    return [(hour, counts.get(hour, 0), round(100 * counts.get(hour, 0) / most)) for hour in last]
