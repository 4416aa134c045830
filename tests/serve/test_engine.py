"""Batches are shared, nobody waits for long, and nothing is lost, crossed or told to others."""

import asyncio
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import CancelledError, ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from parataxis.errors import InputError, TryLaterError
from parataxis.serve import engine as module
from parataxis.serve.engine import CHARACTERS, Engine, Job

from .conftest import wait_for


@dataclass(frozen=True)
class Upper:
    """Writes words in capitals, when it is let."""

    name: str = "upper"
    lane: str = "lane"
    go: threading.Event = field(default_factory=threading.Event, compare=False)
    batches: list[list[str]] = field(default_factory=list, compare=False)
    hooks: dict[str, Callable[[], object]] = field(default_factory=dict, compare=False)

    def size(self, item: str, /) -> int:
        return len(item)

    def __call__(self, items: Sequence[str], /) -> list[str]:
        self.batches.append(list(items))
        self.go.wait(20)
        for item in items:
            self.hooks.get(item, lambda: None)()
        if "bad" in items:
            raise InputError("This is bad.")
        if "exit" in items:
            raise SystemExit(3)
        if "stop" in items:
            raise StopIteration
        if "short" in items:
            return []
        return [item.upper() for item in items]


@pytest.fixture
def engine() -> Any:
    made = Engine(1000, batch=16)
    yield made
    made.close()


def blocked(engine: Engine, task: Upper) -> Job[str, str]:
    """The lane is busy with one item, so that all that comes now must wait."""
    job = engine.submit(task, ["block"])
    wait_for(lambda: task.batches)
    return job


def done(job: Job[str, str]) -> list[str]:
    return [future.result(20) for future in job.futures]


def test_engine_jobs_that_wait_share_batches(engine: Engine) -> None:
    task = Upper()
    first = blocked(engine, task)
    jobs = [engine.submit(task, [f"{name}1", f"{name}2"]) for name in "abc"]
    task.go.set()
    assert [done(job) for job in (first, *jobs)] == [
        ["BLOCK"],
        ["A1", "A2"],
        ["B1", "B2"],
        ["C1", "C2"],
    ]
    assert task.batches == [["block"], ["a1", "b1", "c1", "a2", "b2", "c2"]]


def test_engine_jobs_with_other_options_do_not_share_batches(engine: Engine) -> None:
    task, other = Upper(), Upper("other")
    blocked(engine, task)
    jobs = [engine.submit(each, [name]) for each, name in ((task, "a"), (other, "b"), (task, "c"))]
    task.go.set()
    other.go.set()
    assert [done(job) for job in jobs] == [["A"], ["B"], ["C"]]
    assert task.batches == [["block"], ["a", "c"]]
    assert other.batches == [["b"]]


def test_engine_a_contract_does_not_keep_a_sentence_waiting(engine: Engine) -> None:
    task = Upper()
    blocked(engine, task)
    guests: list[Job[str, str]] = []
    task.hooks["c50"] = lambda: guests.append(engine.submit(task, ["guest"]))
    contract = engine.submit(task, [f"c{number}" for number in range(200)])
    task.go.set()
    assert done(contract) == [f"C{number}" for number in range(200)]
    assert done(guests[0]) == ["GUEST"]
    number = next(i for i, batch in enumerate(task.batches) if "guest" in batch)
    assert "c50" in task.batches[number - 1]  # it came into the very next batch
    assert len(task.batches[number]) == 1 + 4  # which was a short one
    assert len(task.batches[1]) == 4  # the first results of a contract come soon, too
    assert [len(batch) for batch in task.batches[2:number]] == [16] * (number - 2)


def test_engine_of_two_contracts_each_gets_half(engine: Engine) -> None:
    task = Upper()
    blocked(engine, task)
    for name in "ab":
        engine.submit(task, [name] * 50)
    task.go.set()
    wait_for(lambda: engine.waiting == 0)
    for batch in task.batches[1:-1]:
        assert abs(batch.count("a") - batch.count("b")) <= 1


def test_engine_long_sentences_make_small_batches(engine: Engine) -> None:
    task = Upper()
    blocked(engine, task)
    job = engine.submit(task, ["x" * 1500] * 20)
    task.go.set()
    done(job)
    assert {len(batch) for batch in task.batches[1:-1]} == {3}


def test_engine_lanes_do_not_wait_for_each_other(engine: Engine) -> None:
    slow, quick = Upper(lane="slow"), Upper(lane="quick")
    blocked(engine, slow)
    quick.go.set()
    assert done(engine.submit(quick, ["a"])) == ["A"]
    slow.go.set()


