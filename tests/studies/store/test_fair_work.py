"""Who may do what: sources apart, qualified writers, rejected work, late changes, time and pay."""

from typing import Any

import pytest

from parataxis.errors import InputError
from parataxis.rewrite.record import Rewrite
from parataxis.studies.items import Item
from parataxis.studies.records import Purpose
from parataxis.studies.store.types import SlotState, Stage
from parataxis.studies.study import Payment, Qualification, Role

OK = {"grammatical": 5}
REWRITE = {"rewrite": "Ann paints.\nAnn is old."}


def _do_all(store: Any, person: str, seconds: float | None = None) -> list[str]:
    """What the person was given."""
    found = []
    while (task := store.next_task(person)) is not None:
        found.append(task.item.id)
        answers = {**REWRITE} if task.item.simple is None else {**OK}
        store.submit(person, task.slot, answers, seconds)
    return found


def _changed(study: Any, part: str, **values: Any) -> Any:
    return study.model_copy(update={part: getattr(study, part).model_copy(update=values)})


def test_sources_nobody_rates_rewrites_of_a_source_that_they_rewrote(store, make, sound) -> None:
    sources = make.sources(2)
    by_system = [
        Item(f"system-{n}", each.source, Rewrite(source=each.source, simple=("A.",), splitter="x"))
        for n, each in enumerate(sources)
    ]
    study = _changed(make.study(writers=1, raters=2), "write", per_person=1)
    store.create(study, [*sources, *by_system, *make.rewrites(1)])
    ann, bob = store.invite(["Ann", "Bob"], Role.BOTH)
    first = store.next_task(ann.id).item.id
    given = {person.id: _do_all(store, person.id) for person in (ann, bob, ann)}
    sound(store)
    other = {"source-0": "source-1", "source-1": "source-0"}[first]
    assert set(given[bob.id]) >= {other, f"system-{first[-1]}", "rewrite-0"}
    assert f"system-{other[-1]}" not in given[bob.id]
    done = {(rating.rater, rating.item.partition(".")[0]) for rating in store.export_ratings()}
    assert (bob.id, first) in done  # what Ann wrote
    assert (ann.id, f"system-{first[-1]}") not in done
    assert store.progress(ann.id).stage is Stage.FINISHED


def test_sources_a_rater_does_not_rewrite_what_they_have_rated(store, make) -> None:
    (source,) = make.sources(1)
    rewrite = Rewrite(source=f" {source.source}", simple=("A.",), splitter="x")
    store.create(make.study(writers=2, raters=2), [source, Item("system", source.source, rewrite)])
    (ann,) = store.invite(1, Role.BOTH)
    task = store.next_task(ann.id)
    store.release(ann.id, task.slot)  # which is enough to know the source
    assert store.next_task(ann.id) is None


def _qualified(make: Any, **values: Any) -> Any:
    qualification = Qualification(training="t.jsonl", test="e.jsonl", pass_mark=0.5, **values)
    return _changed(make.study(writers=1, raters=1), "write", qualification=qualification)


def _lessons(make: Any) -> list[Item]:
    text = "Bo, who is old, sings."
    expected = {"sentences": [2, 3], "keeps": ["old"]}
    return [
        Item("training", text, None, Purpose.TRAINING, expected, "Two."),
        Item("test-0", text, None, Purpose.TEST, expected),
        Item("test-1", "Bo sings.", None, Purpose.TEST, {"flag": "simple"}),
        *make.sources(1),
    ]


def test_writers_qualify_by_writing(store, make, sound) -> None:
    store.create(_qualified(make), _lessons(make))
    (ann,) = store.invite(1, Role.WRITER)
    assert store.progress(ann.id).stage is Stage.TRAINING
    task = store.next_task(ann.id)
    done = store.submit(ann.id, task.slot, {"rewrite": "Bo sings. Bo is here."})
    assert (done.feedback, done.as_expected) == ("Two.", {"sentences": True, "keeps": False})
    assert store.progress(ann.id).test == (0, 2)
    store.submit(ann.id, store.next_task(ann.id).slot, {"flag": "simple"})
    done = store.submit(ann.id, store.next_task(ann.id).slot, {"flag": "simple"})
    assert done.qualified is True
    assert store.person(ann.id).may_write is True
    assert store.next_task(ann.id).item.id == "source-0"
    assert store.export_items() == []
    assert store.export_flagged() == []
    sound(store)


def test_writers_who_fail_write_nothing_but_may_rate(store, make) -> None:
    store.create(_qualified(make, attempts=2), [*_lessons(make), *make.rewrites(1)])
    wanda, both = store.invite(1, Role.WRITER)[0], store.invite(1, Role.BOTH)[0]
    for person in (wanda, both):
        for _ in range(5):  # a lesson, and two attempts at two items
            assert store.next_task(person.id).stage != "work"
            task = store.next_task(person.id)
            store.submit(person.id, task.slot, {"flag": "too-hard"})
    assert store.progress(wanda.id).stage is Stage.FAILED
    assert store.next_task(wanda.id) is None
    assert store.next_task(both.id).item.id == "rewrite-0"


