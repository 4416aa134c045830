"""Output files that survive a crash.

While a run is unfinished, its output, its checkpoint and a manifest of its options and inputs are
in a folder beside the output. The output gets its name when it is complete. After a crash,
everything behind the checkpoint is cut off and done again, so nothing is lost or written twice.
"""

import json
import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from time import monotonic
from typing import Any, TypeVar

from pydantic import TypeAdapter

from parataxis.errors import InputError, system_errors
from parataxis.run.encode import OutputFormat, RecordEncoder, write_parquet
from parataxis.run.files import DataFile, Identity
from parataxis.run.pipeline import Checkpoint, Encoded, StreamOutput
from parataxis.run.reading import Batch

EVERY = 5.0
"""Seconds between two checkpoints: a crash loses at most this much work, and one batch."""

_MANIFEST, _CHECKPOINT, _LOCK, _DATA, _PACKED = "run.json", "checkpoint", "lock", "output", "packed"
_VERSION = 1

T = TypeVar("T")


class AppendedFile:
    """A file that grows at its end; what was written counts once :meth:`sync` has returned."""

    def __init__(self, path: Path, length: int) -> None:
        """Open the file, cut off after ``length`` bytes."""
        self._number = os.open(path, os.O_RDWR | os.O_CREAT | getattr(os, "O_BINARY", 0), 0o666)
        if os.fstat(self._number).st_size < length:
            self.close()
            raise InputError(
                f"{path} has fewer bytes than its checkpoint says; begin the run again."
            )
        os.ftruncate(self._number, length)
        os.lseek(self._number, length, os.SEEK_SET)
        self.length = length

    def append(self, data: bytes) -> None:
        """Write at the end. If that fails, ``length`` stays that of whole writes."""
        rest = memoryview(data)
        while rest:
            rest = rest[os.write(self._number, rest) :]
        self.length += len(data)

    def sync(self) -> None:
        os.fsync(self._number)

    def close(self) -> None:
        """Close the file once: its number may be that of another file afterwards."""
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
    _move(unfinished, path)


def _move(source: Path, target: Path) -> None:
    """Put a file, which must have been synced, in the place of another."""
    os.replace(source, target)  # noqa: PTH105  # the one place where files are moved
    for folder in {target.parent, source.parent}:
        _sync_folder(folder)


