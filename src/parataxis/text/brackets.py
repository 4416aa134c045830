"""Brackets as the Penn Treebank writes them, and as everybody else does."""

import re

__all__ = ["plain_brackets"]

_ESCAPED = re.compile(r"-\s?([LR])([RSC])B\s?-")
_PLAIN = {"LR": "(", "RR": ")", "LS": "[", "RS": "]", "LC": "{", "RC": "}"}


def plain_brackets(text: str) -> str:
    """The text with "(" for "-LRB-" and so on, also where a tokeniser cut it into "- LRB -".

    >>> plain_brackets("Menasha -LRB- town - RRB - is in Wisconsin .")
    'Menasha ( town ) is in Wisconsin .'
    """
    return _ESCAPED.sub(lambda found: _PLAIN[found[1] + found[2]], text)
