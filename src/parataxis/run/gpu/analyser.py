"""The analyser's tags and trees on a device: many sentences in one run, which is recorded."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import groupby, islice

from parataxis.errors import TooLongError
from parataxis.run.gpu.packed import Sentences, at_least
from parataxis.syntax.analyser import Analyser, Tokenized, load_analyser, too_long
from parataxis.syntax.analysis import Analysis
from parataxis.syntax.decoding import read_labels
from parataxis.syntax.onnx import SHIPPED, Arrays
from parataxis.syntax.wordpieces import MAX_PIECES, load_word_pieces
from parataxis.text.tokens import tokenize

# The analyser on a device: many sentences of similar length in one run.
#
# It finds tags and trees; the roles of a sentence are found on the CPU when someone asks for them.

WINDOW = 8192
"""Sentences that are read ahead."""
LENGTHS = (32, 64, 128, 256, 512)
"""Sentences are padded to one of these numbers of word pieces."""

Model = Callable[[Sequence[Sentences]], Sequence[Arrays]]
"""The scores of sentences, wherever they are computed."""


class DeviceAnalyser(Analyser):
    """Analyses many sentences in few runs of a model, wherever it runs.

    See :class:`parataxis.syntax.analyser.Analyser` for what it does with them.
    """

    def __init__(self, model: Model) -> None:
        super().__init__(
            lambda inputs: model([Sentences(inputs["pieces"].shape[1], **inputs)])[0],
            read_labels(SHIPPED / "analyser.json"),
            lambda sentence: load_analyser().frames(sentence),
        )
        self._score = model

    def __call__(self, sentence: str) -> Analysis:
        """Analyse one sentence; :class:`TooLongError` where it exceeds the model's reach."""
        (result,) = self.pipe([sentence])
        if isinstance(result, TooLongError):
            raise result
        return result

    def pipe(self, sentences: Iterable[str]) -> Iterator[Analysis | TooLongError]:
        """Analyse many sentences, in order; the error in the place of one that is too long."""
        return self.pipe_tokenized(Tokenized(text, tokenize(text)) for text in sentences)

    def pipe_tokenized(self, sentences: Iterable[Tokenized]) -> Iterator[Analysis | TooLongError]:
        """Like :meth:`pipe`, for sentences whose tokens are given."""
        stream = iter(sentences)
        while window := list(islice(stream, WINDOW)):
            yield from self._together(window)

    def _together(self, sentences: Sequence[Tokenized]) -> list[Analysis | TooLongError]:
        pieces = load_word_pieces()([[token.text for token in each.tokens] for each in sentences])
        results: dict[int, Analysis | TooLongError] = {}
        readable = []
        for place, (sentence, read) in enumerate(zip(sentences, pieces, strict=True)):
            if not sentence.tokens:
                results[place] = Analysis(sentence.text, ())
            elif len(read.ids) > MAX_PIECES:
                results[place] = too_long(sentence, read)
            else:
                readable.append(place)
        batches = list(_batches({place: len(pieces[place].ids) for place in readable}))
        parts = [
            Sentences.of([sentences[p] for p in batch], [pieces[p] for p in batch], width)
            for width, batch in batches
        ]
        for (_, batch), scores in zip(batches, self._score(parts) if parts else (), strict=True):
            analyses = self.read([sentences[place] for place in batch], scores)
            results.update(zip(batch, analyses, strict=True))
        return [results[place] for place in range(len(sentences))]


def _batches(lengths: dict[int, int]) -> Iterator[tuple[int, list[int]]]:
    """The places of sentences of so many word pieces, by the width that they are padded to."""
    widths = {place: at_least(length, LENGTHS) for place, length in lengths.items()}
    for width, group in groupby(sorted(widths, key=widths.__getitem__), widths.__getitem__):
        yield width, list(group)
