"""What writers wrote, as items that others rate: offered, withdrawn, offered again."""

import random
from collections.abc import Mapping, Sequence

from sqlalchemy import delete, insert, select, update

from parataxis.rewrite.record import Rewrite
from parataxis.studies.items import Kind
from parataxis.studies.records import HUMAN, Purpose, Value
from parataxis.studies.store.setup import open_slots, stored_rewrite
from parataxis.studies.store.tables import answer, item, person, slot
from parataxis.studies.store.types import FLAG, REWRITE, PersonState
from parataxis.studies.store.work import RANKS, Record, State, Work
from parataxis.studies.writing import sentences_of

__all__ = ["made_in", "offer", "offer_again", "withdraw"]


def made_in(work: Work, row: Record) -> Sequence[Record]:
    """The item that was written in a slot, where there is one."""
    if row.kind != Kind.WRITE:
        return ()
    return work.rows(select(item).where(item.c.slot_id == row.id, item.c.withdrawn.is_(False)))


def offer(work: Work, row: Record, answers: Mapping[str, Value], answer_id: int) -> None:
    """Make what was written in a slot an item; a flag makes none."""
    if answers.get(FLAG) is not None:
        return
    source = work.rows(select(item).where(item.c.id == row.item_id))[0]
    rewrite = Rewrite(
        source=source.source, simple=sentences_of(str(answers[REWRITE])), splitter=HUMAN
    )
    rank = random.SystemRandom().randrange(RANKS)
    item_id = work.insert(
        item,
        key=f"{source.key}.{answer_id}",
        kind=Kind.RATE,
        purpose=Purpose.ITEM,
        source=source.source,
        rewrite={**stored_rewrite(rewrite), "source_id": source.key},
        rank=rank,
        writer_id=row.person_id,
        slot_id=row.id,
        answer_id=answer_id,
        withdrawn=False,
    )
    wanted = work.study.raters_of_rewrites
    work.run_many(insert(slot), open_slots(item_id, Kind.RATE, wanted, rank, row.person_id))


def withdraw(work: Work, item_id: int) -> None:
    """Take a rewrite out of the study; ratings of it are kept, and void."""
    work.run(update(item).where(item.c.id == item_id).values(withdrawn=True))
    work.run(delete(slot).where(slot.c.item_id == item_id, slot.c.state == State.OPEN))
    work.run(update(slot).where(slot.c.item_id == item_id).values(state=State.VOID))


def offer_again(work: Work, row: Record) -> None:
    """Bring back the rewrite that a slot gave, with the ratings that it had."""
    made = work.first(
        select(item).where(item.c.slot_id == row.id, item.c.answer_id == row.answer_id)
    )
    if made is None:  # it was submitted while the person was out
        said = work.rows(select(answer.c.answers).where(answer.c.id == row.answer_id))[0]
        offer(work, row, said.answers, row.answer_id)
        return
    work.run(update(item).where(item.c.id == made.id).values(withdrawn=False))
    free = set(range(1, work.study.raters_of_rewrites + 1))
    rated = work.rows(
        select(slot)
        .join(person, person.c.id == slot.c.person_id)
        .where(slot.c.item_id == made.id, slot.c.answer_id.is_not(None))
        .where(person.c.state != PersonState.EXCLUDED)
        .order_by(slot.c.id)
    )
    for rating in rated:
        state = State.DONE
        if rating.kind == Kind.RATE:
            state = State.DONE if rating.place in free else State.SURPLUS
            free.discard(rating.place)
        work.run(update(slot).where(slot.c.id == rating.id).values(state=state))
    fresh = open_slots(made.id, Kind.RATE, work.study.raters_of_rewrites, made.rank, made.writer_id)
    work.run_many(insert(slot), [each for each in fresh if each["place"] in free])
