"""What is submitted is kept, once; corrections and undoing leave a history."""

import json
import math
import re

import pytest

from parataxis.errors import InputError
from parataxis.studies.records import Purpose, Value
from parataxis.studies.rubric import load_rubric
from parataxis.studies.store import FILES, export_file
from parataxis.studies.store.types import NotYoursError, SlotState, Stage, Task, UndoError
from parataxis.studies.study import Controls, ItemKind, OnFailure, Qualification, Role

OK = {"grammatical": 5}
BAD = {"grammatical": 1}


def test_submit_a_double_click_is_one_rating(store, make, sound) -> None:
    store.create(make.study(), make.rewrites(2))
    (ann,) = store.invite(1)
    task = store.next_task(ann.id)
    first = store.submit(ann.id, task.slot, OK, 3.0)
    second = store.submit(ann.id, task.slot, OK, 3.5)
    assert (first.repeated, second.repeated) == (False, True)
    assert second.state is SlotState.DONE
    assert [rating.seconds for rating in store.export_ratings()] == [3.0]
    assert len(store.export_history()) == 1
    sound(store)


def test_submit_other_answers_are_a_correction(store, make) -> None:
    store.create(make.study(), make.rewrites(2))
    (ann,) = store.invite(1)
    task = store.next_task(ann.id)
    store.submit(ann.id, task.slot, BAD)
    assert store.submit(ann.id, task.slot, OK).repeated
    assert [rating.answers for rating in store.export_ratings()] == [OK]
    history = [
        (entry["action"], entry["answers"], entry["counts"]) for entry in store.export_history()
    ]
    assert history == [("submit", BAD, False), ("correct", OK, True)]
    assert store.task(ann.id, task.slot).submitted == OK


def test_submit_nobody_submits_for_another(store, make) -> None:
    store.create(make.study(), make.rewrites(2))
    ann, bob = store.invite(2)
    task = store.next_task(ann.id)
    for who, slot in ((bob.id, task.slot), (ann.id, "2222222222"), ("?", task.slot)):
        with pytest.raises(NotYoursError):
            store.submit(who, slot, OK)
        with pytest.raises(NotYoursError):
            store.save_draft(who, slot, OK)
        with pytest.raises(NotYoursError):
            store.task(who, slot)
    for slot in ("", "1", "-1", "0", "None", "\0", "%", "é", "x" * 99):
        with pytest.raises(NotYoursError):
            store.submit(ann.id, slot, OK)
        with pytest.raises(NotYoursError):
            store.task(ann.id, slot)
    for who in ("nobody", "", "a\0b", "\ud800", "x" * 5000):
        with pytest.raises(NotYoursError):
            store.next_task(who)
        assert store.person(who) is None
    assert store.export_history() == []


def test_submit_a_draft_after_the_submission_changes_nothing(store, make) -> None:
    store.create(make.study(), make.rewrites(2))
    (ann,) = store.invite(1)
    task = store.next_task(ann.id)
    store.submit(ann.id, task.slot, OK)
    assert not store.save_draft(ann.id, task.slot, BAD)
    assert [rating.answers for rating in store.export_ratings()] == [OK]


def test_submit_and_take_does_both_in_one(store, make, sound) -> None:
    store.create(make.study(raters=1), make.rewrites(2))
    (ann,) = store.invite(1)
    first = store.next_task(ann.id)
    done, second = store.submit_and_take(ann.id, first.slot, lambda task: {"of": task.item.id}, 7)
    assert done.state is SlotState.DONE
    assert store.next_task(ann.id).slot == second != first.slot
    again, same = store.submit_and_take(ann.id, first.slot, lambda task: {"of": task.item.id}, 7)
    assert again.repeated
    assert same == second
    assert store.submit_and_take(ann.id, second, lambda task: OK)[1] is None
    assert [(r.answers, r.seconds) for r in store.export_ratings()] == [
        ({"of": first.item.id}, 7),
        (OK, None),
    ]
    sound(store)


def test_submit_and_take_does_nothing_where_the_answers_are_refused(store, make, sound) -> None:
    store.create(make.study(), make.rewrites(2))
    ann, bob = store.invite(2)
    task = store.next_task(ann.id)

    def refuse(task: Task) -> dict[str, Value]:
        raise ValueError(task.item.id)

    with pytest.raises(ValueError, match=task.item.id):
        store.submit_and_take(ann.id, task.slot, refuse)
    with pytest.raises(NotYoursError):
        store.submit_and_take(bob.id, task.slot, lambda task: OK)
    assert store.export_history() == []
    assert store.next_task(ann.id).slot == task.slot
    sound(store)


