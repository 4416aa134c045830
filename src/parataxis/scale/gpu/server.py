"""One process with the models on a GPU, and those that ask it.

Many processes compose and check rewrites, one owns the GPU: there is one copy of the weights, and
what several ask for at the same time is searched in one large batch.
"""

import secrets
import threading
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import Future
from contextlib import contextmanager
from dataclasses import dataclass
from multiprocessing import get_context
from multiprocessing.connection import Client, Connection, Listener
from queue import Empty, Queue
from typing import Any

from parataxis.errors import ParataxisError
from parataxis.scale.gpu.packed import Results, Sources
from parataxis.scale.gpu.splitter import Models
from parataxis.scale.pool import end_with_parent
from parataxis.syntax.onnx import Arrays

__all__ = ["Address", "RemoteModels", "load_models", "served"]

_ENOUGH = 4096
"""Sources that keep a GPU busy, and are not waited for longer than this many seconds."""
_PATIENCE = 0.1


def load_models(device: str) -> Models:
    """The shipped models on a device of this process."""
    try:
        from parataxis.scale.gpu.models import DeviceModels
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
    """The models in the process that has the GPU; made anew wherever it travels to."""

    def __init__(self, address: Address) -> None:
        self._address = address
        self._connection: Any = None
        self._lock = threading.Lock()

    def __reduce__(self) -> tuple[type, tuple[Address]]:
        return RemoteModels, (self._address,)

    def analyse(self, inputs: Arrays) -> Arrays:
        """Run the graph of the analyser once."""
        found: Arrays = self._ask("analyse", inputs)
        return found

    def search(self, sources: Sources, beam: int) -> Results:
        """Search rewrites."""
        found: Results = self._ask("search", (sources, beam))
        return found

    def _ask(self, kind: str, what: object) -> Any:
        try:
            with self._lock:
                if self._connection is None:
                    self._connection = Client(self._address.place, authkey=self._address.key)
                self._connection.send((kind, what))
                error, answer = self._connection.recv()
        except (EOFError, OSError) as gone:
            raise ParataxisError(
                "The process with the GPU has ended; its message stands above."
            ) from gone
        if error:
            raise ParataxisError(f"The process with the GPU failed: {error}")
        return answer


class _Request:
    """What somebody asks for. Whoever listened to it sends the answer, so that neither the search
    nor the analyses wait for the one who reads it."""

    def __init__(self, what: Any, connection: Any) -> None:
        self.what, self._connection = what, connection
        self._answer: Future[object] = Future()

    def answer(self, result: object) -> None:
        self._answer.set_result(result)

    def fail(self, error: Exception) -> None:
        self._answer.set_exception(error)

    def send(self) -> None:
        """Wait for the answer and send it."""
        try:
            told = "", self._answer.result()
        except Exception as error:
            told = f"{type(error).__name__}: {error}", None
        self._connection.send(told)


def _serve(device: str, parent: Connection) -> None:
    """Answer until the process that started this one ends it, or is gone."""
    try:
        models = load_models(device)
        key = secrets.token_bytes(32)
        listener = Listener(authkey=key)
    except (ParataxisError, OSError) as error:
        parent.send(str(error))
        return
    queues: dict[str, Queue[_Request]] = {"search": Queue(), "analyse": Queue()}
    threading.Thread(target=end_with_parent, daemon=True).start()
    threading.Thread(target=_analyse_all, args=(models, queues["analyse"]), daemon=True).start()
    threading.Thread(target=_accept, args=(listener, queues), daemon=True).start()
    parent.send(Address(listener.address, key))
    _search_all(models, queues["search"])


def _analyse_all(models: Models, requests: "Queue[_Request]") -> None:
    while True:
        _try([requests.get()], lambda asked: [models.analyse(asked[0].what)])


def _search_all(models: Models, requests: "Queue[_Request]") -> None:
    """Search for all who ask at about the same time, those of one width in one batch."""
    while True:
        together: dict[tuple[int, int], list[_Request]] = {}
        for request in _gathered(requests):
            sources, beam = request.what
            together.setdefault((sources.width, beam), []).append(request)
        for same in together.values():
            _try(same, lambda asked: _search(models.search, asked))


def _gathered(requests: "Queue[_Request]") -> list[_Request]:
    """The next requests: enough to keep a GPU busy, or what comes within a moment."""
    found = [requests.get()]
    until = time.monotonic() + _PATIENCE
    while sum(len(request.what[0]) for request in found) < _ENOUGH:
        try:
            found.append(requests.get(timeout=max(0.0, until - time.monotonic())))
        except Empty:
            break
    return found


def _search(search: Any, asked: Sequence[_Request]) -> list[Results]:
    """Search for several in one batch."""
    parts = [request.what[0] for request in asked]
    found: Results = search(Sources.together(parts), asked[0].what[1])
    results, start = [], 0
    for part in parts:
        results.append(found.some(slice(start, start + len(part))))
        start += len(part)
    return results


def _try(asked: Sequence[_Request], work: Any) -> None:
    """Answer all who asked; an error is theirs, not the end of this process."""
    try:
        answers = work(asked)
    except Exception as error:
        for request in asked:
            request.fail(error)
        return
    for request, answer in zip(asked, answers, strict=True):
        request.answer(answer)


def _accept(listener: Listener, queues: "dict[str, Queue[_Request]]") -> None:
    while True:
        try:
            connection = listener.accept()
        except Exception:  # somebody who does not know the key
            continue
        threading.Thread(target=_listen, args=(connection, queues), daemon=True).start()


def _listen(connection: Any, queues: "dict[str, Queue[_Request]]") -> None:
    try:
        while True:
            kind, what = connection.recv()
            request = _Request(what, connection)
            queues[kind].put(request)
            request.send()
    except (EOFError, OSError):
        return
