"""What a reader (a parser or an extractor) found in a sentence and in its rewrite, as rows of
counts that are summed over sentences."""

from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass
from functools import cached_property
from itertools import permutations

import numpy as np

from parataxis.evaluate.corpora.treebanks import GoldSentence
from parataxis.evaluate.metrics.protocol import Score, Signature, Statistics
from parataxis.lab.downstream.gold import (
    NO_WORD,
    PRONOUN,
    Chart,
    GoldFrame,
    GoldPair,
    WordPair,
    frames,
    gold_pairs,
    licensed,
    simple_charts,
    source_chart,
    word_in,
)
from parataxis.lab.downstream.parsers import DependencyPair, ExtractedTriple, Span
from parataxis.rewrite.record import Rewrite

Rows = Mapping[str, Statistics]
"""For each kind of item a row (right, said, found, gold): ``right`` of ``said`` give the precision,
``found`` of ``gold`` the recall."""


@dataclass(frozen=True)
class Measure:
    """A score of summed rows, in percent. ``counts`` names the rows, ``kind`` the score."""

    name: str
    counts: str
    kind: str

    def from_statistics(self, total: Statistics) -> Score:
        """The score; NaN where there is nothing to count."""
        right, said, found, gold = total
        precision, recall = _percent(right, said), _percent(found, gold)
        if self.kind == "precision":
            value = precision
        elif self.kind == "recall":
            value = recall
        else:
            both = precision + recall
            value = 2 * precision * recall / both if both else 0.0
        return Score(value, Signature(self.name, {}))


def _percent(part: float, whole: float) -> float:
    return 100 * part / whole if whole else float("nan")


MEASURES = (
    Measure("attachment", "arcs", "recall"),
    Measure("attachment-unlabelled", "arcs-unlabelled", "recall"),
    *(
        Measure(name, counts, kind)
        for counts in ("pairs", "pairs-named", "triples", "triples-named")
        for name, kind in (
            (counts, "f1"),
            (f"{counts}-precision", "precision"),
            (f"{counts}-recall", "recall"),
        )
    ),
    Measure("shared-recall", "shared", "recall"),
)


@dataclass(frozen=True)
class SplitSentence:
    """A sentence of the treebank and its rewrite."""

    gold: GoldSentence
    rewrite: Rewrite

    @cached_property
    def pairs(self) -> list[GoldPair]:
        """What must be found."""
        return gold_pairs(self.gold)

    @cached_property
    def licensed(self) -> set[WordPair]:
        """Pairs that are not gold but not wrong either."""
        return licensed(self.gold)

    def licenses(self, pair: WordPair) -> bool:
        """Whether a pair that is not gold is acceptable."""
        if any(gold.matches(pair) for gold in self.pairs):
            return False
        return any(
            pair[:2] == other[:2] and pair.argument in (other.argument, PRONOUN)
            for other in self.licensed
        )

    @cached_property
    def frames(self) -> list[GoldFrame]:
        """What triples can be made of."""
        return frames(self.gold)

    @cached_property
    def before(self) -> list[Chart]:
        """The chart of the sentence."""
        return [source_chart(self.gold.analysis)]

    @cached_property
    def after(self) -> list[Chart]:
        """The charts of the simple sentences."""
        return simple_charts(self.rewrite, self.before[0])

    @cached_property
    def arcs(self) -> list[GoldPair]:
        """The gold pairs of the tree whose words stand together in one simple sentence: only these
        can be attached alike before and after."""
        together = [set(chart) - {NO_WORD, PRONOUN} for chart in self.after]
        return [
            gold
            for gold in self.pairs
            if not gold.shared
            and any(gold.predicate in words and gold.arguments & words for words in together)
        ]

    @cached_property
    def torn(self) -> int:
        """How many gold pairs of the tree have their words in different simple sentences, or lost
        one of them, mostly to a pronoun."""
        return sum(not gold.shared for gold in self.pairs) - len(self.arcs)


def pair_rows(
    sentence: SplitSentence, parses: Sequence[Sequence[DependencyPair]], charts: Sequence[Chart]
) -> Rows:
    """What a parser found in the texts of these charts. Duplicates count once."""
    pairs = {
        WordPair(predicate, pair.role, argument)
        for parse, chart in zip(parses, charts, strict=True)
        for pair in parse
        if (predicate := word_in(chart, *pair.predicate)) is not None
        and (argument := word_in(chart, *pair.argument)) is not None
        and predicate not in (argument, PRONOUN)
    }
    plain = {pair for pair in pairs if pair.argument != PRONOUN}
    shared = [gold for gold in sentence.pairs if gold.shared]
    return {
        "arcs": _row(0, 0, _found(sentence.arcs, plain), len(sentence.arcs)),
        "arcs-unlabelled": _row(
            0, 0, _found(sentence.arcs, plain, labelled=False), len(sentence.arcs)
        ),
        "pairs": _pair_row(sentence, pairs),
        "pairs-named": _pair_row(sentence, pairs, named=True),
        "shared": _row(0, 0, _found(shared, pairs), len(shared)),
    }


def _pair_row(sentence: SplitSentence, pairs: Set[WordPair], *, named: bool = False) -> Statistics:
    right = {pair for pair in pairs if any(f.matches(pair, named=named) for f in sentence.pairs)}
    said = right | {pair for pair in pairs if not sentence.licenses(pair)}
    found = _found(sentence.pairs, pairs, named=named)
    return _row(len(right), len(said), found, len(sentence.pairs))


def _found(
    wanted: Sequence[GoldPair], pairs: Set[WordPair], *, labelled: bool = True, named: bool = False
) -> int:
    return sum(
        any(gold.matches(pair, labelled=labelled, named=named) for pair in pairs) for gold in wanted
    )


def triple_rows(
    sentence: SplitSentence, triples: Sequence[Sequence[ExtractedTriple]], charts: Sequence[Chart]
) -> Rows:
    """What an extractor found in the texts of these charts. Duplicates count once.

    A triple is right where the frame of its verb has its subject and its object in two different
    arguments.
    """
    words = {
        tuple(_words(chart, part) for part in triple)
        for each, chart in zip(triples, charts, strict=True)
        for triple in each
    }
    return {
        "triples": _triple_row(sentence.frames, words),
        "triples-named": _triple_row(sentence.frames, words, named=True),
    }


def _words(chart: Chart, spans: Sequence[Span]) -> frozenset[int]:
    found = (word_in(chart, *span) for span in spans)
    return frozenset(word for word in found if word is not None)


def _triple_row(
    gold: Sequence[GoldFrame], triples: Set[tuple[frozenset[int], ...]], *, named: bool = False
) -> Statistics:
    right = 0
    found: set[int] = set()
    for subject, verb, object_ in triples:
        frames = [
            frame.predicate
            for frame in gold
            if frame.predicate in verb and _fits(frame, subject, object_, named=named)
        ]
        right += bool(frames)
        found.update(frames)
    return _row(right, len(triples), len(found), len(gold))


def _fits(
    frame: GoldFrame, subject: frozenset[int], object_: frozenset[int], *, named: bool
) -> bool:
    """Whether subject and object are two arguments of the frame. Unless they must be named, a
    relative word and an inserted pronoun count as what they should refer to."""
    if named:
        arguments = [words - frame.relative for words in frame.arguments]
    else:
        arguments = [words | {PRONOUN} for words in frame.arguments]
    return any(subject & one and object_ & other for one, other in permutations(arguments, 2))


def _row(right: int, said: int, found: int, gold: int) -> Statistics:
    return np.array([right, said, found, gold], dtype=np.float64)
