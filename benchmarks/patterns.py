"""Precision and recall of the pattern tagger on the labelled set of the tests.

Prints the tables of docs/patterns.md. ``--errors`` adds every miss and false find of the dev part
(never of the other parts, which are there to be measured, not read). ``--data DATA`` adds, for the
sources of ``DATA/rewrites/dev.jsonl``, how many show a pattern where the writer split them and
where the writer left them whole, and how many of a hundred show each pattern.

A labelled set is JSONL: ``{"text", "part", "occurrences": [{"pattern", "phrase"}]}``, where each
phrase is an exact substring of the text.
"""

import argparse
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from parataxis.errors import InputError, TooLongError
from parataxis.syntax.analyser import Analyser, load_analyser
from parataxis.syntax.analysis import Analysis
from parataxis.syntax.patterns import Occurrence, Pattern, find_patterns, pattern_table

PARTS = ["dev", "test", "final"]
LABELLED = Path(__file__).parents[1] / "tests" / "syntax" / "fixtures" / "patterns.jsonl"

EDGES = " \t.,;:!?()[]\"'“”‘’-–—"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--labelled", type=Path, default=LABELLED, help="the labelled set (JSONL)")
    parser.add_argument("--errors", action="store_true", help="list the errors of the dev part")
    parser.add_argument("--part", choices=PARTS, help="only this part")
    parser.add_argument("--data", type=Path, help="folder with rewrites/dev.jsonl")
    arguments = parser.parse_args()
    analyser = load_analyser()
    for part in [arguments.part] if arguments.part else PARTS:
        sentences = [s for s in read_labelled(arguments.labelled) if s.part == part]
        analyses = analyser.pipe(s.text for s in sentences)
        result = measure(
            (s, a)
            for s, a in zip(sentences, analyses, strict=True)
            if not isinstance(a, TooLongError)
        )
        print_table(part, len(sentences), result)
        if arguments.errors and part == "dev":
            print_errors(result)
    if arguments.data:
        print_coverage(analyser, arguments.data / "rewrites" / "dev.jsonl")


def print_coverage(analyser: Analyser, path: Path) -> None:
    """Where writers split: in how many of these sentences a pattern is found at all."""
    with path.open(encoding="utf-8") as lines:
        records = [json.loads(line) for line in lines]
    by_domain: dict[str, dict[bool, list[Analysis]]] = {}
    results = analyser.pipe(record["complex"] for record in records)
    for record, result in zip(records, results, strict=True):
        if isinstance(result, Analysis):
            domain = record["domain"].partition("-")[0]
            groups = by_domain.setdefault(domain, {True: [], False: []})
            groups[len(record["simple"]) > 1].append(result)
    print("\nsentences with a pattern, and sentences in a hundred that show each of them\n")
    print(f"| domain | split | left whole | {' | '.join(map(str, Pattern))} |")
    print(f"|---|---|---|{'---|' * len(Pattern)}")
    for domain, groups in by_domain.items():
        table = pattern_table([*groups[True], *groups[False]])
        shares = [f"{table.per_hundred(pattern):.0f}" for pattern in Pattern]
        cells = [domain, with_pattern(groups[True]), with_pattern(groups[False]), *shares]
        print(f"| {' | '.join(cells)} |")


def with_pattern(analyses: Sequence[Analysis]) -> str:
    found = sum(bool(find_patterns(analysis)) for analysis in analyses)
    return f"{found} of {len(analyses)} ({100 * found / max(1, len(analyses)):.0f} %)"


def print_table(part: str, sentences: int, result: "Mapping[Pattern, PatternAgreement]") -> None:
    print(f"\n{part}: {sentences} sentences\n")
    print("| pattern | labelled | found | precision | recall | loose precision | loose recall |")
    print("|---|---|---|---|---|---|---|")
    rows = {
        **{str(p): a for p, a in result.items()},
        "all": sum(result.values(), PatternAgreement()),
    }
    for name, a in rows.items():
        scores = [a.precision(), a.recall(), a.precision(loose=True), a.recall(loose=True)]
        cells = [name, str(a.labelled), str(a.found), *(f"{score:.2f}" for score in scores)]
        print(f"| {' | '.join(cells)} |")


def print_errors(result: "Mapping[Pattern, PatternAgreement]") -> None:
    for pattern, agreement in result.items():
        for line in agreement.missed:
            print(f"{pattern} missed: {line}")
        for line in agreement.wrong:
            print(f"{pattern} wrong: {line}")


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
            phrases = tuple(locate(record["text"], o) for o in record["occurrences"])
            sentences.append(LabelledSentence(record["text"], record["part"], phrases))
        except (ValueError, KeyError, TypeError) as error:
            raise InputError(
                f"{path}, line {number} is not a labelled sentence: {error}."
            ) from error
    return sentences


def locate(text: str, occurrence: dict[str, str]) -> LabelledPhrase:
    start = text.index(occurrence["phrase"])
    end = start + len(occurrence["phrase"])
    return LabelledPhrase(Pattern(occurrence["pattern"]), *trim(text, start, end))


def trim(text: str, start: int, end: int) -> tuple[int, int]:
    while start < end and text[start] in EDGES:
        start += 1
    while end > start and text[end - 1] in EDGES:
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
            result[pattern] += compare(
                analysis,
                [o for o in found if o.pattern == pattern],
                [p for p in sentence.phrases if p.pattern == pattern],
            )
    return result


def compare(
    analysis: Analysis, found: Sequence[Occurrence], labelled: Sequence[LabelledPhrase]
) -> PatternAgreement:
    text = analysis.text
    spans = {trim(text, o.start, o.end): o for o in found}
    exact = [p for p in labelled if (p.start, p.end) in spans]
    missed = [p for p in labelled if (p.start, p.end) not in spans]
    matched = {(p.start, p.end) for p in exact}
    wrong = [o for span, o in spans.items() if span not in matched]
    loose = len(exact)
    remaining = list(missed)
    for occurrence in wrong:
        close = next((p for p in remaining if is_close(analysis, occurrence, p)), None)
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


def is_close(analysis: Analysis, found: Occurrence, labelled: LabelledPhrase) -> bool:
    head = analysis[found.head]
    if not labelled.start <= head.start < labelled.end:
        return False
    shared = min(found.end, labelled.end) - max(found.start, labelled.start)
    return 2 * shared > max(found.end, labelled.end) - min(found.start, labelled.start)


if __name__ == "__main__":
    main()
