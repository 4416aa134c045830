"""The words of a sentence as the checks see them: how each is compared and what it states."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import lru_cache

from parataxis.checks import lexicon
from parataxis.rewrite.forms import key
from parataxis.text.tokens import Token, tokenize

__all__ = ["Sort", "Unit", "units"]


class Sort(StrEnum):
    """What a word states."""

    FUNCTION = "function"
    """Nothing of its own."""
    WORD = "word"
    NAME = "name"
    NUMBER = "number"
    NEGATION = "negation"
    MODAL = "modal"
    CONDITION = "condition"


@dataclass(frozen=True, slots=True)
class Unit:
    """A word, where it stands, the spelling it is compared by, and what it states."""

    text: str
    start: int
    end: int
    key: str
    sort: Sort
    signs: str = ""
    """What a number is given in or is ("%", "$", "-"); the sign is part of ``text``."""

    @property
    def is_fact(self) -> bool:
        """Whether the word is content, a name or a number (links have checks of their own)."""
        return self.sort in (Sort.WORD, Sort.NAME, Sort.NUMBER)


_PIECE = re.compile(r"\d+(?:[.,:]\d+)*(?:st|nd|rd|th|s)?(?![^\W\d_])|[^\W_]+(?:['’.][^\W_]+)*")
_REMEMBERED = 1 << 16
"""Words of which it is kept what they state."""
_VERBS = {"save", "provided"}  # conditions only where a phrase says so
_CONDITIONS = lexicon.CONDITIONS - _VERBS
_OPENERS = frozenset((",", ";", ":", "(", '"', "“"))
_SIGN_WIDTH = 4
_MINUS = r"(?<![^\s(])(?<!\d\s)[-−]"  # a dash after a word or between two numbers is none
_SIGN_BEFORE = re.compile(rf"(?:{_MINUS})?[$£€¥]\s?[-−]?\Z|{_MINUS}\Z")
_SIGN_AFTER = re.compile(r"\s?[%€]")
_MARKER = re.compile(r"[ivx]{1,4}|[a-z]|\d{1,2}", re.IGNORECASE)


def units(sentence: str) -> list[Unit]:
    """The words of a sentence; punctuation and list markers such as "(ii)" are left out.

    >>> [(unit.key, unit.sort.value) for unit in units("He didn't pay (i) $1,000.")]
    [('he', 'function'), ('did', 'function'), ("n't", 'negation'), ('pay', 'word'), \
('1000', 'number')]
    """
    tokens = tokenize(sentence)
    found: list[Unit] = []
    for index, token in enumerate(tokens):
        if _is_marker(tokens, index):
            continue
        opens = index == 0 or tokens[index - 1].text in _OPENERS
        for start, end in _pieces(token.text):
            text = token.text[start:end]
            spelling, sort = _spelling_and_sort(text, is_first=not found, opens=opens)
            unit = Unit(text, token.start + start, token.start + end, spelling, sort)
            found.append(_with_signs(sentence, unit) if unit.sort is Sort.NUMBER else unit)
    return _mark_phrases(found)


def _mark_phrases(found: list[Unit]) -> list[Unit]:
    """Give the words of fixed phrases ("in which case", "save that") what the phrase states."""
    keys = tuple(unit.key for unit in found)
    for first, word in enumerate(keys):
        for phrase, sort in _PHRASES.get(word, ()):
            if keys[first : first + len(phrase)] == phrase:
                for index in range(first, first + len(phrase)):
                    found[index] = replace(found[index], sort=Sort.FUNCTION)
                found[first] = replace(found[first], sort=sort)
    return found


def _phrases() -> dict[str, list[tuple[tuple[str, ...], Sort]]]:
    by_first: dict[str, list[tuple[tuple[str, ...], Sort]]] = {}
    for phrase in lexicon.LINK_PHRASES:
        by_first.setdefault(phrase[0], []).append((phrase, Sort.FUNCTION))
    for phrase in lexicon.CONDITION_PHRASES:
        by_first.setdefault(phrase[0], []).append((phrase, Sort.CONDITION))
    return by_first


_PHRASES = _phrases()


@lru_cache(maxsize=_REMEMBERED)
def _pieces(text: str) -> tuple[tuple[int, int], ...]:
    """Where the pieces of a token stand in it: it is cut at hyphens, slashes and stops, but
    contractions stay whole."""
    if text[0] in "'’":
        return ((0, len(text)),) if text[1:].isalpha() else ()
    if key(text) == "n't":
        return ((0, len(text)),)
    return tuple(match.span() for match in _PIECE.finditer(text))


def _is_marker(tokens: Sequence[Token], index: int) -> bool:
    """Whether a token numbers a list: "(a)", "(ii)", "2)". Rewrites may drop these."""
    if index + 1 == len(tokens) or tokens[index + 1].text != ")":
        return False
    return _MARKER.fullmatch(tokens[index].text) is not None


@lru_cache(maxsize=_REMEMBERED)
def _spelling_and_sort(text: str, *, is_first: bool, opens: bool) -> tuple[str, Sort]:
    spelling = key(text).replace(".", "") if text[0].isalpha() else key(text)
    sort = _sort(text, spelling, is_first=is_first)
    if opens and spelling == "should":  # "Should it rain, ..." means "if"
        sort = Sort.CONDITION
    if sort is Sort.NUMBER:
        spelling = lexicon.NUMBERS.get(spelling, spelling.replace(",", ""))
    return spelling, sort


def _with_signs(sentence: str, number: Unit) -> Unit:
    """A number together with the signs around it: "$5", "5 %", "-5" (but not "1990-95")."""
    before = _SIGN_BEFORE.search(sentence, max(0, number.start - _SIGN_WIDTH), number.start)
    after = _SIGN_AFTER.match(sentence, number.end)
    start = before.start() if before else number.start
    end = after.end() if after else number.end
    around = sentence[start : number.start] + sentence[number.end : end]
    signs = "".join(around.replace("−", "-").split())
    return replace(number, text=sentence[start:end], start=start, end=end, signs=signs)


def _sort(text: str, spelling: str, *, is_first: bool) -> Sort:
    if spelling in lexicon.NEGATIONS:
        return Sort.NEGATION
    if spelling in lexicon.MODALS and not _is_proper(text, is_first=is_first):
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


def _is_proper(text: str, *, is_first: bool) -> bool:
    """Whether a word that looks like a modal is a month or a state ("CA")."""
    return text == "CA" or (text in ("May", "Will") and not is_first)
