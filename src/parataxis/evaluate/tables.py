"""A comparison as a table: for the terminal, as Markdown, CSV, LaTeX and JSON."""

import csv
import io
import json
import math
from collections.abc import Iterator, Mapping
from dataclasses import asdict
from operator import itemgetter
from typing import TypeVar

from parataxis.evaluate.compare import REFERENCE, SOURCE, Comparison, SystemScores
from parataxis.evaluate.metrics.protocol import Metric, Score
from parataxis.evaluate.resample import Interval
from parataxis.report import NONE, latex_table, markdown_table, tex

T = TypeVar("T")

LEVEL = 0.05
"""A difference is called significant when chance makes one as large less often than this."""


def cells(comparison: Comparison) -> tuple[list[str], list[list[str]]]:
    """Header and rows. The best system of a metric is marked with * where it differs
    significantly from the second; the rows of sources and references are not ranked."""
    header = ["system", *(metric.name for metric in comparison.metrics)]
    best = {metric.name: _winner(comparison, metric) for metric in comparison.metrics}
    rows = []
    for result in comparison.results:
        row = [result.name]
        for metric in comparison.metrics:
            mark = "*" if best[metric.name] == result.name else ""
            row.append(shown(result.scores.get(metric.name)) + mark)
        rows.append(row)
    return header, rows


def turned(header: list[str], rows: list[list[str]]) -> tuple[list[str], list[list[str]]]:
    """The same table with metrics as rows: there are often more of them than systems."""
    table = list(map(list, zip(header, *rows, strict=True)))
    return ["metric", *table[0][1:]], table[1:]


def part_cells(comparison: Comparison, metric: Metric) -> tuple[list[str], list[list[str]]]:
    """The parts of one metric, such as the share of each pattern that was split."""
    known = [result for result in comparison.results if metric.name in result.scores]
    parts = list(known[0].scores[metric.name].parts) if known else []
    rows = [
        [result.name, *(_number(result.scores[metric.name].parts[part]) for part in parts)]
        for result in known
    ]
    return ["system", *parts], rows


def difference_cells(comparison: Comparison) -> tuple[list[str], list[list[str]]]:
    """A row for each metric and pair of systems: their difference, its interval, and p."""
    rows = [
        [
            metric,
            first,
            second,
            _number(found.value),
            span(found.interval),
            _number(found.p_value, 3),
        ]
        for (metric, first, second), found in comparison.differences.items()
    ]
    return ["metric", "system", "minus", "difference", "95 % interval", "p"], rows


def span(interval: Interval | None) -> str:
    """An interval in a cell; nothing where there is none."""
    if interval is None or math.isnan(interval.low):
        return ""
    return f"{interval.low:.2f} to {interval.high:.2f}"


def notes(comparison: Comparison) -> list[str]:
    """What must be quoted with the numbers: how many sources and references there are, who cut
    rewrites into sentences, and the signature of each metric."""
    return [
        _material(comparison),
        *_cuts(comparison),
        *(str(metric.signature) for metric in comparison.metrics),
    ]


def _material(comparison: Comparison) -> str:
    examples = comparison.examples
    sources = f"{len(examples):,} source{'' if len(examples) == 1 else 's'}"
    fewest, most = _reference_counts(comparison)
    if most == 0:
        return f"{sources}, no references"
    number = str(most) if fewest == most else f"{fewest} to {most}"
    return f"{sources}, {number} reference{'' if most == 1 else 's'} each"


def _reference_counts(comparison: Comparison) -> tuple[int, int]:
    counts = [len(example.references) for example in comparison.examples]
    return min(counts), max(counts)


def _cuts(comparison: Comparison) -> Iterator[str]:
    """Who cut the rewrites of which system, where the system itself did not."""
    for by, how in (("marks", "at its marks"), ("segmenter", "by the segmenter")):
        names = [system.name for system in comparison.systems if system.sentences == by]
        if names:
            yield f"cut into sentences {how}: {', '.join(names)}"


def as_markdown(comparison: Comparison) -> str:
    """The table in Markdown, with the signatures under it."""
    return markdown_table(*cells(comparison), notes=notes(comparison))


def as_csv(comparison: Comparison) -> str:
    """A line for each system, metric and part, with its interval and signature; then a line for
    each metric and pair of systems, the difference of ``system`` and ``minus``, with p."""
    out = io.StringIO()
    names = ["system", "metric", "part", "value", "low", "high", "minus", "p", "signature"]
    writer = csv.DictWriter(out, names, lineterminator="\n")
    writer.writeheader()
    for line in _lines(comparison):
        # An empty cell is what has no value.
        writer.writerow({name: "" if value != value else value for name, value in line.items()})
    return out.getvalue()


