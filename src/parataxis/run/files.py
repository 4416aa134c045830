"""What a run reads: text from the command line, standard input, files, folders and addresses.

:func:`find_inputs` finds them. Each is a :class:`DataFile` with a name, a format, a size and its
uncompressed bytes, wherever it comes from.
"""

import glob
import gzip
import hashlib
import io
import math
import os
import re
import sys
import zlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import partial
from pathlib import Path
from shutil import copyfileobj
from tempfile import TemporaryFile
from typing import TYPE_CHECKING, Any, BinaryIO, NamedTuple, cast

from parataxis.errors import InputError, needs, system_errors
from parataxis.text.inputs import STDIN, looks_like_file, read_some, require_piped_input

if TYPE_CHECKING:
    from types import ModuleType


_HEAD = 1 << 16
_KEPT = 64 << 20  # bytes of small files that are kept in memory
_PATTERN = re.compile(r"[*?\[]")


def arrow() -> "ModuleType":
    """The package pyarrow, which Parquet, zstandard and remote files need."""
    with needs("Parquet, .zst files and addresses such as s3://... need pyarrow", "scale"):
        import pyarrow
    module: ModuleType = pyarrow
    return module


_URI = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+://\S+")


def is_remote(argument: str) -> bool:
    """Whether an argument is an address such as ``s3://bucket/folder``.

    >>> [is_remote(each) for each in ("s3://texts/a.parquet", "C:/a.txt", "See http://a.org.")]
    [True, False, False]
    """
    return _URI.fullmatch(argument) is not None


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
_MAGIC = {b"\x1f\x8b": Packing.GZIP, b"\x28\xb5\x2f\xfd": Packing.ZSTD}
"""How compressed data begin (RFC 1952, 2.3.1; RFC 8878, 3.1.1)."""

_BROKEN = (EOFError, zlib.error, OSError)
"""The errors of damaged compressed data; those with a number come from the disk."""


class Identity(NamedTuple):
    """What tells whether a file is still the one that a run began with."""

    path: str
    size: int
    changed: int
    head: str


class Portion(NamedTuple):
    """The part of a file that a shard reads: the units that begin from byte ``start`` on and before
    ``stop``. ``is_followed`` says that another file comes after this one."""

    start: int
    stop: float
    is_followed: bool


class FileState(NamedTuple):
    """The size of a file and when it was last written, named as in :class:`os.stat_result`."""

    st_size: int = 0
    st_mtime_ns: int = 0


@dataclass(frozen=True)
class DataFile:
    """An input. ``name`` stands in ids and messages; ``place`` is its path below the folder that
    was named, or its own name; ``path`` is that of a file of this machine. ``open`` gives its bytes
    as they are stored. ``is_stream`` says that it can be read only once, as it arrives, and
    ``is_copy`` that its bytes are a copy of such a stream. ``portion`` is what a shard reads of
    it. ``stat`` may be what a store said when it was listed; then ``live`` asks it again."""

    name: str
    kind: DataFormat
    place: Path
    open: Callable[[], AbstractContextManager[BinaryIO]]
    stat: Callable[[], FileState | os.stat_result] = FileState
    path: Path | None = None
    is_stream: bool = False
    is_copy: bool = False
    portion: Portion | None = None
    live: Callable[[], FileState] | None = None

    @property
    def is_given_text(self) -> bool:
        return self.path is None and self.name == "text"

    @property
    def can_be_resumed(self) -> bool:
        """Whether it can be read again by another run."""
        return not (self.is_stream or self.is_copy)

    @property
    def has_columns(self) -> bool:
        return self.kind in (DataFormat.TSV, DataFormat.CSV, DataFormat.JSONL, DataFormat.PARQUET)

    @property
    def size(self) -> int:
        """Its bytes on disk; 0 for a stream."""
        return self.stat().st_size

    @property
    def length(self) -> int:
        """The bytes of it that are read."""
        size, portion = self.size, self.portion
        return size if portion is None else int(min(portion.stop, size)) - portion.start

    def identity(self) -> Identity:
        """Its size, when it was last written, and a hash of how it begins."""
        state = (self.live or self.stat)()
        with self.open() as stream:
            head = hashlib.sha256(stream.read(_HEAD)).hexdigest()
        return Identity(self.name, state.st_size, state.st_mtime_ns, head)

    @contextmanager
    def unpacked(self) -> Iterator["Unpacked"]:
        """The uncompressed bytes. How a stream is compressed is seen from how it begins."""
        with self.open() as plain:
            if self.is_stream:
                arriving = _Arriving(plain)
                if arriving.is_archive:
                    raise InputError(
                        f"{self.name} is a Word document or another zip archive, not text; give a "
                        "Word document by its file name."
                    )
                yield Unpacked(cast(BinaryIO, arriving), arriving.packing)
            else:
                yield Unpacked(plain, packing_of(self.name))

    def held(self) -> "DataFile":
        """The same input with its bytes in a temporary file, so that it can be read twice."""
        copy = cast(BinaryIO, TemporaryFile())  # noqa: SIM115  # open as long as it is needed
        with self.unpacked() as stream:
            copyfileobj(stream, copy)
        state = FileState(copy.tell())
        opened = partial(_reopened, copy)
        return replace(self, open=opened, stat=lambda: state, is_stream=False, is_copy=True)


