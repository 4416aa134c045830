"""Running a shipped ONNX model on the CPU: named arrays in, named arrays out."""

import os
from collections.abc import Mapping
from importlib.resources import files
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from parataxis.errors import InputError

Arrays = Mapping[str, NDArray[Any]]

SHIPPED = Path(str(files("parataxis.syntax"))) / "model"
"""The folder of the models that ship with the package."""

THREADS_VARIABLE = "PARATAXIS_THREADS"
"""Environment variable: how many sentences a process analyses at once (default: all cores)."""


def cores() -> int:
    """How many cores this process may use, which may be fewer than the machine has."""
    if hasattr(os, "sched_getaffinity"):  # Linux
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def threads() -> int:
    """How many threads a process uses."""
    asked = os.environ.get(THREADS_VARIABLE, "")
    if not asked:
        return cores()
    if not asked.isdecimal() or int(asked) == 0:
        raise InputError(f"{THREADS_VARIABLE} must be a number of threads, not {asked!r}.")
    return int(asked)


class Model(Protocol):
    """Anything that maps named arrays to named arrays."""

    def __call__(self, inputs: Arrays) -> Arrays:
        """Run the model once."""


class OnnxModel:
    """An ONNX file, loaded on construction.

    One run uses one thread; callers run several sentences at once instead, which is faster than
    sharing the small matrices of a sentence between cores.
    """

    def __init__(self, path: Path) -> None:
        import onnxruntime  # half a second that commands without a model need not pay

        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = 1
        options.log_severity_level = 3
        # onnxruntime looks for a file of weights where the graph really lies, not behind a link.
        self._session = onnxruntime.InferenceSession(
            str(path.resolve()), options, providers=["CPUExecutionProvider"]
        )
        self._outputs = [output.name for output in self._session.get_outputs()]

    def __call__(self, inputs: Arrays) -> dict[str, NDArray[Any]]:
        """Run the model once."""
        arrays = self._session.run(self._outputs, dict(inputs))
        return {name: np.asarray(a) for name, a in zip(self._outputs, arrays, strict=True)}
