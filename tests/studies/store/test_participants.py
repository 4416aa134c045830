"""People come, are taken out, come back, and are forgotten."""

from pathlib import Path

import pytest

from parataxis.errors import InputError
from parataxis.studies.store import Store
from parataxis.studies.store.types import NotYoursError, PersonState, SlotState, Stage
from parataxis.studies.study import BackgroundQuestion, Panel, Role

OK = {"grammatical": 5}


def rate(store: Store, person: str, count: int = 1000) -> int:
    done = 0
    while done < count and (task := store.next_task(person)) is not None:
        answers = {"rewrite": "One. Two."} if task.kind == "write" else OK
        store.submit(person, task.slot, answers, 2.0)
        done += 1
    return done


def test_people_consent_and_background_come_first(store, make) -> None:
    background = [
        BackgroundQuestion(id="english", text="Is English your first language?", required=True),
        BackgroundQuestion(id="age", text="How old are you?"),
    ]
    store.create(make.study(consent="Do you agree?", background=background), make.rewrites(1))
    (ann,) = store.invite(1)
    assert store.progress(ann.id).stage is Stage.CONSENT
    assert store.next_task(ann.id) is None
    store.consent(ann.id, "es")
    assert store.progress(ann.id).stage is Stage.BACKGROUND
    with pytest.raises(InputError, match="english"):
        store.save_background(ann.id, {"age": 30})
    store.save_background(ann.id, {"english": True, "age": 30, "unasked": 1})
    assert store.progress(ann.id).stage is Stage.WORK
    found = store.person(ann.id)
    assert (found.language, found.background) == ("es", {"english": True, "age": 30})
    assert found.consented is not None


def test_people_of_a_panel_are_known_again(store, make) -> None:
    store.create(make.study(panel=Panel()), make.rewrites(1))
    first = store.person_by_panel({"PROLIFIC_PID": "5f", "STUDY_ID": "s", "other": "x"})
    again = store.person_by_panel({"PROLIFIC_PID": "5f", "SESSION_ID": "2"})
    other = store.person_by_panel({"PROLIFIC_PID": "60"})
    assert first.id == again.id != other.id
    assert first.panel == {"person": "5f", "study": "s"}
    for wrong in ({}, {"PROLIFIC_PID": ""}, {"PROLIFIC_PID": "x" * 300}, {"PROLIFIC_PID": "a\0b"}):
        with pytest.raises(InputError):
            store.person_by_panel(wrong)


def test_people_without_a_panel_cannot_come_by_one(store, make) -> None:
    store.create(make.study(), make.rewrites(1))
    with pytest.raises(InputError, match="panel"):
        store.person_by_panel({"PROLIFIC_PID": "5f"})


def test_exclude_asks_others_for_everything_again(store, make, sound) -> None:
    store.create(make.study(raters=1), make.rewrites(5))
    ann, bob = store.invite(2)
    assert rate(store, ann.id, 3) == 3
    held = store.next_task(ann.id)
    store.exclude(ann.id, "too fast")
    sound(store)
    assert store.export_ratings() == []
    assert store.next_task(ann.id) is None
    late = store.submit(ann.id, held.slot, OK)
    assert late.state is SlotState.VOID
    sound(store)
    assert len(store.export_history()) == 4
    assert rate(store, bob.id) == 5
    assert {rating.rater for rating in store.export_ratings()} == {bob.id}


def test_exclude_withdraws_what_somebody_wrote(store, make, sound) -> None:
    store.create(make.study(writers=1, raters=2), make.sources(2))
    ann, bob = store.invite(2, Role.WRITER)
    cy, dan = store.invite(2)
    rate(store, ann.id)
    rate(store, cy.id)
    held = store.next_task(dan.id)
    assert len(store.export_ratings()) == 2
    store.exclude(ann.id)
    sound(store)
    assert store.export_items() == []
    assert store.export_ratings() == []
    assert store.submit(dan.id, held.slot, OK).state is SlotState.VOID
    assert rate(store, bob.id) == 2
    assert rate(store, cy.id) == rate(store, dan.id) == 2
    assert len(store.export_ratings()) == 4
    sound(store)


