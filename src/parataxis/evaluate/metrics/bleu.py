"""BLEU (Papineni et al. 2002): of a corpus, and averaged over single rewrites."""

import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from functools import cache, lru_cache
from importlib.metadata import PackageNotFoundError, version
from typing import TYPE_CHECKING

import numpy as np

from parataxis.errors import ParataxisError
from parataxis.evaluate.metrics.protocol import Score, ScoredItem, Signature, Statistics
from parataxis.text.tokens import plain_brackets

if TYPE_CHECKING:
    from sacrebleu.metrics.bleu import BLEU


# What the metrics take from sacrebleu, imported when it is first needed.

_ORDERS = 4
_SCALE = 10**6


def bleu_from_counts(
    counts: Sequence[float], *, smooth: str, effective_order: bool = False
) -> tuple[float, list[float], float]:
    """BLEU, its four precisions and its brevity penalty, by sacrebleu.

    ``counts`` are the length of what was written, that of the references, the right n-grams of
    four lengths, and all n-grams of four lengths. They need not be whole: of several references
    their mean is taken.
    """
    numbers = list(counts)
    found = _bleu().compute_bleu(
        correct=numbers[2 : 2 + _ORDERS],  # type: ignore[arg-type]  # works on any number
        total=numbers[2 + _ORDERS :],  # type: ignore[arg-type]
        # These must be whole, but only their ratio counts.
        sys_len=round(_SCALE * numbers[0]),
        ref_len=round(_SCALE * numbers[1]),
        smooth_method=smooth,
        effective_order=effective_order,
    )
    return float(found.score), [float(part) for part in found.precisions], float(found.bp)


def tokenizer_13a() -> Callable[[str], str]:
    """The tokenisation of BLEU: it puts a space between the tokens of a text."""
    tokenizer: Callable[[str], str] = _bleu()(tokenize="13a", force=True).tokenizer
    return tokenizer


@cache
def sacrebleu_version() -> str:
    """The version that is installed, or "none": a metric has a signature before it is used."""
    try:
        return version("sacrebleu")
    except PackageNotFoundError:
        return "none"


def _bleu() -> "type[BLEU]":
    try:
        from sacrebleu.metrics.bleu import BLEU
    except ImportError as error:
        raise ParataxisError(
            "BLEU and SARI need sacrebleu; install it with: pip install 'parataxis[metrics]'."
        ) from error
    return BLEU


# The tokens and n-grams that the metrics count, made once for each text and shared by them all.

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


_Grams = dict[tuple[str, ...], int]
_COUNTED_BLEU = 4096


class Bleu:
    """Corpus BLEU, to the last digit that of sacrebleu's ``corpus_score`` on texts in which
    brackets are plain.

    The statistics of a rewrite are its length, the length of the reference that is nearest in
    length (the shorter of two), and for each n from 1 to 4 how many of its n-grams a reference has
    and how many there are. Running text is compared: where a sentence ends does not matter. The
    number of references may differ from source to source.
    """

    name = "bleu"
    summary = "corpus BLEU of sacrebleu, capitals count"
    needs_references = True
    higher_is_better: bool | None = True

    def __init__(self, *, lowercase: bool = False, tokenize: str = "13a") -> None:
        self._lowercase = lowercase
        self._tokenize = check_tokenisation(tokenize)

    @property
    def signature(self) -> Signature:
        """Case, tokenisation, smoothing, and the version of sacrebleu."""
        return Signature(
            self.name,
            {
                "level": "corpus",
                **token_settings(self._tokenize, lowercase=self._lowercase),
                "smooth": "exp",
                "sacrebleu": sacrebleu_version(),
            },
        )

    def statistics(self, items: Sequence[ScoredItem]) -> Statistics:
        """For each item: two lengths, the right n-grams of four lengths, and all of them."""
        return np.array([self._counts(item.text, item.reference_texts) for item in items], float)

    def from_statistics(self, total: Statistics) -> Score:
        """BLEU, and the four precisions and the brevity penalty that it is made of."""
        value, precisions, penalty = bleu_from_counts(total.tolist(), smooth="exp")
        parts = {f"precision-{n}": part for n, part in zip(ORDERS, precisions, strict=True)}
        return Score(value, self.signature, {**parts, "brevity-penalty": penalty})

    def _counts(self, rewrite: str, references: tuple[str, ...]) -> tuple[int, ...]:
        return bleu_counts(rewrite, references, tokenize=self._tokenize, lowercase=self._lowercase)


class LowercaseBleu(Bleu):
    """The same on lower-cased texts."""

    name = "bleu-lc"
    summary = "corpus BLEU of sacrebleu, capitals do not count"

    def __init__(self, *, tokenize: str = "13a") -> None:
        super().__init__(lowercase=True, tokenize=tokenize)


