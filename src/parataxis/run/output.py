"""Output files that survive a crash.

While a run is unfinished, its output and its checkpoint are in a folder beside the output. The
output gets its name when it is complete. After a crash, everything behind the checkpoint is cut off
and done again, so that nothing is lost and nothing is written twice.
"""

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from time import monotonic

from parataxis.errors import InputError
from parataxis.run.checkpoint import (
    AppendedFile,
    Manifest,
    locked,
    move,
    read_checkpoint,
    remove,
    sync_folder,
    write_checkpoint,
)
from parataxis.run.encode import OutputFormat, RecordEncoder, write_parquet
from parataxis.run.files import DataFile
from parataxis.run.pipeline import Checkpoint
from parataxis.run.reading import Batch
from parataxis.run.work import Encoded

EVERY = 5.0
"""Seconds between two checkpoints: at most this much work, and one batch, is lost in a crash."""

_MANIFEST, _CHECKPOINT, _LOCK, _DATA, _PACKED = "run.json", "checkpoint", "lock", "output", "packed"


def state_of(target: Path, *, is_folder: bool) -> Path:
    """The folder in which an unfinished run keeps its state."""
    return target / ".unfinished" if is_folder else target.with_name(f"{target.name}.unfinished")


def is_unfinished(state: Path) -> bool:
    """Whether there is a run that can be resumed."""
    return (state / _MANIFEST).exists()


def require_finished(state: Path) -> None:
    """Raise InputError where there is a run that can be resumed, or that is running."""
    if is_unfinished(state):
        with locked(state / _LOCK):
            raise _unfinished(state)


def sweep(state: Path) -> None:
    """Remove the remains of a run that was killed when its output was complete."""
    if state.is_dir():
        with locked(state / _LOCK):
            if not is_unfinished(state):
                _clear(state)


class FileOutput:
    """Writes to one file, or (``by_file``) to one for each input file.

    ``targets`` are their paths, ``state`` is the folder of the unfinished run. ``encoder`` says
    what stands around the batches, and whether the whole is to become a Parquet file. ``every`` is
    how many seconds lie between checkpoints, if not :data:`EVERY`. Unless ``is_resumable``, an
    unfinished run leaves nothing behind.
    """

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
        """Begin, or resume what was begun; raise InputError where that would not be the same run.
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
            write_checkpoint(self.now, self._state / _CHECKPOINT)
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
        """Append bytes with what comes before them, and say how long the file is now."""
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
            Manifest.read(self._state / _MANIFEST).require_same(manifest, self._state)
            self.now = read_checkpoint(self._state / _CHECKPOINT)
            if self.now.is_ending:
                self._put_in_place()
        else:
            for name in (_CHECKPOINT, _DATA):
                remove(self._state / name)
            manifest.write(self._state / _MANIFEST)
            sync_folder(self._state.parent)

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
                self._write_parquet(data, target, self._files[index].name if self.by_file else "")
                remove(data)
            else:
                move(data, target)
        elif not target.exists():
            raise InputError(f"{target} was removed before the run ended; begin again.")
        self._is_placed = True
        if self.by_file:
            self.now = replace(self.now, length=0, is_ending=False)
            write_checkpoint(self.now, self._state / _CHECKPOINT)

    def _write_parquet(self, data: Path, target: Path, table: str) -> None:
        packed = self._state / _PACKED
        with data.open("rb") as streams:
            write_parquet(streams, packed, self._encoder.schema(table))
        _sync(packed)
        move(packed, target)

    @contextmanager
    def _reported(self) -> Iterator[None]:
        """Turn an error of the disk, such as a full one, into an InputError."""
        try:
            yield
        except OSError as error:
            reason = (error.strerror or str(error)).lower()
            where = self._targets[0] if not self.by_file else self._state.parent
            remedy = "; correct that and go on with --resume" if self._is_resumable else ""
            raise InputError(f"{where} cannot be written: {reason}{remedy}.") from error


def _unfinished(state: Path) -> InputError:
    return InputError(
        f"There is an unfinished run in {state}; go on with --resume, or remove it to begin again."
    )


def _clear(state: Path) -> None:
    # The manifest first: without it, there is no unfinished run, should this be cut short.
    for name in (_MANIFEST, _CHECKPOINT, _DATA, _PACKED, _LOCK):
        remove(state / name)
        remove(state / f"{name}.new")
    with suppress(OSError):  # there is something in it that is not of the run
        state.rmdir()
    sync_folder(state.parent)


def _sync(path: Path) -> None:
    with path.open("rb+") as stream:
        os.fsync(stream.fileno())
