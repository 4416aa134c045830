"""Tokens with character offsets, close to the words of the English UD treebanks (EWT and GUM).

Text is split at whitespace, and each piece is split again by one compiled pattern. No visible
character is dropped: tokens and the whitespace between them give back the exact text.
"""

import re
import unicodedata
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import NamedTuple, Protocol

from parataxis.text.english import ABBREVIATIONS


class Token(NamedTuple):
    """A word or punctuation mark and its place: ``sentence[start:end] == text``."""

    text: str
    start: int
    end: int


def tokenize(text: str) -> list[Token]:
    """Split a text into tokens.

    >>> [token.text for token in tokenize("They don't sell U.S. search-engine stock for $5.")]
    ['They', 'do', "n't", 'sell', 'U.S.', 'search', '-', 'engine', 'stock', 'for', '$', '5', '.']
    """
    tokens: list[Token] = []
    for piece in _PIECE.finditer(text):
        start, chunk = piece.start(), piece.group()
        # Running text repeats its words, so most short pieces are in the cache.
        words = _cut_short(chunk) if len(chunk) <= _SHORT else _cut(chunk)
        for word in words:
            end = start + len(word)
            tokens.append(Token(word, start, end))
            start = end
    _split_final_stop(tokens)
    return tokens


def has_word(text: str) -> bool:
    """Whether a text contains a letter or a digit, not only punctuation.

    >>> [has_word(text) for text in ("mill", "'s", "--")]
    [True, True, False]
    """
    return text.isalnum() or any(map(str.isalnum, text))


# "Its a" is a misspelt "it's a"; in running text no other possessive stands before these words.
_PIECE = re.compile(r"[Ii]t(?=s\s+(?:an?|the|not|been)\s)|\S+")
_SHORT = 32

_JOINED = "\u00ad\u0300-\u036f\u1ab0-\u1aff\u20d0-\u20f0\ufe00-\ufe0f\u200b-\u200d\u2060\ufeff"
"""Marks that have no width of their own and belong to the character before them."""

_APOSTROPHE = "['’`´]"
_CLITIC = "s|m|re|ve|ll|d"
_WORD = rf"\w[\w{_JOINED}]*"
_END = r"(?![^\W_])"  # no letter or digit follows
_DIGITS = r"\d++(?:,(?:\d\d,)*\d{3}(?!\d))?(?:[.:/]\d++)*+"
_EMOJI = "[\u2190-\u2bff\U0001f000-\U0001faff]"

_KNOWN = "|".join(map(re.escape, sorted(ABBREVIATIONS, key=len, reverse=True)))
_ABBREVIATION = re.compile(rf"(?:[A-Za-z]|{_KNOWN})\.")

_CLOSING = frozenset(["'", '"', "''", "’", "”", "’’", "»", ")", "]", "}"])

_PREFIX = (
    "anti|co|counter|cross|e|ex|extra|hyper|inter|intra|macro|mega|micro|mid|mini|mis|multi|non"
    "|over|post|pre|pro|pseudo|psycho|quasi|re|semi|socio|sub|super|trans|ultra"
)
_AUXILIARY = (
    "do|does|did|is|are|was|were|has|have|had|ca|could|would|should|wo|must|might|need|ai|sha"
)
# Read "can not": the first part is a token of its own when the second follows it.
_FUSED = "can not|gon na|wan na|got ta|out ta|lot ta|a lot|that s|what s|you re|you ll"
_TOP_LEVEL = "com|org|net|edu|gov|mil|info|biz|co|io|uk|us|de|ca|eu|fr|au|nz|jp|tv|int|ly"
_FILE = "docx?|xlsx?|pptx?|pdf|txt|html?|jpe?g|png|gif|zip|exe|csv|php|aspx?|mp3|url"
_UNIT = r"[ap]m|[ap]\.m\.?|mm|cm|km|kg|ml|lbs?|ft|hrs?|mins?|bn|k|m|x"

