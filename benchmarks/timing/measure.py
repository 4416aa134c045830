"""Times systems in rounds: each system runs once in every round, so that other load on the machine
affects all of them, and the median over the rounds is reported."""

import statistics
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from timing.sentences import WARM_UP, Item

__all__ = ["Runs", "System", "measure", "rounds_of", "seconds"]


@dataclass(frozen=True)
class Runs:
    """How a started system runs, on one sentence and on many."""

    one: Callable[[Item], object]
    many: Callable[[Sequence[Item]], object]


@dataclass
class System:
    """Something to be timed. ``few`` are the sentences it is run on one at a time, ``items`` those
    it is run on in batches; ``start`` makes it anew for every round, so that nothing is cached.
    """

    name: str
    beam: int | None
    few: Sequence[Item]
    items: Sequence[Item]
    start: Callable[[], Runs]
    latencies: list[list[float]] = field(default_factory=list)
    """Seconds of each sentence alone, for each round."""
    totals: list[float] = field(default_factory=list)
    """Seconds of all sentences in batches, for each round."""

    @property
    def label(self) -> str:
        return self.name if self.beam is None else f"{self.name}, beam {self.beam}"

    def round(self) -> None:
        """Run once, after a sentence to warm up."""
        print(f"{self.label} ...", file=sys.stderr, flush=True)
        runs = self.start()
        runs.one(WARM_UP)
        self.latencies.append([seconds(runs.one, item) for item in self.few])
        runs = self.start()
        runs.many([WARM_UP] * 2)
        self.totals.append(seconds(runs.many, self.items))

    @property
    def alone(self) -> float:
        """Sentences a second, one at a time."""
        return len(self.few) / statistics.median(map(sum, self.latencies))

    @property
    def batched(self) -> float:
        """Sentences a second, in batches."""
        return len(self.items) / statistics.median(self.totals)

    def quantile(self, share: float) -> float:
        """The quantile of the latency of single sentences, in milliseconds."""
        each: list[float] = sorted(
            statistics.median(times) for times in zip(*self.latencies, strict=True)
        )
        return 1000.0 * each[min(len(each) - 1, int(share * len(each)))]

    def figures(self) -> dict[str, object]:
        """The measurements as they are recorded."""
        return {
            "name": self.name,
            "beam": self.beam,
            "sentences": len(self.items),
            "alone": self.alone,
            "p50": self.quantile(0.5),
            "p95": self.quantile(0.95),
            "batched": self.batched,
        }


def rounds_of(own: System, other: System, way: str) -> list[float]:
    """For each round, how many times the speed of another system one has; ``way`` is "alone" or
    "batched"."""
    if way == "alone":
        mine = [len(own.few) / sum(each) for each in own.latencies]
        theirs = [len(other.few) / sum(each) for each in other.latencies]
    else:
        mine = [len(own.items) / each for each in own.totals]
        theirs = [len(other.items) / each for each in other.totals]
    return [a / b for a, b in zip(mine, theirs, strict=True)]


def measure(systems: Sequence[System], rounds: int) -> None:
    """Run all systems, round by round."""
    for _ in range(rounds):
        for system in systems:
            system.round()


def seconds(run: Callable[..., object], *arguments: object) -> float:
    """How long a call takes."""
    start = time.perf_counter()
    run(*arguments)
    return time.perf_counter() - start
