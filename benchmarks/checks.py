"""Findings of the checks on good rewrites, on damaged ones and on outputs of systems.

    python benchmarks/checks.py --data DATA
    python benchmarks/checks.py                 # only the corruptions, which come with the project

The corruptions of ``data/corruptions.jsonl`` were written by hand, those of the references are made
by a program (:mod:`parataxis.lab.verifier.corruptions`).

DATA holds ``rewrites/dev.jsonl`` (references: every finding is a false alarm; their sources are
also given to the built-in splitters) and ``hsplit/`` (source.txt, and outputs/*.txt with <SEP>
between the simple sentences).
"""

import argparse
import json
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from random import Random
from typing import TypedDict

from rich.console import Console
from rich.table import Table

from damage import DAMAGES, damaged
from parataxis.checks import Checker
from parataxis.checks.checker import RISKY
from parataxis.lab.verifier.corruptions import corruptions
from parataxis.rewrite.record import Finding, FindingKind
from parataxis.splitters.llm import guard
from parataxis.splitters.pointer.surprise import load_second_opinion
from parataxis.splitters.registry import load_splitter
from parataxis.syntax.analyser import load_analyser

Pair = tuple[str, list[str]]


class Row(TypedDict):
    """A rewrite that is correct or has one fault of a kind."""

    set: int
    kind: str
    source: str
    simple: list[str]


SPLITTERS = ("source", "rules")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, help="folder with rewrites/ and hsplit/")
    parser.add_argument("--part", default="dev", help="rewrites/PART.jsonl (default: dev)")
    parser.add_argument("--words-only", action="store_true", help="do not use the analyser")
    parser.add_argument("--every", type=int, default=1, metavar="N", help="read every Nth rewrite")
    parser.add_argument("--show", type=int, default=0, metavar="N", help="print N false alarms")
    options = parser.parse_args()
    words = Checker()
    checker = words if options.words_only else Checker(load_analyser())
    console = Console(width=120, soft_wrap=True)
    examiners = _Examiners(checker)
    for number in range(1, 8):
        rows = [row for row in _written() if row["set"] == number]
        console.print(examiners.table(f"Corruptions written by hand, set {number}", rows))
    if options.data is None:
        return

    start = time.perf_counter()
    path = options.data / "rewrites" / f"{options.part}.jsonl"
    references = list(_references(path))[:: options.every]
    found = list(checker.pipe(pair for _, pair in references))
    seconds = time.perf_counter() - start
    console.print(_reference_table([domain for domain, _ in references], found, options.part))
    console.print(f"{len(references) / seconds:.0f} rewrites a second")
    _show(console, [pair for _, pair in references], found, options.show)
    console.print(examiners.table("References", _programmed([pair for _, pair in references])))
    good = [pair for (_, pair), findings in zip(references, found, strict=True) if not findings]
    console.print(_damage_table(words, checker, good))
    console.print(_splitter_table(checker, [source for _, (source, _) in references]))
    console.print(_system_table(checker, options.data / "hsplit"))


class _Examiners:
    """The exact checks alone, those with the verifier (``parataxis check``), and the guard."""

    def __init__(self, checker: Checker) -> None:
        self._checker, self._verifier = checker, load_second_opinion()

    def table(self, title: str, rows: Sequence[Row]) -> Table:
        """The share of each kind with a finding; for correct rewrites that is a false alarm."""
        table = Table(title=f"{title}: % with a finding")
        for heading in ("kind", "n", "exact checks", "check", "guard of llm"):
            table.add_column(heading, justify="left" if heading == "kind" else "right")
        found = list(self._checker.pipe((row["source"], row["simple"]) for row in rows))
        flags: dict[str, list[tuple[bool, bool, bool]]] = {}
        for row, findings in zip(rows, found, strict=True):
            risk = 0.0
            if row["simple"] != [row["source"]]:
                risk = self._verifier(row["source"], [row["simple"]])[0].risk
            exact = bool(findings)
            flag = exact, exact or risk >= RISKY, exact or risk >= guard.RISKY
            names = (row["kind"],) if row["kind"] == "correct" else (row["kind"], "any corruption")
            for name in names:
                flags.setdefault(name, []).append(flag)
        for kind in sorted(flags):
            shares = [
                f"{100 * sum(column) / len(column):.1f}"
                for column in zip(*flags[kind], strict=True)
            ]
            table.add_row(kind, str(len(flags[kind])), *shares)
        return table