# Every repetition that could be retried from the next character is bounded or possessive, so that
# a piece of any length is split in linear time.
_RULES = (
    r"-[LR][RSC]B-",  # a bracket as the Penn Treebank writes it
    # Addresses and file names.
    r"(?:(?:https?|ftp)://|www\.)[^\s<>\"]{0,2000}[^\s<>\"'’”.,;:!?)\]}]",
    r"(?:mailto:)?[\w.+%-]{1,64}@[\w-]{1,64}(?:\.[\w-]{1,64}){0,8}",
    rf"(?i:\w[\w-]{{0,62}}(?:\.\w[\w-]{{0,62}}){{0,6}}\.(?:{_TOP_LEVEL}|{_FILE})){_END}"
    r"(?:/[\w./?=&#%+-]{0,2000}\w/?)?",
    rf"(?<!\w)\.(?i:{_FILE}){_END}",
    r"[a-z]\w{1,30}(?:\.[a-z][\w-]{1,30}){2,8}(?!\w)",
    r"[#@](?=[^\W\d])\w+",
    # Numbers: telephone numbers, decades, ordinals, amounts before a unit, decimals, times.
    r"(?:\+?\d{1,3}-)?\d{3}-\d{3}-\d{4}(?!\d)|\d{3}-\d{4}(?![\d-])",
    rf"['’]\d0['’]?s{_END}|['’]\d\d{_END}|\d+0['’]s{_END}",
    rf"{_DIGITS}(?i:st|nd|rd|th|s){_END}",
    rf"{_DIGITS}(?=(?i:{_UNIT}){_END})",
    r"\d++\.\d++(?=[^\W\d_])",
    rf"(?:(?<!\w)[.+])?{_DIGITS}(?![^\W\d_])[{_JOINED}]*",
    # Abbreviations.
    rf"(?:[^\W\d_]\.){{2,12}}(?:[^\W\d_]{_END})?|[^\W\d_]\.[^\W\d_]{_END}",
    rf"(?:{_KNOWN})\.(?!\w|\.\.)",
    r"[^\W\d_I]\.(?=$|,|['’]s)",
    rf"(?i:w/(?:o|out)?|b/c|l/c|i/c|n/a|s/he|c/o){_END}",
    # Contractions.
    rf"(?i:{_AUXILIARY})(?=(?i:n{_APOSTROPHE}?t){_END})",
    rf"(?i:n{_APOSTROPHE}t){_END}",
    "(?i:" + "|".join(f"(?<={verb})" for verb in _AUXILIARY.split("|")) + rf")(?i:nt){_END}",
    "|".join(rf"(?i:{pair.replace(' ', '(?=')}{_END}))" for pair in _FUSED.split("|")),
    rf"[Ii](?=(?:m|ve){_END})",
    rf"(?i:{_APOSTROPHE}(?:{_CLITIC})){_END}",
    rf"(?<!\w)['’‘](?i:em|cuz|cause|til|n['’]?){_END}",
    # Words: a prefix stays with its stem, every other hyphen is a token.
    rf"(?i:{_PREFIX})-[^\W\d_][\w{_JOINED}]*",
    r"[A-Z]{1,3}&[A-Z]{1,3}(?!\w)|[A-Z]{1,2}\$(?=\d)",
    rf"\w[\w{_JOINED}]{{0,40}}?(?=(?i:n['’]t){_END})",
    rf"{_WORD}(?:['’](?!(?i:{_CLITIC}){_END}){_WORD})?",
    # Signs: emoticons, runs, emoji sequences, then any single character.
    r"[:;=]['-]?[)(DPO]+(?!\w)",
    r"\.?[!?]+\.?(?!\.)|\.{2,}|…+\.*|[-=*~+|<>]{3,}|([-*=~+#<>$])\1+|''|``|’’|‘’|‘‘",
    rf"[\U0001f1e6-\U0001f1ff]{{2}}|{_EMOJI}(?:[{_JOINED}\U0001f3fb-\U0001f3ff]+{_EMOJI}?)*",
    rf".[{_JOINED}]*",
)
_TOKEN = re.compile("|".join(_RULES), re.DOTALL)


