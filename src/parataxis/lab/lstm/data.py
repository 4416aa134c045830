"""Examples of corpora as numbers: sources, and the references of each."""

import logging
from array import array
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from parataxis.errors import InputError
from parataxis.evaluate.corpora.example import Example
from parataxis.evaluate.corpora.registry import parse_corpus
from parataxis.lab.lstm.search import END, MARKS, PAD, SPLIT, UNKNOWN, Vocabulary, words_of
from parataxis.lab.training import similar_length_batches
from parataxis.text.files import Malformed, ReadReport

log = logging.getLogger(__name__)

_REPORTED = 5
"""How many malformed lines are reported one by one."""


def read_corpora(names: Sequence[str], limit: int | None = None) -> Iterator[Example]:
    """The examples with a reference of all corpora, each named as on the command line; of each
    at most ``limit``. A corpus without any is an error."""
    for name in names:
        corpus = parse_corpus(name)
        report = ReadReport()

        def tell(malformed: Malformed, report: ReadReport = report) -> None:
            if report.malformed <= _REPORTED:
                log.warning("%s", malformed)

        report.tell = tell
        count = 0
        for example in corpus.read(report):
            if not example.references:
                continue
            count += 1
            yield example
            if count == limit:
                break
        if report.malformed:
            log.warning("%s: %d lines are malformed", name, report.malformed)
        if not count:
            raise InputError(f"{name} holds no example with a reference to train or score with.")


@dataclass(frozen=True)
class Ragged:
    """Rows of numbers of different lengths, end to end."""

    values: NDArray[np.int32]
    starts: NDArray[np.int64]
    """Where each row starts, and where the last one ends."""

    @classmethod
    def of(cls, rows: Iterable[Sequence[int]]) -> "Ragged":
        """Put rows together."""
        values, starts = array("i"), array("q", [0])
        for row in rows:
            values.extend(row)
            starts.append(len(values))
        return cls(np.array(values, dtype=np.int32), np.array(starts, dtype=np.int64))

    def __len__(self) -> int:
        return len(self.starts) - 1

    def __getitem__(self, row: int) -> NDArray[np.int32]:
        return self.values[self.starts[row] : self.starts[row + 1]]

    @cached_property
    def lengths(self) -> NDArray[np.int64]:
        """Of the rows."""
        return np.diff(self.starts)

    def padded(self, rows: NDArray[np.int64]) -> NDArray[np.int64]:
        """Some rows as a matrix."""
        lengths = self.starts[rows + 1] - self.starts[rows]
        inside = np.arange(lengths.max(initial=1)) < lengths[:, None]
        matrix = np.full(inside.shape, PAD, dtype=np.int64)
        places = self.starts[rows][:, None] + np.arange(inside.shape[1])
        matrix[inside] = self.values[places[inside]]
        return matrix


