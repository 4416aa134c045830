"""One process that owns the GPU, and the processes that use it.

Many processes compose and check rewrites, but only one has the models on the GPU: there is one
copy of the weights, and requests that arrive at about the same time are run in one large batch.
"""

import os
import secrets
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future
from concurrent.futures.process import BrokenProcessPool
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from functools import partial
from multiprocessing import active_children, get_context, parent_process
from multiprocessing.connection import Client, Connection, Listener, wait
from socket import gethostname
from time import monotonic
from typing import Any, Generic, TypeVar

from parataxis.errors import ParataxisError, needs
from parataxis.run.gpu.splitter import Models, PackedResults, Sentences, Sources, part_of_scores
from parataxis.run.pool import Processes, end_with_parent
from parataxis.syntax.onnx import Arrays

S = TypeVar("S")
R = TypeVar("R")

_NICENESS = 5  # how much the priority of client processes is lowered
_EXIT_TIMEOUT = 3.0  # seconds to wait for a process that has closed its connection to exit


def load_models(device: str) -> Models:
    """Load the shipped models on a device of this process."""
    with needs("A GPU needs torch and onnx", "gpu"):
        from parataxis.run.gpu.models import DeviceModels
    return DeviceModels.load(device)


@dataclass(frozen=True)
class Address:
    """Where the process with the models listens, and the key it asks for."""

    place: str | tuple[str, int]
    key: bytes


@contextmanager
def served(device: str) -> Iterator[Address]:
    """Run a process with the models on a device for the duration of the context."""
    context = get_context("spawn")
    here, there = context.Pipe()
    process = context.Process(target=_serve, args=(device, there), daemon=True)
    process.start()
    there.close()
    try:
        try:
            answer = here.recv()
        except EOFError:
            answer = "it ended before it was ready"
        if not isinstance(answer, Address):
            raise ParataxisError(f"The models could not be put on {device}: {answer}")
        yield answer
    finally:
        process.terminate()
        process.join()
        here.close()


class RemoteModels:
    """The models in the process that owns the GPU; a pickled copy opens its own connection. A
    client process of a pool lowers its own priority: where there are more of them than cores, the
    process that owns the GPU would otherwise wait for a core while the GPU is idle."""

    def __init__(self, address: Address) -> None:
        self._address = address
        self._connection: Any = None
        self._lock = threading.Lock()

    def __reduce__(self) -> tuple[type, tuple[Address]]:
        return RemoteModels, (self._address,)

    def analyse(self, parts: Sequence[Sentences]) -> list[Arrays]:
        found: list[Arrays] = self._request(_ANALYSE, parts)
        return found

    def search(self, parts: Sequence[Sources], beam: int) -> list[PackedResults]:
        found: list[PackedResults] = self._request(beam, parts)
        return found

    def _request(self, kind: int, parts: Sequence[object]) -> Any:
        try:
            with self._lock:
                if self._connection is None:
                    self._connection = Client(self._address.place, authkey=self._address.key)
                    if parent_process() is not None and hasattr(os, "nice"):
                        os.nice(_NICENESS)
                connection, self._connection = self._connection, None
                connection.send((kind, parts))
                error, answer = connection.recv()
                # After an interrupt in between, the connection is not reused: the answer to the
                # interrupted request may still arrive on it.
                self._connection = connection
        except (EOFError, OSError) as gone:
            raise ParataxisError(
                "The process with the GPU has ended; its message stands above."
            ) from gone
        if error:
            raise ParataxisError(f"The process with the GPU failed: {error}")
        return answer


class Machine(Generic[S, R]):
    """A GPU and ``jobs`` processes that use it, for an actor of a cluster that gets single batches.

    ``work`` takes the models and returns the function that is applied to each item. The processes
    start with the first item. Several threads may call a machine; each waits for its own items.

    If one of the processes is lost, this process exits together with all of them: the cluster then
    treats the actor as lost and sends its batches to others.
    """

    def __init__(self, work: Callable[[Models], Callable[[S], R]], device: str, jobs: int) -> None:
        self._work, self._device, self._jobs = work, device, jobs
        self._lock = threading.Lock()
        self._held = ExitStack()
        self._processes: Processes[S, R] | None = None
        self._sentinels: list[int] = []

    def __call__(self, *items: S) -> list[R]:
        """Work on items in parallel; the results are in the same order."""
        processes = self._started()
        try:
            return [future.result() for future in [processes.submit(item) for item in items]]
        except BrokenProcessPool:
            os._exit(1)
        except ParataxisError:
            if wait(self._sentinels, timeout=_EXIT_TIMEOUT):
                os._exit(1)
            raise

    def _started(self) -> Processes[S, R]:
        with self._lock:
            if self._processes is None:
                try:
                    models = RemoteModels(self._held.enter_context(served(self._device)))
                except ParataxisError as error:
                    raise ParataxisError(f"On {gethostname()}: {error}") from error
                self._sentinels = [process.sentinel for process in active_children()]
                self._processes = Processes(self._work(models), self._jobs, threads=1)
            return self._processes


# The code below runs in the process that owns the GPU.

_ANALYSE = 0  # the kind of a request to analyse; any other kind is the beam of a search