def test_reinstate_what_nobody_did_again_counts_again(store, make, sound) -> None:
    store.create(make.study(raters=1), make.rewrites(5))
    ann, bob = store.invite(2)
    rate(store, ann.id)
    store.exclude(ann.id)
    rate(store, bob.id, 2)
    store.reinstate(ann.id)
    sound(store)
    assert len(store.export_ratings()) == 5
    assert sum(rating.rater == ann.id for rating in store.export_ratings()) == 3
    assert store.progress(ann.id).surplus == 2
    assert store.person(ann.id).state is PersonState.ACTIVE
    assert store.next_task(bob.id) is None


def test_reinstate_a_writer_brings_their_rewrites_and_ratings_back(store, make, sound) -> None:
    store.create(make.study(writers=1, raters=2), make.sources(3))
    (ann,) = store.invite(1, Role.WRITER)
    bob, cy = store.invite(2)
    rate(store, ann.id)
    rate(store, bob.id)
    rate(store, cy.id, 1)
    before = {(rating.item, rating.rater) for rating in store.export_ratings()}
    store.exclude(ann.id)
    assert not store.export_ratings()
    store.reinstate(ann.id)
    sound(store)
    assert {(rating.item, rating.rater) for rating in store.export_ratings()} == before
    assert rate(store, cy.id) == 2
    assert len(store.export_ratings()) == 6


def test_reinstate_a_writer_whose_rewrite_an_expert_rated(store, make) -> None:
    store.create(make.study(writers=1, raters=1), make.sources(1))
    (ann,), (expert,), (bob,) = (
        store.invite(1, role) for role in (Role.WRITER, Role.EXPERT, Role.RATER)
    )
    rate(store, ann.id)
    store.ask_experts([store.export_items()[0].id])
    assert rate(store, expert.id) == 1
    store.exclude(ann.id)
    assert store.export_ratings(experts=True) == []
    store.reinstate(ann.id)
    assert len(store.export_ratings(experts=True)) == 1
    assert rate(store, bob.id) == 1
    assert len(store.export_ratings()) == 1


def test_reinstate_offers_what_was_written_meanwhile(store, make, sound) -> None:
    store.create(make.study(writers=1, raters=1), make.sources(1))
    (ann,), (bob,) = store.invite(1, Role.WRITER), store.invite(1)
    held = store.next_task(ann.id)
    store.exclude(ann.id)
    assert store.submit(ann.id, held.slot, {"rewrite": "One. Two."}).state is SlotState.VOID
    assert store.next_task(bob.id) is None
    store.reinstate(ann.id)
    sound(store)
    assert store.next_task(bob.id).item.simple == ("One.", "Two.")


def test_block_keeps_what_was_done(store, make, sound) -> None:
    store.create(make.study(raters=1), make.rewrites(3))
    ann, bob = store.invite(2)
    rate(store, ann.id, 1)
    store.next_task(ann.id)
    store.block(ann.id)
    sound(store)
    assert len(store.export_ratings()) == 1
    assert rate(store, bob.id) == 2
    store.reinstate(ann.id)
    assert store.progress(ann.id).stage is Stage.FINISHED
    sound(store)


def with_a_past(store: Store, make) -> tuple[str, str]:
    """Somebody of whom everything is known, and another person."""
    question = BackgroundQuestion(id="job", text="What do you do?")
    store.create(make.study(raters=1, panel=Panel(), background=[question]), make.rewrites(3))
    ann = store.person_by_panel({"PROLIFIC_PID": "panel-number-of-ann"})
    (bob,) = store.invite(["Bob"])
    store.consent(ann.id, "en")
    store.save_background(ann.id, {"job": "zookeeper-in-ghent"})
    rate(store, ann.id, 1)
    held = store.next_task(ann.id)
    store.save_draft(ann.id, held.slot, {"comment": "half-a-thought-of-ann"})
    return ann.id, bob.id


PERSONAL = (b"panel-number-of-ann", b"zookeeper-in-ghent", b"half-a-thought-of-ann")