class Texts:
    """Sources and references while they are read: every word gets a number of its own, and each
    text is cut into words only once."""

    def __init__(self) -> None:
        self.numbers: dict[str, int] = {}
        self.counts: Counter[int] = Counter()
        """With how many sources each word occurs, in them or in their references."""
        self.sources: dict[str, array[int]] = {}
        self._cut: dict[str, array[int]] = {}
        self._targets = array("i")
        self._starts = array("q", [0])
        self._owners = array("q")
        self._places: dict[str, int] = {}

    def add(self, source: str, references: Sequence[Sequence[str]]) -> None:
        """Add a source and its references."""
        place = self._places.setdefault(source, len(self._places))
        self.sources[source] = self._words(source)
        found = set(self.sources[source])
        for sentence in {sentence for reference in references for sentence in reference}:
            found.update(self._words(sentence))
        self.counts.update(found)
        for reference in references:
            for position, sentence in enumerate(reference):
                if position:  # negative, so that it cannot be taken for a word
                    self._targets.append(-SPLIT)
                self._targets.extend(self._words(sentence))
            self._starts.append(len(self._targets))
            self._owners.append(place)

    def _words(self, text: str) -> "array[int]":
        found = self._cut.get(text)
        if found is None:
            numbers = [self.numbers.setdefault(word, len(self.numbers)) for word in words_of(text)]
            found = array("i", numbers)
            self._cut[text] = found
        return found

    def vocabulary(self, size: int, least: int) -> Vocabulary:
        """The most frequent words, at most ``size``, that occur at least so often."""
        spelled = list(self.numbers)
        ranked = sorted(self.counts.items(), key=lambda item: (-item[1], spelled[item[0]]))
        return Vocabulary(
            spelled[number]
            for number, count in ranked[:size]
            if count >= least and spelled[number] not in MARKS
        )

    def pairs(self, vocabulary: Vocabulary, longest: int) -> "Pairs":
        """The texts as numbers of a vocabulary, without the pairs that are longer on one side."""
        table = np.array(
            [vocabulary.numbers.get(word, -1) for word in self.numbers] or [0], dtype=np.int64
        )
        sources = []
        beyond: list[dict[int, int]] = []
        for words in self.sources.values():
            own: dict[int, int] = {}
            row = []
            for word in words:
                known = int(table[word])
                row.append(
                    known if known >= 0 else own.setdefault(word, len(vocabulary) + len(own))
                )
            sources.append(row)
            beyond.append(own)
        raw = np.frombuffer(self._targets, dtype=np.int32) if self._targets else np.zeros(0, int)
        mapped = np.where(raw >= 0, table[np.maximum(raw, 0)], -raw)
        starts, owners = np.array(self._starts), np.array(self._owners)
        for place in np.nonzero(mapped < 0)[0]:
            target = int(np.searchsorted(starts, place, side="right")) - 1
            mapped[place] = beyond[owners[target]].get(int(raw[place]), UNKNOWN)
        # Each reference ends in END.
        ended = np.insert(mapped, starts[1:], END).astype(np.int32)
        targets = Ragged(ended, starts + np.arange(len(starts)))
        ragged = Ragged.of(sources)
        fits = (targets.lengths <= longest) & (ragged.lengths[owners] <= longest)
        fits &= (targets.lengths > 1) & (ragged.lengths[owners] > 0)
        return Pairs(ragged, targets, owners, np.nonzero(fits)[0])


@dataclass(frozen=True)
class LstmBatch:
    """Padded sources, their lengths, and padded targets."""

    source: NDArray[np.int64]
    lengths: NDArray[np.int64]
    targets: NDArray[np.int64]


@dataclass(frozen=True)
class Pairs:
    """Sources and references; ``rows`` are the references that can be used."""

    sources: Ragged
    targets: Ragged
    owners: NDArray[np.int64]
    """The source of each reference."""
    rows: NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.rows)

    def batch(self, rows: NDArray[np.int64]) -> LstmBatch:
        """Some references with their sources."""
        owners = self.owners[rows]
        return LstmBatch(
            self.sources.padded(owners), self.sources.lengths[owners], self.targets.padded(rows)
        )

    def drawn(self, most: int, chance: np.random.Generator) -> NDArray[np.int64]:
        """A shuffled sample of at most ``most`` references of each source; 0 for all."""
        rows = chance.permutation(self.rows)
        if not most:
            return rows
        order = np.argsort(self.owners[rows], kind="stable")
        owners = self.owners[rows][order]
        first = np.searchsorted(owners, owners, side="left")
        kept = order[np.arange(len(order)) - first < most]
        chosen: NDArray[np.int64] = rows[np.sort(kept)]
        return chosen

    def batches(self, most: int, size: int, chance: np.random.Generator) -> list[NDArray[np.int64]]:
        """An epoch: batches of references of similar length, in random order."""
        lengths = self.targets.lengths * 1000 + self.sources.lengths[self.owners]
        batches = similar_length_batches(self.drawn(most, chance), lengths, size, 50)
        order = chance.permutation(len(batches))
        return [batches[place] for place in order]
