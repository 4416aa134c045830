"""Speed of a study's database, with 20,000 slots and 200 people.

Prints milliseconds for each call made by one person at a time, then submissions per second with
many threads, then the size of the database. It uses a temporary SQLite file, or the empty database
given by ``--url postgresql://...``.
"""

import argparse
import os
import random
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from statistics import mean, quantiles
from typing import TypeVar

from parataxis.rewrite.record import Rewrite
from parataxis.studies.items import Item
from parataxis.studies.store import Store
from parataxis.studies.study import Rate, Study

ANSWERS = {
    "sensical": 5,
    "grammatical": 4,
    "misses": False,
    "new": False,
    "wrong": True,
    "more": False,
}


def items(count: int) -> list[Item]:
    """Pairs of a typical length."""
    found = []
    for number in range(count):
        source = f"The bridge number {number}, which was opened in 1931, crosses the river. " * 2
        simple = (f"The bridge number {number} crosses the river.", "It was opened in 1931.") * 2
        rewrite = Rewrite(source=source, simple=simple, splitter="rules")
        found.append(Item(f"item-{number}", source, rewrite))
    return found


T = TypeVar("T")


class Times:
    """Milliseconds of calls by kind: wall-clock time, and CPU time of this process."""

    def __init__(self) -> None:
        self.found: dict[str, list[float]] = {}
        self.work: dict[str, list[float]] = {}

    def run(self, what: str, work: Callable[..., T], *arguments: object) -> T:
        """Call a function and record the time."""
        start, begun = time.perf_counter(), time.process_time()
        result = work(*arguments)
        self.work.setdefault(what, []).append(1000 * (time.process_time() - begun))
        self.found.setdefault(what, []).append(1000 * (time.perf_counter() - start))
        return result

    def print(self) -> None:
        """One line for each kind of call."""
        names = ("calls", "CPU", "mean", "median", "p95", "max")
        print(f"{'milliseconds':24}" + "".join(f"{name:>9}" for name in names))
        for what, times in self.found.items():
            cuts = quantiles(times, n=20) if len(times) > 1 else times * 19
            cpu = mean(self.work.get(what, [float("nan")]))
            figures = (cpu, mean(times), cuts[9], cuts[18], max(times))
            print(f"{what:24}{len(times):9}" + "".join(f"{each:9.2f}" for each in figures))


@contextmanager
def database(url: str | None) -> Iterator[str]:
    """The address of an empty database."""
    if url is not None:
        yield url
        return
    with tempfile.TemporaryDirectory() as folder:
        yield str(Path(folder) / "study.db")


def fsync_milliseconds(folder: str) -> float:
    """The time to write 4 kB to disk, which is a lower bound for any store."""
    path = Path(folder) / "fsync"
    handle = os.open(path, os.O_CREAT | os.O_WRONLY)
    times = Times()
    for _ in range(200):
        os.write(handle, b"x" * 4096)
        times.run("fsync", os.fsync, handle)
    os.close(handle)
    path.unlink()
    return quantiles(times.found["fsync"], n=2)[0]


_STEADY = 20
"""People who work without a break."""


def main() -> None:
    """Run the benchmark."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--url")
    parser.add_argument("--items", type=int, default=6667)
    parser.add_argument("--raters", type=int, default=3)
    parser.add_argument("--people", type=int, default=200)
    parser.add_argument("--calls", type=int, default=2000, help="tasks done one after the other")
    parser.add_argument("--threads", type=int, default=40)
    parser.add_argument("--each", type=int, default=10, help="tasks of each person at once")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        print(f"fsync of 4 kB: {fsync_milliseconds(folder):.2f} ms (median)")
    times = Times()
    with database(options.url) as url, Store.open(url) as store:
        study = Study(rubric="six-criteria", rate=Rate(raters=options.raters))
        some = items(options.items)
        slots = options.items * options.raters
        times.run(f"create {slots} slots", store.create, study, some)
        people = [person.id for person in store.invite(options.people)]
        chance = random.Random(1)
        for _ in range(options.calls):
            person = chance.choice(people[_STEADY:])
            task = times.run("next_task (new)", store.next_task, person)
            times.run("save_draft", store.save_draft, person, task.slot, ANSWERS)
            times.run("next_task (held)", store.next_task, person)
            times.run("submit", store.submit, person, task.slot, ANSWERS, 20.0)
            times.run("progress", store.progress, person)
        held = {person: store.next_task(person).slot for person in people[:_STEADY]}
        for _ in range(options.calls):  # as the pages do it
            person = chance.choice(people[:_STEADY])
            what = person, held[person], lambda _: ANSWERS, 20.0
            _, held[person] = times.run("submit_and_take", store.submit_and_take, *what)
        for _ in range(5):
            times.run("overview", store.overview)
            times.run("export_ratings", store.export_ratings)

        def work(person: str) -> list[float]:
            found: list[float] = []
            task = store.next_task(person)
            slot = task.slot if task else None
            while slot is not None and len(found) < options.each:
                start = time.perf_counter()
                _, slot = store.submit_and_take(person, slot, lambda _: ANSWERS, 20.0)
                found.append(1000 * (time.perf_counter() - start))
            return found

        start = time.perf_counter()
        with ThreadPoolExecutor(options.threads) as pool:
            together = [each for found in pool.map(work, people) for each in found]
        seconds = time.perf_counter() - start
        rate = len(together) / seconds
        times.found[f"submit_and_take, {options.threads} threads"] = together
        times.print()
        print(f"{options.threads} threads at once: {rate:.0f} tasks given and submitted per second")
        ratings = Counter(rating.item for rating in store.export_ratings())
        print(f"ratings: {ratings.total()}; most of one item: {max(ratings.values())}")
        if "://" not in url:
            size = Path(url).stat().st_size / 1e6
            print(f"the file: {size:.1f} MB")


if __name__ == "__main__":
    main()
