"""Answers: drafts, submissions, corrections and undoing. What was submitted is never changed and
never lost; what counts is decided by the slot."""

import json
import math
from collections.abc import Callable, Mapping
from typing import Any, cast

from sqlalchemy import BigInteger, and_, bindparam, case, func, select, update

from parataxis.errors import InputError
from parataxis.studies.items import ItemKind, as_expected, sentences_of
from parataxis.studies.records import Answers, Purpose, Value
from parataxis.studies.store.assign import (
    ROWS,
    as_task,
    has_begun,
    reopen,
    take,
    take_place,
    task_of,
)
from parataxis.studies.store.people import block, exclude
from parataxis.studies.store.setup import made_in, offer, withdraw
from parataxis.studies.store.tables import (
    FINISHED,
    Record,
    StoreWork,
    StudyState,
    answer,
    item,
    lock_person,
    may_be_code,
    may_be_slot,
    person,
    slot,
)
from parataxis.studies.store.types import (
    FLAG,
    REWRITE,
    Flag,
    NotYoursError,
    PersonState,
    Stored,
    Submitted,
    Task,
    UndoError,
)
from parataxis.studies.study import OnFailure

# What writers wrote, as items that others rate: offered, withdrawn, offered again.


SUBMIT, CORRECT, UNDO, LATE = "submit", "correct", "undo", "late"
"""What an entry of the history is. A late one came after a submission that cannot be changed any
more, and is kept beside it."""


Check = Callable[[Task], Answers]
"""Makes of a task what is to be submitted; whatever it raises ends the submission."""

# What is asked with every click is put together once: that takes longer than the asking.
_SLOT = ROWS.where(slot.c.id == bindparam("slot"), slot.c.person_id == bindparam("me"))
_LOCKED_SLOT = _SLOT.with_for_update(of=slot)
_LAST = (
    select(slot, answer.c.id.label("last"), answer.c.action, answer.c.answers)
    .join(slot, slot.c.id == answer.c.slot_id)
    .where(answer.c.person_id == bindparam("me"))
    .order_by(answer.c.id.desc())
    .limit(1)
)
_LOCKED_LAST = _LAST.with_for_update(of=slot)
_CHANGE = update(slot).where(slot.c.id == bindparam("slot"))
_UNFINISHED = (StudyState.LEASED, StudyState.LAPSED, StudyState.RETURNED)
_KEEP_DRAFT = (
    update(slot)
    .where(slot.c.id == bindparam("slot"), slot.c.state.in_(_UNFINISHED))
    .where(
        slot.c.person_id
        == select(person.c.id).where(person.c.code == bindparam("code")).scalar_subquery()
    )
    .values(
        draft=bindparam("kept"),
        leased_until=case(
            (
                and_(slot.c.state == StudyState.LEASED, slot.c.leased_until.is_not(None)),
                bindparam("until", type_=BigInteger),
            ),
            else_=slot.c.leased_until,
        ),
    )
)


def submit(
    work: StoreWork, code: str, slot_id: int, answers: Answers, seconds: float | None
) -> Submitted:
    """Keep the answers, and count them where the slot is still the person's."""
    me = lock_person(work, code)
    return _submit(work, me, _slot(work, me, slot_id), answers, seconds)


def submit_and_take(
    work: StoreWork, code: str, slot_id: int, check: Check, seconds: float | None
) -> tuple[Submitted, int | None]:
    """Keep what ``check`` makes of the task, and give the person the next slot, or None. After an
    item of the training none is given: the person reads first what was right."""
    me = lock_person(work, code)
    row = _slot(work, me, slot_id)
    done = _submit(work, me, row, check(as_task(work, row)), seconds)
    if done.purpose is Purpose.TRAINING:
        return done, None
    if done.purpose is not Purpose.ITEM:  # it may have changed what the person may do
        me = lock_person(work, code)
    return done, take(work, me)


def _submit(
    work: StoreWork, me: Record, row: Record, answers: Answers, seconds: float | None
) -> Submitted:
    answers = _checked(row, answers)
    if row.state in FINISHED:
        return _again(work, me, row, answers, seconds)
    state = StudyState(row.state)
    changed: dict[str, Any] = {"draft": None, "leased_until": None, "submitted_at": work.now}
    if state in (StudyState.LAPSED, StudyState.RETURNED):
        place = take_place(work, row)
        state = StudyState.SURPLUS if place is None else StudyState.DONE
        changed["place"] = row.place if place is None else place
    elif state is StudyState.LEASED:
        state = StudyState.DONE
    found = _compare(work, row, answers)
    changed["answer_id"] = _append(work, me, row, SUBMIT, answers, seconds, found)
    work.run(_CHANGE, slot=row.id, state=state, **changed)
    if state is StudyState.DONE and row.kind == ItemKind.WRITE:
        offer(work, row, answers, changed["answer_id"])
    return _result(work, me, row, state, found)


