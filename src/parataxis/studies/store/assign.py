"""What a person does next: qualify, then work, with control items in between."""

import random
from collections.abc import Mapping

from sqlalchemy import bindparam, exists, func, select, update

from parataxis.rewrite.record import Rewrite
from parataxis.studies.items import Kind
from parataxis.studies.records import Purpose, is_identical
from parataxis.studies.store.slots import claim
from parataxis.studies.store.tables import answer, item, person, slot
from parataxis.studies.store.types import NotYoursError, PersonState, Stage, Task, TaskItem
from parataxis.studies.store.work import (
    EXPERT,
    FINISHED,
    Record,
    State,
    Work,
    lock_person,
    may_be_slot,
    moment,
    task_kind,
)
from parataxis.studies.study import Controls, Role

__all__ = [
    "KINDS",
    "ROWS",
    "Tally",
    "as_task",
    "barred",
    "may_do_more",
    "next_task",
    "qualified_so_far",
    "qualifying",
    "take",
    "tally_of",
    "task",
    "task_of",
]

Tally = Mapping[tuple[str, str, str], int]
"""A person's slots by kind, purpose and state."""

KINDS = {
    Role.WRITER: (Kind.WRITE.value,),
    Role.RATER: (Kind.RATE.value,),
    Role.BOTH: (Kind.WRITE.value, Kind.RATE.value),
    Role.EXPERT: (EXPERT,),
}

_SEEN_EVERY = 60_000

# What is asked with every click is put together once: that takes longer than the asking.
ROWS = select(slot, item.c.key, item.c.source, item.c.rewrite).join(
    item, item.c.id == slot.c.item_id
)
_TASK = ROWS.where(slot.c.id == bindparam("slot"))
_TASK_FOR = _TASK.where(slot.c.person_id == bindparam("me"))
_HELD = (
    select(slot.c.id, slot.c.leased_until)
    .where(slot.c.person_id == bindparam("me"), slot.c.state == State.LEASED)
    .order_by(slot.c.leased_at.desc(), slot.c.id.desc())
    .limit(1)
)
_BY = (slot.c.kind, slot.c.purpose, slot.c.state)
_TALLY = select(*_BY, func.count()).where(slot.c.person_id == bindparam("me")).group_by(*_BY)


def next_task(work: Work, code: str) -> Task | None:
    """The task that the person holds, or else a new one, or None."""
    id_ = take(work, lock_person(work, code))
    return None if id_ is None else task_of(work, id_)


def take(work: Work, me: Record) -> int | None:
    """The slot of the task that the person holds, or else of a new one, or None."""
    _touch(work, me)
    if barred(work, me) is not None:
        return None
    tally = tally_of(work, me.id)
    if any(state == State.LEASED for _, _, state in tally):
        return _renewed(work, work.rows(_HELD, me=me.id)[0])
    return _new_slot(work, me, tally)


def task(work: Work, me: Record, slot_id: int) -> Task:
    """A task that was given to the person, submitted or not; NotYoursError for any other, and for
    one that is void."""
    row = work.first(_TASK_FOR, slot=slot_id, me=me.id) if may_be_slot(slot_id) else None
    if row is None or row.state == State.VOID:
        raise NotYoursError(f"Task {slot_id} was not given to this person.")
    return as_task(work, row)


def task_of(work: Work, slot_id: int) -> Task:
    """The task of a slot that there is."""
    return as_task(work, work.rows(_TASK, slot=slot_id)[0])


def tally_of(work: Work, person_id: int) -> Tally:
    """Count a person's slots."""
    rows = work.rows(_TALLY, me=person_id)
    return {(kind, purpose, state): count for kind, purpose, state, count in rows}


def _touch(work: Work, me: Record) -> None:
    if me.seen_at is None or abs(work.now - me.seen_at) > _SEEN_EVERY:
        work.run(update(person).where(person.c.id == me.id).values(seen_at=work.now))


def barred(work: Work, me: Record) -> Stage | None:
    """Why a person may not begin anything."""
    study = work.study
    if me.state != PersonState.ACTIVE:
        return Stage.BLOCKED
    if me.paused:
        return Stage.PAUSED
    if study.consent is not None and me.consented_at is None:
        return Stage.CONSENT
    if me.background is None and any(question.required for question in study.background):
        return Stage.BACKGROUND
    return Stage.FAILED if me.qualified is False else None


