"""Precision and recall of the fact error counts of the metric ``facts``.

    python benchmarks/facts.py [--data DATA] [--show]

In three sets each simple sentence is labelled as correct, unsupported or repeated, and the number
of missing facts is known:

- written: facts/written.jsonl, rewrites written for this purpose, good and bad;
- damaged: the rewrites of DATA/rewrites/dev.jsonl that were invented for this project (domains
  "original-..."), damaged in known ways;
- hsplit: outputs of five systems in DATA/hsplit, labelled by reading them before the metric was
  run; facts/hsplit.tsv has the labels only.

Without --data only the first set is used.
"""

import argparse
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from random import Random

from rich.console import Console
from rich.table import Table

from parataxis.checks import Checker
from parataxis.evaluate.metrics.facts import label_sentences, lost_facts, shared_analyser
from parataxis.syntax.analysis import Analysis
from parataxis.text.tokens import plain_brackets

HERE = Path(__file__).parent / "facts"
LABELS = {"c": "correct", "u": "unsupported", "r": "repeated"}
SOURCES = 60
"""How many rewrites are damaged."""


@dataclass(frozen=True)
class Case:
    """A rewrite with the labels of a reader."""

    source: str
    simple: tuple[str, ...]
    labels: tuple[str, ...]
    missing: int


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, help="folder with rewrites/ and hsplit/")
    parser.add_argument("--show", action="store_true", help="print where metric and label differ")
    options = parser.parse_args()
    sets = {"written": list(_written())}
    if options.data:
        sets["damaged"] = list(_damaged(options.data / "rewrites" / "dev.jsonl"))
        sets["hsplit"] = list(_hsplit(options.data / "hsplit"))
    console = Console(width=120, soft_wrap=True)
    for name, cases in sets.items():
        _report(console, name, cases, show=options.show)


def _written() -> Iterator[Case]:
    for line in (HERE / "written.jsonl").read_text(encoding="utf-8").splitlines():
        record = json.loads(line)
        labels = tuple(LABELS[letter] for letter in record["labels"])
        yield Case(record["source"], tuple(record["simple"]), labels, record["missing"])


def _hsplit(folder: Path) -> Iterator[Case]:
    sources = (folder / "source.txt").read_text(encoding="utf-8").splitlines()
    rows = (HERE / "hsplit.tsv").read_text(encoding="utf-8").splitlines()[1:]
    for row in rows:
        system, line, letters, missing = row.split("\t")
        path = folder / "outputs" / f"{system}.txt"
        output = plain_brackets(path.read_text(encoding="utf-8").splitlines()[int(line)])
        simple = tuple(part.strip() for part in output.split("<SEP>"))
        labels = tuple(LABELS[letter] for letter in letters)
        yield Case(sources[int(line)], simple, labels, int(missing))


def _damaged(path: Path) -> Iterator[Case]:
    """Each rewrite unchanged, without a sentence, with one repeated, and with one of another."""
    lines = path.read_text(encoding="utf-8").splitlines()
    records = [json.loads(line) for line in lines if '"original-' in line]
    records = [record for record in records if len(record["simple"]) > 2]
    records = records[:: max(1, len(records) // SOURCES)][:SOURCES]
    random = Random(0)
    for record, other in zip(records, records[1:] + records[:1], strict=True):
        source, simple = record["complex"], record["simple"]
        fine = ["correct"] * len(simple)
        place = random.randrange(1, len(simple))
        stranger = random.choice(other["simple"])
        yield _case(source, simple, fine, 0)
        yield _case(source, simple[:place] + simple[place + 1 :], fine[1:], 1)
        yield _case(source, [*simple, simple[place]], [*fine, "repeated"], 0)
        yield _case(source, [*simple, stranger], [*fine, "unsupported"], 0)


def _case(source: str, simple: Sequence[str], labels: Sequence[str], missing: int) -> Case:
    return Case(source, tuple(simple), tuple(labels), missing)


def _report(console: Console, name: str, cases: Sequence[Case], *, show: bool) -> None:
    analyser = shared_analyser()
    findings = list(Checker(analyser).pipe((case.source, case.simple) for case in cases))
    analyses = list(analyser.pipe(case.source for case in cases))
    pairs: list[tuple[str, str]] = []
    lost: list[tuple[int, int]] = []
    for case, found, analysis in zip(cases, findings, analyses, strict=True):
        said = label_sentences(case.simple, found)
        missing = len(lost_facts(found, analysis if isinstance(analysis, Analysis) else None))
        pairs += zip(case.labels, said, strict=True)
        lost.append((case.missing, missing))
        if show and (tuple(said) != case.labels or bool(missing) != bool(case.missing)):
            console.print(f"{case.source}\n  missing {case.missing}, metric {missing}")
            for label, word, sentence in zip(case.labels, said, case.simple, strict=True):
                console.print(f"  {label:11} {word:11} {sentence}", markup=False)
    title = f"{name}: {len(cases)} rewrites, {len(pairs)} simple sentences"
    table = Table("label", "labelled", "by metric", "precision", "recall", title=title)
    for label in LABELS.values():
        _add(table, label, [(gold == label, said == label) for gold, said in pairs])
    _add(table, "missing (rewrites)", [(gold > 0, said > 0) for gold, said in lost])
    console.print(table)
    console.print(
        f"missing facts: {sum(g for g, _ in lost)} labelled, {sum(s for _, s in lost)} by metric"
    )


def _add(table: Table, label: str, pairs: Sequence[tuple[bool, bool]]) -> None:
    gold, said = sum(g for g, _ in pairs), sum(s for _, s in pairs)
    both = sum(g and s for g, s in pairs)
    shares = (f"{100 * both / whole:.0f}" if whole else "-" for whole in (said, gold))
    table.add_row(label, str(gold), str(said), *shares)


if __name__ == "__main__":
    main()