def save_draft(work: StoreWork, code: str, slot_id: int, answers: Answers) -> bool:
    """Keep a draft, and the task for the person; False where it is submitted already."""
    kept, until = _plain(answers), work.now + work.lease
    may_be = may_be_code(code) and may_be_slot(slot_id)
    if may_be and work.run(_KEEP_DRAFT, slot=slot_id, code=code, kept=kept, until=until):
        return True
    _slot(work, lock_person(work, code), slot_id)  # says so where it is not theirs
    return False


def release(work: StoreWork, code: str, slot_id: int) -> None:
    """Hand a task back for others; the person will not get it again. Items of the qualification
    and control items cannot be handed back: those stay."""
    me = lock_person(work, code)
    row = _slot(work, me, slot_id)
    if row.state == StudyState.LEASED and row.place is not None:
        reopen(work, [row], StudyState.RETURNED)


def undo(work: StoreWork, code: str) -> Task:
    """Take back the last submission: the task is held again, with its answers as a draft."""
    me = lock_person(work, code)
    row = last_submission(work, me)
    for made in made_in(work, row):
        withdraw(work, made.id)
    _append(work, me, row, UNDO, {}, None, {})
    held = select(func.max(slot.c.leased_at)).where(
        slot.c.person_id == me.id, slot.c.state == StudyState.LEASED
    )
    latest = work.rows(held)[0][0] or 0
    work.run(
        update(slot)
        .where(slot.c.id == row.id)
        .values(
            state=StudyState.LEASED,
            draft=dict(row.answers),
            answer_id=None,
            submitted_at=None,
            leased_at=max(work.now, latest + 1),  # the first of those that they hold
            leased_until=None if row.place is None else work.now + work.lease,
        )
    )
    return task_of(work, row.id)


def last_submission(work: StoreWork, me: Record) -> Record:
    """The slot that the person could take back, with its answers, or UndoError."""
    row = work.first(_LOCKED_LAST if work.writes else _LAST, me=me.id)
    if row is None or row.action == UNDO or me.state != PersonState.ACTIVE:
        raise UndoError("There is nothing to undo.")
    if row.state != StudyState.DONE or row.answer_id != row.last:
        raise UndoError("The last submission cannot be undone.")
    if row.purpose in (Purpose.TRAINING, Purpose.TEST):
        raise UndoError("Answers of the training and of the test cannot be undone.")
    if row.kind == ItemKind.WRITE and any(has_begun(work, made.id) for made in made_in(work, row)):
        raise UndoError("Somebody has begun to rate this rewrite, so it cannot be undone any more.")
    return row


def _slot(work: StoreWork, me: Record, slot_id: int) -> Record:
    query = _LOCKED_SLOT if work.writes else _SLOT
    row = work.first(query, slot=slot_id, me=me.id) if may_be_slot(slot_id) else None
    if row is None:
        raise NotYoursError(f"Task {slot_id} was not given to this person.")
    return row


def _plain(answers: Answers) -> dict[str, Value]:
    plain = dict(answers)
    try:
        json.dumps(plain, allow_nan=False)
    except (TypeError, ValueError, RecursionError) as error:
        raise InputError("The answers cannot be kept: they are not plain values.") from error
    return plain


def _checked(row: Record, answers: Answers) -> dict[str, Value]:
    """The answers; those of a writer must be a rewrite or a flag."""
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
    work: StoreWork,
    me: Record,
    row: Record,
    action: str,
    answers: Mapping[str, Value],
    seconds: float | None,
    found: Mapping[str, bool],
) -> int:
    return work.insert(
        answer,
        slot_id=row.id,
        person_id=me.id,
        action=action,
        answers=dict(answers),
        passed=all(found.values()) if found else None,
        seconds=seconds if seconds is not None and 0 <= seconds < math.inf else None,
        at=work.now,
    )


