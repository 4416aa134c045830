"""Capital letters at the start of sentences, given and taken away."""

import re

_FIRST_WORD = re.compile(r"[^\w@#/]*([^\W_][\w'’-]*)(?=(\S*))")
"""The first word, behind quotation marks and brackets, and what is written on to it."""

_OWN_CASE = re.compile(r"[^\W\d_]+[A-Z]|[a-z]+\d")
_ADDRESS = re.compile(r"\.\w|@|://")


def capitalise(text: str) -> str:
    """Make the first letter a capital, behind quotation marks and brackets.

    A word with a capital of its own inside ("iPhone", "eBay"), an address and a number are left
    as they are.

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
    # str.title, not str.upper, knows the letters that stand for two: "ǆ" becomes "ǅ", not "Ǆ".
    capital = text[start].title()
    return f"{text[:start]}{capital}{text[start + 1 :]}" if len(capital) == 1 else text


def lower_first(text: str, *, keep: bool) -> str:
    """Make the first letter small, because the word no longer starts a sentence.

    ``keep`` says that the first word is a name and stays as it is. "I" and words with a second
    capital ("NATO", "McLean") stay in any case.

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
