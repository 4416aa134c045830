"""Batches the sentences of concurrent requests: requests for the same task share batches.

A lane is a worker thread with a fair queue. The engine does not know what a task does.
"""

import asyncio
import ctypes
import math
import threading
import time
from collections import Counter, deque
from collections.abc import AsyncIterator, Callable, Hashable, Sequence, Sized
from concurrent.futures import Future
from contextlib import suppress
from typing import Generic, Protocol, TypeVar

from parataxis.errors import ParataxisError, TryLaterError

T = TypeVar("T", bound=Sized)
R = TypeVar("R")
T_contra = TypeVar("T_contra", bound=Sized, contravariant=True)
R_co = TypeVar("R_co", covariant=True)

CHARACTERS = 250
"""Characters of an ordinary item; a batch of longer items holds fewer of them."""
WAIT = 0.003
"""Seconds that a batch waits for other requests if it is not full."""


def _give_back() -> None:
    """Return the memory that is free to the system, where its C library can do that: after long
    sentences it is more than a hundred megabytes."""
    with suppress(AttributeError, OSError, TypeError):
        ctypes.CDLL(None).malloc_trim(0)


_CLOSED = "The service is being stopped; try again later."


class EngineTask(Hashable, Protocol[T_contra, R_co]):
    """A function of a list of items, whose lengths are their characters. Equal tasks share batches;
    the tasks of one lane take turns in its thread."""

    @property
    def lane(self) -> str:
        """The name of the lane."""

    def __call__(self, items: Sequence[T_contra], /) -> Sequence[R_co]:
        """The result of each item, in order."""


class Job(Generic[T, R]):
    """The items of one request and their results."""

    def __init__(self, task: EngineTask[T, R], items: Sequence[T], lane: "_Lane") -> None:
        self.task = task
        self.size = len(items)
        self.futures: deque[Future[R]] = deque(Future() for _ in items)
        self.waiting = deque(zip(items, self.futures, strict=True))
        self.is_dropped = False
        self._lane = lane

    @property
    def is_new(self) -> bool:
        """Whether none of its items has been taken."""
        return len(self.waiting) == self.size

    async def results(self) -> AsyncIterator[R]:
        """Yield the results in order, as they are made. Leaving the loop cancels the rest; raises
        TryLaterError if the engine is closed meanwhile."""
        try:
            while self.futures:  # none is kept, because results can be large
                yield await asyncio.wrap_future(self.futures.popleft())
        except asyncio.CancelledError:
            if self.is_dropped:
                raise TryLaterError(_CLOSED, 1) from None
            raise
        finally:
            self.cancel()

    def cancel(self) -> None:
        """Drop the items that have not been taken."""
        self._lane.drop(self)


class Engine:
    """Creates a lane for each lane name when it is first used. At most ``limit`` items wait, unless
    a single request has more. ``batch`` is the number of items in a full batch. ``note`` is called
    with the lane, the size and the seconds of each batch."""

    def __init__(
        self, limit: int, *, batch: int = 16, note: Callable[[str, int, float], None] | None = None
    ) -> None:
        self._limit, self._batch = limit, batch
        self._note = note or (lambda lane, items, seconds: None)
        self._lanes: dict[str, _Lane] = {}
        self._is_closed = False
        self._lock = threading.Lock()

    def submit(self, task: EngineTask[T, R], items: Sequence[T]) -> Job[T, R]:
        """Queue items; raises TryLaterError if the queue is full."""
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
        return sum(lane.waiting for lane in list(self._lanes.values()))

    def close(self) -> None:
        """Drop the waiting items, accept no more, and end each thread after its current batch."""
        with self._lock:
            self._is_closed = True
            for lane in self._lanes.values():
                lane.stop()
            self._lanes.clear()


AnyJob = Job[Sized, object]
_Entry = tuple[AnyJob, Sized, Future[object]]


class _Lane:
    """A worker thread and its queue of jobs."""

    def __init__(self, name: str, batch: int, note: Callable[[str, int, float], None]) -> None:
        self.waiting = 0
        self._name = name
        self._batch = batch
        self._note = note
        self._jobs: deque[AnyJob] = deque()
        self._changed = threading.Condition()
        self._is_stopped = False
        self._pace = 0.1  # seconds per item, as an exponential moving average
        threading.Thread(target=self._run, name=f"parataxis-{name}", daemon=True).start()

    @property
    def seconds(self) -> int:
        """The estimated seconds until the queue is empty, from 1 to 60."""
        return min(60, max(1, math.ceil(self.waiting * self._pace)))

    def add(self, job: "Job[T, R]") -> None:
        if not job.waiting:
            return
        with self._changed:
            self.waiting += len(job.waiting)
            self._jobs.append(job)  # type: ignore[arg-type]  # its own task gets its own items
            self._changed.notify_all()

    def drop(self, job: "Job[T, R]") -> None:
        """Remove the waiting items of a job from the queue."""
        with self._changed:
            self.waiting -= len(job.waiting)
            left = list(job.waiting)
            job.waiting.clear()
            job.is_dropped = True
            self._jobs = deque(each for each in self._jobs if each.waiting)
        for _, future in left:
            future.cancel()

    def stop(self) -> None:
        """Start no further batch."""
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
                    continue  # all jobs were dropped meanwhile
                task = self._jobs[0].task
                batch = self._take(task)
            if batch:
                begun = time.monotonic()
                self._work(task, batch)
                seconds = time.monotonic() - begun
                self._pace = 0.8 * self._pace + 0.2 * seconds / len(batch)
                self._note(self._name, len(batch), seconds)
                if max(len(item) for _, item, _ in batch) > 2 * CHARACTERS:
                    _give_back()

    def _take(self, task: EngineTask[Sized, object]) -> list[_Entry]:
        """Fill a batch with items of the jobs with this task, in round-robin order. Jobs of other
        tasks come next. While a job is new, no job gets more than a quarter of the batch, so that a
        new client gets its first results quickly."""
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
                size += len(item)
            if job.waiting:
                (turn if given[job] < share else later).append(job)
        self._jobs = deque([*others, *turn, *later])
        return batch

    def _work(self, task: EngineTask[Sized, object], batch: Sequence[_Entry]) -> None:
        try:
            results = task([item for _, item, _ in batch])
            pairs = list(zip(batch, results, strict=True))
        except BaseException as error:  # no error may end the thread
            self._fail(task, batch, error)
            return
        for (_, _, future), result in pairs:
            future.set_result(result)

    def _fail(
        self, task: EngineTask[Sized, object], batch: Sequence[_Entry], error: BaseException
    ) -> None:
        """Report the error to the job that caused it: if there are several, each is retried
        alone."""
        jobs = list(dict.fromkeys(job for job, _, _ in batch))
        if len(jobs) > 1:
            for job in jobs:
                self._work(task, [entry for entry in batch if entry[0] is job])
            return
        if not isinstance(error, ParataxisError):
            # SystemExit would end the waiting thread, and a future cannot carry StopIteration.
            bug = RuntimeError(f"{type(error).__name__}: {error}")
            bug.__cause__, error = error, bug
        for _, _, future in batch:
            future.set_exception(error)
        self.drop(jobs[0])
