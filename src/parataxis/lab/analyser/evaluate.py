"""How accurate an analyser is on treebank sentences, with gold tokens and on raw text.

Words are matched by their character span, as in the CoNLL 2018 shared task, so that the same
figures hold for our own tokens; with gold tokens precision and recall coincide.
"""

from collections import Counter
from collections.abc import Iterable, Sequence

from parataxis.errors import TooLongError
from parataxis.evaluate.corpora.treebanks import GoldSentence
from parataxis.syntax.analyser import Analyser, Tokenized
from parataxis.syntax.analysis import ROOT, Analysis
from parataxis.text.tokens import Token, tokenize


class Accuracy:
    """F1 of everything the analyser says, in percent."""

    NAMES = ("words", "upos", "xpos", "feats", "uas", "las", "predicates", "roles", "r-arg")

    def __init__(self) -> None:
        self._hits: Counter[str] = Counter()
        self._said: Counter[str] = Counter()
        """How many facts were predicted or expected."""

    def __getitem__(self, name: str) -> float:
        return 200 * self._hits[name] / max(self._said[name], 1)

    def add(self, predicted: Analysis, gold: Analysis, *, roles: bool) -> None:
        facts, expected = _facts(predicted), _facts(gold)
        for name in self.NAMES if roles else self.NAMES[:6]:
            self._hits[name] += len(facts[name] & expected[name])
            self._said[name] += len(facts[name]) + len(expected[name])


def evaluate(
    analyser: Analyser, sentences: Sequence[GoldSentence], *, tokens: str, predicates: str
) -> Accuracy:
    """Compare the analyser with gold sentences.

    ``tokens`` and ``predicates`` are "gold" or "own". Sentences the analyser refuses count as
    missed, not as absent.
    """

    def tokenized(gold: Analysis) -> Tokenized:
        if tokens == "own":
            return Tokenized(gold.text, tokenize(gold.text))
        words = [Token(word.text, word.start, word.end) for word in gold]
        known = [frame.predicate for frame in gold.frames] if predicates == "gold" else None
        return Tokenized(gold.text, words, known)

    found = analyser.pipe_tokenized(tokenized(each.analysis) for each in sentences)
    accuracy = Accuracy()
    for gold, predicted in zip(sentences, found, strict=True):
        if isinstance(predicted, TooLongError):
            predicted = Analysis(gold.analysis.text, ())
        accuracy.add(predicted, gold.analysis, roles=gold.has_roles)
    return accuracy


def _facts(analysis: Analysis) -> dict[str, set[tuple[object, ...]]]:
    spans = [(word.start, word.end) for word in analysis]
    heads = [spans[word.head] if word.head != ROOT else None for word in analysis]

    def of_words(values: Iterable[object]) -> set[tuple[object, ...]]:
        return set(zip(spans, values, strict=True))

    roles: set[tuple[object, ...]] = {
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
        "roles": roles,
        "r-arg": {role for role in roles if str(role[3]).startswith("R-")},
    }
