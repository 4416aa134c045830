"""Drafts, submissions, corrections and undoing.

Submitted answers are never changed and never lost; the slot decides which of them count.
"""

import json
import math
from collections.abc import Callable, Mapping
from typing import Any, cast

from sqlalchemy import BigInteger, and_, bindparam, case, func, select, update

from parataxis.errors import InputError
from parataxis.studies.items import ItemKind, as_expected, sentences_of
from parataxis.studies.records import FLAG, REWRITE, Answers, Flag, Purpose, Value
from parataxis.studies.store.participants import block, exclude
from parataxis.studies.store.slots import has_begun, offer, reopen, take_place, withdraw, written_in
from parataxis.studies.store.tables import answer, item, person, slot
from parataxis.studies.store.tasks import (
    FINAL,
    UNDO,
    as_task,
    last_submission,
    slot_of,
    take,
    task_of,
)
from parataxis.studies.store.transaction import (
    Record,
    Transaction,
    is_code,
    is_slot_id,
    lock_person,
)
from parataxis.studies.store.types import (
    FINISHED,
    UNFINISHED,
    SlotState,
    Submitted,
    Task,
)
from parataxis.studies.study import OnFailure

SUBMIT, CORRECT, LATE = "submit", "correct", "late"
"""The kinds of entries in the history, besides UNDO. A late one came after a submission that cannot
be changed any more, and is stored beside it."""

Check = Callable[[Task], Answers]
"""Derives the answers to submit from the task; an exception cancels the submission."""

# Frequent queries are built once, since building one takes longer than running it.
_CHANGE = update(slot).where(slot.c.id == bindparam("slot"))
_KEEP_DRAFT = (
    update(slot)
    .where(slot.c.id == bindparam("slot"), slot.c.state.in_(UNFINISHED))
    .where(
        slot.c.person_id
        == select(person.c.id).where(person.c.code == bindparam("code")).scalar_subquery()
    )
    .values(
        draft=bindparam("kept"),
        leased_until=case(
            (
                and_(slot.c.state == SlotState.LEASED, slot.c.leased_until.is_not(None)),
                bindparam("until", type_=BigInteger),
            ),
            else_=slot.c.leased_until,
        ),
    )
)


def save_draft(tx: Transaction, code: str, slot_id: int, answers: Answers) -> bool:
    """Save a draft, and renew the lease. False if the task is submitted already, which is not an
    error: the last draft may arrive after the submission."""
    kept, until = _plain(answers), tx.now + tx.lease
    possible = is_code(code) and is_slot_id(slot_id)
    if possible and tx.run(_KEEP_DRAFT, slot=slot_id, code=code, kept=kept, until=until):
        return True
    slot_of(tx, lock_person(tx, code), slot_id)  # raises an error if it is not theirs
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
    me = lock_person(tx, code)
    return _submit(tx, me, slot_of(tx, me, slot_id), answers, seconds)


def submit_and_take(
    tx: Transaction, code: str, slot_id: int, check: Check, seconds: float | None = None
) -> tuple[Submitted, int | None]:
    """Submit the answers that ``check`` returns for the task, and take the next one: ``submit``
    and ``next_task`` in one transaction. Returns the slot of the next task, or None if there is
    none, and after a training item, since its feedback comes first. If ``check`` raises an
    exception, nothing is changed."""
    me = lock_person(tx, code)
    row = slot_of(tx, me, slot_id)
    done = _submit(tx, me, row, check(as_task(tx, row)), seconds)
    if done.purpose is Purpose.TRAINING:
        return done, None
    if done.purpose is not Purpose.ITEM:  # it may have changed what the person may do
        me = lock_person(tx, code)
    return done, take(tx, me)


def release(tx: Transaction, code: str, slot_id: int) -> None:
    """Hand a task back for others; the person will not get it again. Training, test and control
    items cannot be handed back."""
    row = slot_of(tx, lock_person(tx, code), slot_id)
    if row.state == SlotState.LEASED and row.place is not None:
        reopen(tx, [row], SlotState.RETURNED)