class SmallFiles:
    """Keeps small files in memory, as far as there is room: each is looked at several times before
    and while it is read, and opened once."""

    def __init__(self) -> None:
        self._kept: dict[tuple[str, int, int], bytes] = {}
        self._room = _KEPT

    def opened(
        self,
        name: str,
        state: Callable[[], FileState | os.stat_result],
        opened: Callable[[], AbstractContextManager[BinaryIO]],
    ) -> AbstractContextManager[BinaryIO]:
        """The bytes of the file ``name``, which are those kept if its state is the same."""
        found = state()
        key = name, found.st_size, found.st_mtime_ns
        if key not in self._kept:
            if found.st_size > min(_HEAD, self._room):
                return opened()
            with opened() as stream:
                self._kept[key] = stream.read()
            self._room -= len(self._kept[key])
        return io.BytesIO(self._kept[key])


def _reopened(stream: BinaryIO) -> AbstractContextManager[BinaryIO]:
    stream.seek(0)
    return nullcontext(stream)


def _remote_files(address: str, kind: DataFormat, column: str | None) -> list[DataFile]:
    """The file of an address, or all data files in a folder, sorted."""
    from parataxis.run.remote import open_remote, open_store

    store = open_store(address)
    from pyarrow.fs import FileSelector, FileType

    def remote(info: Any, place: Path) -> DataFile:
        name = store.name(info.path)
        known = [info]  # what the store just said holds once

        def state() -> FileState:
            what = f"{name} cannot be read"
            found = known[0] if known else store.call(what, "get_file_info", [info.path])[0]
            return FileState(found.size or 0, found.mtime_ns or 0)

        def live() -> FileState:
            known.clear()
            return state()

        opened = partial(open_remote, store, info.path)
        local = Path(info.path) if store.filesystem.type_name == "local" else None
        return DataFile(name, _chosen(kind, place), place, opened, state, local, live=live)

    what = f"{address} cannot be read"
    (found,) = store.call(what, "get_file_info", [store.path])
    if found.type == FileType.File:
        return [remote(found, Path(Path(store.path).name))]
    if found.type != FileType.Directory:
        raise InputError(f"There is no file or folder {address}.")
    inside = store.call(what, "get_file_info", FileSelector(store.path, recursive=True))
    files = sorted((each for each in inside if each.type == FileType.File), key=lambda f: f.path)
    return _in_folder(
        address, column, [remote(each, Path(each.path).relative_to(store.path)) for each in files]
    )


