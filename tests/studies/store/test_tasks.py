"""Who gets what: never more than are wanted of an item, nothing twice, nothing of one's own."""

from collections import Counter

from parataxis.studies.store import Store
from parataxis.studies.store.types import SlotState, Stage
from parataxis.studies.study import ItemKind, Role

OK = {"grammatical": 5}
TEXT = {"rewrite": "Ann paints. Ann is old."}


def rate_all(store: Store, person: str) -> list[str]:
    """Everything that the person can do; the ids of the items."""
    done = []
    while (task := store.next_task(person)) is not None:
        answers = TEXT if task.kind is ItemKind.WRITE else OK
        assert store.submit(person, task.slot, answers, 1.0).state is SlotState.DONE
        done.append(task.item.id)
    return done


def test_assign_everything_is_rated_as_often_as_wanted(store, make, sound) -> None:
    store.create(make.study(raters=2), make.rewrites(7))
    people = store.invite(3)
    for person in people:
        rate_all(store, person.id)
        sound(store)
    ratings = store.export_ratings()
    assert Counter(rating.item for rating in ratings) == {f"rewrite-{n}": 2 for n in range(7)}
    assert len({(rating.item, rating.rater) for rating in ratings}) == 14
    assert all(store.progress(person.id).stage is Stage.FINISHED for person in people)


def test_assign_each_person_has_an_order_of_their_own(store, make) -> None:
    store.create(make.study(raters=4), make.rewrites(8))
    orders = {tuple(rate_all(store, person.id)) for person in store.invite(4)}
    assert len(orders) == 4
    assert all(len(set(order)) == 8 for order in orders)


def test_assign_the_first_item_is_a_matter_of_chance(store, make) -> None:
    store.create(make.study(raters=200), make.rewrites(5))
    firsts = Counter(store.next_task(person.id).item.id for person in store.invite(100))
    assert len(firsts) == 5
    assert max(firsts.values()) < 45  # of 100, each about 20


def test_assign_a_held_task_is_given_again(store, make) -> None:
    store.create(make.study(), make.rewrites(5))
    (person,) = store.invite(1)
    first = store.next_task(person.id)
    assert first is not None
    store.save_draft(person.id, first.slot, {"grammatical": 3})
    again = store.next_task(person.id)
    assert again is not None
    assert (again.slot, again.draft) == (first.slot, {"grammatical": 3})


def test_assign_nobody_rates_their_own_rewrite(store, make, sound) -> None:
    study = make.study(writers=2, raters=2)
    own = study.rate.model_copy(update={"own_sources": True})
    store.create(study.model_copy(update={"rate": own}), make.sources(3))
    ann, bob, cy = store.invite(["Ann", "Bob", "Cy"], Role.BOTH)
    for _ in range(2):
        for person in (ann, bob, cy):
            rate_all(store, person.id)
            sound(store)
    wrote = {rewrite.id: rewrite.model_extra["writer"] for rewrite in store.export_items()}
    ratings = store.export_ratings()
    assert len(wrote) == 6
    assert len(ratings) == 12
    assert all(rating.rater != wrote[rating.item] for rating in ratings)


def test_assign_a_rewrite_can_be_rated_at_once(store, make) -> None:
    store.create(make.study(writers=1, raters=1), make.sources(1))
    (ann,) = store.invite(["Ann"], Role.WRITER)
    (bob,) = store.invite(["Bob"], Role.RATER)
    assert store.next_task(bob.id) is None
    assert store.progress(bob.id).stage is Stage.WAITING
    task = store.next_task(ann.id)
    store.submit(ann.id, task.slot, {"rewrite": "Ann paints.\nAnn is 0."})
    found = store.next_task(bob.id)
    assert found.item.simple == ("Ann paints.", "Ann is 0.")
    assert store.next_task(ann.id) is None
    assert store.progress(ann.id).stage is Stage.FINISHED


