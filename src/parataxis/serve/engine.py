"""Sentences of many requests, worked off together: requests for the same thing share batches.

A lane is one thread with a queue. Nothing here knows what is done with the sentences.
"""

import asyncio
import math
import threading
import time
from collections import Counter, deque
from collections.abc import AsyncIterator, Callable, Hashable, Sequence
from concurrent.futures import Future
from typing import Generic, Protocol, TypeVar

from parataxis.errors import ParataxisError, TryLaterError

T = TypeVar("T")
R = TypeVar("R")
T_contra = TypeVar("T_contra", contravariant=True)
R_co = TypeVar("R_co", covariant=True)

CHARACTERS = 250
"""Of an ordinary item; a batch of longer ones has fewer."""
WAIT = 0.003
"""Seconds for which a batch that is not full waits for other requests."""

_CLOSED = "The service is being stopped; try again later."


class EngineTask(Hashable, Protocol[T_contra, R_co]):
    """What is done with items, in order. Equal tasks share batches; those of one lane take turns
    in one thread."""

    @property
    def lane(self) -> str:
        """The name of the lane."""

    def size(self, item: T_contra, /) -> int:
        """How many characters an item has."""

    def __call__(self, items: Sequence[T_contra], /) -> Sequence[R_co]:
        """The results of the items."""


class Job(Generic[T, R]):
    """The items of one request and what comes of them."""

    def __init__(self, task: EngineTask[T, R], items: Sequence[T], lane: "_Lane") -> None:
        self.task = task
        self.futures: list[Future[R]] = [Future() for _ in items]
        self.waiting = deque(zip(items, self.futures, strict=True))
        self.is_dropped = False
        self._lane = lane

    @property
    def is_new(self) -> bool:
        """Whether nothing of it has begun."""
        return len(self.waiting) == len(self.futures)

    async def results(self) -> AsyncIterator[R]:
        """The results, in order, as they are made. What is left is dropped where nobody waits for
        it any more; TryLaterError where somebody does, but the engine is closed."""
        try:
            for future in self.futures:
                yield await asyncio.wrap_future(future)
        except asyncio.CancelledError:
            if self.is_dropped:
                raise TryLaterError(_CLOSED, 1) from None
            raise
        finally:
            self.cancel()

    def cancel(self) -> None:
        """Leave what has not begun undone."""
        self._lane.drop(self)


class Engine:
    """The lanes, each made when it is first needed. At most ``limit`` items wait, unless they are
    all of one request. A ``batch`` of so many items should use all cores, and be done soon.
    ``note`` is told the lane, size and seconds of each batch."""

    def __init__(
        self,
        limit: int,
        *,
        batch: int = 16,
        note: Callable[[str, int, float], None] | None = None,
    ) -> None:
        self._limit = limit
        self._batch = batch
        self._note = note or (lambda lane, items, seconds: None)
        self._lanes: dict[str, _Lane] = {}
        self._is_closed = False
        self._lock = threading.Lock()

    def submit(self, task: EngineTask[T, R], items: Sequence[T]) -> Job[T, R]:
        """Queue items; TryLaterError where there is no room."""
        with self._lock:
            if self._is_closed:
                raise TryLaterError(_CLOSED, 1)
            waiting = self.waiting
            lane = self._lanes.get(task.lane)
            if waiting and waiting + len(items) > self._limit:
                seconds = lane.seconds if lane else 1
                raise TryLaterError(f"The service is busy; try again in {seconds} s.", seconds)
            if lane is None:
                lane = self._lanes[task.lane] = _Lane(task.lane, self._batch, self._note)
            job = Job(task, items, lane)
            lane.add(job)
            return job

    @property
    def waiting(self) -> int:
        """How many items wait."""
        return sum(lane.waiting for lane in list(self._lanes.values()))

    def close(self) -> None:
        """Drop what waits, take no more, and end the threads when they have done what they have
        begun."""
        with self._lock:
            self._is_closed = True
            for lane in self._lanes.values():
                lane.stop()
            self._lanes.clear()


AnyJob = Job[object, object]
_Entry = tuple[AnyJob, object, Future[object]]


