"""The tasks and the progress of a person: qualification, then work, with control items mixed in."""

import random
from collections.abc import Mapping
from typing import Any

from sqlalchemy import Select, bindparam, exists, func, select, update

from parataxis.rewrite.record import Rewrite
from parataxis.studies.items import ItemKind
from parataxis.studies.records import Purpose, is_identical
from parataxis.studies.store.slots import HAD, claim, has_begun, written_in
from parataxis.studies.store.tables import answer, item, person, slot
from parataxis.studies.store.transaction import (
    EXPERT,
    Record,
    Transaction,
    is_slot_id,
    lock_person,
    moment,
    task_kind,
)
from parataxis.studies.store.types import (
    FINISHED,
    NotYoursError,
    PersonProgress,
    PersonState,
    SlotState,
    Stage,
    Task,
    TaskItem,
    UndoError,
)
from parataxis.studies.study import Controls, Role

Tally = Mapping[tuple[str, str, str], int]
"""The number of a person's slots by kind, purpose and state."""

KINDS = {
    Role.WRITER: (ItemKind.WRITE.value,),
    Role.RATER: (ItemKind.RATE.value,),
    Role.BOTH: (ItemKind.WRITE.value, ItemKind.RATE.value),
    Role.EXPERT: (EXPERT,),
}

UNDO = "undo"
"""The kind of an entry in the history that takes the last submission back."""

FINAL = (Purpose.TRAINING, Purpose.TEST)
"""Answers to these can be neither corrected nor undone."""

_STAGES = {Purpose.TRAINING.value: Stage.TRAINING, Purpose.TEST.value: Stage.TEST}
_UPDATE_EVERY = 60_000
"""How often, in milliseconds, the time of a lease and of the last visit is stored."""

# Frequent queries are built once, since building one takes longer than running it.
TASKS = select(slot, item.c.key, item.c.source, item.c.rewrite).join(
    item, item.c.id == slot.c.item_id
)
_TASK = TASKS.where(slot.c.id == bindparam("slot"))
_HELD = (
    select(slot.c.id, slot.c.leased_until)
    .where(slot.c.person_id == bindparam("me"), slot.c.state == SlotState.LEASED)
    .order_by(slot.c.leased_at.desc(), slot.c.id.desc())
    .limit(1)
)
_BY = (slot.c.kind, slot.c.purpose, slot.c.state)
_TALLY = select(*_BY, func.count()).where(slot.c.person_id == bindparam("me")).group_by(*_BY)
_MY_TASK = _TASK.where(slot.c.person_id == bindparam("me"))
_MY_LOCKED_TASK = _MY_TASK.with_for_update(of=slot)
_LAST = (
    select(slot, answer.c.id.label("last"), answer.c.action, answer.c.answers)
    .join(slot, slot.c.id == answer.c.slot_id)
    .where(answer.c.person_id == bindparam("me"))
    .order_by(answer.c.id.desc())
    .limit(1)
)
_LOCKED_LAST = _LAST.with_for_update(of=slot)


# --- Tasks


def next_task(tx: Transaction, code: str) -> Task | None:
    """The task that the person holds (the latest one, if there are several), or else a new one.
    None if there is nothing to do; ``progress(person).stage`` says why."""
    slot_id = take(tx, lock_person(tx, code))
    return None if slot_id is None else task_of(tx, slot_id)


def take(tx: Transaction, me: Record) -> int | None:
    """The slot of the task that the person holds, or of a new one, or None."""
    if me.seen_at is None or abs(tx.now - me.seen_at) > _UPDATE_EVERY:
        tx.run(update(person).where(person.c.id == me.id).values(seen_at=tx.now))
    if barred(tx, me) is not None:
        return None
    tally = tally_of(tx, me.id)
    if any(state == SlotState.LEASED for _, _, state in tally):
        return _renew(tx, tx.one(_HELD, me=me.id))
    return _new_slot(tx, me, tally)


def task(tx: Transaction, code: str, slot_id: int) -> Task:
    """A task that was given to the person, even if it is submitted. NotYoursError for any other,
    and for one that is void."""
    return task_for(tx, lock_person(tx, code), slot_id)


def task_for(tx: Transaction, me: Record, slot_id: int) -> Task:
    """Like ``task``, for the row of a person."""
    row = slot_of(tx, me, slot_id)
    if row.state == SlotState.VOID:
        raise NotYoursError(f"Task {slot_id} was not given to this person.")
    return as_task(tx, row)


def slot_of(tx: Transaction, me: Record, slot_id: int) -> Record:
    """The row of a slot that was given to the person; NotYoursError for any other."""
    query = _MY_LOCKED_TASK if tx.writes else _MY_TASK
    row = tx.first(query, slot=slot_id, me=me.id) if is_slot_id(slot_id) else None
    if row is None:
        raise NotYoursError(f"Task {slot_id} was not given to this person.")
    return row


