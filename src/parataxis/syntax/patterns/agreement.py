"""How well the found patterns agree with labelled ones: precision and recall per pattern.

A labelled set is JSONL: ``{"text", "part", "occurrences": [{"pattern", "phrase"}]}``, where each
phrase is an exact substring of the text.
"""

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from parataxis.errors import InputError
from parataxis.syntax.analysis import Analysis
from parataxis.syntax.patterns.find import find_patterns
from parataxis.syntax.patterns.phrases import Occurrence, Pattern

_EDGES = " \t.,;:!?()[]\"'“”‘’-–—"


@dataclass(frozen=True, slots=True)
class LabelledPhrase:
    """A phrase marked by a person: its pattern and its characters, ``text[start:end]``."""

    pattern: Pattern
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class LabelledSentence:
    """A sentence with all its occurrences; ``part`` is "dev" (seen in tuning), "test" or
    "final"."""

    text: str
    part: str
    phrases: tuple[LabelledPhrase, ...]


@dataclass(slots=True)
class PatternAgreement:
    """Counts for one pattern. A pair agrees *exactly* if pattern and words are the same, up to
    punctuation at the ends; *loosely* if the head of the found phrase is in the labelled one and
    the two share more than half of their characters."""

    exact: int = 0
    loose: int = 0
    found: int = 0
    labelled: int = 0
    missed: list[str] = field(default_factory=list)
    wrong: list[str] = field(default_factory=list)

    def precision(self, *, loose: bool = False) -> float:
        return (self.loose if loose else self.exact) / self.found if self.found else 1.0

    def recall(self, *, loose: bool = False) -> float:
        return (self.loose if loose else self.exact) / self.labelled if self.labelled else 1.0

    def __add__(self, other: "PatternAgreement") -> "PatternAgreement":
        return PatternAgreement(
            self.exact + other.exact,
            self.loose + other.loose,
            self.found + other.found,
            self.labelled + other.labelled,
            self.missed + other.missed,
            self.wrong + other.wrong,
        )


def read_labelled(path: Path) -> list[LabelledSentence]:
    """Read a labelled set; an :class:`InputError` names the line that cannot be used."""
    sentences = []
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1):
        try:
            record = json.loads(line)
            phrases = tuple(_locate(record["text"], o) for o in record["occurrences"])
            sentences.append(LabelledSentence(record["text"], record["part"], phrases))
        except (ValueError, KeyError, TypeError) as error:
            raise InputError(f"{path}, line {number} is no labelled sentence: {error}.") from error
    return sentences


def _locate(text: str, occurrence: dict[str, str]) -> LabelledPhrase:
    start = text.index(occurrence["phrase"])
    end = start + len(occurrence["phrase"])
    return LabelledPhrase(Pattern(occurrence["pattern"]), *_trim(text, start, end))


def _trim(text: str, start: int, end: int) -> tuple[int, int]:
    while start < end and text[start] in _EDGES:
        start += 1
    while end > start and text[end - 1] in _EDGES:
        end -= 1
    return start, end


def measure(
    pairs: Iterable[tuple[LabelledSentence, Analysis]],
) -> dict[Pattern, PatternAgreement]:
    """Compare the patterns found in each analysis with the labels of its sentence."""
    result = {pattern: PatternAgreement() for pattern in Pattern}
    for sentence, analysis in pairs:
        found = find_patterns(analysis)
        for pattern in Pattern:
            result[pattern] += _compare(
                analysis,
                [o for o in found if o.pattern == pattern],
                [p for p in sentence.phrases if p.pattern == pattern],
            )
    return result


def _compare(
    analysis: Analysis, found: Sequence[Occurrence], labelled: Sequence[LabelledPhrase]
) -> PatternAgreement:
    text = analysis.text
    spans = {_trim(text, o.start, o.end): o for o in found}
    exact = [p for p in labelled if (p.start, p.end) in spans]
    missed = [p for p in labelled if (p.start, p.end) not in spans]
    matched = {(p.start, p.end) for p in exact}
    wrong = [o for span, o in spans.items() if span not in matched]
    loose = len(exact)
    remaining = list(missed)
    for occurrence in wrong:
        close = next((p for p in remaining if _is_close(analysis, occurrence, p)), None)
        if close:
            remaining.remove(close)
            loose += 1
    return PatternAgreement(
        len(exact),
        loose,
        len(found),
        len(labelled),
        [f"{text[p.start : p.end]} <- {text}" for p in missed],
        [f"{text[o.start : o.end]} <- {text}" for o in wrong],
    )


def _is_close(analysis: Analysis, found: Occurrence, labelled: LabelledPhrase) -> bool:
    head = analysis[found.head]
    if not labelled.start <= head.start < labelled.end:
        return False
    shared = min(found.end, labelled.end) - max(found.start, labelled.start)
    return 2 * shared > max(found.end, labelled.end) - min(found.start, labelled.start)
