"""Documents are read and written in processes of their own.

Documents come from strangers, and there are many ways to make one that takes forever or fills the
memory. Such a process is ended, and the service goes on.
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
from parataxis.serve.problems import TooMuchError, complaint
from parataxis.serve.records import DocumentRead

SECONDS = 60.0
"""How long one document may take."""
MEMORY = 2 << 30
"""Bytes that a process may have."""
_ERRORS: dict[str, type[ParataxisError]] = {
    each.__name__: each for each in (TooMuchError, InputError, ParataxisError)
}
_TOO_HARD = "The document takes too long to read, or too much memory."
_REWRITES = TypeAdapter(list[Rewrite | None])


class Readers:
    """Processes that are started when they are needed, and used again. A document has at most
    ``characters``."""

    def __init__(self, characters: int, *, seconds: float = SECONDS, memory: int = MEMORY) -> None:
        self._characters = characters
        self._seconds = seconds
        self._memory = memory
        self._idle: list[subprocess.Popen[bytes]] = []
        self._busy: set[subprocess.Popen[bytes]] = set()
        self._ready: WeakSet[subprocess.Popen[bytes]] = WeakSet()
        self._lock = threading.Lock()

    def read(self, data: bytes, name: str) -> DocumentRead:
        """What of a document is shown."""
        _, made = self._do({"do": "read", "name": name}, data)
        return DocumentRead.model_validate_json(made)

    def write(
        self, data: bytes, name: str, rewrites: bytes, *, tracked: bool
    ) -> tuple[str, bytes, str]:
        """The name of a document, the document with rewrites, which are given as JSON, and a
        sentence about what was left alone, or ""."""
        told, made = self._do({"do": "write", "name": name, "tracked": tracked}, data, rewrites)
        return told["name"], made, told["note"]

    def close(self) -> None:
        """End the processes, also those that are at work."""
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
                answer = _receive(process.stdout)
            except OSError:
                answer = None
            finally:
                timer.cancel()
            if answer is None:
                raise TooMuchError(_TOO_HARD)
            told, made = answer
            if "error" in told:
                # What it does not know is a bug, and no sentence for strangers.
                raise _ERRORS.get(told["error"], RuntimeError)(told["detail"])
            return told, made[0]

    @contextmanager
    def _lent(self) -> Iterator["subprocess.Popen[bytes]"]:
        with self._lock:
            process = self._idle.pop() if self._idle else self._start()
            self._busy.add(process)
        is_sound = False
        try:
            yield process
            is_sound = True
        except InputError as error:  # a document that cannot be read harms no process
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
            start_new_session=True,  # Ctrl-C is for the service, which ends it
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
    """A header and its parts, or None where the other side has ended."""
    line = stream.readline() if stream else b""
    if not line.endswith(b"\n"):
        return None
    header = json.loads(line)
    parts = [stream.read(size) for size in header["sizes"]] if stream else []
    if [len(part) for part in parts] != header["sizes"]:
        return None
    return header, parts


def main(memory: int) -> None:
    """What such a process does: answer requests until there are no more."""
    _limit(memory)
    _send(sys.stdout.buffer, {"ready": True})  # the clock starts now
    while asked := _receive(sys.stdin.buffer):
        try:
            told, made = _answer(*asked)
        except ParataxisError as error:
            kind = type(error) if type(error).__name__ in _ERRORS else InputError
            told, made = {"error": kind.__name__, "detail": str(error)}, b""
        except (MemoryError, RecursionError):
            return  # in a state that nobody knows; a new process is better
        except Exception:
            traceback.print_exc()
            told, made = {"error": "bug", "detail": "see above"}, b""
        _send(sys.stdout.buffer, told, made)


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
