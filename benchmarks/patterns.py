"""Precision and recall of the pattern tagger on the labelled set of the tests.

Prints the table of docs/patterns.md. ``--errors`` adds every miss and false find of the dev part
(never of the other parts, which are there to be measured, not read).
"""

import argparse
from collections.abc import Mapping
from pathlib import Path

from parataxis.errors import TooLongError
from parataxis.syntax.analyser import load_analyser
from parataxis.syntax.patterns import Pattern
from parataxis.syntax.patterns.agreement import Agreement, measure, read_labelled

PARTS = ["dev", "test", "final"]
LABELLED = Path(__file__).parents[1] / "tests" / "syntax" / "fixtures" / "patterns.jsonl"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--labelled", type=Path, default=LABELLED, help="the labelled set (JSONL)")
    parser.add_argument("--errors", action="store_true", help="list the errors of the dev part")
    parser.add_argument("--part", choices=PARTS, help="only this part")
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


def print_table(part: str, sentences: int, result: Mapping[Pattern, Agreement]) -> None:
    print(f"\n{part}: {sentences} sentences\n")
    print("| pattern | labelled | found | precision | recall | loose precision | loose recall |")
    print("|---|---|---|---|---|---|---|")
    rows = {**{str(p): a for p, a in result.items()}, "all": sum(result.values(), Agreement())}
    for name, a in rows.items():
        scores = [a.precision(), a.recall(), a.precision(loose=True), a.recall(loose=True)]
        cells = [name, str(a.labelled), str(a.found), *(f"{score:.2f}" for score in scores)]
        print(f"| {' | '.join(cells)} |")


def print_errors(result: Mapping[Pattern, Agreement]) -> None:
    for pattern, agreement in result.items():
        for line in agreement.missed:
            print(f"{pattern} missed: {line}")
        for line in agreement.wrong:
            print(f"{pattern} wrong: {line}")


if __name__ == "__main__":
    main()