def test_rejected_rating_is_given_to_somebody_else_and_can_be_accepted_again(
    store, make, sound
) -> None:
    store.create(make.study(raters=1), make.rewrites(1))
    ann, bob = store.invite(2)
    slot = store.next_task(ann.id).slot
    with pytest.raises(InputError, match="submitted"):
        store.reject(slot)
    store.submit(ann.id, slot, OK)
    store.reject(slot, "too quick")
    sound(store)
    assert store.export_ratings() == []
    assert store.next_task(ann.id) is None
    late = store.submit(ann.id, slot, {"grammatical": 1})
    assert (late.state, late.late) == (SlotState.REJECTED, True)
    store.exclude(ann.id)
    store.reinstate(ann.id)
    assert store.export_ratings() == []  # which does not undo the rejection
    store.accept(slot)
    assert [rating.answers for rating in store.export_ratings()] == [OK]
    store.reject(slot)
    _do_all(store, bob.id)
    store.accept(slot)
    assert [rating.rater for rating in store.export_ratings()] == [bob.id]
    assert store.submissions(ann.id)[0].state is SlotState.SURPLUS
    sound(store)


def test_rejected_rewrite_goes_with_its_ratings_and_comes_back_with_them(
    store, make, sound
) -> None:
    store.create(make.study(writers=1, raters=2), make.sources(1))
    wanda, will = store.invite(2, Role.WRITER)
    ann, bob = store.invite(2)
    slot = store.next_task(wanda.id).slot
    store.submit(wanda.id, slot, REWRITE)
    mine = store.next_task(ann.id).slot
    store.submit(ann.id, mine, OK)
    store.submit(bob.id, store.next_task(bob.id).slot, OK)
    store.reject(mine)
    store.reject(slot)
    sound(store)
    assert store.export_items() == []
    assert store.overview().people[3].pay.ratings == 1  # Bob has done his work
    store.accept(slot)
    sound(store)
    assert [rating.rater for rating in store.export_ratings()] == [bob.id]
    assert store.next_task(will.id) is None


def test_late_change_of_a_rewrite_says_that_it_does_not_count(store, make) -> None:
    store.create(make.study(writers=1, raters=1), make.sources(1))
    (wanda,), (ann,) = store.invite(1, Role.WRITER), store.invite(1)
    slot = store.next_task(wanda.id).slot
    store.submit(wanda.id, slot, {"rewrite": "Ann is 0.\nAnn paints."})
    assert not store.task(wanda.id, slot).final
    assert not store.submit(wanda.id, slot, REWRITE).late
    store.next_task(ann.id)
    assert store.task(wanda.id, slot).final
    assert not store.submit(wanda.id, slot, REWRITE).late  # the same again
    assert store.submit(wanda.id, slot, {"rewrite": "No.\nNo, no."}).late
    assert store.export_items()[0].simple == ("Ann paints.", "Ann is old.")


def test_time_below_the_floor_is_counted_whatever_the_page_reports(store, make, clock) -> None:
    study = _changed(make.study(raters=3), "rate", least_seconds=10)
    store.create(study, make.rewrites(3))
    ann, bob, cy = store.invite(3)
    for person, waits, reports in ((ann, 60, 55), (bob, 4, 600), (cy, 60, 3)):
        while (task := store.next_task(person.id)) is not None:
            clock.move(seconds=waits)
            store.submit(person.id, task.slot, OK, reports)
    assert [each.quick for each in store.overview().people] == [0, 3, 3]


def test_time_of_a_change_comes_on_top(store, make, clock) -> None:
    store.create(_changed(make.study(raters=1), "rate", least_seconds=10), make.rewrites(1))
    (ann,) = store.invite(1)
    task = store.next_task(ann.id)
    clock.move(seconds=30)
    store.submit(ann.id, task.slot, OK, 30)
    store.submit(ann.id, task.slot, {"grammatical": 4}, 2)
    assert store.export_ratings()[0].seconds == 32
    again = store.undo(ann.id)
    assert again.draft == {"grammatical": 4, "_seconds": 32}
    store.submit(ann.id, task.slot, OK, 33)
    assert store.overview().people[0].quick == 0


def test_pay_is_by_rewrite_by_rating_and_for_hard_sources(store, make, clock) -> None:
    payment = Payment(per_rewrite=0.2, per_hard=0.1, per_rating=0.07)
    hard = Item("hard", "Ann, whom Bo, who is old, saw, paints.", hard=True)
    store.create(
        make.study(writers=1, raters=1, payment=payment),
        [*make.sources(2), hard, *make.rewrites(3)],
    )
    (wanda,), (ann,) = store.invite(1, Role.WRITER), store.invite(1)
    slots = {}
    while (task := store.next_task(wanda.id)) is not None:
        slots[task.item.id] = task.slot
        flag = {"flag": "simple"} if task.item.id == "source-0" else REWRITE
        store.submit(wanda.id, task.slot, flag)
    _do_all(store, ann.id)
    pay = [each.pay for each in store.overview().people]
    assert [(one.rewrites, one.hard, one.ratings, one.owed) for one in pay] == [
        (2, 1, 0, 0.5),
        (0, 0, 5, 0.35),
    ]
    store.reject(slots["hard"])
    pay = [each.pay for each in store.overview().people]
    assert [one.owed for one in pay] == [0.2, 0.35]
    store.exclude(ann.id)
    assert store.overview().people[1].pay.owed == 0


def test_progress_counts_the_ratings_that_are_still_to_come(store, make) -> None:
    store.create(make.study(writers=2, raters=3), [*make.sources(2), *make.rewrites(1)])
    phase = store.overview().phases["rate"]
    assert (phase.wanted, phase.total) == (3, 3 + 2 * 2 * 3)
    (wanda,) = store.invite(1, Role.WRITER)
    store.submit(wanda.id, store.next_task(wanda.id).slot, REWRITE)
    store.submit(wanda.id, store.next_task(wanda.id).slot, {"flag": "simple"})
    phase = store.overview().phases["rate"]
    assert (phase.wanted, phase.total) == (6, 12)
