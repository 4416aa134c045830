"""The beam search, on a decoder whose distributions are tables."""

from collections.abc import Sequence
from itertools import pairwise, product

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from parataxis.lab.lstm.search import (
    END,
    START,
    Arrays,
    LstmHypothesis,
    Step,
    longest_output,
    search,
)

A, B, C = 5, 6, 7
WORDS = (END, A, B, C)


class Table:
    """For each source, the log-probabilities of the next word after each word."""

    def __init__(self, tables: Sequence[dict[int, dict[int, float]]]) -> None:
        self.tables = tables

    def read(self, sources: Sequence[Sequence[int]], beam: int) -> tuple[Arrays, Arrays]:
        """Which source each row is; hypotheses have no other state."""
        rows = np.arange(len(sources))
        return {"rows": rows}, {"rows": np.repeat(rows[:, None], beam, axis=1)}

    def step(self, memory: Arrays, state: Arrays, previous: NDArray[np.int64]) -> Step:
        assert (memory["rows"][:, None] == state["rows"]).all()
        count, beams = previous.shape
        words = np.empty((count, beams, len(WORDS)), dtype=np.int64)
        logs = np.empty(words.shape, dtype=np.float32)
        attention = np.zeros((count, beams, 3), dtype=np.float32)
        for row, beam in product(range(count), range(beams)):
            after = self.tables[memory["rows"][row]][int(previous[row, beam])]
            ranked = sorted(after.items(), key=lambda item: -item[1])
            words[row, beam] = [word for word, _ in ranked]
            logs[row, beam] = [log for _, log in ranked]
            attention[row, beam, previous[row, beam] % 3] = 1.0
        return Step(words, logs, attention, state)


def table(rows: dict[int, list[float]]) -> dict[int, dict[int, float]]:
    return {
        word: {
            other: float(np.log(chance)) if chance else -np.inf
            for other, chance in zip(WORDS, chances, strict=True)
        }
        for word, chances in rows.items()
    }


# Greedily A comes first, but B leads to a likelier whole.
TRAP = table(
    {
        START: [0.0, 0.6, 0.4, 0.0],
        A: [0.3, 0.0, 0.3, 0.4],
        B: [1.0, 0.0, 0.0, 0.0],
        C: [0.5, 0.0, 0.5, 0.0],
    }
)
ENDLESS = table({word: [0.0, 1.0, 0.0, 0.0] for word in (START, A, B, C)})


def test_search_a_beam_finds_what_greedy_search_does_not() -> None:
    greedy, wide = (search(Table([TRAP]), [[A, B, C]], beam=beam)[0][0] for beam in (1, 3))
    assert greedy.words == (A, C)
    assert wide.words == (B,)
    assert np.isclose(wide.log, np.log(0.4))


def test_search_writes_at_least_one_word() -> None:
    silent = table({word: [0.9, 0.1, 0.0, 0.0] for word in (START, A, B, C)})
    for beam in (1, 12):
        (best, *_) = search(Table([silent]), [[A]], beam=beam)[0]
        assert best.words == (A,)
        assert np.isclose(best.log, np.log(0.1) + np.log(0.9))


def test_search_sources_of_a_batch_do_not_touch_each_other() -> None:
    decoder = Table([TRAP, ENDLESS, TRAP])
    found = search(decoder, [[A, B, C], [A], [A, B, C]], beam=3)
    assert [each[0].words for each in found] == [(B,), (A,) * longest_output(1), (B,)]
    assert [each[0].is_finished for each in found] == [True, False, True]


def test_search_says_what_each_word_attended_to() -> None:
    (best, *_) = search(Table([TRAP]), [[A, B, C]], beam=1)[0]
    # The rows of the attention are those of the steps that wrote A and C.
    assert best.attention.tolist() == [
        [float(place == START % 3) for place in range(3)],
        [float(place == A % 3) for place in range(3)],
    ]


def every_output(chances: dict[int, dict[int, float]], longest: int) -> list[tuple[float, tuple]]:
    found = []
    for length in range(longest + 1):
        for words in product((A, B, C), repeat=length):
            path = (START, *words, END)
            logs = (chances[a][b] for a, b in pairwise(path))
            found.append((sum(logs), words))
    return found


@settings(max_examples=25)
@given(st.lists(st.lists(st.floats(0.05, 1.0), min_size=4, max_size=4), min_size=4, max_size=4))
def test_search_a_wide_beam_finds_the_best_of_all(rows: list[list[float]]) -> None:
    # Ending is always as likely as all else together, so nothing long can be the best.
    chances = [[sum(row[1:]), *row[1:]] for row in rows]
    chances = [[each / sum(row) for each in row] for row in chances]
    chances[0] = [0.0, *(np.array(chances[0][1:]) * 2)]
    one = table(dict(zip((START, A, B, C), chances, strict=True)))
    best: LstmHypothesis = search(Table([one]), [[A, B, C]], beam=12)[0][0]
    log, _ = max(every_output(one, 4))
    assert np.isclose(best.log, log, atol=1e-4)
