"""Adding and removing the capital letter at the start of a sentence."""

import re

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
