"""Perfect rewrites, benchmarks of them, and what a study costs."""

from fractions import Fraction

import pytest

from parataxis.evaluate.corpora.describe import describe
from parataxis.rewrite.record import Rewrite
from parataxis.studies.commands.plan import TaskBatch, affordable
from parataxis.studies.records import Rating
from parataxis.studies.report import benchmark, perfect

SOURCE = "Ghent, a city, is old."


def rewrite(id_: str, *simple: str) -> Rewrite:
    return Rewrite(source=SOURCE, simple=simple, splitter="human", id=id_)


def rating(item: str, rater: str, correct: bool | None) -> Rating:
    return Rating(
        item=item, rater=rater, rubric="six-criteria", answers={}, outcomes={"correct": correct}
    )


@pytest.mark.parametrize(
    ("votes", "kept"),
    [
        ([True, True], True),
        ([True, True, True], True),
        ([True, False], False),
        ([True], False),
        ([True, None], False),
        ([], False),
    ],
)
def test_perfect_needs_all_raters_and_enough(votes: list[bool | None], kept: bool) -> None:
    ratings = [rating("1", str(n), vote) for n, vote in enumerate(votes)]
    assert bool(perfect([rewrite("1", "Ghent is a city.", "It is old.")], ratings)) is kept


def test_benchmark_gathers_references_of_a_source_once() -> None:
    two = ("Ghent is a city.", "It is old.")
    found = benchmark([rewrite("1", *two), rewrite("2", *two), rewrite("3", "Ghent is old.")])
    assert [example.references for example in found] == [(two, ("Ghent is old.",))]
    counted = describe(found)
    assert (counted.complex.unique, counted.pairs.total, counted.sentences_per_pair) == (1, 2, 1.5)
    assert describe([]).tokens_per_complex == 0.0


def test_budget_reproduces_the_costs_of_the_paper() -> None:
    fee = Fraction("0.25")
    writing = TaskBatch(500, 3, Fraction("0.2")).cost(fee) + TaskBatch(
        500, 3, Fraction("0.4")
    ).cost(fee)
    assert writing == 1125
    # 97 of the 3,000 rewrites were flagged or left out, as the sum in the paper implies.
    assert round(TaskBatch(2903, 2, Fraction("0.07")).cost(fee)) == 508
    assert affordable(Fraction(525), Fraction("0.07"), fee) == 6000
