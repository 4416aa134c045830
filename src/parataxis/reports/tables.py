"""A comparison as a table: for the terminal, as Markdown, CSV, LaTeX and JSON."""

import csv
import io
import json
import math
from collections.abc import Iterator, Mapping
from dataclasses import asdict
from operator import itemgetter

from parataxis.metrics.protocol import Metric, Score
from parataxis.reports.compare import REFERENCE, SOURCE, Comparison, SystemScores

__all__ = [
    "as_csv",
    "as_json",
    "as_latex",
    "as_markdown",
    "best_system",
    "cells",
    "part_cells",
    "signatures",
    "tex",
    "turned",
]

LEVEL = 0.05
"""A difference is called significant when chance makes one as large less often than this."""

NONE = "–"
"""Stands where a metric has nothing to compare with."""


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


def signatures(comparison: Comparison) -> list[str]:
    """The signature of each metric, in the order of the columns."""
    return [str(metric.signature) for metric in comparison.metrics]


def as_markdown(comparison: Comparison) -> str:
    """The table in Markdown, with the signatures under it."""
    header, rows = cells(comparison)
    lines = [_pipes(header), _pipes(["---", *["--:"] * (len(header) - 1)]), *map(_pipes, rows)]
    notes = [f"- `{signature}`" for signature in signatures(comparison)]
    return "\n".join([*lines, "", *notes]) + "\n"


def as_csv(comparison: Comparison) -> str:
    """A line for each system, metric and part, with its interval and signature."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(["system", "metric", "part", "value", "low", "high", "signature"])
    for result in comparison.results:
        for name, score in result.scores.items():
            interval = result.intervals.get(name)
            bounds = (interval.low, interval.high) if interval else ("", "")
            writer.writerow([result.name, name, "", score.value, *bounds, score.signature])
            for part, value in score.parts.items():
                writer.writerow([result.name, name, part, value, "", "", score.signature])
    return out.getvalue()


def as_latex(comparison: Comparison) -> str:
    """A booktabs table; the best system of each metric is bold."""
    header, _ = cells(comparison)
    best = {metric.name: best_system(comparison, metric) for metric in comparison.metrics}
    lines = [
        *(f"% {signature}" for signature in signatures(comparison)),
        rf"\begin{{tabular}}{{l{'r' * len(comparison.metrics)}}}",
        r"\toprule",
        f"{' & '.join(map(tex, header))} " + r"\\",
        r"\midrule",
    ]
    for result in comparison.results:
        values = []
        for metric in comparison.metrics:
            value = tex(shown(result.scores.get(metric.name)).replace(NONE, "--"))
            values.append(rf"\textbf{{{value}}}" if best[metric.name] == result.name else value)
        lines.append(" & ".join([tex(result.name), *values]) + r" \\")
    return "\n".join([*lines, r"\bottomrule", r"\end{tabular}"]) + "\n"


def as_json(comparison: Comparison) -> str:
    """Everything: scores, parts, intervals, tests, signatures."""
    record = {
        "sources": len(comparison.examples),
        "signatures": {metric.name: str(metric.signature) for metric in comparison.metrics},
        "systems": [_system(result) for result in comparison.results],
        "tests": [
            {"metric": metric, "systems": [first, second], "p": _plain(p)}
            for (metric, first, second), p in comparison.p_values.items()
        ],
    }
    return json.dumps(record, indent=1, ensure_ascii=False, allow_nan=False) + "\n"


def shown(score: Score | None) -> str:
    """A score in a cell."""
    return NONE if score is None else _number(score.value)


def _number(value: float) -> str:
    return NONE if math.isnan(value) else f"{value:.2f}"


def _system(result: SystemScores) -> dict[str, object]:
    return {
        "name": result.name,
        "scores": {
            name: {
                "value": _plain(score.value),
                **({"parts": _plain_parts(score.parts)} if score.parts else {}),
                **_interval(result, name),
            }
            for name, score in result.scores.items()
        },
    }


def _interval(result: SystemScores, name: str) -> dict[str, object]:
    interval = result.intervals.get(name)
    return {"interval": _plain_parts(asdict(interval))} if interval else {}


def _plain_parts(parts: Mapping[str, float]) -> dict[str, float | None]:
    return {name: _plain(value) for name, value in parts.items()}


def _plain(value: float) -> float | None:
    """JSON has no NaN."""
    return None if math.isnan(value) else value


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


def best_system(comparison: Comparison, metric: Metric) -> str | None:
    """The system with the best score; none where the metric ranks nobody."""
    ranked = _ranked(comparison, metric)
    return ranked[0] if ranked else None


def _winner(comparison: Comparison, metric: Metric) -> str | None:
    """The best system, where it is significantly better than the second."""
    ranked = _ranked(comparison, metric)
    if len(ranked) < 2:
        return None
    for pair in _both_ways(ranked[0], ranked[1]):
        if comparison.p_values.get((metric.name, *pair), 1.0) < LEVEL:
            return ranked[0]
    return None


def _both_ways(first: str, second: str) -> Iterator[tuple[str, str]]:
    yield first, second
    yield second, first


def _pipes(row: list[str]) -> str:
    return f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in row)} |"


_TEX = str.maketrans(
    {"&": r"\&", "%": r"\%", "$": r"\$", "#": r"\#", "_": r"\_", "{": r"\{", "}": r"\}"}
    | {"~": r"\textasciitilde{}", "^": r"\textasciicircum{}", "\\": r"\textbackslash{}"}
)


def tex(text: str) -> str:
    """A text as LaTeX prints it."""
    return text.translate(_TEX)
