"""One process with the models on a GPU, and those that ask it.

Many processes compose and check rewrites, one owns the GPU: there is one copy of the weights, and
what several ask for at about the same time is worked on in one large batch.
"""

import os
import secrets
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from multiprocessing import get_context, parent_process
from multiprocessing.connection import Client, Connection, Listener
from time import monotonic
from typing import Any

from parataxis.errors import ParataxisError
from parataxis.run.gpu.packed import PackedResults, Sentences, Sources, part_of_scores
from parataxis.run.gpu.splitter import Models
from parataxis.run.pool import end_with_parent
from parataxis.syntax.onnx import Arrays

_LOWER = 5
"""By how much the priority of those who ask is lowered (see nice)."""


def load_models(device: str) -> Models:
    """The shipped models on a device of this process."""
    try:
        from parataxis.run.gpu.models import DeviceModels
    except ImportError as error:
        raise ParataxisError(
            "A GPU needs torch and onnx; install them with: pip install 'parataxis[gpu]'."
        ) from error
    return DeviceModels.load(device)


@dataclass(frozen=True)
class Address:
    """Where the process with the models listens, and what to show it."""

    place: str | tuple[str, int]
    key: bytes


@contextmanager
def served(device: str) -> Iterator[Address]:
    """A process with the models on a device, for as long as the context lasts."""
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
    """The models in the process that has the GPU; made anew wherever it travels to.

    A process of a pool that asks leaves the cores to that one first: where there are more of them
    than cores, the GPU would wait as long as the process that has it.
    """

    def __init__(self, address: Address) -> None:
        self._address = address
        self._connection: Any = None
        self._lock = threading.Lock()

    def __reduce__(self) -> tuple[type, tuple[Address]]:
        return RemoteModels, (self._address,)

    def analyse(self, parts: Sequence[Sentences]) -> list[Arrays]:
        """The analyser's scores."""
        found: list[Arrays] = self._ask(_ANALYSE, parts)
        return found

    def search(self, parts: Sequence[Sources], beam: int) -> list[PackedResults]:
        """Search rewrites."""
        found: list[PackedResults] = self._ask(beam, parts)
        return found

    def _ask(self, kind: int, parts: Sequence[object]) -> Any:
        try:
            with self._lock:
                if self._connection is None:
                    self._connection = Client(self._address.place, authkey=self._address.key)
                    if parent_process() is not None and hasattr(os, "nice"):
                        os.nice(_LOWER)
                connection, self._connection = self._connection, None
                connection.send((kind, parts))
                error, answer = connection.recv()
                # One that was interrupted in between is not used again: its answer may still come.
                self._connection = connection
        except (EOFError, OSError) as gone:
            raise ParataxisError(
                "The process with the GPU has ended; its message stands above."
            ) from gone
        if error:
            raise ParataxisError(f"The process with the GPU failed: {error}")
        return answer


# In the process that has the GPU ----------------------------------------------------------------

_ANALYSE = 0
"""What is asked for: to analyse, or else to search with so many hypotheses."""

_TOO_LONG = 1.0
"""Seconds after which a few sentences of an unusual length are not put off any more."""

_Part = Sentences | Sources
_Work = Callable[[int, Sequence[_Part]], Sequence[Any]]
"""Does a kind of work on parts of one width, and gives the result of each."""


def _serve(device: str, parent: Connection) -> None:
    """Answer until the process that started this one ends it, or is gone."""
    try:
        models = load_models(device)
        key = secrets.token_bytes(32)
        listener = Listener(authkey=key)
    except (ParataxisError, OSError) as error:
        parent.send(str(error))
        return
    threading.Thread(target=end_with_parent, daemon=True).start()
    trees = _Line(partial(_analyse, models), enough=2048, patience=0.01)
    searches = _Line(partial(_search, models), enough=4096, patience=0.05)
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
    """Where each part stands in all of them together."""
    start = 0
    for part in parts:
        yield slice(start, start + len(part))
        start += len(part)


