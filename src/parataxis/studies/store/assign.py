"""What a person does next: qualify, then work, with control items in between."""

import random
from collections.abc import Iterable, Mapping

from sqlalchemy import (
    bindparam,
    delete,
    exists,
    func,
    insert,
    literal_column,
    or_,
    select,
    update,
)

from parataxis.rewrite.record import Rewrite
from parataxis.studies.items import ItemKind
from parataxis.studies.records import Purpose, is_identical
from parataxis.studies.store.tables import (
    EXPERT,
    FINISHED,
    RANKS,
    Record,
    StoreWork,
    StudyState,
    answer,
    item,
    lock_person,
    may_be_slot,
    moment,
    person,
    slot,
    task_kind,
)
from parataxis.studies.store.types import NotYoursError, PersonState, Stage, Task, TaskItem
from parataxis.studies.study import Controls, Role

# The life of a slot: opened, leased, lapsed, taken again. Every change here keeps the number of
# open, leased and done slots of an item as it is.

_SWEPT_AT_ONCE = 100
_SLACK = 5 * 60_000
"""Clocks of two servers may differ by so much."""

# Literals, not parameters: the engines must see that the partial indices apply.
_IS_OPEN = literal_column("slot.state") == literal_column("'open'")
_IS_LEASED = literal_column("slot.state") == literal_column("'leased'")


def _open_again(work: StoreWork, rows: Iterable[Record]) -> None:
    """Open a slot at the place of each of these, which have just given theirs up."""
    work.run_many(
        insert(slot),
        [
            {
                "item_id": row.item_id,
                "kind": row.kind,
                "purpose": row.purpose,
                "place": row.place,
                "state": StudyState.OPEN,
                "attempt": 1,
                "rank": row.rank,
                "writer_id": row.writer_id,
            }
            for row in rows
            if row.place is not None
        ],
    )


# What is asked with every click is put together once: that takes longer than the asking.
_SHORTEN = (
    update(slot)
    .where(_IS_LEASED, slot.c.leased_until > bindparam("latest"))
    .values(leased_until=bindparam("until"))
)
_EXPIRED = (
    select(slot)
    .where(_IS_LEASED, slot.c.leased_until < bindparam("now"))
    .order_by(slot.c.leased_until)
    .limit(_SWEPT_AT_ONCE)
    .with_for_update(skip_locked=True)
)


def sweep(work: StoreWork) -> None:
    """Open the slots whose leases ran out. A lease that ends too far in the future was given
    before the clock was put back; it is shortened to what it should be."""
    until = work.now + work.lease
    work.run(_SHORTEN, latest=until + _SLACK, until=until)
    reopen(work, work.rows(_EXPIRED, now=work.now), StudyState.LAPSED)


def reopen(work: StoreWork, rows: Iterable[Record], state: StudyState) -> None:
    """Give these leased or done slots that state, and open others in their place."""
    rows = list(rows)
    if not rows:
        return
    ids = [row.id for row in rows]
    for start in range(0, len(ids), 500):
        work.run(update(slot).where(slot.c.id.in_(ids[start : start + 500])).values(state=state))
    _open_again(work, (row for row in rows if row.state in (StudyState.LEASED, StudyState.DONE)))


def take_place(work: StoreWork, mine: Record) -> int | None:
    """Take an open place of the item for a slot that has none, or None where all are taken."""
    sweep(work)
    free = (
        select(slot.c.id, slot.c.place)
        .where(slot.c.item_id == mine.item_id, slot.c.kind == mine.kind, _IS_OPEN)
        .order_by(slot.c.place)
        .limit(1)
    )
    found = work.first(work.locked(free, skip=True))
    if found is None:
        return None
    work.run(delete(slot).where(slot.c.id == found.id))
    return int(found.place)


_MINE = slot.alias("mine")
_OWN = (
    select(_MINE.c.id)
    .where(_MINE.c.item_id == slot.c.item_id, _MINE.c.person_id == bindparam("me"))
    .scalar_subquery()
)

