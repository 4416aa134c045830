"""Run work in several processes, with results in the order of the input.

Every command with ``--jobs`` uses it. A thread reads the input, only a few items ahead of the
results, so that memory does not grow with the input. If a process is lost, all are replaced, and
what they worked on is done again, once.
"""

import gc
import os
import signal
import sys
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from functools import partial
from multiprocessing import get_context, parent_process
from queue import SimpleQueue
from threading import Lock, Semaphore, Thread
from typing import Any, Generic, TypeVar

from parataxis.cli.terminal import ENDINGS, warn
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
    pool = Processes(work, jobs, threads=threads, prepare=prepare, repeats=1)
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
        raise ParataxisError(
            "A process ended unexpectedly twice, the second time with work that was repeated; try "
            "again with fewer jobs."
        ) from error
    finally:
        is_stopped = True
        room.release()
        pool.end()


class Processes(Generic[S, R]):
    """Processes that all do the same work; the arguments are those of :func:`in_order`. If one is
    lost, what was given to them is done again ``repeats`` times, by new ones."""

    def __init__(
        self,
        work: Callable[[S], R],
        jobs: int,
        *,
        threads: int | None = None,
        prepare: Callable[[], object] | None = None,
        repeats: int = 0,
    ) -> None:
        self._work, self._jobs, self._repeats = work, jobs, repeats
        self._threads = threads or max(1, cores() // jobs)
        self._lock = Lock()
        is_forked = prepare is not None and _CAN_FORK
        with _no_interrupts():  # also in the helper process that Python starts for itself
            if prepare and is_forked:
                prepare()
                gc.collect()
                gc.freeze()  # a collection would write to the shared pages, and so copy them
            self._pool = self._new(is_forked=is_forked)
            if is_forked:  # all of them now, while there is only one thread
                self._pool.submit(bool)
                gc.unfreeze()

    def _new(self, *, is_forked: bool) -> ProcessPoolExecutor:
        return ProcessPoolExecutor(
            self._jobs,
            get_context("fork" if is_forked else "spawn"),
            initializer=_start_worker,
            initargs=(self._work, self._threads),
        )

    def submit(self, item: S) -> "Future[R]":
        """Give one of them an item. The future raises BrokenProcessPool if a process is lost too
        often."""
        future: Future[R] = Future()
        self._send(item, future, self._repeats)
        return future

    def _send(self, item: S, future: "Future[R]", repeats: int) -> None:
        with self._lock:
            pool = self._pool
        try:
            with _no_interrupts():  # the first item starts the processes, which inherit this
                answer = pool.submit(_work, item)
        except BrokenProcessPool as error:  # it was lost just now, and what it had comes later
            answer = Future()
            answer.set_exception(error)
        answer.add_done_callback(partial(self._take, item, future, repeats, pool))

    def _take(
        self,
        item: S,
        future: "Future[R]",
        repeats: int,
        pool: ProcessPoolExecutor,
        answer: "Future[R]",
    ) -> None:
        if answer.cancelled():
            future.cancel()
        elif (error := answer.exception()) is None:
            future.set_result(answer.result())
        elif not repeats or not isinstance(error, BrokenProcessPool):
            future.set_exception(error)
        else:
            with self._lock:
                if self._pool is pool:  # not a fork: there are other threads by now
                    self._pool = self._new(is_forked=False)
                    warn("A process was lost; it is replaced, and its work is repeated.")
            self._send(item, future, repeats - 1)

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
    # SIGTERM ends a worker as it ends any process. Ctrl-C and SIGHUP come to the whole group, and
    # stay blocked: the parent ends its workers in order.
    if signal.getsignal(signal.SIGTERM) is not signal.SIG_IGN:
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
    if hasattr(signal, "pthread_sigmask"):
        signal.pthread_sigmask(signal.SIG_UNBLOCK, [signal.SIGTERM])
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