class _Request:
    """What somebody asks for. Whoever listened to it sends the answer, so that neither the search
    nor the analyses wait for the one who reads it."""

    def __init__(self, kind: int, parts: Sequence[_Part]) -> None:
        self.kind, self.parts = kind, parts
        self._results: dict[int, object] = {}
        self._lock = threading.Lock()
        self._answer: Future[list[object]] = Future()
        if not parts:
            self._answer.set_result([])

    def take(self, place: int, result: object) -> None:
        """Take the result of one part."""
        with self._lock:
            self._results[place] = result
            if len(self._results) == len(self.parts) and not self._answer.done():
                self._answer.set_result([self._results[each] for each in range(len(self.parts))])

    def fail(self, error: Exception) -> None:
        """Take an error in place of all results."""
        with self._lock:
            if not self._answer.done():
                self._answer.set_exception(error)

    def answer(self) -> tuple[str, list[object] | None]:
        """What went wrong, and the results; waits until they are there."""
        try:
            return "", self._answer.result()
        except Exception as error:
            return f"{type(error).__name__}: {error}", None


@dataclass(frozen=True)
class _Waiting:
    """A part of a request that waits for its turn."""

    request: _Request
    place: int
    since: float = field(default_factory=monotonic)

    @property
    def part(self) -> _Part:
        return self.request.parts[self.place]


class _Line:
    """The parts that wait for one kind of work, those of one width together.

    The width of which most sentences wait comes first, once there are ``enough``, or one has waited
    for so many seconds; ``enough`` is also the most that is worked on at once. What has waited too
    long comes before all.
    """

    def __init__(self, work: _Work, *, enough: int, patience: float) -> None:
        self._work, self._enough, self._patience = work, enough, patience
        self._waiting: dict[tuple[int, int], list[_Waiting]] = {}
        self._changed = threading.Condition()

    def put(self, request: _Request) -> None:
        """Let all parts of a request wait."""
        with self._changed:
            for place, part in enumerate(request.parts):
                waiting = self._waiting.setdefault((request.kind, part.width), [])
                waiting.append(_Waiting(request, place))
            self._changed.notify()

    def run(self) -> None:
        """Work for ever; an error is told to those who asked, and is not the end."""
        while True:
            batch = self._next()
            try:
                results = self._work(batch[0].request.kind, [each.part for each in batch])
                for each, result in zip(batch, results, strict=True):
                    each.request.take(each.place, result)
            except Exception as error:
                for each in batch:
                    each.request.fail(error)

    def _next(self) -> list[_Waiting]:
        with self._changed:
            while (seconds := self._to_wait()) is None or seconds > 0:
                self._changed.wait(seconds)
            key = min(self._waiting, key=self._since)
            if monotonic() - self._since(key) < _TOO_LONG:
                key = max(self._waiting, key=self._count)
            waiting = self._waiting.pop(key)
            batch = [waiting.pop(0)]
            count = len(batch[0].part)
            while waiting and count + len(waiting[0].part) <= self._enough:
                count += len(waiting[0].part)
                batch.append(waiting.pop(0))
            if waiting:
                self._waiting[key] = waiting
            return batch

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


def _accept(listener: Listener, trees: _Line, searches: _Line) -> None:
    while True:
        try:
            connection = listener.accept()
        except Exception:  # somebody who does not know the key
            continue
        threading.Thread(target=_listen, args=(connection, trees, searches), daemon=True).start()


def _listen(connection: Any, trees: _Line, searches: _Line) -> None:
    try:
        while True:
            request = _Request(*connection.recv())
            try:
                (trees if request.kind == _ANALYSE else searches).put(request)
            except Exception as error:  # told, so that nobody waits for ever
                request.fail(error)
            connection.send(request.answer())
    except (EOFError, OSError):
        return