HAD = or_(
    exists().where(
        _MINE.c.item_id == slot.c.item_id,
        _MINE.c.person_id == bindparam("me"),
        _MINE.c.state != StudyState.LAPSED,
    ),
    func.coalesce(slot.c.writer_id, 0) == bindparam("me"),
)
"""Whether a slot is of an item that the person ``me`` wrote, or had before, unless their lease of
it ran out."""

_CANDIDATE = (
    select(slot.c.id, slot.c.place, _OWN.label("lapsed"))
    .where(_IS_OPEN, slot.c.kind == bindparam("kind"), ~HAD)
    .order_by(slot.c.rank, slot.c.id)
    .limit(1)
    .with_for_update(skip_locked=True, of=slot)
)
_FROM_START = _CANDIDATE.where(slot.c.rank >= bindparam("start"))
_BEFORE_START = _CANDIDATE.where(slot.c.rank < bindparam("start"))
_LEASE = (
    update(slot)
    .where(slot.c.id == bindparam("slot"))
    .values(
        state=StudyState.LEASED,
        person_id=bindparam("me"),
        place=bindparam("at"),
        leased_at=bindparam("now"),
        leased_until=bindparam("until"),
    )
)


def claim(work: StoreWork, me: Record, kind: str, begun: int) -> int | None:
    """Lease an open slot to a person: the id of the slot, or None where there is none for them.

    The search begins at a rank that is drawn anew for each of the person's tasks, so that each
    person meets the items in an order of their own. Leases that ran out are looked at only where
    nothing is open: until then nobody needs their places.
    """
    found = _candidate(work, me, kind, begun)
    if found is None:
        sweep(work)
        found = _candidate(work, me, kind, begun)
    if found is None:
        return None
    if found.lapsed is not None:
        work.run(delete(slot).where(slot.c.id == found.id))
    mine = int(found.id if found.lapsed is None else found.lapsed)
    until = work.now + work.lease
    work.run(_LEASE, slot=mine, me=me.id, at=found.place, now=work.now, until=until)
    return mine


def _candidate(work: StoreWork, me: Record, kind: str, begun: int) -> Record | None:
    where = {
        "me": me.id,
        "kind": kind,
        "start": random.Random(f"{me.seed}:{begun}").randrange(RANKS),
    }
    return work.first(_FROM_START, **where) or work.first(_BEFORE_START, **where)


def has_begun(work: StoreWork, item_id: int) -> bool:
    """Whether somebody works, or worked, on an item; if not, nobody begins before the end of a
    transaction that writes."""
    states = work.rows(work.locked(select(slot.c.state).where(slot.c.item_id == item_id)))
    return any(row.state != StudyState.OPEN for row in states)


Tally = Mapping[tuple[str, str, str], int]
"""A person's slots by kind, purpose and state."""

KINDS = {
    Role.WRITER: (ItemKind.WRITE.value,),
    Role.RATER: (ItemKind.RATE.value,),
    Role.BOTH: (ItemKind.WRITE.value, ItemKind.RATE.value),
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
    .where(slot.c.person_id == bindparam("me"), slot.c.state == StudyState.LEASED)
    .order_by(slot.c.leased_at.desc(), slot.c.id.desc())
    .limit(1)
)
_BY = (slot.c.kind, slot.c.purpose, slot.c.state)
_TALLY = select(*_BY, func.count()).where(slot.c.person_id == bindparam("me")).group_by(*_BY)


def next_task(work: StoreWork, code: str) -> Task | None:
    """The task that the person holds, or else a new one, or None."""
    id_ = take(work, lock_person(work, code))
    return None if id_ is None else task_of(work, id_)


def take(work: StoreWork, me: Record) -> int | None:
    """The slot of the task that the person holds, or else of a new one, or None."""
    _touch(work, me)
    if barred(work, me) is not None:
        return None
    tally = tally_of(work, me.id)
    if any(state == StudyState.LEASED for _, _, state in tally):
        return _renewed(work, work.rows(_HELD, me=me.id)[0])
    return _new_slot(work, me, tally)


def task(work: StoreWork, me: Record, slot_id: int) -> Task:
    """A task that was given to the person, submitted or not; NotYoursError for any other, and for
    one that is void."""
    row = work.first(_TASK_FOR, slot=slot_id, me=me.id) if may_be_slot(slot_id) else None
    if row is None or row.state == StudyState.VOID:
        raise NotYoursError(f"Task {slot_id} was not given to this person.")
    return as_task(work, row)


