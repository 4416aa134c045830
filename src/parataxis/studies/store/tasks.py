"""The tasks of a person: given out, drafted, submitted, corrected and undone, and their progress.

Qualification comes first, then work, with control items mixed in. Submitted answers are never
changed and never lost; the slot decides which of them count.
"""

import json
import math
import random
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import cached_property
from typing import Any, cast

from sqlalchemy import BigInteger, Select, bindparam, case, exists, func, select, update

from parataxis.errors import InputError
from parataxis.rewrite.record import Rewrite
from parataxis.studies.items import as_expected, sentences_of, written_as_expected
from parataxis.studies.records import FLAG, REWRITE, Answers, Flag, Purpose, Value, is_identical
from parataxis.studies.store import slots
from parataxis.studies.store.database import EXPERT, Record, Transaction, moment, task_kind
from parataxis.studies.store.participants import block, exclude, is_code, lock_person
from parataxis.studies.store.tables import answer, item, person, slot
from parataxis.studies.store.types import (
    FINISHED,
    UNFINISHED,
    NotYoursError,
    OwnSubmission,
    PersonProgress,
    PersonState,
    SlotState,
    Stage,
    Submitted,
    Task,
    TaskItem,
    UndoError,
)
from parataxis.studies.study import Controls, ItemKind, OnFailure, Role

Tally = Mapping[tuple[str, str, str], int]
"""The number of a person's slots by kind, purpose and state."""

Check = Callable[[Task], Answers]
"""Derives the answers to submit from the task; an exception cancels the submission."""

KINDS = {
    Role.WRITER: (ItemKind.WRITE.value,),
    Role.RATER: (ItemKind.RATE.value,),
    Role.BOTH: (ItemKind.WRITE.value, ItemKind.RATE.value),
    Role.EXPERT: (EXPERT,),
}

SUBMIT, CORRECT, LATE, UNDO = "submit", "correct", "late", "undo"
"""The kinds of entries in the history. A late one came after a submission that cannot be changed
any more, and is stored beside it."""

FINAL = (Purpose.TRAINING, Purpose.TEST)
"""Answers to these can be neither corrected nor undone."""

_STAGES = {Purpose.TRAINING.value: Stage.TRAINING, Purpose.TEST.value: Stage.TEST}
_CONTROLS = (Purpose.ATTENTION, Purpose.KNOWN)
_GIVEN = (*FINISHED, SlotState.REJECTED)
SECONDS = "_seconds"
"""The key under which a draft stores how long the person has worked on it."""
_UPDATE_EVERY = 60_000
"""How often, in milliseconds, the time of a lease and of the last visit is stored."""

# Frequent queries are built once, since building one takes longer than running it.
_TASKS = (
    select(slot, *(item.c[name] for name in ("key", "source", "rewrite", "expected", "feedback")))
    .add_columns(answer.c.answers.label("submitted"))
    .join(item, item.c.id == slot.c.item_id)
    .outerjoin(answer, answer.c.id == slot.c.answer_id)
)
_TASK = _TASKS.where(slot.c.code == bindparam("slot"))
# The one that was given last, or undone last: that sets submitted_at.
_HELD = (
    select(slot.c.id, slot.c.code, slot.c.leased_until)
    .where(slot.c.person_id == bindparam("me"), slot.c.state == SlotState.LEASED)
    .order_by(func.coalesce(slot.c.submitted_at, slot.c.leased_at).desc(), slot.c.id.desc())
    .limit(1)
)
_BY = (slot.c.kind, slot.c.purpose, slot.c.state)
_TALLY = select(*_BY, func.count()).where(slot.c.person_id == bindparam("me")).group_by(*_BY)
_MY_TASK = _TASK.where(slot.c.person_id == bindparam("me"))
_LAST = (
    select(slot, answer.c.id.label("last"), answer.c.action, answer.c.answers, answer.c.seconds)
    .join(slot, slot.c.id == answer.c.slot_id)
    .where(answer.c.person_id == bindparam("me"))
    .order_by(answer.c.id.desc())
    .limit(1)
)
_LATEST = select(func.max(func.coalesce(slot.c.submitted_at, slot.c.leased_at))).where(
    slot.c.person_id == bindparam("me"), slot.c.state == SlotState.LEASED
)
_ME = select(person.c.id).where(person.c.code == bindparam("who")).scalar_subquery()
_IS_LEASED = slot.c.state == SlotState.LEASED
_KEEP_DRAFT = (
    update(slot)
    .where(slot.c.code == bindparam("slot"), slot.c.state.in_(UNFINISHED))
    .where(slot.c.person_id == _ME)
    .values(
        draft=bindparam("kept"),
        leased_until=case(
            (_IS_LEASED, bindparam("until", type_=BigInteger)), else_=slot.c.leased_until
        ),
    )
)