class _Lane:
    """A thread, and the jobs that wait for it."""

    def __init__(self, name: str, batch: int, note: Callable[[str, int, float], None]) -> None:
        self.waiting = 0
        self._name = name
        self._batch = batch
        self._note = note
        self._jobs: deque[AnyJob] = deque()
        self._changed = threading.Condition()
        self._is_stopped = False
        self._pace = 0.1  # seconds that an item takes, of late
        threading.Thread(target=self._run, name=f"parataxis-{name}", daemon=True).start()

    @property
    def seconds(self) -> int:
        """How long it takes until all that waits is done, about; from one second to a minute."""
        return min(60, max(1, math.ceil(self.waiting * self._pace)))

    def add(self, job: "Job[T, R]") -> None:
        """Queue a job."""
        if not job.waiting:
            return
        with self._changed:
            self.waiting += len(job.waiting)
            self._jobs.append(job)  # type: ignore[arg-type]  # its own task gets its own items
            self._changed.notify_all()

    def drop(self, job: "Job[T, R]") -> None:
        """Take what has not begun of a job out of the queue."""
        with self._changed:
            self.waiting -= len(job.waiting)
            left = list(job.waiting)
            job.waiting.clear()
            job.is_dropped = True
            self._jobs = deque(each for each in self._jobs if each.waiting)
        for _, future in left:
            future.cancel()

    def stop(self) -> None:
        """Begin nothing more."""
        with self._changed:
            self._is_stopped = True
            jobs = list(self._jobs)
            self._changed.notify_all()
        for job in jobs:
            self.drop(job)

    def _run(self) -> None:
        while True:
            with self._changed:
                self._changed.wait_for(lambda: self._jobs or self._is_stopped)
                self._changed.wait_for(
                    lambda: self.waiting >= self._batch or self._is_stopped, WAIT
                )
                if self._is_stopped:
                    return
                if not self._jobs:
                    continue  # they were dropped meanwhile
                task = self._jobs[0].task
                batch = self._take(task)
            if batch:
                begun = time.monotonic()
                self._work(task, batch)
                seconds = time.monotonic() - begun
                self._pace = 0.8 * self._pace + 0.2 * seconds / len(batch)
                self._note(self._name, len(batch), seconds)

    def _take(self, task: EngineTask[object, object]) -> list[_Entry]:
        """One item of each job with the task, in turn, and again until the batch is full. Whoever
        had no turn is the first at the next batch, and another task comes before this one. Where
        a job is new, nobody gets more than a quarter: who has just come sees something soon."""
        turn = deque(job for job in self._jobs if job.task == task)
        others = [job for job in self._jobs if job.task != task]
        share = max(1, self._batch // 4) if any(job.is_new for job in turn) else self._batch
        given: Counter[AnyJob] = Counter()
        later: list[AnyJob] = []
        batch: list[_Entry] = []
        size = 0
        while turn and len(batch) < self._batch and size < CHARACTERS * self._batch:
            job = turn.popleft()
            item, future = job.waiting.popleft()
            self.waiting -= 1
            given[job] += 1
            if future.set_running_or_notify_cancel():
                batch.append((job, item, future))
                size += task.size(item)
            if job.waiting:
                (turn if given[job] < share else later).append(job)
        self._jobs = deque([*others, *turn, *later])
        return batch

    def _work(self, task: EngineTask[object, object], batch: Sequence[_Entry]) -> None:
        try:
            results = task([item for _, item, _ in batch])
            pairs = list(zip(batch, results, strict=True))
        except BaseException as error:  # whatever it is, it must not end the thread
            self._fail(task, batch, error)
            return
        for (_, _, future), result in pairs:
            future.set_result(result)

    def _fail(
        self, task: EngineTask[object, object], batch: Sequence[_Entry], error: BaseException
    ) -> None:
        """Tell the job whose error it is, and no other: where there are several, each tries
        alone."""
        jobs = list(dict.fromkeys(job for job, _, _ in batch))
        if len(jobs) > 1:
            for job in jobs:
                self._work(task, [entry for entry in batch if entry[0] is job])
            return
        if not isinstance(error, ParataxisError):
            # SystemExit would end whoever waits for it, and StopIteration never arrives.
            bug = RuntimeError(f"{type(error).__name__}: {error}")
            bug.__cause__, error = error, bug
        for _, _, future in batch:
            future.set_exception(error)
        self.drop(jobs[0])
