"""What a study costs, and what a sum of money buys."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction

from parataxis.evaluate.corpora.example import Example
from parataxis.rewrite.record import Rewrite
from parataxis.studies.records import Rating
from parataxis.text.tokens import tokenize


@dataclass(frozen=True)
class TaskBatch:
    """Things that each get the same number of answers at the same price: 500 sources with three
    rewrites at 20 cents, 1,500 rewrites with two ratings at 7 cents."""

    things: int
    each: int
    price: Fraction

    @property
    def answers(self) -> int:
        """How many answers are paid."""
        return self.things * self.each

    def cost(self, fee: Fraction = Fraction(0)) -> Fraction:
        """The price of all answers, with the platform's fee.

        >>> wiki = TaskBatch(500, 3, Fraction("0.2"))
        >>> contracts = TaskBatch(500, 3, Fraction("0.4"))
        >>> float(wiki.cost(Fraction("0.25")) + contracts.cost(Fraction("0.25")))
        1125.0
        """
        return self.answers * self.price * (1 + fee)


def affordable(money: Fraction, price: Fraction, fee: Fraction = Fraction(0)) -> int:
    """How many answers at a price a sum buys.

    >>> affordable(Fraction(508), Fraction("0.07"), Fraction("0.25"))
    5805
    """
    return int(money / (price * (1 + fee)))


# The rewrites that deserve to be references: those that all their raters found correct.

CORRECT = "correct"


def perfect(
    rewrites: Iterable[Rewrite],
    ratings: Iterable[Rating],
    *,
    outcome: str = CORRECT,
    raters: int = 2,
) -> list[Rewrite]:
    """The rewrites that at least so many people rated and nobody found wanting
    (Zhang et al. 2020, §4.2.2)."""
    votes: dict[str, list[bool]] = defaultdict(list)
    for rating in ratings:
        value = rating.outcomes.get(outcome)
        if isinstance(value, bool):
            votes[rating.item].append(value)
    return [
        rewrite
        for rewrite in rewrites
        if rewrite.id is not None and len(votes[rewrite.id]) >= raters and all(votes[rewrite.id])
    ]


def benchmark(rewrites: Iterable[Rewrite]) -> list[Example]:
    """Rewrites as the references of their sources, each reference once."""
    found: dict[str, dict[tuple[str, ...], None]] = {}
    for rewrite in rewrites:
        found.setdefault(rewrite.source, {})[rewrite.simple] = None
    return [
        Example(source, tuple(references), str(number))
        for number, (source, references) in enumerate(found.items(), start=1)
    ]


@dataclass(frozen=True)
class Statistics:
    """The rows of table 2 of Zhang et al. (2020)."""

    complex: int
    simple: int
    """References; several of one source each count."""
    tokens_per_complex: float
    sentences_per_simple: float


def statistics(examples: Sequence[Example]) -> Statistics:
    """Count a benchmark.

    >>> ghent = Example("Ghent, a city, is old.", (("Ghent is a city.", "It is old."),), "1")
    >>> statistics([ghent])
    Statistics(complex=1, simple=1, tokens_per_complex=8.0, sentences_per_simple=2.0)
    """
    references = [reference for example in examples for reference in example.references]
    tokens = sum(len(tokenize(example.source)) for example in examples)
    return Statistics(
        len(examples),
        len(references),
        tokens / len(examples) if examples else 0.0,
        sum(map(len, references)) / len(references) if references else 0.0,
    )
