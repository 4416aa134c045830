"""Work in several processes, with results in the order of what was given.

Used by every command that takes ``--jobs``. Input is read in a thread of its own, never more than
a few items ahead of the results, so memory does not grow with the input.
"""

import gc
import os
import signal
import sys
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from dataclasses import dataclass
from multiprocessing import get_context, parent_process
from queue import SimpleQueue
from threading import Semaphore, Thread
from typing import Any, Generic, TypeVar

from parataxis.cli.terminal import ENDINGS
from parataxis.errors import ParataxisError
from parataxis.syntax.onnx import THREADS_VARIABLE, cores

T = TypeVar("T")
S = TypeVar("S")
R = TypeVar("R")

_CAN_FORK = sys.platform == "linux"
"""Elsewhere a process that was forked may not use all libraries of the system."""

BESIDE_GPU = 2
"""Processes for each core where a GPU has the models: while some wait for it, others work."""

_AHEAD = 2
"""Items that wait for each process, so that none is idle."""


def in_order(
    items: Iterable[T],
    work: Callable[[S], R],
    *,
    sent: Callable[[T], S],
    jobs: int,
    threads: int | None = None,
    prepare: Callable[[], object] | None = None,
) -> Iterator[tuple[T, R]]:
    """Each item with what ``work`` makes of it, in order, as it is made.

    ``work``, and what ``sent`` gives of an item, travel to ``jobs`` processes; what ``work`` loads
    on first use is loaded there. With one job it is done here. ``threads`` is how many each
    process uses; None is its share of the cores. ``prepare`` loads here what ``work`` needs, where
    processes can be made that share it; it must start no threads.
    """
    if jobs == 1:
        for item in items:
            yield item, work(sent(item))
        return
    pool = Processes(work, jobs, threads=threads, prepare=prepare)
    waiting: deque[tuple[T, Future[R]]] = deque()
    events: SimpleQueue[_Item[T] | _End | Future[R]] = SimpleQueue()
    reader = _Reader(items, events, ahead=_AHEAD * jobs)
    end: _End | None = None
    try:
        with _no_interrupts():
            reader.start()
        while waiting or end is None:
            match events.get():
                case _End() as end:
                    pass
                case _Item(item):
                    waiting.append((item, pool.submit(sent(item))))
                    waiting[-1][1].add_done_callback(events.put)
            while waiting and waiting[0][1].done():
                done, future = waiting.popleft()
                reader.read_on()
                yield done, future.result()
    except BrokenProcessPool as error:
        raise ParataxisError("A process ended unexpectedly; try again with fewer jobs.") from error
    finally:
        reader.stop()
        pool.end()
    if end.error is not None:
        raise end.error


