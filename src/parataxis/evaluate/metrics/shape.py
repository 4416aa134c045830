"""The shape of a rewrite compared with its source: sentences, lengths, and copied words.

None of these measures quality. They show what a system does, and expose systems that cheat.
"""

from collections import Counter
from collections.abc import Mapping
from typing import ClassVar

from parataxis.evaluate.metrics.protocol import RatioMetric, ScoredItem
from parataxis.evaluate.metrics.tokens import TextMetric


class _Ratio(RatioMetric, TextMetric):
    needs_references = False
    higher_is_better: bool | None = None


class SentencesPerSource(RatioMetric):
    """#S/C: simple sentences per source, as the rewrite gives them (nothing is segmented)."""

    higher_is_better = None
    name = "sentences-per-source"
    summary = "simple sentences per source (#S/C)"

    settings: ClassVar[Mapping[str, str]] = {"sentences": "given"}

    def counts(self, item: ScoredItem) -> tuple[float, float]:
        return len(item.simple), 1


class Unsplit(SentencesPerSource):
    name = "unsplit"
    summary = "percent of sources that were left one sentence"
    percent = True

    def counts(self, item: ScoredItem) -> tuple[float, float]:
        return len(item.simple) == 1, 1


class _Lengths(_Ratio):
    """A ratio of numbers of tokens. Texts are tokenised again, because the outputs of some systems
    are tokenised, and sources and other outputs are not."""

    lowercase = None
    settings: ClassVar[Mapping[str, str]] = {"average": "micro"}

    def _length(self, *texts: str) -> int:
        return sum(len(self.tokens(text)) for text in texts)


class TokensPerSentence(_Lengths):
    name = "tokens-per-sentence"
    summary = "tokens per simple sentence (#T/S), micro average"

    def counts(self, item: ScoredItem) -> tuple[float, float]:
        return self._length(*item.simple), len(item.simple)


class TokensPerSentenceMacro(_Lengths):
    """#T/S as the mean over rewrites of the mean length of their sentences: a rewrite of one long
    sentence counts as much as one of five short ones."""

    name = "tokens-per-sentence-macro"
    summary = "tokens per simple sentence (#T/S), macro average over rewrites"
    settings: ClassVar[Mapping[str, str]] = {"average": "macro"}

    def counts(self, item: ScoredItem) -> tuple[float, float]:
        return self._length(*item.simple) / len(item.simple), 1


class TokensPerSentence2019(TokensPerSentenceMacro):
    """#T/S as in the 2019 report on evaluating split-and-rephrase: the macro average (the report
    calls it micro) over tokens between spaces, for tokenised texts."""

    name = "tokens-per-sentence-2019"
    summary = "tokens between spaces per simple sentence, as in the 2019 report"
    tokenize = "spaces"


class TokensPerSource(_Lengths):
    name = "tokens-per-source"
    summary = "tokens of the rewrite per source"

    def counts(self, item: ScoredItem) -> tuple[float, float]:
        return self._length(*item.simple), 1


class Compression(_Lengths):
    name = "compression"
    summary = "tokens of the rewrites by tokens of the sources"

    def counts(self, item: ScoredItem) -> tuple[float, float]:
        return self._length(*item.simple), self._length(item.source)


class _Words(_Ratio):
    """A share of tokens, or of texts that are compared token by token."""

    percent = True
    lowercase = True


class Copied(_Words):
    name = "copied"
    summary = "percent of the rewrites' tokens that are in the source"

    def counts(self, item: ScoredItem) -> tuple[float, float]:
        known, written = set(self.tokens(item.source)), self.tokens(item.text)
        return sum(token in known for token in written), len(written)


class Additions(_Words):
    """The share of the tokens of the rewrites that the source does not have, or less often. A
    subject that is repeated is an addition here and a copy in ``copied``."""

    name = "additions"
    summary = "percent of the rewrites' tokens beyond those of the source"

    def counts(self, item: ScoredItem) -> tuple[float, float]:
        before, after = Counter(self.tokens(item.source)), Counter(self.tokens(item.text))
        return (after - before).total(), after.total()


class Deletions(_Words):
    name = "deletions"
    summary = "percent of the sources' tokens that are not in the rewrite"

    def counts(self, item: ScoredItem) -> tuple[float, float]:
        before, after = Counter(self.tokens(item.source)), Counter(self.tokens(item.text))
        return (before - after).total(), before.total()


class Unchanged(_Words):
    name = "unchanged"
    summary = "percent of rewrites that are the source"
    lowercase = False

    def counts(self, item: ScoredItem) -> tuple[float, float]:
        return self.tokens(item.text) == self.tokens(item.source), 1


class ExactMatch(_Words):
    name = "exact-match"
    summary = "percent of rewrites that are one of the references"
    lowercase = False
    needs_references = True
    higher_is_better = True

    def counts(self, item: ScoredItem) -> tuple[float, float]:
        return self.references(item).has(self.tokens(item.text)), 1
