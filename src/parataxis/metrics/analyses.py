"""One analyser for all metrics, which remembers what it read last: they read the same sentences,
and the systems of a comparison have the same sources."""

from collections import OrderedDict
from collections.abc import Iterable, Iterator
from functools import cache

from parataxis.checks import SentenceAnalyser
from parataxis.errors import TooLongError
from parataxis.syntax.analyser import load_trees
from parataxis.syntax.analysis import Analysis

__all__ = ["Remembering", "shared_analyser"]

_REMEMBERED = 4096


class Remembering:
    """An analyser that keeps its last analyses, as many as ``size``."""

    def __init__(self, analyser: SentenceAnalyser, *, size: int = _REMEMBERED) -> None:
        self._analyser = analyser
        self._size = size
        self._known: OrderedDict[str, Analysis | TooLongError] = OrderedDict()

    def pipe(self, sentences: Iterable[str]) -> Iterator[Analysis | TooLongError]:
        """Analyse many sentences, in order; those that are not known, together."""
        texts = list(sentences)
        found = {text: self._known[text] for text in texts if text in self._known}
        missing = list(dict.fromkeys(text for text in texts if text not in found))
        if missing:
            found.update(zip(missing, self._analyser.pipe(missing), strict=True))
        for text, analysis in found.items():
            self._known[text] = analysis
            self._known.move_to_end(text)
        while len(self._known) > self._size:
            self._known.popitem(last=False)
        return (found[text] for text in texts)


@cache
def shared_analyser() -> Remembering:
    """The analyser that ships with Parataxis, with one memory for all metrics."""
    return Remembering(load_trees())