def test_assign_flags_are_answers_and_make_nothing_to_rate(store, make, sound) -> None:
    store.create(make.study(writers=2), make.sources(1))
    for person, flag in zip(store.invite(2, Role.WRITER), ("simple", "too-hard"), strict=True):
        task = store.next_task(person.id)
        store.submit(person.id, task.slot, {"flag": flag})
    sound(store)
    assert store.export_items() == []
    assert [each.flag for each in store.export_flagged()] == ["simple", "too-hard"]
    assert store.overview().flags == {"simple": 1, "too-hard": 1}


def test_assign_a_lease_that_runs_out_is_somebody_elses(store, make, clock, sound) -> None:
    store.create(make.study(raters=1, lease_minutes=30), make.rewrites(1))
    ann, bob = store.invite(2)
    held = store.next_task(ann.id)
    store.save_draft(ann.id, held.slot, {"grammatical": 2})
    clock.move(minutes=29)
    assert store.next_task(bob.id) is None
    assert store.progress(bob.id).stage is Stage.WAITING
    clock.move(minutes=2)
    taken = store.next_task(bob.id)
    assert taken.item.id == held.item.id
    assert taken.draft is None
    sound(store)
    assert store.next_task(ann.id) is None


def test_assign_a_lease_that_ran_out_keeps_its_place_until_it_is_needed(
    store, make, clock, sound
) -> None:
    store.create(make.study(raters=1), make.rewrites(2))
    ann, bob = store.invite(2)
    first = store.next_task(ann.id)
    clock.move(minutes=31)
    phase = store.overview().phases["rate"]
    assert (phase.held, phase.open, phase.wanted) == (0, 2, 2)
    second = store.next_task(bob.id)
    assert second.item.id != first.item.id  # something else was open
    assert store.submit(ann.id, first.slot, OK).state is SlotState.DONE
    store.submit(bob.id, second.slot, OK)
    assert store.next_task(bob.id) is None
    sound(store)


def test_assign_a_draft_keeps_the_lease(store, make, clock) -> None:
    store.create(make.study(raters=1, lease_minutes=30), make.rewrites(1))
    ann, bob = store.invite(2)
    held = store.next_task(ann.id)
    for _ in range(5):
        clock.move(minutes=20)
        assert store.save_draft(ann.id, held.slot, OK)
        assert store.next_task(bob.id) is None
    assert store.submit(ann.id, held.slot, OK).state is SlotState.DONE


def test_assign_a_late_submission_counts_where_nobody_came(store, make, clock, sound) -> None:
    store.create(make.study(raters=1), make.rewrites(2))
    ann, bob = store.invite(2)
    held = store.next_task(ann.id)
    clock.move(hours=5)
    other = store.next_task(bob.id)
    if other.item.id == held.item.id:  # it is open again, and any may be first
        store.release(bob.id, other.slot)
    assert store.submit(ann.id, held.slot, OK).state is SlotState.DONE
    sound(store)
    assert [rating.rater for rating in store.export_ratings()] == [ann.id]


def test_assign_a_late_submission_is_surplus_where_somebody_came(store, make, clock, sound) -> None:
    store.create(make.study(raters=1), make.rewrites(1))
    ann, bob = store.invite(2)
    held = store.next_task(ann.id)
    clock.move(hours=5)
    taken = store.next_task(bob.id)
    assert store.submit(ann.id, held.slot, {"grammatical": 1}).state is SlotState.SURPLUS
    assert store.submit(bob.id, taken.slot, OK).state is SlotState.DONE
    sound(store)
    assert [rating.rater for rating in store.export_ratings()] == [bob.id]
    kept = [entry for entry in store.export_history() if entry["person"] == ann.id]
    assert [(entry["answers"], entry["counts"]) for entry in kept] == [({"grammatical": 1}, False)]
    again = store.submit(ann.id, held.slot, {"grammatical": 1})
    assert (again.state, again.repeated) == (SlotState.SURPLUS, True)


