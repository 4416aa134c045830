"""The report of a comparison: the scores, their differences and parts, figures, and the sources
from which a reader learns most."""

import math
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path

import numpy as np

from parataxis.evaluate.compare import REFERENCE, SOURCE, Comparison, SystemScores
from parataxis.evaluate.figures import figures
from parataxis.evaluate.metrics.protocol import Metric
from parataxis.evaluate.metrics.registry import ANALYSED
from parataxis.evaluate.resample import Interval
from parataxis.report import (
    Block,
    Cell,
    Figure,
    Heading,
    Notes,
    PageOnly,
    Report,
    ReportParagraph,
    Rewritten,
    Table,
    counted,
    number_cell,
)

LEVEL = 0.05
"""A difference is significant when its p-value is below this."""


def comparison_report(
    comparison: Comparison, title: str = "Systems compared", *, illustrated: bool = False
) -> Report:
    """The report. Figures and examples, which only a page shows, are drawn if ``illustrated``."""
    return Report(
        title,
        [*_blocks(comparison, illustrated=illustrated)],
        record=_record(comparison),
        lines=list(_lines(comparison)),
        bare=True,
    )


def _blocks(comparison: Comparison, *, illustrated: bool) -> Iterator[Block]:
    quoted = notes(comparison)
    how = (
        f"{quoted[0]}. Bold is the best system; * marks one that differs from the second with "
        "p < .05. Under a score is its 95 % bootstrap interval."
    )
    yield PageOnly([ReportParagraph(how)])
    yield scores_table(comparison)
    if comparison.differences:
        summary = "All pairs of systems: paired bootstrap intervals, p by approximate randomisation"
        yield PageOnly([Heading("Differences")])
        yield PageOnly([differences_table(comparison)], summary)
    yield from _parts(comparison)
    if illustrated:
        metric = _sentence_metric(comparison)
        drawn = figures(comparison, metric)
        yield PageOnly(
            [Heading("Figures"), *(Figure(svg, caption) for caption, svg in drawn.items())]
        )
        shown = instructive(comparison, metric) if metric else []
        legend = "Underlined words are not in the source; struck words are not in the rewrite."
        yield PageOnly([Heading("Examples"), ReportParagraph(legend), *shown])
    yield PageOnly([Heading("Signatures")])
    yield Notes(quoted)


def scores_table(comparison: Comparison) -> Table:
    """A row for each system, a column for each metric. The best system of a metric is marked with *
    if it differs significantly from the second; sources and references are not ranked."""
    header = ["system", *(Cell(each.name, hint=each.summary) for each in comparison.metrics)]
    rows = [[result.name] for result in comparison.results]
    for metric in comparison.metrics:
        best, winner = best_systems(comparison, metric), _winner(comparison, metric)
        for row, result in zip(rows, comparison.results, strict=True):
            score, is_fixed = result.scores.get(metric.name), result.name in (SOURCE, REFERENCE)
            cell = Cell(
                number_cell(score.value if score else None)
                + ("*" if winner == result.name else ""),
                detail=span(result.intervals.get(metric.name)),
                emphasis="best" if result.name in best else "fixed" if is_fixed else "",
            )
            row.append(cell)
    return Table(header, rows, corner="metric")


def differences_table(comparison: Comparison) -> Table:
    """A row for each metric and pair of systems: their difference, its interval, and p."""
    rows = [
        [*key, number_cell(found.value), span(found.interval), number_cell(found.p_value, ".3f")]
        for key, found in comparison.differences.items()
    ]
    return Table(["metric", "system", "minus", "difference", "95 % interval", "p"], rows, names=3)


def _parts(comparison: Comparison) -> Iterator[Block]:
    """The parts of the metrics, such as the share of each pattern that was split: all on a page,
    elsewhere those of metrics that read every sentence."""
    yield PageOnly([Heading("Parts")])
    for metric in comparison.metrics:
        table = parts_table(comparison, metric)
        if len(table.header) > 1:
            yield PageOnly([ReportParagraph(f"{metric.name}: {metric.summary}")])
            yield table if metric.name in ANALYSED else PageOnly([table])


def parts_table(comparison: Comparison, metric: Metric) -> Table:
    """The parts of one metric, a row for each system."""
    scores = {
        each.name: each.scores[metric.name].parts
        for each in comparison.results
        if metric.name in each.scores
    }
    header = list(next(iter(scores.values()), {}))
    rows = [[name, *map(number_cell, parts.values())] for name, parts in scores.items()]
    return Table([metric.name, *header], rows)


def notes(comparison: Comparison) -> list[str]:
    """What must be quoted with the numbers: how many sources and references there are, how
    rewrites were cut into sentences, and the signature of each metric."""
    fewest, most = _reference_counts(comparison)
    number = str(most) if fewest == most else f"{fewest} to {most}"
    references = f"{number} reference{'' if most == 1 else 's'} each" if most else "no references"
    found = [f"{counted(len(comparison.examples), 'source')}, {references}"]
    for by, how in (("marks", "at its marks"), ("segmenter", "by the segmenter")):
        if names := [each.name for each in comparison.systems if each.sentences == by]:
            found.append(f"cut into sentences {how}: {', '.join(names)}")
    return [*found, *(str(metric.signature) for metric in comparison.metrics)]


def _reference_counts(comparison: Comparison) -> tuple[int, int]:
    counts = [len(example.references) for example in comparison.examples]
    return min(counts), max(counts)


def span(interval: Interval | None) -> str:
    """An interval as a cell; empty if there is none."""
    if interval is None or math.isnan(interval.low):
        return ""
    return f"{interval.low:.2f} to {interval.high:.2f}"


