"""Where a person stands in a study."""

from typing import Any

from sqlalchemy import Select, select

from parataxis.studies.items import Kind
from parataxis.studies.records import Purpose
from parataxis.studies.store.assign import (
    KINDS,
    Tally,
    barred,
    may_do_more,
    qualified_so_far,
    qualifying,
    tally_of,
)
from parataxis.studies.store.slots import HAD
from parataxis.studies.store.submit import last_submission
from parataxis.studies.store.tables import slot
from parataxis.studies.store.types import Progress, Stage, UndoError
from parataxis.studies.store.work import FINISHED, Record, State, Work, task_kind
from parataxis.studies.study import Role

__all__ = ["progress"]

_STAGES = {Purpose.TRAINING.value: Stage.TRAINING, Purpose.TEST.value: Stage.TEST}


def progress(work: Work, me: Record) -> Progress:
    """Where the person stands."""
    tally = tally_of(work, me.id)
    study = work.study
    training, test, attempts = (0, 0), (0, 0), 1
    if study.qualification:
        attempts = study.qualification.attempts
        training = qualified_so_far(work, me, Purpose.TRAINING, 1)
        test = qualified_so_far(work, me, Purpose.TEST, me.attempt)
    done = {Kind.WRITE: 0, Kind.RATE: 0}
    for (kind, purpose, state), count in tally.items():
        if state in FINISHED and purpose not in (Purpose.TRAINING, Purpose.TEST):
            done[task_kind(kind)] += count
    return Progress(
        stage=_stage(work, me, tally),
        done=done,
        limit={
            Kind.WRITE: study.write.per_person if study.write else None,
            Kind.RATE: study.rate.per_person,
        },
        training=training,
        test=test,
        attempt=me.attempt,
        attempts=attempts,
        surplus=sum(count for (_, _, state), count in tally.items() if state == State.SURPLUS),
        can_undo=_can_undo(work, me),
    )


def _can_undo(work: Work, me: Record) -> bool:
    try:
        last_submission(work, me)
    except UndoError:
        return False
    return True


def _stage(work: Work, me: Record, tally: Tally) -> Stage:
    reason = barred(work, me)
    if reason is not None:
        return reason
    for _, purpose, state in tally:
        if state == State.LEASED:
            return _STAGES.get(purpose, Stage.WORK)
    kinds = [kind for kind in KINDS[Role(me.role)] if may_do_more(work, kind, tally)]
    for kind in kinds:
        if kind == Kind.RATE and (left := qualifying(work, me)) is not None:
            return _STAGES[left]
        if _there_are(work, me, kind, State.OPEN):
            return Stage.WORK
    coming = any(_there_are(work, me, kind, State.LEASED) for kind in kinds)
    coming = coming or (Kind.RATE.value in kinds and _is_being_written(work))
    return Stage.WAITING if coming else Stage.FINISHED


def _there_are(work: Work, me: Record, kind: str, state: State) -> bool:
    """Whether there are such slots that may be the person's, now or later."""
    return work.first(_wanted(kind, (state,)).where(~HAD), me=me.id) is not None


def _is_being_written(work: Work) -> bool:
    """Whether rewrites are still to come."""
    return work.first(_wanted(Kind.WRITE, (State.OPEN, State.LEASED))) is not None


def _wanted(kind: str, states: tuple[State, ...]) -> Select[Any]:
    return (
        select(slot.c.id)
        .where(slot.c.state.in_(states), slot.c.kind == kind, slot.c.place.is_not(None))
        .limit(1)
    )
