"""What a study costs, and what a sum of money buys."""

from dataclasses import dataclass
from fractions import Fraction

__all__ = ["Batch", "affordable"]


@dataclass(frozen=True)
class Batch:
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

        >>> wiki, contracts = Batch(500, 3, Fraction("0.2")), Batch(500, 3, Fraction("0.4"))
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
