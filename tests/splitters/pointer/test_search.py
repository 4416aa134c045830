"""The beam search, over a decoder whose probabilities are written down or drawn by lot."""

import math
from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from parataxis.splitters.pointer.actions import (
    CLOSED,
    COPY,
    END,
    FORMS,
    NEXT,
    START,
    WHOLE,
    Features,
    closed_word,
    read_source,
)
from parataxis.splitters.pointer.search import Place, search

Chances = Callable[[Features, tuple[int, ...]], Mapping[int, float]]


class Sources:
    def __init__(self, sources: Sequence[Features]) -> None:
        self.sources = sources

    def select(self, rows: NDArray[np.int64]) -> "Sources":
        return Sources([self.sources[row] for row in rows])


class FakeDecoder:
    """Gives each action the chance that a function of the source and the actions so far says.

    The recurrent state of a hypothesis is the number of its history, so that a search which mixes
    up hypotheses finds something else.
    """

    def __init__(self, chances: Chances, spare: int = 0) -> None:
        self.chances, self.spare = chances, spare
        self.histories: list[tuple[int, ...]] = [()]
        self.steps = 0

    def read(self, sources: Sequence[Features]) -> tuple[Sources, int, tuple[int, int]]:
        return Sources(sources), max(map(len, sources)) + self.spare, (1, 1)

    def step(self, memory: Sources, place: Place) -> tuple[NDArray[Any], NDArray[Any]]:
        self.steps += 1
        sources, beams, words = place.copied.shape
        logs = np.full((sources, beams, COPY + words), -1e9, dtype=np.float32)
        states = np.empty((sources, beams, 1, 1), dtype=np.float32)
        for row, source in enumerate(memory.sources):
            for beam in range(beams):
                history = self.histories[int(place.recurrent[row, beam, 0, 0])]
                if place.previous[row, beam] != START:
                    history = (*history, int(place.previous[row, beam]))
                states[row, beam] = len(self.histories)
                self.histories.append(history)
                for action, chance in self.chances(source, history).items():
                    logs[row, beam, action] = math.log(chance)
        return logs, states


def scripted(script: Mapping[tuple[int, ...], Mapping[int, float]]) -> Chances:
    """Chances by history; the rewrite ends where the script says nothing."""
    return lambda source, history: script.get(history, {END: 1.0})


def drawn(source: Features, history: tuple[int, ...]) -> Mapping[int, float]:
    """Chances that look random but depend on the source and the history alone."""
    seed = [len(source), *source.same, *history]
    weights = np.random.default_rng(seed).gamma(0.3, size=COPY + len(source)) + 1e-9
    weights[[NEXT, END]] += 0.5 * weights.max()
    chances = weights / weights.sum()
    return dict(enumerate(chances.tolist()))


A, B, C = COPY, COPY + 1, COPY + 2
ABC = read_source(["apples", "bring", "comfort"])


def test_search_finds_the_best_sequence_that_greedy_search_misses() -> None:
    script = {
        (): {A: 0.6, B: 0.4},
        (A,): {B: 0.3, C: 0.3, END: 0.4},
        (B,): {C: 0.99, END: 0.01},
    }
    (greedy,) = search(FakeDecoder(scripted(script)), [ABC], beam=1)
    (found,) = search(FakeDecoder(scripted(script)), [ABC], beam=2)
    assert [h.actions for h in greedy.hypotheses] == [(A, B)]
    assert found.hypotheses[0].actions == (B, C)
    assert found.hypotheses[0].score == pytest.approx(math.log(0.4 * 0.99) / 3)


def test_search_orders_hypotheses_by_their_mean() -> None:
    script = {
        (): {A: 1.0},
        (A,): {END: 0.5, B: 0.5},
        (A, B): {C: 1.0},
    }
    found = {
        power: search(FakeDecoder(scripted(script)), [ABC], beam=2, length_power=power)[0]
        for power in (0.0, 1.0)
    }
    assert [h.actions for h in found[1.0].hypotheses] == [(A, B, C), (A,)]
    assert [h.score for h in found[1.0].hypotheses] == pytest.approx(
        [math.log(0.5) / 4, math.log(0.5) / 2]
    )
    assert [h.score for h in found[0.0].hypotheses] == pytest.approx([math.log(0.5)] * 2)


def test_search_adds_up_the_ways_to_write_a_word() -> None:
    source = read_source(["The", "cat", "saw", "the", "dog"])
    the = closed_word("the")
    assert the is not None
    script = {(): {COPY: 0.15, COPY + 3: 0.3, the: 0.1, COPY + 1: 0.45}}
    (found,) = search(FakeDecoder(scripted(script)), [source], beam=2)
    assert [h.actions for h in found.hypotheses] == [(COPY + 3,), (COPY + 1,)]
    assert found.hypotheses[0].score == pytest.approx(math.log(0.55) / 2)


def test_search_merges_the_groups_of_each_source_alone() -> None:
    sources = [read_source(["we", "came"]), read_source(["cats", "and", "cats", "and", "cats"])]
    script = {(): {COPY: 0.3, COPY + 1: 0.36, COPY + 2: 0.3, COPY + 4: 0.04}}
    script[()][COPY + 3] = 0.01
    script_of_two = {(): {COPY: 0.4, COPY + 1: 0.6}}

    def chances(source: Features, history: tuple[int, ...]) -> Mapping[int, float]:
        return scripted(script_of_two if len(source) == 2 else script)(source, history)

    first, second = search(FakeDecoder(chances), sources, beam=1)
    assert first.hypotheses[0].actions == (COPY + 1,)
    assert second.hypotheses[0].actions == (COPY,)
    assert second.hypotheses[0].score == pytest.approx(math.log(0.64) / 2)


