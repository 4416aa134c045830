"""Seconds for each metric on 5,000 rewrites with 4 references.

    python benchmarks/metrics.py --rewrites FILE [--number N] [--analysed]

FILE holds rewrites as JSON lines (source or complex, simple). The scored output is the rewrite
without one word; the references are the rewrite itself and three versions without other words. All
texts differ, so that only the cache that the metrics share can help.

"In one pass" is the time that a metric adds when all are computed together, in the order of their
names; the first metric to read a text pays for its tokens. "Alone" is the time of a metric by
itself. The ratio is to a straightforward implementation of the same formula here, without caches:
sacrebleu's own ``corpus_score`` for BLEU, and for SARI the formula of EASSE with counters, which
stands for EASSE itself (it cannot be installed by name).
"""

import argparse
import json
import time
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TypeVar

from rich.console import Console
from rich.table import Table
from sacrebleu.metrics.bleu import BLEU

from parataxis.evaluate.metrics import sari, tokens
from parataxis.evaluate.metrics.protocol import Metric, ScoredItem, Statistics, score, score_all
from parataxis.evaluate.metrics.registry import METRICS, load_metric

ANALYSED = ("facts", "learned", "patterns", "verified")
Grams = Counter[tuple[str, ...]]
T = TypeVar("T")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rewrites", type=Path, required=True, help="rewrites as JSON lines")
    parser.add_argument("--number", type=int, default=5000, help="how many (default: 5000)")
    parser.add_argument("--analysed", action="store_true", help=f"also {', '.join(ANALYSED)}")
    options = parser.parse_args()
    items = _items(options.rewrites, options.number)
    names = [n for n in METRICS.names() if options.analysed or n not in ANALYSED]
    metrics = [load_metric(name) for name in names]
    plain = {"bleu": _plain_bleu, "sari": _plain_sari}

    _forget()
    together = _Timed(metrics)
    start = time.perf_counter()
    score_all(together.metrics, items)
    seconds = time.perf_counter() - start

    table = Table("metric", "in one pass, s", "alone, CPU s", "plain, CPU s", "plain / alone")
    for metric in metrics:
        row = [metric.name, f"{together.seconds[metric.name]:.2f}"]
        if metric.name in plain:
            _forget()
            alone, found = _time(lambda m=metric: score(m, items).value, time.process_time)
            other, same = _time(lambda n=metric.name: plain[n](items), time.process_time)
            if abs(same - found) > 1e-9:
                raise SystemExit(f"{metric.name}: {found} here, {same} by the plain formula")
            row += [f"{alone:.2f}", f"{other:.2f}", f"{other / alone:.1f}"]
        table.add_row(*row)
    console = Console(width=100)
    console.print(table)
    console.print(f"{len(items)} rewrites, {len(metrics)} metrics in one pass: {seconds:.1f} s")


class _Timed:
    """A metric that measures its own time."""

    def __init__(self, metrics: Sequence[Metric]) -> None:
        self.seconds = {metric.name: 0.0 for metric in metrics}
        self.metrics = [_Clock(metric, self.seconds) for metric in metrics]


class _Clock:
    def __init__(self, metric: Metric, seconds: dict[str, float]) -> None:
        self.name, self.needs_references = metric.name, metric.needs_references
        self.summary, self.higher_is_better = metric.summary, metric.higher_is_better
        self.signature, self.from_statistics = metric.signature, metric.from_statistics
        self._metric, self._seconds = metric, seconds

    def statistics(self, items: Sequence[ScoredItem]) -> Statistics:
        seconds, rows = _time(lambda: self._metric.statistics(items))
        self._seconds[self.name] += seconds
        return rows


def _time(work: Callable[[], T], clock: Callable[[], float] = time.perf_counter) -> tuple[float, T]:
    start = clock()
    found = work()
    return clock() - start, found


def _forget() -> None:
    """Clear the caches, including sacrebleu's, as in a new process."""
    tokens.tokens.cache_clear()
    tokens.ngrams.cache_clear()
    tokens._tokenizer.cache_clear()
    tokens.count_references.cache_clear()
    sari._KEPT.clear()
    tokenizer = BLEU(tokenize="13a", force=True).tokenizer
    type(tokenizer).__call__.cache_clear()


def _items(path: Path, number: int) -> list[ScoredItem]:
    items: list[ScoredItem] = []
    with path.open(encoding="utf-8") as lines:
        for line in lines:
            record = json.loads(line)
            simple = record["simple"]
            variants = [_without(simple, place) for place in (1, 2, 3, 4)]
            source = record.get("source") or record["complex"]
            items.append(ScoredItem(source, variants[0], (tuple(simple), *variants[1:])))
            if len(items) == number:
                return items
    raise SystemExit(f"{path} has only {len(items)} rewrites.")


def _without(simple: Sequence[str], place: int) -> tuple[str, ...]:
    first, *rest = simple
    words = first.split()
    return (" ".join(words[:place] + words[place + 1 :]) or first, *rest)


def _plain_bleu(items: Sequence[ScoredItem]) -> float:
    streams = [list(stream) for stream in zip(*(i.reference_texts for i in items), strict=True)]
    return float(BLEU(force=True).corpus_score([item.text for item in items], streams).score)


def _plain_sari(items: Sequence[ScoredItem]) -> float:
    """The formula of EASSE, one operation and one n-gram length at a time."""
    tokenize = BLEU(tokenize="13a", force=True).tokenizer
    counts = [[[0, 0, 0] for _ in range(4)] for _ in range(3)]
    for item in items:
        texts = [
            tokenize(text.lower()).split()
            for text in (item.source, item.text, *item.reference_texts)
        ]
        for n in range(1, 5):
            source, rewrite, *references = (_grams(text, n) for text in texts)
            wanted = sum(references, Counter())
            r = len(references)
            s, h = ({k: r * v for k, v in one.items()} for one in (source, rewrite))
            s, h = Counter(s), Counter(h)
            _agree(counts[0][n - 1], Counter(set(h) - set(s)), Counter(set(wanted) - set(s)))
            _agree(counts[1][n - 1], s & h, s & wanted)
            _agree(counts[2][n - 1], s - h, s - wanted)
    parts = [
        sum(2 * both / (a + b) if a + b else 0.0 for both, a, b in lengths) / 4
        for lengths in counts
    ]
    return 100 * sum(parts) / 3


def _grams(words: Sequence[str], n: int) -> Grams:
    return Counter(tuple(words[i : i + n]) for i in range(len(words) - n + 1))


def _agree(counts: list[int], rewrite: Grams, references: Grams) -> None:
    counts[0] += (rewrite & references).total()
    counts[1] += rewrite.total()
    counts[2] += references.total()


if __name__ == "__main__":
    main()