_LONGEST_WAIT = 1.0  # seconds after which a request of an unusual width goes before all others

_Part = Sentences | Sources
_Work = Callable[[int, Sequence[Any]], Sequence[object]]
"""Does one kind of work on parts of one width; the result of each part."""


def _serve(device: str, parent: Connection) -> None:
    """Answer requests until the parent process terminates this one or exits."""
    try:
        models = load_models(device)
        key = secrets.token_bytes(32)
        listener = Listener(authkey=key)
    except (ParataxisError, OSError) as error:
        parent.send(str(error))
        return
    threading.Thread(target=end_with_parent, daemon=True).start()
    trees = _Batcher(partial(_analyse, models), enough=2048, patience=0.01)
    searches = _Batcher(partial(_search, models), enough=4096, patience=0.05)
    threading.Thread(target=trees.run, daemon=True).start()
    threading.Thread(target=_accept, args=(listener, trees, searches), daemon=True).start()
    parent.send(Address(listener.address, key))
    searches.run()


def _analyse(models: Models, kind: int, parts: Sequence[Sentences]) -> list[Arrays]:
    (scores,) = models.analyse([Sentences.together(parts)])
    return [
        part_of_scores(scores, rows, part.words)
        for part, rows in zip(parts, _rows(parts), strict=True)
    ]


def _search(models: Models, beam: int, parts: Sequence[Sources]) -> list[PackedResults]:
    (found,) = models.search([Sources.together(parts)], beam)
    return [found.some(rows) for rows in _rows(parts)]


def _rows(parts: Sequence[_Part]) -> Iterator[slice]:
    """The rows of each part in all parts together."""
    start = 0
    for part in parts:
        yield slice(start, start + len(part))
        start += len(part)


@dataclass(frozen=True)
class _Waiting:
    part: _Part
    result: Future[Any] = field(default_factory=Future)
    since: float = field(default_factory=monotonic)


class _Batcher:
    """Collects the parts of requests for one kind of work, and runs those of one width together. A
    batch runs when ``enough`` sentences wait, or one part has waited for ``patience`` seconds. The
    width with most sentences comes first, unless a part has waited for too long; ``enough`` is also
    the most that runs at once."""

    def __init__(self, work: _Work, *, enough: int, patience: float) -> None:
        self._work, self._enough, self._patience = work, enough, patience
        self._waiting: dict[tuple[int, int], list[_Waiting]] = {}
        self._changed = threading.Condition()

    def put(self, kind: int, parts: Sequence[_Part]) -> list[Future[Any]]:
        """Add the parts of a request; their results come later."""
        added = [_Waiting(part) for part in parts]
        with self._changed:
            for each in added:
                self._waiting.setdefault((kind, each.part.width), []).append(each)
            self._changed.notify()
        return [each.result for each in added]

    def run(self) -> None:
        """Work forever; an error is passed to the clients whose parts it concerns."""
        while True:
            kind, batch = self._next()
            try:
                results = list(self._work(kind, [each.part for each in batch]))
            except Exception as error:
                for each in batch:
                    each.result.set_exception(error)
            else:
                for each, result in zip(batch, results, strict=True):
                    each.result.set_result(result)

    def _next(self) -> tuple[int, list[_Waiting]]:
        with self._changed:
            while (seconds := self._to_wait()) is None or seconds > 0:
                self._changed.wait(seconds)
            key = min(self._waiting, key=self._since)
            if monotonic() - self._since(key) < _LONGEST_WAIT:
                key = max(self._waiting, key=self._count)
            waiting = self._waiting.pop(key)
            batch = [waiting.pop(0)]
            count = len(batch[0].part)
            while waiting and count + len(waiting[0].part) <= self._enough:
                count += len(waiting[0].part)
                batch.append(waiting.pop(0))
            if waiting:
                self._waiting[key] = waiting
            return key[0], batch

    def _to_wait(self) -> float | None:
        """How many seconds to wait for more; None where nothing waits yet."""
        if not self._waiting:
            return None
        if max(map(self._count, self._waiting)) >= self._enough:
            return 0.0
        return min(map(self._since, self._waiting)) + self._patience - monotonic()

    def _since(self, key: tuple[int, int]) -> float:
        return self._waiting[key][0].since

    def _count(self, key: tuple[int, int]) -> int:
        return sum(len(each.part) for each in self._waiting[key])


def _accept(listener: Listener, trees: _Batcher, searches: _Batcher) -> None:
    while True:
        try:
            connection = listener.accept()
        except Exception:  # a client without the key
            continue
        threading.Thread(target=_listen, args=(connection, trees, searches), daemon=True).start()


def _listen(connection: Any, trees: _Batcher, searches: _Batcher) -> None:
    """Answer the requests of one client: with the error, if any, and the results."""
    try:
        while True:
            kind, parts = connection.recv()
            batcher = trees if kind == _ANALYSE else searches
            answer: tuple[str, list[object] | None]
            try:
                answer = "", [result.result() for result in batcher.put(kind, parts)]
            except Exception as error:
                answer = f"{type(error).__name__}: {error}", None
            connection.send(answer)
    except (EOFError, OSError):
        return
