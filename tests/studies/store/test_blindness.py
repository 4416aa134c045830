"""Neither ids nor order nor anything else that raters see tells where an item comes from."""

import re
from collections import Counter
from itertools import product
from typing import Any

import pytest

from parataxis.rewrite.record import Rewrite
from parataxis.studies.items import Item
from parataxis.studies.records import Purpose
from parataxis.studies.store.tasks import _due
from parataxis.studies.store.types import Stage
from parataxis.studies.study import Controls, Role

SOURCES, RATERS = 60, 30
OK = {"grammatical": 5}


def _items(make: Any) -> list[Item]:
    """Sources to be rewritten, the rewrites of a system, and control items."""
    rewrites = [
        Item(each.id, each.source, Rewrite(source=each.source, simple=("A.",), splitter="rules"))
        for each in make.rewrites(SOURCES)
    ]
    controls = make.controls(Purpose.ATTENTION, 40, grammatical=5)
    return [*make.sources(SOURCES), *rewrites, *controls]


def _chance_to_be_higher(some: list[Any], others: list[Any]) -> float:
    """How often one of some is above one of the others: one half if nothing can be told."""
    return sum((a > b) + (a == b) / 2 for a, b in product(some, others)) / len(some) / len(others)


def test_blindness_ids_and_order_carry_no_information_about_the_origin(store, make) -> None:
    attention = Controls(items="attention.jsonl", every=5)
    store.create(make.study(writers=1, raters=RATERS, attention=attention), _items(make))
    (wanda,) = store.invite(["Wanda"], Role.WRITER)
    while (task := store.next_task(wanda.id)) is not None:
        store.submit(wanda.id, task.slot, {"rewrite": "Ann paints.\nAnn is old."})
    seen: dict[str, list[tuple[str, float]]] = {"system": [], "human": [], "control": []}
    for rater in store.invite(RATERS):
        given = []
        while (task := store.next_task(rater.id)) is not None:
            assert task.lease_until is not None
            assert re.fullmatch("[0-9a-z]{10}", task.slot)
            origin = "system" if task.item.id.startswith("rewrite") else "human"
            given.append((origin if task.purpose is Purpose.ITEM else "control", task.slot))
            store.submit(rater.id, task.slot, OK)
        for place, (origin, slot) in enumerate(given):
            seen[origin].append((slot, place / len(given)))
    assert [len(seen[origin]) for origin in ("system", "human")] == [SOURCES * RATERS] * 2
    assert len(seen["control"]) >= 12 * RATERS - RATERS
    for one, other in (("system", "human"), ("system", "control"), ("human", "control")):
        for what in (0, 1):
            some, others = ([each[what] for each in seen[name]] for name in (one, other))
            assert _chance_to_be_higher(some, others) == pytest.approx(0.5, abs=0.1), (one, other)


def test_blindness_control_items_have_no_favourite_place() -> None:
    controls, places = Controls(items="a.jsonl", every=6), range(1, 7)
    first = Counter(
        next(done for done in places if _due(controls, seed, Purpose.KNOWN, done))
        for seed in range(5000)
    )
    assert set(first) == {1, 2, 3, 4, 5}
    assert all(count == pytest.approx(1000, abs=150) for count in first.values())


def test_blindness_a_late_task_keeps_its_id_and_a_new_one_has_another(store, make, clock) -> None:
    store.create(make.study(raters=1), make.rewrites(1))
    ann, bob = store.invite(2)
    first = store.next_task(ann.id).slot
    clock.move(hours=1)
    second = store.next_task(bob.id).slot
    clock.move(hours=1)
    assert second != first
    assert store.next_task(ann.id).slot == first


def test_blindness_the_limit_of_a_person_counts_control_items(store, make) -> None:
    study = make.study(raters=1, attention=Controls(items="a.jsonl", every=4))
    rate = study.rate.model_copy(update={"per_person": 10})
    items = [*make.rewrites(20), *make.controls(Purpose.ATTENTION, 5, grammatical=5)]
    store.create(study.model_copy(update={"rate": rate}), items)
    (ann,) = store.invite(1)
    shown = []
    while (task := store.next_task(ann.id)) is not None:
        progress = store.progress(ann.id)
        shown.append((progress.done["rate"], progress.limit["rate"]))
        store.submit(ann.id, task.slot, OK)
    assert shown == [(done, len(shown)) for done in range(len(shown))]
    assert 12 <= len(shown) <= 13
    assert store.progress(ann.id).stage is Stage.FINISHED


def test_blindness_the_data_of_a_person_tell_nothing_about_items(store, make) -> None:
    study = make.study(raters=1, attention=Controls(items="a.jsonl", every=1))
    items = [*make.rewrites(2), *make.controls(Purpose.ATTENTION, 1, grammatical=5)]
    store.create(study, items)
    (ann,) = store.invite(1)
    for _ in range(3):
        task = store.next_task(ann.id)
        store.save_draft(ann.id, task.slot, OK)
        store.submit(ann.id, task.slot, OK)
    data = store.personal_data(ann.id)
    assert not re.search("rules|attention|rewrite-|passed|item", str(data))
    assert {each["task"] for each in data["submissions"]} == {
        each.task.slot for each in store.submissions(ann.id)
    }
