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

from sqlalchemy import BigInteger, Select, and_, bindparam, case, exists, func, select, update

from parataxis.errors import InputError
from parataxis.rewrite.record import Rewrite
from parataxis.studies.items import as_expected, sentences_of
from parataxis.studies.records import FLAG, REWRITE, Answers, Flag, Purpose, Value, is_identical
from parataxis.studies.store import slots
from parataxis.studies.store.database import EXPERT, Record, Transaction, moment, task_kind
from parataxis.studies.store.participants import block, exclude, is_code, lock_person
from parataxis.studies.store.tables import answer, item, person, slot
from parataxis.studies.store.types import (
    FINISHED,
    UNFINISHED,
    NotYoursError,
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
_IDS = 2**31
_UPDATE_EVERY = 60_000
"""How often, in milliseconds, the time of a lease and of the last visit is stored."""

# Frequent queries are built once, since building one takes longer than running it.
_TASK = (
    select(slot, *(item.c[name] for name in ("key", "source", "rewrite", "expected", "feedback")))
    .add_columns(answer.c.answers.label("submitted"))
    .join(item, item.c.id == slot.c.item_id)
    .outerjoin(answer, answer.c.id == slot.c.answer_id)
    .where(slot.c.id == bindparam("slot"))
)
_HELD = (
    select(slot.c.id, slot.c.leased_until)
    .where(slot.c.person_id == bindparam("me"), slot.c.state == SlotState.LEASED)
    .order_by(slot.c.leased_at.desc(), slot.c.id.desc())
    .limit(1)
)
_BY = (slot.c.kind, slot.c.purpose, slot.c.state)
_TALLY = select(*_BY, func.count()).where(slot.c.person_id == bindparam("me")).group_by(*_BY)
_MY_TASK = _TASK.where(slot.c.person_id == bindparam("me"))
_LAST = (
    select(slot, answer.c.id.label("last"), answer.c.action, answer.c.answers)
    .join(slot, slot.c.id == answer.c.slot_id)
    .where(answer.c.person_id == bindparam("me"))
    .order_by(answer.c.id.desc())
    .limit(1)
)
_ME = select(person.c.id).where(person.c.code == bindparam("code")).scalar_subquery()
_IS_LEASED = and_(slot.c.state == SlotState.LEASED, slot.c.leased_until.is_not(None))
_KEEP_DRAFT = (
    update(slot)
    .where(slot.c.id == bindparam("slot"), slot.c.state.in_(UNFINISHED))
    .where(slot.c.person_id == _ME)
    .values(
        draft=bindparam("kept"),
        leased_until=case(
            (_IS_LEASED, bindparam("until", type_=BigInteger)), else_=slot.c.leased_until
        ),
    )
)


# --- Tasks


def as_task(row: Record) -> Task:
    """The task of a slot, from a row of ``_TASK``."""
    rewrite = Rewrite.model_validate(row.rewrite) if row.rewrite else None
    return Task(
        slot=row.id,
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
    )


def next_task(tx: Transaction, code: str) -> Task | None:
    """The task that the person holds (the latest one, if there are several), or else a new one.
    None if there is nothing to do; ``progress(person).stage`` says why."""
    slot_id = _Worker(tx, code).take()
    return None if slot_id is None else as_task(tx.one(_TASK, slot=slot_id))


def task(tx: Transaction, code: str, slot_id: int) -> Task:
    """A task that was given to the person, even if it is submitted. NotYoursError for any other,
    and for one that is void."""
    row = _Worker(tx, code).slot(slot_id)
    if row.state == SlotState.VOID:
        raise NotYoursError(f"Task {slot_id} was not given to this person.")
    return as_task(row)


def progress_of(tx: Transaction, code: str) -> PersonProgress:
    """A person's stage, what they have done, and their qualification."""
    worker, study = _Worker(tx, code), tx.study
    me, tally = worker.me, worker.tally
    training, test, attempts = (0, 0), (0, 0), 1
    if study.qualification:
        attempts = study.qualification.attempts
        training = worker.qualified_so_far(Purpose.TRAINING)
        test = worker.qualified_so_far(Purpose.TEST)
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
        limit=study.per_person,
        training=training,
        test=test,
        attempt=me.attempt,
        attempts=attempts,
        surplus=sum(count for (_, _, state), count in tally.items() if state == SlotState.SURPLUS),
        can_undo=can_undo,
    )