def task_of(tx: Transaction, slot_id: int) -> Task:
    """The task of a slot that is known to exist."""
    return as_task(tx, tx.one(_TASK, slot=slot_id))


def as_task(tx: Transaction, row: Record) -> Task:
    """The task of one of the rows of ``TASKS``."""
    submitted = None
    if row.answer_id is not None:
        found = tx.first(select(answer.c.answers).where(answer.c.id == row.answer_id))
        submitted = dict(found.answers) if found else None
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
        submitted=submitted,
    )


# --- Choosing the next task


def tally_of(tx: Transaction, person_id: int) -> Tally:
    """Count a person's slots."""
    rows = tx.rows(_TALLY, me=person_id)
    return {(kind, purpose, state): count for kind, purpose, state, count in rows}


def barred(tx: Transaction, me: Record) -> Stage | None:
    """Why a person may not start any task, or None."""
    study = tx.study
    if me.state != PersonState.ACTIVE:
        return Stage.BLOCKED
    if me.paused:
        return Stage.PAUSED
    if study.consent is not None and me.consented_at is None:
        return Stage.CONSENT
    if me.background is None and any(question.required for question in study.background):
        return Stage.BACKGROUND
    return Stage.FAILED if me.qualified is False else None


def _renew(tx: Transaction, held: Record) -> int:
    """Renew the lease of a slot, unless that makes hardly any difference."""
    until = tx.now + tx.lease
    if held.leased_until is not None and abs(until - held.leased_until) > _UPDATE_EVERY:
        tx.run(update(slot).where(slot.c.id == held.id).values(leased_until=until))
    return int(held.id)


def _new_slot(tx: Transaction, me: Record, tally: Tally) -> int | None:
    """Lease a slot to the person, depending on their role and progress."""
    for kind in KINDS[Role(me.role)]:
        if kind == ItemKind.RATE:
            left = qualifying(tx, me)
            if left is not None:
                attempt = me.attempt if left is Purpose.TEST else 1
                return _lease_control(tx, me, left, attempt)
        if not may_do_more(tx, kind, tally):
            continue
        if kind == ItemKind.RATE and (control := _control_due(tx, me, tally)) is not None:
            return control
        if (claimed := claim(tx, me, kind, sum(tally.values()))) is not None:
            return claimed
    return None


def may_do_more(tx: Transaction, kind: str, tally: Tally) -> bool:
    """Whether the person has done less of that kind than one person may."""
    limit = None
    if kind == ItemKind.WRITE and tx.study.write:
        limit = tx.study.write.per_person
    elif kind == ItemKind.RATE:
        limit = tx.study.rate.per_person
    return limit is None or _done(tally, kind) < limit


def _done(tally: Tally, kind: str) -> int:
    return sum(tally.get((kind, Purpose.ITEM.value, state), 0) for state in FINISHED)


# --- Qualification and control items


def qualifying(tx: Transaction, me: Record) -> Purpose | None:
    """The part of the qualification that the person still has to do, or None."""
    if tx.study.qualification is None or me.role == Role.EXPERT or me.qualified is not None:
        return None
    for purpose, attempt in ((Purpose.TRAINING, 1), (Purpose.TEST, me.attempt)):
        done, all_ = qualified_so_far(tx, me, purpose, attempt)
        if done < all_:
            return purpose
    return None


def qualified_so_far(
    tx: Transaction, me: Record, purpose: Purpose, attempt: int
) -> tuple[int, int]:
    """How many items of that purpose the person has submitted, and how many there are."""
    done = select(func.count()).where(
        slot.c.person_id == me.id,
        slot.c.purpose == purpose,
        slot.c.attempt == attempt,
        slot.c.state == SlotState.DONE,
    )
    return tx.one(done)[0], tx.one(select(func.count()).where(item.c.purpose == purpose))[0]


def _control_due(tx: Transaction, me: Record, tally: Tally) -> int | None:
    """Lease a control item if one is due."""
    done = _done(tally, ItemKind.RATE)
    for purpose in (Purpose.ATTENTION, Purpose.KNOWN):
        controls = tx.study.controls(purpose)
        shown = sum(count for (_, which, _), count in tally.items() if which == purpose)
        if controls is not None and shown < _due(controls, me.seed, purpose, done):
            leased = _lease_control(tx, me, purpose, 1, seed=f"{me.seed}:{purpose}:{shown}")
            if leased is not None:
                return leased
    return None


