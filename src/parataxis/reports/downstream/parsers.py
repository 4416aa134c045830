"""Parsers that are compared: what each says about predicates and arguments, by characters."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple, Protocol

from parataxis.errors import InputError
from parataxis.reports.downstream.gold import ROLES
from parataxis.syntax.analysis import ROOT, Analysis

__all__ = ["AnalyserParser", "Pair", "Parser", "SpacyParser", "Span", "load_parser"]

Span = tuple[int, int]
"""Where a word starts and ends in its text."""


class Pair(NamedTuple):
    """A predicate, its argument and their relation, in the labels of Universal Dependencies."""

    predicate: Span
    role: str
    argument: Span


class Parser(Protocol):
    """Anything that finds predicates and arguments."""

    name: str

    def pipe(self, texts: Sequence[str]) -> Iterator[list[Pair] | None]:
        """The pairs of each text; None where it cannot be parsed."""
        ...


class AnalyserParser:
    """The analyser of Parataxis."""

    name = "analyser"

    def pipe(self, texts: Sequence[str]) -> Iterator[list[Pair] | None]:
        """The pairs of each text; None where it is too long."""
        # Imported here because a list of all commands needs no models.
        from parataxis.syntax.analyser import load_analyser

        for found in load_analyser().pipe(texts):
            yield _pairs(found) if isinstance(found, Analysis) else None


def _pairs(analysis: Analysis) -> list[Pair]:
    return [
        Pair(
            (analysis[word.head].start, analysis[word.head].end),
            word.relation,
            (word.start, word.end),
        )
        for word in analysis
        if word.head != ROOT and word.relation in ROLES
    ]


class SpacyParser:
    """The parser of a spaCy pipeline for English, its labels translated."""

    def __init__(self, model: str) -> None:
        from parataxis.reports.downstream.spacy_pipeline import load_pipeline

        self.name = f"spacy:{model}"
        self._nlp = load_pipeline(model)

    def pipe(self, texts: Sequence[str]) -> Iterator[list[Pair] | None]:
        """The pairs of each text."""
        from parataxis.reports.downstream.clearnlp import pairs

        return map(pairs, self._nlp.pipe(texts))


def load_parser(name: str) -> Parser:
    """The parser "analyser" or "spacy:MODEL"."""
    kind, _, model = name.partition(":")
    if name == AnalyserParser.name:
        return AnalyserParser()
    if kind == "spacy" and model:
        return SpacyParser(model)
    raise InputError(f'There is no parser "{name}"; write "analyser" or "spacy:MODEL".')
