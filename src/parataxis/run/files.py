"""What a run reads: text from the command line, standard input, files, folders and addresses.

:func:`find_inputs` says which they are. Each is a :class:`DataFile`, whatever it comes from: it has
a name, a format, a size and its unpacked bytes.
"""

import errno
import glob
import gzip
import hashlib
import io
import os
import re
import sys
import zlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field, replace
from enum import StrEnum
from pathlib import Path
from shutil import copyfileobj
from tempfile import TemporaryFile
from typing import TYPE_CHECKING, Any, BinaryIO, NamedTuple, cast

from parataxis.errors import InputError, ParataxisError
from parataxis.text.inputs import STDIN, looks_like_file, read_some, require_piped_input

if TYPE_CHECKING:
    from types import ModuleType


_URI = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+://\S+")
_BUFFER = 1 << 20
_HEAD = 1 << 16
_PATTERN = re.compile(r"[*?\[]")


def arrow() -> "ModuleType":
    """The package pyarrow, which Parquet, zstandard and remote files need."""
    try:
        import pyarrow
    except ImportError as error:
        raise ParataxisError(
            "Parquet, .zst files and addresses such as s3://... need pyarrow; install it with: "
            "pip install 'parataxis[scale]'."
        ) from error
    module: ModuleType = pyarrow
    return module


class _Stat(NamedTuple):
    st_size: int
    st_mtime_ns: int


@dataclass(frozen=True)
class RemotePath:
    """A file at an address such as ``s3://bucket/a.txt``, with the methods of a path that a run
    uses. It is read in this process, as it streams in."""

    filesystem: Any = field(compare=False)
    path: str
    name: str

    def __str__(self) -> str:
        return self.name

    def resolve(self) -> "Path | RemotePath":
        """Itself; or, for ``file://``, the path of the local file."""
        return Path(self.path).resolve() if self.filesystem.type_name == "local" else self

    def stat(self) -> _Stat:
        """Its size, and when it was last written."""
        (found,) = _reported(self.name, self.filesystem.get_file_info, [self.path])
        return _Stat(found.size or 0, found.mtime_ns or 0)

    def open(self, mode: str = "rb") -> BinaryIO:
        """Its bytes."""
        raw = _Raw(_reported(self.name, self.filesystem.open_input_file, self.path))
        return cast(BinaryIO, io.BufferedReader(raw, _BUFFER))


class _Raw(io.RawIOBase):
    """A stream of pyarrow whose errors have a number, which says that the connection is broken,
    not the data: the run ends, and can be resumed."""

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

    filesystem, path = _reported(address, FileSystem.from_uri, address)

    def remote(each: str) -> RemotePath:
        return RemotePath(filesystem, each, f"{address.partition(':')[0]}://{each}")

    (found,) = _reported(address, filesystem.get_file_info, [path])
    if found.type == FileType.File:
        return remote(path)
    if found.type != FileType.Directory:
        raise InputError(f"There is no file or folder {address}.")
    inside = _reported(address, filesystem.get_file_info, FileSelector(path, recursive=True))
    files = sorted(each.path for each in inside if each.type == FileType.File)
    return [(remote(each), Path(each).relative_to(path)) for each in files]


def _reported(name: str, call: Any, *arguments: Any) -> Any:
    """The result of a call to a filesystem; its error becomes an InputError."""
    try:
        return call(*arguments)
    except (OSError, ValueError, NotImplementedError) as error:  # Arrow's errors are such
        raise InputError(f"{name} cannot be read: {in_words(error)}.") from error


def in_words(error: BaseException) -> str:
    """The message of an error, on one line and without its full stop."""
    return " ".join(str(error).split()).rstrip(".")


class StandardInput:
    """Standard input, with the methods of a path that a run uses."""

    def __str__(self) -> str:
        return "stdin"

    def resolve(self) -> "StandardInput":
        """Itself."""
        return self

    def stat(self) -> _Stat:
        """Nothing is known of it before it has been read."""
        return _Stat(0, 0)

    @contextmanager
    def open(self, mode: str = "rb") -> Iterator[BinaryIO]:
        """Its bytes; they stay open."""
        if sys.stdin is None:
            raise InputError("Standard input is closed; there is nothing to read.")
        yield sys.stdin.buffer


@dataclass(frozen=True)
class HeldInput:
    """Bytes that are held here under a name: a text of the command line, or a stream that has to
    be read more than once. It has the methods of a path that a run uses."""

    name: str
    stream: BinaryIO = field(compare=False)
    size: int

    def __str__(self) -> str:
        return self.name

    def resolve(self) -> "HeldInput":
        """Itself."""
        return self

    def stat(self) -> _Stat:
        """Its size."""
        return _Stat(self.size, 0)

    def open(self, mode: str = "rb") -> Any:
        """Its bytes, from the first."""
        self.stream.seek(0)
        return nullcontext(self.stream)


