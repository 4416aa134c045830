"""Measures the speed of everything, and writes a file of results and a page.

    python benchmarks/speed.py [SENTENCES.jsonl] [--page] [--rounds 3]   # about six minutes
    python benchmarks/speed.py --check                                   # is a ratio 10 % worse?

Throughput and latency of the splitters and the analyser, and of T5-small and T5-base (transformers
and CTranslate2, random weights, texts of the same length) and spaCy's small pipeline in the same
run; curves over cores, batches, lengths and documents; memory and cold start; and the ratio to
a lower bound computed from the multiply-adds of the models. SENTENCES are rewrites ("complex" and
"simple"); without them our own are used. benchmarks/README.md lists what it needs.
"""

import argparse
import json
import os
import statistics
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from parataxis.rewrite.forms import form_of
from parataxis.syntax.onnx import THREADS_VARIABLE
from timing import curves, ours, t5
from timing.compare import TOLERATED, ratios, worse
from timing.floor import Rates, floor
from timing.fresh import fresh
from timing.machine import machine
from timing.measure import System, measure
from timing.page import write_page
from timing.sentences import OWN, Item, read_items, spread

RECORDED = Path(__file__).parent / "speed.json"
DOCS = Path(__file__).parents[1] / "docs"

COUNT = 96
"""Sentences that our own systems are timed on."""
ROUNDS_OF_CHECK = 5
"""Rounds for the ratios that are recorded and compared."""


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("sentences", type=Path, nargs="?", default=OWN)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--threads", type=int, default=min(2, os.cpu_count() or 1))
    parser.add_argument("--count", type=int, default=COUNT, help="sentences, of all lengths")
    parser.add_argument("--results", type=Path, default=RECORDED, help="the file of results")
    parser.add_argument("--page", action="store_true", help="write docs/benchmarks.md as well")
    parser.add_argument(
        "--only-page", action="store_true", help="write the page from recorded results"
    )
    parser.add_argument("--check", action="store_true", help="compare with the recorded ratios")
    parser.add_argument(
        "--model", action="append", default=[], metavar="NAME=FOLDER", help="seq2seq or copynet"
    )
    options = parser.parse_args()
    if options.only_page:
        write_page(json.loads(options.results.read_text(encoding="utf-8")), DOCS)
        return 0
    os.environ[THREADS_VARIABLE] = str(options.threads)
    items = read_items(options.sentences)
    form_of("serving", "VBD")  # opens the dictionary, which is no part of any speed
    if options.check:
        return check(items, options)
    results = measured(items, options)
    options.results.write_text(json.dumps(results, indent=1) + "\n", encoding="utf-8")
    print(f"wrote {options.results} after {results['minutes']:.1f} minutes", file=sys.stderr)
    if options.page:
        write_page(results, DOCS)
    return 0


def check(items: Sequence[Item], options: argparse.Namespace) -> int:
    """Measure the recorded ratios again; 1 if one is worse."""
    recorded = json.loads(options.results.read_text(encoding="utf-8"))["ratios"]
    now = ratios(items, ROUNDS_OF_CHECK, options.threads)
    slower = worse(recorded, now)
    for name, before in recorded.items():
        mark = "WORSE" if name in slower else "ok"
        print(f"{mark:5}  {name}: {before:.2f} recorded, {now.get(name, 0.0):.2f} now")
    if slower:
        print(f"{len(slower)} ratios are more than {TOLERATED:.0%} worse.", file=sys.stderr)
    return 1 if slower else 0


def measured(items: Sequence[Item], options: argparse.Namespace) -> dict[str, Any]:
    """All figures."""
    start = time.perf_counter()
    some = spread(items, options.count)
    with tempfile.TemporaryDirectory() as folder:
        systems = all_systems(items, some, Path(folder), options)
    measure([system for group in systems.values() for system in group], options.rounds)
    _tell("ratios")
    compared = ratios(items, ROUNDS_OF_CHECK, options.threads)
    _tell("curves")
    drawn = {
        "cores": curves.cores(some, range(1, options.threads + 1), 2),
        "batches": curves.batch_sizes(some, 1),
        "lengths": curves.lengths(items, 24, 1),
        "documents": curves.document_sizes(items, 1),
    }
    _tell("new processes")
    processes = fresh(options.rounds, [item.text for item in some], (100, 300, 600))
    _tell("floors")
    with curves.using(1):
        rates = Rates()
        floors = [floor(spread(items, 2 * options.count), beam, rates) for beam in ours.BEAMS]
    return {
        "date": time.strftime("%Y-%m-%d"),
        "machine": machine(),
        "threads": options.threads,
        "rounds": options.rounds,
        "sentences": {
            "count": len(some),
            "words": statistics.mean(len(item.source) for item in some),
            "pieces_in": statistics.mean(item.pieces_in for item in some),
            "pieces_out": statistics.mean(item.pieces_out for item in some),
        },
        "systems": {
            name: [system.figures() for system in group] for name, group in systems.items()
        },
        "ratios": compared,
        "curves": drawn,
        "fresh": processes,
        "floors": floors,
        "minutes": (time.perf_counter() - start) / 60,
    }


def all_systems(
    items: Sequence[Item], some: Sequence[Item], folder: Path, options: argparse.Namespace
) -> dict[str, list[System]]:
    """All systems; slow ones get fewer sentences of the same lengths."""
    few = spread(items, 32)
    own = [ours.source(some, few), ours.rules(some, few)]
    own += [
        make(some, few, beam) for beam in ours.BEAMS for make in (ours.pointer, ours.model_only)
    ]
    for given in options.model:
        name, _, path = given.partition("=")
        own.append(ours.trained(name, Path(path), some, few))
    sizes = {
        "T5-small": (spread(items, 48), spread(items, 8)),
        "T5-base": (spread(items, 8), spread(items, 4)),
    }
    others = []
    for name, (many, alone) in sizes.items():
        converted = t5.convert(name, folder)
        for beam in ours.BEAMS:
            others.append(
                t5.ctranslate2_system(name, converted, many, alone, beam, options.threads)
            )
        many, alone = many[::2], alone[::2]
        for beam in ours.BEAMS:
            others.append(t5.transformers_system(name, many, alone, beam, options.threads))
    analysers = [ours.analyser(some, few, roles=roles) for roles in (True, False)]
    analysers.append(ours.spacy_small(some, few))
    return {"ours": own, "t5": others, "analysers": analysers}


def _tell(what: str) -> None:
    print(f"{what} ...", file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main())