# --- Tasks


def as_task(tx: Transaction, row: Record) -> Task:
    """The task of a slot, from a row of ``_TASK``."""
    rewrite = Rewrite.model_validate(row.rewrite) if row.rewrite else None
    return Task(
        slot=row.code,
        kind=task_kind(row.kind),
        purpose=Purpose(row.purpose),
        item=TaskItem(
            id=row.key,
            source=row.source,
            simple=rewrite.simple if rewrite else None,
            identical=rewrite is not None and is_identical(rewrite),
        ),
        draft=row.draft,
        lease_until=moment(row.leased_until) if row.state == SlotState.LEASED else None,
        submitted=row.submitted,
        final=row.submitted is not None and _is_final(tx, row),
    )


def _is_final(tx: Transaction, row: Record) -> bool:
    """Whether other answers to a submitted slot would not count any more."""
    if row.purpose in FINAL or row.state != SlotState.DONE:
        return True
    return any(slots.has_begun(tx, made.id) for made in slots.written_in(tx, row))


def next_task(tx: Transaction, code: str) -> Task | None:
    """The task that the person holds (the latest one, if there are several), or else a new one.
    None if there is nothing to do; ``progress(person).stage`` says why."""
    taken = _Worker(tx, code).take()
    return None if taken is None else as_task(tx, tx.one(_TASK, slot=taken))


def task(tx: Transaction, code: str, slot_id: str) -> Task:
    """A task that was given to the person, even if it is submitted. NotYoursError for any other,
    and for one that is void."""
    row = _Worker(tx, code).slot(slot_id)
    if row.state == SlotState.VOID:
        raise NotYoursError(f"Task {slot_id} was not given to this person.")
    return as_task(tx, row)


def submissions(tx: Transaction, code: str, start: int = 0, most: int = 50) -> list[OwnSubmission]:
    """What the person submitted, the latest first, without what they took back."""
    query = _TASKS.add_columns(answer.c.at).where(
        slot.c.person_id == lock_person(tx, code).id, answer.c.id.is_not(None)
    )
    rows = tx.rows(query.order_by(answer.c.id.desc()).offset(start).limit(most))
    return [OwnSubmission(as_task(tx, row), SlotState(row.state), moment(row.at)) for row in rows]


def progress_of(tx: Transaction, code: str) -> PersonProgress:
    """A person's stage, what they have done, and their qualification."""
    worker, study = _Worker(tx, code), tx.study
    tally = worker.tally
    kind = worker.kind_to_qualify()
    training, test, attempts = (0, 0), (0, 0), 1
    if settings := study.qualification_of(kind):
        attempts = settings.attempts
        training = worker.qualified_so_far(Purpose.TRAINING, kind)
        test = worker.qualified_so_far(Purpose.TEST, kind)
    done = {ItemKind.WRITE: 0, ItemKind.RATE: 0}
    for (kind, purpose, state), count in tally.items():
        if state in FINISHED and purpose not in _STAGES:
            done[task_kind(kind)] += count
    try:
        can_undo = worker.last_submission() is not None
    except UndoError:
        can_undo = False
    return PersonProgress(
        stage=worker.stage(),
        done=done,
        limit=worker.limits(),
        training=training,
        test=test,
        attempt=worker.attempt(Purpose.TEST, kind),
        attempts=attempts,
        surplus=sum(count for (_, _, state), count in tally.items() if state == SlotState.SURPLUS),
        can_undo=can_undo,
    )


