"""The books: a budget that is never passed, and a report."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from parataxis.splitters.llm.ledger import Ledger, LlmOutcome, Tokens
from parataxis.splitters.llm.settings import LlmSettings


def ledger(**more: float) -> Ledger:
    return Ledger(LlmSettings(url="http://localhost", model="small", **more))  # type: ignore[arg-type]


PRICED = {"price_in": 1.0, "price_out": 10.0}


def test_ledger_refuses_what_could_pass_the_budget() -> None:
    books = ledger(budget=30.0, **PRICED)
    most = Tokens(1_000_000, 1_000_000)  # 11
    assert books.reserve(most)
    assert books.reserve(most)
    assert not books.reserve(most)
    books.settle(most, Tokens(100_000, 100_000))  # 1.1
    assert books.reserve(most)
    assert not books.reserve(most)
    assert books.spent == pytest.approx(1.1)


def test_ledger_gives_back_what_a_call_that_never_took_place_held() -> None:
    books = ledger(budget=11.0, **PRICED)
    most = Tokens(1_000_000, 1_000_000)
    for _ in range(5):
        assert books.reserve(most)
        books.settle(most, None)
    assert (books.calls, books.spent) == (0, 0.0)


def test_ledger_without_a_budget_refuses_nothing() -> None:
    assert ledger(**PRICED).reserve(Tokens(10**12, 10**12))
    assert ledger().reserve(Tokens(10**12, 10**12))


def test_ledger_with_no_money_allows_only_what_is_free() -> None:
    assert not ledger(budget=0.0, **PRICED).reserve(Tokens(1, 1))
    assert ledger(budget=0.0, price_in=0.0, price_out=0.0).reserve(Tokens(1, 1))


@settings(max_examples=50)
@given(
    st.floats(0, 100),
    st.lists(st.tuples(st.integers(0, 10**7), st.floats(0, 1), st.booleans()), max_size=30),
)
def test_ledger_never_passes_its_budget(
    budget: float, calls: list[tuple[int, float, bool]]
) -> None:
    books = ledger(budget=budget, **PRICED)
    under_way = []
    for size, share, ends_now in calls:
        most = Tokens(size, size)
        if books.reserve(most):
            under_way.append((most, Tokens(int(size * share), int(size * share))))
        if ends_now and under_way:
            books.settle(*under_way.pop(0))
    for most, used in under_way:
        books.settle(most, used)
    assert books.spent <= budget + 1e-9


def test_ledger_reports_in_one_sentence() -> None:
    books = ledger(budget=0.5, **PRICED)
    assert books.report() is None
    most = Tokens(20_000, 2_000)
    for _ in range(2):
        assert books.reserve(most)
        books.settle(most, Tokens(10_000, 1_000))
    for outcome in (
        LlmOutcome.SPLIT,
        LlmOutcome.FAULTED,
        LlmOutcome.SPLIT,
        LlmOutcome.WHOLE,
        LlmOutcome.FAULTED,
    ):
        books.count(outcome)
    books.count(LlmOutcome.OVER_BUDGET)
    assert books.report() == (
        "llm made 2 calls (20,000 tokens in, 2,000 out) at a cost of 0.0400 of a budget of 0.5; of "
        "6 sentences the language model split 2 and left 1 whole, and the pointer model wrote 3 "
        "(2 faulted by the checks, 1 beyond the budget)."
    )


def test_ledger_without_prices_reports_no_cost() -> None:
    books = ledger()
    assert books.reserve(Tokens(1, 1))
    books.settle(Tokens(1, 1), Tokens(1, 1))
    books.count(LlmOutcome.SPLIT)
    assert books.report() == (
        "llm made 1 call (1 tokens in, 1 out); of 1 sentence the language model split 1 and left 0 "
        "whole, and the pointer model wrote 0."
    )
