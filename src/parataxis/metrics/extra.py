"""What the metrics take from sacrebleu, imported when it is first needed."""

from collections.abc import Callable, Sequence
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from typing import TYPE_CHECKING

from parataxis.errors import ParataxisError

if TYPE_CHECKING:
    from sacrebleu.metrics.bleu import BLEU

__all__ = ["bleu_from_counts", "sacrebleu_version", "tokenizer_13a"]

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