class Processes(Generic[S, R]):
    """Processes that all do the same work; ``work``, ``threads`` and ``prepare`` are those of
    :func:`in_order`."""

    def __init__(
        self,
        work: Callable[[S], R],
        jobs: int,
        *,
        threads: int | None = None,
        prepare: Callable[[], object] | None = None,
    ) -> None:
        initial = work, threads or max(1, cores() // jobs)
        if prepare and _CAN_FORK:
            self._pool = _forked(jobs, initial, prepare)
        else:
            self._pool = _spawned(jobs, initial)

    def submit(self, item: S) -> "Future[R]":
        """Give one of them something to work on. The future fails with a BrokenProcessPool where a
        process has ended unexpectedly."""
        with _no_interrupts():  # the first item starts the processes, which inherit this
            return self._pool.submit(_work, item)

    def end(self) -> None:
        """End them, once they have finished their current items; a second Ctrl-C ends them now.

        Python would wait for them forever otherwise: it takes an interrupted wait for a finished
        one, and then closes the queue over which they are asked to end.
        """
        processes = list((self._pool._processes or {}).values())  # Python 3.14: terminate_workers
        try:
            self._pool.shutdown(wait=True, cancel_futures=True)
        except BaseException:
            for process in processes:
                process.terminate()
            raise


def _spawned(jobs: int, initial: tuple[Callable[[Any], Any], int]) -> ProcessPoolExecutor:
    """Processes that load for themselves what they need."""
    context = get_context("spawn")
    with _no_interrupts():  # Python starts a process for itself, which is to outlive this one
        return ProcessPoolExecutor(jobs, context, initializer=_start_worker, initargs=initial)


def _forked(
    jobs: int, initial: tuple[Callable[[Any], Any], int], prepare: Callable[[], object]
) -> ProcessPoolExecutor:
    """Processes that share the memory of what was loaded before they were made. All of them are
    made now, while there is one thread only: a fork does not take the others along."""
    with _no_interrupts():
        prepare()
        gc.collect()
        gc.freeze()  # a collection would write to the shared pages, and so copy them
        context = get_context("fork")
        pool = ProcessPoolExecutor(jobs, context, initializer=_start_worker, initargs=initial)
        pool.submit(bool)
        gc.unfreeze()
    return pool


@dataclass(frozen=True)
class _Item(Generic[T]):
    """Something to work on."""

    value: T


@dataclass(frozen=True)
class _End:
    """The end of the input, and the error where it ended too early."""

    error: BaseException | None = None


class _Reader(Thread):
    """Reads items while results are awaited, at most ``ahead`` more than have been given out.

    It is a daemon, because nothing can wake it while it waits for input that does not come.
    """

    def __init__(self, items: Iterable[Any], events: "SimpleQueue[Any]", *, ahead: int) -> None:
        super().__init__(daemon=True)
        self._items = items
        self._events = events
        self._room = Semaphore(ahead)
        self._is_stopped = False

    def run(self) -> None:
        try:
            for item in self._items:
                self._events.put(_Item(item))
                self._room.acquire()
                if self._is_stopped:
                    return
        except BaseException as error:  # to be raised where the results are awaited
            self._events.put(_End(error))
        else:
            self._events.put(_End())

    def read_on(self) -> None:
        """Allow for one item more."""
        self._room.release()

    def stop(self) -> None:
        """Read no more, once the input that is awaited now has come."""
        self._is_stopped = True
        self._room.release()


@contextmanager
def _no_interrupts() -> Iterator[None]:
    """Hold back Ctrl-C, and what a caller may treat like it: processes started now leave Ctrl-C to
    their parent, which ends them in order.

    A blocked signal is inherited and, unlike an ignored one, reaches the parent afterwards.
    """
    if not hasattr(signal, "pthread_sigmask"):  # Windows
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGINT, *ENDINGS])
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


_own_work: Callable[[Any], Any] | None = None


def _start_worker(work: Callable[[Any], Any], threads: int) -> None:
    global _own_work  # a worker process does exactly one kind of work
    os.environ.setdefault(THREADS_VARIABLE, str(threads))
    _own_work = work
    _end_when_told()
    collect_seldom()
    Thread(target=end_with_parent, daemon=True).start()


def _end_when_told() -> None:
    """Let signals end a worker as they end any process, whatever its parent does with them."""
    for number in ENDINGS:
        if signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, signal.SIG_DFL)
    if hasattr(signal, "pthread_sigmask"):
        signal.pthread_sigmask(signal.SIG_UNBLOCK, ENDINGS)


def collect_seldom() -> None:
    """Let Python look for garbage less often, and not at what is loaded: a window of rewrites is
    many small objects without cycles, and looking at them again and again took a quarter of the
    time that composing and checking takes."""
    gc.freeze()
    gc.set_threshold(100_000, 50, 100)


def end_with_parent() -> None:
    """Leave no process behind where the parent was killed and could not end it."""
    parent = parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)


def _work(item: Any) -> Any:
    if _own_work is None:
        raise RuntimeError("a worker was given an item before its work")
    return _own_work(item)
