"""Run work in several processes, with results in the order of the input.

Every command with ``--jobs`` uses it. A thread reads the input, only a few items ahead of the
results, so that memory does not grow with the input.
"""

import gc
import os
import signal
import sys
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
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
"""On other systems some libraries do not work in a forked process."""

BESIDE_GPU = 2
"""Processes per core when the models are on a GPU: some work while others wait for it."""

_AHEAD = 2  # items read ahead for each process, so that none is idle


def in_order(
    items: Iterable[T],
    work: Callable[[S], R],
    *,
    sent: Callable[[T], S],
    jobs: int,
    threads: int | None = None,
    prepare: Callable[[], object] | None = None,
) -> Iterator[tuple[T, R]]:
    """Yield each item with the result of ``work(sent(item))``, in order. The work is done in
    ``jobs`` processes, each with ``threads`` threads (None: its share of the cores), or in this
    process if ``jobs`` is 1. ``prepare`` loads what ``work`` needs before processes are forked, so
    that they share it; it must not start threads."""
    if jobs == 1:
        for item in items:
            yield item, work(sent(item))
        return
    pool = Processes(work, jobs, threads=threads, prepare=prepare)
    ready: SimpleQueue[tuple[T, Future[R]] | BaseException | None] = SimpleQueue()
    room = Semaphore(_AHEAD * jobs)
    is_stopped = False

    def read() -> None:
        try:
            for item in items:
                ready.put((item, pool.submit(sent(item))))
                room.acquire()
                if is_stopped:
                    return
            ready.put(None)
        except BaseException as error:  # raised where the results are awaited
            ready.put(error)

    # A daemon, because nothing can wake it while it waits for input.
    reader = Thread(target=read, daemon=True)
    try:
        with _no_interrupts():
            reader.start()
        while (found := ready.get()) is not None:
            if isinstance(found, BaseException):
                raise found
            item, future = found
            result = future.result()
            room.release()
            yield item, result
    except BrokenProcessPool as error:
        raise ParataxisError("A process ended unexpectedly; try again with fewer jobs.") from error
    finally:
        is_stopped = True
        room.release()
        pool.end()


class Processes(Generic[S, R]):
    """Processes that all do the same work; the arguments are those of :func:`in_order`."""

    def __init__(
        self,
        work: Callable[[S], R],
        jobs: int,
        *,
        threads: int | None = None,
        prepare: Callable[[], object] | None = None,
    ) -> None:
        is_forked = prepare is not None and _CAN_FORK
        with _no_interrupts():  # also in the helper process that Python starts for itself
            if prepare and is_forked:
                prepare()
                gc.collect()
                gc.freeze()  # a collection would write to the shared pages, and so copy them
            self._pool = ProcessPoolExecutor(
                jobs,
                get_context("fork" if is_forked else "spawn"),
                initializer=_start_worker,
                initargs=(work, threads or max(1, cores() // jobs)),
            )
            if is_forked:  # all of them now, while there is only one thread
                self._pool.submit(bool)
                gc.unfreeze()

    def submit(self, item: S) -> "Future[R]":
        """Give one of them an item. The future raises BrokenProcessPool if a process is lost."""
        with _no_interrupts():  # the first item starts the processes, which inherit this
            return self._pool.submit(_work, item)

    def end(self) -> None:
        """End them after their current items; a second Ctrl-C ends them at once. Python would wait
        forever otherwise: it takes an interrupted wait for a finished one, and then closes the
        queue over which they are asked to end."""
        processes = list((self._pool._processes or {}).values())  # Python 3.14: terminate_workers
        try:
            self._pool.shutdown(wait=True, cancel_futures=True)
        except BaseException:
            for process in processes:
                process.terminate()
            raise


@contextmanager
def _no_interrupts() -> Iterator[None]:
    """Block Ctrl-C and the signals treated like it. Processes started meanwhile inherit that and
    leave Ctrl-C to their parent, which ends them in order; the parent gets it afterwards."""
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
    # Signals end a worker as they end any process, whatever its parent does with them.
    for number in ENDINGS:
        if signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, signal.SIG_DFL)
    if hasattr(signal, "pthread_sigmask"):
        signal.pthread_sigmask(signal.SIG_UNBLOCK, ENDINGS)
    collect_seldom()
    Thread(target=end_with_parent, daemon=True).start()


def collect_seldom() -> None:
    """Collect garbage less often, and not in what is loaded: rewrites are many small objects
    without cycles, and collecting took a quarter of the time of composing and checking."""
    gc.freeze()
    gc.set_threshold(100_000, 50, 100)


def end_with_parent() -> None:
    """End this process when its parent was killed and could not end it."""
    parent = parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)


def _work(item: Any) -> Any:
    if _own_work is None:
        raise RuntimeError("a worker was given an item before its work")
    return _own_work(item)
