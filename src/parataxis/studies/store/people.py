"""Who is in a study: invited by the organiser, or sent by a panel."""

import secrets
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from sqlalchemy import select, update

from parataxis.errors import InputError
from parataxis.studies.records import Value
from parataxis.studies.store.tables import person
from parataxis.studies.store.types import Person, PersonState
from parataxis.studies.store.work import Record, Work, as_person, lock_person, may_be_code
from parataxis.studies.study import Panel, Role

__all__ = ["by_panel", "clean", "consent", "find", "invite", "new_code", "people", "set_background"]

_ALPHABET = "23456789abcdefghjkmnpqrstuvwxyz"  # nothing that looks like something else
_LONGEST = 200
_SEEDS = 2**62


def new_code() -> str:
    """An id drawn by chance; with 31^10 of them nobody guesses one."""
    return "".join(secrets.choice(_ALPHABET) for _ in range(10))


def invite(work: Work, names: Iterable[str | None], role: Role) -> list[Person]:
    """New people."""
    ids = [_new(work, role, name=clean(name, "name")) for name in names]
    return [as_person(_row(work, id_)) for id_ in ids]


def by_panel(work: Work, panel: Panel, parameters: Mapping[str, str]) -> Person:
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


def find(work: Work, code: str) -> Person | None:
    """The person of that id."""
    row = work.first(select(person).where(person.c.code == code)) if may_be_code(code) else None
    return None if row is None else as_person(row)


def people(work: Work) -> list[Person]:
    """Everybody, in the order in which they came."""
    return [as_person(row) for row in work.rows(select(person).order_by(person.c.id))]


def consent(work: Work, code: str, language: str | None) -> None:
    """Note that a person agreed to take part; the first time counts."""
    row = lock_person(work, code)
    values: dict[str, Any] = {"consented_at": row.consented_at or work.now}
    if language is not None:
        values["language"] = clean(language[:16], "language")
    work.run(update(person).where(person.c.id == row.id).values(**values))


def set_background(work: Work, code: str, answers: Mapping[str, Value]) -> None:
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


def _new(work: Work, role: Role, **values: Any) -> int:
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


def _row(work: Work, id_: int) -> Record:
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
