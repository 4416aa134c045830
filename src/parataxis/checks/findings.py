"""How a finding about words is put: which words, where, and a sentence for the writer."""

from collections.abc import Mapping, Sequence
from functools import cached_property

from parataxis.checks import lexicon
from parataxis.checks.units import FactUnit, Sort
from parataxis.rewrite.record import Finding, FindingKind, Origin, OutputToken
from parataxis.syntax.analysis import Analysis, Word

_WIDEST_GAP = 2
_QUOTES = '"“”„«»'
_NOUNS = {
    Sort.NAME: "name",
    Sort.NUMBER: "number",
    Sort.NEGATION: "negation",
    Sort.MODAL: "modal verb",
    Sort.CONDITION: "condition",
    Sort.FUNCTION: "link",
}


def lost(source: str, run: Sequence[FactUnit]) -> Finding:
    """Words of the source that are missing."""
    words = source[run[0].start : run[-1].end]
    noun = "quotation" if run[0].is_fact and _is_quoted(source, run) else _noun(run)
    return _finding(FindingKind.LOST, None, words, run, f"The {noun} '{words}' is missing.")


def new(index: int, sentence: str, run: Sequence[FactUnit]) -> Finding:
    """Words of a simple sentence that the source does not have."""
    words = sentence[run[0].start : run[-1].end]
    return _finding(
        FindingKind.NEW, index, words, run, f"The {_noun(run)} '{words}' is not in the source."
    )


def whole(kind: FindingKind, index: int, sentence: str, message: str) -> Finding:
    """A finding about a simple sentence as a whole."""
    return Finding(
        kind=kind, words=sentence, sentence=index, start=0, end=len(sentence), message=message
    )


def runs(found: Sequence[FactUnit], units: Sequence[FactUnit]) -> list[list[FactUnit]]:
    """Group words that stand together but for a function word or two ("April 28, 2012")."""
    if not found:
        return []
    place = {id(unit): index for index, unit in enumerate(units)}
    groups: list[list[FactUnit]] = []
    for unit in found:
        here = place[id(unit)]
        if groups and _is_near(units[place[id(groups[-1][-1])] + 1 : here]):
            groups[-1].append(unit)
        else:
            groups.append([unit])
    return groups


def _is_near(between: Sequence[FactUnit]) -> bool:
    return len(between) <= _WIDEST_GAP and all(u.sort is Sort.FUNCTION for u in between)


def _is_quoted(source: str, run: Sequence[FactUnit]) -> bool:
    """Whether the words stand between quotation marks: an odd number of marks comes before."""
    before = sum(source.count(mark, 0, run[0].start) for mark in _QUOTES)
    return before % 2 == 1 and any(mark in source[run[-1].end :] for mark in _QUOTES)


def _noun(run: Sequence[FactUnit]) -> str:
    sorts = {unit.sort for unit in run}
    if Sort.NUMBER in sorts and any(unit.key in lexicon.DATE_WORDS for unit in run):
        return "date"
    if len(sorts) == 1 and run[0].sort in _NOUNS:
        return _NOUNS[run[0].sort]
    return "word" if len(run) == 1 else "wording"


def _finding(
    kind: FindingKind, sentence: int | None, words: str, run: Sequence[FactUnit], message: str
) -> Finding:
    return Finding(
        kind=kind,
        words=words,
        sentence=sentence,
        start=run[0].start,
        end=run[-1].end,
        message=message,
    )


# For each word of a simple sentence, the analysed source word that it is a copy or a form of.

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
