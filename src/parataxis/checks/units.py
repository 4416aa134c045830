"""The words of a sentence as the word checks compare them."""

import re
from collections import Counter
from collections.abc import Sequence, Set
from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache

from parataxis.checks import lexicon
from parataxis.rewrite.forms import key
from parataxis.syntax.analysis import Analysis, Word
from parataxis.text import english
from parataxis.text.tokens import Token, tokenize


class Sort(StrEnum):
    """What kind of information a word carries."""

    FUNCTION = "function"
    """None of its own."""
    WORD = "word"
    NAME = "name"
    NUMBER = "number"
    NEGATION = "negation"
    MODAL = "modal"
    CONDITION = "condition"


_FACTS = frozenset((Sort.WORD, Sort.NAME, Sort.NUMBER))


@dataclass(slots=True)
class FactUnit:
    """A word, its place, the spelling that it is compared by, and its sort."""

    text: str
    start: int
    end: int
    key: str
    sort: Sort
    signs: str = ""
    """The signs of a number ("%", "$", "-"), which are part of ``text``."""

    @property
    def is_fact(self) -> bool:
        """Whether the word is a content word, a name or a number (links are checked separately)."""
        return self.sort in _FACTS


_PIECE = re.compile(r"\d+(?:[.,:]\d+)*(?:st|nd|rd|th|s)?(?![^\W\d_])|[^\W_]+(?:['’.][^\W_]+)*")
_NUMBER = Sort.NUMBER  # looking up a member of an enumeration for each word is slow
_CACHED_WORDS = 1 << 16
_VERBS = {"save", "provided"}  # conditions only in phrases
_CONDITIONS = lexicon.CONDITIONS - _VERBS
_OPENERS = frozenset((",", ";", ":", "(", '"', "“"))
_SIGN_WIDTH = 4
_MINUS = r"(?<![^\s(])(?<!\d\s)[-−]"  # not a dash after a word or between two numbers
_SIGN_BEFORE = re.compile(rf"(?:{_MINUS})?[$£€¥]\s?[-−]?\Z|{_MINUS}\Z")
_SIGN_AFTER = re.compile(r"\s?[%€]")
_MARKER = re.compile(r"[ivx]{1,4}|[a-z]|\d{1,2}", re.IGNORECASE)


def units(sentence: str, analysis: Analysis | None = None) -> list[FactUnit]:
    """The words of a sentence; punctuation and list markers such as "(ii)" are left out.

    An analysis of the sentence has its tokens already.

    >>> [(unit.key, unit.sort.value) for unit in units("He didn't pay (i) $1,000.")]
    [('he', 'function'), ('did', 'function'), ("n't", 'negation'), ('pay', 'word'), \
('1000', 'number')]
    """
    tokens: Sequence[Token | Word] = tokenize(sentence) if analysis is None else analysis.words
    if ")" in sentence:
        tokens = _without_markers(tokens)
    found: list[FactUnit] = []
    opens = True
    for token in tokens:
        for first, last, text, spelling, sort in _pieces(token.text, not found, opens):
            found.append(FactUnit(text, token.start + first, token.start + last, spelling, sort))
            if sort is _NUMBER:
                _add_signs(sentence, found[-1])
        opens = token.text in _OPENERS
    if not _TELLING.isdisjoint([unit.key for unit in found]):
        _mark_phrases(found)
    return found


def _mark_phrases(found: Sequence[FactUnit]) -> None:
    """Give the words of fixed phrases ("in which case", "save that") the sort of the phrase."""
    keys = tuple(unit.key for unit in found)
    for first, word in enumerate(keys):
        for phrase, sort in _PHRASES.get(word, ()):
            if keys[first : first + len(phrase)] == phrase:
                for unit in found[first : first + len(phrase)]:
                    unit.sort = Sort.FUNCTION
                found[first].sort = sort


_PHRASES: dict[str, list[tuple[tuple[str, ...], Sort]]] = {}
for _phrases, _kind in (
    (lexicon.LINK_PHRASES, Sort.FUNCTION),
    (lexicon.CONDITION_PHRASES, Sort.CONDITION),
):
    for _phrase in _phrases:
        _PHRASES.setdefault(_phrase[0], []).append((_phrase, _kind))
_TELLING = frozenset(
    max(phrase, key=lambda word: (word not in lexicon.FUNCTION_WORDS, len(word)))
    for phrase in lexicon.LINK_PHRASES | lexicon.CONDITION_PHRASES
)
"""The rarest word of each phrase: a sentence without any of these has no phrase."""


