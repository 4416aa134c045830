"""From the characters of a text back to the words of the treebank, by the provenance of a
rewrite. A chart has for each character the index of a word, :data:`NO_WORD` or :data:`PRONOUN`."""

from collections import Counter
from collections.abc import Sequence

from parataxis.rewrite.align import align
from parataxis.rewrite.record import OutputToken, Rewrite
from parataxis.syntax.analysis import Analysis

__all__ = ["NO_WORD", "PRONOUN", "Chart", "simple_charts", "source_chart", "word_in"]

NO_WORD = -1
PRONOUN = -2
"""A pronoun that was inserted for a word of the source; which one, nobody noted."""

_PRONOUNS = {"he", "she", "it", "they", "him", "her", "them", "this", "that", "these", "those"}

Chart = list[int]


def source_chart(analysis: Analysis) -> Chart:
    """The chart of the sentence itself."""
    chart = [NO_WORD] * len(analysis.text)
    for word in analysis:
        chart[word.start : word.end] = [word.index] * (word.end - word.start)
    return chart


def simple_charts(rewrite: Rewrite, source: Chart) -> list[Chart]:
    """A chart for each simple sentence."""
    if not rewrite.is_split:
        return [source]
    # The rewrites of other systems come without provenance.
    provenance = rewrite.provenance or align(rewrite.source, rewrite.simple)
    return [
        _simple_chart(sentence, tokens, source)
        for sentence, tokens in zip(rewrite.simple, provenance, strict=True)
    ]


def _simple_chart(sentence: str, tokens: Sequence[OutputToken], source: Chart) -> Chart:
    chart = [NO_WORD] * len(sentence)
    for token in tokens:
        length = token.end - token.start
        if token.source is None:
            if token.text.lower() in _PRONOUNS:
                chart[token.start : token.end] = [PRONOUN] * length
            continue
        start, end = token.source
        if length == end - start:  # a copy: character by character
            chart[token.start : token.end] = source[start:end]
        else:
            word = word_in(source, start, end)
            chart[token.start : token.end] = [NO_WORD if word is None else word] * length
    return chart


def word_in(chart: Chart, start: int, end: int) -> int | None:
    """The word that most of these characters belong to.

    >>> word_in([0, 0, NO_WORD, 1, 1, 1], 1, 6)
    1
    """
    found = Counter(word for word in chart[start:end] if word != NO_WORD)
    return found.most_common(1)[0][0] if found else None
