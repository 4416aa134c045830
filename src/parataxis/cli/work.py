"""The work behind ``split``: batches of units in, their rewrites out, in one process or several."""

import os
import signal
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from multiprocessing import get_context
from queue import SimpleQueue
from threading import Semaphore, Thread
from typing import NamedTuple

from parataxis.api import Splitter
from parataxis.cli.units import Unit
from parataxis.errors import ParataxisError
from parataxis.rewrite.jsonl import SourceLine
from parataxis.rewrite.record import Rewrite
from parataxis.syntax.analysis import Analysis
from parataxis.syntax.onnx import THREADS_VARIABLE
from parataxis.syntax.patterns import Occurrence, find_patterns

__all__ = ["Explained", "Task", "run"]

_AHEAD = 2
"""Batches that wait for each process, so that none is idle."""


class Explained(NamedTuple):
    """A rewrite with the patterns of its source, where they were asked for."""

    rewrite: Rewrite
    patterns: Sequence[Occurrence] | None


@dataclass
class Task:
    """What to do with sentences; it travels to other processes, its splitter does not."""

    splitter: str
    strict: bool = False
    beam: int | None = None
    explain: bool = False
    _loaded: Splitter | None = field(default=None, init=False, repr=False)

    def load(self) -> Splitter:
        """The splitter, made on first use."""
        if self._loaded is None:
            self._loaded = Splitter(
                self.splitter, strict=self.strict, beam=self.beam, check=self.explain
            )
        return self._loaded

    def __call__(self, sentences: Sequence[SourceLine]) -> list[Explained]:
        """Rewrite sentences, in order."""
        rewrites = self.load().pipe(sentence.source for sentence in sentences)
        patterns = self._patterns([sentence.source for sentence in sentences])
        return [
            Explained(rewrite.model_copy(update={"id": sentence.id}), found)
            for sentence, rewrite, found in zip(sentences, rewrites, patterns, strict=True)
        ]

    def _patterns(self, sources: Sequence[str]) -> Iterator[Sequence[Occurrence] | None]:
        if not self.explain:
            yield from [None] * len(sources)
            return
        from parataxis.syntax.analyser import load_analyser

        for analysis in load_analyser().pipe(sources):
            yield find_patterns(analysis) if isinstance(analysis, Analysis) else ()


def run(
    batches: Iterable[Sequence[Unit]], task: Task, *, jobs: int = 1
) -> Iterator[tuple[Unit, list[Explained]]]:
    """Each unit with its rewrites, in order, as they are made."""
    if jobs == 1:
        for batch in batches:
            yield from _deal(batch, task(_sentences(batch)))
        return
    yield from _in_processes(batches, task, jobs)


def _in_processes(
    batches: Iterable[Sequence[Unit]], task: Task, jobs: int
) -> Iterator[tuple[Unit, list[Explained]]]:
    pool = ProcessPoolExecutor(
        jobs,
        mp_context=get_context("spawn"),
        initializer=_start_worker,
        initargs=(replace(task), max(1, (os.cpu_count() or 1) // jobs)),
    )
    waiting: deque[tuple[Sequence[Unit], Future[list[Explained]]]] = deque()
    events: SimpleQueue[_Event] = SimpleQueue()
    reader = _Reader(batches, events, ahead=_AHEAD * jobs)
    end: _End | None = None
    try:
        with _no_interrupts():
            reader.start()
        while waiting or end is None:
            match events.get():
                case _End() as end:
                    pass
                case Future():
                    pass
                case batch:
                    with _no_interrupts():  # the first starts the processes, which inherit this
                        waiting.append((batch, pool.submit(_work, _sentences(batch))))
                    waiting[-1][1].add_done_callback(events.put)
            while waiting and waiting[0][1].done():
                done, future = waiting.popleft()
                reader.read_on()
                yield from _deal(done, future.result())
    except BrokenProcessPool as error:
        raise ParataxisError("A process ended unexpectedly; try again with fewer jobs.") from error
    finally:
        reader.stop()
        pool.shutdown(wait=True, cancel_futures=True)
    if end.error is not None:
        raise end.error


class _End(NamedTuple):
    """The end of the input, and the error where it ended too early."""

    error: BaseException | None = None


_Event = Sequence[Unit] | Future[list[Explained]] | _End


class _Reader(Thread):
    """Reads batches while results are awaited, at most ``ahead`` more than have been written.

    It is a daemon, because nothing can wake it while it waits for input that does not come.
    """

    def __init__(
        self, batches: Iterable[Sequence[Unit]], events: "SimpleQueue[_Event]", *, ahead: int
    ) -> None:
        super().__init__(daemon=True)
        self._batches = batches
        self._events = events
        self._room = Semaphore(ahead)
        self._is_stopped = False

    def run(self) -> None:
        try:
            for batch in self._batches:
                self._events.put(batch)
                self._room.acquire()
                if self._is_stopped:
                    return
        except BaseException as error:  # to be raised where the results are awaited
            self._events.put(_End(error))
        else:
            self._events.put(_End())

    def read_on(self) -> None:
        """Allow for one batch more."""
        self._room.release()

    def stop(self) -> None:
        """Read no more, once the input that is awaited now has come."""
        self._is_stopped = True
        self._room.release()


def _sentences(batch: Sequence[Unit]) -> list[SourceLine]:
    return [sentence for unit in batch for sentence in unit.sentences]


def _deal(
    batch: Sequence[Unit], results: Sequence[Explained]
) -> Iterator[tuple[Unit, list[Explained]]]:
    start = 0
    for unit in batch:
        end = start + len(unit.sentences)
        yield unit, list(results[start:end])
        start = end


_task: Task | None = None


@contextmanager
def _no_interrupts() -> Iterator[None]:
    """Hold Ctrl-C back: processes started now leave it to their parent, which ends them in order.

    A blocked signal is inherited and, unlike an ignored one, reaches the parent afterwards.
    """
    if not hasattr(signal, "pthread_sigmask"):  # Windows
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGINT])
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _start_worker(task: Task, threads: int) -> None:
    global _task  # a worker process has exactly one task
    os.environ.setdefault(THREADS_VARIABLE, str(threads))
    _task = task


def _work(sentences: Sequence[SourceLine]) -> list[Explained]:
    if _task is None:
        raise RuntimeError("a worker was given work before its task")
    return _task(sentences)
