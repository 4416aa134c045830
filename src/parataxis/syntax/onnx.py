"""Running the shipped ONNX models on the CPU."""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Protocol

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


class Model(Protocol):
    """Anything that maps named arrays to named arrays."""

    def __call__(self, inputs: Arrays) -> Arrays:
        """Run the model once."""


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
        # onnxruntime looks for the file of weights beside the resolved path of the graph.
        self._session = onnxruntime.InferenceSession(
            str(path.resolve()), options, providers=["CPUExecutionProvider"]
        )
        self._outputs = [output.name for output in self._session.get_outputs()]

    def __call__(self, inputs: Arrays) -> dict[str, NDArray[Any]]:
        """Run the model once."""
        arrays = self._session.run(self._outputs, dict(inputs))
        return {name: np.asarray(a) for name, a in zip(self._outputs, arrays, strict=True)}
