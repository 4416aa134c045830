"""A spaCy pipeline that parses, loaded when it is needed."""

from typing import TYPE_CHECKING

from parataxis.errors import InputError, ParataxisError

if TYPE_CHECKING:
    from spacy.language import Language

__all__ = ["load_pipeline"]


def load_pipeline(model: str) -> "Language":
    """The pipeline of that name, which must have a parser; what else it finds is left out."""
    try:
        import spacy
    except ImportError as error:
        raise ParataxisError(
            "This needs spaCy; install it with: pip install 'parataxis[spacy]'."
        ) from error
    try:
        nlp = spacy.load(model, exclude=["ner"])
    except OSError as error:
        raise InputError(
            f'spaCy has no pipeline "{model}"; install one, such as en_core_web_sm.'
        ) from error
    if not nlp.has_pipe("parser"):
        raise InputError(f'The pipeline "{model}" of spaCy has no parser; name one that has.')
    return nlp