@lru_cache(maxsize=_CACHED_WORDS)
def _pieces(
    token: str, is_first: bool, opens: bool, /
) -> tuple[tuple[int, int, str, str, Sort], ...]:
    """The pieces of a token: their start, end, text, spelling and sort."""
    pieces: list[tuple[int, int, str, str, Sort]] = []
    for first, last in _spans(token):
        text = token[first:last]
        spelling, sort = _spelling_and_sort(text, is_first=is_first and not pieces, opens=opens)
        pieces.append((first, last, text, spelling, sort))
    return tuple(pieces)


def _spans(token: str) -> list[tuple[int, int]]:
    """The pieces of a token, split at hyphens, slashes and stops; contractions stay whole."""
    if token[0] in "'’":
        return [(0, len(token))] if token[1:].isalpha() else []
    if key(token) == "n't":
        return [(0, len(token))]
    return [match.span() for match in _PIECE.finditer(token)]


def _without_markers(tokens: Sequence[Token | Word]) -> list[Token | Word]:
    """Leave out list markers such as "(a)", "(ii)" and "2)", which rewrites may drop."""
    following = [*(token.text for token in tokens[1:]), ""]
    return [
        token
        for token, text in zip(tokens, following, strict=True)
        if text != ")" or not _MARKER.fullmatch(token.text)
    ]


def _spelling_and_sort(text: str, *, is_first: bool, opens: bool) -> tuple[str, Sort]:
    spelling = key(text).replace(".", "") if text[0].isalpha() else key(text)
    sort = _sort(text, spelling, is_first=is_first)
    if opens and spelling == "should":  # "Should it rain, ..." means "if"
        sort = Sort.CONDITION
    if sort is Sort.NUMBER:
        spelling = lexicon.NUMBERS.get(spelling, spelling.replace(",", ""))
    return spelling, sort


def _add_signs(sentence: str, number: FactUnit) -> None:
    """Add the signs around a number: "$5", "5 %", "-5" (but not "1990-95")."""
    before = _SIGN_BEFORE.search(sentence, max(0, number.start - _SIGN_WIDTH), number.start)
    after = _SIGN_AFTER.match(sentence, number.end)
    if not before and not after:
        return
    start = before.start() if before else number.start
    end = after.end() if after else number.end
    around = sentence[start : number.start] + sentence[number.end : end]
    number.signs = "".join(around.replace("−", "-").split())
    number.text, number.start, number.end = sentence[start:end], start, end


def _sort(text: str, spelling: str, *, is_first: bool) -> Sort:
    if spelling in english.NEGATIONS:
        return Sort.NEGATION
    is_proper = text == "CA" or (text in ("May", "Will") and not is_first)  # a state, a month
    if spelling in lexicon.MODALS and not is_proper:
        return Sort.MODAL
    if spelling in _CONDITIONS:
        return Sort.CONDITION
    if spelling in lexicon.FUNCTION_WORDS:
        return Sort.FUNCTION
    if any(map(str.isdigit, spelling)) or spelling in lexicon.NUMBERS:
        return Sort.NUMBER
    if len(spelling) == 1 and (is_first or text.islower()):
        return Sort.FUNCTION
    return Sort.NAME if text[0].isupper() and not is_first else Sort.WORD


_FEW = frozenset((Sort.NUMBER, Sort.NEGATION, Sort.MODAL, Sort.CONDITION))


class Side:
    """The source, or all its simple sentences: ``sentences`` are the units of each text."""

    def __init__(self, texts: Sequence[str], sentences: Sequence[Sequence[FactUnit]]) -> None:
        self.texts, self.sentences = texts, sentences
        self.units = [unit for sentence in sentences for unit in sentence]
        self.keys = {unit.key for unit in self.units}
        self._of: dict[Sort, list[FactUnit]] = {}
        for unit in self.units:
            if unit.sort in _FEW:
                self._of.setdefault(unit.sort, []).append(unit)

    @property
    def text(self) -> str:
        """The source, on the side that has only that."""
        return self.texts[0]

    def of(self, sort: Sort) -> Sequence[FactUnit]:
        """The numbers, negations, modals or conditions."""
        return self._of.get(sort, ())

    def facts_among(self, keys: Set[str]) -> list[FactUnit]:
        """The content words, names and numbers that have one of the keys."""
        return [unit for unit in self.units if unit.key in keys and unit.is_fact] if keys else []

    def facts(self) -> set[str]:
        """The keys of the content words, names and numbers."""
        return {unit.key for unit in self.units if unit.is_fact}

    def counts(self) -> Counter[str]:
        """How often each key is there."""
        return Counter([unit.key for unit in self.units])
