"""Readability: words, syllables, and the Flesch-Kincaid grade level (Kincaid et al. 1975).

A grade level depends on the syllable counter: the common ones differ by more than a grade on the
same text, so a signature names this one. docs/metrics.md gives its accuracy.
"""

import re
from collections.abc import Sequence
from functools import lru_cache

from parataxis.text.tokens import plain_brackets

COUNTER = "parataxis-spelling-1"
"""The name of these rules in signatures; the number changes when the rules do."""

_LETTERS = re.compile(r"[^\W\d_]+")
_VOWELS = re.compile(r"[aeiouyáàâäãåæéèêëíìîïóòôöõøúùûüý]+")
_READ_OUT = re.compile(r"[B-DF-HJ-NP-TV-Z]{2,5}s?\Z")
"""Capitals without a vowel between them, which are read letter by letter: "BBC"."""

_SECOND_PART = (
    "by|of|to|in|with|upon|after|fore|thing|body|one|how|what|where|times?|houses?|holds?|holders?"
    "|marks?|wise|lines?|ball|town|styles?|yard|spread|m[ae]n|works?|days?|land|sides?|boats?"
    "|makers?|keepers?"
)
_SILENT_INSIDE = re.compile(
    rf"""
      (?<=[aeiouy][bcdfgklmnprstvz])e(?=(?:ly|ful|fully|less|ness|ments?|some)\Z)(?<!\Aele)
    | (?<=[aeiouy][lnr][cgsv])e(?=(?:ly|less|ness|ments?)\Z)   # largely, arrangement
    | (?<=[aeiouy][bdfklmnprstv])e(?=(?:{_SECOND_PART})\Z)     # therefore, household
    | (?<=[gq])ue(?=s?\Z)                                      # league, unique
    | (?<=ic)a(?=lly\Z)                                        # automatically
    """,
    re.VERBOSE,
)
_SYLLABIC_END = re.compile(r"(?<=[bcdfgkpstvzx])le[sd]?\Z|(?<=[bct])res?\Z")  # table, theatre
_SILENT_END = re.compile(
    r"(?<=[^aeiouytd])ed\Z(?<!dred)|(?<=[aeo]y)ed\Z"  # named, played; not waited, hundred
    r"|(?:(?<=[^aeiouycsgxzh])|(?<=[tpg]h))es\Z"  # names; not houses, churches
    r"|(?<=[aeiouy][^aeiouy])e\Z|(?<=[^aeiouy]{2})e\Z|(?<=[aiouy])e\Z"  # name; not employee
)
_APART = re.compile(
    r"""
      (?<![cstgx])i(?=a) | (?<![cstgxnlh])i(?=o) | (?<=[cst])i(?=at[ei])   # media, radio, initiate
    | (?<=[aeou])y(?=[aeiou](?![ds]?\Z)|ee) | (?<=[^aeiou])y(?=[aio])      # royal, employee
    | i(?=et(?!n)) | i(?=en)(?<![ct]i)(?<!fri)(?<!\Ali) | (?<=sc)i(?=en)   # quiet, client, science
    | i(?=u[ms]) | (?<=[^aeiouytdmhp])i(?=ers?\Z) | (?<=[^aeiouyr])i(?=est\Z)
    | (?<=cr)e(?=at(?!ur)) | (?<=[rcp])e(?=ans?\Z|al[it]) | (?<=[rd])e(?=as?\Z) | (?<=th)e(?=at)
    | (?<=ucl)e(?=ar) | e(?=o(?!u|p|n|r)) | (?<=[ln])e(?=o[pn]) | e(?=u[ms]s?\Z)
    | e(?=i(?:ng|t[yi])) | (?<![gq])u(?=a(?!n[^ct]|n\Z)) | (?<![gq])u(?=e(?:[lt]|n[ct])) | u(?=ou)
    | (?<![gq])u(?=i(?:t[yi]|ng|n\Z|ns\Z|s[mt]|cid)) | (?<=ss)u(?=er)
    | o(?=e[tmn]) | o(?=ing) | o(?=a\Z) | i(?=i) | a(?=i(?:c\Z|sm|st)) | a(?=o)
    | (?<=\Ar)e(?=in|el|as+[ei]|o[pr]|en|im|un|ac[tq]) | (?<=\Apr)e(?=[eo])
    | (?<=\Ac)o(?=op|or|au|ed|in[ci]|al[ie]|ex)
    """,
    re.VERBOSE,
)
_EXCEPTIONS = {
    **{"mr": 2, "mrs": 2, "dr": 2, "jr": 2, "sr": 2, "etc": 4},
    **{"business": 2, "businesses": 3, "businessman": 3, "every": 2, "everyone": 3},
    **{"everything": 3, "evening": 2, "wednesday": 2, "one": 1, "ones": 1, "once": 1, "being": 2},
    **{"colonel": 2, "safety": 2, "ninety": 2, "people": 2, "idea": 3, "ideas": 3, "george": 1},
    **{"louis": 2, "cafe": 2, "chile": 2, "eyes": 1, "eyed": 1, "whereas": 2, "elsewhere": 2},
    **{"european": 4, "giant": 2, "lion": 2, "lions": 2, "priest": 1, "clear": 1},
}


