"""The files of a long run: which they are, what they hold, and whether they are still the same."""

import errno
import glob
import gzip
import hashlib
import io
import re
import zlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, NamedTuple, cast

from parataxis.errors import InputError, ParataxisError

if TYPE_CHECKING:
    from types import ModuleType


# The package pyarrow, imported when it is first needed.


def arrow() -> "ModuleType":
    """The package, which Parquet, zstandard and files elsewhere need."""
    try:
        import pyarrow
    except ImportError as error:
        raise ParataxisError(
            "Parquet, .zst files and addresses such as s3://... need pyarrow; install it with: "
            "pip install 'parataxis[scale]'."
        ) from error
    module: ModuleType = pyarrow
    return module


# Files elsewhere, such as ``s3://bucket/folder``: whatever pyarrow has a filesystem for.
#
# They are read here, in one process, as they stream in; nothing is written there.

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


_HEAD = 1 << 16
_PATTERN = re.compile(r"[*?\[]")


class DataFormat(StrEnum):
    """How sentences stand in a file."""

    AUTO = "auto"
    TEXT = "text"
    LINES = "lines"
    TSV = "tsv"
    CSV = "csv"
    JSONL = "jsonl"
    PARQUET = "parquet"


class Packing(StrEnum):
    """How a file is packed."""

    NONE = ""
    GZIP = ".gz"
    ZSTD = ".zst"


_KINDS = {
    ".txt": DataFormat.TEXT,
    ".text": DataFormat.TEXT,
    ".md": DataFormat.TEXT,
    ".tsv": DataFormat.TSV,
    ".csv": DataFormat.CSV,
    ".jsonl": DataFormat.JSONL,
    ".ndjson": DataFormat.JSONL,
    ".parquet": DataFormat.PARQUET,
}


class Identity(NamedTuple):
    """What tells whether a file is still the one that a run began with."""

    path: str
    size: int
    changed: int
    head: str


@dataclass(frozen=True)
class DataFile:
    """A file to read. ``name`` is what ids and messages call it; ``place`` is its path below the
    folder that was named, or its own name."""

    path: Path | RemotePath
    kind: DataFormat
    place: Path

    @property
    def name(self) -> str:
        """What ids and messages call it."""
        return str(self.path)

    @property
    def has_columns(self) -> bool:
        """Whether its sentences stand in a column or a field."""
        return self.kind in (DataFormat.TSV, DataFormat.CSV, DataFormat.JSONL, DataFormat.PARQUET)

    @property
    def size(self) -> int:
        """Its bytes on disk."""
        return self.path.stat().st_size

    def identity(self) -> Identity:
        """Its size, when it was last written, and a hash of how it begins."""
        state = self.path.stat()
        with self.path.open("rb") as stream:
            head = hashlib.sha256(stream.read(_HEAD)).hexdigest()
        return Identity(self.name, state.st_size, state.st_mtime_ns, head)

    @contextmanager
    def unpacked(self) -> Iterator["Unpacked"]:
        """The bytes as they were before they were packed."""
        with self.path.open("rb") as plain:
            yield Unpacked(plain, packing_of(self.name))


_BROKEN = (EOFError, zlib.error, OSError)
"""What is raised where packed data prove broken; and, with a number, where a disk is."""


class Unpacked(io.RawIOBase):
    """Unpacked bytes of a file. Where that proves broken, they end after the last that can be had,
    and ``error`` says why."""

    def __init__(self, plain: BinaryIO, packing: Packing) -> None:
        self._plain, self._packing = plain, packing
        self._read = self._opened()
        self._given = self._broken_at = 0
        self.error: Exception | None = None

    @property
    def done(self) -> int:
        """How many bytes of the file itself have been read."""
        return self._plain.tell() if self.error is None else self._broken_at

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        if self.error is not None:
            return 0
        try:
            data = self._read(len(buffer))
        except _BROKEN as error:
            if getattr(error, "errno", None) is not None:
                raise  # it is the disk or the connection that is broken
            self.error, self._broken_at = error, self._plain.tell()
            data = self._rest(len(buffer))
        buffer[: len(data)] = data
        self._given += len(data)
        return len(data)

    def _opened(self) -> Callable[[int], bytes]:
        match self._packing:
            case Packing.GZIP:
                return gzip.GzipFile(fileobj=self._plain).read1
            case Packing.ZSTD:  # unlike others, this one notices where a file was cut off
                reader: Callable[[int], bytes] = (
                    arrow().CompressedInputStream(self._plain, "zstd").read
                )
                return reader
            case Packing.NONE:
                return self._plain.read

    def _rest(self, most: int) -> bytes:
        """What can be had before the error: it is not known how many of the bytes that were asked
        for were good, so the file is unpacked again, and these one by one."""
        self._plain.seek(0)
        read = self._opened()
        left = self._given
        while left and (data := read(min(left, 1 << 20))):
            left -= len(data)
        rest = bytearray()
        try:
            while len(rest) < most and (byte := read(1)):
                rest += byte
        except _BROKEN:
            pass
        return bytes(rest)


