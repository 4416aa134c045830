"""The tokens and n-grams that metrics count, made once for each text and shared by all metrics.

sacrebleu, which tokenises, is imported when it is first needed.
"""

import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from functools import cache, lru_cache
from typing import TYPE_CHECKING

from parataxis.errors import ParataxisError, needs
from parataxis.evaluate.metrics.protocol import BaseMetric, ScoredItem, Signature
from parataxis.text.tokens import plain_brackets

if TYPE_CHECKING:
    from sacrebleu.metrics.bleu import BLEU

ORDERS = (1, 2, 3, 4)
"""Lengths of the n-grams of BLEU and SARI."""

TOKENISATIONS = ("13a", "spaces")

Ngrams = tuple[dict[tuple[str, ...], int], ...]
"""How often each n-gram of a text occurs: one dictionary for each of the four lengths."""

# Items are scored in windows of a few hundred, and every metric reads the same texts: caches for a
# few windows are enough.
_TEXTS = 8192
_COUNTED = 2048
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
        """The settings, case, tokenisation, and versions."""
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
