"""Reads and writes documents in worker processes with limits on time and memory.

Documents come from strangers, and a crafted one can take forever or fill the memory. Then its
process is killed, and the service goes on.
"""

import pickle
import subprocess
import sys
import threading
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, Any
from weakref import WeakSet

from parataxis.errors import InputError, ParataxisError
from parataxis.serve import documents
from parataxis.serve.problems import TooMuchError

SECONDS = 30.0
"""The time limit for one document."""
MEMORY = 220 << 20
"""The bytes that a document may take in a process, besides those of the process itself."""
_TOO_HARD = "The document takes too long to read, or too much memory."


class Readers:
    """A pool of worker processes, which are started on demand and reused. A document may have up
    to ``characters`` and ``sentences``."""

    def __init__(
        self,
        characters: int,
        sentences: int,
        *,
        seconds: float = SECONDS,
        memory: int = MEMORY,
    ) -> None:
        self._characters, self._sentences = characters, sentences
        self._seconds = seconds
        self._memory = memory
        self._idle: list[subprocess.Popen[bytes]] = []
        self._busy: set[subprocess.Popen[bytes]] = set()
        self._ready: WeakSet[subprocess.Popen[bytes]] = WeakSet()
        self._lock = threading.Lock()

    def read(self, data: bytes, name: str) -> bytes:
        """Read the text and the sentences of a document: the JSON of a DocumentRead."""
        found: bytes = self._do("read", data, name, self._characters, self._sentences)
        return found

    def write(
        self, data: bytes, name: str, rewrites: bytes, *, tracked: bool
    ) -> tuple[str, bytes, str]:
        """Apply rewrites, given as JSON: the name of the document, the new document, and a sentence
        about the rewrites that could not be applied, or ""."""
        made: tuple[str, bytes, str] = self._do(
            "write", data, name, self._characters, self._sentences, rewrites, tracked
        )
        return made

    def blocked(self, data: bytes, name: str, rewrites: bytes) -> list[tuple[int, str]]:
        """The sentences whose rewrites, given as JSON, the document cannot hold, and why."""
        found: list[tuple[int, str]] = self._do(
            "blocked", data, name, self._characters, self._sentences, rewrites
        )
        return found

    def close(self) -> None:
        """End all processes, including those that are working."""
        with self._lock:
            idle, self._idle = self._idle, []
            for process in self._busy:
                process.kill()
        for process in idle:
            _end(process)

    def _do(self, function: str, *arguments: Any) -> Any:
        """Call a function in a worker process."""
        with self._lent() as process:
            answer = None
            with suppress(OSError, EOFError, pickle.UnpicklingError):  # the process has ended
                if process not in self._ready and _receive(process.stdout):
                    self._ready.add(process)
                timer = threading.Timer(self._seconds, process.kill)
                timer.start()
                try:
                    _send(process.stdin, (function, arguments))
                    answer = _receive(process.stdout)
                finally:
                    timer.cancel()
            if answer is None:
                raise TooMuchError(_TOO_HARD)
            if isinstance(answer, Exception):
                raise answer
            return answer

    @contextmanager
    def _lent(self) -> Iterator["subprocess.Popen[bytes]"]:
        """A process, which returns to the pool if it is still usable afterwards."""
        with self._lock:
            process = self._idle.pop() if self._idle else self._start()
            self._busy.add(process)
        is_sound = False
        try:
            yield process
            is_sound = True
        except InputError as error:  # an unreadable document does not harm the process
            is_sound = str(error) != _TOO_HARD
            raise
        finally:
            with self._lock:
                self._busy.discard(process)
                if is_sound:
                    self._idle.append(process)
            if not is_sound:
                _end(process)

    def _start(self) -> "subprocess.Popen[bytes]":
        return subprocess.Popen(
            [sys.executable, "-c", f"from {__name__} import main; main({self._memory})"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            start_new_session=True,  # so that Ctrl-C reaches only the service, which ends it
        )


def _end(process: "subprocess.Popen[bytes]") -> None:
    process.kill()
    for stream in (process.stdin, process.stdout):
        if stream:
            with suppress(OSError):
                stream.close()
    process.wait()


def _send(stream: IO[bytes] | None, message: object) -> None:
    if stream is not None:
        pickle.dump(message, stream)
        stream.flush()


def _receive(stream: IO[bytes] | None) -> Any:
    return pickle.load(stream) if stream is not None else None


def main(memory: int) -> None:
    """Run a worker process: answer calls until the pipe is closed."""
    with suppress(ImportError, OSError, ValueError):  # not on every system
        import resource

        pages = int(Path("/proc/self/statm").read_text().split()[0])
        most = pages * resource.getpagesize() + memory
        resource.setrlimit(resource.RLIMIT_AS, (most, most))
    functions: dict[str, Callable[..., object]] = {
        "read": documents.read,
        "write": documents.write,
        "blocked": documents.blocked,
    }
    _send(sys.stdout.buffer, "ready")  # the time limit starts now
    while True:
        try:
            function, arguments = _receive(sys.stdin.buffer)
        except EOFError:
            return
        answer: object
        try:
            answer = functions[function](*arguments)
        except ParataxisError as error:
            answer = error
        except (MemoryError, RecursionError):
            return  # the process may be in a bad state, so it is replaced
        except Exception:
            traceback.print_exc()
            answer = RuntimeError("A worker process failed; its traceback is on standard error.")
        _send(sys.stdout.buffer, answer)