def undo(tx: Transaction, code: str) -> Task:
    """Take back the person's last submission, one step: the task is theirs again, and its answers
    are the draft. UndoError says why if that is not possible."""
    me = lock_person(tx, code)
    row = last_submission(tx, me)
    for made in written_in(tx, row):
        withdraw(tx, made.id)
    _append(tx, row, UNDO, {}, None, {})
    held = select(func.max(slot.c.leased_at)).where(
        slot.c.person_id == me.id, slot.c.state == SlotState.LEASED
    )
    latest = tx.one(held)[0] or 0
    tx.run(
        _CHANGE,
        slot=row.id,
        state=SlotState.LEASED,
        draft=dict(row.answers),
        answer_id=None,
        submitted_at=None,
        leased_at=max(tx.now, latest + 1),  # so that next_task returns it first
        leased_until=None if row.place is None else tx.now + tx.lease,
    )
    return task_of(tx, row.id)


# --- Storing answers


def _submit(
    tx: Transaction, me: Record, row: Record, answers: Answers, seconds: float | None
) -> Submitted:
    answers = _checked(row, answers)
    if row.state in FINISHED:
        return _submit_again(tx, me, row, answers, seconds)
    state = SlotState(row.state)
    changed: dict[str, Any] = {"draft": None, "leased_until": None, "submitted_at": tx.now}
    if state in (SlotState.LAPSED, SlotState.RETURNED):
        place = take_place(tx, row)
        state = SlotState.SURPLUS if place is None else SlotState.DONE
        changed["place"] = row.place if place is None else place
    elif state is SlotState.LEASED:
        state = SlotState.DONE
    found = _compare(tx, row, answers)
    changed["answer_id"] = _append(tx, row, SUBMIT, answers, seconds, found)
    tx.run(_CHANGE, slot=row.id, state=state, **changed)
    if state is SlotState.DONE and row.kind == ItemKind.WRITE:
        offer(tx, row, answers, changed["answer_id"])
    return _result(tx, me, row, state, found)


def _submit_again(
    tx: Transaction, me: Record, row: Record, answers: Mapping[str, Value], seconds: float | None
) -> Submitted:
    """A second submission of a slot: the same answers change nothing, others are a correction
    if one is possible."""
    last = tx.first(
        select(answer).where(answer.c.slot_id == row.id).order_by(answer.c.id.desc()).limit(1)
    )
    found = _compare(tx, row, answers)
    state = SlotState(row.state)
    if last is None or dict(last.answers) == answers:
        return _result(tx, me, row, state, found, repeated=True, judged=False)
    made = written_in(tx, row)
    is_final = row.purpose in FINAL or state is not SlotState.DONE
    if is_final or any(has_begun(tx, each.id) for each in made):
        _append(tx, row, LATE, answers, seconds, {})
        return _result(tx, me, row, state, found, repeated=True, judged=False)
    answer_id = _append(tx, row, CORRECT, answers, seconds, found)
    tx.run(_CHANGE, slot=row.id, answer_id=answer_id, submitted_at=tx.now, draft=None)
    if row.kind == ItemKind.WRITE:
        for each in made:
            withdraw(tx, each.id)
        offer(tx, row, answers, answer_id)
    return _result(tx, me, row, state, found, repeated=True)


def _plain(answers: Answers) -> dict[str, Value]:
    plain = dict(answers)
    try:
        json.dumps(plain, allow_nan=False)
    except (TypeError, ValueError, RecursionError) as error:
        raise InputError("The answers cannot be stored: they are not plain values.") from error
    return plain


def _checked(row: Record, answers: Answers) -> dict[str, Value]:
    """The answers; those to a write task must be a rewrite or a flag."""
    plain = _plain(answers)
    if row.kind != ItemKind.WRITE:
        return plain
    flag = plain.get(FLAG)
    if flag is not None and flag not in list(Flag):
        raise InputError(f'There is no flag "{flag}".')
    if flag is None and not sentences_of(str(plain.get(REWRITE) or "")):
        raise InputError("The rewrite is empty.")
    return plain