def task_and_progress(tx: Transaction, code: str, slot_id: str) -> tuple[Task, PersonProgress]:
    """The results of ``task`` and ``progress`` in one transaction."""
    return task(tx, code, slot_id), progress_of(tx, code)


def save_draft(tx: Transaction, code: str, slot_id: str, answers: Answers) -> bool:
    """Save a draft, and renew the lease. False if the task is submitted already, which is not an
    error: the last draft may arrive after the submission."""
    kept, until = _plain(answers), tx.now + tx.lease
    possible = is_code(code) and is_code(slot_id)
    if possible and tx.run(_KEEP_DRAFT, slot=slot_id, who=code, kept=kept, until=until):
        return True
    _Worker(tx, code).slot(slot_id)  # raises an error if it is not theirs
    return False


def submit(
    tx: Transaction, code: str, slot_id: str, answers: Answers, seconds: float | None = None
) -> Submitted:
    """Submit the answers to a task. They are stored in any case; the result says whether they
    count. The same answers again change nothing; other answers are a correction.

    The answers to a write task are ``{"rewrite": text}``, ``{"flag": "simple"}`` or
    ``{"flag": "too-hard"}``. A rewrite becomes an item for raters immediately. The caller must
    check that answers fit the rubric and that a rewrite shows enough effort.
    """
    worker = _Worker(tx, code)
    return _Submission(worker, worker.slot(slot_id), answers, seconds).store()


def submit_and_take(
    tx: Transaction, code: str, slot_id: str, check: Check, seconds: float | None = None
) -> tuple[Submitted, str | None]:
    """Submit the answers that ``check`` returns for the task, and take the next one: ``submit``
    and ``next_task`` in one transaction. Returns the slot of the next task, or None if there is
    none, and after a training item, since its feedback comes first. If ``check`` raises an
    exception, nothing is changed."""
    worker = _Worker(tx, code)
    row = worker.slot(slot_id)
    done = _Submission(worker, row, check(as_task(tx, row)), seconds).store()
    if done.purpose is Purpose.TRAINING:
        return done, None
    if done.purpose is not Purpose.ITEM:  # it may have changed what the person may do
        worker = _Worker(tx, code)
    return done, worker.take()


def release(tx: Transaction, code: str, slot_id: str) -> None:
    """Hand a task back for others; the person will not get it again. Training, test and control
    items cannot be handed back."""
    row = _Worker(tx, code).slot(slot_id)
    if row.state == SlotState.LEASED and row.place is not None:
        slots.reopen(tx, [row], SlotState.RETURNED)


def undo(tx: Transaction, code: str) -> Task:
    """Take back the person's last submission, one step: the task is theirs again, and its answers
    are the draft. UndoError says why if that is not possible."""
    row = _Worker(tx, code).last_submission()
    for made in slots.written_in(tx, row):
        slots.withdraw(tx, made.id)
    _append(tx, row, UNDO, {})
    latest = tx.one(_LATEST, me=row.person_id)[0] or 0
    worked = {} if row.seconds is None else {SECONDS: int(row.seconds)}
    tx.run(
        slots.CHANGE,
        slot=row.id,
        state=SlotState.LEASED,
        draft={**row.answers, **worked},
        answer_id=None,
        submitted_at=max(tx.now, latest + 1),  # so that next_task returns it first
        leased_until=tx.now + tx.lease,
    )
    return as_task(tx, tx.one(_TASK, slot=row.code))


# --- What a person may do


