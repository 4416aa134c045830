"""The pointer splitter: analyses sentences, searches rewrites, and lets the checks choose."""

from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import islice

from parataxis.checks import Checker
from parataxis.errors import InputError, TooLongError
from parataxis.rewrite.record import Rewrite
from parataxis.splitters.pointer.choose import NAME, choose
from parataxis.splitters.pointer.features import read_source
from parataxis.splitters.pointer.search import Decoder, Found, search
from parataxis.splitters.source import left_whole
from parataxis.syntax.analyser import Analyser, load_analyser
from parataxis.syntax.analysis import Analysis
from parataxis.syntax.onnx import threads

__all__ = ["BATCH", "BEAMS", "LONGEST", "PointerSplitter"]

BATCH = 32
"""Sources that are searched side by side."""
_FEWEST = 8
"""Smaller batches are not worth a thread of their own."""

BEAMS = range(1, 9)
"""How many hypotheses may be followed."""

LONGEST = 200
"""Words of the longest sentence that is rewritten."""


class PointerSplitter:
    """Rewrites a sentence with copies and inflections of its own words and with function words.

    ``beam`` hypotheses are followed for each source. In strict mode no rewrite with any finding of
    the checks is taken; else only what loses, adds or repeats something is ruled out.
    """

    name = NAME
    summary = "Copies the words of the source one by one, so it cannot add facts; checked."

    def __init__(
        self,
        analyser: Analyser | None = None,
        decoder: Decoder | None = None,
        checker: Checker | None = None,
        *,
        beam: int = 4,
        strict: bool = False,
    ) -> None:
        if beam not in BEAMS:
            raise InputError(f"The beam must be from {BEAMS[0]} to {BEAMS[-1]}, not {beam}.")
        self._analyser, self._decoder, self._checker = analyser, decoder, checker
        self.beam, self.strict = beam, strict

    def adjusted(self, *, beam: int | None = None, strict: bool = False) -> "PointerSplitter":
        """The same splitter with another beam, or strict."""
        return PointerSplitter(
            self._analyser,
            self._decoder,
            self._checker,
            beam=self.beam if beam is None else beam,
            strict=self.strict or strict,
        )

    def __call__(self, sentence: str) -> Rewrite:
        """Rewrite one sentence."""
        return next(self.pipe([sentence]))

    def pipe(self, sentences: Iterable[str]) -> Iterator[Rewrite]:
        """Rewrite many sentences, in order; several are read, searched and checked at once."""
        stream = iter(sentences)
        with ThreadPoolExecutor(threads()) as pool:
            while window := list(islice(stream, BATCH * threads())):
                yield from self._window(window, pool)

    def _window(self, sentences: Sequence[str], pool: ThreadPoolExecutor) -> list[Rewrite]:
        results = list(self._loaded_analyser().pipe(sentences))
        notes = [_obstacle(result) for result in results]
        analyses = [
            result
            for result, note in zip(results, notes, strict=True)
            if note is None and isinstance(result, Analysis)
        ]
        founds = self._search(analyses, pool)
        chosen = iter(
            choose(
                list(zip(analyses, founds, strict=True)),
                self._loaded_checker(),
                strict=self.strict,
            )
        )
        return [
            next(chosen) if note is None else left_whole(sentence, splitter=NAME, note=note or None)
            for sentence, note in zip(sentences, notes, strict=True)
        ]

    def _search(self, analyses: Sequence[Analysis], pool: ThreadPoolExecutor) -> list[Found]:
        """Search in batches of similar length, which waste the least; the order is kept."""
        if not analyses:
            return []
        decoder = self._loaded_decoder()
        order = sorted(range(len(analyses)), key=lambda place: len(analyses[place]))
        size = min(BATCH, max(_FEWEST, -(-len(order) // threads())))
        batches = [order[start : start + size] for start in range(0, len(order), size)]

        def found(batch: Sequence[int]) -> list[Found]:
            sources = [read_source([word.text for word in analyses[place]]) for place in batch]
            return search(decoder, sources, beam=self.beam)

        by_place = {
            place: each
            for batch, results in zip(batches, pool.map(found, batches), strict=True)
            for place, each in zip(batch, results, strict=True)
        }
        return [by_place[place] for place in range(len(analyses))]

    def _loaded_analyser(self) -> Analyser:
        if self._analyser is None:
            self._analyser = load_analyser()
        return self._analyser

    def _loaded_decoder(self) -> Decoder:
        if self._decoder is None:
            from parataxis.splitters.pointer.model import load_decoder

            self._decoder = load_decoder()
        return self._decoder

    def _loaded_checker(self) -> Checker:
        if self._checker is None:
            self._checker = Checker(self._loaded_analyser())
        return self._checker


def _obstacle(result: Analysis | TooLongError) -> str | None:
    """Why a sentence cannot be rewritten; empty where there is nothing to rewrite."""
    if isinstance(result, TooLongError):
        return str(result)
    words = sum(any(map(str.isalnum, word.text)) for word in result)
    if words > LONGEST:
        return (
            f"Left whole because it has {words} words, and only sentences of up to {LONGEST} are "
            "rewritten; split it at a semicolon or a full stop first."
        )
    return None if words else ""
