"""The shipped models on one device of this process."""

import threading
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from parataxis.errors import InputError, ParataxisError
from parataxis.run.gpu.graph import Recording, TorchGraph, current, new_pool
from parataxis.run.gpu.packed import PackedResults, Sentences, Sources, at_least, part_of_scores
from parataxis.run.gpu.search import DeviceSearch, load_search
from parataxis.syntax.analyser import TREES
from parataxis.syntax.onnx import SHIPPED, Arrays

PIECES = 65_536
"""Word pieces, including padding, in one run."""
ROWS = (64, 256, 512, 1024, 2048)
"""Batches are padded to one of these numbers of sentences."""
_WIDEST = 128
"""Runs of longer sentences are not recorded, because they are rare."""


class DeviceTrees:
    """The analyser's scores of many sentences at once."""

    def __init__(self, graph: TorchGraph) -> None:
        self.graph = graph
        self._recorded: dict[tuple[int, int], _Run] = {}
        self._pool = new_pool(graph.device)
        self._local = threading.local()

    @torch.no_grad()
    def __call__(self, sentences: Sentences) -> Arrays:
        """The scores of sentences of one width."""
        most = max(1, min(ROWS[-1], PIECES // sentences.width))
        with current(self.graph.device), self._own_stream():
            found = [
                self._run(sentences.some(slice(start, start + most)))
                for start in range(0, len(sentences), most)
            ]
        return {name: np.concatenate([part[name] for part in found]) for name in found[0]}

    def _run(self, sentences: Sentences) -> dict[str, NDArray[Any]]:
        found = self._runner(sentences)(sentences)
        own = part_of_scores(found, slice(0, len(sentences)), sentences.words)
        return {name: _numbers(tensor) for name, tensor in own.items()}

    def _runner(self, sentences: Sentences) -> "_Run":
        """A recorded run for sentences of this width, or a new one where none is recorded."""
        rows, width = len(sentences), sentences.width
        if self.graph.device.type != "cuda" or width > _WIDEST:
            return _Run(self.graph, rows, width, sentences.words)
        key = at_least(rows, ROWS), width
        if key not in self._recorded:
            self._recorded[key] = _Run(self.graph, *key, words=width)
            self._recorded[key].record(self._pool)
        return self._recorded[key]

    def _own_stream(self) -> AbstractContextManager[object]:
        """A stream for each thread, so that threads use the GPU in parallel."""
        if self.graph.device.type != "cuda":
            return nullcontext()
        if not hasattr(self._local, "stream"):
            self._local.stream = torch.cuda.Stream()  # type: ignore[no-untyped-call]
        return torch.cuda.stream(self._local.stream)


class _Run:
    """A run of the graph on inputs at fixed addresses."""

    def __init__(self, graph: TorchGraph, rows: int, width: int, words: int) -> None:
        self._graph = graph

        def empty(size: int, dtype: torch.dtype) -> Tensor:
            return torch.zeros((rows, size), dtype=dtype, device=graph.device)

        self._inputs = {
            "pieces": empty(width, torch.int64),
            "shapes": empty(width, torch.int64),
            "first": empty(words + 1, torch.int64),
            "forced": empty(words, torch.float32),
        }
        self._outputs: Mapping[str, Tensor] = {}
        self._play = self._once

    def record(self, pool: Any) -> None:
        """Record the run, and replay it from now on."""
        self._play = Recording(self._once, self._graph.device, pool)

    def __call__(self, sentences: Sentences) -> Mapping[str, Tensor]:
        """The outputs for sentences; the rows after them are left over from earlier runs."""
        for name, tensor in self._inputs.items():
            array = getattr(sentences, name)
            tensor[: len(array)] = 0
            tensor[: len(array), : array.shape[1]] = torch.from_numpy(array).to(tensor.device)
        self._play()
        return self._outputs

    def _once(self) -> None:
        self._outputs = self._graph(self._inputs)


def _numbers(tensor: Tensor) -> NDArray[Any]:
    """A tensor as an array; labels take fewer bytes, because they are sent to another process."""
    small = tensor.to(torch.int16) if tensor.dtype == torch.int64 else tensor
    return small.cpu().numpy()


@dataclass(frozen=True)
class DeviceModels:
    """The analyser and the pointer's search; both take and return numpy arrays."""

    trees: DeviceTrees
    searcher: DeviceSearch

    @classmethod
    def load(cls, device: str) -> "DeviceModels":
        """Load the weights on a device such as "cuda" or "cpu"."""
        opened = open_device(device)
        return cls(DeviceTrees(TorchGraph(SHIPPED / TREES, opened)), load_search(opened))

    def analyse(self, parts: Sequence[Sentences]) -> list[Arrays]:
        """The analyser's scores."""
        return [self.trees(part) for part in parts]

    def search(self, parts: Sequence[Sources], beam: int) -> list[PackedResults]:
        """Search rewrites."""
        return [self.searcher(part, beam) for part in parts]


def open_device(name: str) -> torch.device:
    """The device with a name such as "cuda" or "cuda:1"; raises an error if it is not there."""
    try:
        device = torch.device(name)
    except RuntimeError as error:
        raise InputError(f'"{name}" is no device; use "cpu", "cuda" or "cuda:1".') from error
    if device.type not in ("cpu", "cuda"):
        raise InputError(f'"{name}" is no device that is supported; use "cpu" or "cuda".')
    if device.type == "cuda":
        if not torch.cuda.is_available():
            raise ParataxisError("torch finds no GPU here; leave the device out to use the CPU.")
        if (device.index or 0) >= torch.cuda.device_count():
            raise InputError(f"{name} does not exist: there are {torch.cuda.device_count()} GPUs.")
    return device