def _append(
    tx: Transaction,
    row: Record,
    action: str,
    answers: Mapping[str, Value],
    seconds: float | None,
    found: Mapping[str, bool],
) -> int:
    """Add an entry to the history of a slot, and return its id."""
    return tx.insert(
        answer,
        slot_id=row.id,
        person_id=row.person_id,
        action=action,
        answers=dict(answers),
        passed=all(found.values()) if found else None,
        seconds=seconds if seconds is not None and 0 <= seconds < math.inf else None,
        at=tx.now,
    )


# --- Known answers


def _compare(tx: Transaction, row: Record, answers: Answers) -> dict[str, bool]:
    """For each question with a known answer, whether that answer was given."""
    purpose = Purpose(row.purpose)
    if purpose is Purpose.ITEM:
        return {}
    known = tx.one(select(item.c.expected).where(item.c.id == row.item_id))
    settings = tx.study.qualification if purpose in FINAL else tx.study.controls(purpose)
    return as_expected(known.expected or {}, answers, settings.tolerance if settings else 0.0)


def _result(
    tx: Transaction,
    me: Record,
    row: Record,
    state: SlotState,
    found: Mapping[str, bool],
    *,
    repeated: bool = False,
    judged: bool = True,
) -> Submitted:
    """The result of a submission, with its consequences for the person."""
    purpose = Purpose(row.purpose)
    if purpose is Purpose.TRAINING:
        known = tx.one(select(item).where(item.c.id == row.item_id))
        expected, feedback = known.expected or {}, known.feedback
        return Submitted(row.id, purpose, state, repeated, found, expected, feedback)
    if purpose is Purpose.TEST:
        return Submitted(row.id, purpose, state, repeated, qualified=_judge_test(tx, me))
    consequence = None
    if judged and state is SlotState.DONE and not all(found.values()):
        consequence = _penalise(tx, me, purpose)
    return Submitted(row.id, purpose, state, repeated, consequence=consequence)


def _judge_test(tx: Transaction, me: Record) -> bool | None:
    """After the last test item: whether the test was passed. If not, start the next attempt."""
    settings = tx.study.qualification
    if settings is None or me.qualified is not None:
        return cast(bool | None, me.qualified)
    rows = tx.rows(
        select(answer.c.passed)
        .join(slot, slot.c.answer_id == answer.c.id)
        .where(
            slot.c.person_id == me.id,
            slot.c.purpose == Purpose.TEST,
            slot.c.attempt == me.attempt,
            slot.c.state == SlotState.DONE,
        )
    )
    wanted = tx.one(select(func.count()).where(item.c.purpose == Purpose.TEST))[0]
    if len(rows) < wanted:
        return None
    passed = bool(sum(bool(row.passed) for row in rows) >= settings.pass_mark * wanted - 1e-9)
    if passed or me.attempt >= settings.attempts:
        tx.run(update(person).where(person.c.id == me.id).values(qualified=passed))
        tx.log("qualified" if passed else "failed", me.id)
    else:
        tx.run(update(person).where(person.c.id == me.id).values(attempt=me.attempt + 1))
    return passed


def _penalise(tx: Transaction, me: Record, purpose: Purpose) -> OnFailure | None:
    """Apply what the study says about failed control items. An answer that was wrong at first
    remains a failure when it is corrected."""
    controls = tx.study.controls(purpose)
    if controls is None:
        return None
    failures = tx.one(
        select(func.count(slot.c.id.distinct()))
        .join(answer, answer.c.slot_id == slot.c.id)
        .where(slot.c.person_id == me.id, slot.c.purpose == purpose, answer.c.passed.is_(False))
    )[0]
    if failures <= controls.allowed:
        return None
    reason = f"{failures} {purpose} items failed"
    match controls.on_failure:
        case OnFailure.WARN:
            tx.log("warned", me.id, reason)
        case OnFailure.BLOCK:
            block(tx, me.code, reason)
        case OnFailure.VOID:
            exclude(tx, me.code, reason)
    return controls.on_failure
