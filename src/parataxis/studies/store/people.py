"""Who is in a study: invited by the organiser, or sent by a panel."""

import secrets
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from sqlalchemy import delete, select, update

from parataxis.errors import InputError
from parataxis.studies.items import ItemKind
from parataxis.studies.records import Value
from parataxis.studies.store.assign import reopen, take_place
from parataxis.studies.store.setup import offer_again, withdraw
from parataxis.studies.store.tables import (
    Record,
    StoreWork,
    StudyState,
    answer,
    as_person,
    event,
    item,
    lock_person,
    may_be_code,
    person,
    slot,
)
from parataxis.studies.store.types import Person, PersonState
from parataxis.studies.study import Panel, Role

_ALPHABET = "23456789abcdefghjkmnpqrstuvwxyz"  # nothing that looks like something else
_LONGEST = 200
_SEEDS = 2**62


def new_code() -> str:
    """An id drawn by chance; with 31^10 of them nobody guesses one."""
    return "".join(secrets.choice(_ALPHABET) for _ in range(10))


def invite(work: StoreWork, names: Iterable[str | None], role: Role) -> list[Person]:
    """New people."""
    ids = [_new(work, role, name=clean(name, "name")) for name in names]
    return [as_person(_row(work, id_)) for id_ in ids]


def by_panel(work: StoreWork, panel: Panel, parameters: Mapping[str, str]) -> Person:
    """The person that a panel sends: one who was here before, or a new one."""
    given = {
        meaning: clean(parameters[name], name)
        for meaning, name in panel.parameters.items()
        if parameters.get(name)
    }
    who = given.get("person")
    if not who:
        raise InputError(f'The link has no parameter "{panel.parameters["person"]}".')
    row = work.first(work.locked(select(person).where(person.c.panel_id == who)))
    if row is None:
        id_ = _new(work, panel.role, panel_id=who, panel=given)
    else:
        id_ = row.id
        work.run(update(person).where(person.c.id == id_).values(panel=given))
    return as_person(_row(work, id_))


def find(work: StoreWork, code: str) -> Person | None:
    """The person of that id."""
    row = work.first(select(person).where(person.c.code == code)) if may_be_code(code) else None
    return None if row is None else as_person(row)


def people(work: StoreWork) -> list[Person]:
    """Everybody, in the order in which they came."""
    return [as_person(row) for row in work.rows(select(person).order_by(person.c.id))]


def consent(work: StoreWork, code: str, language: str | None) -> None:
    """Note that a person agreed to take part; the first time counts."""
    row = lock_person(work, code)
    values: dict[str, Any] = {"consented_at": row.consented_at or work.now}
    if language is not None:
        values["language"] = clean(language[:16], "language")
    work.run(update(person).where(person.c.id == row.id).values(**values))


def set_background(work: StoreWork, code: str, answers: Mapping[str, Value]) -> None:
    """Keep the answers to the background form."""
    row = lock_person(work, code)
    known = {question.id for question in work.study.background}
    kept = {key: value for key, value in answers.items() if key in known}
    missing = [
        question.id
        for question in work.study.background
        if question.required and kept.get(question.id) in (None, "")
    ]
    if missing:
        raise InputError(f'The background form needs an answer to "{missing[0]}".')
    work.run(update(person).where(person.c.id == row.id).values(background=kept))


def _new(work: StoreWork, role: Role, **values: Any) -> int:
    return work.insert(
        person,
        code=new_code(),
        role=role,
        state=PersonState.ACTIVE,
        invited_at=work.now,
        attempt=1,
        seed=secrets.randbelow(_SEEDS),
        **values,
    )


def _row(work: StoreWork, id_: int) -> Record:
    rows: Sequence[Record] = work.rows(select(person).where(person.c.id == id_))
    return rows[0]


def clean(text: str | None, what: str) -> str | None:
    """A short text that every engine can keep, or InputError."""
    if text is None:
        return None
    text = text.strip()
    if len(text) > _LONGEST or not text.isprintable():
        raise InputError(f'The {what} "{text[:40]}" is too long, or has characters without a form.')
    return text or None


# Taking people out of a study, bringing them back, and forgetting them.


def block(work: StoreWork, me: Record, reason: str | None) -> None:
    """No more tasks; what the person did counts."""
    _void(work, me, (StudyState.LEASED, StudyState.LAPSED, StudyState.RETURNED))
    _set_state(work, me, PersonState.BLOCKED)
    work.note("blocked", me.id, clean(reason, "reason"))


def exclude(work: StoreWork, me: Record, reason: str | None) -> None:
    """No more tasks; what the person rated and wrote is void, and is done again by others."""
    for made in work.rows(select(item.c.id).where(item.c.writer_id == me.id)):
        withdraw(work, made.id)
    _void(work, me, tuple(set(StudyState) - {StudyState.OPEN, StudyState.VOID}))
    _set_state(work, me, PersonState.EXCLUDED)
    work.note("excluded", me.id, clean(reason, "reason"))


def reinstate(work: StoreWork, me: Record) -> None:
    """Let a person work again. What they did counts again where nobody else has done it since."""
    if me.state == PersonState.ERASED:
        raise InputError("Somebody who was erased cannot come back.")
    _set_state(work, me, PersonState.ACTIVE)
    voided = work.rows(
        select(slot, item.c.withdrawn)
        .join(item, item.c.id == slot.c.item_id)
        .where(slot.c.person_id == me.id, slot.c.state == StudyState.VOID)
        .order_by(slot.c.id)
    )
    for row in voided:
        if row.withdrawn:
            continue
        values: dict[str, Any] = {"state": StudyState.DONE}
        if row.answer_id is None:
            values = {"state": StudyState.LEASED if row.place is None else StudyState.LAPSED}
        elif row.place is not None:
            place = take_place(work, row)
            values = {"state": StudyState.SURPLUS} if place is None else {**values, "place": place}
        work.run(update(slot).where(slot.c.id == row.id).values(**values))
        if row.kind == ItemKind.WRITE and values["state"] is StudyState.DONE:
            offer_again(work, row)
    work.note("reinstated", me.id)


def erase(work: StoreWork, me: Record, *, ratings: bool) -> None:
    """Forget who a person is, and with ``ratings`` also what they said."""
    if ratings:
        exclude(work, me, None)
        work.run(update(slot).where(slot.c.person_id == me.id).values(answer_id=None))
        work.run(delete(answer).where(answer.c.person_id == me.id))
        work.run(update(item).where(item.c.writer_id == me.id).values(rewrite=None))
    else:
        _void(work, me, (StudyState.LEASED, StudyState.LAPSED, StudyState.RETURNED))
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


def _set_state(work: StoreWork, me: Record, state: PersonState) -> None:
    """Somebody who was erased stays so, also when their ratings are taken out later."""
    if me.state != PersonState.ERASED:
        work.run(update(person).where(person.c.id == me.id).values(state=state))


def _void(work: StoreWork, me: Record, states: tuple[StudyState, ...]) -> None:
    mine = (
        select(slot).where(slot.c.person_id == me.id, slot.c.state.in_(states)).order_by(slot.c.id)
    )
    reopen(work, work.rows(work.locked(mine)), StudyState.VOID)
