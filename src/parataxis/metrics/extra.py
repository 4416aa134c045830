"""What the metrics take from sacrebleu, imported when it is first needed."""

from collections.abc import Callable
from typing import TYPE_CHECKING

from parataxis.errors import ParataxisError

if TYPE_CHECKING:
    from sacrebleu.metrics.bleu import BLEU

__all__ = ["bleu_metric", "tokenizer_13a"]


def bleu_metric(*, lowercase: bool) -> "BLEU":
    """The BLEU of sacrebleu with the 13a tokenisation and its other settings as they are."""
    try:
        from sacrebleu.metrics.bleu import BLEU
    except ImportError as error:
        raise ParataxisError(
            "BLEU and SARI need sacrebleu; install it with: pip install 'parataxis[metrics]'."
        ) from error
    # "force" only silences a warning about texts that end in a space and a full stop.
    return BLEU(tokenize="13a", lowercase=lowercase, force=True)


def tokenizer_13a() -> Callable[[str], str]:
    """The tokenisation of that BLEU: it puts a space between the tokens of a text."""
    tokenizer: Callable[[str], str] = bleu_metric(lowercase=False).tokenizer
    return tokenizer
