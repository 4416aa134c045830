"""Changes to files that are either there after a crash or not, never half; one process at a time.

All of a long run's effects on the disk go through this module.
"""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from parataxis.errors import InputError

__all__ = ["AppendedFile", "locked", "move", "remove", "sync_folder", "write_atomically"]


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
