"""The pointer splitter on a GPU: searched and analysed there, composed and checked on the CPU."""

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import torch

from parataxis.checks import Checker
from parataxis.errors import InputError, ParataxisError
from parataxis.scale.gpu.analyser import DeviceAnalyser, load_device_analyser
from parataxis.scale.gpu.search import DeviceSearch, load_search
from parataxis.splitters.pointer.choose import search_until
from parataxis.splitters.pointer.features import Features
from parataxis.splitters.pointer.search import Found
from parataxis.splitters.pointer.splitter import CAUTION, PointerSplitter

__all__ = ["WINDOW", "DeviceModels", "DevicePointerSplitter", "open_device"]

WINDOW = 4096
"""Sentences that are on the device at a time."""


class DevicePointerSplitter(PointerSplitter):
    """Rewrites as :class:`PointerSplitter` does, thousands of sentences side by side."""

    def __init__(
        self,
        models: "DeviceModels",
        *,
        beam: int = 4,
        strict: bool = False,
        window: int = WINDOW,
    ) -> None:
        checker = Checker(models.analyser, window=window)
        super().__init__(models.analyser, None, checker, beam=beam, strict=strict)
        self._models = models
        self.batch = window

    @property
    def window(self) -> int:
        """How many sentences are read, searched and checked side by side."""
        return self.batch

    def adjusted(self, *, beam: int | None = None, strict: bool = False) -> "DevicePointerSplitter":
        """The same splitter with another beam, or strict."""
        return DevicePointerSplitter(
            self._models,
            beam=self.beam if beam is None else beam,
            strict=self.strict or strict,
            window=self.batch,
        )

    def search(self, features: Sequence[Features], pool: ThreadPoolExecutor) -> list[Found]:
        """Search all of them on the device."""
        return self._models.search(
            features, beam=self.beam, whole_from=search_until, caution=CAUTION
        )


@dataclass(frozen=True)
class DeviceModels:
    """The shipped models on one device."""

    analyser: DeviceAnalyser
    search: DeviceSearch

    @classmethod
    def load(cls, device: torch.device) -> "DeviceModels":
        """Read the weights and put them there."""
        return cls(load_device_analyser(device), load_search(device))


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
            raise ParataxisError("torch finds no GPU here; leave --device out to use the CPU.")
        if (device.index or 0) >= torch.cuda.device_count():
            raise InputError(f"There are only {torch.cuda.device_count()} GPUs, not {name}.")
    return device