def _sync_folder(folder: Path) -> None:
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
    Its holder may remove the file. A process that opened it before must not hold what is gone."""
    if sys.platform == "win32":
        with _locked_beside(path):
            yield
        return
    import fcntl

    with path.open("wb") as stream:
        try:
            fcntl.lockf(stream, fcntl.LOCK_EX | fcntl.LOCK_NB)
            is_there = os.path.samestat(os.fstat(stream.fileno()), path.stat())
        except OSError:
            is_there = False
        if not is_there:
            raise _taken(path)
        yield


@contextmanager
def _locked_beside(path: Path) -> Iterator[None]:
    """The lock of Windows, where an open file cannot be removed: a file beside the folder."""
    import msvcrt

    beside = path.parent.with_name(f"{path.parent.name}.lock")
    with beside.open("ab") as stream:
        try:
            msvcrt.locking(stream.fileno(), msvcrt.LK_NBLCK, 1)  # type: ignore[attr-defined]
        except OSError as error:
            raise _taken(path) from error
        yield
    with suppress(OSError):  # the next process may have it already
        beside.unlink()


def _taken(path: Path) -> InputError:
    return InputError(f"Another process writes to {path.parent}; wait for it or end it first.")


@dataclass(frozen=True)
class Manifest:
    """What a run was begun with: its options, as a user would name them, and its inputs."""

    options: Mapping[str, str]
    inputs: Sequence[Identity]

    @classmethod
    def of(cls, options: Mapping[str, str], files: Sequence[DataFile]) -> "Manifest":
        return cls(dict(options), [file.identity() for file in files])

    def require_same(self, now: "Manifest", state: Path | str) -> None:
        """Raise InputError if a run that is to go on now has other options or inputs."""
        for reason in self._differences(now):
            raise InputError(f"The unfinished run {reason}; remove {state} to begin again.")

    def _differences(self, now: "Manifest") -> Iterator[str]:
        for name in sorted({*self.options, *now.options}):
            before, after = self.options.get(name, "none"), now.options.get(name, "none")
            if before != after:
                yield f"was begun with {name} {before}, not {after}"
        if len(self.inputs) != len(now.inputs):
            yield f"was begun with {len(self.inputs)} input files, not {len(now.inputs)}"
        for old, new in zip(self.inputs, now.inputs, strict=True):
            if old.path != new.path:
                yield f"was begun with {old.path} in the place of {new.path}"
            if old != new:
                yield f"cannot go on, because {new.path} has changed since"

    def require_unchanged(self, files: Sequence[DataFile], state: Path | str) -> None:
        """Raise InputError if one of these inputs is not what it was when the run began."""
        before = {each.path: each for each in self.inputs}
        for file in files:
            is_same = False
            with suppress(FileNotFoundError):
                is_same = file.identity() == before[file.name]
            if not is_same:
                raise InputError(
                    f"{file.name} changed while it was read; remove {state} to begin again."
                )


def dumped_state(value: Manifest | Checkpoint) -> bytes:
    """The state of a run as JSON."""
    fields: dict[str, Any] = TypeAdapter(type(value)).dump_python(value, mode="json")
    return json.dumps({"version": _VERSION, **fields}, indent=1).encode()


def loaded_state(data: bytes, kind: type[T], name: Path | str, state: Path | str) -> T:
    """What :func:`dumped_state` wrote to the file ``name`` in the folder ``state``."""
    try:
        if json.loads(data)["version"] != _VERSION:
            raise InputError(f"{name} was written by another version of Parataxis; begin again.")
        return TypeAdapter(kind).validate_json(data, strict=True)
    except (LookupError, TypeError, ValueError) as error:
        raise InputError(f"{name} is damaged; remove {state} to begin again.") from error


def state_of(target: Path, *, is_folder: bool) -> Path:
    """The folder in which an unfinished run keeps its state."""
    return target / ".unfinished" if is_folder else target.with_name(f"{target.name}.unfinished")


def is_unfinished(state: Path) -> bool:
    """Whether there is a run that can be resumed."""
    return (state / _MANIFEST).exists()


def require_finished(state: Path) -> None:
    """Raise InputError if there is a run that can be resumed, or that is running."""
    if is_unfinished(state):
        with locked(state / _LOCK):
            raise _unfinished(state)


def sweep(state: Path) -> None:
    """Remove the remains of a run that was killed when its output was complete."""
    if state.is_dir():
        with locked(state / _LOCK):
            if not is_unfinished(state):
                _clear(state)


class FileOutput(StreamOutput):
    """Writes to one file, or (``by_file``) to one for each input file. ``targets`` are their paths,
    ``state`` is the folder of the unfinished run. ``every`` is the number of seconds between
    checkpoints, if not :data:`EVERY`. Unless ``is_resumable``, an unfinished run leaves nothing
    behind."""

    def __init__(
        self,
        targets: Sequence[Path],
        state: Path,
        *,
        encoder: RecordEncoder,
        by_file: bool,
        every: float | None = None,
        is_resumable: bool = True,
    ) -> None:
        self._targets, self._state, self._encoder = targets, state, encoder
        self._frame, self._is_resumable = encoder.frame, is_resumable
        self._every = EVERY if every is None else every
        self.by_file = by_file
        self.now = Checkpoint()
        self._manifest = Manifest({}, [])
        self._files: Sequence[DataFile] = ()
        self._file: AppendedFile | None = None
        self._is_placed = False
        self._committed = monotonic()

    @contextmanager
    def opened(
        self, manifest: Manifest, files: Sequence[DataFile], *, resume: bool
    ) -> Iterator[None]:
        """Begin, or resume what was begun; raise InputError if that would not be the same run.
        ``files`` are the inputs of the manifest."""
        self._manifest, self._files = manifest, files
        with self._reported():
            self._state.mkdir(parents=self.by_file, exist_ok=True)
        with locked(self._state / _LOCK):
            is_begun = False
            try:
                with self._reported():
                    self._begin(manifest, resume=resume)
                is_begun = True
                yield
            finally:
                if self._file:
                    self._file.close()
                is_new = self.now == Checkpoint() or not self._is_resumable
                if is_begun and is_new and self._state.exists():
                    _clear(self._state)  # what failed before anything was done leaves nothing

    def append(self, batch: Batch, encoded: Encoded) -> None:
        """Write the bytes of a batch; now and then, write a checkpoint."""
        if self.by_file and batch.ends_file:
            self._manifest.require_unchanged([self._files[batch.end.file - 1]], self._state)
        with self._reported():
            length = self._append(encoded.data)
            self.now = replace(self.now.after(batch, encoded), length=length)
            if self.by_file and batch.ends_file:
                self._end_file()
            elif monotonic() - self._committed >= self._every:
                self.commit()

    def commit(self) -> None:
        """Make what was written until now survive a crash."""
        with self._reported():
            if self._file:
                self._file.sync()
            if self.errors:
                self.errors.sync()
            self._save(_CHECKPOINT, self.now)
            self._committed = monotonic()

    def finish(self) -> None:
        """Put the output in its place, and remove the state."""
        is_ready = self.by_file or self._is_placed
        if not is_ready:
            self._manifest.require_unchanged(self._files, self._state)
        with self._reported():
            if not is_ready:
                self._end_file()
            _clear(self._state)

    def _append(self, data: bytes, *, is_end: bool = False) -> int:
        """Append bytes with what comes before them, and return the length of the file."""
        if self._file is None:
            self._file = AppendedFile(self._state / _DATA, self.now.length)
        if data:
            before = self._frame.start if not self.now.length else self._frame.separator
            self._file.append((b"" if is_end and self.now.length else before) + data)
        return self._file.length

    def _begin(self, manifest: Manifest, *, resume: bool) -> None:
        if is_unfinished(self._state):
            if not resume:
                raise _unfinished(self._state)
            self._load(_MANIFEST, Manifest).require_same(manifest, self._state)
            if (self._state / _CHECKPOINT).exists():
                self.now = self._load(_CHECKPOINT, Checkpoint)
            if self.now.is_ending:
                self._put_in_place()
        else:
            for name in (_CHECKPOINT, _DATA):
                (self._state / name).unlink(missing_ok=True)
            self._save(_MANIFEST, manifest)
            _sync_folder(self._state.parent)

    def _end_file(self) -> None:
        length = self._append(self._frame.end, is_end=True)
        if not length and self._file:
            self._file.append(self._frame.empty)
            length = self._file.length
        self.now = replace(self.now, is_ending=True, length=length)
        self.commit()
        if self._file:
            self._file.close()
            self._file = None
        self._put_in_place()

    def _put_in_place(self) -> None:
        """Give the complete output its name; after a late crash it has it already."""
        index = self.now.position.file - 1 if self.by_file else 0
        target = self._targets[index]
        data = self._state / _DATA
        if data.exists():
            AppendedFile(data, self.now.length).close()
            target.parent.mkdir(parents=True, exist_ok=True)
            if self._encoder.form is OutputFormat.PARQUET:
                packed = self._state / _PACKED
                schema = self._encoder.schema(self._files[index].name if self.by_file else "")
                with data.open("rb") as streams:
                    write_parquet(streams, packed, schema)
                with packed.open("rb+") as stream:
                    os.fsync(stream.fileno())
                _move(packed, target)
                data.unlink()
            else:
                _move(data, target)
        elif not target.exists():
            raise InputError(f"{target} was removed before the run ended; begin again.")
        self._is_placed = True
        if self.by_file:
            self.now = replace(self.now, length=0, is_ending=False)
            self._save(_CHECKPOINT, self.now)

    def _save(self, name: str, value: Manifest | Checkpoint) -> None:
        write_atomically(self._state / name, dumped_state(value))

    def _load(self, name: str, kind: type[T]) -> T:
        path = self._state / name
        return loaded_state(path.read_bytes(), kind, path, self._state)

    def _reported(self) -> AbstractContextManager[None]:
        where = self._targets[0] if not self.by_file else self._state.parent
        remedy = "; correct that and go on with --resume" if self._is_resumable else ""
        return system_errors(f"{where} cannot be written", remedy)


def _unfinished(state: Path) -> InputError:
    return InputError(
        f"There is an unfinished run in {state}; go on with --resume, or remove it to begin again."
    )


def _clear(state: Path) -> None:
    # The manifest first: without it, there is no unfinished run, should this be cut short.
    for name in (_MANIFEST, _CHECKPOINT, _DATA, _PACKED, _LOCK):
        (state / name).unlink(missing_ok=True)
        (state / f"{name}.new").unlink(missing_ok=True)
    with suppress(OSError):  # something in it does not belong to the run
        state.rmdir()
    _sync_folder(state.parent)
