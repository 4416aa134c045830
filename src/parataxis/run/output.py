"""Where a long run writes: files that survive a crash, or a stream.

While a run is unfinished, its output and its checkpoint are in a folder beside the output. The
output gets its name when it is complete. After a crash, what lies behind the checkpoint is cut off
and done again, so that nothing is lost and nothing is there twice.
"""

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from time import monotonic
from typing import Protocol

from parataxis.errors import InputError
from parataxis.run.checkpoint import (
    AppendedFile,
    Checkpoint,
    Manifest,
    locked,
    move,
    remove,
    sync_folder,
)
from parataxis.run.encode import write_parquet
from parataxis.run.files import DataFile
from parataxis.run.reading import Batch
from parataxis.run.work import Encoded

# Changes to files that are either there after a crash or not, never half; one process at a time.
#
# All of a long run's effects on the disk go through this module.


EVERY = 5.0
"""Seconds between two checkpoints, at least: so much work is lost at most, and one batch more."""

_MANIFEST, _CHECKPOINT, _LOCK, _DATA, _PACKED = "run.json", "checkpoint", "lock", "output", "packed"


class RunOutput(Protocol):
    """Takes what batches result in, in their order. ``now`` tells how far it has come."""

    now: Checkpoint
    by_file: bool

    def append(self, batch: Batch, encoded: Encoded) -> None:
        """Write the bytes of a batch."""

    def commit(self) -> None:
        """Make what was written until now survive a crash."""

    def finish(self) -> None:
        """All has been written."""


class StreamOutput:
    """Writes to a stream, such as standard output; there is no way back to an earlier place."""

    by_file = False

    def __init__(self, write: Callable[[bytes], object]) -> None:
        self._write = write
        self.now = Checkpoint()

    def append(self, batch: Batch, encoded: Encoded) -> None:
        """Write the bytes of a batch."""
        self._write(encoded.data)
        self.now = _after(self.now, batch, encoded)

    def commit(self) -> None:
        """Nothing can be done about a crash."""

    def finish(self) -> None:
        """All has been written."""


def state_of(target: Path, *, is_folder: bool) -> Path:
    """The folder in which an unfinished run keeps its state."""
    return target / ".unfinished" if is_folder else target.with_name(f"{target.name}.unfinished")


def is_unfinished(state: Path) -> bool:
    """Whether there is a run that can go on."""
    return (state / _MANIFEST).exists()


def require_finished(state: Path) -> None:
    """Refuse to write over a run that can go on, or that goes on now."""
    if is_unfinished(state):
        with locked(state / _LOCK):
            raise _unfinished(state)


def sweep(state: Path) -> None:
    """Remove what is left of the state of a run that was killed when its output was complete."""
    if state.is_dir():
        with locked(state / _LOCK):
            if not is_unfinished(state):
                _clear(state)


