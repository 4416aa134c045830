"""The models that ship with Parataxis: where their files are, and which version they have.

``PARATAXIS_MODELS`` names a folder with other weights: those in its subfolders ``analyser``,
``pointer`` and ``verifier``, as far as they exist, are used in place of the shipped ones.
"""

import json
import os
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from datetime import date
from functools import cache
from hashlib import sha256
from importlib.resources import files
from pathlib import Path

from parataxis.errors import InputError

MODELS_VARIABLE = "PARATAXIS_MODELS"
"""Environment variable: a folder with other weights."""

HOMES = {
    "analyser": "parataxis.syntax",
    "pointer": "parataxis.splitters.pointer",
    "verifier": "parataxis.checks",
}
"""The shipped models, and the packages whose folder ``model`` has their files."""

DESCRIPTION = "model.json"
_TEXTS = {DESCRIPTION, "NOTICE", "CARD.md"}


@dataclass(frozen=True)
class ModelDescription:
    """What ``model.json`` says of a model. ``files`` has the SHA-256 of each of its files."""

    name: str
    version: str
    licence: str
    summary: str
    files: Mapping[str, str]


def shipped_folder(name: str) -> Path:
    """The folder of a model in the package."""
    return Path(str(files(HOMES[name]))) / "model"


def model_folder(name: str) -> Path:
    """The folder of a model: in ``$PARATAXIS_MODELS`` if it is there, else in the package."""
    chosen = os.environ.get(MODELS_VARIABLE)
    if not chosen:
        return shipped_folder(name)
    if not any(Path(chosen, each).is_dir() for each in HOMES):
        names = ", ".join(HOMES)
        raise InputError(f"{MODELS_VARIABLE}: {chosen} has no folder of a model ({names}).")
    folder = Path(chosen, name)
    return folder if folder.is_dir() else shipped_folder(name)


def read_description(folder: Path) -> ModelDescription:
    """The description of the model in a folder."""
    path = folder / DESCRIPTION
    try:
        return ModelDescription(**json.loads(path.read_bytes()))
    except (OSError, TypeError, ValueError) as error:
        raise InputError(f"{path} does not describe a model of this version.") from error


def write_description(folder: Path, name: str, version: str | None = None) -> None:
    """Describe the files of a model as they are now. Licence and summary are those of its name; the
    version is today's date until the model ships."""
    known = read_description(shipped_folder(name))
    version = version or date.today().isoformat()
    made = ModelDescription(name, version, known.licence, known.summary, checksums(folder))
    text = json.dumps(asdict(made), indent=1, ensure_ascii=False)
    (folder / DESCRIPTION).write_text(f"{text}\n", encoding="utf-8")


def checksums(folder: Path) -> dict[str, str]:
    """The SHA-256 of the files of a model."""
    paths = (path for path in sorted(folder.iterdir()) if path.is_file())
    return {
        path.name: sha256(path.read_bytes()).hexdigest()
        for path in paths
        if path.name not in _TEXTS
    }


@cache
def weights_named(*names: str) -> str:
    """The models with their versions, as records name them.

    >>> weights_named("analyser")
    'analyser 1'
    """
    return ", ".join(f"{name} {read_description(model_folder(name)).version}" for name in names)
