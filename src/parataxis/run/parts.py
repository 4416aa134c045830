"""Output as part files of a target size, in a folder of this machine or of an object store.

A part appears when it is whole. Beside the parts, in the folder ``_parataxis``, are what the run
was begun with and a checkpoint, which is written after each part. Where a part ends depends only on
the results, so a run that was killed and resumed writes the same parts.
"""

import io
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from time import monotonic
from typing import TypeVar

from parataxis.errors import InputError
from parataxis.run.encode import OutputFormat, RecordEncoder, write_parquet
from parataxis.run.files import DataFile
from parataxis.run.output import Manifest, dumped_state, loaded_state
from parataxis.run.pipeline import Checkpoint, Encoded, StreamOutput
from parataxis.run.reading import Batch
from parataxis.run.remote import ObjectStore

STATE = "_parataxis"
"""The folder beside the parts. Readers of tables pass over names that begin so."""
PART_SIZE = 128
"""Megabytes of a part, if the user does not say."""

_EVERY = 300.0  # seconds after which what is not yet a part is saved

T = TypeVar("T", Manifest, Checkpoint)
StorePart = Callable[[ObjectStore, str, RecordEncoder, Sequence[tuple[Batch, Encoded]]], None]


def write_part(store: ObjectStore, path: str, encoder: RecordEncoder, *pieces: bytes) -> None:
    """Write a file of encoded batches."""
    if encoder.form is OutputFormat.PARQUET:
        sink = io.BytesIO()
        write_parquet(io.BufferedReader(io.BytesIO(b"".join(pieces))), sink, encoder.schema())
        store.write(path, sink.getvalue())
    else:
        frame = encoder.frame
        whole = frame.start + frame.separator.join(pieces) + frame.end
        store.write(path, whole or frame.empty)


def store_part(
    store: ObjectStore, path: str, encoder: RecordEncoder, results: Sequence[tuple[Batch, Encoded]]
) -> None:
    """Write a part from results in this process."""
    write_part(store, path, encoder, *(encoded.data for _, encoded in results if encoded.data))


class PartOutput(StreamOutput):
    """Writes parts of at least ``size`` bytes, as batches are encoded, to a folder of a store. The
    names of its files begin with ``stem``. ``store_part`` writes a part; another one may do that
    where the results are, as on a cluster; then nothing is saved between parts."""

    def __init__(
        self,
        store: ObjectStore,
        encoder: RecordEncoder,
        *,
        size: int,
        suffix: str,
        stem: str = "",
        store_part: StorePart = store_part,
    ) -> None:
        self._store, self._encoder, self._size = store, encoder, size
        self._suffix, self._stem, self._store_part = suffix, stem, store_part
        self._held: list[tuple[Batch, Encoded]] = []
        self._length = self._parts = 0
        self._saved = ""
        self._saved_at = monotonic()
        self.now = Checkpoint()
        self._manifest = Manifest({}, [])
        self._files: Sequence[DataFile] = ()

    @contextmanager
    def opened(
        self, manifest: Manifest, files: Sequence[DataFile], *, resume: bool
    ) -> Iterator[bool]:
        """Begin, or resume what was begun. Gives whether anything is left to do."""
        self._manifest, self._files = manifest, files
        where = self._store.name(self._store.path)
        begun = self._load("run.json", Manifest)
        if begun is None:
            self._save("run.json", manifest)
        elif not resume:
            raise InputError(
                f"{where} has parts of a run; go on with --resume, or write to another folder."
            )
        else:
            begun.require_same(manifest, where)
            if (now := self._load("checkpoint.json", Checkpoint)) is not None:
                self.now, self._parts = now, now.parts
                self._restore(now)
        yield not self.now.is_ending

    def append(self, batch: Batch, encoded: Encoded) -> None:
        self._held.append((batch, encoded))
        self._length += len(encoded.data)
        self.now = self.now.after(batch, encoded)
        if self._length >= self._size:
            self._end_part()
        elif monotonic() - self._saved_at >= _EVERY:
            self.commit()

    def commit(self) -> None:
        """Save what is not yet a part, so that it need not be done again."""
        self._saved_at = monotonic()
        if not self._held or self._store_part is not store_part:
            return
        before, self._saved = self._saved, f"held-{self.now.sentences}"
        whole = self._encoder.frame.separator.join(
            encoded.data for _, encoded in self._held if encoded.data
        )
        self._store.write(self._place(self._saved), whole)
        self._checkpoint(replace(self.now, length=self._length, saved=self._saved))
        if before and before != self._saved:
            self._store.remove(self._place(before))

    def finish(self) -> None:
        self._manifest.require_unchanged(self._files, self._store.name(self._store.path))
        if self._held or not self._parts:
            self._end_part()
        self._checkpoint(replace(self.now, is_ending=True))

    def _end_part(self) -> None:
        name = f"{self._stem}part-{self._parts:05}{self._suffix}"
        self._store_part(self._store, f"{self._store.path}/{name}", self._encoder, self._held)
        self._held, self._length = [], 0
        self._parts += 1
        self.now = replace(self.now, parts=self._parts)
        before, self._saved = self._saved, ""
        self._checkpoint(self.now)
        if before:
            self._store.remove(self._place(before))

    def _restore(self, now: Checkpoint) -> None:
        """Take up what was saved before it was a part."""
        self._saved, self._length = now.saved, now.length
        if not now.saved:
            return
        data = self._store.read(self._place(now.saved))
        if data is None:
            where = self._store.name(self._store.path)
            raise InputError(
                f"{where} lacks {STATE}/{now.saved}; remove the folder to begin again."
            )
        empty = Batch((), now.position, 0)
        self._held = [(empty, Encoded(data, 0, 0))]
        if self._length >= self._size:  # it was to be written when the run ended
            self._end_part()

    def _checkpoint(self, now: Checkpoint) -> None:
        if self.errors:
            self.errors.sync()
        self._save("checkpoint.json", now)
        self._saved_at = monotonic()

    def _place(self, name: str) -> str:
        return f"{self._store.path}/{STATE}/{self._stem}{name}"

    def _save(self, name: str, value: Manifest | Checkpoint) -> None:
        self._store.write(self._place(name), dumped_state(value))

    def _load(self, name: str, kind: type[T]) -> T | None:
        path = self._place(name)
        data = self._store.read(path)
        named = self._store.name(path), self._store.name(self._store.path)
        return None if data is None else loaded_state(data, kind, *named)
