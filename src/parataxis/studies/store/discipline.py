"""Taking people out of a study, bringing them back, and forgetting them."""

from typing import Any

from sqlalchemy import delete, select, update

from parataxis.errors import InputError
from parataxis.studies.items import Kind
from parataxis.studies.store.people import clean, new_code
from parataxis.studies.store.rewrites import offer_again, withdraw
from parataxis.studies.store.slots import reopen, take_place
from parataxis.studies.store.tables import answer, event, item, person, slot
from parataxis.studies.store.types import PersonState
from parataxis.studies.store.work import Record, State, Work

__all__ = ["block", "erase", "exclude", "reinstate"]


def block(work: Work, me: Record, reason: str | None) -> None:
    """No more tasks; what the person did counts."""
    _void(work, me, (State.LEASED, State.LAPSED, State.RETURNED))
    _set_state(work, me, PersonState.BLOCKED)
    work.note("blocked", me.id, clean(reason, "reason"))


def exclude(work: Work, me: Record, reason: str | None) -> None:
    """No more tasks; what the person rated and wrote is void, and is done again by others."""
    for made in work.rows(select(item.c.id).where(item.c.writer_id == me.id)):
        withdraw(work, made.id)
    _void(work, me, tuple(set(State) - {State.OPEN, State.VOID}))
    _set_state(work, me, PersonState.EXCLUDED)
    work.note("excluded", me.id, clean(reason, "reason"))


def reinstate(work: Work, me: Record) -> None:
    """Let a person work again. What they did counts again where nobody else has done it since."""
    if me.state == PersonState.ERASED:
        raise InputError("Somebody who was erased cannot come back.")
    _set_state(work, me, PersonState.ACTIVE)
    voided = work.rows(
        select(slot, item.c.withdrawn)
        .join(item, item.c.id == slot.c.item_id)
        .where(slot.c.person_id == me.id, slot.c.state == State.VOID)
        .order_by(slot.c.id)
    )
    for row in voided:
        if row.withdrawn:
            continue
        values: dict[str, Any] = {"state": State.DONE}
        if row.answer_id is None:
            values = {"state": State.LEASED if row.place is None else State.LAPSED}
        elif row.place is not None:
            place = take_place(work, row)
            values = {"state": State.SURPLUS} if place is None else {**values, "place": place}
        work.run(update(slot).where(slot.c.id == row.id).values(**values))
        if row.kind == Kind.WRITE and values["state"] is State.DONE:
            offer_again(work, row)
    work.note("reinstated", me.id)


def erase(work: Work, me: Record, *, ratings: bool) -> None:
    """Forget who a person is, and with ``ratings`` also what they said."""
    if ratings:
        exclude(work, me, None)
        work.run(update(slot).where(slot.c.person_id == me.id).values(answer_id=None))
        work.run(delete(answer).where(answer.c.person_id == me.id))
        work.run(update(item).where(item.c.writer_id == me.id).values(rewrite=None))
    else:
        _void(work, me, (State.LEASED, State.LAPSED, State.RETURNED))
    work.run(update(slot).where(slot.c.person_id == me.id).values(draft=None))
    work.run(update(event).where(event.c.person_id == me.id).values(detail=None))
    work.run(
        update(person)
        .where(person.c.id == me.id)
        .values(
            code=new_code(),
            state=PersonState.ERASED,
            name=None,
            language=None,
            panel_id=None,
            panel=None,
            background=None,
        )
    )
    work.note("erased", me.id)


def _set_state(work: Work, me: Record, state: PersonState) -> None:
    """Somebody who was erased stays so, also when their ratings are taken out later."""
    if me.state != PersonState.ERASED:
        work.run(update(person).where(person.c.id == me.id).values(state=state))


def _void(work: Work, me: Record, states: tuple[State, ...]) -> None:
    mine = (
        select(slot).where(slot.c.person_id == me.id, slot.c.state.in_(states)).order_by(slot.c.id)
    )
    reopen(work, work.rows(work.locked(mine)), State.VOID)
