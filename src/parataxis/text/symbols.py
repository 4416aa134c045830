"""Symbols that carry meaning beside words: ™, ✓, §, %, emoji, and the empty brackets of code."""

import re
import unicodedata
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import Protocol

_KEPT = frozenset("§%#@†‡¶")
"""Punctuation by its Unicode category, but as much a part of the text as a word."""
_EMPTY_PAIRS = frozenset(["()", "[]", "{}"])
_PLAIN = re.compile(r"[\w\s.,;:!?…'\"“”‘’«»()\[\]{}/*_`~^|<>=+-]*")
"""A text of these characters can hold no symbol, except for empty brackets."""


class Placed(Protocol):
    """A token or an analysed word."""

    @property
    def text(self) -> str: ...
    @property
    def start(self) -> int: ...
    @property
    def end(self) -> int: ...


@lru_cache(maxsize=1 << 12)
def is_symbol(text: str) -> bool:
    """Whether a token is a symbol: emoji, ™, §, a currency sign; not punctuation or emphasis.

    >>> [is_symbol(text) for text in ("™", "👨‍👩‍👧", "§", "—", "*", "word")]
    [True, True, True, False, False, False]
    """
    return any(c in _KEPT or unicodedata.category(c) in ("So", "Sc") for c in text) and not any(
        c.isalnum() for c in text
    )


def may_have_symbols(text: str) -> bool:
    """Whether a text has a character that plain prose lacks: a cheap test before tokenising."""
    return not _PLAIN.fullmatch(text) or any(pair in text for pair in _EMPTY_PAIRS)


def find_symbols(text: str, tokens: Sequence[Placed]) -> Iterator[range]:
    """The places of the symbols among the tokens of a text; empty brackets are one symbol.

    >>> from parataxis.text.tokens import tokenize
    >>> text = "Call f() on the Acme™ list ✓ ."
    >>> [text[t[0].start:t[-1].end] for t in
    ...     ([tokenize(text)[i] for i in place] for place in find_symbols(text, tokenize(text)))]
    ['()', '™', '✓']
    """
    if not may_have_symbols(text):
        return
    for place, token in enumerate(tokens):
        if is_symbol(token.text):
            yield range(place, place + 1)
        elif place + 1 < len(tokens) and text[token.start : tokens[place + 1].end] in _EMPTY_PAIRS:
            yield range(place, place + 2)