def _cut(piece: str) -> tuple[str, ...]:
    return tuple(match.group() for match in _TOKEN.finditer(piece))


_cut_short = lru_cache(maxsize=1 << 16)(_cut)


def _split_final_stop(tokens: list[Token]) -> None:
    """Make the final stop of a text a token, not part of its last word ("etc.", "plan B.").

    Abbreviations with stops inside ("U.S.", "p.m.") keep theirs, as they mostly do in UD.
    """
    index = len(tokens) - 1
    while index > 0 and tokens[index].text in _CLOSING:
        index -= 1
    if index < 0 or not _ABBREVIATION.fullmatch(tokens[index].text):
        return
    last = tokens[index]
    middle = last.end - 1
    tokens[index : index + 1] = [
        Token(last.text[:-1], last.start, middle),
        Token(".", middle, last.end),
    ]


_ESCAPED = re.compile(r"-\s?([LR])([RSC])B\s?-")
_PLAIN = {"LR": "(", "RR": ")", "LS": "[", "RS": "]", "LC": "{", "RC": "}"}


def plain_brackets(text: str) -> str:
    """The text with "(" for the Penn Treebank's "-LRB-" and so on, also where a tokeniser has
    split it into "- LRB -".

    >>> plain_brackets("Menasha -LRB- town - RRB - is in Wisconsin .")
    'Menasha ( town ) is in Wisconsin .'
    """
    return _ESCAPED.sub(lambda found: _PLAIN[found[1] + found[2]], text)


_FIRST_WORD = re.compile(r"[^\w@#/]*([^\W_][\w'’-]*)(?=(\S*))")
"""The first word after quotation marks and brackets, and the characters attached to it."""

_OWN_CASE = re.compile(r"[^\W\d_]+[A-Z]|[a-z]+\d")
_ADDRESS = re.compile(r"\.\w|@|://")


def capitalise(text: str) -> str:
    """Capitalise the first letter, after quotation marks and brackets.

    A word with a capital inside ("iPhone", "eBay"), an address and a number are left unchanged.

    >>> capitalise("“the film” won.")
    '“The film” won.'
    >>> capitalise("iPhone sales rose.")
    'iPhone sales rose.'
    """
    word = _FIRST_WORD.match(text)
    if word is None or not word[1][0].islower():
        return text
    if _OWN_CASE.match(word[1]) or _ADDRESS.search(word[1] + word[2]):
        return text
    start = word.start(1)
    # str.title handles letters that stand for two: "ǆ" becomes "ǅ", not "Ǆ" as in str.upper.
    capital = text[start].title()
    return f"{text[:start]}{capital}{text[start + 1 :]}" if len(capital) == 1 else text


def lower_first(text: str, *, keep: bool) -> str:
    """Make the first letter lower-case, because the word no longer starts a sentence.

    With ``keep`` the first word is a name and is left unchanged; "I" and words with a second
    capital ("NATO", "McLean") always are.

    >>> lower_first("The film won.", keep=False)
    'the film won.'
    >>> lower_first("Paris won.", keep=True)
    'Paris won.'
    """
    word = _FIRST_WORD.match(text)
    if keep or word is None or not word[1][0].isupper():
        return text
    pronoun = re.match(r"I(?:['’]\w+)?$", word[1])
    if pronoun or any(letter.isupper() for letter in word[1][1:]) or word[2].startswith("."):
        return text
    start = word.start(1)
    small = text[start].lower()
    return f"{text[:start]}{small}{text[start + 1 :]}" if len(small) == 1 else text


_KEPT = frozenset("§%#@†‡¶")
"""Punctuation by its Unicode category, but as much a part of the text as a word."""
_EMPTY_PAIRS = frozenset(["()", "[]", "{}"])
_NO_SYMBOLS = re.compile(r"[\w\s.,;:!?…'\"“”‘’«»()\[\]{}/*_`~^|<>=+-]*")
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
    return not _NO_SYMBOLS.fullmatch(text) or any(pair in text for pair in _EMPTY_PAIRS)


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