def _again(
    work: StoreWork, me: Record, row: Record, answers: Mapping[str, Value], seconds: float | None
) -> Submitted:
    """A second submission of a slot: the same answers change nothing, others are a correction
    where one is possible."""
    last = work.first(
        select(answer).where(answer.c.slot_id == row.id).order_by(answer.c.id.desc()).limit(1)
    )
    found = _compare(work, row, answers)
    state = StudyState(row.state)
    if last is None or dict(last.answers) == answers:
        return _result(work, me, row, state, found, repeated=True, judged=False)
    final = row.purpose in (Purpose.TRAINING, Purpose.TEST) or state is not StudyState.DONE
    made = made_in(work, row)
    if final or any(has_begun(work, each.id) for each in made):
        _append(work, me, row, LATE, answers, seconds, {})
        return _result(work, me, row, state, found, repeated=True, judged=False)
    answer_id = _append(work, me, row, CORRECT, answers, seconds, found)
    work.run(
        update(slot)
        .where(slot.c.id == row.id)
        .values(answer_id=answer_id, submitted_at=work.now, draft=None)
    )
    if row.kind == ItemKind.WRITE:
        for each in made:
            withdraw(work, each.id)
        offer(work, row, answers, answer_id)
    return _result(work, me, row, state, found, repeated=True)


def _compare(work: StoreWork, row: Record, answers: Answers) -> dict[str, bool]:
    """For each question whose answer is known, whether it was given."""
    if row.purpose == Purpose.ITEM:
        return {}
    known = work.rows(select(item.c.expected).where(item.c.id == row.item_id))[0]
    return as_expected(known.expected or {}, answers, _tolerance(work, Purpose(row.purpose)))


def _tolerance(work: StoreWork, purpose: Purpose) -> float:
    settings = {
        Purpose.TRAINING: work.study.qualification,
        Purpose.TEST: work.study.qualification,
        Purpose.ATTENTION: work.study.attention,
        Purpose.KNOWN: work.study.known,
    }.get(purpose)
    return settings.tolerance if settings else 0.0


def _result(
    work: StoreWork,
    me: Record,
    row: Record,
    state: StudyState,
    found: Mapping[str, bool],
    *,
    repeated: bool = False,
    judged: bool = True,
) -> Submitted:
    """What became of it, and what follows for the person."""
    purpose = Purpose(row.purpose)
    stored = {StudyState.DONE: Stored.COUNTED, StudyState.SURPLUS: Stored.SURPLUS}.get(
        state, Stored.VOID
    )
    if purpose is Purpose.TRAINING:
        known = work.rows(select(item).where(item.c.id == row.item_id))[0]
        return Submitted(
            row.id, purpose, stored, repeated, found, known.expected or {}, known.feedback
        )
    if purpose is Purpose.TEST:
        return Submitted(row.id, purpose, stored, repeated, qualified=_judge_test(work, me))
    consequence = None
    if (
        purpose is not Purpose.ITEM
        and judged
        and stored is Stored.COUNTED
        and not all(found.values())
    ):
        consequence = _punish(work, me, purpose)
    return Submitted(row.id, purpose, stored, repeated, consequence=consequence)


def _judge_test(work: StoreWork, me: Record) -> bool | None:
    """After the last item of the test: whether it was passed; a next attempt where not."""
    settings = work.study.qualification
    if settings is None or me.qualified is not None:
        return cast(bool | None, me.qualified)
    rows = work.rows(
        select(answer.c.passed)
        .join(slot, slot.c.answer_id == answer.c.id)
        .where(
            slot.c.person_id == me.id,
            slot.c.purpose == Purpose.TEST,
            slot.c.attempt == me.attempt,
            slot.c.state == StudyState.DONE,
        )
    )
    wanted = work.rows(select(func.count()).where(item.c.purpose == Purpose.TEST))[0][0]
    if len(rows) < wanted:
        return None
    passed = bool(sum(bool(row.passed) for row in rows) >= settings.pass_mark * wanted - 1e-9)
    if passed or me.attempt >= settings.attempts:
        work.run(update(person).where(person.c.id == me.id).values(qualified=passed))
        work.note("qualified" if passed else "failed", me.id)
    else:
        work.run(update(person).where(person.c.id == me.id).values(attempt=me.attempt + 1))
    return passed


def _punish(work: StoreWork, me: Record, purpose: Purpose) -> OnFailure | None:
    """What the study says about one more failed control item. An answer that was wrong at first
    stays a failure when it is corrected."""
    controls = work.study.attention if purpose is Purpose.ATTENTION else work.study.known
    if controls is None:
        return None
    failures = work.rows(
        select(func.count(slot.c.id.distinct()))
        .join(answer, answer.c.slot_id == slot.c.id)
        .where(slot.c.person_id == me.id, slot.c.purpose == purpose, answer.c.passed.is_(False))
    )[0][0]
    if failures <= controls.allowed:
        return None
    reason = f"{failures} {purpose} items failed"
    match controls.on_failure:
        case OnFailure.WARN:
            work.note("warned", me.id, reason)
        case OnFailure.BLOCK:
            block(work, me, reason)
        case OnFailure.VOID:
            exclude(work, me, reason)
    return controls.on_failure