@pytest.mark.parametrize("answers", [{"a": math.nan}, {"a": object()}, {"a": {1, 2}}])
def test_submit_refuses_what_cannot_be_kept(store, make, answers) -> None:
    store.create(make.study(), make.rewrites(1))
    (ann,) = store.invite(1)
    task = store.next_task(ann.id)
    with pytest.raises(InputError):
        store.submit(ann.id, task.slot, answers)


@pytest.mark.parametrize("seconds", [math.nan, math.inf, -1.0, None])
def test_submit_a_time_that_cannot_be_is_none(store, make, seconds) -> None:
    store.create(make.study(), make.rewrites(1))
    (ann,) = store.invite(1)
    store.submit(ann.id, store.next_task(ann.id).slot, OK, seconds)
    assert store.export_ratings()[0].seconds is None
    assert store.overview().phases["rate"].seconds is None


def test_submit_keeps_every_character(store, make) -> None:
    store.create(make.study(), make.rewrites(1))
    (ann,) = store.invite(1)
    task = store.next_task(ann.id)
    answers = {"comment": "ñ 漢 \U0001f600 \0 \ud800 <b> ' \" \\ \r\n", "x": None, "y": False}
    store.save_draft(ann.id, task.slot, answers)
    assert store.next_task(ann.id).draft == answers
    store.submit(ann.id, task.slot, answers)
    assert store.export_ratings()[0].answers == answers


def test_submit_a_rewrite_must_be_one(store, make) -> None:
    store.create(make.study(writers=1), make.sources(1))
    (ann,) = store.invite(1, Role.WRITER)
    task = store.next_task(ann.id)
    for answers in ({}, {"rewrite": " \n"}, {"flag": "boring"}):
        with pytest.raises(InputError):
            store.submit(ann.id, task.slot, answers)


def test_submit_a_corrected_rewrite_replaces_the_first_until_it_is_rated(
    store, make, sound
) -> None:
    store.create(make.study(writers=1, raters=1), make.sources(1))
    (ann,), (bob,) = store.invite(1, Role.WRITER), store.invite(1)
    task = store.next_task(ann.id)
    store.submit(ann.id, task.slot, {"rewrite": "One. Two."})
    store.submit(ann.id, task.slot, {"rewrite": "Uno. Dos."})
    assert [each.simple for each in store.export_items()] == [("Uno.", "Dos.")]
    sound(store)
    held = store.next_task(bob.id)
    assert held.item.simple == ("Uno.", "Dos.")
    store.submit(ann.id, task.slot, {"rewrite": "Too. Late."})
    assert [each.simple for each in store.export_items()] == [("Uno.", "Dos.")]
    assert [entry["action"] for entry in store.export_history()] == ["submit", "correct", "late"]
    assert store.submit(bob.id, held.slot, OK).state is SlotState.DONE
    sound(store)


def test_undo_gives_the_task_back_with_its_answers(store, make, sound) -> None:
    store.create(make.study(raters=1), make.rewrites(3))
    (ann,) = store.invite(1)
    first = store.next_task(ann.id)
    store.submit(ann.id, first.slot, BAD)
    second = store.next_task(ann.id)
    assert store.progress(ann.id).can_undo
    back = store.undo(ann.id)
    assert (back.slot, back.draft, back.submitted) == (first.slot, BAD, None)
    assert store.export_ratings() == []
    assert store.next_task(ann.id).slot == first.slot
    assert not store.progress(ann.id).can_undo
    with pytest.raises(UndoError):
        store.undo(ann.id)
    store.submit(ann.id, first.slot, OK)
    assert store.next_task(ann.id).slot == second.slot
    assert [rating.answers for rating in store.export_ratings()] == [OK]
    actions = [(entry["action"], entry["counts"]) for entry in store.export_history()]
    assert actions == [("submit", False), ("undo", False), ("submit", True)]
    sound(store)


def test_undo_what_was_taken_back_comes_first(store, make) -> None:
    store.create(make.study(raters=10), make.rewrites(3))
    for person in store.invite(10):
        first = store.next_task(person.id)
        store.submit(person.id, first.slot, OK)
        store.next_task(person.id)
        store.undo(person.id)
        assert store.next_task(person.id).slot == first.slot


def test_undo_needs_something_to_undo(store, make) -> None:
    store.create(make.study(), make.rewrites(1))
    (ann,) = store.invite(1)
    with pytest.raises(UndoError):
        store.undo(ann.id)


