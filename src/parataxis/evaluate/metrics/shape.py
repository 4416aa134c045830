"""The shape of a rewrite compared with its source: sentences, lengths, and copied words.

None of these measures quality. They show what a system does, and expose systems that cheat.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import ClassVar

import numpy as np

from parataxis.evaluate.metrics.protocol import Score, ScoredItem, Signature, Statistics
from parataxis.evaluate.metrics.tokens import TextMetric


class _Ratio(TextMetric):
    """A metric that is one sum divided by another, in percent if it is a share."""

    needs_references = False
    higher_is_better: bool | None = None
    percent = False

    def statistics(self, items: Sequence[ScoredItem]) -> Statistics:
        """For each item what is counted, and out of what."""
        return np.array([self._counts(item) for item in items], float)

    def from_statistics(self, total: Statistics) -> Score:
        """The ratio."""
        part, whole = total.tolist()
        value = part / whole if whole else float("nan")
        return Score(100 * value if self.percent else value, self.signature)

    def _counts(self, item: ScoredItem) -> tuple[float, float]:
        raise NotImplementedError


class SentencesPerSource(_Ratio):
    """#S/C: simple sentences per source, as the rewrite gives them (nothing is segmented)."""

    name = "sentences-per-source"
    summary = "simple sentences per source (#S/C)"

    @property
    def signature(self) -> Signature:
        """Where the sentences come from."""
        return Signature(self.name, {"sentences": "given"})

    def _counts(self, item: ScoredItem) -> tuple[float, float]:
        return len(item.simple), 1


class Unsplit(SentencesPerSource):
    """The share of rewrites that are one sentence, changed or not."""

    name = "unsplit"
    summary = "percent of sources that were left one sentence"
    percent = True

    def _counts(self, item: ScoredItem) -> tuple[float, float]:
        return len(item.simple) == 1, 1


class _Lengths(_Ratio):
    """A ratio of numbers of tokens. Texts are tokenised again, because the outputs of some systems
    are tokenised, and sources and other outputs are not."""

    lowercase = None
    settings: ClassVar[Mapping[str, str]] = {"average": "micro"}

    def _length(self, *texts: str) -> int:
        return sum(len(self.tokens(text)) for text in texts)


class TokensPerSentence(_Lengths):
    """#T/S: the tokens of all simple sentences by the number of simple sentences."""

    name = "tokens-per-sentence"
    summary = "tokens per simple sentence (#T/S), micro average"

    def _counts(self, item: ScoredItem) -> tuple[float, float]:
        return self._length(*item.simple), len(item.simple)


class TokensPerSentenceMacro(_Lengths):
    """#T/S as the mean over rewrites of the mean length of their sentences: a rewrite of one long
    sentence counts as much as one of five short ones."""

    name = "tokens-per-sentence-macro"
    summary = "tokens per simple sentence (#T/S), macro average over rewrites"
    settings: ClassVar[Mapping[str, str]] = {"average": "macro"}

    def _counts(self, item: ScoredItem) -> tuple[float, float]:
        return self._length(*item.simple) / len(item.simple), 1


class TokensPerSentence2019(TokensPerSentenceMacro):
    """#T/S as in the 2019 report on evaluating split-and-rephrase: the macro average (the report
    calls it micro) over tokens between spaces, for tokenised texts."""

    name = "tokens-per-sentence-2019"
    summary = "tokens between spaces per simple sentence, as in the 2019 report"
    tokenize = "spaces"


class TokensPerSource(_Lengths):
    """The tokens of a rewrite, all its sentences together."""

    name = "tokens-per-source"
    summary = "tokens of the rewrite per source"

    def _counts(self, item: ScoredItem) -> tuple[float, float]:
        return self._length(*item.simple), 1


class Compression(_Lengths):
    """The tokens of all rewrites by the tokens of all sources: above 1, rewrites are longer."""

    name = "compression"
    summary = "tokens of the rewrites by tokens of the sources"

    def _counts(self, item: ScoredItem) -> tuple[float, float]:
        return self._length(*item.simple), self._length(item.source)


class _Words(_Ratio):
    """A share of tokens, or of texts that are compared token by token."""

    percent = True
    lowercase = True


class Copied(_Words):
    """The share of the tokens of the rewrites that their sources have, however often."""

    name = "copied"
    summary = "percent of the rewrites' tokens that are in the source"

    def _counts(self, item: ScoredItem) -> tuple[float, float]:
        known, written = set(self.tokens(item.source)), self.tokens(item.text)
        return sum(token in known for token in written), len(written)


class Additions(_Words):
    """The share of the tokens of the rewrites that the source does not have, or less often. A
    subject that is repeated is an addition here and a copy in ``copied``."""

    name = "additions"
    summary = "percent of the rewrites' tokens beyond those of the source"

    def _counts(self, item: ScoredItem) -> tuple[float, float]:
        before, after = Counter(self.tokens(item.source)), Counter(self.tokens(item.text))
        return (after - before).total(), after.total()


class Deletions(_Words):
    """The share of the tokens of the sources that the rewrite does not have, or less often."""

    name = "deletions"
    summary = "percent of the sources' tokens that are not in the rewrite"

    def _counts(self, item: ScoredItem) -> tuple[float, float]:
        before, after = Counter(self.tokens(item.source)), Counter(self.tokens(item.text))
        return (before - after).total(), before.total()


class Unchanged(_Words):
    """The share of rewrites that have the tokens of the source, in its order."""

    name = "unchanged"
    summary = "percent of rewrites that are the source"
    lowercase = False

    def _counts(self, item: ScoredItem) -> tuple[float, float]:
        return self.tokens(item.text) == self.tokens(item.source), 1


class ExactMatch(_Words):
    """The share of rewrites that have the tokens of a reference, in its order."""

    name = "exact-match"
    summary = "percent of rewrites that are one of the references"
    lowercase = False
    needs_references = True
    higher_is_better: bool | None = True

    def _counts(self, item: ScoredItem) -> tuple[float, float]:
        written = self.tokens(item.text)
        return any(self.tokens(text) == written for text in item.reference_texts), 1
