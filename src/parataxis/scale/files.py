"""The files of a long run: which they are, what they hold, and whether they are still the same."""

import glob
import gzip
import hashlib
import io
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple, cast

from parataxis.errors import InputError
from parataxis.scale.arrow import arrow
from parataxis.scale.remote import RemotePath, find_remote, is_remote

__all__ = [
    "DataFile",
    "Identity",
    "Kind",
    "Packing",
    "find_files",
    "kind_of",
    "packing_of",
]

_HEAD = 1 << 16
_PATTERN = re.compile(r"[*?\[]")


class Kind(StrEnum):
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
    ".txt": Kind.TEXT,
    ".text": Kind.TEXT,
    ".md": Kind.TEXT,
    ".tsv": Kind.TSV,
    ".csv": Kind.CSV,
    ".jsonl": Kind.JSONL,
    ".ndjson": Kind.JSONL,
    ".parquet": Kind.PARQUET,
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
    kind: Kind
    place: Path

    @property
    def name(self) -> str:
        """What ids and messages call it."""
        return str(self.path)

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
    def unpacked(self) -> Iterator[tuple[BinaryIO, BinaryIO]]:
        """The bytes as they were before they were packed, and the file itself, whose position
        tells how much of it has been read."""
        with self.path.open("rb") as plain:
            match packing_of(self.name):
                case Packing.GZIP:
                    yield cast(BinaryIO, gzip.GzipFile(fileobj=plain)), plain
                case Packing.ZSTD:
                    yield _unzstd(plain), plain
                case Packing.NONE:
                    yield plain, plain


def packing_of(path: Path | str) -> Packing:
    """How a file is packed, by its name."""
    suffix = Path(path).suffix.lower()
    return Packing(suffix) if suffix in set(Packing) else Packing.NONE


def kind_of(path: Path | str) -> Kind | None:
    """What a file holds, by its name: "a.jsonl.gz" is JSONL; None where the name does not tell."""
    inner = Path(path).with_suffix("") if packing_of(path) else Path(path)
    return _KINDS.get(inner.suffix.lower())


def find_files(arguments: Sequence[str], kind: Kind = Kind.AUTO) -> list[DataFile]:
    """The files that the arguments name: files, folders with all the data files in them, patterns
    such as ``corpus/**/*.parquet``, and addresses of files and folders such as ``s3://texts/a``.
    Those of a folder or pattern come sorted by name."""
    files = [file for argument in arguments for file in _named(argument, kind)]
    if not files:
        raise InputError("There is nothing to read: name files, folders or patterns.")
    for file in files:
        if file.kind is Kind.PARQUET:
            arrow()
            if packing_of(file.name):
                raise InputError(f"{file.name} is a packed Parquet file; unpack it first.")
        _check_readable(file)
    return files


def _named(argument: str, kind: Kind) -> list[DataFile]:
    if is_remote(argument):
        found_there = find_remote(argument)
        if isinstance(found_there, RemotePath):
            return [_file(found_there, kind, Path(Path(found_there.path).name))]
        return _in_folder(argument, kind, found_there)
    path = Path(argument)
    if path.is_dir():
        inside = [each for each in sorted(path.rglob("*")) if each.is_file()]
        return _in_folder(argument, kind, [(each, each.relative_to(path)) for each in inside])
    if path.is_file():
        return [_file(path, kind, Path(path.name))]
    if path.exists():
        raise InputError(f"{argument} is not a file that can be read again; give files.")
    if _PATTERN.search(argument):
        matched = [Path(each) for each in sorted(glob.glob(argument, recursive=True))]  # noqa: PTH207
        if not (found := [each for each in matched if each.is_file()]):
            raise InputError(f"No file matches {argument}.")
        return [_file(each, kind, Path(each.name)) for each in found]
    if any(map(str.isspace, argument)):
        raise InputError(f'There is no file "{argument}"; a long run reads files, and no text.')
    raise InputError(f"There is no file {argument}.")


def _in_folder(
    folder: str, kind: Kind, inside: Sequence[tuple[Path | RemotePath, Path]]
) -> list[DataFile]:
    found = [_file(path, kind, place) for path, place in inside if _is_data(place)]
    if not found:
        raise InputError(f"{folder} is a folder without data files.")
    return found


def _is_data(place: Path) -> bool:
    is_hidden = any(part.startswith(".") for part in place.parts)
    return not is_hidden and kind_of(place) is not None


def _file(path: Path | RemotePath, kind: Kind, place: Path) -> DataFile:
    chosen = (kind_of(place) or Kind.TEXT) if kind is Kind.AUTO else kind
    return DataFile(path, chosen, place)


def _check_readable(file: DataFile) -> None:
    try:
        with file.path.open("rb") as stream:
            head = stream.read(2)
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        raise InputError(f"{file.name} cannot be read: {reason}.") from error
    if head in (b"\xff\xfe", b"\xfe\xff"):
        raise InputError(f"{file.name} is UTF-16 text; save it as UTF-8.")


def _unzstd(plain: BinaryIO) -> BinaryIO:
    """The unpacked bytes; unlike others, this one notices where a file was cut off."""
    raw: Any = arrow().CompressedInputStream(plain, "zstd")
    return cast(BinaryIO, io.BufferedReader(raw))
