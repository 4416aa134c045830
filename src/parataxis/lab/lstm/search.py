"""Beam search over what a sequence-to-sequence model may write."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from parataxis.errors import ParataxisError
from parataxis.text.tokens import Token, tokenize

MARKS = ("<pad>", "<unk>", "<s>", "</s>", "<split>")
PAD, UNKNOWN, START, END, SPLIT = range(len(MARKS))
"""Special tokens, which have the first numbers. "<split>" separates two simple sentences."""


_PIECE = re.compile(r"\S+")
_TOKENISED = re.compile(r"\s[.!?]\s*$")


def tokens_of(text: str) -> list[Token]:
    """The words of a text, as the models read them: what stands between spaces if its final mark
    stands alone, as in tokenised corpora, else the tokens of running text.

    >>> [token.text for token in tokens_of("Ann left on 1974-08-01 .")]
    ['Ann', 'left', 'on', '1974-08-01', '.']
    """
    if not _TOKENISED.search(text):
        return tokenize(text)
    return [Token(piece.group(), piece.start(), piece.end()) for piece in _PIECE.finditer(text)]


def words_of(text: str) -> list[str]:
    """The words of :func:`tokens_of` without their places.

    >>> words_of("Ann left."), words_of("Ann left .")
    (['Ann', 'left', '.'], ['Ann', 'left', '.'])
    """
    return [token.text for token in tokens_of(text)]


class Vocabulary:
    """The words that a model can generate without copying, and their numbers."""

    def __init__(self, words: Iterable[str]) -> None:
        self.words = (*MARKS, *words)

    def __len__(self) -> int:
        return len(self.words)

    @cached_property
    def numbers(self) -> dict[str, int]:
        return {word: number for number, word in enumerate(self.words)}

    def read(self, words: Sequence[str]) -> list[int]:
        """The numbers of a source's words; those outside the vocabulary are counted on from it.

        >>> Vocabulary(["left"]).read(["Ann", "left", "Ben", "Ann"])
        [6, 5, 7, 6]
        """
        others = {word: None for word in words if word not in self.numbers}
        own = {word: len(self) + place for place, word in enumerate(others)}
        return [self.numbers.get(word, own.get(word, UNKNOWN)) for word in words]

    def spell(self, numbers: Iterable[int], source: Sequence[str]) -> list[str]:
        """The words that numbers stand for, given the words of their source.

        >>> Vocabulary(["left"]).spell([7, 5], ["Ann", "left", "Ben", "Ann"])
        ['Ben', 'left']
        """
        others = list({word: None for word in source if word not in self.numbers})
        return [
            self.words[number] if number < len(self) else others[number - len(self)]
            for number in numbers
        ]

    def write(self, path: Path) -> None:
        text = "".join(f"{word}\n" for word in self.words[len(MARKS) :])
        path.write_text(text, encoding="utf-8", newline="\n")

    @classmethod
    def load(cls, path: Path) -> "Vocabulary":
        try:
            return cls(path.read_text(encoding="utf-8").split("\n")[:-1])
        except (OSError, UnicodeDecodeError) as error:
            raise ParataxisError(f"{path} cannot be read as a list of words.") from error


BEAM = 12
"""Aharoni and Goldberg (2018), appendix A."""
CANDIDATES = BEAM + 1
"""The next words to score for each hypothesis: at least ``BEAM`` of them do not end it."""

Floats = NDArray[np.float32]
Integers = NDArray[np.int64]


Arrays = Mapping[str, Any]
"""Named arrays of numpy or torch whose first axis is the source; the second axis of a state is the
hypothesis."""


@dataclass
class Step:
    """The likeliest next words of each hypothesis with their log-probabilities (sources x beams x
    candidates), and its attention to each source word (sources x beams x words)."""

    words: Integers
    logs: Floats
    attention: Floats
    state: Arrays


class LstmDecoder(Protocol):
    """A model in torch or onnxruntime."""

    def read(self, sources: Sequence[Sequence[int]], beam: int) -> tuple[Arrays, Arrays]:
        """Encode sources, whose words are numbers, and give the memory of each and the state of
        ``beam`` equal hypotheses."""

    def step(self, memory: Arrays, state: Arrays, previous: Integers) -> Step:
        """Score the next words after the previous ones."""


@dataclass(frozen=True)
class LstmHypothesis:
    """What was written, how likely it is, and what each of its words attended to."""

    words: tuple[int, ...]
    log: float
    attention: Floats
    is_finished: bool = True


@dataclass
class _Moment:
    """One step of the search: the open sources, the parent of each new hypothesis, the word that it
    adds, and the attention of the parents."""

    place: Integers
    """The row of each source, or -1."""
    parents: Integers
    words: Integers
    attention: Floats


def longest_output(length: int) -> int:
    """How many words may be written for a source of that many."""
    return 30 + 3 * length


def search(
    decoder: LstmDecoder, sources: Sequence[Sequence[int]], *, beam: int = BEAM
) -> list[list[LstmHypothesis]]:
    """For each source its best finished hypotheses, at most ``beam``, best first.

    The score is the sum of log-probabilities, as in the paper's toolkit. It can only fall, so a
    source is done when nothing open is better than what is finished. At least one word is
    written. Where a model does not come to an end, its best open hypothesis is given.
    """
    return _Search(decoder, sources, beam).run()


class _Search:
    def __init__(self, decoder: LstmDecoder, sources: Sequence[Sequence[int]], beam: int) -> None:
        self.decoder, self.beam = decoder, beam
        self.lengths = np.array([len(source) for source in sources])
        self.limits = np.array([longest_output(len(source)) for source in sources])
        self.rows = np.arange(len(sources))
        """The sources that are still open."""
        self.memory, self.state = decoder.read(sources, beam)
        self.scores = np.full((len(sources), beam), -np.inf)
        self.scores[:, 0] = 0.0
        self.previous = np.full((len(sources), beam), START, dtype=np.int64)
        self.moments: list[_Moment] = []
        self.finished: list[list[tuple[float, int, int]]] = [[] for _ in sources]
        """Of each source: log-probability, step and hypothesis from which it ended."""

    def run(self) -> list[list[LstmHypothesis]]:
        while len(self.rows):
            self._step()
            self._close()
        found = []
        for source, ends in enumerate(self.finished):
            best = sorted(ends, key=lambda end: -end[0])[: self.beam]
            found.append([self._hypothesis(source, *end) for end in best])
        return found

    def _step(self) -> None:
        step = self.decoder.step(self.memory, self.state, self.previous)
        count, _, candidates = step.words.shape
        logs = step.logs
        if not self.moments:  # an empty output is not a rewrite
            logs = np.where(step.words == END, -np.inf, logs)
        totals = (self.scores[:, :, None] + logs).reshape(count, -1)
        kept = min(2 * self.beam, totals.shape[1])
        order = np.argsort(-totals, axis=1, kind="stable")[:, :kept]
        totals = np.take_along_axis(totals, order, 1)
        words = np.take_along_axis(step.words.reshape(count, -1), order, 1)
        parents = order // candidates
        ends = words == END
        for row, rank in np.argwhere(ends[:, : self.beam] & np.isfinite(totals[:, : self.beam])):
            end = float(totals[row, rank]), len(self.moments), int(parents[row, rank])
            self.finished[self.rows[row]].append(end)
        # A stable sort puts unfinished hypotheses first and keeps their order.
        going_on = np.argsort(ends, axis=1, kind="stable")[:, : self.beam]
        totals = np.where(ends, -np.inf, totals)
        self.scores = np.take_along_axis(totals, going_on, 1)
        self.previous = np.take_along_axis(words, going_on, 1)
        parents = np.take_along_axis(parents, going_on, 1)
        place = np.full(len(self.finished), -1)
        place[self.rows] = np.arange(count)
        self.moments.append(_Moment(place, parents, self.previous, step.attention))
        rows = np.arange(count)[:, None]
        self.state = {name: array[rows, parents] for name, array in step.state.items()}

    def _close(self) -> None:
        best = self.scores.max(axis=1)
        done = np.array(
            [
                not np.isfinite(best[row])
                or (bool(ends := self.finished[source]) and max(ends)[0] >= best[row])
                or len(self.moments) >= self.limits[source]
                for row, source in enumerate(self.rows)
            ]
        )
        if not done.any():
            return
        for row in np.nonzero(done)[0]:
            source = self.rows[row]
            if not self.finished[source]:
                self.finished[source].append(
                    (float(best[row]), len(self.moments), int(self.scores[row].argmax()))
                )
        keep = np.nonzero(~done)[0]
        self.rows, self.scores = self.rows[keep], self.scores[keep]
        self.previous = self.previous[keep]
        if len(keep):
            self.memory = {name: array[keep] for name, array in self.memory.items()}
            self.state = {name: array[keep] for name, array in self.state.items()}

    def _hypothesis(self, source: int, log: float, steps: int, beam: int) -> LstmHypothesis:
        """Follow a hypothesis back from the step in which it ended."""
        words: list[int] = []
        attention: list[Floats] = []
        for moment in reversed(self.moments[:steps]):
            row = moment.place[source]
            words.append(int(moment.words[row, beam]))
            beam = int(moment.parents[row, beam])
            attention.append(moment.attention[row, beam, : self.lengths[source]])
        return LstmHypothesis(
            tuple(reversed(words)),
            log,
            np.array(attention[::-1], dtype=np.float32).reshape(len(words), self.lengths[source]),
            steps < self.limits[source],
        )