def packing_of(path: Path | str) -> Packing:
    """How a file is packed, by its name."""
    suffix = Path(path).suffix.lower()
    return Packing(suffix) if suffix in set(Packing) else Packing.NONE


def data_format(path: Path | str) -> DataFormat | None:
    """What a file holds, by its name: "a.jsonl.gz" is JSONL; None where the name does not tell."""
    inner = Path(path).with_suffix("") if packing_of(path) else Path(path)
    return _KINDS.get(inner.suffix.lower())


def find_files(
    arguments: Sequence[str], kind: DataFormat = DataFormat.AUTO, column: str | None = None
) -> list[DataFile]:
    """The files that the arguments name: files, folders with all the data files in them, patterns
    such as ``corpus/**/*.parquet``, and addresses of files and folders such as ``s3://texts/a``.
    Those of a folder or pattern come sorted by name; where a column is asked for, text without
    columns is left out of a folder."""
    files = [file for argument in arguments for file in _named(argument, kind, column)]
    if not files:
        raise InputError("There is nothing to read: name files, folders or patterns.")
    for file in files:
        if file.kind is DataFormat.PARQUET:
            arrow()
            if packing_of(file.name):
                raise InputError(f"{file.name} is a packed Parquet file; unpack it first.")
        _check_readable(file)
    return files


def _named(argument: str, kind: DataFormat, column: str | None) -> list[DataFile]:
    if is_remote(argument):
        found_there = find_remote(argument)
        if isinstance(found_there, RemotePath):
            return [_file(found_there, kind, Path(Path(found_there.path).name))]
        return _in_folder(argument, kind, column, found_there)
    path = Path(argument)
    if path.is_dir():
        inside = [each for each in sorted(path.rglob("*")) if each.is_file()]
        places = [(each, each.relative_to(path)) for each in inside]
        return _in_folder(argument, kind, column, places)
    if path.is_file():
        return [_file(path, kind, Path(path.name))]
    if path.exists():
        raise InputError(f"{argument} is not a file that can be read again; give files.")
    if _PATTERN.search(argument):
        matched = [Path(each) for each in sorted(glob.glob(argument, recursive=True))]  # noqa: PTH207
        if not (found := [each for each in matched if each.is_file()]):
            raise InputError(f"No file matches {argument}.")
        folder = _fixed(Path(argument))
        return [_file(each, kind, each.relative_to(folder)) for each in found]
    if any(map(str.isspace, argument)):
        raise InputError(f'There is no file "{argument}"; a long run reads files, and no text.')
    raise InputError(f"There is no file {argument}.")


def _fixed(pattern: Path) -> Path:
    """The folder that all files of a pattern are in."""
    return next(each for each in pattern.parents if not _PATTERN.search(str(each)))


def _in_folder(
    folder: str,
    kind: DataFormat,
    column: str | None,
    inside: Sequence[tuple[Path | RemotePath, Path]],
) -> list[DataFile]:
    """The data files of a folder; where a column is asked for, those that have columns."""
    files = [_file(path, kind, place) for path, place in inside if _is_data(place)]
    found = [file for file in files if column is None or file.has_columns]
    if not found:
        without = "files with columns" if files else "data files"
        raise InputError(f"{folder} is a folder without {without}.")
    return found


def _is_data(place: Path) -> bool:
    is_hidden = any(part.startswith(".") for part in place.parts)
    return not is_hidden and data_format(place) is not None


def _file(path: Path | RemotePath, kind: DataFormat, place: Path) -> DataFile:
    chosen = (data_format(place) or DataFormat.TEXT) if kind is DataFormat.AUTO else kind
    return DataFile(path, chosen, place)


def _check_readable(file: DataFile) -> None:
    try:
        with file.unpacked() as stream:
            head = stream.read(2)
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        raise InputError(f"{file.name} cannot be read: {reason}.") from error
    if head in (b"\xff\xfe", b"\xfe\xff"):
        raise InputError(f"{file.name} is UTF-16 text; save it as UTF-8.")
