"""What a rewrite looks like beside its source: sentences, lengths, and what was copied.

None of these says that a rewrite is good. They show what a system does, and who cheats.
"""

from collections import Counter
from collections.abc import Mapping, Sequence

import numpy as np

from parataxis.evaluate.metrics.bleu import check_tokenisation, token_settings, tokens
from parataxis.evaluate.metrics.protocol import Score, ScoredItem, Signature, Statistics


class _Ratio:
    """A metric that is one sum divided by another: each item gives what is counted, and out of
    what. It is 100 times that where it is a share."""

    name: str
    summary: str
    needs_references = False
    higher_is_better: bool | None = None
    _percent = False

    @property
    def signature(self) -> Signature:
        """The settings."""
        return Signature(self.name, self._settings)

    def statistics(self, items: Sequence[ScoredItem]) -> Statistics:
        """For each item what is counted, and out of what."""
        return np.array([self._counts(item) for item in items], float)

    def from_statistics(self, total: Statistics) -> Score:
        """The ratio."""
        part, whole = total.tolist()
        value = part / whole if whole else float("nan")
        return Score(100 * value if self._percent else value, self.signature)

    @property
    def _settings(self) -> Mapping[str, str]:
        return {}

    def _counts(self, item: ScoredItem) -> tuple[float, float]:
        raise NotImplementedError


class SentencesPerSource(_Ratio):
    """#S/C: simple sentences per source, as the rewrite gives them (nothing is segmented)."""

    name = "sentences-per-source"
    summary = "simple sentences per source (#S/C)"

    @property
    def _settings(self) -> Mapping[str, str]:
        return {"sentences": "given"}

    def _counts(self, item: ScoredItem) -> tuple[float, float]:
        return len(item.simple), 1


class Unsplit(_Ratio):
    """The share of rewrites that are one sentence, changed or not."""

    name = "unsplit"
    summary = "percent of sources that were left one sentence"
    _percent = True

    @property
    def _settings(self) -> Mapping[str, str]:
        return {"sentences": "given"}

    def _counts(self, item: ScoredItem) -> tuple[float, float]:
        return len(item.simple) == 1, 1


class _Lengths(_Ratio):
    """A ratio of numbers of tokens. They are made anew, so that it does not matter whether a text
    was tokenised already: outputs of some systems are, and sources and other outputs are not."""

    _average = "micro"

    def __init__(self, *, tokenize: str = "13a") -> None:
        self._tokenize = check_tokenisation(tokenize)

    @property
    def _settings(self) -> Mapping[str, str]:
        return {"average": self._average, **token_settings(self._tokenize)}

    def _length(self, text: str) -> int:
        return len(tokens(text, tokenize=self._tokenize))


class TokensPerSentence(_Lengths):
    """#T/S: the tokens of all simple sentences by the number of simple sentences."""

    name = "tokens-per-sentence"
    summary = "tokens per simple sentence (#T/S), micro average"

    def _counts(self, item: ScoredItem) -> tuple[float, float]:
        return sum(map(self._length, item.simple)), len(item.simple)


class TokensPerSentenceMacro(_Lengths):
    """#T/S as the mean over rewrites of the mean length of their sentences: a rewrite of one long
    sentence counts as much as one of five short ones."""

    name = "tokens-per-sentence-macro"
    summary = "tokens per simple sentence (#T/S), macro average over rewrites"
    _average = "macro"

    def _counts(self, item: ScoredItem) -> tuple[float, float]:
        return sum(map(self._length, item.simple)) / len(item.simple), 1


class TokensPerSentence2019(TokensPerSentenceMacro):
    """#T/S as the 2019 report on evaluating split-and-rephrase has it: the macro average (it says
    micro) of what stands between spaces, for texts that were tokenised."""

    name = "tokens-per-sentence-2019"
    summary = "tokens between spaces per simple sentence, as in the 2019 report"

    def __init__(self) -> None:
        super().__init__(tokenize="spaces")


class TokensPerSource(_Lengths):
    """The tokens of a rewrite, all its sentences together."""

    name = "tokens-per-source"
    summary = "tokens of the rewrite per source"

    def _counts(self, item: ScoredItem) -> tuple[float, float]:
        return sum(map(self._length, item.simple)), 1


class Compression(_Lengths):
    """The tokens of all rewrites by the tokens of all sources: above 1, rewrites are longer."""

    name = "compression"
    summary = "tokens of the rewrites by tokens of the sources"

    def _counts(self, item: ScoredItem) -> tuple[float, float]:
        return sum(map(self._length, item.simple)), self._length(item.source)


class _Words(_Ratio):
    """A share of tokens or of texts that are compared as tokens."""

    _percent = True

    def __init__(self, *, lowercase: bool = True, tokenize: str = "13a") -> None:
        self._lowercase = lowercase
        self._tokenize = check_tokenisation(tokenize)

    @property
    def _settings(self) -> Mapping[str, str]:
        return token_settings(self._tokenize, lowercase=self._lowercase)

    def _tokens(self, text: str) -> tuple[str, ...]:
        return tokens(text, tokenize=self._tokenize, lowercase=self._lowercase)


class Copied(_Words):
    """The share of the tokens of the rewrites that their sources have, however often."""

    name = "copied"
    summary = "percent of the rewrites' tokens that stand in the source"

    def _counts(self, item: ScoredItem) -> tuple[float, float]:
        known, written = set(self._tokens(item.source)), self._tokens(item.text)
        return sum(token in known for token in written), len(written)


class Additions(_Words):
    """The share of the tokens of the rewrites that the source does not have, or less often. A
    subject that is repeated is an addition here and a copy in ``copied``."""

    name = "additions"
    summary = "percent of the rewrites' tokens beyond those of the source"

    def _counts(self, item: ScoredItem) -> tuple[float, float]:
        before, after = Counter(self._tokens(item.source)), Counter(self._tokens(item.text))
        return (after - before).total(), after.total()


class Deletions(_Words):
    """The share of the tokens of the sources that the rewrite does not have, or less often."""

    name = "deletions"
    summary = "percent of the sources' tokens that are not in the rewrite"

    def _counts(self, item: ScoredItem) -> tuple[float, float]:
        before, after = Counter(self._tokens(item.source)), Counter(self._tokens(item.text))
        return (before - after).total(), before.total()


class Unchanged(_Words):
    """The share of rewrites that have the tokens of the source, in its order."""

    name = "unchanged"
    summary = "percent of rewrites that are the source"

    def __init__(self, *, lowercase: bool = False, tokenize: str = "13a") -> None:
        super().__init__(lowercase=lowercase, tokenize=tokenize)

    def _counts(self, item: ScoredItem) -> tuple[float, float]:
        return self._tokens(item.text) == self._tokens(item.source), 1


class ExactMatch(_Words):
    """The share of rewrites that have the tokens of a reference, in its order."""

    name = "exact-match"
    summary = "percent of rewrites that are one of the references"
    needs_references = True
    higher_is_better: bool | None = True

    def __init__(self, *, lowercase: bool = False, tokenize: str = "13a") -> None:
        super().__init__(lowercase=lowercase, tokenize=tokenize)

    def _counts(self, item: ScoredItem) -> tuple[float, float]:
        written = self._tokens(item.text)
        return any(self._tokens(text) == written for text in item.reference_texts), 1
