"""The guard of the llm splitter, on planted faults and on the rewrites of a real model.

    python benchmarks/llm.py planted
    python benchmarks/llm.py model

``planted`` damages references, each in one place, and counts how many of them are rejected, by the
checks alone and by the guard. ``model`` uses the language model set in the environment
(PARATAXIS_LLM_URL and so on) and shows what happened to each answer. Both read
``data/rewrites/original.jsonl``, which was not used to write the prompt.
"""

import argparse
import json
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path
from random import Random

from rich.console import Console
from rich.table import Table

from damage import damaged
from parataxis.checks import Checker
from parataxis.checks.units import Sort, units
from parataxis.rewrite.record import Finding
from parataxis.splitters.llm import LlmSplitter
from parataxis.splitters.llm.guard import examine
from parataxis.splitters.pointer.choose import BLOCKING
from parataxis.syntax.analyser import load_analyser

REWRITES = Path(__file__).parents[1] / "data" / "rewrites" / "original.jsonl"

Pair = tuple[str, tuple[str, ...]]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("part", choices=["planted", "model"])
    parser.add_argument("--rewrites", type=Path, default=REWRITES)
    parser.add_argument("--count", type=int, default=30, help="how many rewrites (default: 30)")
    parser.add_argument("--every", type=int, default=900, help="every Nth one (default: 900)")
    parser.add_argument("--show", action="store_true", help="print each rewrite")
    options = parser.parse_args()
    console = Console(width=120, soft_wrap=True)
    pairs = list(_references(options.rewrites))[:: options.every][: options.count]
    if options.part == "planted":
        console.print(_planted(pairs))
    else:
        _model([source for source, _ in pairs], console, show=options.show)


def _references(path: Path) -> Iterator[Pair]:
    """The references that split their source."""
    with path.open(encoding="utf-8") as lines:
        for line in lines:
            record = json.loads(line)
            if len(record["simple"]) > 1:
                yield record["complex"], tuple(record["simple"])


def _planted(pairs: Sequence[Pair]) -> Table:
    faults: dict[str, list[Pair]] = {"none: the reference itself": list(pairs)}
    for source, simple in pairs:
        for name, kind, result in damaged(source, simple):
            if kind in BLOCKING:
                faults.setdefault(name, []).append((source, tuple(result)))
        for name, sort in (
            ("exchange two numbers", Sort.NUMBER),
            ("exchange two names", Sort.NAME),
        ):
            if exchanged := _exchanged(source, simple, sort):
                faults.setdefault(name, []).append((source, exchanged))
    table = Table(title="Rewrites that are not taken, %")
    for title in ("fault", "n", "by the checks", "by the guard"):
        table.add_column(title, justify="left" if title == "fault" else "right")
    analyser = load_analyser()
    for name, rewrites in faults.items():
        checked = [_blocks(found) for found in Checker(analyser).pipe(rewrites)]
        guarded = [_blocks(each.findings) for each in examine(rewrites, analyser)]
        table.add_row(name, str(len(rewrites)), *map(_percent, (checked, guarded)))
    return table


def _blocks(findings: Sequence[Finding]) -> bool:
    return any(finding.kind in BLOCKING for finding in findings)


def _percent(flags: Sequence[bool]) -> str:
    return f"{100 * sum(flags) / len(flags):.0f}"


def _exchanged(source: str, simple: Sequence[str], sort: Sort) -> tuple[str, ...] | None:
    """The rewrite with two numbers or names exchanged; each occurs once, and they are not
    adjacent."""
    found = [(i, unit) for i, text in enumerate(simple) for unit in units(text)]
    times = Counter(unit.key for _, unit in found)
    fit = [(i, unit) for i, unit in found if unit.sort is sort and times[unit.key] == 1]
    apart = [
        (one, other)
        for place, one in enumerate(fit)
        for other in fit[place + 1 :]
        if one[0] != other[0] or other[1].start - one[1].end > 1
    ]
    if not apart:
        return None
    one, other = Random(source).choice(apart)
    texts = defaultdict(list)
    for (index, unit), text in ((other, one[1].text), (one, other[1].text)):
        texts[index].append((unit, text))
    result = list(simple)
    for index, changes in texts.items():
        for unit, text in sorted(changes, key=lambda change: -change[0].start):
            result[index] = result[index][: unit.start] + text + result[index][unit.end :]
    return tuple(result)


def _model(sources: Sequence[str], console: Console, *, show: bool) -> None:
    splitter = LlmSplitter()
    for rewrite in splitter.pipe(sources):
        if show:
            writer = (rewrite.model_extra or {})["written_by"]
            console.print(f"{writer}: {rewrite.source}", markup=False)
            for sentence in rewrite.simple:
                console.print(f"    {sentence}", markup=False)
            console.print(f"  {rewrite.note or ''}\n", markup=False)
    console.print(splitter.report(), markup=False)


if __name__ == "__main__":
    main()
