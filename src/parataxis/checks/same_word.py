"""When two different spellings count as the same word: derived words, opposites, misspellings.

Inflections of one word are the subject of :mod:`parataxis.rewrite.forms`.
"""

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator
from functools import lru_cache

from parataxis.checks import lexicon
from parataxis.rewrite.forms import common_start, is_known, lemmas

_STEM = 4
_SHORT_STEM = 3
_SHORTEST_MISSPELT = 5
_LONGEST_MISSPELT = 40  # longer strings are not words, and their variants would fill the memory


class DerivedWords:
    """Finds words that share a stem with one of a set of words.

    >>> derived = DerivedWords(["termination", "death", "care"])
    >>> [word for word in ("terminate", "die", "car") if word in derived]
    ['terminate', 'die']
    """

    def __init__(self, words: Iterable[str]) -> None:
        self._lemmas = {lemma for word in words for lemma in lemmas(word)}
        self._by_start: dict[str, list[str]] = {}
        for lemma in self._lemmas:
            self._by_start.setdefault(lemma[:_SHORT_STEM], []).append(lemma)

    def __contains__(self, word: str) -> bool:
        return any(
            not self._lemmas.isdisjoint(lexicon.IRREGULAR_DERIVATIONS.get(lemma, ()))
            or any(_share_stem(lemma, other) for other in self._by_start.get(lemma[:3], ()))
            for lemma in lemmas(word)
        )


@lru_cache(maxsize=1 << 16)
def _share_stem(one: str, other: str) -> bool:
    common = common_start(one, other)
    if common < _SHORT_STEM:
        return False
    rests = sorted((one[common:], other[common:]))
    if common < _STEM:  # "pay" and "payment": the short word must be whole, the rest an ending
        return not rests[0] and len(rests[1]) > _SHORT_STEM and rests[1] in lexicon.ENDINGS
    return rests[0] in lexicon.ENDINGS and rests[1] in lexicon.ENDINGS


def has_opposite(word: str, keys: Collection[str]) -> bool:
    """Whether a word and one of the keys differ by a negative prefix.

    >>> has_opposite("unable", ["able"]), has_opposite("able", ["unable"])
    (True, True)
    """
    return any(
        prefix + word in keys or (word.startswith(prefix) and word.removeprefix(prefix) in keys)
        for prefix in lexicon.NEGATIVE_PREFIXES
    )


def is_misspelt(word: str) -> bool:
    """Whether a word may be a misspelling ("feburary"): long enough, and not in the dictionary."""
    is_word = _SHORTEST_MISSPELT <= len(word) <= _LONGEST_MISSPELT and word.isalpha()
    return is_word and not is_known(word)


class Respellings:
    """Finds words that are one edit away from one of a set of words.

    Two words that are one edit apart have a common variant with at most one letter left out, so
    only words with a common variant are compared.

    >>> [word for word in ("feburary", "febuary", "brewery") if word in Respellings(["february"])]
    ['feburary', 'febuary']
    """

    def __init__(self, words: Iterable[str]) -> None:
        self._by_variant: defaultdict[str, set[str]] = defaultdict(set)
        for word in words:
            if _SHORTEST_MISSPELT - 1 <= len(word) <= _LONGEST_MISSPELT:
                for variant in _variants(word):
                    self._by_variant[variant].add(word)

    def __contains__(self, word: str) -> bool:
        if len(word) > _LONGEST_MISSPELT:
            return False
        return any(
            _one_edit_apart(word, other)
            for variant in _variants(word)
            for other in self._by_variant.get(variant, ())
        )


def _variants(word: str) -> Iterator[str]:
    yield word
    for index in range(len(word)):
        yield word[:index] + word[index + 1 :]


def _one_edit_apart(one: str, other: str) -> bool:
    """Whether one letter was added, left out or changed, or two neighbours were swapped."""
    if abs(len(one) - len(other)) > 1:
        return False
    common = common_start(one, other)
    a, b = one[common:], other[common:]
    return a[1:] == b[1:] or a[1:] == b or a == b[1:] or (a[1::-1] == b[:2] and a[2:] == b[2:])
