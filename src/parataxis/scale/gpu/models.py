"""The shipped models on one device of this process."""

from collections.abc import Sequence
from dataclasses import dataclass

import torch

from parataxis.errors import InputError, ParataxisError
from parataxis.scale.gpu.graph import TorchGraph
from parataxis.scale.gpu.packed import Results, Sentences, Sources
from parataxis.scale.gpu.search import DeviceSearch, load_search
from parataxis.scale.gpu.trees import DeviceTrees
from parataxis.syntax.analyser import TREES
from parataxis.syntax.onnx import SHIPPED, Arrays

__all__ = ["DeviceModels", "open_device"]


@dataclass(frozen=True)
class DeviceModels:
    """The analyser's trees and the pointer's search; both take and give arrays of numpy."""

    trees: DeviceTrees
    searcher: DeviceSearch

    @classmethod
    def load(cls, device: str) -> "DeviceModels":
        """Read the weights and put them on a device such as "cuda" or "cpu"."""
        opened = open_device(device)
        return cls(DeviceTrees(TorchGraph(SHIPPED / TREES, opened)), load_search(opened))

    def analyse(self, parts: Sequence[Sentences]) -> list[Arrays]:
        """The analyser's scores."""
        return [self.trees(part) for part in parts]

    def search(self, parts: Sequence[Sources], beam: int) -> list[Results]:
        """Search rewrites."""
        return [self.searcher(part, beam) for part in parts]


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
