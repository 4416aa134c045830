"""The state of a run on the disk: what it needs to be resumed, and when it must not be."""

import json
import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TypeVar

from pydantic import TypeAdapter

from parataxis.errors import InputError
from parataxis.run.files import DataFile, Identity
from parataxis.run.pipeline import Checkpoint


class AppendedFile:
    """A file that grows at its end; what was written counts once :meth:`sync` has returned."""

    def __init__(self, path: Path, length: int) -> None:
        """Open the file, cut off after ``length`` bytes."""
        self._number = os.open(path, os.O_RDWR | os.O_CREAT | getattr(os, "O_BINARY", 0), 0o666)
        try:
            if os.fstat(self._number).st_size < length:
                raise InputError(
                    f"{path} has fewer bytes than its checkpoint says; begin the run again."
                )
            os.ftruncate(self._number, length)
            os.lseek(self._number, length, os.SEEK_SET)
        except BaseException:
            os.close(self._number)
            raise
        self.length = length

    def append(self, data: bytes) -> None:
        """Write at the end. Where that fails, ``length`` stays that of whole writes."""
        rest = memoryview(data)
        while rest:
            rest = rest[os.write(self._number, rest) :]
        self.length += len(data)

    def sync(self) -> None:
        """Wait until all of it is on the disk."""
        os.fsync(self._number)

    def close(self) -> None:
        """Close the file, if it is open: its number may be that of another file by now."""
        number, self._number = self._number, -1
        if number >= 0:
            os.close(number)


def write_atomically(path: Path, data: bytes) -> None:
    """Write a small file: after a crash it is the old one or the new one."""
    unfinished = path.with_name(f"{path.name}.new")
    with unfinished.open("wb") as stream:
        stream.write(data)
        stream.flush()
        os.fsync(stream.fileno())
    move(unfinished, path)


def move(source: Path, target: Path) -> None:
    """Put a file, which must have been synced, in the place of another."""
    os.replace(source, target)  # noqa: PTH105  # the one place where files are moved
    sync_folder(target.parent)
    if source.parent != target.parent:
        sync_folder(source.parent)


def remove(path: Path) -> None:
    """Remove a file, if it is there."""
    path.unlink(missing_ok=True)


def sync_folder(folder: Path) -> None:
    """Wait until the names in a folder are on the disk."""
    if os.name == "nt":
        return
    number = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(number)
    finally:
        os.close(number)


@contextmanager
def locked(path: Path) -> Iterator[None]:
    """Hold a lock that other processes respect and that ends with this process, however it ends.

    Its holder may remove it. Who has opened it before that must not hold what is no more.
    """
    try:
        import fcntl
    except ImportError:  # Windows; there the open files are locked anyway
        yield
        return
    with path.open("wb") as stream:
        try:
            fcntl.lockf(stream, fcntl.LOCK_EX | fcntl.LOCK_NB)
            is_there = os.path.samestat(os.fstat(stream.fileno()), path.stat())
        except OSError:
            is_there = False
        if not is_there:
            raise InputError(
                f"Another process writes to {path.parent}; wait for it or end it first."
            )
        yield


_VERSION = 1

T = TypeVar("T")


@dataclass(frozen=True)
class Manifest:
    """What a run was begun with: its options, as a user would name them, and its inputs."""

    options: Mapping[str, str]
    inputs: Sequence[Identity]

    @classmethod
    def of(cls, options: Mapping[str, str], files: Sequence[DataFile]) -> "Manifest":
        """The manifest of a run that begins now."""
        return cls(dict(options), [file.identity() for file in files])

    @classmethod
    def read(cls, path: Path) -> "Manifest":
        """Read a manifest that was written."""
        return _read(path, cls)

    def write(self, path: Path) -> None:
        """Write it."""
        inputs = [list(each) for each in self.inputs]
        _write(path, {"options": dict(self.options), "inputs": inputs})

    def require_same(self, now: "Manifest", state: Path) -> None:
        """Raise InputError where a run that is to go on now has other options or inputs."""
        for name in sorted({*self.options, *now.options}):
            before, after = self.options.get(name, "none"), now.options.get(name, "none")
            if before != after:
                raise _refusal(f"was begun with {name} {before}, not {after}", state)
        if len(self.inputs) != len(now.inputs):
            raise _refusal(
                f"was begun with {len(self.inputs)} input files, not {len(now.inputs)}", state
            )
        for old, new in zip(self.inputs, now.inputs, strict=True):
            if old.path != new.path:
                raise _refusal(f"was begun with {old.path} in the place of {new.path}", state)
            if old != new:
                raise _refusal(f"cannot go on, because {new.path} has changed since", state)

    def require_unchanged(self, files: Sequence[DataFile], state: Path) -> None:
        """Raise InputError where one of these inputs is not what it was when the run began."""
        before = {each.path: each for each in self.inputs}
        for file in files:
            if not _is_same(file, before[file.name]):
                raise InputError(
                    f"{file.name} changed while it was read; remove {state} to begin again."
                )


def read_checkpoint(path: Path) -> Checkpoint:
    """Read a checkpoint; where none was written, it is that of the beginning."""
    return _read(path, Checkpoint) if path.exists() else Checkpoint()


def write_checkpoint(checkpoint: Checkpoint, path: Path) -> None:
    """Write a checkpoint in the place of the one before."""
    _write(path, asdict(checkpoint) | {"position": list(checkpoint.position)})


def _write(path: Path, fields: Mapping[str, object]) -> None:
    write_atomically(path, json.dumps({"version": _VERSION, **fields}, indent=1).encode())


def _read(path: Path, kind: type[T]) -> T:
    data = path.read_bytes()
    try:
        if json.loads(data)["version"] != _VERSION:
            raise InputError(f"{path} was written by another version of Parataxis; begin again.")
        return TypeAdapter(kind).validate_json(data, strict=True)
    except (LookupError, TypeError, ValueError) as error:
        raise InputError(f"{path} is damaged; remove {path.parent} to begin again.") from error


def _is_same(file: DataFile, before: Identity) -> bool:
    try:
        return file.identity() == before
    except FileNotFoundError:
        return False


def _refusal(reason: str, state: Path) -> InputError:
    return InputError(f"The unfinished run {reason}; remove {state} to begin again.")
