"""Whether "a" or "an" stands before a word: a question of sound, not of spelling."""

import re

from parataxis.rewrite.forms import key
from parataxis.text.wordlists import words

__all__ = ["article"]

_EIGHTS = re.compile(r"8|1[18](?!\d)")
"""Numbers that begin with a vowel when they are spoken: eight, eleven, eighteen."""
_LETTER_NAMES = frozenset("AEFHILMNORSX")
"""Letters whose names begin with a vowel: an F, an MP."""
_SPELT = re.compile(r"[^\W\d_](\.[^\W\d_])*\.?|[A-Z]+s?")
_SPOKEN_AS_WORDS = words(
    "fema fifa gif hud laser lan madd nafta nasa nascar nasdaq nato navy radar ram rem rico rom"
    " sars sata scuba sim sonar stem swat"
)
_UNSURE = re.compile(r"herb|homage|histori|hotel|habitu|sql|faq\b|url\b")
_VOWEL_SOUND = re.compile(r"[aeiouàáâäåæèéêëìíîïòóôöøœùúûü]|h(?:our|onest|onou?r|eir)|y[^aeiou]")
_YOU_OR_WE = re.compile(
    r"eu|ewe|one(?:s|self)?\b|once\b|oui|uni(?!m|n[^c]|de|ro|ss)|unan"
    r"|u(?:s[aeu]|t[aeio]|r[aeio]|k|bi|gan|yg|vul|f[of]l)"
)
"""Vowels that are spoken like the "y" of "you" or the "w" of "we": a European, a unit, a one."""


def article(word: str) -> str | None:
    """The article that a word takes, as it is written; None where people differ or it is no word.

    >>> [article(word) for word in ("hour", "European", "MP", "NATO", "unit", "11th", "historic")]
    ['an', 'a', 'an', 'a', 'a', 'an', None]
    """
    if not word or not word[0].isalnum():
        return None
    if word[0].isdigit():
        return "an" if _EIGHTS.match(word.partition(",")[0]) else "a"
    plain = key(word)
    if _UNSURE.match(plain):
        return None
    if _is_spelt(word, plain):
        return "an" if word[0].upper() in _LETTER_NAMES else "a"
    return "an" if _VOWEL_SOUND.match(plain) and not _YOU_OR_WE.match(plain) else "a"


def _is_spelt(word: str, plain: str) -> bool:
    """Whether a word is spoken letter by letter."""
    return _SPELT.fullmatch(word) is not None and plain not in _SPOKEN_AS_WORDS