AnyPath = Path | RemotePath | StandardInput | HeldInput


class DataFormat(StrEnum):
    """How sentences are stored in an input."""

    AUTO = "auto"
    TEXT = "text"
    LINES = "lines"
    TSV = "tsv"
    CSV = "csv"
    JSONL = "jsonl"
    PARQUET = "parquet"


class Packing(StrEnum):
    """How a file is compressed."""

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
    """An input. ``place`` is its path below the folder that was named, or its own name;
    ``is_stream`` says that it can be read only once, as it arrives."""

    path: AnyPath
    kind: DataFormat
    place: Path
    is_stream: bool = False

    @property
    def name(self) -> str:
        """The name that ids and messages use."""
        return str(self.path)

    @property
    def has_columns(self) -> bool:
        """Whether its records have columns or fields."""
        return self.kind in (DataFormat.TSV, DataFormat.CSV, DataFormat.JSONL, DataFormat.PARQUET)

    @property
    def size(self) -> int:
        """Its bytes on disk; 0 for a stream."""
        return self.path.stat().st_size

    def identity(self) -> Identity:
        """Its size, when it was last written, and a hash of how it begins."""
        state = self.path.stat()
        with self.path.open("rb") as stream:
            head = hashlib.sha256(stream.read(_HEAD)).hexdigest()
        return Identity(self.name, state.st_size, state.st_mtime_ns, head)

    @property
    def can_be_resumed(self) -> bool:
        """Whether it can be read again after an interruption."""
        is_given = isinstance(self.path, HeldInput) and isinstance(self.path.stream, io.BytesIO)
        return is_given or not (self.is_stream or isinstance(self.path, HeldInput))

    @contextmanager
    def unpacked(self) -> Iterator["Unpacked"]:
        """The uncompressed bytes. How a stream is compressed is seen from how it begins."""
        with self.path.open("rb") as plain:
            if self.is_stream:
                arriving = _Arriving(plain)
                yield Unpacked(cast(BinaryIO, arriving), arriving.packing)
            else:
                yield Unpacked(plain, packing_of(self.name))

    def held(self) -> "DataFile":
        """The same input with its bytes in a temporary file, so that it can be read twice."""
        copy = cast(BinaryIO, TemporaryFile())  # noqa: SIM115  # open as long as it is needed
        with self.unpacked() as stream:
            copyfileobj(stream, copy)
        return replace(self, path=HeldInput(self.name, copy, copy.tell()), is_stream=False)


class _Arriving(io.RawIOBase):
    """A stream that gives what has arrived, without waiting for more."""

    def __init__(self, stream: BinaryIO) -> None:
        self._read_some = read_some(stream)
        self._head = self._read_some(_HEAD) or b""
        self._given = 0

    @property
    def packing(self) -> Packing:
        """How it is compressed, by its first bytes."""
        return next((each for mark, each in _MAGIC.items() if self._head.startswith(mark)), _PLAIN)

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        data = self._head[: len(buffer)] or self._read_some(len(buffer)) or b""
        self._head = self._head[len(buffer) :]
        buffer[: len(data)] = data
        self._given += len(data)
        return len(data)

    def tell(self) -> int:
        return self._given


_PLAIN = Packing.NONE
_MAGIC = {b"\x1f\x8b": Packing.GZIP, b"\x28\xb5\x2f\xfd": Packing.ZSTD}
"""How compressed data begin (RFC 1952, 2.3.1; RFC 8878, 3.1.1)."""

_BROKEN = (EOFError, zlib.error, OSError)
"""The errors of damaged compressed data; those with a number come from the disk."""


class Unpacked(io.RawIOBase):
    """The uncompressed bytes of a file. Where it is damaged, they end after the last one that can
    be read, and ``error`` says why."""

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
        """The bytes before the error. It is not known how many of those that were asked for were
        good, so the file is unpacked again, and these are read one by one."""
        if not self._plain.seekable():
            return b""
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
    """How a file is compressed, by its name."""
    suffix = Path(path).suffix.lower()
    return Packing(suffix) if suffix in set(Packing) else Packing.NONE


def data_format(path: Path | str) -> DataFormat | None:
    """What a file holds, by its name: "a.jsonl.gz" is JSONL; None where the name does not tell."""
    inner = Path(path).with_suffix("") if packing_of(path) else Path(path)
    return _KINDS.get(inner.suffix.lower())


