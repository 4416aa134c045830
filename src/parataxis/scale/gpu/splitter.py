"""The pointer splitter with its models on a GPU: searched and analysed there, composed and checked
here. Where the models are is no matter: in this process or in one that several share."""

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Protocol

from parataxis.checks import Checker
from parataxis.scale.gpu.analyser import DeviceAnalyser
from parataxis.scale.gpu.packed import Results, Sources, find
from parataxis.splitters.pointer.features import Features
from parataxis.splitters.pointer.search import Found
from parataxis.splitters.pointer.splitter import PointerSplitter
from parataxis.syntax.onnx import Arrays

__all__ = ["WINDOW", "DevicePointerSplitter", "Models"]

WINDOW = 1024
"""Sentences that are handed over at a time."""


class Models(Protocol):
    """What runs on the device."""

    def analyse(self, inputs: Arrays) -> Arrays:
        """Run the graph of the analyser once."""

    def search(self, sources: Sources, beam: int) -> Results:
        """Search rewrites."""


class DevicePointerSplitter(PointerSplitter):
    """Rewrites as :class:`PointerSplitter` does, many sentences side by side."""

    def __init__(
        self, models: Models, *, beam: int = 4, strict: bool = False, window: int = WINDOW
    ) -> None:
        analyser = DeviceAnalyser(models.analyse)
        checker = Checker(analyser, window=window)
        super().__init__(analyser, None, checker, beam=beam, strict=strict)
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
        return find(self._models.search, features, self.beam)
