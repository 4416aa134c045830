"""The rules of assignment, against whatever people, organisers and clocks may do in any order."""

import tempfile
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

from parataxis.errors import InputError
from parataxis.studies.store import Store
from parataxis.studies.store.types import NotYoursError, PersonState, SlotState, Task, UndoError
from parataxis.studies.study import ItemKind, Role

PEOPLE = st.integers(0, 3)


@pytest.mark.slow
def test_rules_hold_whatever_happens(make, sound) -> None:
    class Machine(RuleBasedStateMachine):
        """A study of three sources and three rewrites, with four people."""

        @initialize(writers=st.integers(1, 2), raters=st.integers(1, 3))
        def begin(self, writers: int, raters: int) -> None:
            self.time = datetime(2026, 3, 1, tzinfo=UTC)
            self.folder = tempfile.TemporaryDirectory()
            path = str(Path(self.folder.name) / "study.db")
            self.store = Store.open(path, clock=lambda: self.time)
            study = make.study(writers=writers, raters=raters, lease_minutes=30)
            self.store.create(study, [*make.sources(3), *make.rewrites(3)])
            self.people = [person.id for person in self.store.invite(4, Role.BOTH)]
            self.seen: list[dict[str, str]] = [{} for _ in self.people]
            self.said: dict[tuple[str, int], dict[str, object]] = {}
            self.number = 0

        def teardown(self) -> None:
            if hasattr(self, "store"):
                self.store.close()
                self.folder.cleanup()

        @rule(who=PEOPLE)
        def take(self, who: int) -> None:
            self.meet(who, self.store.next_task(self.people[who]))

        def meet(self, who: int, task: Task | None) -> None:
            if task is not None:
                known = self.seen[who].setdefault(task.item.id, task.slot)
                assert known == task.slot  # the same item only as the same task

        @precondition(lambda self: any(self.seen))
        @rule(who=PEOPLE, data=st.data())
        def submit(self, who: int, data: st.DataObject) -> None:
            if not self.seen[who]:
                return
            slot = data.draw(st.sampled_from(sorted(self.seen[who].values())))
            person = self.people[who]
            self.number += 1
            answers: dict[str, object] = {"number": self.number, "rewrite": f"A {self.number}. B."}
            try:
                known: Task | None = self.store.task(person, slot)
            except NotYoursError:
                known = None
            was = self.store.person(person)
            result, following = self.store.submit_and_take(person, slot, lambda task: answers)
            self.said[person, self.number] = answers
            active = was is not None and was.state is PersonState.ACTIVE
            if not active:
                held = known is not None and known.submitted is not None
                assert held or result.state is SlotState.VOID
                assert following is None
            again = self.store.submit(person, slot, answers)
            assert again.repeated or again.state is SlotState.VOID
            if following is not None:
                self.meet(who, self.store.task(person, following))

        @precondition(lambda self: any(self.seen))
        @rule(who=PEOPLE, data=st.data())
        def draft(self, who: int, data: st.DataObject) -> None:
            if self.seen[who]:
                slot = data.draw(st.sampled_from(sorted(self.seen[who].values())))
                self.store.save_draft(self.people[who], slot, {"draft": True})

        @precondition(lambda self: any(self.seen))
        @rule(who=PEOPLE, data=st.data())
        def hand_back(self, who: int, data: st.DataObject) -> None:
            if self.seen[who]:
                slot = data.draw(st.sampled_from(sorted(self.seen[who].values())))
                self.store.release(self.people[who], slot)

        @rule(who=PEOPLE)
        def undo(self, who: int) -> None:
            possible = self.store.progress(self.people[who]).can_undo
            try:
                task = self.store.undo(self.people[who])
            except UndoError:
                assert not possible
            else:
                assert possible
                assert task.draft

        @rule(who=PEOPLE)
        def exclude(self, who: int) -> None:
            self.store.exclude(self.people[who])

        @rule(who=PEOPLE)
        def block(self, who: int) -> None:
            self.store.block(self.people[who])

        @rule(who=PEOPLE)
        def reinstate(self, who: int) -> None:
            self.store.reinstate(self.people[who])

        @precondition(lambda self: any(self.seen))
        @rule(who=PEOPLE, data=st.data())
        def judge(self, who: int, data: st.DataObject) -> None:
            if self.seen[who]:
                slot = data.draw(st.sampled_from(sorted(self.seen[who].values())))
                with suppress(InputError):
                    self.store.reject(slot)
                if data.draw(st.booleans()):
                    with suppress(InputError):
                        self.store.accept(slot)

        @rule(minutes=st.sampled_from([1, 20, 31, 600_000, -31, -600_000]))
        def move_the_clock(self, minutes: int) -> None:
            self.time += timedelta(minutes=minutes)

        @rule()
        def look(self) -> None:
            self.store.overview()
            self.store.export_items()
            for person in self.people:
                self.store.progress(person)

        @invariant()
        def everything_is_sound(self) -> None:
            if not hasattr(self, "store"):
                return
            sound(self.store)
            history = self.store.export_history()
            kept = {
                (entry["person"], entry["answers"]["number"]): entry["answers"]
                for entry in history
                if entry["action"] != "undo"
            }
            assert kept == self.said  # nothing lost, nothing crossed, nothing invented
            for rating in self.store.export_ratings():
                assert self.said[rating.rater, rating.answers["number"]] == rating.answers

    run_state_machine_as_test(
        Machine,
        settings=settings(
            max_examples=25,
            stateful_step_count=30,
            deadline=None,
            suppress_health_check=list(HealthCheck),
        ),
    )


@pytest.mark.parametrize("idle", [0, 1, 3])
def test_rules_no_item_is_lost_to_people_who_leave(store, make, clock, sound, idle: int) -> None:
    store.create(make.study(writers=2, raters=2), [*make.sources(3), *make.rewrites(3)])
    people = store.invite(4 + idle, Role.BOTH)
    for person in people[:idle]:
        store.next_task(person.id)  # takes something and is never seen again
    for _ in range(2):
        clock.move(hours=1)
        for person in people[idle:]:
            while (task := store.next_task(person.id)) is not None:
                answers = (
                    {"rewrite": "A. B."} if task.kind is ItemKind.WRITE else {"grammatical": 5}
                )
                store.submit(person.id, task.slot, answers)
    sound(store)
    phases = store.overview().phases
    assert (phases["write"].done, phases["rate"].done) == (6, 18)
    assert phases["rate"].open == phases["rate"].held == 0
