"""The ``Rewrite`` record: a source sentence, its simple sentences, and the origin of every word.

Everything that Parataxis creates, scores, displays or asks people about is a :class:`Rewrite`. All
commands read and write it as JSON lines (:mod:`parataxis.rewrite.jsonl`).
"""

from collections.abc import Iterable
from enum import StrEnum
from typing import NamedTuple, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator


class SourceLine(NamedTuple):
    """A source sentence from a file, with its own id or ``file:line``."""

    id: str
    source: str


class Origin(StrEnum):
    """The origin of an output token."""

    COPIED = "copied"
    """The same word as in the source (its capital may differ)."""
    INFLECTED = "inflected"
    """Another inflection of a source word: "serving" became "serves"."""
    INSERTED = "inserted"
    """Not in the source: a function word or a punctuation mark."""


class Level(StrEnum):
    """How far a splitter goes."""

    LIGHT = "light"
    """Only main clauses, and what makes a sentence too long."""
    PLAIN = "plain"
    """One main idea in each sentence."""
    ATOMIC = "atomic"
    """One claim in each sentence, which can be understood by itself."""


class FindingKind(StrEnum):
    """The kind of a finding."""

    LOST = "lost"
    NEW = "new"
    REPEATED = "repeated"
    NO_VERB = "no-verb"
    FRAGMENT = "fragment"
    AMBIGUOUS_PRONOUN = "ambiguous-pronoun"
    RELATION = "relation"


class _Record(BaseModel):
    model_config = ConfigDict(frozen=True, extra="ignore")


class OutputToken(_Record):
    """A token of a simple sentence: ``simple[k][start:end] == text``.

    ``source`` is the character span of the source word it was copied or inflected from, and
    None for an inserted one.
    """

    text: str
    start: int
    end: int
    origin: Origin
    source: tuple[int, int] | None = None


class Finding(_Record):
    """A fault that a check found: the words and their place.

    ``sentence`` is the index of the simple sentence that ``start`` and ``end`` refer to, or None if
    they refer to the source (lost words are only there). ``probability`` is None for what the
    checks know exactly; an estimate of the verifier has the probability that this is a fault.
    """

    kind: FindingKind
    words: str
    sentence: int | None = None
    start: int
    end: int
    message: str
    probability: float | None = Field(default=None, ge=0.0, le=1.0)


class Rewrite(_Record):
    """A source sentence and the simple sentences that say the same.

    Fields that are not named here are kept and written again: others may need them.

    >>> Rewrite(source="It rained.", simple=["It rained."], splitter="source").is_split
    False
    """

    model_config = ConfigDict(extra="allow")

    source: str
    simple: tuple[str, ...] = Field(min_length=1)
    splitter: str
    provenance: tuple[tuple[OutputToken, ...], ...] | None = None
    findings: tuple[Finding, ...] | None = None
    note: str | None = None
    """Why the sentence was left whole or a simpler hypothesis was chosen, where that happened."""
    confidence: float | None = Field(default=None, ge=0.0, le=1.0)
    """How likely the splitter takes the rewrite to be without fault, where it can tell."""
    further: float | None = Field(default=None, ge=0.0, le=1.0)
    """How likely it is that some simple sentence should be split further, where the splitter can
    tell."""
    level: Level | None = None
    """How far the splitter went, where that is not the usual level."""
    weights: str | None = None
    """The models that decided, with their versions: "pointer 7, verifier 4, analyser 1"."""
    id: str | None = None

    @property
    def is_split(self) -> bool:
        """Whether the rewrite differs from the source."""
        return len(self.simple) > 1 or self.simple[0] != self.source

    def _repr_html_(self) -> str:
        """How a notebook shows a rewrite."""
        from parataxis.rewrite.render import notebook_view

        return notebook_view([self])

    @model_validator(mode="after")
    def _check(self) -> Self:
        if any(not sentence.strip() for sentence in self.simple):
            raise ValueError("a simple sentence is empty")
        if self.provenance is None:
            return self
        if len(self.provenance) != len(self.simple):
            raise ValueError("provenance must have one entry for each simple sentence")
        for sentence, tokens in zip(self.simple, self.provenance, strict=True):
            for token in tokens:
                if sentence[token.start : token.end] != token.text:
                    raise ValueError(f"token {token.text!r} does not stand at {token.start}")
        return self


def complaints(findings: Iterable[Finding]) -> str:
    """The messages of findings, as the rest of a sentence: "the number '5' is missing; ..."."""
    messages = (finding.message.rstrip(".") for finding in findings)
    return "; ".join(text[:1].lower() + text[1:] for text in messages)
