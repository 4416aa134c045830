"""The parts of a Word file, which is a zip archive; those that stay the same keep their bytes."""

import io
import zipfile
import zlib
from collections.abc import Mapping
from dataclasses import dataclass

from parataxis.errors import InputError

__all__ = ["Archive", "read_archive"]

LARGEST = 512 << 20
"""Bytes that all parts of a file may have together, unpacked."""

_OLE = bytes.fromhex("d0cf11e0a1b11ae1")
_ENCRYPTED = "EncryptedPackage".encode("utf-16-le")
_SUSPECT_SIZE, _SUSPECT_RATIO = 32 << 20, 200
"""A part that is larger than this and packed that tightly is made to fill the memory."""
_FLAG_ENCRYPTED = 1


@dataclass(frozen=True)
class Archive:
    """The parts of a file; ``name`` is what error messages call it."""

    name: str
    data: bytes

    def names(self) -> list[str]:
        """The names of the parts."""
        with self._open() as archive:
            return archive.namelist()

    def read(self, part: str) -> bytes:
        """One part, unpacked."""
        with self._open() as archive:
            return self._content(archive, archive.getinfo(part))

    def write(self, changed: Mapping[str, bytes]) -> bytes:
        """The file with some parts changed; the others have the same bytes, names and order."""
        stream = io.BytesIO()
        with self._open() as archive, zipfile.ZipFile(stream, "w") as copy:
            copy.comment = archive.comment
            for info in archive.infolist():
                content = changed.get(info.filename)
                if content is None:
                    content = self._content(archive, info)
                copy.writestr(_like(info), content)
        return stream.getvalue()

    def _open(self) -> zipfile.ZipFile:
        try:
            return zipfile.ZipFile(io.BytesIO(self.data))
        except (zipfile.BadZipFile, ValueError, NotImplementedError) as error:
            raise InputError(f"{self.name} is not a Word document, or is damaged.") from error

    def _content(self, archive: zipfile.ZipFile, info: zipfile.ZipInfo) -> bytes:
        try:
            return archive.read(info)
        except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, OSError) as error:
            raise InputError(
                f"{self.name} is damaged: its part {info.filename} cannot be read."
            ) from error


def _like(info: zipfile.ZipInfo) -> zipfile.ZipInfo:
    """The entry of a part in the copy: its name, time and rights."""
    made = zipfile.ZipInfo(info.filename, info.date_time)
    packed = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
    made.compress_type = info.compress_type if info.compress_type in packed else packed[1]
    made.external_attr, made.create_system = info.external_attr, info.create_system
    made.comment = info.comment
    return made


def read_archive(data: bytes, name: str) -> Archive:
    """The archive in the bytes of the file ``name``; raises InputError where it is none, is
    encrypted, or would not fit into memory."""
    if data.startswith(_OLE):
        reason = (
            "is protected by a password; save it without one"
            if _ENCRYPTED in data
            else "is in the old .doc format; save it as .docx"
        )
        raise InputError(f"{name} {reason}.")
    archive = Archive(name, data)
    with archive._open() as opened:
        parts = opened.infolist()
    if any(info.flag_bits & _FLAG_ENCRYPTED for info in parts):
        raise InputError(f"{name} is protected by a password; save it without one.")
    if len({info.filename for info in parts}) != len(parts):
        raise InputError(f"{name} is damaged: two of its parts have the same name.")
    if any(map(_is_suspect, parts)) or sum(info.file_size for info in parts) > LARGEST:
        raise InputError(
            f"{name} is too large: unpacked, it would have more than {LARGEST >> 20} MB, or it is "
            "made to fill the memory."
        )
    return archive


def _is_suspect(info: zipfile.ZipInfo) -> bool:
    tight = info.file_size > _SUSPECT_RATIO * max(1, info.compress_size)
    return tight and info.file_size > _SUSPECT_SIZE