def task_and_progress(tx: Transaction, code: str, slot_id: int) -> tuple[Task, PersonProgress]:
    """The results of ``task`` and ``progress`` in one transaction."""
    return task(tx, code, slot_id), progress_of(tx, code)


def save_draft(tx: Transaction, code: str, slot_id: int, answers: Answers) -> bool:
    """Save a draft, and renew the lease. False if the task is submitted already, which is not an
    error: the last draft may arrive after the submission."""
    kept, until = _plain(answers), tx.now + tx.lease
    possible = is_code(code) and 0 < slot_id < _IDS
    if possible and tx.run(_KEEP_DRAFT, slot=slot_id, code=code, kept=kept, until=until):
        return True
    _Worker(tx, code).slot(slot_id)  # raises an error if it is not theirs
    return False


def submit(
    tx: Transaction, code: str, slot_id: int, answers: Answers, seconds: float | None = None
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
    tx: Transaction, code: str, slot_id: int, check: Check, seconds: float | None = None
) -> tuple[Submitted, int | None]:
    """Submit the answers that ``check`` returns for the task, and take the next one: ``submit``
    and ``next_task`` in one transaction. Returns the slot of the next task, or None if there is
    none, and after a training item, since its feedback comes first. If ``check`` raises an
    exception, nothing is changed."""
    worker = _Worker(tx, code)
    row = worker.slot(slot_id)
    done = _Submission(worker, row, check(as_task(row)), seconds).store()
    if done.purpose is Purpose.TRAINING:
        return done, None
    if done.purpose is not Purpose.ITEM:  # it may have changed what the person may do
        worker = _Worker(tx, code)
    return done, worker.take()


def release(tx: Transaction, code: str, slot_id: int) -> None:
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
    held = select(func.max(slot.c.leased_at)).where(
        slot.c.person_id == row.person_id, slot.c.state == SlotState.LEASED
    )
    latest = tx.one(held)[0] or 0
    tx.run(
        slots.CHANGE,
        slot=row.id,
        state=SlotState.LEASED,
        draft=dict(row.answers),
        answer_id=None,
        submitted_at=None,
        leased_at=max(tx.now, latest + 1),  # so that next_task returns it first
        leased_until=None if row.place is None else tx.now + tx.lease,
    )
    return as_task(tx.one(_TASK, slot=row.id))


# --- What a person may do


