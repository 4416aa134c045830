"""For each word of a simple sentence, the analysed source word that it is a copy or a form of."""

from collections.abc import Mapping, Sequence
from functools import cached_property

from parataxis.rewrite.record import Origin, OutputToken
from parataxis.syntax.analysis import Analysis, Word

__all__ = ["Origins"]


_COPIED = frozenset((Origin.COPIED,))
_INFLECTED = frozenset((Origin.INFLECTED,))
_EITHER = _COPIED | _INFLECTED


class Origins:
    """Looks up source words by the place of their copies in one simple sentence."""

    def __init__(self, source: Analysis, tokens: Sequence[OutputToken]) -> None:
        self._words = source.by_start
        self._in_order = tokens

    @cached_property
    def _tokens(self) -> Mapping[int, OutputToken]:
        return {token.start: token for token in self._in_order}

    def copied(self, word: Word) -> Word | None:
        """The source word of which this is a copy, in the same form."""
        return self._source(word, _COPIED)

    def inflected(self, word: Word) -> Word | None:
        """The source word of which this is another form."""
        return self._source(word, _INFLECTED)

    def any(self, word: Word) -> Word | None:
        """The source word of which this is a copy or another form."""
        return self._source(word, _EITHER)

    def used(self) -> list[Word]:
        """The source words of all copies and forms in the sentence, in its order."""
        starts = (token.source[0] for token in self._tokens.values() if token.source)
        return [self._words[start] for start in starts if start in self._words]

    def _source(self, word: Word, origins: frozenset[Origin]) -> Word | None:
        token = self._tokens.get(word.start)
        if token is None or token.source is None or token.origin not in origins:
            return None
        return self._words.get(token.source[0])
