"""The costs of a study, and how much work a sum of money buys."""

from dataclasses import dataclass
from fractions import Fraction

from parataxis.studies.items import read_items
from parataxis.studies.records import Purpose
from parataxis.studies.study import ItemKind, Payment, Study


@dataclass(frozen=True)
class TaskBatch:
    """Items that each get the same number of answers at the same price: 500 sources with three
    rewrites at 20 cents, 1,500 rewrites with two ratings at 7 cents."""

    things: int
    each: int
    price: Fraction

    @property
    def answers(self) -> int:
        """The number of answers to be paid."""
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
    """The number of answers that a sum buys at a price.

    >>> affordable(Fraction(508), Fraction("0.07"), Fraction("0.25"))
    5805
    """
    return int(money / (price * (1 + fee)))


def batches_of(study: Study, payment: Payment) -> list[tuple[ItemKind, TaskBatch]]:
    """The work that a study asks for. This is an upper bound: every writer is assumed to rewrite
    every source, and nobody to flag one."""
    items = [item for item in read_items(study) if item.purpose is Purpose.ITEM]
    given = sum(item.kind is ItemKind.RATE for item in items)
    sources, hard = len(items) - given, sum(item.hard for item in items)
    writers = study.write.writers if study.write else 0
    rewrite, rating = Fraction(str(payment.per_rewrite)), Fraction(str(payment.per_rating))
    bonus = Fraction(str(payment.per_hard))
    batches = [
        (ItemKind.WRITE, TaskBatch(sources - hard, writers, rewrite)),
        (ItemKind.WRITE, TaskBatch(hard, writers, rewrite + bonus)),
        (ItemKind.RATE, TaskBatch(sources * writers, study.raters_of_rewrites, rating)),
        (ItemKind.RATE, TaskBatch(given, study.raters_of_items, rating)),
    ]
    return [(kind, batch) for kind, batch in batches if batch.things]
