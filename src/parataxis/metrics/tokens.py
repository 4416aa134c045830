"""The tokens and n-grams that the metrics count, made once for each text and shared by them all."""

import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from functools import cache, lru_cache

from parataxis.errors import ParataxisError
from parataxis.metrics.extra import tokenizer_13a
from parataxis.text.brackets import plain_brackets

__all__ = ["ORDERS", "Ngrams", "check_tokenisation", "ngrams", "token_settings", "tokens"]

ORDERS = (1, 2, 3, 4)
"""Lengths of the n-grams of BLEU and SARI."""

TOKENISATIONS = ("13a", "spaces")

Ngrams = tuple[dict[tuple[str, ...], int], ...]
"""How often each n-gram of a text occurs: one dictionary for each of the four lengths."""

# Scoring goes window by window (a few hundred items with their references), and every metric reads
# the same texts: a memory of a few windows is enough, and does not grow with the corpus.
_TEXTS = 8192
_COUNTED = 2048
_MARKUP = re.compile("[&<]")


@lru_cache(maxsize=_TEXTS)
def tokens(text: str, *, tokenize: str = "13a", lowercase: bool = False) -> tuple[str, ...]:
    """The tokens of a text: "13a" as sacrebleu makes them, "spaces" at whitespace only.

    A bracket that the Penn Treebank's tokeniser wrote as "-LRB-" is the bracket: some systems
    leave it so and others do not, and neither is a fault.

    >>> tokens("It rained -LRB- again -RRB- .", tokenize="spaces")
    ('It', 'rained', '(', 'again', ')', '.')
    """
    text = plain_brackets(text)
    if lowercase and text.isascii() and not _MARKUP.search(text):
        # Case does not matter to the cuts, but for entities: the work is done already.
        cut = tokens(text, tokenize=tokenize)
        return tuple("\n".join(cut).lower().split("\n")) if cut else ()
    if lowercase:
        text = text.lower()
    return tuple(_tokenizer(tokenize)(text).split())


@lru_cache(maxsize=_COUNTED)
def ngrams(text: str, *, tokenize: str = "13a", lowercase: bool = False) -> Ngrams:
    """The n-grams of a text, of one to four tokens. They are shared: do not change them."""
    return count_ngrams(tokens(text, tokenize=tokenize, lowercase=lowercase))


def count_ngrams(words: Sequence[str]) -> Ngrams:
    """The n-grams of a sequence of tokens."""
    shifted = [words[start:] for start in range(len(ORDERS))]
    # A plain dictionary, since a Counter answers for what it does not have at the speed of Python.
    return tuple(dict(Counter(zip(*shifted[:order], strict=False))) for order in ORDERS)


def check_tokenisation(name: str) -> str:
    """The name itself, if there is a tokenisation of that name."""
    if name not in TOKENISATIONS:
        raise ParataxisError(
            f'There is no tokenisation "{name}"; take one of {", ".join(TOKENISATIONS)}.'
        )
    return name


def token_settings(tokenize: str, *, lowercase: bool | None = None) -> Mapping[str, str]:
    """What a signature says of the tokens; of case only where it matters."""
    case = {} if lowercase is None else {"case": "lc" if lowercase else "mixed"}
    return {**case, "tok": tokenize, "brackets": "plain"}


@cache
def _tokenizer(name: str) -> Callable[[str], str]:
    return tokenizer_13a() if check_tokenisation(name) == "13a" else str