def task_of(work: StoreWork, slot_id: int) -> Task:
    """The task of a slot that there is."""
    return as_task(work, work.rows(_TASK, slot=slot_id)[0])


def tally_of(work: StoreWork, person_id: int) -> Tally:
    """Count a person's slots."""
    rows = work.rows(_TALLY, me=person_id)
    return {(kind, purpose, state): count for kind, purpose, state, count in rows}


def _touch(work: StoreWork, me: Record) -> None:
    if me.seen_at is None or abs(work.now - me.seen_at) > _SEEN_EVERY:
        work.run(update(person).where(person.c.id == me.id).values(seen_at=work.now))


def barred(work: StoreWork, me: Record) -> Stage | None:
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


def _new_slot(work: StoreWork, me: Record, tally: Tally) -> int | None:
    """Lease something to the person, by what their role and their progress ask for."""
    for kind in KINDS[Role(me.role)]:
        if kind == ItemKind.RATE:
            left = qualifying(work, me)
            if left is not None:
                attempt = me.attempt if left is Purpose.TEST else 1
                return _lease_control(work, me, left, attempt)
        if not may_do_more(work, kind, tally):
            continue
        if kind == ItemKind.RATE and (control := _control_due(work, me, tally)) is not None:
            return control
        if (claimed := claim(work, me, kind, sum(tally.values()))) is not None:
            return claimed
    return None


def may_do_more(work: StoreWork, kind: str, tally: Tally) -> bool:
    """Whether the person has done less of that kind than one person may."""
    limit = None
    if kind == ItemKind.WRITE and work.study.write:
        limit = work.study.write.per_person
    elif kind == ItemKind.RATE:
        limit = work.study.rate.per_person
    return limit is None or _done(tally, kind) < limit


def _done(tally: Tally, kind: str) -> int:
    return sum(tally.get((kind, Purpose.ITEM.value, state), 0) for state in FINISHED)


def qualifying(work: StoreWork, me: Record) -> Purpose | None:
    """What is left of the qualification: training items, test items, or nothing."""
    settings = work.study.qualification
    if settings is None or me.role == Role.EXPERT or me.qualified is not None:
        return None
    for purpose, attempt in ((Purpose.TRAINING, 1), (Purpose.TEST, me.attempt)):
        done, all_ = qualified_so_far(work, me, purpose, attempt)
        if done < all_:
            return purpose
    return None


def qualified_so_far(
    work: StoreWork, me: Record, purpose: Purpose, attempt: int
) -> tuple[int, int]:
    """How many items of that purpose the person has submitted, and how many there are."""
    all_ = work.first(select(func.count()).where(item.c.purpose == purpose))
    done = work.first(
        select(func.count()).where(
            slot.c.person_id == me.id,
            slot.c.purpose == purpose,
            slot.c.attempt == attempt,
            slot.c.state == StudyState.DONE,
        )
    )
    return (done[0] if done else 0, all_[0] if all_ else 0)


def _control_due(work: StoreWork, me: Record, tally: Tally) -> int | None:
    """A control item, if the turn of one has come."""
    done = _done(tally, ItemKind.RATE)
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
    work: StoreWork, me: Record, purpose: Purpose, attempt: int, *, chance: str | None = None
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
        kind=ItemKind.RATE,
        purpose=purpose,
        state=StudyState.LEASED,
        person_id=me.id,
        attempt=attempt,
        rank=chosen.rank,
        leased_at=work.now,
    )


def _renewed(work: StoreWork, held: Record) -> int:
    """A slot whose lease begins anew, where that makes a difference."""
    until = work.now + work.lease
    if held.leased_until is not None and abs(until - held.leased_until) > _SEEN_EVERY:
        work.run(update(slot).where(slot.c.id == held.id).values(leased_until=until))
    return int(held.id)


def as_task(work: StoreWork, row: Record) -> Task:
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
        lease_until=moment(row.leased_until) if row.state == StudyState.LEASED else None,
        submitted=submitted,
    )