_COLUMNS = ("system", "metric", "part", "value", "low", "high", "minus", "p", "signature")


def _lines(comparison: Comparison) -> Iterator[dict[str, object]]:
    """A line for each system, metric and part, with its interval and signature; then a line for
    each metric and pair of systems, the difference of ``system`` and ``minus``, with p."""
    empty = dict.fromkeys(_COLUMNS)
    for result in comparison.results:
        for name, score in result.scores.items():
            line = {"system": result.name, "metric": name, "signature": score.signature}
            interval = result.intervals.get(name)
            bounds = asdict(interval) if interval else {}
            yield empty | line | {"value": score.value} | bounds
            for part, value in score.parts.items():
                yield empty | line | {"part": part, "value": value}
    signatures = {metric.name: metric.signature for metric in comparison.metrics}
    for (name, first, second), found in comparison.differences.items():
        line = {"system": first, "minus": second, "metric": name, "signature": signatures[name]}
        yield empty | line | {"value": found.value, "p": found.p_value} | asdict(found.interval)


def _record(comparison: Comparison) -> dict[str, object]:
    return {
        "sources": len(comparison.examples),
        "references": dict(zip(("fewest", "most"), _reference_counts(comparison), strict=True)),
        "sentences": {system.name: system.sentences for system in comparison.systems},
        "signatures": {metric.name: str(metric.signature) for metric in comparison.metrics},
        "systems": [
            {"name": each.name, "scores": dict(_score_records(each))} for each in comparison.results
        ],
        "tests": [
            {
                "metric": metric,
                "systems": [first, second],
                "difference": found.value,
                "interval": asdict(found.interval),
                "p": found.p_value,
            }
            for (metric, first, second), found in comparison.differences.items()
        ],
    }


def _score_records(result: SystemScores) -> Iterator[tuple[str, dict[str, object]]]:
    for name, score in result.scores.items():
        interval = result.intervals.get(name)
        more = {"parts": score.parts, "interval": interval and asdict(interval)}
        yield name, {"value": score.value} | {key: value for key, value in more.items() if value}


def _ranked(comparison: Comparison, metric: Metric) -> list[str]:
    """The systems from the best to the worst, without those that the metric cannot score."""
    if metric.higher_is_better is None:
        return []
    scores = {
        each.name: each.scores[metric.name].value
        for each in comparison.competitors
        if metric.name in each.scores
    }
    known = [name for name, value in scores.items() if not math.isnan(value)]
    return sorted(known, key=scores.__getitem__, reverse=metric.higher_is_better)


def best_systems(comparison: Comparison, metric: Metric) -> set[str]:
    """The systems with the best displayed score; none if the metric does not rank."""
    ranked = _ranked(comparison, metric)
    shown = [number_cell(comparison.result(name).scores[metric.name].value) for name in ranked]
    return {name for name, value in zip(ranked, shown, strict=True) if value == shown[0]}


def _winner(comparison: Comparison, metric: Metric) -> str | None:
    """The best system, if it is significantly better than the second."""
    first, second, *_ = [*_ranked(comparison, metric), "", ""]
    for pair in ((first, second), (second, first)):
        found = comparison.differences.get((metric.name, *pair))
        if found is not None and found.p_value < LEVEL:
            return first
    return None


def _sentence_metric(comparison: Comparison) -> Metric | None:
    """The metric by which systems are ranked on single sources: SARI, or else the first one."""
    known = [each for each in comparison.metrics if each.higher_is_better is not None]
    preferred = [each for each in known if each.name.startswith("sari")]
    return next(iter(preferred or known), None)


def instructive(comparison: Comparison, metric: Metric, count: int = 12) -> list[Rewritten]:
    """Sources on which the systems differ most by the metric (two in three), and those that are
    hard for all. The metric scores each rewrite on its own."""
    ranked = [each for each in comparison.competitors if metric.name in each.rows]
    if not ranked:
        return []
    rows = [result.rows[metric.name] for result in ranked]
    values = [[metric.from_statistics(row).value for row in found] for found in rows]
    single = np.nan_to_num(np.array(values), nan=0.0)
    sign = -1.0 if metric.higher_is_better is False else 1.0
    spread = single.max(0) - single.min(0)
    hard = sign * single.mean(0)
    chosen: dict[int, str] = {}
    for place in np.argsort(-spread, kind="stable")[: -(-2 * count // 3)]:
        if len(ranked) > 1 and spread[place] > 0:
            chosen[int(place)] = "the systems differ most"
    for place in np.argsort(hard, kind="stable"):
        if len(chosen) >= min(count, len(hard)):
            break
        chosen.setdefault(int(place), "hard for all")
    rewrites = {system.name: system.rewrites for system in comparison.systems}
    found = []
    for place, reason in chosen.items():
        example = comparison.examples[place]
        shown = [
            (result.name, f"{value:.1f}", rewrites[result.name][place])
            for result, value in zip(ranked, single[:, place], strict=True)
        ]
        shown += [(REFERENCE, "", reference) for reference in example.references[:1]]
        found.append(Rewritten(f"{_public_id(example.id)}: {reason}", example.source, shown))
    return found


def _public_id(id_: str) -> str:
    """An id without the folders of an absolute path: reports are shared.

    >>> _public_id("/home/ann/hsplit/source.txt:3"), _public_id("hsplit/source.txt:3")
    ('source.txt:3', 'hsplit/source.txt:3')
    """
    return Path(id_).name if Path(id_).is_absolute() else id_
