"""The shipped models on one device of this process."""

import threading
from collections.abc import Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from functools import cache
from typing import Any

import torch
from numpy.typing import NDArray

from parataxis.errors import InputError, ParataxisError
from parataxis.scale.gpu.graph import TorchGraph
from parataxis.scale.gpu.packed import Results, Sources
from parataxis.scale.gpu.search import DeviceSearch, load_search
from parataxis.syntax.analyser import TREES
from parataxis.syntax.onnx import SHIPPED, Arrays

__all__ = ["DeviceModels", "open_device"]


@dataclass(frozen=True)
class DeviceModels:
    """The analyser's trees and the pointer's search; both take and give arrays of numpy."""

    trees: TorchGraph
    searcher: DeviceSearch

    @classmethod
    def load(cls, device: str) -> "DeviceModels":
        """Read the weights and put them on a device such as "cuda" or "cpu"."""
        opened = open_device(device)
        return cls(TorchGraph(SHIPPED / TREES, opened), load_search(opened))

    def analyse(self, inputs: Arrays) -> Mapping[str, NDArray[Any]]:
        """Run the graph of the analyser once."""
        device = self.trees.device
        with _own_stream(device):
            outputs = self.trees({k: torch.from_numpy(v).to(device) for k, v in inputs.items()})
            return {name: _small(tensor).cpu().numpy() for name, tensor in outputs.items()}

    def search(self, sources: Sources, beam: int) -> Results:
        """Search rewrites."""
        return self.searcher(sources, beam)


def _own_stream(device: torch.device) -> AbstractContextManager[object]:
    """What a thread does on a GPU goes on beside what others do."""
    if device.type != "cuda":
        return nullcontext()
    return torch.cuda.stream(_stream(threading.get_ident()))


@cache
def _stream(thread: int) -> torch.cuda.Stream:
    return torch.cuda.Stream()  # type: ignore[no-untyped-call]


def _small(tensor: torch.Tensor) -> torch.Tensor:
    """The numbers of labels in fewer bytes, as they have a way to go."""
    return tensor.to(torch.int16) if tensor.dtype == torch.int64 else tensor


def open_device(name: str) -> torch.device:
    """The device of a name such as "cuda" or "cuda:1", or an error that says what is missing."""
    try:
        device = torch.device(name)
    except RuntimeError as error:
        raise InputError(f'"{name}" is no device; "cpu", "cuda" and "cuda:1" are.') from error
    if device.type not in ("cpu", "cuda"):
        raise InputError(f'"{name}" is no device that is supported; "cpu" and "cuda" are.')
    if device.type == "cuda":
        if not torch.cuda.is_available():
            raise ParataxisError("torch finds no GPU here; leave the device out to use the CPU.")
        if (device.index or 0) >= torch.cuda.device_count():
            raise InputError(f"There are only {torch.cuda.device_count()} GPUs; {name} is none.")
    return device