class FileOutput:
    """Writes to one file, or (``by_file``) to one for each input file.

    ``targets`` are their paths, ``state`` is the folder of the unfinished run. ``every`` is how
    many seconds lie between checkpoints, if not :data:`EVERY`. Where ``parquet`` is true, what is
    appended is made a Parquet file at the end. ``empty`` is what one file without records holds.
    """

    def __init__(
        self,
        targets: Sequence[Path],
        state: Path,
        *,
        by_file: bool,
        parquet: bool = False,
        empty: bytes = b"",
        every: float | None = None,
    ) -> None:
        self._targets, self._state, self._parquet = targets, state, parquet
        self._empty = empty
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
        """Begin, or go on with what was begun; refuse to where that would not be the same run.
        ``files`` are the inputs of the manifest."""
        self._manifest, self._files = manifest, files
        with self._told():
            self._state.mkdir(parents=self.by_file, exist_ok=True)
        with locked(self._state / _LOCK):
            is_begun = False
            try:
                with self._told():
                    self._begin(manifest, resume=resume)
                is_begun = True
                yield
            finally:
                if self._file:
                    self._file.close()
                if is_begun and self.now == Checkpoint() and self._state.exists():
                    _clear(self._state)  # what failed before anything was done leaves nothing

    def append(self, batch: Batch, encoded: Encoded) -> None:
        """Write the bytes of a batch; now and then, write a checkpoint."""
        if self.by_file and batch.ends_file:
            self._manifest.require_unchanged([self._files[batch.end.file - 1]], self._state)
        with self._told():
            if self._file is None:
                self._file = AppendedFile(self._state / _DATA, self.now.length)
            self._file.append(encoded.data)
            self.now = _after(self.now, batch, encoded, length=self._file.length)
            if self.by_file and batch.ends_file:
                self._end_file()
            elif monotonic() - self._committed >= self._every:
                self.commit()

    def commit(self) -> None:
        """Make what was written until now survive a crash."""
        with self._told():
            if self._file:
                self._file.sync()
            self.now.write(self._state / _CHECKPOINT)
            self._committed = monotonic()

    def finish(self) -> None:
        """Put the output in its place, and remove the state."""
        is_ready = self.by_file or self._is_placed
        if not is_ready:
            self._manifest.require_unchanged(self._files, self._state)
        with self._told():
            if not is_ready:
                if self._file is None:
                    self._file = AppendedFile(self._state / _DATA, self.now.length)
                if not self.now.length:
                    self._file.append(self._empty)
                    self.now = replace(self.now, length=self._file.length)
                self._end_file()
            _clear(self._state)

    def _begin(self, manifest: Manifest, *, resume: bool) -> None:
        if is_unfinished(self._state):
            if not resume:
                raise _unfinished(self._state)
            Manifest.read(self._state / _MANIFEST).require_same(manifest, self._state)
            self.now = Checkpoint.read(self._state / _CHECKPOINT)
            if self.now.is_ending:
                self._put_in_place()
        else:
            for name in (_CHECKPOINT, _DATA):
                remove(self._state / name)
            manifest.write(self._state / _MANIFEST)
            sync_folder(self._state.parent)

    def _end_file(self) -> None:
        self.now = replace(self.now, is_ending=True)
        self.commit()
        if self._file:
            self._file.close()
            self._file = None
        self._put_in_place()

    def _put_in_place(self) -> None:
        """Give the complete output its name; where a crash came after that, it has it already."""
        target = self._targets[self.now.position.file - 1 if self.by_file else 0]
        data = self._state / _DATA
        if data.exists():
            AppendedFile(data, self.now.length).close()
            target.parent.mkdir(parents=True, exist_ok=True)
            if self._parquet:
                self._write_parquet(data, target)
                remove(data)
            else:
                move(data, target)
        elif not target.exists():
            raise InputError(f"{target} was removed before the run ended; begin again.")
        self._is_placed = True
        if self.by_file:
            self.now = replace(self.now, length=0, is_ending=False)
            self.now.write(self._state / _CHECKPOINT)

    def _write_parquet(self, data: Path, target: Path) -> None:
        packed = self._state / _PACKED
        with data.open("rb") as streams:
            write_parquet(streams, packed)
        _sync(packed)
        move(packed, target)

    @contextmanager
    def _told(self) -> Iterator[None]:
        """Tell in one sentence what the disk refuses, such as a full one."""
        try:
            yield
        except OSError as error:
            reason = (error.strerror or str(error)).lower()
            where = self._targets[0] if not self.by_file else self._state.parent
            raise InputError(
                f"{where} cannot be written: {reason}; correct that and go on with --resume."
            ) from error


def _unfinished(state: Path) -> InputError:
    return InputError(
        f"There is an unfinished run in {state}; go on with --resume, or remove it to begin again."
    )


def _clear(state: Path) -> None:
    # Without a manifest it is no unfinished run any more, should this be cut short.
    for name in (_MANIFEST, _CHECKPOINT, _DATA, _PACKED, _LOCK):
        remove(state / name)
        remove(state / f"{name}.new")
    with suppress(OSError):  # there is something in it that is not of the run
        state.rmdir()
    sync_folder(state.parent)


def _after(now: Checkpoint, batch: Batch, encoded: Encoded, *, length: int = 0) -> Checkpoint:
    return replace(
        now,
        position=batch.end,
        length=length,
        consumed=now.consumed + batch.size,
        records=now.records + encoded.records,
        sentences=now.sentences + encoded.sentences,
        problems=now.problems + len(encoded.problems),
    )


def _sync(path: Path) -> None:
    with path.open("rb+") as stream:
        os.fsync(stream.fileno())
