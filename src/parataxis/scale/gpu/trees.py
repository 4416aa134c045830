"""The analyser's tags and trees on a device: many sentences in one run, which is recorded."""

import threading
from collections.abc import Mapping
from contextlib import AbstractContextManager, nullcontext
from functools import cache
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from parataxis.scale.gpu.graph import TorchGraph
from parataxis.scale.gpu.packed import Sentences
from parataxis.scale.gpu.recording import Recording, new_pool
from parataxis.syntax.onnx import Arrays

__all__ = ["DeviceTrees"]

PIECES = 65_536
"""Word pieces, padding included, in one run."""
ROWS = (64, 256, 1024, 2048)
"""Batches are padded to one of these numbers of sentences."""
_WIDEST = 128
"""Longer sentences are rare, so that no run of them is recorded."""


class DeviceTrees:
    """The scores of many sentences side by side."""

    def __init__(self, graph: TorchGraph) -> None:
        self.graph = graph
        self._recorded: dict[tuple[int, int], _Run] = {}
        self._pool = new_pool(graph.device)

    @torch.no_grad()
    def __call__(self, sentences: Sentences) -> Arrays:
        """The scores of sentences of one width."""
        most = max(1, min(ROWS[-1], PIECES // sentences.width))
        with _own_stream(self.graph.device):
            found = [
                self._run(sentences.some(slice(start, start + most)))
                for start in range(0, len(sentences), most)
            ]
        return {name: np.concatenate([part[name] for part in found]) for name in found[0]}

    def _run(self, sentences: Sentences) -> dict[str, NDArray[Any]]:
        count, words = len(sentences), sentences.words
        if self.graph.device.type != "cuda" or sentences.width > _WIDEST:
            run = _Run(self.graph, count, sentences.width, words)
        else:
            key = next(rows for rows in ROWS if rows >= count), sentences.width
            if key not in self._recorded:
                self._recorded[key] = _Run(self.graph, *key, sentences.width)
                self._recorded[key].record(self._pool)
            run = self._recorded[key]
        return {name: _numbers(tensor[:count]) for name, tensor in run(sentences).items()}


class _Run:
    """A run of the graph on inputs that lie at fixed places."""

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
        """Play it back from now on."""
        self._play = Recording(self._once, self._graph.device, pool)

    def __call__(self, sentences: Sentences) -> Mapping[str, Tensor]:
        """The outputs for sentences; behind them stands what stood there before."""
        for name, tensor in self._inputs.items():
            array = getattr(sentences, name)
            tensor[: len(array)] = 0
            tensor[: len(array), : array.shape[1]] = torch.from_numpy(array).to(tensor.device)
        self._play()
        return self._outputs

    def _once(self) -> None:
        self._outputs = self._graph(self._inputs)


def _own_stream(device: torch.device) -> AbstractContextManager[object]:
    """What a thread does on a GPU goes on beside what others do."""
    if device.type != "cuda":
        return nullcontext()
    return torch.cuda.stream(_stream(threading.get_ident()))


@cache
def _stream(thread: int) -> torch.cuda.Stream:
    return torch.cuda.Stream()  # type: ignore[no-untyped-call]


def _numbers(tensor: Tensor) -> NDArray[Any]:
    """A tensor as an array; the numbers of labels in fewer bytes, as they have a way to go."""
    small = tensor.to(torch.int16) if tensor.dtype == torch.int64 else tensor
    return small.cpu().numpy()