def test_personal_data_is_all_there_is(store, make) -> None:
    ann, bob = with_a_past(store, make)
    rate(store, bob)
    found = store.personal_data(ann)
    assert found["panel"] == {"person": "panel-number-of-ann"}
    assert found["background"] == {"job": "zookeeper-in-ghent"}
    assert [each["answers"] for each in found["drafts"]] == [{"comment": "half-a-thought-of-ann"}]
    assert [each["answers"] for each in found["submissions"]] == [OK]
    assert bob not in str(found)


def test_erase_keeps_ratings_without_a_name(store, make, sound, url) -> None:
    ann, bob = with_a_past(store, make)
    store.erase(ann)
    sound(store)
    ratings = store.export_ratings()
    assert len(ratings) == 1
    assert ratings[0].rater not in (ann, bob)
    with pytest.raises(NotYoursError):
        store.next_task(ann)
    assert store.person(ann) is None
    (gone,) = (person for person in store.people() if person.id != bob)
    assert gone.state is PersonState.ERASED
    assert (gone.name, gone.panel, gone.background, gone.language) == (None, {}, None, None)
    assert rate(store, bob) == 2
    assert store.person_by_panel({"PROLIFIC_PID": "panel-number-of-ann"}).id != ann
    if "://" not in url:
        store.close()


def test_erase_somebody_stays_erased(store, make, sound) -> None:
    ann, bob = with_a_past(store, make)
    store.erase(ann)
    (gone,) = (person for person in store.people() if person.id != bob)
    with pytest.raises(InputError, match="erased"):
        store.reinstate(gone.id)
    store.exclude(gone.id)  # their ratings may still turn out to be bad
    assert store.person(gone.id).state is PersonState.ERASED
    assert store.export_ratings() == []
    sound(store)


def test_erase_with_ratings_leaves_nothing(store, make, sound) -> None:
    ann, bob = with_a_past(store, make)
    store.erase(ann, ratings=True)
    sound(store)
    assert store.export_ratings() == []
    assert store.export_history() == []
    assert rate(store, bob) == 3


def test_erase_with_ratings_removes_what_a_writer_wrote(store, make, sound) -> None:
    store.create(make.study(writers=1, raters=1), make.sources(2))
    (ann,), (bob,) = store.invite(1, Role.WRITER), store.invite(1)
    rate(store, ann.id)
    rate(store, bob.id)
    store.erase(ann.id, ratings=True)
    sound(store)
    assert store.export_items() == []
    assert "Two." not in str(store.export_history())
    assert "Two." not in str(store.personal_data(bob.id))


def test_erase_leaves_no_trace_in_the_files(make, tmp_path: Path) -> None:
    path = tmp_path / "study.db"
    with Store.open(str(path)) as store:
        ann, _ = with_a_past(store, make)
        texts = b"".join(file.read_bytes() for file in tmp_path.iterdir())
        assert all(word in texts for word in PERSONAL)
        store.erase(ann)
        texts = b"".join(file.read_bytes() for file in tmp_path.iterdir())
        assert not any(word in texts for word in (*PERSONAL, ann.encode()))


def test_overview_counts_what_there_is(store, make, clock) -> None:
    store.create(make.study(writers=1, raters=2), [*make.sources(2), *make.rewrites(3)])
    (ann,) = store.invite(["Ann"], Role.WRITER)
    (bob,) = store.invite(["Bob"])
    rate(store, ann.id)
    clock.move(hours=2)
    rate(store, bob.id, 3)
    store.next_task(bob.id)
    found = store.overview()
    write, rates = found.phases["write"], found.phases["rate"]
    assert (write.wanted, write.done, write.items, write.items_complete) == (2, 2, 2, 2)
    assert (rates.wanted, rates.done, rates.held, rates.open) == (10, 3, 1, 6)
    assert (rates.items, rates.items_complete, rates.seconds) == (5, 0, 2.0)
    assert rates.share == 0.3
    assert [count for _, count in found.pace] == [2, 3]
    assert [(each.person.name, each.done, each.held) for each in found.people] == [
        ("Ann", 2, 0),
        ("Bob", 3, 1),
    ]
    assert found.last == clock.time
