"""The shipped models on one device of this process."""

from collections.abc import Mapping
from dataclasses import dataclass
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
        outputs = self.trees({k: torch.from_numpy(v).to(device) for k, v in inputs.items()})
        return {name: tensor.cpu().numpy() for name, tensor in outputs.items()}

    def search(self, sources: Sources, beam: int) -> Results:
        """Search rewrites."""
        return self.searcher(sources, beam)


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