class _Worker:
    """A person in a transaction, whose row is locked until its end."""

    def __init__(self, tx: Transaction, code: str) -> None:
        self.tx, self.me = tx, lock_person(tx, code)

    @cached_property
    def tally(self) -> Tally:
        rows = self.tx.rows(_TALLY, me=self.me.id)
        return {(kind, purpose, state): count for kind, purpose, state, count in rows}

    def slot(self, slot_id: str) -> Record:
        """The row of a slot that was given to the person; NotYoursError for any other."""
        query = self.tx.locked(_MY_TASK, of=slot)
        row = self.tx.first(query, slot=slot_id, me=self.me.id) if is_code(slot_id) else None
        if row is None:
            raise NotYoursError(f"Task {slot_id} was not given to this person.")
        return row

    def last_submission(self) -> Record:
        """The slot that the person could take back, with its answers, or UndoError."""
        row = self.tx.first(self.tx.locked(_LAST, of=slot), me=self.me.id)
        if row is None or row.action == UNDO or self.me.state != PersonState.ACTIVE:
            raise UndoError("There is nothing to undo.")
        if row.state != SlotState.DONE or row.answer_id != row.last:
            raise UndoError("The last submission cannot be undone.")
        if row.purpose in FINAL:
            raise UndoError("Answers to training and test items cannot be undone.")
        made = slots.written_in(self.tx, row)
        if any(slots.has_begun(self.tx, each.id) for each in made):
            raise UndoError(
                "Somebody has begun to rate this rewrite, so it cannot be undone any more."
            )
        return row

    def take(self) -> str | None:
        """The slot of the task that the person holds, or of a new one, or None."""
        tx, me = self.tx, self.me
        if me.seen_at is None or abs(tx.now - me.seen_at) > _UPDATE_EVERY:
            tx.run(update(person).where(person.c.id == me.id).values(seen_at=tx.now))
        if self._barred() is not None:
            return None
        if all(state != SlotState.LEASED for _, _, state in self.tally):
            return self._new_slot()
        held, until = tx.one(_HELD, me=me.id), tx.now + tx.lease
        if abs(until - (held.leased_until or 0)) > _UPDATE_EVERY:
            tx.run(slots.CHANGE, slot=held.id, leased_until=until)
        return str(held.code)

    def stage(self) -> Stage:
        """What the person has to do next, or why there is nothing to do."""
        reason = self._barred()
        if reason is not None:
            return reason
        for _, purpose, state in self.tally:
            if state == SlotState.LEASED:
                return _STAGES.get(purpose, Stage.WORK)
        kinds = [kind for kind in self._kinds() if self._may_do_more(kind)]
        for kind in kinds:
            if (left := self._qualifying(kind)) is not None:
                return _STAGES[left]
            if self._may_get(kind, SlotState.OPEN):
                return Stage.WORK
        is_coming = any(self._may_get(kind, SlotState.LEASED) for kind in kinds)
        if not is_coming and ItemKind.RATE.value in kinds:  # rewrites may still be written
            written = _wanted(ItemKind.WRITE, SlotState.OPEN, SlotState.LEASED)
            if self.tx.study.keeps_apart:
                written = written.where(~slots.HAD_ITEM)
            is_coming = self.tx.first(written, me=self.me.id) is not None
        return Stage.WAITING if is_coming else Stage.FINISHED

    def _may_get(self, kind: str, state: SlotState) -> bool:
        """Whether there is a slot in that state that the person may get, now or later."""
        given = {"me": self.me.id, "apart": self.tx.study.keeps_apart}
        return self.tx.first(_wanted(kind, state).where(~slots.HAD), **given) is not None

    def _kinds(self) -> list[str]:
        """What the person does, unless they have failed the test for it."""
        me = self.me
        passed = {ItemKind.RATE.value: me.qualified, ItemKind.WRITE.value: me.may_write}
        return [kind for kind in KINDS[Role(me.role)] if passed.get(kind) is not False]

    def _barred(self) -> Stage | None:
        me, study = self.me, self.tx.study
        if me.state != PersonState.ACTIVE:
            return Stage.BLOCKED
        if me.paused:
            return Stage.PAUSED
        if study.consent is not None and me.consented_at is None:
            return Stage.CONSENT
        if me.background is None and any(question.required for question in study.background):
            return Stage.BACKGROUND
        return None if self._kinds() else Stage.FAILED

    def _new_slot(self) -> str | None:
        for kind in self._kinds():
            if not self._may_do_more(kind):
                continue
            if (left := self._qualifying(kind)) is not None:
                return self._lease_control(left, kind)
            if kind == ItemKind.RATE and (control := self._control_due()) is not None:
                return control
            claimed = slots.claim(self.tx, self.me, kind, sum(self.tally.values()))
            if claimed is not None:
                return claimed
        return None

    def _may_do_more(self, kind: str) -> bool:
        limit = None if kind == EXPERT else self.tx.study.per_person[ItemKind(kind)]
        return limit is None or self._done(kind) < limit

    def _done(self, kind: str) -> int:
        return sum(self.tally.get((kind, Purpose.ITEM.value, state), 0) for state in FINISHED)

    def limits(self) -> dict[ItemKind, int | None]:
        """The most that the person may do of each kind, with the control items among them."""
        limits = dict(self.tx.study.per_person)
        if (rated := limits[ItemKind.RATE]) is not None:
            for purpose in _CONTROLS:
                if controls := self.tx.study.controls(purpose):
                    there = self.tx.one(select(func.count()).where(item.c.purpose == purpose))[0]
                    due = _due(controls, self.me.seed, purpose, rated - 1)
                    limits[ItemKind.RATE] = (limits[ItemKind.RATE] or 0) + min(due, there)
        return limits

    # --- Qualification and control items

    def _qualifying(self, kind: str) -> Purpose | None:
        """The part of the qualification for this kind that the person still has to do, or None."""
        passed = self.me.may_write if kind == ItemKind.WRITE else self.me.qualified
        if kind == EXPERT or passed is not None or not self.tx.study.qualification_of(kind):
            return None
        if kind == ItemKind.WRITE and not self._may_get(kind, SlotState.OPEN):
            return None
        for purpose in FINAL:
            done, all_ = self.qualified_so_far(purpose, kind)
            if done < all_:
                return purpose
        return None

    def kind_to_qualify(self) -> str:
        """The kind of work that the person qualifies for now, or did last."""
        kinds = KINDS[Role(self.me.role)]
        held = [kind for kind, purpose, state in self.tally if state == SlotState.LEASED]
        return next((k for k in kinds if k in held or self._qualifying(k) is not None), kinds[-1])

    def qualified_so_far(self, purpose: Purpose, kind: str) -> tuple[int, int]:
        """How many items of that purpose and kind the person has submitted in this attempt, and
        how many there are."""
        mine = (slot.c.person_id == self.me.id, slot.c.attempt == self.attempt(purpose, kind))
        done = select(func.count()).where(
            *mine, slot.c.purpose == purpose, slot.c.kind == kind, slot.c.state == SlotState.DONE
        )
        items = select(func.count()).where(item.c.purpose == purpose, item.c.kind == kind)
        return self.tx.one(done)[0], self.tx.one(items)[0]

    def attempt(self, purpose: Purpose, kind: str) -> int:
        """Only the test is repeated."""
        now = self.me.write_attempt if kind == ItemKind.WRITE else self.me.attempt
        return int(now or 1) if purpose is Purpose.TEST else 1

    def _control_due(self) -> str | None:
        done, seed = self._done(ItemKind.RATE), self.me.seed
        for purpose in _CONTROLS:
            controls = self.tx.study.controls(purpose)
            shown = sum(count for (_, which, _), count in self.tally.items() if which == purpose)
            if controls is not None and shown < _due(controls, seed, purpose, done):
                order = f"{seed}:{purpose}:{shown}"
                leased = self._lease_control(purpose, ItemKind.RATE, seed=order)
                if leased is not None:
                    return leased
        return None

    def _lease_control(self, purpose: Purpose, kind: str, *, seed: str = "") -> str | None:
        """Give the person an item of that purpose that they have not had: the next one of the
        file, or with a seed a random one. Nobody else waits for it, so its lease never expires,
        but has a time like any other."""
        tx, me, attempt = self.tx, self.me, self.attempt(purpose, kind)
        mine = (slot.c.person_id == me.id, slot.c.attempt == attempt)
        had = exists().where(*mine, slot.c.item_id == item.c.id)
        query = select(item.c.id, item.c.rank).where(item.c.purpose == purpose, ~had)
        found = tx.rows(query.where(item.c.kind == kind).order_by(item.c.id))
        if not found:
            return None
        chosen, code = random.Random(seed).choice(found) if seed else found[0], slots.new_code()
        tx.insert(
            slot,
            code=code,
            item_id=chosen.id,
            kind=kind,
            purpose=purpose,
            state=SlotState.LEASED,
            person_id=me.id,
            attempt=attempt,
            rank=chosen.rank,
            leased_at=tx.now,
            leased_until=tx.now + tx.lease,
        )
        return code