def _written() -> list[Row]:
    path = Path(__file__).parents[1] / "data" / "corruptions.jsonl"
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def _programmed(references: Sequence[Pair]) -> list[Row]:
    """The references, and two corruptions of every second one that splits."""
    chance = Random(18)
    rows = [
        Row(set=0, kind="correct", source=source, simple=simple) for source, simple in references
    ]
    for source, simple in [pair for pair in references if len(pair[1]) > 1][::2]:
        rows += [
            Row(set=0, kind=made.kind, source=source, simple=made.simple)
            for made in corruptions(simple, source, chance, 2)
        ]
    return rows


def _references(path: Path) -> Iterator[tuple[str, Pair]]:
    with path.open(encoding="utf-8") as lines:
        for line in lines:
            record = json.loads(line)
            yield record["domain"], (record["complex"], record["simple"])


def _outputs(source: Path, path: Path) -> list[Pair]:
    sources = source.read_text(encoding="utf-8").splitlines()
    outputs = path.read_text(encoding="utf-8").splitlines()
    return [
        (before, [part.strip() for part in after.split("<SEP>") if part.strip()])
        for before, after in zip(sources, outputs, strict=True)
    ]


def _reference_table(domains: Sequence[str], found: Sequence[list[Finding]], part: str) -> Table:
    table = _table(f"References of rewrites/{part}.jsonl: % of rewrites with a finding", "domain")
    for domain in sorted(set(domains)):
        _add(table, domain, [f for d, f in zip(domains, found, strict=True) if d == domain])
    _add(table, "all", found)
    return table


def _splitter_table(checker: Checker, sources: Sequence[str]) -> Table:
    """The findings on all rewrites of a splitter, and on those that it split."""
    table = _table("Built-in splitters on these sources: % of rewrites with a finding", "splitter")
    for name in SPLITTERS:
        rewrites = list(load_splitter(name).pipe(sources))
        pairs = ((rewrite.source, rewrite.simple) for rewrite in rewrites)
        found = list(checker.pipe(pairs, [rewrite.provenance for rewrite in rewrites]))
        _add(table, name, found)
        split = [f for r, f in zip(rewrites, found, strict=True) if r.is_split]
        if split:
            _add(table, f"{name}, where it splits", split)
    return table


def _system_table(checker: Checker, folder: Path) -> Table:
    table = _table("Outputs on HSplit: % of rewrites with a finding", "system")
    for path in sorted((folder / "outputs").glob("*.txt")):
        _add(table, path.stem, list(checker.pipe(_outputs(folder / "source.txt", path))))
    return table


def _damage_table(words: Checker, checker: Checker, good: Sequence[Pair]) -> Table:
    """The share of damages found; the analyser is used only for the kinds that need it."""
    table = Table(title="References that pass, damaged: % of damages found")
    for heading in ("damage", "should raise", "n", "found"):
        table.add_column(heading, justify="left" if heading[0] in "ds" else "right")
    cases: dict[str, list[Pair]] = {name: [] for name in DAMAGES}
    for source, simple in good:
        if len(simple) > 1:
            for name, _, result in damaged(source, simple):
                cases[name].append((source, result))
    for name, (kind, _) in DAMAGES.items():
        finder = (
            words if kind in (FindingKind.LOST, FindingKind.NEW, FindingKind.REPEATED) else checker
        )
        hits = sum(
            any(finding.kind is kind for finding in findings)
            for findings in finder.pipe(cases[name])
        )
        count = len(cases[name])
        share = f"{100 * hits / count:.1f}" if count else "-"
        table.add_row(name, kind.value, str(count), share)
    return table


def _table(title: str, first: str) -> Table:
    table = Table(title=title)
    table.add_column(first)
    for heading in ("n", "any", *(kind.value for kind in FindingKind)):
        table.add_column(heading, justify="right")
    return table


def _add(table: Table, name: str, found: Sequence[list[Finding]]) -> None:
    kinds = Counter(kind for findings in found for kind in {finding.kind for finding in findings})
    shares = [sum(map(bool, found)), *(kinds[kind] for kind in FindingKind)]
    table.add_row(name, str(len(found)), *(f"{100 * n / len(found):.1f}" for n in shares))


def _show(
    console: Console, pairs: Sequence[Pair], found: Sequence[list[Finding]], limit: int
) -> None:
    faulty = [(pair, findings) for pair, findings in zip(pairs, found, strict=True) if findings]
    for (source, simple), findings in faulty[:limit]:
        console.print(f"\n{source}\n  -> {' | '.join(simple)}", markup=False)
        for finding in findings:
            console.print(f"     {finding.kind.value}: {finding.message}", markup=False)


if __name__ == "__main__":
    main()
