"""The two sides of a rewrite, as the word checks compare them.

Most rewrites have no fault, and most checks see that from a few words: which words there are, and
which of them are numbers, negations, modals and conditions. These are found once for all checks.
"""

from collections import Counter
from collections.abc import Sequence, Set

from parataxis.checks.units import Sort, Unit

__all__ = ["Side"]

_FEW = frozenset((Sort.NUMBER, Sort.NEGATION, Sort.MODAL, Sort.CONDITION))


class Side:
    """The source, or all its simple sentences: ``sentences`` are the units of each text."""

    def __init__(self, texts: Sequence[str], sentences: Sequence[Sequence[Unit]]) -> None:
        self.texts, self.sentences = texts, sentences
        self.units = [unit for sentence in sentences for unit in sentence]
        self.keys = {unit.key for unit in self.units}
        self._of: dict[Sort, list[Unit]] = {}
        for unit in self.units:
            if unit.sort in _FEW:
                self._of.setdefault(unit.sort, []).append(unit)

    @property
    def text(self) -> str:
        """The source, on the side that has only that."""
        return self.texts[0]

    def of(self, sort: Sort) -> Sequence[Unit]:
        """The numbers, negations, modals or conditions."""
        return self._of.get(sort, ())

    def facts_among(self, keys: Set[str]) -> list[Unit]:
        """The content words, names and numbers that have one of the keys."""
        return [unit for unit in self.units if unit.key in keys and unit.is_fact] if keys else []

    def facts(self) -> set[str]:
        """The keys of the content words, names and numbers."""
        return {unit.key for unit in self.units if unit.is_fact}

    def counts(self) -> Counter[str]:
        """How often each key is there."""
        return Counter([unit.key for unit in self.units])