def test_assign_a_lapsed_task_comes_back_with_its_draft(store, make, clock, sound) -> None:
    store.create(make.study(raters=1), make.rewrites(1))
    ann, bob = store.invite(2)
    held = store.next_task(ann.id)
    store.save_draft(ann.id, held.slot, {"grammatical": 4})
    clock.move(hours=1)
    store.next_task(bob.id)
    clock.move(hours=1)
    back = store.next_task(ann.id)
    assert (back.slot, back.draft) == (held.slot, {"grammatical": 4})
    sound(store)
    assert store.next_task(bob.id) is None


def test_assign_a_clock_put_back_blocks_nobody_for_long(store, make, clock, sound) -> None:
    store.create(make.study(raters=1), make.rewrites(1))
    ann, bob = store.invite(2)
    clock.move(days=300)
    held = store.next_task(ann.id)
    clock.move(days=-300)
    assert store.next_task(bob.id) is None
    clock.move(minutes=31)
    taken = store.next_task(bob.id)
    assert taken is not None
    assert store.submit(bob.id, taken.slot, OK).state is SlotState.DONE
    assert store.submit(ann.id, held.slot, OK).state is SlotState.SURPLUS
    sound(store)


def test_assign_a_clock_put_forward_loses_nothing(store, make, clock, sound) -> None:
    store.create(make.study(raters=1), make.rewrites(10))
    people = store.invite(10)
    held = [(person.id, store.next_task(person.id).slot) for person in people]
    clock.move(days=4000)
    (late,) = store.invite(1)
    first = store.next_task(late.id)  # every lease is over, one of them is taken
    results = [store.submit(person, slot, OK).state for person, slot in held]
    assert Counter(results) == {SlotState.DONE: 9, SlotState.SURPLUS: 1}
    assert store.submit(late.id, first.slot, OK).state is SlotState.DONE
    sound(store)
    assert len(store.export_ratings()) == 10


def test_assign_limits_what_one_person_does(store, make) -> None:
    study = make.study(raters=3)
    limited = study.model_copy(update={"rate": study.rate.model_copy(update={"per_person": 4})})
    store.create(limited, make.rewrites(10))
    (person,) = store.invite(1)
    assert len(rate_all(store, person.id)) == 4
    assert store.progress(person.id).stage is Stage.FINISHED
    assert store.progress(person.id).done[ItemKind.RATE] == 4


def test_assign_a_returned_task_goes_to_others(store, make, sound) -> None:
    store.create(make.study(raters=1), make.rewrites(1))
    ann, bob = store.invite(2)
    held = store.next_task(ann.id)
    store.release(ann.id, held.slot)
    sound(store)
    assert store.next_task(ann.id) is None
    assert store.next_task(bob.id).item.id == held.item.id


def test_assign_a_paused_study_gives_nothing_and_takes_everything(store, make) -> None:
    store.create(make.study(), make.rewrites(3))
    (ann,) = store.invite(1)
    held = store.next_task(ann.id)
    store.pause()
    assert store.next_task(ann.id) is None
    assert store.progress(ann.id).stage is Stage.PAUSED
    assert store.submit(ann.id, held.slot, OK).state is SlotState.DONE
    store.resume()
    assert store.next_task(ann.id) is not None


def test_assign_experts_rate_beside_the_raters(store, make) -> None:
    store.create(make.study(raters=1), make.rewrites(4))
    (rater,) = store.invite(1)
    (expert,) = store.invite(1, Role.EXPERT)
    assert store.next_task(expert.id) is None
    assert len(rate_all(store, rater.id)) == 4
    assert store.ask_experts(["rewrite-1", "rewrite-3"]) == 2
    assert store.ask_experts(["rewrite-1"]) == 0
    assert sorted(rate_all(store, expert.id)) == ["rewrite-1", "rewrite-3"]
    assert len(store.export_ratings()) == 4
    assert {rating.rater for rating in store.export_ratings(experts=True)} == {expert.id}
