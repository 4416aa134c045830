"""The pointer splitter with its models on a GPU: searched and analysed there, composed and checked
here. Where the models are is no matter: in this process or in one that several share."""

from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Protocol

from parataxis.checks import Checker
from parataxis.errors import TooLongError
from parataxis.run.gpu.analyser import DeviceAnalyser
from parataxis.run.gpu.packed import PackedResults, Sentences, Sources, find
from parataxis.splitters.pointer.actions import Features
from parataxis.splitters.pointer.search import Found
from parataxis.splitters.pointer.splitter import PointerSplitter
from parataxis.syntax.analyser import Tokenized
from parataxis.syntax.analysis import Analysis
from parataxis.syntax.onnx import Arrays

WINDOW = 1024
"""Sentences that are handed over at a time."""


class Models(Protocol):
    """What runs on the device."""

    def analyse(self, parts: Sequence[Sentences]) -> Sequence[Arrays]:
        """The analyser's scores of sentences, those of one length together."""

    def search(self, parts: Sequence[Sources], beam: int) -> Sequence[PackedResults]:
        """Search rewrites of sources, those of one width together."""


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

    def analyse(self, sentences: Sequence[Tokenized]) -> Iterable[Analysis | TooLongError]:
        """Analyse all of them on the device."""
        return self._loaded_analyser().pipe_tokenized(sentences)

    def search(self, features: Sequence[Features], pool: ThreadPoolExecutor) -> list[Found]:
        """Search all of them on the device."""
        return find(self._models.search, features, self.beam)