def test_undo_a_rewrite_until_somebody_rates_it(store, make, sound) -> None:
    store.create(make.study(writers=1, raters=1), make.sources(1))
    (ann,), (bob,) = store.invite(1, Role.WRITER), store.invite(1)
    task = store.next_task(ann.id)
    store.submit(ann.id, task.slot, {"rewrite": "One. Two."})
    store.undo(ann.id)
    assert store.export_items() == []
    sound(store)
    store.submit(ann.id, task.slot, {"rewrite": "One. Two. Three."})
    assert store.next_task(bob.id).item.simple == ("One.", "Two.", "Three.")
    with pytest.raises(UndoError, match="begun to rate"):
        store.undo(ann.id)
    sound(store)


def test_undo_then_leave_opens_the_slot_for_others(store, make, clock, sound) -> None:
    store.create(make.study(raters=1), make.rewrites(1))
    ann, bob = store.invite(2)
    task = store.next_task(ann.id)
    store.submit(ann.id, task.slot, OK)
    store.undo(ann.id)
    clock.move(hours=1)
    assert store.next_task(bob.id).item.id == task.item.id
    sound(store)


# --- Qualification and control items


def qualification(make, store, **settings) -> None:
    paths = {"training": "training.jsonl", "test": "test.jsonl"}
    study = make.study(qualification=Qualification(**paths, **settings))
    store.create(
        study,
        [
            *make.rewrites(5),
            *make.controls(Purpose.TRAINING, 2, grammatical=5),
            *make.controls(Purpose.TEST, 4, grammatical=5),
        ],
    )


def answer(store, person: str, answers: dict[str, int]):
    task = store.next_task(person)
    return task, store.submit(person, task.slot, answers)


def test_qualification_trains_then_tests_then_works(store, make, sound) -> None:
    qualification(make, store)
    (ann,) = store.invite(1)
    for number in range(2):
        assert store.progress(ann.id).stage is Stage.TRAINING
        task, result = answer(store, ann.id, BAD)
        assert (task.purpose, task.item.id) == (Purpose.TRAINING, f"training-{number}")
        assert result.as_expected == {"grammatical": False}
        assert (result.expected, result.feedback) == (
            {"grammatical": 5},
            f"About training-{number}.",
        )
    assert store.progress(ann.id).stage is Stage.TEST
    results = [answer(store, ann.id, OK)[1] for _ in range(4)]
    assert [each.qualified for each in results] == [None, None, None, True]
    assert all(not each.expected and not each.as_expected for each in results)
    assert store.progress(ann.id).stage is Stage.WORK
    assert store.next_task(ann.id).purpose is Purpose.ITEM
    assert store.person(ann.id).qualified
    assert store.progress(ann.id).done[ItemKind.RATE] == 0
    assert len(store.export_ratings(purposes=[Purpose.TEST])) == 4
    sound(store)


def test_qualification_has_two_attempts(store, make) -> None:
    qualification(make, store)
    ann, bob = store.invite(2)
    for person, last in ((ann.id, OK), (bob.id, BAD)):
        for _ in range(2):
            answer(store, person, OK)
        first = [answer(store, person, BAD)[1].qualified for _ in range(4)]
        assert first == [None, None, None, False]
        assert store.progress(person).attempt == 2
        assert store.progress(person).test == (0, 4)
        for _ in range(4):
            answer(store, person, last)
    assert store.progress(ann.id).stage is Stage.WORK
    assert store.progress(bob.id).stage is Stage.FAILED
    assert store.next_task(bob.id) is None


@pytest.mark.parametrize(
    ("mark", "right", "passes"), [(0.75, 3, True), (0.8, 3, False), (0, 0, True)]
)
def test_qualification_the_pass_mark_is_a_share(store, make, mark, right, passes) -> None:
    qualification(make, store, pass_mark=mark, attempts=1)
    (ann,) = store.invite(1)
    for _ in range(2):
        answer(store, ann.id, OK)
    for number in range(4):
        _, result = answer(store, ann.id, OK if number < right else BAD)
    assert result.qualified is passes


def test_qualification_is_not_undone_or_corrected(store, make) -> None:
    qualification(make, store)
    (ann,) = store.invite(1)
    task, _ = answer(store, ann.id, BAD)
    with pytest.raises(UndoError):
        store.undo(ann.id)
    assert store.submit(ann.id, task.slot, OK).repeated
    ratings = store.export_ratings(purposes=[Purpose.TRAINING])
    assert [rating.answers for rating in ratings] == [BAD]


