"""The effect of splitting on a reader: its scores before and after, by the length of sentences."""

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from itertools import pairwise
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from parataxis.errors import InputError
from parataxis.evaluate.compare_report import span
from parataxis.evaluate.metrics.protocol import Statistics
from parataxis.evaluate.resample import Interval, Resampler
from parataxis.lab.downstream.parsers import DependencyPair, ExtractedTriple, TextReader
from parataxis.lab.downstream.score import (
    MEASURES,
    Chart,
    Measure,
    Rows,
    SplitSentence,
    pair_rows,
    triple_rows,
)
from parataxis.report import Notes, Report, Table, number_cell

T = TypeVar("T")

Mask = NDArray[np.bool_]

ALL = "all"
"""The group of all lengths."""

FEWEST = 10
"""The fewest sentences for which an interval is computed."""

WINDOW = 64
"""Sentences whose texts are read together."""


@dataclass(frozen=True)
class Effect:
    """A measure of one reader before and after splitting, on the sentences of one length; a line
    of the CSV. Scores are NaN where there is nothing to count."""

    reader: str
    measure: str
    words: str
    """The fewest and most words, :data:`ALL`, or the fewest and "+"."""
    sentences: str
    """"all", where those that the splitter left whole are equal before and after, or "split"."""
    number: int
    """How many sentences."""
    gold: int
    """How many gold pairs or frames there were to find."""
    before: float
    after: float
    change: float
    low: float
    high: float
    """The 95 % interval of the change; NaN for too few sentences."""
    torn: float
    """Percent of the gold pairs of the tree that cannot be attached after splitting, over the
    sentences that were split."""


def effects(
    sentences: Sequence[SplitSentence],
    parsers: Sequence[TextReader[DependencyPair]],
    extractors: Sequence[TextReader[ExtractedTriple]] = (),
    *,
    lengths: Sequence[int] = (10, 20, 30, 40),
    resampler: Resampler | None = None,
    advance: Callable[[int], None] = lambda _: None,
) -> list[Effect]:
    """The effect on every reader, by every measure, on all lengths and on each.

    ``lengths`` are the most words (with punctuation marks) of a group. ``advance`` is called with
    the number of sentences that a reader has finished. A sentence that a
    parser cannot read is left out for it, as is one without annotated frames for an extractor.
    """
    with_frames = [sentence for sentence in sentences if sentence.gold.has_roles]
    if extractors and not with_frames:
        raise InputError("Triples are compared with PropBank frames, but no sentence has any.")
    found: list[Effect] = []
    for parser in parsers:
        read = _read(sentences, parser.pipe, pair_rows, advance)
        found += _by_length(parser.name, read, lengths, resampler)
    for extractor in extractors:
        read = _read(with_frames, extractor.pipe, triple_rows, advance)
        found += _by_length(extractor.name, read, lengths, resampler)
    return found


_Read = tuple[SplitSentence, Rows, Rows]
"""A sentence, and its rows before and after."""


def _read(
    sentences: Sequence[SplitSentence],
    pipe: Callable[[Sequence[str]], Iterable[Sequence[T] | None]],
    rows: Callable[[SplitSentence, Sequence[Sequence[T]], Sequence[Chart]], Rows],
    advance: Callable[[int], None],
) -> list[_Read]:
    """What a reader found, sentence by sentence. Equal texts are read once."""
    done: list[_Read] = []
    for start in range(0, len(sentences), WINDOW):
        window = sentences[start : start + WINDOW]
        texts = [(sentence.rewrite.source, *sentence.rewrite.simple) for sentence in window]
        unique = list(dict.fromkeys(text for each in texts for text in each))
        found = dict(zip(unique, pipe(unique), strict=True))
        for sentence, (source, *simple) in zip(window, texts, strict=True):
            before = found[source]
            after = [each for text in simple if (each := found[text]) is not None]
            if before is not None and len(after) == len(simple):
                first = rows(sentence, [before], sentence.before)
                done.append((sentence, first, rows(sentence, after, sentence.after)))
        advance(len(window))
    return done