def find_inputs(
    arguments: Sequence[str], kind: DataFormat = DataFormat.AUTO, column: str | None = None
) -> list[DataFile]:
    """The inputs that the arguments of a command name, each found readable.

    An argument is a file; a folder with all the data files in it; a pattern such as
    ``corpus/**/*.parquet``; the address of a file or folder such as ``s3://texts/a``; or "-" for
    standard input, as is no argument where something is piped in. A single other argument is the
    text itself, unless it looks like a file that is missing. The files of a folder or pattern come
    sorted by name; where a column is asked for, text without columns is left out of a folder.
    """
    if not arguments:
        require_piped_input()
    if list(arguments).count(STDIN) > 1:
        raise InputError("Standard input (-) can be read only once.")
    alone = len(arguments) == 1
    files = [
        file
        for argument in arguments or [STDIN]
        for file in _named(argument, kind, column, alone=alone)
    ]
    for file in files:
        _check_readable(file)
    return [_held(file) for file in files]


def _held(file: DataFile) -> DataFile:
    """The input; one of Parquet, which is not read from its beginning, is held where it streams."""
    if file.kind is not DataFormat.PARQUET:
        return file
    arrow()
    if packing_of(file.name):
        raise InputError(f"{file.name} is a packed Parquet file; unpack it first.")
    return file.held() if file.is_stream else file


def _named(argument: str, kind: DataFormat, column: str | None, *, alone: bool) -> list[DataFile]:
    if argument == STDIN:
        return [_file(StandardInput(), kind, Path("stdin"), is_stream=True)]
    if is_remote(argument):
        found_there = find_remote(argument)
        if isinstance(found_there, RemotePath):
            return [_file(found_there, kind, Path(Path(found_there.path).name))]
        return _in_folder(argument, kind, column, found_there)
    # os.path.exists, unlike pathlib, answers for any string, however long.
    if os.path.exists(argument):  # noqa: PTH110
        path = Path(argument)
        if path.is_dir():
            inside = [each for each in sorted(path.rglob("*")) if each.is_file()]
            places = [(each, each.relative_to(path)) for each in inside]
            return _in_folder(argument, kind, column, places)
        file = _file(path, kind, Path(path.name), is_stream=not path.is_file())
        if path.is_file():
            _require_words(file)
        return [file]
    if not argument.strip():
        raise InputError("The text is empty; give at least one sentence.")
    if looks_like_file(argument):
        return _matching(argument, kind)
    if not alone:
        raise InputError(f'There is no file "{argument}"; put a text in quotes.')
    return [given_text(argument, kind)]


def given_text(text: str, kind: DataFormat) -> DataFile:
    """A text of the command line; it ends with a line end, as a file does."""
    try:
        data = f"{text}\n".encode()
    except UnicodeEncodeError as error:
        raise InputError("The text is not valid UTF-8.") from error
    return _file(HeldInput("text", io.BytesIO(data), len(data)), kind, Path("text"))


def _matching(pattern: str, kind: DataFormat) -> list[DataFile]:
    if not _PATTERN.search(pattern):
        raise InputError(f"There is no file {pattern}.")
    matched = [Path(each) for each in sorted(glob.glob(pattern, recursive=True))]  # noqa: PTH207
    if not (found := [each for each in matched if each.is_file()]):
        raise InputError(f"No file matches {pattern}.")
    fixed = next(each for each in Path(pattern).parents if not _PATTERN.search(str(each)))
    return [_file(each, kind, each.relative_to(fixed)) for each in found]


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


def _file(path: AnyPath, kind: DataFormat, place: Path, *, is_stream: bool = False) -> DataFile:
    chosen = (data_format(place) or DataFormat.TEXT) if kind is DataFormat.AUTO else kind
    return DataFile(path, chosen, place, is_stream)


def _check_readable(file: DataFile) -> None:
    if file.is_stream:
        return
    try:
        with file.unpacked() as stream:
            head = stream.read(2)
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        raise InputError(f"{file.name} cannot be read: {reason}.") from error
    if head in (b"\xff\xfe", b"\xfe\xff"):
        raise InputError(f"{file.name} is UTF-16 text; save it as UTF-8.")


def _require_words(file: DataFile) -> None:
    """Refuse a file that was named and holds nothing, or is not text by its name and its bytes."""
    try:
        with file.path.open("rb") as stream:
            head = stream.read(_HEAD)
            is_named = data_format(file.name) or packing_of(file.name)
            if b"\0" in head and not is_named and file.kind is not DataFormat.PARQUET:
                raise InputError(f"{file.name} is a binary file, not text.")
            while head and not head.strip():
                head = stream.read(_HEAD)
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        raise InputError(f"{file.name} cannot be read: {reason}.") from error
    if not head and file.kind is not DataFormat.PARQUET:
        raise InputError(f"{file.name} is empty.")