def controlled(make, store, on_failure: OnFailure, **settings) -> None:
    attention = Controls(items="a.jsonl", every=3, on_failure=on_failure, **settings)
    items = [*make.rewrites(12), *make.controls(Purpose.ATTENTION, 6, grammatical=1)]
    store.create(make.study(raters=1, attention=attention), items)


def test_controls_come_in_each_stretch_and_never_first(store, make) -> None:
    for_all = []
    controlled(make, store, OnFailure.WARN)
    (ann,) = store.invite(1)
    while (task := store.next_task(ann.id)) is not None:
        for_all.append(task.purpose)
        store.submit(ann.id, task.slot, BAD)
    assert for_all.count(Purpose.ITEM) == 12
    assert for_all[0] is Purpose.ITEM
    assert for_all.count(Purpose.ATTENTION) == 4
    assert store.progress(ann.id).done[ItemKind.RATE] == 16
    assert len(store.export_ratings()) == 12
    overview = store.overview().people[0]
    assert (overview.controls, overview.failures, overview.warnings) == (4, 0, 0)


def work_until_control(store, person: str, answers) -> list[int]:
    slots = []
    while (task := store.next_task(person)).purpose is Purpose.ITEM:
        store.submit(person, task.slot, OK)
        slots.append(task.slot)
    return slots, task, store.submit(person, task.slot, answers)


def test_controls_warn(store, make) -> None:
    controlled(make, store, OnFailure.WARN, allowed=1)
    (ann,) = store.invite(1)
    assert work_until_control(store, ann.id, OK)[2].consequence is None
    assert work_until_control(store, ann.id, OK)[2].consequence is OnFailure.WARN
    overview = store.overview().people[0]
    assert (overview.failures, overview.warnings) == (2, 1)
    assert store.next_task(ann.id) is not None


def test_controls_block(store, make, sound) -> None:
    controlled(make, store, OnFailure.BLOCK)
    (ann,) = store.invite(1)
    slots, _, result = work_until_control(store, ann.id, OK)
    assert result.consequence is OnFailure.BLOCK
    assert store.next_task(ann.id) is None
    assert store.progress(ann.id).stage is Stage.BLOCKED
    assert len(store.export_ratings()) == len(slots) > 0
    sound(store)


def test_controls_void_and_ask_others(store, make, sound) -> None:
    controlled(make, store, OnFailure.VOID)
    ann, bob = store.invite(2)
    slots, _, result = work_until_control(store, ann.id, OK)
    assert slots
    assert result.consequence is OnFailure.VOID
    assert store.export_ratings() == []
    sound(store)
    while (task := store.next_task(bob.id)) is not None:
        store.submit(bob.id, task.slot, BAD)
    assert {rating.rater for rating in store.export_ratings()} == {bob.id}
    assert len(store.export_ratings()) == 12


def test_controls_a_failure_stays_one_when_it_is_undone(store, make) -> None:
    controlled(make, store, OnFailure.WARN)
    (ann,) = store.invite(1)
    _, task, _ = work_until_control(store, ann.id, OK)
    assert store.undo(ann.id).slot == task.slot  # as for any other item: it must not stand out
    assert store.submit(ann.id, task.slot, BAD).consequence is None
    assert store.overview().people[0].failures == 1


def test_controls_a_tolerance_is_for_numbers(store, make) -> None:
    controlled(make, store, OnFailure.WARN, tolerance=1)
    (ann,) = store.invite(1)
    assert work_until_control(store, ann.id, {"grammatical": 2})[2].consequence is None
    assert work_until_control(store, ann.id, {"grammatical": 3})[2].consequence is OnFailure.WARN


def test_times_have_one_format_in_all_files(store, make) -> None:
    store.create(make.study(writers=1, raters=1), [*make.sources(1), *make.rewrites(1)])
    (wanda,), (ann,) = store.invite(1, Role.WRITER), store.invite(1)
    store.submit(wanda.id, store.next_task(wanda.id).slot, {"flag": "simple"})
    store.submit(ann.id, store.next_task(ann.id).slot, OK)
    texts = [export_file(name, store, load_rubric("gms")) for name in FILES]
    texts.append(json.dumps(store.personal_data(ann.id)))
    times = [time for text in texts for time in re.findall(r'"([0-9]{4}-[^"]*)"', text)]
    assert len(times) >= 6
    assert set(times) == {"2026-03-01T12:00:00.000Z"}