def _due(controls: Controls, seed: int, purpose: Purpose, done: int) -> int:
    """How many control items should have been shown after so many items: one in each stretch, at
    any of its places but the first."""
    stretch, place = divmod(done, controls.every)
    chance = random.Random(f"{seed}:{purpose}:{stretch}:place")
    return stretch + (place > chance.randrange(max(controls.every - 1, 1)))


def _wanted(kind: str, *states: SlotState) -> Select[Any]:
    is_wanted = (slot.c.state.in_(states), slot.c.kind == kind, slot.c.place.is_not(None))
    return select(slot.c.id).where(*is_wanted).limit(1)


# --- Storing answers


def _plain(answers: Answers) -> dict[str, Value]:
    plain = dict(answers)
    try:
        json.dumps(plain, allow_nan=False)
    except (TypeError, ValueError, RecursionError) as error:
        raise InputError("The answers cannot be stored: they are not plain values.") from error
    return plain


class _Submission:
    """Answers of a person to a slot, and what follows from them."""

    def __init__(
        self, worker: _Worker, row: Record, answers: Answers, seconds: float | None
    ) -> None:
        self.worker, self.row, self.answers = worker, row, _plain(answers)
        self.tx, self.me, tx = worker.tx, worker.me, worker.tx
        is_time = seconds is not None and 0 <= seconds < math.inf
        self.seconds = seconds if is_time else None
        self.purpose = Purpose(row.purpose)
        final = self.purpose in FINAL
        lessons = tx.study.qualification_of(row.kind) if final else None
        settings = lessons or tx.study.controls(self.purpose)
        tolerance = settings.tolerance if settings else 0.0
        if row.kind == ItemKind.WRITE:
            flag = self.answers.get(FLAG)
            if flag is not None and flag not in list(Flag):
                raise InputError(f'There is no flag "{flag}".')
            if flag is None and not sentences_of(str(self.answers.get(REWRITE) or "")):
                raise InputError("The rewrite is empty.")
            self.as_expected = written_as_expected(row.expected or {}, self.answers, tolerance)
        else:
            self.as_expected = as_expected(row.expected or {}, self.answers, tolerance)

    def store(self) -> Submitted:
        tx, row, state = self.tx, self.row, SlotState(self.row.state)
        action = self._action_again() if state in _GIVEN else SUBMIT
        if action is None:
            return self._result(state, judged=False)
        is_late, known = action == LATE, self.as_expected
        passed = all(known.values()) if known and not is_late else None
        answer_id = _append(tx, row, action, self.answers, passed=passed, seconds=self.seconds)
        if is_late:
            return replace(self._result(state, judged=False), late=True)
        changed: dict[str, Any] = {"draft": None, "leased_until": None, "submitted_at": tx.now}
        if state in (SlotState.LAPSED, SlotState.RETURNED):
            place = slots.take_place(tx, row)
            state = SlotState.SURPLUS if place is None else SlotState.DONE
            changed["place"] = row.place if place is None else place
        elif state is SlotState.LEASED:
            state = SlotState.DONE
        tx.run(slots.CHANGE, slot=row.id, state=state, answer_id=answer_id, **changed)
        if state is SlotState.DONE and row.kind == ItemKind.WRITE and self.purpose not in FINAL:
            for made in slots.written_in(tx, row):
                slots.withdraw(tx, made.id)
            slots.offer(tx, row, self.answers, answer_id)
        return self._result(state)

    def _action_again(self) -> str | None:
        """What a second submission of a slot is: nothing if the answers are the same, a correction
        if one is possible, or else late."""
        tx, row = self.tx, self.row
        query = select(answer).where(answer.c.slot_id == row.id).order_by(answer.c.id.desc())
        last = tx.first(query.limit(1))
        if last is None or dict(last.answers) == self.answers:
            return None
        if _is_final(tx, row):
            return LATE
        if self.seconds is not None:  # those of the first time come on top
            self.seconds += last.seconds or 0
        return CORRECT

    def _result(self, state: SlotState, *, judged: bool = True) -> Submitted:
        row, found = self.row, self.as_expected
        done = Submitted(row.code, self.purpose, state, repeated=row.state in _GIVEN)
        if self.purpose is Purpose.TRAINING:
            known = row.expected or {}
            return replace(done, as_expected=found, expected=known, feedback=row.feedback)
        if self.purpose is Purpose.TEST:
            return replace(done, qualified=self._judge_test())
        is_failure = judged and state is SlotState.DONE and not all(found.values())
        return replace(done, consequence=self._penalise() if is_failure else None)

    def _judge_test(self) -> bool | None:
        """After the last test item: whether the test was passed. If not, the next attempt
        begins."""
        tx, me, kind = self.tx, self.me, self.row.kind
        settings = tx.study.qualification_of(kind)
        writes = kind == ItemKind.WRITE
        passed_before = me.may_write if writes else me.qualified
        if settings is None or passed_before is not None:
            return cast(bool | None, passed_before)
        done, wanted = self.worker.qualified_so_far(Purpose.TEST, kind)
        if done < wanted:
            return None
        attempt = self.worker.attempt(Purpose.TEST, kind)
        right = (
            select(func.count())
            .join(slot, slot.c.answer_id == answer.c.id)
            .where(answer.c.passed, slot.c.state == SlotState.DONE, slot.c.person_id == me.id)
            .where(slot.c.purpose == Purpose.TEST, slot.c.kind == kind, slot.c.attempt == attempt)
        )
        passed = bool(tx.one(right)[0] >= settings.pass_mark * wanted - 1e-9)
        mine = update(person).where(person.c.id == me.id)
        if passed or attempt >= settings.attempts:
            tx.run(mine.values({"may_write" if writes else "qualified": passed}))
            tx.log("qualified" if passed else "failed", me.id, kind)
        else:
            tx.run(mine.values({"write_attempt" if writes else "attempt": attempt + 1}))
        return passed

    def _penalise(self) -> OnFailure | None:
        """Apply what the study says about failed control items. An answer that was wrong at first
        remains a failure when it is corrected."""
        tx, me, controls = self.tx, self.me, self.tx.study.controls(self.purpose)
        failed = (
            select(func.count(slot.c.id.distinct()))
            .join(answer, answer.c.slot_id == slot.c.id)
            .where(slot.c.person_id == me.id, slot.c.purpose == self.purpose)
            .where(answer.c.passed.is_(False))
        )
        failures = tx.one(failed)[0]
        if controls is None or failures <= controls.allowed:
            return None
        reason = f"{failures} {self.purpose} items failed"
        match controls.on_failure:
            case OnFailure.WARN:
                tx.log("warned", me.id, reason)
            case OnFailure.BLOCK:
                block(tx, me.code, reason)
            case OnFailure.VOID:
                exclude(tx, me.code, reason)
        return controls.on_failure


def _append(tx: Transaction, row: Record, action: str, answers: Answers, **values: Any) -> int:
    """Add an entry to the history of a slot, and return its id."""
    own = {"slot_id": row.id, "person_id": row.person_id, "action": action, "at": tx.now}
    return tx.insert(answer, **own, answers=answers, **values)