def _new_slot(work: Work, me: Record, tally: Tally) -> int | None:
    """Lease something to the person, by what their role and their progress ask for."""
    for kind in KINDS[Role(me.role)]:
        if kind == Kind.RATE:
            left = qualifying(work, me)
            if left is not None:
                attempt = me.attempt if left is Purpose.TEST else 1
                return _lease_control(work, me, left, attempt)
        if not may_do_more(work, kind, tally):
            continue
        if kind == Kind.RATE and (control := _control_due(work, me, tally)) is not None:
            return control
        if (claimed := claim(work, me, kind, sum(tally.values()))) is not None:
            return claimed
    return None


def may_do_more(work: Work, kind: str, tally: Tally) -> bool:
    """Whether the person has done less of that kind than one person may."""
    limit = None
    if kind == Kind.WRITE and work.study.write:
        limit = work.study.write.per_person
    elif kind == Kind.RATE:
        limit = work.study.rate.per_person
    return limit is None or _done(tally, kind) < limit


def _done(tally: Tally, kind: str) -> int:
    return sum(tally.get((kind, Purpose.ITEM.value, state), 0) for state in FINISHED)


def qualifying(work: Work, me: Record) -> Purpose | None:
    """What is left of the qualification: training items, test items, or nothing."""
    settings = work.study.qualification
    if settings is None or me.role == Role.EXPERT or me.qualified is not None:
        return None
    for purpose, attempt in ((Purpose.TRAINING, 1), (Purpose.TEST, me.attempt)):
        done, all_ = qualified_so_far(work, me, purpose, attempt)
        if done < all_:
            return purpose
    return None


def qualified_so_far(work: Work, me: Record, purpose: Purpose, attempt: int) -> tuple[int, int]:
    """How many items of that purpose the person has submitted, and how many there are."""
    all_ = work.first(select(func.count()).where(item.c.purpose == purpose))
    done = work.first(
        select(func.count()).where(
            slot.c.person_id == me.id,
            slot.c.purpose == purpose,
            slot.c.attempt == attempt,
            slot.c.state == State.DONE,
        )
    )
    return (done[0] if done else 0, all_[0] if all_ else 0)


def _control_due(work: Work, me: Record, tally: Tally) -> int | None:
    """A control item, if the turn of one has come."""
    done = _done(tally, Kind.RATE)
    for purpose, controls in (
        (Purpose.ATTENTION, work.study.attention),
        (Purpose.KNOWN, work.study.known),
    ):
        shown = sum(count for (_, which, _), count in tally.items() if which == purpose)
        if controls is not None and shown < _due(controls, me.seed, purpose, done):
            leased = _lease_control(work, me, purpose, 1, chance=f"{me.seed}:{purpose}:{shown}")
            if leased is not None:
                return leased
    return None


def _due(controls: Controls, seed: int, purpose: Purpose, done: int) -> int:
    """How many should have been shown after so many items: one in each stretch, at a place drawn
    by chance, but never as the very first thing that somebody sees."""
    stretch, place = divmod(done, controls.every)
    chance = random.Random(f"{seed}:{purpose}:{stretch}:place")
    return stretch + (place >= min(chance.randrange(controls.every) + 1, controls.every - 1 or 1))


def _lease_control(
    work: Work, me: Record, purpose: Purpose, attempt: int, *, chance: str | None = None
) -> int | None:
    """Give the person an item of that purpose that they have not had: the next one of the file,
    or one drawn by chance. Nobody else waits for it, so the lease has no end."""
    had = exists().where(
        slot.c.item_id == item.c.id, slot.c.person_id == me.id, slot.c.attempt == attempt
    )
    found = work.rows(
        select(item.c.id, item.c.rank).where(item.c.purpose == purpose, ~had).order_by(item.c.id)
    )
    if not found:
        return None
    chosen = found[0] if chance is None else random.Random(chance).choice(found)
    return work.insert(
        slot,
        item_id=chosen.id,
        kind=Kind.RATE,
        purpose=purpose,
        state=State.LEASED,
        person_id=me.id,
        attempt=attempt,
        rank=chosen.rank,
        leased_at=work.now,
    )


def _renewed(work: Work, held: Record) -> int:
    """A slot whose lease begins anew, where that makes a difference."""
    until = work.now + work.lease
    if held.leased_until is not None and abs(until - held.leased_until) > _SEEN_EVERY:
        work.run(update(slot).where(slot.c.id == held.id).values(leased_until=until))
    return int(held.id)


def as_task(work: Work, row: Record) -> Task:
    """The task of one of the ``ROWS``."""
    submitted = None
    if row.answer_id is not None:
        found = work.first(select(answer.c.answers).where(answer.c.id == row.answer_id))
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
        lease_until=moment(row.leased_until) if row.state == State.LEASED else None,
        submitted=submitted,
    )
