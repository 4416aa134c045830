"""The effect of splitting as tables: for the terminal, as Markdown, CSV, LaTeX and JSON."""

import csv
import io
import json
import math
from collections.abc import Iterator, Sequence
from dataclasses import asdict

from parataxis.reports.downstream.effect import ALL, Change, Effect
from parataxis.reports.tables import NONE, latex_table, markdown_table, span, tex, without_nans

__all__ = ["NAMES", "Table", "as_csv", "as_json", "as_latex", "as_markdown", "tables"]

Table = tuple[list[str], list[list[str]]]

NAMES = 3
"""How many columns of a table are names."""

_BY_LENGTH = ("attachment", "pairs", "pairs-named", "triples", "triples-named")


def tables(effects: Sequence[Effect]) -> list[Table]:
    """All measures over all lengths; then the main ones by length, on the split sentences."""
    whole = [effect for effect in effects if effect.length == ALL]
    parts = [effect for effect in effects if effect.measure in _BY_LENGTH and effect.length != ALL]
    change = ["before", "after", "change", "95 % interval"]
    return [
        (
            ["reader", "measure", "sentences", "number", "gold", *change],
            [
                [effect.reader, effect.measure, name, *_cells(found)]
                for effect in whole
                for name, found in (("all", effect.every), ("split", effect.split))
            ],
        ),
        (
            ["reader", "measure", "words", "all", "split", "gold", *change, "torn %"],
            [
                [
                    effect.reader,
                    effect.measure,
                    effect.length,
                    f"{effect.every.sentences:,}",
                    *_cells(effect.split),
                    _number(effect.torn, "{:.1f}"),
                ]
                for effect in parts
            ],
        ),
    ]


def _cells(change: Change) -> list[str]:
    return [
        f"{change.sentences:,}",
        f"{change.gold:,}",
        _number(change.before),
        _number(change.after),
        _number(change.difference, "{:+.2f}"),
        span(change.interval),
    ]


def _number(value: float, form: str = "{:.2f}") -> str:
    return NONE if math.isnan(value) else form.format(value)


def as_markdown(effects: Sequence[Effect], notes: Sequence[str]) -> str:
    """Both tables in Markdown."""
    first, second = tables(effects)
    return "\n".join(
        [markdown_table(*first, names=NAMES), markdown_table(*second, names=NAMES, notes=notes)]
    )


def as_latex(effects: Sequence[Effect], notes: Sequence[str]) -> str:
    """Both tables in LaTeX."""
    return "\n".join(
        latex_table(header, [list(map(tex, row)) for row in rows], names=NAMES, notes=notes)
        for header, rows in tables(effects)
    )


def as_csv(effects: Sequence[Effect]) -> str:
    """A line for each reader, measure, length and choice of sentences (all or split)."""
    out = io.StringIO()
    lines = list(_lines(effects))
    writer = csv.DictWriter(out, list(lines[0]), lineterminator="\n")
    writer.writeheader()
    for line in lines:
        # An empty cell is what has no value.
        writer.writerow({name: "" if value is None else value for name, value in line.items()})
    return out.getvalue()


def as_json(effects: Sequence[Effect], notes: Sequence[str]) -> str:
    """The lines of the CSV as records."""
    record = {"notes": list(notes), "effects": list(_lines(effects))}
    return json.dumps(record, indent=1, ensure_ascii=False, allow_nan=False) + "\n"


def _lines(effects: Sequence[Effect]) -> Iterator[dict[str, object]]:
    for effect in effects:
        for name, change in (("all", effect.every), ("split", effect.split)):
            bounds = asdict(change.interval) if change.interval else {"low": None, "high": None}
            line: dict[str, object] = {
                "reader": effect.reader,
                "measure": effect.measure,
                "words": effect.length,
                "sentences": name,
                "number": change.sentences,
                "gold": change.gold,
                "before": change.before,
                "after": change.after,
                "change": change.difference,
                **bounds,
                "torn": effect.torn,
            }
            yield without_nans(line)
