"""Tokens with character offsets, close to the words of the English UD treebanks (EWT and GUM).

Text is cut at whitespace, and each piece is cut again by one compiled pattern; nothing that is
visible is dropped, so tokens and the whitespace between them give back the exact text.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from parataxis.text.abbreviations import ABBREVIATIONS

__all__ = ["Token", "join", "spaces_between", "tokenize"]


@dataclass(frozen=True, slots=True)
class Token:
    """A word or punctuation mark and where it stands: ``sentence[start:end] == text``."""

    text: str
    start: int
    end: int


def tokenize(text: str) -> list[Token]:
    """Cut a text into tokens.

    >>> [token.text for token in tokenize("They don't sell U.S. search-engine stock for $5.")]
    ['They', 'do', "n't", 'sell', 'U.S.', 'search', '-', 'engine', 'stock', 'for', '$', '5', '.']
    """
    tokens: list[Token] = []
    for piece in _PIECE.finditer(text):
        start, chunk = piece.start(), piece.group()
        # Running text repeats its words: a memory of short pieces makes most cuts free.
        words = _cut_short(chunk) if len(chunk) <= _SHORT else _cut(chunk)
        for word in words:
            end = start + len(word)
            tokens.append(Token(word, start, end))
            start = end
    if len(tokens) > 1 and _FINAL_LETTER.fullmatch(tokens[-1].text):
        _split_final_stop(tokens)
    return tokens


def spaces_between(text: str, tokens: Sequence[Token]) -> list[str]:
    """What stands before the first token, between each two, and after the last.

    >>> spaces_between(" Go  on!", tokenize(" Go  on!"))
    [' ', '  ', '', '']
    """
    edges = [0, *(edge for token in tokens for edge in (token.start, token.end)), len(text)]
    return [text[edges[i] : edges[i + 1]] for i in range(0, len(edges), 2)]


def join(tokens: Sequence[Token], spaces: Sequence[str]) -> str:
    """Put tokens and the spaces from :func:`spaces_between` together again, exactly."""
    parts = [spaces[0]]
    for token, space in zip(tokens, spaces[1:], strict=True):
        parts += (token.text, space)
    return "".join(parts)


_PIECE = re.compile(r"\S+")
_SHORT = 32
_FINAL_LETTER = re.compile(r"[A-Za-z]\.")

_JOINED = "\u00ad\u0300-\u036f\u1ab0-\u1aff\u20d0-\u20f0\ufe00-\ufe0f\u200b-\u200d\u2060\ufeff"
"""Marks that have no width of their own and belong to the character before them."""

_APOSTROPHE = "['’`´]"
_WORD = rf"\w[\w{_JOINED}]*"
_KNOWN = "|".join(sorted(map(re.escape, ABBREVIATIONS), key=len, reverse=True))
_PREFIX = (
    "anti|co|counter|cross|e|ex|extra|hyper|inter|intra|macro|mega|micro|mid|mini|multi|neo|non"
    "|pan|post|pre|pro|pseudo|psycho|quasi|re|semi|socio|sub|super|trans|ultra|un"
)
_DOMAIN = "com|org|net|edu|gov|mil|info|biz|co|io|uk|us|de|ca|eu|fr|au|nz|jp|tv|int|ly"
_FILE = "docx?|xlsx?|pptx?|pdf|txt|html?|jpe?g|png|gif|zip|exe|csv|php|aspx?|mp3|url"
_END = r"(?![^\W_])"  # no letter or digit follows

_RULES = (
    # Addresses. All repetitions that could be tried again and again have an upper bound, so a
    # piece of any length is cut in linear time.
    r"(?:https?|ftp)://[^\s<>\"]*[^\s<>\"'’”.,;:!?)\]}]",
    r"www\.[^\s<>\"]*[^\s<>\"'’”.,;:!?)\]}]",
    r"(?:mailto:)?[\w.+%-]{1,64}@[\w-]{1,64}(?:\.[\w-]{1,64}){1,8}",
    rf"(?i:\w[\w-]{{0,62}}(?:\.\w[\w-]{{0,62}}){{0,6}}\.(?:{_DOMAIN}|{_FILE})){_END}(?:/[\w./?=&#%+-]*\w/?)?",
    r"[#@](?=[^\W\d])\w+",
    # Numbers: times, dates, decimals, telephone numbers, ordinals, decades.
    r"\+?\d{1,3}-\d{3}-\d{3}-\d{4}|\d{3}-\d{3}-\d{4}|\d{3}-\d{4}(?![\d-])",
    rf"['’]\d0s{_END}|['’]\d\d{_END}",
    rf"\d+(?:[.,:/]\d+)*(?i:st|nd|rd|th|s|['’]s){_END}",
    rf"\d+(?:[.,:/]\d+)*(?=(?i:[ap]m|[ap]\.m\.?|[kmgt]b|mm|cm|km|kg|ml|lbs?|ft|hrs?|min|k|m|x){_END})",
    r"(?:(?<!\w)\.)?\d+(?:[.,:/]\d+)*(?![^\W\d_])",
    # Abbreviations.
    rf"(?:[^\W\d_]\.){{2,12}}(?:[^\W\d_]{_END})?",
    rf"[^\W\d_]\.[^\W\d_]{_END}",
    rf"(?:{_KNOWN})\.(?![\w.])",
    r"[^\W\d_I]\.(?=$|,|['’]s)",
    # Contractions.
    rf"(?i:do|does|did|is|are|was|were|has|have|had|ca|could|would|should|wo|must|might|need|ai|sha|dare|ought|may)(?=n{_APOSTROPHE}?t{_END})",
    rf"(?i:n{_APOSTROPHE}t){_END}",
    rf"(?i:(?<=do)nt|(?<=does)nt|(?<=did)nt|(?<=is)nt|(?<=are)nt|(?<=was)nt|(?<=were)nt|(?<=has)nt|(?<=have)nt|(?<=had)nt|(?<=ca)nt|(?<=could)nt|(?<=would)nt|(?<=should)nt|(?<=wo)nt|(?<=ai)nt){_END}",
    rf"(?i:can(?=not{_END})|gon(?=na{_END})|wan(?=na{_END})|got(?=ta{_END})|(?:that|what)(?=s{_END}))",
    rf"(?i:{_APOSTROPHE}(?:s|m|re|ve|ll|d)){_END}",
    # Words: prefixes stay with their stem, other hyphens are tokens.
    rf"(?i:{_PREFIX})-{_WORD}(?=$|\W)",
    r"[A-Z]{1,3}&[A-Z]{1,3}(?!\w)",
    rf"\w[\w{_JOINED}]*?(?=(?i:n['’]t){_END})",
    rf"{_WORD}(?:['’](?!(?i:s|m|re|ve|ll|d){_END}){_WORD})?",
    # Signs: emoticons, runs, emoji sequences, single marks.
    r"[:;=]['-]?[)(DPO]+(?!\w)",
    r"[.!?…]{2,}|([-*=~_+#<>])\1+|''|``",
    rf"[\u2190-\u2bff\U0001f000-\U0001faff](?:[{_JOINED}\U0001f3fb-\U0001f3ff]+[\u2190-\u2bff\U0001f000-\U0001faff]?)*",
    r"[A-Z]{2}\$",
    rf".[{_JOINED}]*",
)
_TOKEN = re.compile("|".join(_RULES), re.DOTALL)


def _cut(piece: str) -> tuple[str, ...]:
    return tuple(match.group() for match in _TOKEN.finditer(piece))


_cut_short = lru_cache(maxsize=1 << 16)(_cut)


def _split_final_stop(tokens: list[Token]) -> None:
    """A letter before the last stop of a sentence is a letter ("plan B."), not an initial."""
    last = tokens.pop()
    middle = last.end - 1
    tokens.append(Token(last.text[:-1], last.start, middle))
    tokens.append(Token(".", middle, last.end))
