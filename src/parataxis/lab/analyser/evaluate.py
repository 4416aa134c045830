"""How accurate an analyser is on treebank sentences, with gold tokens and on raw text.

Words are matched by their character span, as in the CoNLL 2018 shared task, so that the same
figures hold for our own tokens; with gold tokens precision and recall coincide.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from parataxis.errors import TooLongError
from parataxis.evaluate.corpora.treebanks import GoldSentence
from parataxis.syntax.analyser import Analyser, Tokenized
from parataxis.syntax.analysis import ROOT, Analysis
from parataxis.text.tokens import Token, tokenize


@dataclass
class AccuracyTally:
    """True positives, and how many were predicted and expected."""

    hits: int = 0
    predicted: int = 0
    expected: int = 0

    def add(self, predicted: set[tuple[object, ...]], expected: set[tuple[object, ...]]) -> None:
        """Count one sentence."""
        self.hits += len(predicted & expected)
        self.predicted += len(predicted)
        self.expected += len(expected)

    @property
    def f1(self) -> float:
        """F1 in percent."""
        return 200 * self.hits / max(self.predicted + self.expected, 1)


@dataclass
class Accuracy:
    """F1 of everything the analyser says, in percent."""

    tallies: dict[str, AccuracyTally] = field(default_factory=dict)

    NAMES = ("words", "upos", "xpos", "feats", "uas", "las", "predicates", "roles", "r-arg")

    def __post_init__(self) -> None:
        self.tallies = {name: AccuracyTally() for name in self.NAMES}

    def __getitem__(self, name: str) -> float:
        return self.tallies[name].f1

    def __str__(self) -> str:
        return "  ".join(f"{name} {self[name]:.2f}" for name in self.NAMES)

    def add(self, predicted: Analysis, gold: Analysis, *, roles: bool) -> None:
        """Compare one predicted analysis with its gold analysis."""
        facts, expected = _facts(predicted), _facts(gold)
        for name in self.NAMES[:6]:
            self.tallies[name].add(facts[name], expected[name])
        if roles:
            for name in self.NAMES[6:]:
                self.tallies[name].add(facts[name], expected[name])


def evaluate(
    analyser: Analyser, sentences: Sequence[GoldSentence], *, tokens: str, predicates: str
) -> Accuracy:
    """Compare the analyser with gold sentences.

    ``tokens`` and ``predicates`` are "gold" or "own". Sentences the analyser refuses count as
    missed, not as absent.
    """
    inputs = (_input(s.analysis, tokens, predicates) for s in sentences)
    accuracy = Accuracy()
    for gold, predicted in zip(sentences, analyser.pipe_tokenized(inputs), strict=True):
        if isinstance(predicted, TooLongError):
            predicted = Analysis(gold.analysis.text, ())
        accuracy.add(predicted, gold.analysis, roles=gold.has_roles)
    return accuracy


def _input(gold: Analysis, tokens: str, predicates: str) -> Tokenized:
    if tokens == "own":
        return Tokenized(gold.text, tokenize(gold.text))
    words = [Token(word.text, word.start, word.end) for word in gold]
    known = [frame.predicate for frame in gold.frames] if predicates == "gold" else None
    return Tokenized(gold.text, words, known)


Facts = dict[str, set[tuple[object, ...]]]


def _facts(analysis: Analysis) -> Facts:
    spans = [(word.start, word.end) for word in analysis]
    heads = [spans[word.head] if word.head != ROOT else None for word in analysis]

    def of_words(values: Iterable[object]) -> set[tuple[object, ...]]:
        return set(zip(spans, values, strict=True))

    roles = {
        (spans[frame.predicate], spans[a.first][0], spans[a.last][1], a.label)
        for frame in analysis.frames
        for a in frame.arguments
    }
    return {
        "words": of_words(None for _ in spans),
        "upos": of_words(word.upos for word in analysis),
        "xpos": of_words(word.xpos for word in analysis),
        "feats": of_words(tuple(sorted(word.feats.items())) for word in analysis),
        "uas": of_words(heads),
        "las": of_words(zip(heads, (word.deprel for word in analysis), strict=True)),
        "predicates": {(spans[frame.predicate],) for frame in analysis.frames},
        "roles": set(roles),
        "r-arg": {role for role in roles if role[3].startswith("R-")},
    }
