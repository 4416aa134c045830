"""A process that works on a study; the tests start several of them, and kill some."""

import random
import sys
import threading
from contextlib import suppress

from parataxis.studies.store import Store
from parataxis.studies.store.types import Task, UndoError
from parataxis.studies.study import ItemKind


def answers_of(person: str, task: Task) -> dict[str, object]:
    """What this person says about this slot, so that a crossed rating would be seen."""
    answers: dict[str, object] = {"grammatical": 5, "by": person, "slot": task.slot}
    if task.kind is ItemKind.WRITE:
        answers["rewrite"] = f"One by {person}. Two of {task.slot}."
    return answers


def undo(store: Store, person: str) -> None:
    """Take the last submission back and give it again; another tab may have been quicker."""
    with suppress(UndoError):
        again = store.undo(person)
        store.submit(person, again.slot, answers_of(person, again), 1.0)


def work(store: Store, person: str, seed: int) -> None:
    """Do everything there is, with double clicks, drafts, corrections and undoing in between.
    What was acknowledged is said on standard output, after it was."""
    chance = random.Random(seed)
    while (task := store.next_task(person)) is not None:
        answers = answers_of(person, task)
        if chance.random() < 0.2:
            store.save_draft(person, task.slot, answers)
        if chance.random() < 0.5:
            done = store.submit(person, task.slot, answers, 1.0)
        else:
            done, _ = store.submit_and_take(
                person, task.slot, lambda task: answers_of(person, task), 1.0
            )
        sys.stdout.write(f"{person} {task.slot} {task.item.id} {done.state}\n")
        sys.stdout.flush()
        if chance.random() < 0.1:
            store.submit(person, task.slot, answers, 1.0)
        if chance.random() < 0.05:
            undo(store, person)


def main(url: str, *people: str) -> None:
    with Store.open(url) as store:
        threads = [
            threading.Thread(target=work, args=(store, person, number))
            for number, person in enumerate(people)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()


if __name__ == "__main__":
    main(*sys.argv[1:])
