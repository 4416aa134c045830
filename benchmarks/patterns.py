"""Precision and recall of the pattern tagger on the labelled set of the tests.

Prints the tables of docs/patterns.md. ``--errors`` adds every miss and false find of the dev part
(never of the other parts, which are there to be measured, not read). ``--data DATA`` adds, for the
sources of ``DATA/rewrites/dev.jsonl``, how many show a pattern where the writer split them and
where the writer left them whole, and how many of a hundred show each pattern.
"""

import argparse
import json
from collections.abc import Mapping, Sequence
from pathlib import Path

from parataxis.errors import TooLongError
from parataxis.syntax.analyser import Analyser, load_analyser
from parataxis.syntax.analysis import Analysis
from parataxis.syntax.patterns import Pattern, find_patterns, pattern_table
from parataxis.syntax.patterns.agreement import PatternAgreement, measure, read_labelled

PARTS = ["dev", "test", "final"]
LABELLED = Path(__file__).parents[1] / "tests" / "syntax" / "fixtures" / "patterns.jsonl"


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


def print_table(part: str, sentences: int, result: Mapping[Pattern, PatternAgreement]) -> None:
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


def print_errors(result: Mapping[Pattern, PatternAgreement]) -> None:
    for pattern, agreement in result.items():
        for line in agreement.missed:
            print(f"{pattern} missed: {line}")
        for line in agreement.wrong:
            print(f"{pattern} wrong: {line}")


if __name__ == "__main__":
    main()
