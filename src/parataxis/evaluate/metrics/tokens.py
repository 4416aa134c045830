"""The tokens and n-grams that metrics count, made once for each text and shared by all metrics.

sacrebleu, which tokenises, is imported when it is first needed.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from itertools import chain
from typing import TYPE_CHECKING

from parataxis.errors import ParataxisError, needs
from parataxis.evaluate.metrics.protocol import BaseMetric, ScoredItem, Signature
from parataxis.text.tokens import plain_brackets

if TYPE_CHECKING:
    from sacrebleu.metrics.bleu import BLEU

Ngram = tuple[str, ...]

ORDERS = (1, 2, 3, 4)
"""Lengths of the n-grams of BLEU and SARI."""

TOKENISATIONS = ("13a", "spaces")

Ngrams = tuple[dict[Ngram, int], ...]
"""How often each n-gram of a text occurs: one dictionary for each of the four lengths."""

# Items are scored in windows of a few hundred, and every metric reads the same texts: caches for a
# few windows are enough.
_TEXTS = 8192
_COUNTED = 2048
_COUNTED_REFERENCES = 1024
_MARKUP = re.compile("[&<]")


class TextMetric(BaseMetric):
    """The base of metrics that compare texts token by token.

    A class sets its defaults for ``lowercase`` (None where case does not matter) and ``tokenize``;
    its signature has ``settings``, then what the tokens are, then ``versions``.
    """

    needs_references = True
    lowercase: bool | None = False
    tokenize = "13a"

    def __init__(self, *, lowercase: bool | None = None, tokenize: str | None = None) -> None:
        if lowercase is not None:
            self.lowercase = lowercase
        self.tokenize = tokenize or self.tokenize
        if self.tokenize not in TOKENISATIONS:
            raise ParataxisError(
                f'There is no tokenisation "{tokenize}"; take one of {", ".join(TOKENISATIONS)}.'
            )

    @property
    def signature(self) -> Signature:
        case = {} if self.lowercase is None else {"case": "lc" if self.lowercase else "mixed"}
        made = {"tok": self.tokenize, "brackets": "plain"}
        return Signature(self.name, {**self.settings, **case, **made, **self.versions})

    @property
    def versions(self) -> Mapping[str, str]:
        """What the signature ends with."""
        return {}

    def tokens(self, text: str) -> tuple[str, ...]:
        """The tokens of a text, as this metric reads it."""
        return tokens(text, tokenize=self.tokenize, lowercase=bool(self.lowercase))

    def references(self, item: ScoredItem) -> "References":
        """The references of an item, counted as this metric reads them."""
        options = {"tokenize": self.tokenize, "lowercase": bool(self.lowercase)}
        counts = count_references(item.pool or item.reference_texts, **options)
        return References(counts, ngrams(item.text, **options) if item.pool else None)


@lru_cache(maxsize=_TEXTS)
def tokens(text: str, *, tokenize: str = "13a", lowercase: bool = False) -> tuple[str, ...]:
    """The tokens of a text: "13a" as sacrebleu makes them, "spaces" at whitespace only.

    The Penn Treebank escape "-LRB-" is read as the bracket it stands for: some systems write one
    and some the other, and neither is a fault.

    >>> tokens("It rained -LRB- again -RRB- .", tokenize="spaces")
    ('It', 'rained', '(', 'again', ')', '.')
    """
    text = plain_brackets(text)
    if lowercase and text.isascii() and not _MARKUP.search(text):
        # Case changes the tokens of 13a only in markup, so the cached ones can be lower-cased.
        cut = tokens(text, tokenize=tokenize)
        return tuple("\n".join(cut).lower().split("\n")) if cut else ()
    if lowercase:
        text = text.lower()
    return tuple(_tokenizer(tokenize)(text).split())


@lru_cache(maxsize=_COUNTED)
def ngrams(text: str, *, tokenize: str = "13a", lowercase: bool = False) -> Ngrams:
    """The n-grams of a text, of one to four tokens. They are shared: do not change them."""
    words = tokens(text, tokenize=tokenize, lowercase=lowercase)
    shifted = [words[start:] for start in range(len(ORDERS))]
    # Plain dictionaries, because looking up a missing key in a Counter is slow.
    return tuple(dict(Counter(zip(*shifted[:order], strict=False))) for order in ORDERS)


@dataclass(frozen=True, slots=True)
class ReferenceNgrams:
    """The n-grams of one length in all references of a source: how many references have each, and
    of those that a reference has repeatedly, how many repetitions there are in all references and
    the two highest counts."""

    holders: Counter[Ngram]
    repetitions: dict[Ngram, int]
    highest: dict[Ngram, tuple[int, int]]


@dataclass(frozen=True, slots=True)
class ReferenceCounts:
    """The references of a source: how many there are, of each text (its tokens) and of each
    length, and their n-grams."""

    number: int
    texts: Counter[tuple[str, ...]]
    lengths: Counter[int]
    ngrams: tuple[ReferenceNgrams, ...]


@lru_cache(maxsize=_COUNTED_REFERENCES)
def count_references(
    references: tuple[str, ...], *, tokenize: str, lowercase: bool
) -> ReferenceCounts:
    """Count the n-grams of the references of a source, once for all rewrites and metrics."""
    texts = [tokens(text, tokenize=tokenize, lowercase=lowercase) for text in references]
    counted = [ngrams(text, tokenize=tokenize, lowercase=lowercase) for text in references]
    found = []
    for order, columns in zip(ORDERS, zip(*counted, strict=True), strict=True):
        counts = ReferenceNgrams(Counter(chain.from_iterable(columns)), {}, {})
        found.append(counts)
        for words, own in zip(texts, columns, strict=True):
            if len(own) > len(words) - order:  # no n-gram occurs twice, as in most texts
                continue
            for ngram, count in own.items():
                if count > 1:
                    more = counts.repetitions.get(ngram, 0) + count - 1
                    known = counts.highest.get(ngram, (0, 0))
                    first, second, _ = sorted((*known, count), reverse=True)
                    counts.repetitions[ngram], counts.highest[ngram] = more, (first, second)
    return ReferenceCounts(len(texts), Counter(texts), Counter(map(len, texts)), tuple(found))


class References:
    """The references that a rewrite is compared with: all that were counted, or all but one, whose
    n-grams are ``left_out``."""

    def __init__(self, counts: ReferenceCounts, left_out: Ngrams | None = None) -> None:
        self._counts = counts
        self._left_out: Ngrams = left_out or ({},) * len(ORDERS)
        self.number = counts.number - (left_out is not None)

    def has(self, text: tuple[str, ...]) -> bool:
        """Whether one of them has these tokens; a rewrite that was left out has its own."""
        return self._counts.texts[text] > self._counts.number - self.number

    def lengths(self) -> list[int]:
        """The different lengths in tokens."""
        own = sum(self._left_out[0].values()) if self.number < self._counts.number else -1
        return [each for each, count in self._counts.lengths.items() if count > (each == own)]

    def occurrences(self, order: int, ngrams: Iterable[Ngram]) -> list[int]:
        """How often each n-gram occurs in all of them together."""
        known, own = self._counts.ngrams[order - 1], self._left_out[order - 1]
        holders = known.holders
        if not own and not known.repetitions:
            return [holders.get(each, 0) for each in ngrams]
        more = known.repetitions
        return [holders.get(each, 0) + more.get(each, 0) - own.get(each, 0) for each in ngrams]

    def right(self, order: int, written: Mapping[Ngram, int]) -> int:
        """How many of the written n-grams are right: each as often as the reference that has it
        most."""
        known, own = self._counts.ngrams[order - 1], self._left_out[order - 1]
        if own:
            return sum(min(count, self._most(known, own, each)) for each, count in written.items())
        found = written.keys() & known.holders.keys()
        repeated = known.highest.keys() & found
        return len(found) + sum(min(written[each], known.highest[each][0]) - 1 for each in repeated)

    @staticmethod
    def _most(known: ReferenceNgrams, own: Mapping[Ngram, int], ngram: Ngram) -> int:
        left_out = own.get(ngram, 0)
        if known.holders.get(ngram, 0) == (left_out > 0):
            return 0
        first, second = known.highest.get(ngram, (1, 1))
        return max(1, second if left_out == first else first)

    def number_outside(self, order: int, known: Mapping[Ngram, int]) -> int:
        """How many different n-grams they have besides the known ones."""
        holders, own = self._counts.ngrams[order - 1].holders, self._left_out[order - 1]
        lost = sum(holders[ngram] == 1 for ngram in own if ngram not in known)
        return len(holders) - len(holders.keys() & known.keys()) - lost


def text_items(
    sources: Sequence[str], rewrites: Sequence[str], references: Sequence[Sequence[str]]
) -> list[ScoredItem]:
    """Items of running texts, whose simple sentences are joined by spaces."""
    if not len(sources) == len(rewrites) == len(references) or not all(references):
        raise ValueError("each source needs its rewrite, and each rewrite needs its references")
    if not rewrites:
        raise ValueError("there are no rewrites to score")
    return [
        ScoredItem(source, (rewrite,), tuple((text,) for text in texts))
        for source, rewrite, texts in zip(sources, rewrites, references, strict=True)
    ]


@cache
def _tokenizer(name: str) -> Callable[[str], str]:
    return sacrebleu()(tokenize="13a", force=True).tokenizer if name == "13a" else str


def sacrebleu() -> "type[BLEU]":
    """The class BLEU of sacrebleu; an error says how to install it."""
    with needs("BLEU and SARI need sacrebleu", "metrics"):
        from sacrebleu.metrics.bleu import BLEU
    return BLEU
