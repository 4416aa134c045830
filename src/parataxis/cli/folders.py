"""A folder of results: its files appear when all of them are made, or not at all."""

import shutil
import tempfile
from collections.abc import Mapping
from pathlib import Path

from parataxis.errors import InputError

__all__ = ["write_folder"]


def write_folder(folder: Path, files: Mapping[str, str | bytes]) -> None:
    """Write files, by their names, into a folder, which is made if need be."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=folder) as scratch:
            for name, content in files.items():
                data = content.encode() if isinstance(content, str) else content
                (Path(scratch) / name).write_bytes(data)
            for name in files:
                shutil.move(Path(scratch) / name, folder / name)
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        raise InputError(f"{folder} cannot be written: {reason}.") from error
