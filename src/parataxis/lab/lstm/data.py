"""Examples of corpora as numbers: sources, and the references of each."""

import logging
from array import array
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain

import numpy as np
from numpy.typing import NDArray

from parataxis.errors import InputError
from parataxis.evaluate.corpora.example import Example
from parataxis.evaluate.corpora.registry import parse_corpus
from parataxis.lab.lstm.search import END, MARKS, PAD, SPLIT, UNKNOWN, Vocabulary, words_of
from parataxis.lab.training import similar_length_batches
from parataxis.syntax.wordpieces import stack
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


class Texts:
    """Sources and references while they are read: every word gets a number of its own, and each
    text is cut into words only once."""

    def __init__(self) -> None:
        self.numbers: dict[str, int] = {}
        self.counts: Counter[int] = Counter()
        """With how many sources each word occurs, in them or in their references."""
        self._cut: dict[str, array[int]] = {}
        self._sources: dict[str, int] = {}
        self._references: list[tuple[int, list[array[int]]]] = []
        """The place of the source, and the words of each sentence."""

    def add(self, source: str, references: Sequence[Sequence[str]]) -> None:
        place = self._sources.setdefault(source, len(self._sources))
        found: set[int] = set()
        for text in dict.fromkeys((source, *chain.from_iterable(references))):
            if text not in self._cut:
                words = words_of(text)
                numbers = [self.numbers.setdefault(word, len(self.numbers)) for word in words]
                self._cut[text] = array("i", numbers)
            found.update(self._cut[text])
        self.counts.update(found)
        self._references += [
            (place, [self._cut[each] for each in reference]) for reference in references
        ]

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
        known = [vocabulary.numbers.get(word, UNKNOWN) for word in self.numbers]
        is_known = [word in vocabulary.numbers for word in self.numbers]
        beyond: list[dict[int, int]] = []
        for source in self._sources:
            others = dict.fromkeys(word for word in self._cut[source] if not is_known[word])
            beyond.append({word: len(vocabulary) + place for place, word in enumerate(others)})

        def read(words: Iterable[int], place: int) -> list[int]:
            return [beyond[place].get(word, known[word]) for word in words]

        def target(place: int, reference: Sequence[Sequence[int]]) -> list[int]:
            row: list[int] = []
            for sentence in reference:
                row += [*read(sentence, place), SPLIT]
            return [*row[:-1], END]

        sources = [array("i", read(self._cut[text], at)) for text, at in self._sources.items()]
        targets = [array("i", target(at, reference)) for at, reference in self._references]
        owners = np.array([at for at, _ in self._references], dtype=np.int64)
        return Pairs(sources, targets, owners, longest)


@dataclass(frozen=True)
class LstmBatch:
    """Padded sources, their lengths, and padded targets."""

    source: NDArray[np.int64]
    lengths: NDArray[np.int64]
    targets: NDArray[np.int64]


class Pairs:
    """Sources and references as numbers of words. ``owners`` has the source of each reference, and
    ``rows`` are the references that can be used: neither side is empty or too long."""

    def __init__(
        self,
        sources: "list[array[int]]",
        targets: "list[array[int]]",
        owners: NDArray[np.int64],
        longest: int,
    ) -> None:
        self.sources, self.targets, self.owners = sources, targets, owners
        self.source_lengths = np.array([len(each) for each in sources], dtype=np.int64)
        self.target_lengths = np.array([len(each) for each in targets], dtype=np.int64)
        own = self.source_lengths[owners]
        fits = (own > 0) & (own <= longest)
        fits &= (self.target_lengths > 1) & (self.target_lengths <= longest)
        self.rows = np.nonzero(fits)[0]

    def __len__(self) -> int:
        return len(self.rows)

    def batch(self, rows: NDArray[np.int64]) -> LstmBatch:
        owners = self.owners[rows]
        return LstmBatch(
            stack([self.sources[row] for row in owners], PAD),
            self.source_lengths[owners],
            stack([self.targets[row] for row in rows], PAD),
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
        return rows[np.sort(kept)]

    def batches(self, most: int, size: int, chance: np.random.Generator) -> list[NDArray[np.int64]]:
        """An epoch: batches of references of similar length, in random order."""
        lengths = self.target_lengths * 1000 + self.source_lengths[self.owners]
        batches = similar_length_batches(self.drawn(most, chance), lengths, size, 50)
        order = chance.permutation(len(batches))
        return [batches[place] for place in order]
