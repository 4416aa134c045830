"""The pointer splitter with its models on a device, in this process or in one that several share.

Sources are searched and analysed on the device; rewrites are composed and checked here.
"""

from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import groupby, islice
from typing import Protocol

from parataxis.checks import Checker
from parataxis.errors import TooLongError
from parataxis.run.gpu.packed import PackedResults, Sentences, Sources, at_least, find
from parataxis.splitters.pointer.actions import Features
from parataxis.splitters.pointer.search import Found
from parataxis.splitters.pointer.splitter import PointerSplitter
from parataxis.syntax.analyser import Analyser, Tokenized, load_analyser, too_long
from parataxis.syntax.analysis import Analysis
from parataxis.syntax.decoding import read_labels
from parataxis.syntax.onnx import SHIPPED, Arrays
from parataxis.syntax.wordpieces import MAX_PIECES, load_word_pieces
from parataxis.text.tokens import tokenize

WINDOW = 1024
"""Sentences that are handed over at a time."""
_READ_AHEAD = 8192
"""Sentences that the analyser reads ahead."""
_LENGTHS = (32, 64, 128, 256, 512)
"""The analyser pads sentences to one of these numbers of word pieces."""


class Models(Protocol):
    """What runs on the device."""

    def analyse(self, parts: Sequence[Sentences]) -> Sequence[Arrays]:
        """The analyser's scores; each part holds sentences of one length."""

    def search(self, parts: Sequence[Sources], beam: int) -> Sequence[PackedResults]:
        """Search rewrites; each part holds sources of one width."""


class DeviceAnalyser(Analyser):
    """Like :class:`~parataxis.syntax.analyser.Analyser`, but many sentences in one run.

    It finds tags and trees; the roles of a sentence are found on the CPU on first use.
    """

    def __init__(self, models: Models) -> None:
        super().__init__(
            lambda inputs: models.analyse([Sentences(inputs["pieces"].shape[1], **inputs)])[0],
            read_labels(SHIPPED / "analyser.json"),
            lambda sentence: load_analyser().frames(sentence),
        )
        self._models = models

    def __call__(self, sentence: str) -> Analysis:
        """Analyse one sentence; raises :class:`TooLongError` where the model cannot read it."""
        (result,) = self.pipe([sentence])
        if isinstance(result, TooLongError):
            raise result
        return result

    def pipe(self, sentences: Iterable[str]) -> Iterator[Analysis | TooLongError]:
        """Analyse many sentences, in order; one that is too long gives the error in its place."""
        return self.pipe_tokenized(Tokenized(text, tokenize(text)) for text in sentences)

    def pipe_tokenized(self, sentences: Iterable[Tokenized]) -> Iterator[Analysis | TooLongError]:
        """Like :meth:`pipe`, for sentences whose tokens are given."""
        stream = iter(sentences)
        while window := list(islice(stream, _READ_AHEAD)):
            yield from self._window(window)

    def _window(self, sentences: Sequence[Tokenized]) -> list[Analysis | TooLongError]:
        pieces = load_word_pieces()([[token.text for token in each.tokens] for each in sentences])
        results: dict[int, Analysis | TooLongError] = {}
        widths: dict[int, int] = {}
        for place, (sentence, read) in enumerate(zip(sentences, pieces, strict=True)):
            if not sentence.tokens:
                results[place] = Analysis(sentence.text, ())
            elif len(read.ids) > MAX_PIECES:
                results[place] = too_long(sentence, read)
            else:
                widths[place] = at_least(len(read.ids), _LENGTHS)
        batches = [
            (width, list(places))
            for width, places in groupby(sorted(widths, key=widths.__getitem__), widths.__getitem__)
        ]
        parts = [
            Sentences.of([sentences[p] for p in places], [pieces[p] for p in places], width)
            for width, places in batches
        ]
        scored = self._models.analyse(parts) if parts else ()
        for (_, places), scores in zip(batches, scored, strict=True):
            analyses = self.read([sentences[place] for place in places], scores)
            results.update(zip(places, analyses, strict=True))
        return [results[place] for place in range(len(sentences))]


class DevicePointerSplitter(PointerSplitter):
    """Like :class:`PointerSplitter`, but many sentences at once on a device."""

    def __init__(
        self, models: Models, *, beam: int = 4, strict: bool = False, window: int = WINDOW
    ) -> None:
        analyser = DeviceAnalyser(models)
        checker = Checker(analyser, window=window)
        super().__init__(analyser, None, checker, beam=beam, strict=strict)
        self._models = models
        self.batch = window

    @property
    def window(self) -> int:
        """How many sentences are searched, analysed and checked at once."""
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
        """Analyse all sentences on the device."""
        return self._loaded_analyser().pipe_tokenized(sentences)

    def search(self, features: Sequence[Features], pool: ThreadPoolExecutor) -> list[Found]:
        """Search all sources on the device."""
        return find(self._models.search, features, self.beam)
