"""The people of a study: invited by the organiser or sent by a panel, blocked, excluded, erased."""

import secrets
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

from sqlalchemy import bindparam, delete, select, update

from parataxis.errors import InputError
from parataxis.studies.records import Purpose, Value
from parataxis.studies.store.database import Record, Transaction, moment
from parataxis.studies.store.slots import (
    CHANGE,
    new_code,
    offer_again,
    reopen,
    take_place,
    withdraw,
    written_in,
)
from parataxis.studies.store.tables import answer, event, item, person, slot
from parataxis.studies.store.tables import study as study_table
from parataxis.studies.store.types import (
    FINISHED,
    UNFINISHED,
    NotYoursError,
    Person,
    PersonState,
    SlotState,
)
from parataxis.studies.study import ItemKind, Role

_LONGEST = 200
_SEEDS = 2**62
_LONGEST_CODE = 32


# Frequent queries are built once, since building one takes longer than running it.
_PAUSED = select(study_table.c.paused).limit(1).scalar_subquery().label("paused")
_PERSON = select(person, _PAUSED).where(person.c.code == bindparam("code"))


def lock_person(tx: Transaction, code: str) -> Record:
    """The row of a person, and whether the study is paused. The lock lasts until the end of the
    transaction, so that requests of one person from two tabs are handled one after the other."""
    row = tx.first(tx.locked(_PERSON, of=person), code=code) if is_code(code) else None
    if row is None:
        raise NotYoursError("There is no person with that id in this study.")
    return row


def is_code(code: str) -> bool:
    """Whether a text has the form of a person's id. Some other texts are errors in an engine."""
    return len(code) <= _LONGEST_CODE and code.isascii() and code.isalnum()


def as_person(row: Record) -> Person:
    """The record of a person, from a row."""
    return Person(
        id=row.code,
        role=Role(row.role),
        state=PersonState(row.state),
        name=row.name,
        language=row.language,
        panel=row.panel or {},
        background=row.background,
        invited=moment(row.invited_at),
        consented=moment(row.consented_at),
        seen=moment(row.seen_at),
        qualified=row.qualified,
        attempt=row.attempt,
        may_write=row.may_write,
    )


def invite(tx: Transaction, people: int | Iterable[str], role: Role = Role.RATER) -> list[Person]:
    """Add people: so many without a name, or one for each name."""
    names = [None] * people if isinstance(people, int) else people
    return [_new(tx, role, name=_clean(name, "name")) for name in names]


def person_by_panel(tx: Transaction, parameters: Mapping[str, str]) -> Person:
    """The person that a panel sends with these URL parameters, new or known. InputError if the
    study has no panel, or if the parameter that identifies the person is missing."""
    panel = tx.study.panel
    if panel is None:
        raise InputError("This study does not accept people from a panel.")
    given = {
        meaning: value
        for meaning, name in panel.parameters.items()
        if (value := _clean(parameters.get(name), name))
    }
    who = given.get("person")
    if not who:
        raise InputError(f'The link has no parameter "{panel.parameters["person"]}".')
    row = tx.first(tx.locked(select(person).where(person.c.panel_id == who)))
    if row is None:
        return _new(tx, panel.role, panel_id=who, panel=given)
    _change(tx, row, panel=given)
    return replace(as_person(row), panel=given)


def find_person(tx: Transaction, code: str) -> Person | None:
    """The person with that id, or None."""
    row = tx.first(select(person).where(person.c.code == code)) if is_code(code) else None
    return None if row is None else as_person(row)


def all_people(tx: Transaction) -> list[Person]:
    """Everybody, in the order in which they joined."""
    return [as_person(row) for row in tx.rows(select(person).order_by(person.c.id))]


def consent(tx: Transaction, code: str, language: str | None = None) -> None:
    """Record a person's consent and the language that they read; the first time counts."""
    row = lock_person(tx, code)
    _change(tx, row, consented_at=row.consented_at or tx.now)
    if language is not None:
        _change(tx, row, language=_clean(language[:16], "language"))


def save_background(tx: Transaction, code: str, answers: Mapping[str, Value]) -> None:
    """Store a person's answers to the background form; InputError if a required one is missing."""
    row = lock_person(tx, code)
    kept = {}
    for question in tx.study.background:
        if question.id in answers:
            kept[question.id] = answers[question.id]
        if question.required and kept.get(question.id) in (None, ""):
            raise InputError(f'The background form needs an answer to "{question.id}".')
    _change(tx, row, background=kept)


def _new(tx: Transaction, role: Role, **values: Any) -> Person:
    person_id = tx.insert(
        person,
        code=new_code(),
        role=role,
        state=PersonState.ACTIVE,
        invited_at=tx.now,
        attempt=1,
        seed=secrets.randbelow(_SEEDS),
        **values,
    )
    return as_person(tx.one(select(person).where(person.c.id == person_id)))


def _change(tx: Transaction, row: Record, **values: Any) -> None:
    tx.run(update(person).where(person.c.id == row.id).values(**values))


def _clean(text: str | None, what: str) -> str | None:
    """A short text that every engine can store, or InputError."""
    if text is None:
        return None
    text = text.strip()
    if len(text) > _LONGEST or not text.isprintable():
        raise InputError(f'The {what} "{text[:40]}" is too long or has unprintable characters.')
    return text or None


# --- Taking people out of a study


