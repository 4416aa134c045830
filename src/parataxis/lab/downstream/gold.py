"""The predicates and arguments in a treebank: the gold pairs, and pairs that a rewrite may state
without being wrong."""

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from parataxis.evaluate.corpora.treebanks import GoldSentence
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


ROLES = frozenset(("nsubj", "csubj", "obj", "iobj", "obl", "ccomp", "xcomp"))
"""Relations between a predicate and an argument. Those between clauses are what splitting
changes."""

_MODIFIERS = ("acl", "amod", "appos", "compound", "flat", "nmod", "nummod")


class WordPair(NamedTuple):
    """A predicate, its argument (both by the index of their word) and their relation. The argument
    may be :data:`~parataxis.lab.downstream.gold.PRONOUN`."""

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
