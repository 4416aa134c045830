"""The gold predicates and arguments of a treebank, and what a reader (a parser or an extractor)
finds of them before and after splitting, as rows of counts that are summed over sentences."""

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from itertools import permutations
from typing import NamedTuple

import numpy as np

from parataxis.evaluate.corpora.treebanks import GoldSentence
from parataxis.evaluate.metrics.protocol import Score, Signature, Statistics
from parataxis.lab.downstream.parsers import ROLES, DependencyPair, ExtractedTriple, Span
from parataxis.rewrite.align import align
from parataxis.rewrite.record import OutputToken, Rewrite
from parataxis.syntax.analysis import ROOT, Analysis, Frame

# From the characters of a text back to the words of the treebank, by the provenance of a
# rewrite. A chart has for each character the index of a word, :data:`NO_WORD` or :data:`PRONOUN`.

NO_WORD = -1
PRONOUN = -2
"""A pronoun that was inserted for an unknown word of the source."""

_PRONOUNS = {"he", "she", "it", "they", "him", "her", "them", "this", "that", "these", "those"}

Chart = list[int]


def source_chart(analysis: Analysis) -> Chart:
    """The chart of the sentence itself."""
    chart = [NO_WORD] * len(analysis.text)
    for word in analysis:
        chart[word.start : word.end] = [word.index] * (word.end - word.start)
    return chart


def simple_charts(rewrite: Rewrite, source: Chart) -> list[Chart]:
    """A chart for each simple sentence."""
    if not rewrite.is_split:
        return [source]
    # The rewrites of other systems come without provenance.
    provenance = rewrite.provenance or align(rewrite.source, rewrite.simple)
    return [
        _simple_chart(sentence, tokens, source)
        for sentence, tokens in zip(rewrite.simple, provenance, strict=True)
    ]


def _simple_chart(sentence: str, tokens: Sequence[OutputToken], source: Chart) -> Chart:
    chart = [NO_WORD] * len(sentence)
    for token in tokens:
        length = token.end - token.start
        if token.source is None:
            if token.text.lower() in _PRONOUNS:
                chart[token.start : token.end] = [PRONOUN] * length
            continue
        start, end = token.source
        if length == end - start:  # a copy: character by character
            chart[token.start : token.end] = source[start:end]
        else:
            word = word_in(source, start, end)
            chart[token.start : token.end] = [NO_WORD if word is None else word] * length
    return chart


def word_in(chart: Chart, start: int, end: int) -> int | None:
    """The word that most of these characters belong to.

    >>> word_in([0, 0, NO_WORD, 1, 1, 1], 1, 6)
    1
    """
    found = Counter(word for word in chart[start:end] if word != NO_WORD)
    return found.most_common(1)[0][0] if found else None


_MODIFIERS = ("acl", "amod", "appos", "compound", "flat", "nmod", "nummod")


class WordPair(NamedTuple):
    """A predicate, its argument (both by the index of their word) and their relation. The argument
    may be :data:`PRONOUN`."""

    predicate: int
    role: str
    argument: int


class GoldPair(NamedTuple):
    """A predicate and its argument, which any of ``arguments`` may stand for. Those in
    ``relative`` do not name it: in "Ann, who sang", "Ann" and "who" are the subject of "sang".

    It is ``shared`` where the tree leaves it out and only the enhanced graph has it: in "Ann came
    and sang", "Ann" is the subject of "sang" too.
    """

    predicate: int
    role: str
    arguments: frozenset[int]
    relative: frozenset[int]
    shared: bool

    def matches(self, pair: WordPair, *, labelled: bool = True, named: bool = False) -> bool:
        """Whether a pair says this. Unless the argument must be ``named``, a relative word and an
        inserted pronoun count as what they should refer to."""
        if pair.predicate != self.predicate or (labelled and pair.role != self.role):
            return False
        if named:
            return pair.argument in self.arguments - self.relative
        return pair.argument in self.arguments or pair.argument == PRONOUN


def gold_pairs(sentence: GoldSentence) -> list[GoldPair]:
    """The gold pairs of a sentence, those of the tree first. A list is named by its first word."""
    analysis = sentence.analysis
    names = _names(analysis)
    antecedents: dict[int, set[int]] = defaultdict(set)
    for arc in sentence.enhanced:
        if arc.relation == "ref":
            antecedents[arc.dependent] |= names[arc.head]
    found = []
    for word in analysis:
        if word.head != ROOT and word.relation in ROLES:
            own, known = names[word.index], antecedents[word.index]
            relative = frozenset(own - known if known else ())
            found.append(
                GoldPair(word.head, word.relation, frozenset(own | known), relative, False)
            )
    for pair in _enhanced(sentence):
        is_listed = analysis[pair.argument].relation == "conj"
        if not is_listed and not any(gold.matches(pair) for gold in found):
            arguments = frozenset(names[pair.argument])
            found.append(GoldPair(pair.predicate, pair.role, arguments, frozenset(), True))
    visible = {word.index for word in analysis if word.end > word.start}
    return [gold for gold in found if gold.predicate in visible and gold.arguments & visible]


def _names(analysis: Analysis) -> list[set[int]]:
    """For each word those that say the same in its place: the parts of a name, and equal words,
    since a rewrite does not say which of them it repeats."""
    forms: dict[str, set[int]] = defaultdict(set)
    for word in analysis:
        forms[word.text.casefold()].add(word.index)
    return [
        forms[word.text.casefold()] | {part.index for part in analysis.children(word.index, "flat")}
        for word in analysis
    ]