def count_syllables(word: str) -> int:
    """The number of syllables of a word by its spelling, at least 1. A number has one.

    >>> [count_syllables(word) for word in ("area", "created", "named", "table", "BBC", "1984")]
    [3, 3, 1, 2, 3, 1]
    """
    return max(1, sum(_of_letters(part[:_LONGEST_WORD]) for part in _LETTERS.findall(word)))


@lru_cache(maxsize=2**16)
def _of_letters(part: str) -> int:
    if _READ_OUT.match(part):
        return len(part.rstrip("s"))
    word = part.lower()
    if word in _EXCEPTIONS:
        return _EXCEPTIONS[word]
    word = _SILENT_INSIDE.sub("", word)
    count = len(_APART.findall(word)) + word.endswith(("sm", "thm"))
    if _SYLLABIC_END.search(word):
        count, word = count + 1, _SYLLABIC_END.sub("", word)
    else:
        word = _SILENT_END.sub("", word)
    return max(1, count + len(_VOWELS.findall(word)))


_PER_LENGTH, _PER_SYLLABLE, _OFFSET = 0.39, 11.8, 15.59
VISIBLE = re.compile(r"[^\W_]")
_NO_WORD = re.compile(r"['’`]\w{1,2}\Z|n['’`]t\Z", re.IGNORECASE)
_CACHED = 2**15
_LONGEST = 1000
"""Characters of the longest sentence that is remembered."""
_LONGEST_WORD = 100
"""Letters of a word whose syllables are counted."""


def spoken_words(sentence: str) -> tuple[str, ...]:
    """The words of a sentence without punctuation and clitics.

    >>> spoken_words("Andrew White 's genre , 16.76 km per sec .")
    ('Andrew', 'White', 'genre', '16.76', 'km', 'per', 'sec')
    """
    return (_spoken if len(sentence) > _LONGEST else _remembered)(sentence)


def _spoken(sentence: str) -> tuple[str, ...]:
    pieces = plain_brackets(sentence).split()
    return tuple(piece for piece in pieces if VISIBLE.search(piece) and not _NO_WORD.match(piece))


_remembered = lru_cache(_CACHED)(_spoken)


def readability_counts(simple: Sequence[str]) -> tuple[int, int, int]:
    """The numbers of sentences, words and syllables."""
    spoken = [word for sentence in simple for word in spoken_words(sentence)]
    return len(simple), len(spoken), sum(map(count_syllables, spoken))


def grade_level(sentences: float, spoken: float, syllables: float) -> float:
    """The Flesch-Kincaid grade level, or NaN without words."""
    if not sentences or not spoken:
        return float("nan")
    return _PER_LENGTH * spoken / sentences + _PER_SYLLABLE * syllables / spoken - _OFFSET
