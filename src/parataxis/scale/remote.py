"""Files elsewhere, such as ``s3://bucket/folder``: whatever pyarrow has a filesystem for.

They are read here, in one process, as they stream in; nothing is written there.
"""

import errno
import io
import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple, cast

from parataxis.errors import InputError
from parataxis.scale.arrow import arrow

__all__ = ["RemotePath", "find_remote", "in_words", "is_remote"]

_URI = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+://\S+")
_BUFFER = 1 << 20


class _Stat(NamedTuple):
    st_size: int
    st_mtime_ns: int


@dataclass(frozen=True)
class RemotePath:
    """A file elsewhere; it can do what a long run asks of a path."""

    filesystem: Any = field(compare=False)
    path: str
    name: str

    def __str__(self) -> str:
        return self.name

    def resolve(self) -> "Path | RemotePath":
        """Itself, there are no two names for it; or the path of a file that is here after all."""
        return Path(self.path).resolve() if self.filesystem.type_name == "local" else self

    def stat(self) -> _Stat:
        """Its size, and when it was last written."""
        (found,) = _told(self.name, self.filesystem.get_file_info, [self.path])
        return _Stat(found.size or 0, found.mtime_ns or 0)

    def open(self, mode: str = "rb") -> BinaryIO:
        """Its bytes."""
        raw = _Raw(_told(self.name, self.filesystem.open_input_file, self.path))
        return cast(BinaryIO, io.BufferedReader(raw, _BUFFER))


class _Raw(io.RawIOBase):
    """A stream of pyarrow whose errors say that it is the connection, not the data, that is
    broken: the run ends, and can be resumed."""

    def __init__(self, stream: Any) -> None:
        self._stream = stream

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        try:
            return int(self._stream.readinto(buffer))
        except OSError as error:
            raise OSError(errno.EIO, in_words(error)) from error

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        return int(self._stream.seek(offset, whence))

    def tell(self) -> int:
        return int(self._stream.tell())

    def close(self) -> None:
        self._stream.close()
        super().close()


def is_remote(argument: str) -> bool:
    """Whether an argument is an address such as ``s3://bucket/folder``.

    >>> [is_remote(each) for each in ("s3://texts/a.parquet", "C:/a.txt", "See http://a.org.")]
    [True, False, False]
    """
    return _URI.fullmatch(argument) is not None


def find_remote(address: str) -> RemotePath | list[tuple[RemotePath, Path]]:
    """The file of an address; or, sorted, all files in a folder with their paths below it."""
    arrow()
    from pyarrow.fs import FileSelector, FileSystem, FileType

    filesystem, path = _told(address, FileSystem.from_uri, address)

    def remote(each: str) -> RemotePath:
        return RemotePath(filesystem, each, f"{address.partition(':')[0]}://{each}")

    (found,) = _told(address, filesystem.get_file_info, [path])
    if found.type == FileType.File:
        return remote(path)
    if found.type != FileType.Directory:
        raise InputError(f"There is no file or folder {address}.")
    inside = _told(address, filesystem.get_file_info, FileSelector(path, recursive=True))
    files = sorted(each.path for each in inside if each.type == FileType.File)
    return [(remote(each), Path(each).relative_to(path)) for each in files]


def _told(name: str, call: Any, *arguments: Any) -> Any:
    """What a filesystem answers, or its complaint in one sentence."""
    try:
        return call(*arguments)
    except (OSError, ValueError, NotImplementedError) as error:  # Arrow's errors are such
        raise InputError(f"{name} cannot be read: {in_words(error)}.") from error


def in_words(error: BaseException) -> str:
    """What an error says, on one line and without its full stop."""
    return " ".join(str(error).split()).rstrip(".")
