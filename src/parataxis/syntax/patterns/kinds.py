"""The seven syntactic patterns at which a sentence can be split, and one occurrence of them.

The set is that of Zhang et al. (2020), §2 and §4.1.3; docs/patterns.md says what counts as what.
"""

from dataclasses import dataclass
from enum import StrEnum

__all__ = ["Occurrence", "Pattern"]


class Pattern(StrEnum):
    """A syntactic pattern, in the order of table 1 of the paper."""

    RC = "rc"
    CONJ = "conj"
    PART = "part"
    PREP = "prep"
    ADV = "adv"
    APPOS = "appos"
    INF = "inf"

    @property
    def plain_name(self) -> str:
        """What a writer calls it: "relative clause" for ``rc``."""
        return _PLAIN_NAMES[self]


_PLAIN_NAMES = {
    Pattern.RC: "relative clause",
    Pattern.CONJ: "joined clause or verb phrase",
    Pattern.PART: "participle phrase",
    Pattern.PREP: "prepositional phrase",
    Pattern.ADV: "adverbial clause",
    Pattern.APPOS: "apposition",
    Pattern.INF: "infinitive of purpose",
}


@dataclass(frozen=True, slots=True)
class Occurrence:
    """A phrase that could become a simple sentence of its own.

    It covers the words ``first`` to ``last`` (inclusive, without punctuation at either end), which
    are the characters ``start`` to ``end`` of the sentence; ``head`` is the word that governs it.
    """

    pattern: Pattern
    first: int
    last: int
    head: int
    start: int
    end: int
