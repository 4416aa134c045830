"""A comparison as one HTML page: the table, the figures and the most instructive sources.

The page is self-contained: it needs no other file, no script and no network.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from importlib.resources import files

import numpy as np

from parataxis.evaluate.compare import REFERENCE, SOURCE, Comparison
from parataxis.evaluate.corpora.example import Example
from parataxis.evaluate.metrics.protocol import Metric
from parataxis.evaluate.tables import (
    best_systems,
    cells,
    difference_cells,
    notes,
    part_cells,
    span,
    turned,
)
from parataxis.text.tokens import has_word, tokenize

# The sources from which a reader of a comparison learns most.


@dataclass(frozen=True, slots=True)
class Instructive:
    """A source, why it was chosen, and what every system made of it, with its score."""

    example: Example
    reason: str
    rewrites: Sequence[tuple[str, tuple[str, ...], float]]


def instructive(comparison: Comparison, metric: Metric, count: int = 12) -> list[Instructive]:
    """Sources on which the systems differ most by the metric, and those that all find hard.

    Of the first there are two in three. For each source one score per system is taken from its
    row, so the metric must mean something for a single rewrite.
    """
    places = {system.name: system for system in comparison.systems if system.name != SOURCE}
    ranked = [
        result
        for result in comparison.results
        if result.name not in (SOURCE, REFERENCE) and metric.name in result.rows
    ]
    if not ranked:
        return []
    single = np.array(
        [
            [metric.from_statistics(row).value for row in result.rows[metric.name]]
            for result in ranked
        ]
    )
    single = np.nan_to_num(single, nan=0.0)
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
    return [
        Instructive(
            comparison.examples[place],
            reason,
            [
                (result.name, places[result.name].rewrites[place], float(single[row, place]))
                for row, result in enumerate(ranked)
            ],
        )
        for place, reason in chosen.items()
    ]


_POLICY = "default-src 'none'; style-src 'unsafe-inline'"
_SIGNIFICANT = "Bold is the best system; * says that it differs from the second with p &lt; .05."
_INTERVALS = "Under a score is its 95 % bootstrap interval."


def comparison_page(
    title: str,
    comparison: Comparison,
    figures: Mapping[str, str],
    chosen: Sequence[Instructive],
) -> str:
    """The page."""
    style = (files("parataxis.report") / "assets" / "report.css").read_text(encoding="utf-8")
    parts = [
        "<!doctype html>",
        '<html lang="en">',
        "<head>",
        '<meta charset="utf-8">',
        '<meta name="viewport" content="width=device-width, initial-scale=1">',
        f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">',
        f"<title>{escape(title)}</title>",
        f"<style>\n{style}</style>",
        "</head>",
        "<body>",
        f"<h1>{escape(title)}</h1>",
        f"<p>{escape(notes(comparison)[0])}. {_SIGNIFICANT} {_INTERVALS}</p>",
        *_scores(comparison),
        *_differences(comparison),
        "<h2>Parts</h2>",
        *_parts(comparison),
        "<h2>Figures</h2>",
        *(
            f"<figure><figcaption>{escape(caption)}</figcaption>{svg}</figure>"
            for caption, svg in figures.items()
        ),
        "<h2>Examples</h2>",
        "<p><ins>Underlined</ins> words are not in the source; <s>struck</s> words of the source "
        "are not in the rewrite.</p>",
        *map(_article, chosen),
        "<h2>Signatures</h2>",
        "<ul>",
        *(f"<li><code>{escape(each)}</code></li>" for each in notes(comparison)),
        "</ul>",
        "<footer><p>Made with Parataxis.</p></footer>",
        "</body>",
        "</html>",
    ]
    return "\n".join(parts) + "\n"


def _scores(comparison: Comparison) -> Iterable[str]:
    header, rows = turned(*cells(comparison))
    yield '<div class="wide"><table>'
    yield _row("th", header)
    for metric, row in zip(comparison.metrics, rows, strict=True):
        best = best_systems(comparison, metric)
        yield f'<tr><td title="{escape(metric.summary)}">{escape(row[0])}</td>'
        for result, cell in zip(comparison.results, row[1:], strict=True):
            interval = result.intervals.get(metric.name)
            bounds = f"<small>{span(interval)}</small>" if span(interval) else ""
            kind = "best" if result.name in best else ""
            kind = "fixed" if result.name in (SOURCE, REFERENCE) else kind
            yield f'<td class="{kind}">{escape(cell)}{bounds}</td>'
        yield "</tr>"
    yield "</table></div>"


def _differences(comparison: Comparison) -> Iterable[str]:
    """All pairs of systems; they are many, so that the reader opens them."""
    header, rows = difference_cells(comparison)
    if rows:
        yield "<h2>Differences</h2>"
        yield "<details><summary>All pairs of systems: paired bootstrap intervals, and p by "
        yield "approximate randomisation</summary>"
        yield '<div class="wide"><table>'
        yield _row("th", header)
        yield from (_row("td", row) for row in rows)
        yield "</table></div></details>"


def _parts(comparison: Comparison) -> Iterable[str]:
    for metric in comparison.metrics:
        header, rows = part_cells(comparison, metric)
        if len(header) > 1:
            yield f"<p><strong>{escape(metric.name)}</strong>: {escape(metric.summary)}</p>"
            yield '<div class="wide"><table>'
            yield _row("th", header)
            yield from (_row("td", row) for row in rows)
            yield "</table></div>"


def _row(tag: str, row: Sequence[str]) -> str:
    return f"<tr>{''.join(f'<{tag}>{escape(cell)}</{tag}>' for cell in row)}</tr>"


def _article(chosen: Instructive) -> str:
    example = chosen.example
    parts = [
        f'<article><p class="reason">{escape(example.id)}: {escape(chosen.reason)}</p>',
        f"<p>{escape(example.source)}</p>",
        "<dl>",
    ]
    for name, simple, value in chosen.rewrites:
        parts.append(f"<dt>{escape(name)}<small>{value:.1f}</small></dt>")
        parts.append(f"<dd>{_sentences(simple, example.source)}</dd>")
    for reference in example.references[:1]:
        parts.append(f"<dt>{REFERENCE}</dt><dd>{_sentences(reference, example.source)}</dd>")
    return "\n".join([*parts, "</dl></article>"])


def _sentences(simple: Sequence[str], source: str) -> str:
    known = Counter(_words(source))
    items = "".join(f"<li>{_marked(sentence, known)}</li>" for sentence in simple)
    lost = Counter(_words(source)) - Counter(word for each in simple for word in _words(each))
    left_out = [
        token.text
        for token in tokenize(source)
        if lost[token.text.lower()] > 0 and has_word(token.text)
    ]
    missing = f"<p><s>{escape(' '.join(left_out))}</s></p>" if left_out else ""
    return f"<ol>{items}</ol>{missing}"


def _marked(sentence: str, known: Mapping[str, int]) -> str:
    """The sentence with the words marked that the source does not have."""
    parts, end = [], 0
    for token in tokenize(sentence):
        parts.append(escape(sentence[end : token.start]))
        text = escape(token.text)
        new = token.text.lower() not in known and has_word(token.text)
        parts.append(f"<ins>{text}</ins>" if new else text)
        end = token.end
    return "".join([*parts, escape(sentence[end:])])


def _words(text: str) -> list[str]:
    return [token.text.lower() for token in tokenize(text)]