def block(tx: Transaction, code: str, reason: str | None = None) -> None:
    """Give a person no more tasks; their work so far counts."""
    me = lock_person(tx, code)
    _void(tx, me, UNFINISHED)
    _set_state(tx, me, PersonState.BLOCKED)
    tx.log("blocked", me.id, _clean(reason, "reason"))


def exclude(tx: Transaction, code: str, reason: str | None = None) -> None:
    """Take a person out of the study: no more tasks, and their ratings and rewrites are void
    (but kept) and will be done again by others."""
    me = lock_person(tx, code)
    for made in tx.rows(select(item.c.id).where(item.c.writer_id == me.id)):
        withdraw(tx, made.id)
    _void(tx, me, tuple(set(SlotState) - {SlotState.OPEN, SlotState.VOID, SlotState.REJECTED}))
    _set_state(tx, me, PersonState.EXCLUDED)
    tx.log("excluded", me.id, _clean(reason, "reason"))


def reinstate(tx: Transaction, code: str) -> None:
    """Let a blocked or excluded person work again. Their earlier work counts again unless others
    have done it since; the rest is kept as surplus."""
    me = lock_person(tx, code)
    if me.state == PersonState.ERASED:
        raise InputError("A participant whose data was erased cannot rejoin.")
    _set_state(tx, me, PersonState.ACTIVE)
    voided = tx.rows(
        select(slot)
        .join(item, item.c.id == slot.c.item_id)
        .where(slot.c.person_id == me.id, slot.c.state == SlotState.VOID)
        .where(item.c.withdrawn.is_(False))
        .order_by(slot.c.id)
    )
    for row in voided:
        _restore(tx, row)
    tx.log("reinstated", me.id)


def _restore(tx: Transaction, row: Record) -> None:
    values: dict[str, Any] = {"state": SlotState.DONE}
    if row.answer_id is None:
        values = {"state": SlotState.LEASED if row.place is None else SlotState.LAPSED}
    elif row.place is not None:
        place = take_place(tx, row)
        values = {"state": SlotState.SURPLUS} if place is None else {**values, "place": place}
    tx.run(CHANGE, slot=row.id, **values)
    if row.kind == ItemKind.WRITE and row.answer_id and values["state"] is SlotState.DONE:
        offer_again(tx, row)


def reject(tx: Transaction, task: str, reason: str | None = None) -> None:
    """Reject one rewrite or rating: it is void (but kept), others will do it again, and it is not
    paid. The ratings of a rejected rewrite are void too."""
    row = _given(tx, task)
    if row.state not in FINISHED or row.purpose != Purpose.ITEM:
        raise InputError("Only a submitted rewrite or rating can be rejected.")
    for made in written_in(tx, row):
        withdraw(tx, made.id)
    reopen(tx, [row], SlotState.REJECTED)
    tx.log("rejected", row.person_id, _clean(reason, "reason"))


def accept(tx: Transaction, task: str) -> None:
    """Take back a rejection. The work counts again unless others have done it since."""
    row = _given(tx, task)
    if row.state != SlotState.REJECTED:
        raise InputError("This was not rejected.")
    of = tx.one(select(item.c.withdrawn).where(item.c.id == row.item_id))
    by = tx.one(select(person.c.state).where(person.c.id == row.person_id))
    if of.withdrawn or by.state == PersonState.EXCLUDED or row.answer_id is None:
        tx.run(CHANGE, slot=row.id, state=SlotState.VOID)
    else:
        _restore(tx, row)
    tx.log("accepted", row.person_id)


def _given(tx: Transaction, task: str) -> Record:
    found = select(slot).where(slot.c.code == task)
    row = tx.first(tx.locked(found)) if is_code(task) else None
    if row is None:
        raise NotYoursError("There is no such task.")
    return row


def erase(tx: Transaction, code: str, *, ratings: bool = False) -> None:
    """Erase a person's identity: name, panel, background, drafts and id. Their submissions stay,
    under a new id that nobody knows. With ``ratings`` those are deleted as well, and others will
    do them again. This cannot be undone."""
    me = lock_person(tx, code)
    if ratings:
        exclude(tx, code)
        tx.run(update(slot).where(slot.c.person_id == me.id).values(answer_id=None))
        tx.run(delete(answer).where(answer.c.person_id == me.id))
        tx.run(update(item).where(item.c.writer_id == me.id).values(rewrite=None))
    else:
        _void(tx, me, UNFINISHED)
    tx.run(update(slot).where(slot.c.person_id == me.id).values(draft=None))
    tx.run(update(event).where(event.c.person_id == me.id).values(detail=None))
    forgotten = dict.fromkeys(("name", "language", "panel_id", "panel", "background"))
    _change(tx, me, code=new_code(), state=PersonState.ERASED, **forgotten)
    tx.log("erased", me.id)


def _set_state(tx: Transaction, me: Record, state: PersonState) -> None:
    """Set the state of a person; erased people stay erased, even if their ratings are excluded."""
    if me.state != PersonState.ERASED:
        _change(tx, me, state=state)


def _void(tx: Transaction, me: Record, states: tuple[SlotState, ...]) -> None:
    mine = select(slot).where(slot.c.person_id == me.id, slot.c.state.in_(states))
    reopen(tx, tx.rows(tx.locked(mine.order_by(slot.c.id))), SlotState.VOID)