class NarayanBleu:
    """The averaged individual multi-reference BLEU of Narayan et al. (2017) and Aharoni and
    Goldberg (2018, §2): each rewrite is scored against its own references, however many they are,
    and the scores are averaged.

    As in the evaluation that Aharoni and Goldberg released (``multi-bleu.perl`` on files of one
    line): tokens are what stands between spaces, so texts must come tokenised; capitals count; the
    reference length is the nearest one; nothing is smoothed, so a rewrite of which no four tokens
    in a row are right scores 0. Their script also rounds each score to two digits; we do not.
    """

    name = "bleu-narayan"
    summary = "mean over sources of unsmoothed BLEU against all references of the source"
    needs_references = True
    higher_is_better: bool | None = True
    _smooth = "none"
    _effective_order = False

    def __init__(self, *, lowercase: bool = False, tokenize: str = "spaces") -> None:
        self._lowercase = lowercase
        self._tokenize = check_tokenisation(tokenize)

    @property
    def signature(self) -> Signature:
        """Case, tokenisation, smoothing, and the version of sacrebleu."""
        return Signature(
            self.name,
            {
                "level": "mean of sentences",
                **token_settings(self._tokenize, lowercase=self._lowercase),
                "smooth": self._smooth,
                "order": "effective" if self._effective_order else "4",
                "sacrebleu": sacrebleu_version(),
            },
        )

    def statistics(self, items: Sequence[ScoredItem]) -> Statistics:
        """For each item its BLEU, and 1."""
        return np.array([(self._score(item), 1.0) for item in items])

    def from_statistics(self, total: Statistics) -> Score:
        """The mean."""
        return Score(float(total[0] / total[1]), self.signature)

    def _score(self, item: ScoredItem) -> float:
        counts = bleu_counts(
            item.text, item.reference_texts, tokenize=self._tokenize, lowercase=self._lowercase
        )
        value, _, _ = bleu_from_counts(
            counts, smooth=self._smooth, effective_order=self._effective_order
        )
        return value


class SentenceBleu(NarayanBleu):
    """The mean of sacrebleu's ``sentence_score``: smoothed, and without the n-gram lengths that a
    short rewrite has none of. Its rows are what to correlate with judgements of single rewrites."""

    name = "bleu-sentence"
    summary = "mean over sources of sacrebleu's smoothed sentence BLEU"
    _smooth = "exp"
    _effective_order = True

    def __init__(self, *, lowercase: bool = False, tokenize: str = "13a") -> None:
        super().__init__(lowercase=lowercase, tokenize=tokenize)


def corpus_bleu(
    rewrites: Sequence[str], references: Sequence[Sequence[str]], *, lowercase: bool = False
) -> float:
    """BLEU of the rewrites, from 0 to 100: :class:`Bleu` for texts in lists.

    A rewrite and a reference are running text: their simple sentences joined by a space.
    ``references`` holds the references of each rewrite, at least one; the numbers may differ.
    """
    if len(rewrites) != len(references) or not all(references):
        raise ValueError("each rewrite needs its references")
    if not rewrites:
        raise ValueError("there are no rewrites to score")
    rows = [
        bleu_counts(rewrite, tuple(texts), tokenize="13a", lowercase=lowercase)
        for rewrite, texts in zip(rewrites, references, strict=True)
    ]
    return bleu_from_counts(np.sum(rows, axis=0).tolist(), smooth="exp")[0]


@lru_cache(maxsize=_COUNTED_BLEU)
def bleu_counts(
    rewrite: str, references: tuple[str, ...], *, tokenize: str, lowercase: bool
) -> tuple[int, ...]:
    """What BLEU is computed from: two lengths, right n-grams, all n-grams."""
    written = ngrams(rewrite, tokenize=tokenize, lowercase=lowercase)
    wanted = [ngrams(text, tokenize=tokenize, lowercase=lowercase) for text in references]
    length = len(tokens(rewrite, tokenize=tokenize, lowercase=lowercase))
    lengths = [len(tokens(text, tokenize=tokenize, lowercase=lowercase)) for text in references]
    nearest = min(lengths, key=lambda other: (abs(other - length), other))
    totals = [max(0, length - order + 1) for order in ORDERS]
    right = [
        _clipped(found, [reference[place] for reference in wanted], totals[place])
        for place, found in enumerate(written)
    ]
    return (length, nearest, *right, *totals)


def _clipped(written: _Grams, references: Sequence[_Grams], total: int) -> int:
    """How many of the n-grams are right: each as often as the reference that has it most."""
    known = written.keys() & set().union(*references)
    if len(written) == total:  # no n-gram stands there twice, as in most texts
        return len(known)
    more = (
        min(count, max(reference.get(ngram, 0) for reference in references)) - 1
        for ngram, count in written.items()
        if count > 1 and ngram in known
    )
    return len(known) + sum(more)