def _enhanced(sentence: GoldSentence) -> Iterator[WordPair]:
    """The pairs of the enhanced graph. The subject of "to leave" in "Ann wants to leave"
    (xsubj) is left out, because it is never written."""
    for arc in sentence.enhanced:
        role, _, subtype = arc.relation.partition(":")
        if role in ROLES and subtype != "xsubj":
            yield WordPair(arc.head, role, arc.dependent)


def licensed(sentence: GoldSentence) -> set[WordPair]:
    """Pairs that are not gold, but not wrong: further parts of a list, and what a rewrite turns
    into a sentence although the tree says it otherwise. "The mill, built by Ann, a monk from Ulm,
    ..." becomes "The mill was built", "Ann is a monk" and "The monk is from Ulm".
    """
    return {*_enhanced(sentence), *_licensed(sentence.analysis)}


def _licensed(analysis: Analysis) -> Iterator[WordPair]:
    for word in analysis:
        if word.head == ROOT:
            continue
        if word.relation in _MODIFIERS:
            yield WordPair(word.index, "nsubj", word.head)
        if word.relation == "appos":
            yield WordPair(word.head, "nsubj", word.index)
        if word.deprel == "acl:relcl":  # "the house where he died": "He died in the house."
            yield WordPair(word.index, "obl", word.head)
        if word.relation in ("advcl", "conj", "parataxis", "xcomp", "ccomp"):
            for subject in _inherited(analysis, word.index):
                yield WordPair(word.index, "nsubj", subject)


def _inherited(analysis: Analysis, index: int) -> list[int]:
    """The words that a clause without a subject may have as its subject: what the nearest clause
    above it has as subject or object."""
    while not analysis.children(index, "nsubj", "csubj"):
        index = analysis[index].head
        if index == ROOT:
            return []
        found = analysis.children(index, "nsubj", "obj", "iobj")
        if found:
            return [word.index for word in found]
    return []


class GoldFrame(NamedTuple):
    """A verb and its numbered PropBank arguments, each the set of its words. ``relative`` are the
    words among them that only point to another: "who", "which"."""

    predicate: int
    arguments: tuple[frozenset[int], ...]
    relative: frozenset[int]


def frames(sentence: GoldSentence) -> list[GoldFrame]:
    """The frames of verbs with two arguments or more, from which a triple can be made."""
    found = [
        _gold_frame(frame)
        for frame in sentence.analysis.frames
        if sentence.analysis[frame.predicate].upos == "VERB"
    ]
    return [frame for frame in found if len(frame.arguments) > 1]


def _gold_frame(frame: Frame) -> GoldFrame:
    arguments: dict[str, set[int]] = defaultdict(set)
    relative: set[int] = set()
    for argument in frame.arguments:
        label = argument.label.removeprefix("R-").removeprefix("C-")
        words = range(argument.first, argument.last + 1)
        if label.removeprefix("ARG").isdigit():
            arguments[label].update(words)
            if argument.label.startswith("R-"):
                relative.update(words)
    return GoldFrame(
        frame.predicate, tuple(map(frozenset, arguments.values())), frozenset(relative)
    )


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
        precision = 100 * right / said if said else float("nan")
        recall = 100 * found / gold if gold else float("nan")
        both = precision + recall
        values = {
            "precision": precision,
            "recall": recall,
            "f1": 2 * precision * recall / both if both else 0.0,
        }
        return Score(values[self.kind], Signature(self.name, {}))


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


class SplitSentence:
    """A sentence of the treebank, its rewrite, and what must be found in both.

    ``before`` and ``after`` are the charts of the sentence and of the simple sentences. ``arcs``
    are the gold pairs of the tree whose words stand together in one simple sentence: only these can
    be attached alike before and after. ``torn`` counts the others, whose words are in different
    simple sentences, or one of them is lost, mostly to a pronoun.
    """

    def __init__(self, gold: GoldSentence, rewrite: Rewrite) -> None:
        self.gold, self.rewrite = gold, rewrite
        self.pairs, self.licensed, self.frames = gold_pairs(gold), licensed(gold), frames(gold)
        self.before = [source_chart(gold.analysis)]
        self.after = simple_charts(rewrite, self.before[0])
        together = [set(chart) - {NO_WORD, PRONOUN} for chart in self.after]
        tree = [pair for pair in self.pairs if not pair.shared]
        self.arcs = [
            pair
            for pair in tree
            if any(pair.predicate in words and pair.arguments & words for words in together)
        ]
        self.torn = len(tree) - len(self.arcs)

    def licenses(self, pair: WordPair) -> bool:
        """Whether a pair that is not gold is acceptable."""
        if any(gold.matches(pair) for gold in self.pairs):
            return False
        return any(
            pair[:2] == other[:2] and pair.argument in (other.argument, PRONOUN)
            for other in self.licensed
        )


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
    arcs = len(sentence.arcs)
    return {
        "arcs": _row(0, 0, _found(sentence.arcs, plain), arcs),
        "arcs-unlabelled": _row(0, 0, _found(sentence.arcs, plain, labelled=False), arcs),
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
        tuple(frozenset(_words(chart, part)) for part in triple)
        for each, chart in zip(triples, charts, strict=True)
        for triple in each
    }
    return {
        "triples": _triple_row(sentence.frames, words),
        "triples-named": _triple_row(sentence.frames, words, named=True),
    }


def _words(chart: Chart, spans: Sequence[Span]) -> Iterator[int]:
    found = (word_in(chart, *span) for span in spans)
    return (word for word in found if word is not None)


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