class _Worker:
    """A person in a transaction, whose row is locked until its end."""

    def __init__(self, tx: Transaction, code: str) -> None:
        self.tx, self.me = tx, lock_person(tx, code)

    @cached_property
    def tally(self) -> Tally:
        """The number of the person's slots by kind, purpose and state."""
        rows = self.tx.rows(_TALLY, me=self.me.id)
        return {(kind, purpose, state): count for kind, purpose, state, count in rows}

    def slot(self, slot_id: int) -> Record:
        """The row of a slot that was given to the person; NotYoursError for any other."""
        query = self.tx.locked(_MY_TASK, of=slot)
        is_id = 0 < slot_id < _IDS
        row = self.tx.first(query, slot=slot_id, me=self.me.id) if is_id else None
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

    def take(self) -> int | None:
        """The slot of the task that the person holds, or of a new one, or None."""
        tx, me = self.tx, self.me
        if me.seen_at is None or abs(tx.now - me.seen_at) > _UPDATE_EVERY:
            tx.run(update(person).where(person.c.id == me.id).values(seen_at=tx.now))
        if self._barred() is not None:
            return None
        if all(state != SlotState.LEASED for _, _, state in self.tally):
            return self._new_slot()
        held, until = tx.one(_HELD, me=me.id), tx.now + tx.lease
        if held.leased_until is not None and abs(until - held.leased_until) > _UPDATE_EVERY:
            tx.run(slots.CHANGE, slot=held.id, leased_until=until)
        return int(held.id)

    def stage(self) -> Stage:
        """What the person has to do next, or why there is nothing to do."""
        reason = self._barred()
        if reason is not None:
            return reason
        for _, purpose, state in self.tally:
            if state == SlotState.LEASED:
                return _STAGES.get(purpose, Stage.WORK)
        kinds = [kind for kind in KINDS[Role(self.me.role)] if self._may_do_more(kind)]
        for kind in kinds:
            if kind == ItemKind.RATE and (left := self._qualifying()) is not None:
                return _STAGES[left]
            if self._may_get(kind, SlotState.OPEN):
                return Stage.WORK
        is_coming = any(self._may_get(kind, SlotState.LEASED) for kind in kinds)
        if not is_coming and ItemKind.RATE.value in kinds:  # rewrites may still be written
            written = _wanted(ItemKind.WRITE, SlotState.OPEN, SlotState.LEASED)
            is_coming = self.tx.first(written) is not None
        return Stage.WAITING if is_coming else Stage.FINISHED

    def _may_get(self, kind: str, state: SlotState) -> bool:
        """Whether there is a slot in that state that the person may get, now or later."""
        return self.tx.first(_wanted(kind, state).where(~slots.HAD), me=self.me.id) is not None

    def _barred(self) -> Stage | None:
        """Why the person may not start any task, or None."""
        me, study = self.me, self.tx.study
        if me.state != PersonState.ACTIVE:
            return Stage.BLOCKED
        if me.paused:
            return Stage.PAUSED
        if study.consent is not None and me.consented_at is None:
            return Stage.CONSENT
        if me.background is None and any(question.required for question in study.background):
            return Stage.BACKGROUND
        return Stage.FAILED if me.qualified is False else None

    def _new_slot(self) -> int | None:
        """Lease a slot to the person, depending on their role and progress."""
        for kind in KINDS[Role(self.me.role)]:
            if kind == ItemKind.RATE and (left := self._qualifying()) is not None:
                return self._lease_control(left)
            if not self._may_do_more(kind):
                continue
            if kind == ItemKind.RATE and (control := self._control_due()) is not None:
                return control
            claimed = slots.claim(self.tx, self.me, kind, sum(self.tally.values()))
            if claimed is not None:
                return claimed
        return None

    def _may_do_more(self, kind: str) -> bool:
        """Whether the person has done less of that kind than one person may."""
        limit = None if kind == EXPERT else self.tx.study.per_person[ItemKind(kind)]
        return limit is None or self._done(kind) < limit

    def _done(self, kind: str) -> int:
        return sum(self.tally.get((kind, Purpose.ITEM.value, state), 0) for state in FINISHED)

    # --- Qualification and control items

    def _qualifying(self) -> Purpose | None:
        """The part of the qualification that the person still has to do, or None."""
        me = self.me
        if self.tx.study.qualification and me.role != Role.EXPERT and me.qualified is None:
            for purpose in FINAL:
                done, all_ = self.qualified_so_far(purpose)
                if done < all_:
                    return purpose
        return None

    def qualified_so_far(self, purpose: Purpose) -> tuple[int, int]:
        """How many items of that purpose the person has submitted in this attempt, and how many
        there are."""
        mine = (slot.c.person_id == self.me.id, slot.c.attempt == self._attempt(purpose))
        done = select(func.count()).where(
            *mine, slot.c.purpose == purpose, slot.c.state == SlotState.DONE
        )
        items = select(func.count()).where(item.c.purpose == purpose)
        return self.tx.one(done)[0], self.tx.one(items)[0]

    def _attempt(self, purpose: Purpose) -> int:
        """Only the test is repeated."""
        return int(self.me.attempt) if purpose is Purpose.TEST else 1

    def _control_due(self) -> int | None:
        """Lease a control item if one is due."""
        done, seed = self._done(ItemKind.RATE), self.me.seed
        for purpose in (Purpose.ATTENTION, Purpose.KNOWN):
            controls = self.tx.study.controls(purpose)
            shown = sum(count for (_, which, _), count in self.tally.items() if which == purpose)
            if controls is not None and shown < _due(controls, seed, purpose, done):
                leased = self._lease_control(purpose, seed=f"{seed}:{purpose}:{shown}")
                if leased is not None:
                    return leased
        return None

    def _lease_control(self, purpose: Purpose, *, seed: str | None = None) -> int | None:
        """Give the person an item of that purpose that they have not had: the next one of the
        file, or with a seed a random one. Nobody else waits for it, so its lease never expires."""
        tx, me, attempt = self.tx, self.me, self._attempt(purpose)
        mine = (slot.c.person_id == me.id, slot.c.attempt == attempt)
        had = exists().where(*mine, slot.c.item_id == item.c.id)
        query = select(item.c.id, item.c.rank).where(item.c.purpose == purpose, ~had)
        found = tx.rows(query.order_by(item.c.id))
        if not found:
            return None
        chosen = found[0] if seed is None else random.Random(seed).choice(found)
        return tx.insert(
            slot,
            item_id=chosen.id,
            kind=ItemKind.RATE,
            purpose=purpose,
            state=SlotState.LEASED,
            person_id=me.id,
            attempt=attempt,
            rank=chosen.rank,
            leased_at=tx.now,
        )