def _due(controls: Controls, seed: int, purpose: Purpose, done: int) -> int:
    """How many control items should have been shown after so many items: one in each stretch, at
    a random place, but never as the very first task."""
    stretch, place = divmod(done, controls.every)
    chance = random.Random(f"{seed}:{purpose}:{stretch}:place")
    return stretch + (place >= min(chance.randrange(controls.every) + 1, controls.every - 1 or 1))


def _lease_control(
    tx: Transaction, me: Record, purpose: Purpose, attempt: int, *, seed: str | None = None
) -> int | None:
    """Give the person an item of that purpose that they have not had: the next one of the file,
    or with a seed a random one. Nobody else waits for it, so the lease does not expire."""
    had = exists().where(
        slot.c.item_id == item.c.id, slot.c.person_id == me.id, slot.c.attempt == attempt
    )
    found = tx.rows(
        select(item.c.id, item.c.rank).where(item.c.purpose == purpose, ~had).order_by(item.c.id)
    )
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


# --- Progress


def progress_of(tx: Transaction, code: str) -> PersonProgress:
    """A person's stage, what they have done, and their qualification."""
    return _progress(tx, lock_person(tx, code))


def task_and_progress(tx: Transaction, code: str, slot_id: int) -> tuple[Task, PersonProgress]:
    """The results of ``task`` and ``progress`` in one transaction."""
    me = lock_person(tx, code)
    return task_for(tx, me, slot_id), _progress(tx, me)


def _progress(tx: Transaction, me: Record) -> PersonProgress:
    tally = tally_of(tx, me.id)
    study = tx.study
    training, test, attempts = (0, 0), (0, 0), 1
    if study.qualification:
        attempts = study.qualification.attempts
        training = qualified_so_far(tx, me, Purpose.TRAINING, 1)
        test = qualified_so_far(tx, me, Purpose.TEST, me.attempt)
    done = {ItemKind.WRITE: 0, ItemKind.RATE: 0}
    for (kind, purpose, state), count in tally.items():
        if state in FINISHED and purpose not in _STAGES:
            done[task_kind(kind)] += count
    return PersonProgress(
        stage=_stage(tx, me, tally),
        done=done,
        limit={
            ItemKind.WRITE: study.write.per_person if study.write else None,
            ItemKind.RATE: study.rate.per_person,
        },
        training=training,
        test=test,
        attempt=me.attempt,
        attempts=attempts,
        surplus=sum(count for (_, _, state), count in tally.items() if state == SlotState.SURPLUS),
        can_undo=_can_undo(tx, me),
    )


def _can_undo(tx: Transaction, me: Record) -> bool:
    try:
        last_submission(tx, me)
    except UndoError:
        return False
    return True


def _stage(tx: Transaction, me: Record, tally: Tally) -> Stage:
    reason = barred(tx, me)
    if reason is not None:
        return reason
    for _, purpose, state in tally:
        if state == SlotState.LEASED:
            return _STAGES.get(purpose, Stage.WORK)
    kinds = [kind for kind in KINDS[Role(me.role)] if may_do_more(tx, kind, tally)]
    for kind in kinds:
        if kind == ItemKind.RATE and (left := qualifying(tx, me)) is not None:
            return _STAGES[left]
        if _may_get(tx, me, kind, SlotState.OPEN):
            return Stage.WORK
    is_coming = any(_may_get(tx, me, kind, SlotState.LEASED) for kind in kinds)
    if not is_coming and ItemKind.RATE.value in kinds:  # perhaps rewrites are still being written
        written = _wanted(ItemKind.WRITE, SlotState.OPEN, SlotState.LEASED)
        is_coming = tx.first(written) is not None
    return Stage.WAITING if is_coming else Stage.FINISHED


def _may_get(tx: Transaction, me: Record, kind: str, state: SlotState) -> bool:
    """Whether there is a slot in that state that the person may get, now or later."""
    return tx.first(_wanted(kind, state).where(~HAD), me=me.id) is not None


def _wanted(kind: str, *states: SlotState) -> Select[Any]:
    return (
        select(slot.c.id)
        .where(slot.c.state.in_(states), slot.c.kind == kind, slot.c.place.is_not(None))
        .limit(1)
    )


def last_submission(tx: Transaction, me: Record) -> Record:
    """The slot that the person could take back, with its answers, or UndoError."""
    row = tx.first(_LOCKED_LAST if tx.writes else _LAST, me=me.id)
    if row is None or row.action == UNDO or me.state != PersonState.ACTIVE:
        raise UndoError("There is nothing to undo.")
    if row.state != SlotState.DONE or row.answer_id != row.last:
        raise UndoError("The last submission cannot be undone.")
    if row.purpose in FINAL:
        raise UndoError("Answers to training and test items cannot be undone.")
    if any(has_begun(tx, made.id) for made in written_in(tx, row)):
        raise UndoError("Somebody has begun to rate this rewrite, so it cannot be undone any more.")
    return row
