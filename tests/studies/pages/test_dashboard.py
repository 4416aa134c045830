"""Whom an organiser should look at."""

from typing import Any

import pytest

pytest.importorskip("fastapi", reason="needs the extra [study]")

from parataxis.studies.agreement import RaterAgreement
from parataxis.studies.pages.dashboard import AgreementCache, CurrentAgreement, concerns
from parataxis.studies.store.types import Overview, Pay, Person, PersonOverview, PersonState
from parataxis.studies.study import Role

STATES = PersonState


def person(name: str, **changes: Any) -> PersonOverview:
    state = changes.pop("state", STATES.ACTIVE)
    values = {"done": 10, "held": 0, "surplus": 0, "void": 0, "seconds": 30.0}
    values |= {"controls": 0, "failures": 0, "warnings": 0}
    values |= {"rejected": 0, "quick": 0, "pay": Pay()}
    return PersonOverview(Person(name, Role.RATER, state), **(values | changes))


def look(people: list[PersonOverview], shares: dict[str, tuple[int, float]]) -> Any:
    overview = Overview(False, {}, tuple(people), (), {}, None)
    raters = {
        name: RaterAgreement(name, items, share, 0.0) for name, (items, share) in shares.items()
    }
    return {
        each.person.id: [reason.reason.removeprefix("concern-") for reason in reasons]
        for each, reasons in concerns(overview, CurrentAgreement((), raters, 0))
    }


@pytest.mark.parametrize(
    ("changes", "share", "expected"),
    [
        ({}, (10, 0.9), []),
        ({"seconds": 9.0}, (10, 0.9), ["quick"]),
        ({"seconds": 11.0}, (10, 0.9), []),
        ({"quick": 1}, (10, 0.9), ["floor"]),
        ({"seconds": 1.0, "done": 4}, (10, 0.9), []),  # too few to tell
        ({"seconds": None}, (10, 0.9), []),
        ({}, (10, 0.65), ["apart"]),
        ({}, (4, 0.0), []),
        ({"failures": 1, "controls": 3}, (10, 0.9), ["controls"]),
        ({"failures": 1, "controls": 3, "seconds": 1.0}, (10, 0.1), ["controls", "quick", "apart"]),
        ({"failures": 1, "state": STATES.EXCLUDED}, (10, 0.1), []),
        ({"failures": 1, "state": STATES.BLOCKED}, (10, 0.9), ["controls"]),
    ],
)
def test_dashboard_people_to_look_at(
    changes: dict[str, Any], share: tuple[int, float], expected: list[str]
) -> None:
    others = [person(name) for name in ("ann", "bob", "cat")]
    shares = dict.fromkeys(("ann", "bob", "cat"), (10, 0.9)) | {"dan": share}
    found = look([*others, person("dan", **changes)], shares)
    assert found == ({"dan": expected} if expected else {})


def test_dashboard_nobody_is_compared_with_too_few() -> None:
    people = [person("ann", seconds=100.0), person("bob", seconds=1.0)]
    assert look(people, {"ann": (10, 1.0), "bob": (10, 0.0)}) == {}


def test_dashboard_numbers_are_counted_once_in_a_while(serve: Any) -> None:
    served = serve()
    counter = AgreementCache()
    first = counter(served.store, served.rubric, "en")
    assert counter(served.store, served.rubric, "en") is first
    assert counter(served.store, served.rubric, "es") is not first
    assert AgreementCache(fresh=0)(served.store, served.rubric, "en") == first