def _lines(comparison: Comparison) -> Iterator[dict[str, object]]:
    for result in comparison.results:
        for name, score in result.scores.items():
            interval = result.intervals.get(name)
            bounds = asdict(interval) if interval else {}
            line = {"system": result.name, "metric": name, "signature": score.signature}
            yield {**line, "value": score.value, **bounds}
            for part, value in score.parts.items():
                yield {**line, "part": part, "value": value}
    signatures = {metric.name: metric.signature for metric in comparison.metrics}
    for (name, first, second), found in comparison.differences.items():
        yield {
            "system": first,
            "minus": second,
            "metric": name,
            "value": found.value,
            **asdict(found.interval),
            "p": found.p_value,
            "signature": signatures[name],
        }


def as_latex(comparison: Comparison) -> str:
    """A booktabs table; the best system of each metric is bold."""
    header, _ = cells(comparison)
    best = {metric.name: best_systems(comparison, metric) for metric in comparison.metrics}
    rows = []
    for result in comparison.results:
        values = []
        for metric in comparison.metrics:
            value = tex(shown(result.scores.get(metric.name)))
            values.append(rf"\textbf{{{value}}}" if result.name in best[metric.name] else value)
        rows.append([tex(result.name), *values])
    return latex_table(header, rows, notes=notes(comparison))


def as_json(comparison: Comparison) -> str:
    """Everything: scores, parts, intervals, tests, signatures."""
    record = {
        "sources": len(comparison.examples),
        "references": dict(zip(("fewest", "most"), _reference_counts(comparison), strict=True)),
        "sentences": {system.name: system.sentences for system in comparison.systems},
        "signatures": {metric.name: str(metric.signature) for metric in comparison.metrics},
        "systems": [_system(result) for result in comparison.results],
        "tests": [
            {
                "metric": metric,
                "systems": [first, second],
                "difference": without_nan(found.value),
                "interval": without_nans(asdict(found.interval)),
                "p": without_nan(found.p_value),
            }
            for (metric, first, second), found in comparison.differences.items()
        ],
    }
    return json.dumps(record, indent=1, ensure_ascii=False, allow_nan=False) + "\n"


def shown(score: Score | None) -> str:
    """A score in a cell."""
    return NONE if score is None else _number(score.value)


def _number(value: float, digits: int = 2) -> str:
    return NONE if math.isnan(value) else f"{value:.{digits}f}"


def _system(result: SystemScores) -> dict[str, object]:
    return {
        "name": result.name,
        "scores": {
            name: {
                "value": without_nan(score.value),
                **({"parts": without_nans(score.parts)} if score.parts else {}),
                **_interval(result, name),
            }
            for name, score in result.scores.items()
        },
    }


def _interval(result: SystemScores, name: str) -> dict[str, object]:
    interval = result.intervals.get(name)
    return {"interval": without_nans(asdict(interval))} if interval else {}


def without_nans(parts: Mapping[str, T]) -> dict[str, T | None]:
    """A record in which None stands for NaN."""
    return {name: without_nan(value) for name, value in parts.items()}


def without_nan(value: T) -> T | None:
    """None for NaN, which JSON does not have."""
    return None if isinstance(value, float) and math.isnan(value) else value


def _ranked(comparison: Comparison, metric: Metric) -> list[str]:
    """The systems from the best to the worst, without those that the metric cannot score."""
    if metric.higher_is_better is None:
        return []
    known = [
        (result.scores[metric.name].value, result.name)
        for result in comparison.results
        if result.name not in (SOURCE, REFERENCE) and metric.name in result.scores
    ]
    real = [(value, name) for value, name in known if not math.isnan(value)]
    ordered = sorted(real, key=itemgetter(0), reverse=metric.higher_is_better)
    return [name for _, name in ordered]


def best_systems(comparison: Comparison, metric: Metric) -> set[str]:
    """The systems whose score, as it is shown, is the best; none where the metric ranks nobody."""
    ranked = _ranked(comparison, metric)
    scores = {name: shown(comparison.result(name).scores[metric.name]) for name in ranked}
    return {name for name in ranked if scores[name] == scores[ranked[0]]}


def _winner(comparison: Comparison, metric: Metric) -> str | None:
    """The best system, where it is significantly better than the second."""
    ranked = _ranked(comparison, metric)
    if len(ranked) < 2:
        return None
    for pair in _both_ways(ranked[0], ranked[1]):
        found = comparison.differences.get((metric.name, *pair))
        if found is not None and found.p_value < LEVEL:
            return ranked[0]
    return None


def _both_ways(first: str, second: str) -> Iterator[tuple[str, str]]:
    yield first, second
    yield second, first