def test_search_returns_finished_hypotheses_only() -> None:
    def chances(source: Features, history: tuple[int, ...]) -> Mapping[int, float]:
        if not history:
            return {A: 0.9, B: 0.1}
        if history[0] == A:  # likely at every step, but it never ends
            return {B if history[-1] == A else A: 1.0}
        return {END: 1.0}

    (found,) = search(FakeDecoder(chances), [ABC], beam=2)
    assert [h.actions for h in found.hypotheses] == [(B,)]


@pytest.mark.parametrize(("words", "steps"), [(3, 24), (12, 24), (13, 26), (40, 80)])
def test_search_stops_at_the_limit(words: int, steps: int) -> None:
    source = read_source([f"word{n}" for n in range(words)])
    decoder = FakeDecoder(lambda _, history: {A: 0.5, B: 0.5})
    (found,) = search(decoder, [source], beam=2)
    assert found.hypotheses == ()
    assert decoder.steps == steps


def test_search_gives_the_chance_that_the_source_stays_whole() -> None:
    script = {(): {WHOLE: 0.7, A: 0.3}}
    (found,) = search(FakeDecoder(scripted(script)), [ABC], beam=2)
    assert found.whole == pytest.approx(0.7)
    assert [h.actions for h in found.hypotheses] == [(A,)]


def test_search_ends_at_once_where_the_source_stays_whole() -> None:
    def chances(source: Features, history: tuple[int, ...]) -> Mapping[int, float]:
        whole = 0.7 if len(source) == 3 else 0.6
        return {WHOLE: whole, A: 1 - whole} if not history else {END: 1.0}

    sources = [ABC, read_source(["apples", "fell"])]
    decoder = FakeDecoder(chances)
    first, second = search(decoder, sources, beam=1, whole_from=0.65)
    assert (first.whole, first.hypotheses) == (pytest.approx(0.7), ())
    assert (second.whole, len(second.hypotheses)) == (pytest.approx(0.6), 1)
    decoder.steps = 0
    search(decoder, [ABC], beam=1, whole_from=0.65)
    assert decoder.steps == 1


def test_search_of_nothing() -> None:
    assert search(FakeDecoder(drawn), [], beam=4) == []


WORDS = st.lists(
    st.sampled_from(["the", "The", "cat", "dogs", "and", ",", "1912"]), min_size=1, max_size=12
)


@given(st.lists(WORDS, min_size=1, max_size=4), st.integers(1, 4))
@settings(max_examples=25, deadline=None)
def test_search_result_can_be_carried_out(sentences: list[list[str]], beam: int) -> None:
    sources = [read_source(words) for words in sentences]
    for source, found in zip(
        sources, search(FakeDecoder(drawn, spare=3), sources, beam=beam), strict=True
    ):
        assert len(found.hypotheses) <= beam
        scores = [h.score for h in found.hypotheses]
        assert scores == sorted(scores, reverse=True)
        for hypothesis in found.hypotheses:
            actions = hypothesis.actions
            assert not {START, END, WHOLE} & set(actions)
            assert all(action < COPY + len(source) for action in actions)
            assert actions[0] != NEXT
            assert actions[-1] != NEXT
            assert not FORMS <= actions[0] < CLOSED
            for before, action in pairwise(actions):
                if FORMS <= action < CLOSED:
                    assert before >= COPY
                if before >= COPY or before == NEXT:
                    assert action != before


@given(st.lists(WORDS, min_size=2, max_size=4), st.integers(1, 3))
@example([["the"] * 7, ["and", "cat", "the", "cat", "cat", "dogs", "the", ",", "the"]], 2)
@settings(max_examples=15, deadline=None)
def test_search_result_does_not_depend_on_the_batch(sentences: list[list[str]], beam: int) -> None:
    sources = [read_source(words) for words in sentences]
    together = search(FakeDecoder(drawn), sources, beam=beam)
    assert together == [search(FakeDecoder(drawn), [each], beam=beam)[0] for each in sources]
    assert together[::-1] == search(FakeDecoder(drawn, spare=5), sources[::-1], beam=beam)


def test_search_with_caution_prefers_fewer_sentences() -> None:
    script = {
        (): {A: 1.0},
        (A,): {NEXT: 0.7, B: 0.3},
        (A, NEXT): {B: 1.0},
    }
    (bold,) = search(FakeDecoder(scripted(script)), [ABC], beam=2)
    (careful,) = search(FakeDecoder(scripted(script)), [ABC], beam=2, caution=1.5)
    assert bold.hypotheses[0].actions == (A, NEXT, B)
    assert careful.hypotheses[0].actions == (A, B)
    assert careful.hypotheses[0].log_chance == pytest.approx(math.log(0.3))
    assert careful.hypotheses[1].score == pytest.approx((math.log(0.7) - 1.5) / 4)
    assert careful.hypotheses[1].log_chance == pytest.approx(math.log(0.7))