@pytest.mark.parametrize(
    ("bad", "error"),
    [("bad", InputError), ("short", RuntimeError), ("exit", RuntimeError), ("stop", RuntimeError)],
)
def test_engine_an_error_reaches_only_the_job_whose_it_is(
    engine: Engine, bad: str, error: type[Exception]
) -> None:
    task = Upper()
    blocked(engine, task)
    good = engine.submit(task, ["a", "b"])
    faulty = engine.submit(task, ["c", bad])
    also_good = engine.submit(task, ["d"])
    task.go.set()
    assert done(good) == ["A", "B"]
    assert done(also_good) == ["D"]

    async def listen() -> list[str]:
        return [result async for result in faulty.results()]

    with pytest.raises(error):
        asyncio.run(asyncio.wait_for(listen(), 20))
    assert done(engine.submit(task, ["e"])) == ["E"]  # the lane goes on


def test_engine_after_an_error_the_rest_of_the_job_is_not_done(engine: Engine) -> None:
    task = Upper()
    blocked(engine, task)
    job = engine.submit(task, ["bad", *(str(number) for number in range(100))])
    task.go.set()
    with pytest.raises(InputError):
        job.futures[0].result(20)
    with pytest.raises(CancelledError):
        job.futures[-1].result(20)
    assert engine.waiting == 0
    assert len(task.batches) == 2


def test_engine_what_is_cancelled_is_not_done(engine: Engine) -> None:
    task = Upper()
    blocked(engine, task)
    dropped, kept = engine.submit(task, ["a"] * 30), engine.submit(task, ["b"])
    dropped.cancel()
    assert engine.waiting == 1
    task.go.set()
    assert done(kept) == ["B"]
    assert task.batches == [["block"], ["b"]]


def test_engine_who_stops_to_listen_cancels(engine: Engine) -> None:
    task = Upper()

    async def listen() -> list[str]:
        heard = []
        job = engine.submit(task, ["a"] * 50)
        task.go.set()
        results = job.results()
        async for result in results:
            heard.append(result)
            task.go.clear()
            break
        await results.aclose()  # type: ignore[attr-defined]
        return heard

    assert asyncio.run(listen()) == ["A"]
    wait_for(lambda: engine.waiting == 0)
    task.go.set()
    assert sum(map(len, task.batches)) < 50


def test_engine_that_is_full_says_when_to_come_again() -> None:
    engine = Engine(10)
    task = Upper()
    blocked(engine, task)
    alone = engine.submit(task, ["a"] * 50)  # a single request is limited elsewhere
    with pytest.raises(TryLaterError, match=r"The service is busy; try again in \d+ s\.") as caught:
        engine.submit(task, ["b"])
    assert 1 <= caught.value.seconds <= 60
    alone.cancel()
    assert engine.submit(task, ["b"] * 10)
    with pytest.raises(TryLaterError):
        engine.submit(task, ["c"])
    task.go.set()
    engine.close()


def test_engine_nothing_to_do_is_done_at_once(engine: Engine) -> None:
    assert done(engine.submit(Upper(), [])) == []


def test_engine_that_is_closed_leaves_nobody_waiting() -> None:
    engine = Engine(100)
    task = Upper()
    begun = blocked(engine, task)
    job = engine.submit(task, ["a"] * 30)
    engine.close()
    with pytest.raises(CancelledError):
        job.futures[-1].result(20)
    task.go.set()
    assert done(begun) == ["BLOCK"]


@settings(max_examples=20)
@given(st.lists(st.lists(st.text("abcdef", max_size=4), max_size=40), min_size=1, max_size=12))
def test_engine_gives_everyone_their_own_in_order(requests: list[list[str]]) -> None:
    engine = Engine(10_000)
    tasks = [Upper(), Upper("other"), Upper(lane="second")]
    for task in tasks:
        task.go.set()
    named = [[f"{n}-{word}" for word in request] for n, request in enumerate(requests)]

    def ask(number: int) -> list[str]:
        return done(engine.submit(tasks[number % 3], named[number]))

    with ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(ask, range(len(named))))
    assert answers == [[word.upper() for word in request] for request in named]
    engine.close()


def test_engine_gives_back_the_memory_of_long_items(
    engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    given: list[int] = []
    task = Upper()
    task.go.set()
    monkeypatch.setattr(module, "_give_back", lambda: given.append(len(task.batches)))
    assert done(engine.submit(task, ["a" * CHARACTERS])) == ["A" * CHARACTERS]
    done(engine.submit(task, ["b" * 3 * CHARACTERS]))
    wait_for(lambda: given)
    assert given == [2]