class _Arriving(io.RawIOBase):
    """A stream that gives what has arrived, without waiting for more."""

    def __init__(self, stream: BinaryIO) -> None:
        self._read_some = read_some(stream)
        self._head = self._read_some(_HEAD) or b""
        self._given = 0

    @property
    def is_archive(self) -> bool:
        return self._head.startswith(b"PK\x03\x04")

    @property
    def packing(self) -> Packing:
        return next(
            (each for mark, each in _MAGIC.items() if self._head.startswith(mark)), Packing.NONE
        )

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


@dataclass(frozen=True)
class Shard:
    """One of ``count`` parts of the input, which lie one after the other, by bytes: together they
    have each unit once. Each can be split on its own, as by a job of a scheduler.

    >>> str(Shard.parse("3/64"))
    '00003-of-00064'
    """

    number: int
    count: int

    @classmethod
    def parse(cls, given: str) -> "Shard":
        found = re.fullmatch(r"(\d{1,9})/(\d{1,9})", given)
        if not found or not 1 <= int(found[1]) <= int(found[2]):
            raise InputError(f'"{given}" is no shard; give one such as 3/64, from 1/64 to 64/64.')
        return cls(int(found[1]), int(found[2]))

    def __str__(self) -> str:
        return f"{self.number:05}-of-{self.count:05}"

    def named(self, path: Path) -> Path:
        """The output of this shard: "out.jsonl.gz" becomes "out-00003-of-00064.jsonl.gz"."""
        inner = path.with_suffix("") if packing_of(path) else path
        return path.with_name(f"{inner.stem}-{self}{inner.suffix}{packing_of(path)}")

    def of(self, files: Sequence[DataFile], *, whole: bool) -> list[DataFile]:
        """Its part of the files. With ``whole``, and where a file is compressed, a file belongs to
        the shard in which it begins."""
        for file in files:
            if not file.can_be_resumed:
                raise InputError(f"{file.name} can be read only once, so it has no shards.")
        sizes = [file.size for file in files]
        total, at = sum(sizes), 0
        first, end = total * (self.number - 1) // self.count, total * self.number // self.count
        found = []
        for place, (file, size) in enumerate(zip(files, sizes, strict=True)):
            start, stop = max(first - at, 0), min(end - at, size)
            begins_here = first <= at < end or (at == total and self.number == self.count)
            is_last = place + 1 == len(files)
            if whole or not size or packing_of(file.name):
                if begins_here:
                    portion = Portion(0, math.inf, not is_last)
                    found.append(file if whole else replace(file, portion=portion))
            elif start < stop:
                portion = Portion(start, math.inf if stop == size else stop, not is_last)
                found.append(replace(file, portion=portion))
            at += size
        return found


def find_inputs(
    arguments: Sequence[str], kind: DataFormat = DataFormat.AUTO, column: str | None = None
) -> list[DataFile]:
    """The inputs that the arguments of a command name, each found readable.

    An argument is a file; a folder with all the data files in it; a pattern such as
    ``corpus/**/*.parquet``; the address of a file or folder such as ``s3://texts/a``; or "-" for
    standard input, as is no argument if something is piped in. A single other argument is the text
    itself, unless it looks like a file that is missing. The files of a folder or pattern are sorted
    by name; if a column is asked for, text without columns is left out of a folder.
    """
    if not arguments:
        require_piped_input()
    if list(arguments).count(STDIN) > 1:
        raise InputError("Standard input (-) can be read only once.")
    alone = len(arguments) == 1
    kept = SmallFiles()
    files = [
        file
        if file.is_stream or file.is_given_text
        else replace(file, open=partial(kept.opened, file.name, file.stat, file.open))
        for argument in arguments or [STDIN]
        for file in _named(argument, kind, column, alone=alone)
    ]
    for place, file in enumerate(files):
        if not file.is_stream:
            _check(file)
        if file.kind is DataFormat.PARQUET:
            arrow()
            if packing_of(file.name):
                raise InputError(f"{file.name} is a compressed Parquet file; decompress it first.")
            if file.is_stream:  # it is not read from its beginning
                files[place] = file.held()
    return files


