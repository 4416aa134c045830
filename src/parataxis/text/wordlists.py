"""Closed lists of words, written as plain text in the modules that need them."""

__all__ = ["words"]


def words(text: str) -> frozenset[str]:
    """The words of a text, as a set.

    >>> sorted(words("who whom which"))
    ['which', 'who', 'whom']
    """
    return frozenset(text.split())
