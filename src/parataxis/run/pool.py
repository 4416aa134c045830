"""A process pool that returns results in input order, for all commands with ``--jobs``.

A thread reads the input a few items ahead of the results, so memory use is bounded. If a worker
process dies, the pool is replaced and the items in progress are retried once.
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
"""On other systems some libraries do not survive a fork."""

BESIDE_GPU = 2
"""Processes per core when the models are on a GPU: some compute while others wait for the GPU."""

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
    """Yield each item with the result of ``work(sent(item))``, in order, using ``jobs`` processes
    with ``threads`` threads each (None: an equal share of the cores), or this process if ``jobs``
    is 1. ``prepare`` loads what ``work`` needs before the processes are forked, so that they share
    its memory; it must not start threads."""
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
        except BaseException as error:  # raised again in the consumer
            ready.put(error)

    # A daemon, because it cannot be interrupted while it waits for input.
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
            "A worker process died again while its work was retried; try fewer jobs."
        ) from error
    finally:
        is_stopped = True
        room.release()
        pool.end()


class Processes(Generic[S, R]):
    """A pool of processes for one function; the arguments are those of :func:`in_order`. If a
    process dies, the pool is replaced and its items are retried up to ``repeats`` times."""

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
        with _no_interrupts():  # inherited by Python's helper process too
            if prepare and is_forked:
                prepare()
                gc.collect()
                gc.freeze()  # a collection would write to the shared pages and so copy them
            self._pool = self._new(is_forked=is_forked)
            if is_forked:  # fork them all now, while there is only one thread
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
        """Submit an item. The future raises BrokenProcessPool when there are no retries left."""
        future: Future[R] = Future()
        self._send(item, future, self._repeats)
        return future

    def _send(self, item: S, future: "Future[R]", repeats: int) -> None:
        with self._lock:
            pool = self._pool
        try:
            with _no_interrupts():  # the first item starts the processes, which inherit the mask
                answer = pool.submit(_work, item)
        except BrokenProcessPool as error:  # it broke just now; retried below
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
                if self._pool is pool:  # spawned: other threads are running by now
                    self._pool = self._new(is_forked=False)
                    warn("A worker process died; it is replaced, and its work is retried.")
            self._send(item, future, repeats - 1)

    def end(self) -> None:
        """Shut down after the current items; on a second Ctrl-C, at once. Python treats an
        interrupted shutdown as finished and closes the queue that stops the workers, so they would
        never end otherwise."""
        processes = list((self._pool._processes or {}).values())  # Python 3.14: terminate_workers
        try:
            self._pool.shutdown(wait=True, cancel_futures=True)
        except BaseException:
            for process in processes:
                process.terminate()
            raise


@contextmanager
def _no_interrupts() -> Iterator[None]:
    """Block Ctrl-C, SIGTERM and SIGHUP. Processes started meanwhile inherit the mask and leave
    these signals to their parent, which receives them afterwards."""
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
    global _own_work  # one function per worker process
    os.environ.setdefault(THREADS_VARIABLE, str(threads))
    _own_work = work
    # SIGTERM terminates a worker. Ctrl-C and SIGHUP are sent to the whole process group and stay
    # blocked, because the parent shuts its workers down.
    if signal.getsignal(signal.SIGTERM) is not signal.SIG_IGN:
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
    if hasattr(signal, "pthread_sigmask"):
        signal.pthread_sigmask(signal.SIG_UNBLOCK, [signal.SIGTERM])
    collect_seldom()
    Thread(target=end_with_parent, daemon=True).start()


def collect_seldom() -> None:
    """Run the garbage collector less often, and not over loaded modules and models. Rewrites are
    many small objects without cycles; collection took a quarter of the time of composing and
    checking."""
    gc.freeze()
    gc.set_threshold(100_000, 50, 100)


def end_with_parent() -> None:
    """Exit when the parent process is gone, because it was killed and could not shut this one
    down."""
    parent = parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)


def _work(item: Any) -> Any:
    if _own_work is None:
        raise RuntimeError("a worker got an item before it was started")
    return _own_work(item)