def _named(argument: str, kind: DataFormat, column: str | None, *, alone: bool) -> list[DataFile]:
    if argument == STDIN:
        place = Path("stdin")
        return [DataFile("stdin", _chosen(kind, place), place, _stdin, is_stream=True)]
    if is_remote(argument):
        return _remote_files(argument, kind, column)
    # os.path.exists, unlike pathlib, answers for any string, however long.
    if os.path.exists(argument):  # noqa: PTH110
        path = Path(argument)
        if path.is_dir():
            inside = [each for each in sorted(path.rglob("*")) if each.is_file()]
            files = [_local(each, kind, each.relative_to(path)) for each in inside]
            return _in_folder(argument, column, files)
        file = _local(path, kind, Path(path.name))
        if not file.is_stream:
            _check(file, is_named=True)
        return [file]
    if not argument.strip():
        raise InputError("The text is empty; give at least one sentence.")
    if looks_like_file(argument):
        return _matching(argument, kind)
    if not alone:
        raise InputError(f'There is no file "{argument}"; put a text in quotes.')
    return [given_text(argument, kind)]


@contextmanager
def _stdin() -> Iterator[BinaryIO]:
    if sys.stdin is None:
        raise InputError("Standard input is closed; there is nothing to read.")
    yield sys.stdin.buffer


def given_text(text: str, kind: DataFormat) -> DataFile:
    """A text of the command line; it ends with a line end, as a file does."""
    try:
        data = f"{text}\n".encode()
    except UnicodeEncodeError as error:
        raise InputError("The text is not valid UTF-8.") from error
    place, state = Path("text"), FileState(len(data))
    opened = partial(_reopened, io.BytesIO(data))
    return DataFile("text", _chosen(kind, place), place, opened, lambda: state)


def _local(path: Path, kind: DataFormat, place: Path) -> DataFile:
    chosen, is_stream = _chosen(kind, place), not path.is_file()
    return DataFile(str(path), chosen, place, lambda: path.open("rb"), path.stat, path, is_stream)


def _chosen(kind: DataFormat, place: Path) -> DataFormat:
    return (data_format(place) or DataFormat.TEXT) if kind is DataFormat.AUTO else kind


def _matching(pattern: str, kind: DataFormat) -> list[DataFile]:
    if not _PATTERN.search(pattern):
        raise InputError(f"There is no file {pattern}.")
    matched = [Path(each) for each in sorted(glob.glob(pattern, recursive=True))]  # noqa: PTH207
    if not (found := [each for each in matched if each.is_file()]):
        raise InputError(f"No file matches {pattern}.")
    fixed = next(each for each in Path(pattern).parents if not _PATTERN.search(str(each)))
    return [_local(each, kind, each.relative_to(fixed)) for each in found]


def _in_folder(folder: str, column: str | None, inside: Sequence[DataFile]) -> list[DataFile]:
    """The data files of a folder; if a column is asked for, those that have columns."""
    shown = [each for each in inside if not any(part[0] == "." for part in each.place.parts)]
    files = [file for file in shown if data_format(file.place)]
    found = [file for file in files if column is None or file.has_columns]
    if not found:
        without = "files with columns" if files else "data files"
        raise InputError(f"{folder} is a folder without {without}.")
    return found


def _check(file: DataFile, *, is_named: bool = False) -> None:
    """Refuse a file that cannot be read, is UTF-16 or, if it was named itself, holds nothing or is
    not text by its name and its bytes."""
    with system_errors(f"{file.name} cannot be read"), file.unpacked() as stream:
        head = stream.read(_HEAD) or b""
        if head.startswith((b"\xff\xfe", b"\xfe\xff")):
            raise InputError(f"{file.name} is UTF-16 text; save it as UTF-8.")
        if not is_named or file.kind is DataFormat.PARQUET:
            return
        is_known = data_format(file.name) or packing_of(file.name)
        if b"\0" in head and not is_known:
            raise InputError(f"{file.name} is a binary file, not text.")
        while head and not head.strip():
            head = stream.read(_HEAD) or b""
        if not head and not stream.error:
            raise InputError(f"{file.name} is empty.")
