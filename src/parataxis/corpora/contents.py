"""What the sentences and the triples of a corpus are made of: one definition for every table, so
that two commands mean the same by the same word."""

import re
from collections.abc import Iterable

from parataxis.corpora.example import Triple

__all__ = ["entities", "relations", "words"]

_WORD = re.compile(r"\w+")


def words(text: str) -> list[str]:
    """The words of a text, without case and punctuation: nearly the same whether it is tokenised.

    >>> words("It's 3 p.m. , Ann .")
    ['it', 's', '3', 'p', 'm', 'ann']
    """
    return _WORD.findall(text.lower())


def entities(triples: Iterable[Triple]) -> set[str]:
    """The subjects and objects, as the script of Aharoni and Goldberg (2018) counts them.

    >>> sorted(entities([Triple("Ghent", "country", "Belgium")]))
    ['Belgium', 'Ghent']
    """
    return {name for triple in triples for name in (triple.subject, triple.object)}


def relations(triples: Iterable[Triple]) -> set[str]:
    """The relations."""
    return {triple.relation for triple in triples}