def _by_length(
    reader: str, read: Sequence[_Read], lengths: Sequence[int], resampler: Resampler | None
) -> Iterator[Effect]:
    if not read:
        raise InputError(f"{reader} could read none of the sentences.")
    sentences = [sentence for sentence, _, _ in read]
    is_split = np.array([each.rewrite.is_split for each in sentences])
    torn = np.array([each.torn for each in sentences])
    pairs = np.array([each.torn + len(each.arcs) for each in sentences])
    sizes = np.array([len(each.gold.analysis) for each in sentences])
    for measure in MEASURES:
        if measure.counts not in read[0][1]:
            continue
        before = np.array([rows[measure.counts] for _, rows, _ in read])
        after = np.array([rows[measure.counts] for _, _, rows in read])
        for words, chosen in length_groups(sizes, lengths):
            split = chosen & is_split
            share = 100 * float(torn[split].sum()) / max(1, int(pairs[split].sum()))
            for name, rows in (("all", chosen), ("split", split)):
                change = _change(measure, before[rows], after[rows], resampler)
                yield Effect(reader, measure.name, words, name, *change, share)


def length_groups(sizes: NDArray[np.int64], lengths: Sequence[int]) -> list[tuple[str, Mask]]:
    """All sentences, and those of each group of lengths, by name."""
    edges = [0, *sorted(set(lengths))]
    groups: list[tuple[str, Mask]] = [(ALL, np.ones(len(sizes), dtype=bool))]
    for low, high in pairwise(edges):
        groups.append((f"{low + 1}-{high}", (sizes > low) & (sizes <= high)))
    return [*groups, (f"{edges[-1] + 1}+", sizes > edges[-1])]


def _change(
    measure: Measure, before: Statistics, after: Statistics, resampler: Resampler | None
) -> tuple[int, int, float, float, float, float, float]:
    """The number of sentences and of gold items, the scores, their difference, and its interval."""
    first, second = (measure.from_statistics(each.sum(0)).value for each in (before, after))
    low = high = math.nan
    if resampler is not None and len(before) >= FEWEST:
        interval = resampler.difference(measure, after, before)
        low, high = interval.low, interval.high
    gold = int(before[:, -1].sum())
    return len(before), gold, first, second, second - first, low, high


_BY_LENGTH = ("attachment", "pairs", "pairs-named", "triples", "triples-named")
_CHANGE = ("before", "after", "change", "95 % interval")


def effect_report(effects: Sequence[Effect], notes: Sequence[str]) -> Report:
    """All measures over all lengths; then the main ones by length, on the split sentences."""
    whole = Table(
        ("reader", "measure", "sentences", "number", "gold", *_CHANGE),
        [
            [each.reader, each.measure, each.sentences, *_cells(each)]
            for each in effects
            if each.words == ALL
        ],
        names=3,
    )
    by_length = Table(
        ("reader", "measure", "words", "all", "split", "gold", *_CHANGE, "torn %"),
        [
            [
                *(split.reader, split.measure, split.words, f"{every.number:,}"),
                *(*_cells(split), number_cell(split.torn, ".1f")),
            ]
            for every, split in zip(effects[::2], effects[1::2], strict=True)
            if split.measure in _BY_LENGTH and split.words != ALL
        ],
        names=3,
    )
    lines = [asdict(each) for each in effects]
    record = {"notes": list(notes), "effects": lines}
    tables = (whole, by_length, Notes(notes))
    return Report("The effect of splitting", tables, record, lines, bare=True)


def _cells(effect: Effect) -> list[str]:
    return [
        *(f"{effect.number:,}", f"{effect.gold:,}"),
        *map(number_cell, (effect.before, effect.after)),
        number_cell(effect.change, "+.2f"),
        span(Interval(effect.low, effect.high)),
    ]
