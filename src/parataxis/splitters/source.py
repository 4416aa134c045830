"""The splitter that leaves every sentence whole: the lowest baseline."""

from collections.abc import Iterable, Iterator

from parataxis.rewrite.compose import left_whole
from parataxis.rewrite.record import Rewrite


class SourceSplitter:
    """Returns the source itself, with every word as its own provenance.

    >>> SourceSplitter()("It rained.").simple
    ('It rained.',)
    """

    name = "source"
    summary = "Leaves every sentence as it is."

    def __call__(self, sentence: str) -> Rewrite:
        return left_whole(sentence, splitter=self.name)

    def pipe(self, sentences: Iterable[str]) -> Iterator[Rewrite]:
        return map(self, sentences)
