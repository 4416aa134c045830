"""Misspelt words of a source ("feburary") that a rewrite corrects: neither lost nor new."""

from collections import defaultdict
from collections.abc import Iterable, Iterator

from parataxis.rewrite.forms import is_known

__all__ = ["Respellings", "is_misspelt"]

_SHORTEST = 5
_LONGEST = 40  # what is longer is no word, and its variants would fill the memory


def is_misspelt(word: str) -> bool:
    """Whether a word may be a misspelling: long enough, and not in the dictionary."""
    return _SHORTEST <= len(word) <= _LONGEST and word.isalpha() and not is_known(word)


class Respellings:
    """Knows which words are one edit away from one of its own.

    Two words that are one edit apart have a common variant with at most one letter left out, so
    only words with a common variant are compared.

    >>> [word for word in ("feburary", "febuary", "brewery") if word in Respellings(["february"])]
    ['feburary', 'febuary']
    """

    def __init__(self, words: Iterable[str]) -> None:
        self._by_variant: defaultdict[str, set[str]] = defaultdict(set)
        for word in words:
            if _SHORTEST - 1 <= len(word) <= _LONGEST:
                for variant in _variants(word):
                    self._by_variant[variant].add(word)

    def __contains__(self, word: str) -> bool:
        if len(word) > _LONGEST:
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
    """Whether one letter was added, left out or changed, or two neighbours were exchanged."""
    if abs(len(one) - len(other)) > 1:
        return False
    first = next((i for i, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), None)
    if first is None:
        return True
    a, b = one[first:], other[first:]
    return a[1:] == b[1:] or a[1:] == b or a == b[1:] or (a[1::-1] == b[:2] and a[2:] == b[2:])
