"""Making findings: which words are at fault, where they are, and a message for the writer."""

from collections.abc import Mapping, Sequence
from functools import cached_property

from parataxis.checks import lexicon
from parataxis.checks.units import FactUnit, Sort
from parataxis.rewrite.record import Finding, FindingKind, Origin, OutputToken
from parataxis.syntax.analysis import Analysis, Word
from parataxis.text.tokens import has_word

_WIDEST_GAP = 2
_NEAR = 5
_QUOTES = '"“”„«»'
_NOUNS = {
    Sort.NAME: "name",
    Sort.NUMBER: "number",
    Sort.NEGATION: "negation",
    Sort.MODAL: "modal verb",
    Sort.CONDITION: "condition",
    Sort.FUNCTION: "link",
}


def finding(
    kind: FindingKind, words: str, message: str, *, start: int = 0, sentence: int | None = None
) -> Finding:
    """A finding on the words at ``start`` of a simple sentence, or of the source."""
    end = start + len(words)
    return Finding(kind=kind, words=words, sentence=sentence, start=start, end=end, message=message)


def finding_at(
    kind: FindingKind, word: OutputToken | Word, message: str, sentence: int | None = None
) -> Finding:
    """A finding on a word of a simple sentence, or of the source."""
    return finding(kind, word.text, message, start=word.start, sentence=sentence)


def lost(source: str, run: Sequence[FactUnit]) -> Finding:
    """Words of the source that are missing from the rewrite."""
    start = run[0].start
    words = source[start : run[-1].end]
    noun = "quotation" if run[0].is_fact and _is_quoted(source, run) else _noun(run)
    return finding(FindingKind.LOST, words, f"The {noun} '{words}' is missing.", start=start)


def new(index: int, sentence: str, run: Sequence[FactUnit]) -> Finding:
    """Words of a simple sentence that the source does not have."""
    start = run[0].start
    words = sentence[start : run[-1].end]
    message = f"The {_noun(run)} '{words}' is not in the source."
    return finding(FindingKind.NEW, words, message, start=start, sentence=index)


def runs(found: Sequence[FactUnit], units: Sequence[FactUnit]) -> list[list[FactUnit]]:
    """Group words that are next to each other or at most two function words apart
    ("April 28, 2012")."""
    if not found:
        return []
    place = {id(unit): index for index, unit in enumerate(units)}
    groups: list[list[FactUnit]] = []
    for unit in found:
        between = units[place[id(groups[-1][-1])] + 1 : place[id(unit)]] if groups else ()
        is_near = len(between) <= _WIDEST_GAP and all(u.sort is Sort.FUNCTION for u in between)
        if groups and is_near:
            groups[-1].append(unit)
        else:
            groups.append([unit])
    return groups


def _is_quoted(source: str, run: Sequence[FactUnit]) -> bool:
    """Whether the words are inside quotation marks: an odd number of marks comes before."""
    before = sum(source.count(mark, 0, run[0].start) for mark in _QUOTES)
    return before % 2 == 1 and any(mark in source[run[-1].end :] for mark in _QUOTES)


def _noun(run: Sequence[FactUnit]) -> str:
    sorts = {unit.sort for unit in run}
    if Sort.NUMBER in sorts and any(unit.key in lexicon.DATE_WORDS for unit in run):
        return "date"
    if len(sorts) == 1 and run[0].sort in _NOUNS:
        return _NOUNS[run[0].sort]
    return "word" if len(run) == 1 else "wording"


def noun_phrase(analysis: Analysis, noun: Word) -> str:
    """A noun with what stands before it: "the German director"."""
    before = [analysis[index] for index in analysis.subtree(noun.index) if index <= noun.index]
    inside = (word.index for word in before if word.relation not in ("case", "punct"))
    # The parser may have tagged the noun itself as a preposition or a mark.
    names = [word.index for word in analysis.children(noun.index, "flat")]
    return analysis.phrase(next(inside, noun.index), max([noun.index, *names]))


def that_noun(analysis: Analysis, noun: Word) -> str:
    """The same inside a message: without the capital of a first word that is no name."""
    phrase = noun_phrase(analysis, noun)
    first = analysis.opener is not None and phrase.startswith(analysis[analysis.opener].text)
    is_name = first and analysis[analysis.opener or 0].upos == "PROPN"
    return phrase[0].lower() + phrase[1:] if first and not is_name else phrase


def verb_phrase(analysis: Analysis, verb: Word, *, without: Word) -> str:
    """A verb with its auxiliaries and its object, if that is near and the noun ``without`` is not
    in it: "had closed the pool"."""
    auxiliaries = analysis.children(verb.index, "aux", "cop")
    first = min((word.index for word in auxiliaries if word.index < verb.index), default=verb.index)
    objects = [word.index for word in analysis.children(verb.index, "obj", "xcomp")]
    near = [place for place in objects if verb.index < place < verb.index + _NEAR]
    phrase = analysis.phrase(first, max([verb.index, *near]))
    return analysis.phrase(first, verb.index) if without.text in phrase else phrase


Pair = tuple[OutputToken, Word | None]


class Origins:
    """For the words of one simple sentence, the source words that they were copied or inflected
    from."""

    def __init__(self, source: Analysis, tokens: Sequence[OutputToken]) -> None:
        self._words = source.by_start
        self._in_order = tokens

    @cached_property
    def _tokens(self) -> Mapping[int, OutputToken]:
        return {token.start: token for token in self._in_order}

    def copied(self, word: Word) -> Word | None:
        """The source word that this word is a copy of, in the same form."""
        return self._source(word, Origin.COPIED)

    def inflected(self, word: Word) -> Word | None:
        """The source word that this word is another form of."""
        return self._source(word, Origin.INFLECTED)

    def any(self, word: Word) -> Word | None:
        """The source word that this word is a copy or another form of."""
        return self._source(word, Origin.COPIED, Origin.INFLECTED)

    def used(self) -> list[Word]:
        """The source words of all copies and forms in the sentence, in its order."""
        starts = (token.source[0] for token in self._tokens.values() if token.source)
        return [self._words[start] for start in starts if start in self._words]

    def pairs(self) -> list[Pair]:
        """The tokens of the sentence, in order, with the source words that they come from."""
        words = self._words
        return [
            (each, words.get(each.source[0]) if each.source else None) for each in self._in_order
        ]

    def spoken(self) -> list[Pair]:
        """The pairs without marks."""
        return [pair for pair in self.pairs() if has_word(pair[0].text)]

    def _source(self, word: Word, *origins: Origin) -> Word | None:
        token = self._tokens.get(word.start)
        if token is None or token.source is None or token.origin not in origins:
            return None
        return self._words.get(token.source[0])