def _due(controls: Controls, seed: int, purpose: Purpose, done: int) -> int:
    """How many control items should have been shown after so many items: one in each stretch, at
    a random place, but never as the very first task."""
    stretch, place = divmod(done, controls.every)
    chance = random.Random(f"{seed}:{purpose}:{stretch}:place")
    return stretch + (place >= min(chance.randrange(controls.every) + 1, controls.every - 1 or 1))


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
        settings = tx.study.qualification if final else tx.study.controls(self.purpose)
        tolerance = settings.tolerance if settings else 0.0
        self.as_expected = as_expected(row.expected or {}, self.answers, tolerance)
        if row.kind == ItemKind.WRITE:
            self._check_rewrite()

    def _check_rewrite(self) -> None:
        """The answers to a write task must be a rewrite or a flag."""
        flag = self.answers.get(FLAG)
        if flag is not None and flag not in list(Flag):
            raise InputError(f'There is no flag "{flag}".')
        if flag is None and not sentences_of(str(self.answers.get(REWRITE) or "")):
            raise InputError("The rewrite is empty.")

    def store(self) -> Submitted:
        """Store the answers, and give the slot its new state."""
        tx, row, state = self.tx, self.row, SlotState(self.row.state)
        action = self._action_again() if state in FINISHED else SUBMIT
        if action is None:
            return self._result(state, judged=False)
        is_late, known = action == LATE, self.as_expected
        passed = all(known.values()) if known and not is_late else None
        answer_id = _append(tx, row, action, self.answers, passed=passed, seconds=self.seconds)
        if is_late:
            return self._result(state, judged=False)
        changed: dict[str, Any] = {"draft": None, "leased_until": None, "submitted_at": tx.now}
        if state in (SlotState.LAPSED, SlotState.RETURNED):
            place = slots.take_place(tx, row)
            state = SlotState.SURPLUS if place is None else SlotState.DONE
            changed["place"] = row.place if place is None else place
        elif state is SlotState.LEASED:
            state = SlotState.DONE
        tx.run(slots.CHANGE, slot=row.id, state=state, answer_id=answer_id, **changed)
        if state is SlotState.DONE and row.kind == ItemKind.WRITE:
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
        is_final = row.purpose in FINAL or row.state != SlotState.DONE
        made = slots.written_in(tx, row)
        return LATE if is_final or any(slots.has_begun(tx, each.id) for each in made) else CORRECT

    def _result(self, state: SlotState, *, judged: bool = True) -> Submitted:
        """The result of a submission, with its consequences for the person."""
        row, found = self.row, self.as_expected
        done = Submitted(row.id, self.purpose, state, row.state in FINISHED)
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
        tx, me, settings = self.tx, self.me, self.tx.study.qualification
        if settings is None or me.qualified is not None:
            return cast(bool | None, me.qualified)
        done, wanted = self.worker.qualified_so_far(Purpose.TEST)
        if done < wanted:
            return None
        right = (
            select(func.count())
            .join(slot, slot.c.answer_id == answer.c.id)
            .where(answer.c.passed, slot.c.state == SlotState.DONE, slot.c.person_id == me.id)
            .where(slot.c.purpose == Purpose.TEST, slot.c.attempt == me.attempt)
        )
        passed = bool(tx.one(right)[0] >= settings.pass_mark * wanted - 1e-9)
        if passed or me.attempt >= settings.attempts:
            tx.run(update(person).where(person.c.id == me.id).values(qualified=passed))
            tx.log("qualified" if passed else "failed", me.id)
        else:
            tx.run(update(person).where(person.c.id == me.id).values(attempt=me.attempt + 1))
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
