"""Reads and writes documents in worker processes with limits on time and memory.

Documents come from strangers, and a crafted one can take forever or fill the memory. Then its
process is killed, and the service goes on.
"""

import json
import subprocess
import sys
import threading
import traceback
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import IO, Any
from weakref import WeakSet

from pydantic import TypeAdapter, ValidationError

from parataxis.errors import InputError, ParataxisError
from parataxis.rewrite.record import Rewrite
from parataxis.serve import documents
from parataxis.serve.models import DocumentRead
from parataxis.serve.problems import TooMuchError, complaint

SECONDS = 60.0
"""The time limit for one document."""
MEMORY = 2 << 30
"""The memory limit of a process in bytes."""
_ERRORS: dict[str, type[ParataxisError]] = {
    each.__name__: each for each in (TooMuchError, InputError, ParataxisError)
}
_TOO_HARD = "The document takes too long to read, or too much memory."
_REWRITES = TypeAdapter(list[Rewrite | None])


class Readers:
    """A pool of worker processes, which are started on demand and reused. A document may have up
    to ``characters``."""

    def __init__(self, characters: int, *, seconds: float = SECONDS, memory: int = MEMORY) -> None:
        self._characters = characters
        self._seconds = seconds
        self._memory = memory
        self._idle: list[subprocess.Popen[bytes]] = []
        self._busy: set[subprocess.Popen[bytes]] = set()
        self._ready: WeakSet[subprocess.Popen[bytes]] = WeakSet()
        self._lock = threading.Lock()

    def read(self, data: bytes, name: str) -> DocumentRead:
        """Read the text and the sentences of a document."""
        _, made = self._do({"do": "read", "name": name}, data)
        return DocumentRead.model_validate_json(made)

    def write(
        self, data: bytes, name: str, rewrites: bytes, *, tracked: bool
    ) -> tuple[str, bytes, str]:
        """Apply rewrites, given as JSON: the name of the document, the new document, and a sentence
        about the rewrites that could not be applied, or ""."""
        answer, made = self._do({"do": "write", "name": name, "tracked": tracked}, data, rewrites)
        return answer["name"], made, answer["note"]

    def close(self) -> None:
        """End all processes, including those that are working."""
        with self._lock:
            idle, self._idle = self._idle, []
            for process in self._busy:
                process.kill()
        for process in idle:
            _end(process)

    def _do(self, header: dict[str, Any], *parts: bytes) -> tuple[dict[str, Any], bytes]:
        with self._lent() as process:
            if process not in self._ready and _receive(process.stdout):
                self._ready.add(process)
            timer = threading.Timer(self._seconds, process.kill)
            timer.start()
            try:
                _send(process.stdin, {**header, "characters": self._characters}, *parts)
                received = _receive(process.stdout)
            except OSError:
                received = None
            finally:
                timer.cancel()
            if received is None:
                raise TooMuchError(_TOO_HARD)
            answer, made = received
            if "error" in answer:
                # Any other error is a bug, whose message is not for clients.
                raise _ERRORS.get(answer["error"], RuntimeError)(answer["detail"])
            return answer, made[0]

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


def _send(stream: IO[bytes] | None, header: dict[str, Any], *parts: bytes) -> None:
    if stream is None:
        raise OSError
    sizes = [len(part) for part in parts]
    stream.write(json.dumps({**header, "sizes": sizes}).encode() + b"\n")
    for part in parts:
        stream.write(part)
    stream.flush()


def _receive(stream: IO[bytes] | None) -> tuple[dict[str, Any], list[bytes]] | None:
    """A header and its parts, or None if the other side has ended."""
    line = stream.readline() if stream else b""
    if not line.endswith(b"\n"):
        return None
    header = json.loads(line)
    parts = [stream.read(size) for size in header["sizes"]] if stream else []
    if [len(part) for part in parts] != header["sizes"]:
        return None
    return header, parts


def main(memory: int) -> None:
    """Run a worker process: answer requests until the pipe is closed."""
    _limit(memory)
    _send(sys.stdout.buffer, {"ready": True})  # the time limit starts now
    while request := _receive(sys.stdin.buffer):
        try:
            answer, made = _answer(*request)
        except ParataxisError as error:
            kind = type(error) if type(error).__name__ in _ERRORS else InputError
            answer, made = {"error": kind.__name__, "detail": str(error)}, b""
        except (MemoryError, RecursionError):
            return  # the process may be in a bad state, so it is replaced
        except Exception:
            traceback.print_exc()
            answer, made = {"error": "bug", "detail": "see above"}, b""
        _send(sys.stdout.buffer, answer, made)


def _limit(memory: int) -> None:
    with suppress(ImportError, OSError, ValueError):  # not on every system
        import resource

        resource.setrlimit(resource.RLIMIT_AS, (memory, memory))


def _answer(header: dict[str, Any], parts: list[bytes]) -> tuple[dict[str, Any], bytes]:
    file = documents.open_file(parts[0], header["name"], header["characters"])
    if header["do"] == "read":
        return {}, documents.read(file).model_dump_json().encode()
    made, report = documents.write(file, _rewrites(parts[1]), tracked=header["tracked"])
    return {"name": file.name, "note": report.note()}, made


def _rewrites(text: bytes) -> list[Rewrite | None]:
    try:
        return _REWRITES.validate_json(text)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        if first["type"] == "json_invalid":
            raise InputError('The field "rewrites" is no JSON.') from error
        raise InputError(complaint({**first, "loc": ("rewrites", *first["loc"])})) from error
