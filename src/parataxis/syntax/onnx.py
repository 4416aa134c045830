"""The shipped ONNX models: where they are, which version they have, and running them on the CPU.

``PARATAXIS_MODELS`` names a folder with other weights: those in its subfolders ``analyser``,
``pointer`` and ``verifier``, as far as they exist, are used in place of the shipped ones.
"""

import json
import os
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from datetime import date
from functools import cache
from hashlib import sha256
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from parataxis.errors import InputError

Arrays = Mapping[str, NDArray[Any]]

THREADS_VARIABLE = "PARATAXIS_THREADS"
"""Environment variable: how many sentences a process analyses at once (default: all cores)."""


def cores() -> int:
    """The number of cores that this process may use; the machine may have more."""
    if hasattr(os, "sched_getaffinity"):  # Linux
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def threads() -> int:
    """The number of threads that a process uses."""
    asked = os.environ.get(THREADS_VARIABLE, "")
    if not asked:
        return cores()
    if not asked.isdecimal() or int(asked) == 0:
        raise InputError(f"{THREADS_VARIABLE} must be a number of threads, not {asked!r}.")
    return int(asked)


Model = Callable[[Arrays], Arrays]


class OnnxModel:
    """An ONNX file, loaded on construction.

    A run uses one thread. Callers run several sentences in parallel, which is faster than dividing
    the small matrices of one sentence among cores.
    """

    def __init__(self, path: Path) -> None:
        import onnxruntime  # takes half a second, which commands without a model save

        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = 1
        options.log_severity_level = 3
        # What a long sentence has taken is given back. It is as fast for sentences of all lengths.
        options.enable_cpu_mem_arena = options.enable_mem_pattern = False
        # onnxruntime looks for the file of weights beside the resolved path of the graph.
        self._session = onnxruntime.InferenceSession(
            str(path.resolve()), options, providers=["CPUExecutionProvider"]
        )
        self._outputs = [output.name for output in self._session.get_outputs()]

    def __call__(self, inputs: Arrays) -> dict[str, NDArray[Any]]:
        arrays = self._session.run(self._outputs, dict(inputs))
        return {name: np.asarray(a) for name, a in zip(self._outputs, arrays, strict=True)}


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
