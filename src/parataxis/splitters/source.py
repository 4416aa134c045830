"""The splitter that leaves every sentence whole: the source itself, the lowest baseline."""

from collections.abc import Iterable, Iterator

from parataxis.errors import InputError
from parataxis.rewrite.record import Origin, OutputToken, Rewrite
from parataxis.text.tokens import tokenize


class SourceSplitter:
    """Returns the source itself, with the provenance that every word has: its own place.

    >>> SourceSplitter()("It rained.").simple
    ('It rained.',)
    """

    name = "source"
    summary = "Leaves every sentence as it is."

    def __call__(self, sentence: str) -> Rewrite:
        """The sentence itself."""
        return left_whole(sentence, splitter=self.name)

    def pipe(self, sentences: Iterable[str]) -> Iterator[Rewrite]:
        """Each sentence itself, in order."""
        return map(self, sentences)


def left_whole(sentence: str, *, splitter: str, note: str | None = None) -> Rewrite:
    """A rewrite that is the source itself; ``note`` says why where a splitter could do nothing."""
    if not sentence.strip():
        raise InputError("There is no sentence here: the text is empty or only white space.")
    tokens = tuple(
        OutputToken(
            text=token.text,
            start=token.start,
            end=token.end,
            origin=Origin.COPIED,
            source=(token.start, token.end),
        )
        for token in tokenize(sentence)
    )
    return Rewrite(
        source=sentence, simple=(sentence,), splitter=splitter, provenance=(tokens,), note=note
    )
