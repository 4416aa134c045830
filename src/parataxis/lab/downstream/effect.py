"""The effect of splitting on a reader: its scores before and after, by the length of sentences."""

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from itertools import pairwise
from typing import NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from parataxis.errors import InputError
from parataxis.evaluate.compare_report import span
from parataxis.evaluate.metrics.protocol import Statistics
from parataxis.evaluate.resample import Interval, Resampler
from parataxis.lab.downstream.gold import Chart
from parataxis.lab.downstream.parsers import Extractor, Parser
from parataxis.lab.downstream.score import (
    MEASURES,
    Measure,
    Rows,
    SplitSentence,
    pair_rows,
    triple_rows,
)
from parataxis.report import NONE, Block, Notes, Report, Table

T = TypeVar("T")

Mask = NDArray[np.bool_]

ALL = "all"
"""The group of all lengths."""

FEWEST = 10
"""The fewest sentences for which an interval is computed."""

WINDOW = 64
"""Sentences whose texts are read together."""


@dataclass(frozen=True)
class ScoreChange:
    """A score before and after splitting; NaN where there is nothing to count."""

    sentences: int
    gold: int
    """How many gold pairs or frames there were to find."""
    before: float
    after: float
    interval: Interval | None
    """Of the difference, after minus before."""

    @property
    def difference(self) -> float:
        """By how much splitting raised the score."""
        return self.after - self.before


@dataclass(frozen=True)
class Effect:
    """A measure of one reader on the sentences of one length."""

    reader: str
    measure: str
    length: str
    """The fewest and most words, :data:`ALL`, or the fewest and "+"."""
    every: ScoreChange
    """Over all sentences: those that the splitter left whole are equal before and after."""
    split: ScoreChange
    """Over those that were split."""
    torn: float
    """Percent of the gold pairs of the tree that cannot be attached after splitting, over the
    sentences that were split."""


def effects(
    sentences: Sequence[SplitSentence],
    parsers: Sequence[Parser],
    extractors: Sequence[Extractor] = (),
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


class _Read(NamedTuple):
    """A sentence and its rows."""

    sentence: SplitSentence
    before: Rows
    after: Rows


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
                done.append(_Read(sentence, first, rows(sentence, after, sentence.after)))
        advance(len(window))
    return done


def _by_length(
    reader: str, read: Sequence[_Read], lengths: Sequence[int], resampler: Resampler | None
) -> list[Effect]:
    if not read:
        raise InputError(f"{reader} could read none of the sentences.")
    is_split = np.array([each.sentence.rewrite.is_split for each in read])
    torn = np.array([each.sentence.torn for each in read])
    pairs = np.array([each.sentence.torn + len(each.sentence.arcs) for each in read])
    sizes = np.array([len(each.sentence.gold.analysis) for each in read])
    found = []
    for measure in MEASURES:
        if measure.counts not in read[0].before:
            continue
        before = np.array([each.before[measure.counts] for each in read])
        after = np.array([each.after[measure.counts] for each in read])
        for length, chosen in length_groups(sizes, lengths):
            split = chosen & is_split
            found.append(
                Effect(
                    reader,
                    measure.name,
                    length,
                    _change(measure, before[chosen], after[chosen], resampler),
                    _change(measure, before[split], after[split], resampler),
                    100 * float(torn[split].sum()) / max(1, int(pairs[split].sum())),
                )
            )
    return found


def length_groups(sizes: NDArray[np.int64], lengths: Sequence[int]) -> list[tuple[str, Mask]]:
    """All sentences, and those of each group of lengths, by name."""
    edges = [0, *sorted(set(lengths))]
    groups: list[tuple[str, Mask]] = [(ALL, np.ones(len(sizes), dtype=bool))]
    for low, high in pairwise(edges):
        groups.append((f"{low + 1}-{high}", (sizes > low) & (sizes <= high)))
    return [*groups, (f"{edges[-1] + 1}+", sizes > edges[-1])]


def _change(
    measure: Measure, before: Statistics, after: Statistics, resampler: Resampler | None
) -> ScoreChange:
    gold = int(before[:, -1].sum())
    interval = None
    if resampler is not None and len(before) >= FEWEST:
        interval = resampler.difference(measure, after, before)
    return ScoreChange(
        len(before),
        gold,
        measure.from_statistics(before.sum(0)).value,
        measure.from_statistics(after.sum(0)).value,
        interval,
    )


_BY_LENGTH = ("attachment", "pairs", "pairs-named", "triples", "triples-named")
_CHANGE = ("before", "after", "change", "95 % interval")


def effect_report(effects: Sequence[Effect], notes: Sequence[str]) -> Report:
    """All measures over all lengths; then the main ones by length, on the split sentences."""
    whole = Table(
        ("reader", "measure", "sentences", "number", "gold", *_CHANGE),
        [
            [effect.reader, effect.measure, name, *_cells(found)]
            for effect in effects
            if effect.length == ALL
            for name, found in (("all", effect.every), ("split", effect.split))
        ],
        names=3,
    )
    by_length = Table(
        ("reader", "measure", "words", "all", "split", "gold", *_CHANGE, "torn %"),
        [
            [
                *(effect.reader, effect.measure, effect.length, f"{effect.every.sentences:,}"),
                *(*_cells(effect.split), _number(effect.torn, "{:.1f}")),
            ]
            for effect in effects
            if effect.measure in _BY_LENGTH and effect.length != ALL
        ],
        names=3,
    )
    lines = list(_lines(effects))
    blocks: list[Block] = [whole, by_length, Notes(notes)]
    record = {"notes": list(notes), "effects": lines}
    return Report("The effect of splitting", blocks, record, lines, bare=True)


def _cells(change: ScoreChange) -> list[str]:
    return [
        f"{change.sentences:,}",
        f"{change.gold:,}",
        _number(change.before),
        _number(change.after),
        _number(change.difference, "{:+.2f}"),
        span(change.interval),
    ]


def _number(value: float, form: str = "{:.2f}") -> str:
    return NONE if math.isnan(value) else form.format(value)


def _lines(effects: Sequence[Effect]) -> Iterator[dict[str, object]]:
    """A line for each reader, measure, length and choice of sentences (all or split)."""
    for effect in effects:
        for name, change in (("all", effect.every), ("split", effect.split)):
            bounds = asdict(change.interval) if change.interval else {"low": None, "high": None}
            yield {
                "reader": effect.reader,
                "measure": effect.measure,
                "words": effect.length,
                "sentences": name,
                "number": change.sentences,
                "gold": change.gold,
                "before": change.before,
                "after": change.after,
                "change": change.difference,
                **bounds,
                "torn": effect.torn,
            }
