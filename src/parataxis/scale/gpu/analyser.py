"""The analyser on a device: many sentences of similar length in one run.

It finds tags and trees; the roles of a sentence are found on the CPU when someone asks for them.
"""

from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import Any

import numpy as np
from numpy.typing import NDArray

from parataxis.errors import TooLongError
from parataxis.syntax.analyser import (
    Analyser,
    Tokenized,
    forced,
    load_analyser,
    too_long,
)
from parataxis.syntax.analysis import Analysis
from parataxis.syntax.labels import read_labels
from parataxis.syntax.onnx import SHIPPED, Arrays, Model
from parataxis.syntax.wordpieces import MAX_PIECES, Pieces, load_word_pieces
from parataxis.text.tokens import tokenize

__all__ = ["DeviceAnalyser"]

WINDOW = 8192
"""Sentences that are read ahead."""
PIECES = 65_536
"""Word pieces, padding included, in one run."""
REMEMBERED = 16_384
"""Analyses that are kept: a splitter and its checks ask for the same sources."""


class DeviceAnalyser(Analyser):
    """Analyses many sentences in few runs of a model, wherever it runs.

    See :class:`parataxis.syntax.analyser.Analyser` for what it does with them.
    """

    def __init__(self, model: Model) -> None:
        super().__init__(
            model,
            read_labels(SHIPPED / "analyser.json"),
            lambda sentence: load_analyser().frames(sentence),
        )
        self._known: dict[str, Analysis | TooLongError] = {}

    def __call__(self, sentence: str) -> Analysis:
        """Analyse one sentence; :class:`TooLongError` where it exceeds the model's reach."""
        (result,) = self.pipe([sentence])
        if isinstance(result, TooLongError):
            raise TooLongError(*result.args)
        return result

    def pipe(self, sentences: Iterable[str]) -> Iterator[Analysis | TooLongError]:
        """Analyse many sentences, in order; the error in the place of one that is too long."""
        stream = iter(sentences)
        while window := list(islice(stream, WINDOW)):
            new = [text for text in dict.fromkeys(window) if text not in self._known]
            if len(self._known) + len(new) > REMEMBERED:
                self._known = {text: self._known[text] for text in window if text in self._known}
            analyses = self._together([Tokenized(text, tokenize(text)) for text in new])
            self._known.update(zip(new, analyses, strict=True))
            yield from [self._known[text] for text in window]

    def pipe_tokenized(self, sentences: Iterable[Tokenized]) -> Iterator[Analysis | TooLongError]:
        """Like :meth:`pipe`, for sentences whose tokens are given."""
        stream = iter(sentences)
        while window := list(islice(stream, WINDOW)):
            yield from self._together(window)

    def _together(self, sentences: Sequence[Tokenized]) -> list[Analysis | TooLongError]:
        texts = [[token.text for token in sentence.tokens] for sentence in sentences]
        pieces = load_word_pieces()(texts) if texts else []
        results: dict[int, Analysis | TooLongError] = {}
        readable = []
        for place, (sentence, read) in enumerate(zip(sentences, pieces, strict=True)):
            if not sentence.tokens:
                results[place] = Analysis(sentence.text, ())
            elif len(read.ids) > MAX_PIECES:
                results[place] = too_long(sentence, read)
            else:
                readable.append(place)
        readable.sort(key=lambda place: len(pieces[place].ids))
        while readable:
            longest = len(pieces[readable[-1]].ids)
            batch = readable[-max(1, PIECES // longest) :]
            del readable[-len(batch) :]
            chosen = [sentences[place] for place in batch]
            analyses = self.read(chosen, self._scores(chosen, [pieces[p] for p in batch]))
            results.update(zip(batch, analyses, strict=True))
        return [results[place] for place in range(len(sentences))]

    def _scores(self, sentences: Sequence[Tokenized], pieces: Sequence[Pieces]) -> Arrays:
        """The scores of sentences in one run, each padded to the longest."""
        counts = [len(sentence.tokens) for sentence in sentences]
        rows, words = len(sentences), max(counts)
        length = max(len(read.ids) for read in pieces)
        inputs: dict[str, NDArray[Any]] = {
            "pieces": np.zeros((rows, length), dtype=np.int64),
            "shapes": np.zeros((rows, length), dtype=np.int64),
            "first": np.zeros((rows, words + 1), dtype=np.int64),
            "forced": np.zeros((rows, words), dtype=np.float32),
        }
        for row, (sentence, read) in enumerate(zip(sentences, pieces, strict=True)):
            inputs["pieces"][row, : len(read.ids)] = read.ids
            inputs["shapes"][row, : len(read.shapes)] = read.shapes
            inputs["first"][row, : len(read.first)] = read.first
            inputs["forced"][row, : counts[row]] = forced(sentence)[0]
        return self._model(inputs)
