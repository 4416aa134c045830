"""Extractors of triples (subject, verb, object) that are compared."""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple, Protocol

from parataxis.errors import InputError, ParataxisError
from parataxis.reports.downstream.parsers import Span

if TYPE_CHECKING:
    from spacy.tokens import Token

__all__ = ["Extractor", "TextacyExtractor", "Triple", "load_extractor"]


class Triple(NamedTuple):
    """Where the words of a subject, verb and object stand."""

    subject: tuple[Span, ...]
    verb: tuple[Span, ...]
    object: tuple[Span, ...]


class Extractor(Protocol):
    """Anything that finds triples."""

    name: str

    def pipe(self, texts: Sequence[str]) -> Iterator[list[Triple]]:
        """The triples of each text."""
        ...


class TextacyExtractor:
    """The extractor of textacy, on the parser of a spaCy pipeline for English."""

    def __init__(self, model: str) -> None:
        from parataxis.reports.downstream.spacy_pipeline import load_pipeline

        try:
            from textacy.extract.triples import subject_verb_object_triples
        except ImportError as error:
            raise ParataxisError(
                "Triples need textacy; install it with: pip install 'parataxis[downstream]'."
            ) from error
        self.name = f"textacy:{model}"
        self._nlp = load_pipeline(model)
        self._extract = subject_verb_object_triples

    def pipe(self, texts: Sequence[str]) -> Iterator[list[Triple]]:
        """The triples of each text."""
        for doc in self._nlp.pipe(texts):
            yield [Triple(*map(_spans, found)) for found in self._extract(doc)]


def _spans(tokens: "Sequence[Token]") -> tuple[Span, ...]:
    return tuple((token.idx, token.idx + len(token)) for token in tokens)


def load_extractor(name: str) -> Extractor:
    """The extractor "textacy:MODEL"."""
    kind, _, model = name.partition(":")
    if kind == "textacy" and model:
        return TextacyExtractor(model)
    raise InputError(f'There is no extractor "{name}"; write "textacy:MODEL".')
